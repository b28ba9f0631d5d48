"""Rows that weigh less the more like them one person or household has, so that methods protect these and not rows.

A unit (a person, or a household) weighs `whole` once for every tuple of quasi values that its rows have, shared out among the rows
with that tuple. So where all rows of a unit are alike, a block that weighs k times as much has rows of k units, and methods
that add weights up need not know of units. Where they are not, two tuples of one unit may meet in a block, which then has fewer.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sudare.engines.engine import Change, Engine
from sudare.engines.rewriting import AnyRewriting
from sudare.tables.content import Content
from sudare.tables.counts import Counts, places_of
from sudare.tables.dictionary import Dictionary
from sudare.tables.runs import PublishedRows

EXACT = 16
"""Up to so many rows, what a unit weighs is shared out among them without a rest."""


@dataclass(frozen=True, eq=False)
class ByUnit:
    """An engine's rows, of which those with one value of the column `unit` and one tuple weigh `whole` together, or a little less."""

    rows: Engine
    unit: str
    quasi: tuple[str, ...]
    whole: int

    @classmethod
    def of(cls, rows: Engine, unit: str, quasi: Sequence[str]) -> ByUnit:
        """Let a unit weigh what numbers of rows divide; if some have too many rows for that, a rest is lost."""
        most = int(rows.counts([*quasi, unit]).weights.max())
        return cls(rows, unit, tuple(quasi), max(math.lcm(*range(1, min(most, EXACT) + 1)), most))

    @cached_property
    def _alike(self) -> Counts:
        """How many rows of each unit are alike in the quasi values."""
        return self.rows.counts([*self.quasi, self.unit])

    def counts(self, names: Sequence[str]) -> Counts:
        """Sum the weights of the distinct tuples of some columns."""
        others = [name for name in names if name not in self._alike.names]
        counts = self.rows.counts([*self._alike.names, *others])
        alike = self._alike.weights[places_of(counts.codes[:, : len(self._alike.names)], self._alike)]
        columns = {name: counts.column(name) for name in names}
        sizes = [counts.sizes[counts.names.index(name)] for name in names]
        return Counts.of(columns, sizes, counts.weights * (self.whole // alike))

    def __len__(self) -> int:
        """Return what all rows weigh."""
        return self.counts([self.unit]).total

    def pieces(self, names: Sequence[str], together: Sequence[str]) -> Iterator[Counts]:
        """Count all tuples at once."""
        yield self.counts(names)

    def without(self, names: Sequence[str], tuples: NDArray[np.int32]) -> ByUnit:
        """Leave out rows."""
        return replace(self, rows=self.rows.without(names, tuples))

    def retyped(self, types: Mapping[str, Callable[[pl.Series], pl.Series]]) -> ByUnit:
        """Return the same rows, with the values that some columns still have in other types."""
        return replace(self, rows=self.rows.retyped(types))

    # -- Nothing else goes by weight --------------------------------------------------------------

    @property
    def names(self) -> tuple[str, ...]:
        """The columns."""
        return self.rows.names

    def dictionary(self, name: str) -> Dictionary:
        """Return the values of a column."""
        return self.rows.dictionary(name)

    def content(self, columns: Mapping[str, str]) -> Content:
        """Sum up what some columns hold."""
        return self.rows.content(columns)

    def sample(self, names: Sequence[str], rows: int, seed: int) -> NDArray[np.int32]:
        """Return the codes of some columns in some rows."""
        return self.rows.sample(names, rows, seed)

    def rows_with(self, name: str, codes: Sequence[int]) -> NDArray[np.int64]:
        """Return the rows that hold any of these codes of a column."""
        return self.rows.rows_with(name, codes)

    def changed(self, names: Sequence[str], change: Change) -> PublishedRows:
        """Return what a law makes of every row."""
        return self.rows.changed(names, change)

    def rewrite(self, rewriting: AnyRewriting) -> PublishedRows:
        """Return what is published instead of the rows."""
        return self.rows.rewrite(rewriting)

    def frame(self) -> pl.DataFrame:
        """Return all rows as they were read."""
        return self.rows.frame()
