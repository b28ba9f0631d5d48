"""What is seen of a column by itself."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import polars as pl

from sudare.drafting.dates import written_as
from sudare.drafting.names import Hit, Numbered, hits, numbered, plain
from sudare.drafting.patterns import Pattern, pattern_of
from sudare.drafting.words import MEANINGS, Meaning
from sudare.tables.attribute import Role
from sudare.tables.dictionary import Dictionary
from sudare.tables.text import text_of

FEW_ROWS = 20  # of which nothing is told by how many values there are
MANY_ROWS = 200  # more than there are ages or years, which could come one after the other
NEAR_UNIQUE = 0.95  # distinct values, of all rows
FLAGS = frozenset(
    "0 1 2 0.0 1.0 2.0 yes no y n true false t f ja nein j oui non o si s unknown na はい いいえ 有 無".split()
)
PERSONS_NAME = MEANINGS[0].what
PERSONS_NUMBER = "a number that is one person's"
REACHED = MEANINGS[1].what
FEW_NUMBERS = 5  # that so many people have one of, nobody has alone
FEW_PARTS = 12  # values of a flag that was filled in by means
NAMED = ("sex", "origin", "a place")  # meanings of what is named, or numbered, and never measured


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
    def of(cls, column: Dictionary, rows: int, label: str = "") -> Seen:
        """Look at a column; where its name means nothing, its label in a statistics file may."""
        dates = bool(written_as(column.values))  # some of which look like phone numbers
        pattern = None if dates else pattern_of(column.values)
        said = hits(column.name)
        if all(hit.meaning.weak for hit in said):
            said = [*(replace(hit, where="label") for hit in hits(label)), *said]
        return cls(column, rows, said, numbered(column.name), pattern, dates)

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

    @cached_property
    def hit(self) -> Hit | None:
        """The word of its name that says most, of those that its values can be."""
        return next((hit for hit in self.hits if self._can_be(hit.meaning)), None)

    def _can_be(self, meaning: Meaning) -> bool:
        """Names of persons are texts: `nombre` may be French, and count something. Two short values identify nobody.

        Places and peoples have no decimals: an area that has some was measured.
        """
        if meaning.what in NAMED:
            return not self.has_decimals or self.distinct <= FEW_PARTS
        if meaning.role != Role.identifier:
            return True
        if meaning.what == REACHED and self.counts_from_nothing:
            return False
        if meaning.what == PERSONS_NAME:
            return self.is_text and not self.is_flag
        if self.rows > MANY_ROWS and self.distinct <= FEW_NUMBERS and meaning.what == PERSONS_NUMBER:
            return False
        few = self.rows > FEW_ROWS and self.distinct <= FEW_NUMBERS
        if meaning.what == REACHED and few and not self.may_reach:
            return False
        return not self.is_flag and not self.is_initial

    @cached_property
    def has_decimals(self) -> bool:
        """Whether some of its values are no whole numbers."""
        values = self.column.values
        return values.dtype.is_float() and not bool((values == values.round()).all())

    @property
    def may_reach(self) -> bool:
        """Whether a few values may be addresses or numbers: texts, and where many rows share them with a digit or an @."""
        texts = self.column.values.cast(pl.String)
        return self.is_text and (self.rows <= MANY_ROWS or bool(texts.str.contains("[0-9@]").any()))

    @property
    def counts_from_nothing(self) -> bool:
        """Whether it has a zero, as counts have, and numbers of phones and houses do not."""
        values = self.column.values
        return values.dtype.is_integer() and self.distinct > 0 and int(values.min()) <= 0  # type: ignore[arg-type]

    @cached_property
    def is_flag(self) -> bool:
        """Whether it says yes or no."""
        return self.distinct <= 3 and all(
            plain(text_of(value)) in FLAGS for value in self.column.values.to_list()
        )

    @property
    def is_initial(self) -> bool:
        """Whether its values are two letters, such as U and R: no address is."""
        values = self.column.values
        return (
            self.is_text and self.distinct <= 2 and bool((values.cast(pl.String).str.len_chars() == 1).all())
        )
