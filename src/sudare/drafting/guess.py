"""Guessing the role of every column of a table, each with its reason."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise

import polars as pl

from sudare.drafting.names import names_people, names_something, names_staff, plain, tokens_of
from sudare.drafting.numbering import Guess, by_number, by_relatives, by_serial, by_unlike_numbers, spread
from sudare.drafting.patterns import is_free_text
from sudare.drafting.readings import quantities_of
from sudare.drafting.scored import Likely, likely
from sudare.drafting.seen import FEW_ROWS, Seen
from sudare.drafting.traits import HAPPENED, traits_of
from sudare.tables.attribute import MAX_WEIGHT, UNITS, Role
from sudare.tables.dictionary import Dictionary

OFTEN_UNIQUE = 0.8  # of texts
FEW_NAMES = 0.01  # distinct values, of all rows: so many people are not called the same
DIGITS_OF_A_NUMBER = 7
SHARED = ("a place", "age or birth", HAPPENED)  # codes of which many may be unique
FEMALE = frozenset(
    "female woman women girl girls females femme fille weiblich frau mujer femenino femenina feminin 女 女性 女子 女児".split()
)
MALE = frozenset(
    "male man men boy boys males homme garcon mannlich mann hombre masculino masculin varon 男 男性 男子 男児".split()
)
MOST_SEXES = 6  # with others, and those who are not said
BODY_WEIGHTS = frozenset("weight weights wgt wt gewicht poids peso".split())
WEIGHTS = frozenset(["weights", "wgts"])  # several are never those of a body
BORN = frozenset(
    "birth born baby infant child newborn body geburt naissance nacimiento".split()
)  # who is weighed, in a name
DATE = re.compile(r"dat(e|um|a)?$|^dat|fecha|日")
AMOUNT = r"^\s*[<>≤≥~]?\s*[-+]?\d[\d ]*([.,]\d+\s*\D{0,8}|\s*%)$"
SOME = 1_000  # values that are looked at
LIGHTEST_BODY = 2  # kilograms or pounds, in the middle; weights that were scaled lie about 1
HEAVIEST_BODY = 700  # kilograms or pounds; a weight of a record is larger


def guess_roles(
    columns: Iterable[Dictionary], rows: int, labels: Mapping[str, str] | None = None
) -> dict[str, Guess]:
    """Guess the role of every column of a table with so many rows; `labels` say what columns are called in full."""
    called = labels or {}
    return roles_of(Seen.of(column, rows, called.get(column.name, "")) for column in columns)


def roles_of(columns: Iterable[Seen]) -> dict[str, Guess]:
    """Guess the role of every column of a table by what is seen of them."""
    seen = {one.column.name: one for one in columns}
    weighed = likely(traits_of(list(seen.values())))
    unless = _weighed if any(one.hit for one in seen.values()) else _of_nothing
    guesses = {name: sure_guess(one) or unless(one, weighed[name]) for name, one in seen.items()}
    return _one_of_each_unit(guesses | _coordinates(list(seen.values())), seen)


def sure_guess(seen: Seen) -> Guess | None:
    """Decide by evidence that needs no weighing: no values, what they look like, whom a name names or numbers."""
    for evidence in (
        _empty,
        _by_pattern,
        _by_sexes,
        by_number,
        by_unlike_numbers,
        by_relatives,
        by_serial,
        _by_free_text,
        _by_weight,
        _by_dates,
        _by_name,
        _by_uniqueness,
    ):
        if guess := evidence(seen):
            return guess
    return None


def _weighed(seen: Seen, likely: Likely) -> Guess:
    """Decide by the sum of all that is seen; what is doubtful is said to be so."""
    hit, role = seen.hit, likely.role
    if hit is None:
        reason = f"guessed, as {likely.reason}"
    elif hit.meaning.role == role or hit.meaning.weak:
        reason = hit.reason
    else:
        reason = f"{hit.said}, but {likely.reason}"
    return Guess(role, reason, hit.meaning.what if hit else None, likely.doubt)


def _of_nothing(seen: Seen, _: Likely) -> Guess:
    """Where no column is understood, nothing can be weighed: what is generalized in vain costs precision, and no person."""
    return Guess(Role.quasi, f"{seen.distinct:,} distinct: outsiders may know it", None, doubt=Role.sensitive)


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
    if pattern.role == Role.sensitive and ((not seen.hit and seen.is_unique()) or _numbers_somebody(seen)):
        return None  # P00001 is a patient's number, whatever codes look like
    kind = "a place" if pattern.what.endswith("post codes") else None
    return Guess(pattern.role, f"its values look like {pattern.what}", kind)


def _numbers_somebody(seen: Seen) -> bool:
    """Tell whether its name says that it numbers persons, households or records."""
    number = by_number(seen) or by_unlike_numbers(seen)
    return number is not None and number.role in (Role.identifier, Role.person, Role.household)


def _by_sexes(seen: Seen) -> Guess | None:
    """Female and male say what a column is, whatever it is called."""
    if not seen.is_text or not 2 <= seen.distinct <= MOST_SEXES:
        return None
    values = {plain(text).strip(" .") for text in seen.column.values.cast(pl.String).to_list()}
    if values & FEMALE and values & MALE:
        return Guess(Role.quasi, "its values are words for sex", "sex")
    return None


def _by_free_text(seen: Seen) -> Guess | None:
    if seen.rows > FEW_ROWS and is_free_text(seen.column.values, seen.rows):
        return Guess(
            Role.identifier, f"{seen.share}: free text, which can name people; drop it, or code it by hand"
        )
    return None


def _by_weight(seen: Seen) -> Guess | None:
    """Tell a weight of a record from one of a body, which no body's is as large, or as small, as."""
    values = seen.column.values
    if not (seen.is_text or values.dtype.is_numeric()) or not seen.distinct:
        return None
    plural = next((token for token in tokens_of(seen.column.name) if token in WEIGHTS), None)
    if seen.hit is None and plural is None:
        return None
    numbers = values.cast(pl.Float64, strict=False)
    if numbers.null_count() or not numbers.is_between(0, MAX_WEIGHT).all():
        if seen.hit is None or seen.hit.meaning.role != Role.weight:
            return None
        return Guess(Role.quasi, f"{seen.hit.said}, with values that no weight has: outsiders may know it")
    if seen.hit and seen.hit.meaning.role == Role.weight:
        return Guess(Role.weight, seen.hit.reason)
    if plural:
        return Guess(Role.weight, f"'{plural}' in its name: how many people a record stands for")
    word = next((hit.word for hit in seen.hits if hit.word.rstrip("0123456789") in BODY_WEIGHTS), None)
    if word is None or not seen.distinct or BORN & set(tokens_of(seen.column.name)):
        return None
    most, middle = float(numbers.max()), float(numbers.median())  # type: ignore[arg-type]
    said = f"'{word}' in its name"
    if most > HEAVIEST_BODY:
        return Guess(Role.weight, f"{said}, up to {most:,.0f}: how many people a record stands for")
    if seen.has_decimals and middle < LIGHTEST_BODY:
        return Guess(Role.weight, f"{said}, {middle:.2g} in the middle: how much a record counts")
    return None


