"""Guessing the role of every column of a table, each with its reason."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

import polars as pl

from sudare.drafting.dates import written_as
from sudare.drafting.names import Hit, Numbered, hits, names_something, numbered, plain
from sudare.drafting.patterns import Pattern, is_free_text, pattern_of
from sudare.drafting.words import MEANINGS, Meaning
from sudare.tables.attribute import MAX_WEIGHT, UNITS, Role
from sudare.tables.dictionary import Dictionary
from sudare.tables.text import text_of

FEW_ROWS = 20  # of which nothing is told by how many values there are
MANY_ROWS = 200  # more than there are ages or years, which could come one after the other
NEAR_UNIQUE = 0.95  # distinct values, of all rows
OFTEN_UNIQUE = 0.8  # of texts
FEW_KINDS = 0.02  # distinct values, of all rows: what is numbered are kinds
ABOUT = 1 / 3  # of the columns whose names are understood: what so many are about, the table is about
FLAGS = frozenset(
    "0 1 2 0.0 1.0 2.0 yes no y n true false t f ja nein j oui non o si s unknown na はい いいえ 有 無".split()
)
MANY_UNITS = 50  # persons or households that a word for them, without more, may number
DIGITS_OF_A_NUMBER = 7
PERSONS_NAME = MEANINGS[0].what
PLACE = "a place"
BODY_WEIGHTS = ("weight", "wgt", "wt")
HEAVIEST_BODY = 700  # kilograms or pounds; a weight of a record is larger


@dataclass(frozen=True)
class Seen:
    """What is seen of a column before anything is decided: its values and what its name says."""

    column: Dictionary
    rows: int
    hits: list[Hit]
    numbers: Numbered | None
    pattern: Pattern | None
    dates: bool
    """Whether its texts are dates."""

    @classmethod
    def of(cls, column: Dictionary, rows: int) -> Seen:
        """Look at a column."""
        dates = bool(written_as(column.values))  # some of which look like phone numbers
        pattern = None if dates else pattern_of(column.values)
        return cls(column, rows, hits(column.name), numbered(column.name), pattern, dates)

    @property
    def distinct(self) -> int:
        """How many values it has."""
        return len(self.column.values)

    @property
    def share(self) -> str:
        """How many of the rows have a value of their own, in words."""
        return f"{self.distinct:,} of {self.rows:,} distinct"

    @property
    def is_text(self) -> bool:
        """Whether its values are texts."""
        return self.column.values.dtype in (pl.String, pl.Categorical, pl.Enum)

    def is_unique(self, share: float = NEAR_UNIQUE) -> bool:
        """Tell whether nearly every row has a value of its own."""
        return self.rows > FEW_ROWS and self.distinct >= share * self.rows

    @property
    def hit(self) -> Hit | None:
        """The word of its name that says most, of those that its values can be."""
        return next((hit for hit in self.hits if self._can_be(hit.meaning)), None)

    def _can_be(self, meaning: Meaning) -> bool:
        """Tell whether the values can be what a word of the name means.

        Names of persons are texts: `nombre` may be French, and count something. Yes and no identify nobody. A place is no
        fraction: the `area` of a wound is none.
        """
        if meaning.what == PLACE:
            return not self.has_fractions
        if meaning.role != Role.identifier:
            return True
        return not self.is_flag and (self.is_text or meaning.what != PERSONS_NAME)

    @property
    def has_fractions(self) -> bool:
        """Whether it measures something to less than whole numbers."""
        values = self.column.values
        return values.dtype.is_float() and bool((values % 1 != 0).any())

    @property
    def is_flag(self) -> bool:
        """Whether it says yes or no."""
        return self.distinct <= 3 and all(
            plain(text_of(value)) in FLAGS for value in self.column.values.to_list()
        )


@dataclass(frozen=True)
class Guess:
    """The role that a column seems to have, and why."""

    role: Role
    reason: str
    kind: str | None = None
    """What its name means, if it is understood: columns of one kind may follow from each other."""


def guess_roles(columns: Iterable[Dictionary], rows: int) -> dict[str, Guess]:
    """Guess the role of every column of a table with so many rows."""
    seen = {column.name: Seen.of(column, rows) for column in columns}
    subject = subject_of(seen.values())
    guesses = {name: guess_role(one, subject) for name, one in seen.items()}
    return _one_of_each_unit(guesses, seen)


def subject_of(columns: Iterable[Seen]) -> str | None:
    """Return what a table is about, if many of its columns are whose names are understood."""
    looked_at = [one for one in columns if not one.numbers]
    words = [one.hit.meaning for one in looked_at if one.hit and not one.hit.meaning.weak]
    subjects = Counter(meaning.subject for meaning in words if meaning.subject)
    subject, most = subjects.most_common(1)[0] if subjects else (None, 0)
    clinical = subject == "health" and 2 * len(words) <= len(
        looked_at
    )  # findings have names that only doctors know
    return subject if most >= (ABOUT / 2 if clinical else ABOUT) * len(words) > 0 else None


def guess_role(seen: Seen, subject: str | None) -> Guess:
    """Decide by the strongest evidence: no values, what the values look like, the name, how many values there are."""
    for evidence in (
        _empty,
        _by_pattern,
        _by_number,
        _by_serial,
        _by_free_text,
        _by_weight,
        _by_name,
        _by_dates,
        _by_uniqueness,
    ):
        if guess := evidence(seen):
            return guess
    if subject is not None:
        return Guess(
            Role.sensitive, f"the table is about {subject}, and nothing says that outsiders know this"
        )
    return Guess(Role.quasi, f"{seen.distinct:,} distinct: outsiders may know it")


def _empty(seen: Seen) -> Guess | None:
    """A column without any value can only be dropped; one with a single value tells nothing."""
    if seen.distinct == 0:
        return Guess(Role.identifier, "every value is missing: dropped, as there is nothing to publish")
    if seen.distinct == 1 and not seen.column.missing and seen.rows > FEW_ROWS:
        return Guess(Role.other, "one value only: it tells nobody from others")
    return None


def _by_pattern(seen: Seen) -> Guess | None:
    pattern = seen.pattern
    if pattern is None:
        return None
    if not pattern.alone and seen.hit and seen.hit.meaning.role != pattern.role:
        return None
    if pattern.role == Role.identifier and not pattern.alone and seen.distinct < seen.rows / 3:
        return None
    if pattern.role == Role.sensitive and not seen.hit and seen.is_unique():
        return None
    kind = "a place" if pattern.what.endswith("post codes") else None
    return Guess(pattern.role, f"its values look like {pattern.what}", kind)


def _by_number(seen: Seen) -> Guess | None:
    """What numbers people, households, records or things."""
    numbers = seen.numbers
    if numbers is None or isinstance(seen.column.values.dtype, pl.Date | pl.Datetime):
        return None
    said = f"'{numbers.word}' in its name"
    hit = seen.hit
    if not numbers.sure and (numbers.person or numbers.household) and seen.rows > FEW_ROWS:
        if seen.distinct < MANY_UNITS:
            return None
        hit = hit if hit and hit.meaning.role not in (Role.quasi, Role.identifier) else None
    if seen.is_unique() and (numbers.sure or hit is None or hit.meaning.role == Role.identifier):
        return Guess(Role.identifier, f"{said}, {seen.share}: the number of a record")
    if numbers.household and seen.distinct > 1:
        return Guess(
            Role.household, f"{said}, {seen.share}: the rows of one household, which are protected together"
        )
    if numbers.person and (numbers.sure or hit is None or hit.meaning.role == Role.identifier):
        return Guess(
            Role.person, f"{said}, {seen.share}: the rows of one person, which are protected together"
        )
    if not numbers.sure or (hit and hit.meaning.role != Role.identifier):
        return None
    if seen.distinct <= max(2, FEW_KINDS * seen.rows) and seen.rows > FEW_ROWS:
        return Guess(Role.other, f"{said}, {seen.share}: it numbers kinds of things")
    return Guess(Role.identifier, f"{said}: the number of a record")


def _by_serial(seen: Seen) -> Guess | None:
    """Numbers that are given one after the other are those of records, whatever they are called."""
    values = seen.column.values
    if (
        seen.rows > MANY_ROWS
        and values.dtype.is_integer()
        and seen.is_unique()
        and _spread(values) < 2 * seen.distinct
    ):
        return Guess(Role.identifier, f"{seen.share}, one after the other: the number of a record")
    return None


def _by_free_text(seen: Seen) -> Guess | None:
    if seen.rows > FEW_ROWS and is_free_text(seen.column.values, seen.rows):
        return Guess(
            Role.identifier, f"{seen.share}: free text, which can name people; drop it, or code it by hand"
        )
    return None


def _by_weight(seen: Seen) -> Guess | None:
    """Tell a weight of a record from one of a body, which no body's is as large as."""
    values = seen.column.values
    if seen.hit is None or not (seen.is_text or values.dtype.is_numeric()):
        return None
    numbers = values.cast(pl.Float64, strict=False)
    if numbers.null_count() or not numbers.is_between(0, MAX_WEIGHT).all():
        return None
    if seen.hit.meaning.role == Role.weight:
        return Guess(Role.weight, seen.hit.reason)
    most = float(numbers.max())  # type: ignore[arg-type]
    if seen.hit.word in BODY_WEIGHTS and most > HEAVIEST_BODY:
        said = f"'{seen.hit.word}' in its name, up to {most:,.0f}"
        return Guess(Role.weight, f"{said}: how many people a record stands for")
    return None


