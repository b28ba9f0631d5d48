"""What is published: rows in the order of their values, wherever they are.

Most tables publish the same few rows again and again. So rows are counted, and laid out only when they are written.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sudare.tables.exact import exact

SLICE = 2**20  # rows that are laid out at a time
MAX_COUNTED = 2**20
"""Different rows that are counted at once."""


class PublishedRows(ABC):
    """Rows in their order."""

    @property
    @abstractmethod
    def columns(self) -> list[str]:
        """The names of the columns."""

    @property
    @abstractmethod
    def height(self) -> int:
        """How many rows there are."""

    @abstractmethod
    def counted(self, names: Sequence[str]) -> Runs:
        """Return how often rows occur in some columns; equal ones may stand there several times."""

    def pieces(self, names: Sequence[str], together: Sequence[str]) -> Iterator[Runs]:
        """Count rows by some columns in pieces, where they are too many to be counted at once.

        Rows that are alike in the columns `together`, which are among the names, are in one piece. No piece is empty, unless
        there are no rows.
        """
        yield self.counted(names)

    @abstractmethod
    def parts(self) -> Iterator[Runs]:
        """Return all rows, some at a time."""

    def runs(self) -> Runs:
        """Return all rows, counted, in their order."""
        return Runs.joined(self.parts())

    def frame(self) -> pl.DataFrame:
        """Return all rows at once."""
        return pl.concat([part.frame() for part in self.parts()])


@dataclass(frozen=True, eq=False)
class Runs(PublishedRows):
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
        if len(every) == 1:
            return every[0]
        rows = pl.concat([part.rows for part in every])
        return cls(rows, pl.concat([part.lengths for part in every]))._compacted()

    def _compacted(self) -> Runs:
        if self.rows.width == 0 or self.rows.height < 2:
            return self
        keys = [exact(column) for column in self.rows.iter_columns()]
        changes = np.zeros(self.rows.height - 1, dtype=bool)
        for key in keys:
            changes |= key[1:].ne_missing(key[:-1]).to_numpy()
        if changes.all():
            return self  # no copy of what may be large
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
        """Return how often rows occur in some columns; equal ones may stand there several times."""
        return Runs(self.rows[:, list(names)], self.lengths)

    def filter(self, kept: pl.Series) -> Runs:
        """Return some of the rows, each as often as it stands there."""
        return Runs(self.rows.filter(kept), self.lengths.filter(kept))

    def grouped(self) -> Runs:
        """Count equal rows wherever they stand.

        >>> runs = Runs.of(pl.DataFrame({"x": ["b", "a", "b"]})).grouped()
        >>> runs.rows["x"].to_list(), runs.lengths.to_list()
        (['b', 'a'], [2, 1])
        """
        if self.rows.width == 0:
            return self
        keys = [exact(column).alias(str(i)) for i, column in enumerate(self.rows.iter_columns())]
        rows = pl.DataFrame([*keys, self.lengths.alias("length")]).with_row_index("row")
        groups = rows.group_by([key.name for key in keys]).agg(pl.min("row"), pl.sum("length")).sort("row")
        return Runs(self.rows[groups["row"]], groups["length"])

    def parts(self) -> Iterator[Runs]:
        """Return all rows."""
        yield self

    def runs(self) -> Runs:
        """Return itself."""
        return self

    def frame(self) -> pl.DataFrame:
        """Return all rows."""
        return self.rows[self._places()]

    def split(self, at: int) -> tuple[Runs, Runs]:
        """Return the first so many rows, and the others.

        >>> first, rest = Runs.of(pl.DataFrame({"x": ["a", "a", "a", "b"]})).split(2)
        >>> first.lengths.to_list(), rest.frame()["x"].to_list()
        ([2], ['a', 'b'])
        """
        lengths = self.lengths.to_numpy()
        ends = np.append(0, np.cumsum(lengths))
        at = min(at, int(ends[-1]))
        whole = int(np.searchsorted(ends, at, side="right")) - 1  # runs that have ended there
        begun = at - int(ends[whole])  # rows of the next one
        first, rest = np.append(lengths[:whole], begun), lengths[whole:].copy()
        if begun:
            rest[0] -= begun
        else:
            first = first[:-1]
        return Runs(self.rows[: len(first)], pl.Series(first)), Runs(self.rows[whole:], pl.Series(rest))

    def slices(self) -> Iterator[pl.DataFrame]:
        """Yield all rows, some at a time; at least once, if there are none."""
        ends = np.cumsum(self.lengths.to_numpy())
        for start in range(0, max(self.height, 1), SLICE):
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


class MappedRows(PublishedRows):
    """What becomes of other rows, of which each becomes one; some are looked at at a time."""

    def __init__(self, rows: PublishedRows, change: Callable[[Runs], Runs]) -> None:
        self._rows, self._change = rows, change

    @property
    def columns(self) -> list[str]:
        """The names of the columns."""
        return self._rows.columns

    @property
    def height(self) -> int:
        """How many rows there are."""
        return self._rows.height

    def counted(self, names: Sequence[str]) -> Runs:
        """Return how often rows occur in some columns; equal ones may stand there several times."""
        return self._change(self._rows.counted(names))

    def pieces(self, names: Sequence[str], together: Sequence[str]) -> Iterator[Runs]:
        """Count rows by some columns in pieces."""
        return map(self._change, self._rows.pieces(names, together))

    def parts(self) -> Iterator[Runs]:
        """Return all rows, some at a time."""
        return map(self._change, self._rows.parts())