def _by_name(seen: Seen) -> Guess | None:
    """Tell columns that name people by the words of their names; what others mean is weighed."""
    hit, name = seen.hit, seen.column.name
    if seen.is_text and (staff := names_staff(name)):
        return Guess(Role.identifier, f"'{staff}' in its name: the name of a person")
    names_other = hit and (hit.meaning.has_names or hit.meaning.role == Role.identifier)
    shared = seen.distinct < FEW_NAMES * seen.rows and len(tokens_of(name)) > 1 and not names_people(name)
    if seen.is_text and not names_other and not shared and (named := names_something(name)):
        return Guess(Role.identifier, f"'{named}' in its name: the name of a person")
    if hit is None or hit.meaning.role != Role.identifier:
        return None
    return Guess(Role.identifier, hit.reason, hit.meaning.what)


def _by_dates(seen: Seen) -> Guess | None:
    """When something happened is what newspapers and neighbours know, whatever it was."""
    if not seen.dates and not isinstance(seen.column.values.dtype, pl.Date | pl.Datetime):
        return _by_called_a_date(seen)
    if seen.hit and seen.hit.meaning.role == Role.quasi:
        return Guess(Role.quasi, seen.hit.reason, seen.hit.meaning.what)
    if seen.hit and seen.hit.meaning.role != Role.sensitive:
        return None  # which the name says better
    return Guess(Role.quasi, "its values are dates: when something happened")


