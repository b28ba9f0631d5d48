"""Rows in their order, where equal ones that stand together are counted: what is published is mostly the same few rows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sudare.tables.exact import exact

SLICE = 2**20  # rows that are laid out at a time


@dataclass(frozen=True, eq=False)
class Runs:
    """Rows, each with how many times it stands there in a row.

    >>> runs = Runs.of(pl.DataFrame({"x": ["a", "a", "b", "a"]}))
    >>> runs.rows["x"].to_list(), runs.lengths.to_list(), runs.height
    (['a', 'b', 'a'], [2, 1, 1], 4)
    >>> runs.frame()["x"].to_list()
    ['a', 'a', 'b', 'a']
    """

    rows: pl.DataFrame
    lengths: pl.Series

    @classmethod
    def of(cls, frame: pl.DataFrame) -> Runs:
        """Count equal rows that stand together; rows are equal if nobody can tell them apart."""
        return cls.joined([cls(frame, pl.repeat(1, frame.height, dtype=pl.Int64, eager=True))])

    @classmethod
    def joined(cls, parts: Iterable[Runs]) -> Runs:
        """Put parts of a table together."""
        every = [part._compacted() for part in parts]
        rows = pl.concat([part.rows for part in every])
        return cls(rows, pl.concat([part.lengths for part in every]))._compacted()

    def _compacted(self) -> Runs:
        if self.rows.width == 0 or self.rows.height < 2:
            return self
        keys = [exact(column) for column in self.rows.iter_columns()]
        changes = np.zeros(self.rows.height - 1, dtype=bool)
        for key in keys:
            changes |= key[1:].ne_missing(key[:-1]).to_numpy()
        starts = np.append(0, np.flatnonzero(changes) + 1)
        lengths = np.add.reduceat(self.lengths.to_numpy(), starts)
        return Runs(self.rows[starts], pl.Series(lengths))

    @property
    def height(self) -> int:
        """How many rows there are."""
        return int(self.lengths.sum())

    @property
    def columns(self) -> list[str]:
        """The names of the columns."""
        return self.rows.columns

    def counted(self, names: Sequence[str]) -> Runs:
        """Return the rows of some columns; equal ones may stand there several times."""
        return Runs(self.rows.select(names), self.lengths)

    def frame(self) -> pl.DataFrame:
        """Return all rows."""
        return self.rows[self._places()]

    def slices(self) -> Iterator[pl.DataFrame]:
        """Yield all rows, some at a time."""
        ends = np.cumsum(self.lengths.to_numpy())
        for start in range(0, self.height, SLICE):
            yield self.rows[
                np.searchsorted(ends, np.arange(start, min(start + SLICE, self.height)), side="right")
            ]

    def lazy(self) -> pl.LazyFrame:
        """Return all rows as a query that lays texts out some at a time."""
        texts = [column for column in self.rows.iter_columns() if column.dtype == pl.String]
        listed = {column.name: pl.Enum(column.drop_nulls().unique(maintain_order=True)) for column in texts}
        coded = self.rows.with_columns(column.cast(listed[column.name]) for column in texts)
        return coded[self._places()].lazy().with_columns(pl.col(list(listed)).cast(pl.String))

    def _places(self) -> NDArray[np.uint32]:
        return np.repeat(np.arange(self.rows.height, dtype=np.uint32), self.lengths.to_numpy())