def _by_name(seen: Seen) -> Guess | None:
    """What the words of the name mean."""
    hit, named = seen.hit, names_something(seen.column.name)
    if (
        named
        and seen.is_text
        and not (hit and (hit.meaning.has_names or hit.meaning.role == Role.identifier))
    ):
        return Guess(Role.identifier, f"'{named}' in its name: the name of a person")
    if hit is None or hit.meaning.role == Role.weight:
        return None
    return Guess(hit.meaning.role, hit.reason, hit.meaning.what)


def _by_dates(seen: Seen) -> Guess | None:
    if seen.dates or isinstance(seen.column.values.dtype, pl.Date | pl.Datetime):
        return Guess(Role.quasi, "its values are dates: when something happened")
    return None


def _by_uniqueness(seen: Seen) -> Guess | None:
    """A value of their own for nearly everybody names them, unless it measures something."""
    values = seen.column.values
    if seen.is_text and seen.is_unique(OFTEN_UNIQUE):
        return Guess(Role.identifier, f"{seen.share}: looks like an identifier")
    if values.dtype.is_integer() and seen.is_unique() and _is_serial(values):
        return Guess(Role.identifier, f"{seen.share}: looks like an identifier")
    return None


def _is_serial(values: pl.Series) -> bool:
    """Tell whether whole numbers are given one after the other, or all have as many digits, more than most amounts."""
    low, high = int(values.min()), int(values.max())  # type: ignore[arg-type]
    return _spread(values) < 2 * len(values) or (
        low > 0 and len(str(low)) == len(str(high)) >= DIGITS_OF_A_NUMBER
    )


def _spread(values: pl.Series) -> int:
    return int(values.max()) - int(values.min())  # type: ignore[arg-type]


def _one_of_each_unit(guesses: dict[str, Guess], seen: Mapping[str, Seen]) -> dict[str, Guess]:
    """Keep one number of persons, and one of households: the one that tells most of them apart. Others are dropped."""
    kept = dict(guesses)
    for unit in UNITS:
        names = sorted(
            (name for name in guesses if guesses[name].role == unit), key=lambda name: -seen[name].distinct
        )
        for name in names[1:]:
            reason = f"{guesses[name].reason.split(':')[0]}: as '{names[0]}' does, it tells {unit}s apart"
            kept[name] = replace(guesses[name], role=Role.identifier, reason=reason)
    return kept