def _by_called_a_date(seen: Seen) -> Guess | None:
    """Dates may be numbers: days since a first one, or years with decimals."""
    if seen.hit is None or seen.hit.meaning.what != HAPPENED or not DATE.search(seen.hit.word):
        return None
    return Guess(Role.quasi, seen.hit.reason, HAPPENED)


def _by_uniqueness(seen: Seen) -> Guess | None:
    """A value of their own for nearly everybody names them, unless it measures something or is a place."""
    values = seen.column.values
    if seen.is_text and seen.is_unique() and _are_codes(values) and not _is_shared(seen):
        return Guess(Role.identifier, f"{seen.share}: looks like an identifier, codes that nobody shares")
    if seen.hit is not None:
        return None
    if seen.is_text and seen.is_unique(OFTEN_UNIQUE) and not _are_amounts(values):
        return Guess(Role.identifier, f"{seen.share}: looks like an identifier")
    if values.dtype.is_integer() and seen.is_unique() and _is_serial(values):
        return Guess(Role.identifier, f"{seen.share}: looks like an identifier")
    return None


def _is_shared(seen: Seen) -> bool:
    """Tell whether a name means what is measured or shared, whatever the values look like."""
    return seen.hit is not None and (seen.hit.meaning.role != Role.quasi or seen.hit.meaning.what in SHARED)


def _are_amounts(values: pl.Series) -> bool:
    """Tell whether all texts are numbers with decimals, or with one unit: `12,5` or `7 kg`."""
    texts = values.cast(pl.String)
    return bool(texts.str.contains(AMOUNT).all()) or quantities_of(texts.head(SOME).to_list()) is not None


def _are_codes(values: pl.Series) -> bool:
    """Tell whether all texts have digits and letters, and no blanks: neither names nor amounts."""
    texts = values.cast(pl.String)
    codes = texts.str.contains(r"\d") & texts.str.contains(r"[A-Za-z]") & ~texts.str.contains(r"\s")
    return bool(codes.all())


def _is_serial(values: pl.Series) -> bool:
    """Tell whether whole numbers are given one after the other, or all have as many digits, more than most amounts."""
    low, high = int(values.min()), int(values.max())  # type: ignore[arg-type]
    return spread(values) < 2 * len(values) or (
        low > 0 and len(str(low)) == len(str(high)) >= DIGITS_OF_A_NUMBER
    )


def _coordinates(columns: Sequence[Seen]) -> dict[str, Guess]:
    """Find x and y side by side, with decimals that few rows share: where each row is on a map."""
    found: dict[str, Guess] = {}
    for one, other in pairwise(columns):
        names = [seen.column.name for seen in (one, other)]
        spelled = [plain(name) for name in names]
        if "x" not in spelled[0] or spelled[0].replace("x", "y", 1) != spelled[1] or len(spelled[0]) > 3:
            continue
        if all(seen.has_decimals and seen.is_unique(OFTEN_UNIQUE) for seen in (one, other)):
            reason = f"'{names[0]}' beside '{names[1]}': where exactly somebody is"
            found |= dict.fromkeys(names, Guess(Role.identifier, reason))
    return found


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
