"""Blocks: the records that share their quasi values, and which sensitive values they have."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sudare.errors import InputError
from sudare.tables.counts import Counts
from sudare.tables.hierarchy import Hierarchy
from sudare.tables.table import Table


@dataclass(frozen=True, eq=False)
class Blocks:
    """The size of every block, and how often each sensitive value occurs in it.

    Block b has the sensitive codes `value[start[b]:start[b + 1]]`, in rising order, each `count[...]` times.
    `shares` and `hierarchy` are what blocks are compared with.

    >>> from sudare.tables.counts import count
    >>> counts = count({"age": np.array([0, 0, 0, 1]), "illness": np.array([2, 0, 2, 1])}, sizes=[2, 3])
    >>> blocks = Blocks.of(counts, "illness")
    >>> blocks.sizes.tolist(), blocks.start.tolist(), blocks.value.tolist(), blocks.count.tolist()
    ([3, 1], [0, 2, 3], [0, 2, 1], [1, 2, 1])
    >>> blocks.shares.tolist(), blocks.whole.count.tolist()
    ([0.25, 0.25, 0.5], [1, 1, 2])
    """

    sizes: NDArray[np.int64]
    start: NDArray[np.int64]
    value: NDArray[np.int32]
    count: NDArray[np.int64]
    values: int
    """How many sensitive codes there are; 0 without a sensitive attribute."""
    shares: NDArray[np.float64]
    """How the sensitive codes are distributed in the whole table."""
    sensitive: str | None = None
    """The name of the sensitive attribute."""
    hierarchy: Hierarchy | None = None
    """The hierarchy of the sensitive attribute; its leaves are the codes."""
    known: pl.Series | None = None
    """The sensitive values by code, without the missing one, whose code follows; None where only codes are given."""
    covered: NDArray[np.int64] | None = None
    """How many people of a population the labels of each block cover, where they were counted."""
    presence: NDArray[np.float64] | None = None
    """The least and the largest chance of anybody whom its labels cover to be in the table, where they were counted."""

    @classmethod
    def of(
        cls,
        counts: Counts,
        sensitive: str | None,
        hierarchy: Hierarchy | None = None,
        known: pl.Series | None = None,
    ) -> Blocks:
        """Group counts of the quasi columns and, last, the sensitive column, if one is named.

        Blocks are in rising order of their quasi codes. With a sensitive column, entry i of `value` and `count`
        is row i of the counts, so that `counts.codes[blocks.start[:-1], :-1]` are the blocks' quasi codes;
        without one, block b is row b of the counts.
        """
        if sensitive is None:
            return cls.of_sizes(counts.weights)
        if counts.names[-1] != sensitive:
            raise InputError(
                f"Blocks: '{sensitive}' must be the last column counted, not '{counts.names[-1]}'."
            )
        if not len(counts):
            raise InputError("Blocks: nothing was counted; there are no records.")
        quasi = counts.codes[:, :-1]
        first = np.append(0, np.flatnonzero((quasi[1:] != quasi[:-1]).any(axis=1)) + 1)
        value = np.ascontiguousarray(counts.codes[:, -1])
        whole = np.bincount(value, counts.weights, minlength=counts.sizes[-1])
        return cls(
            sizes=np.add.reduceat(counts.weights, first),
            start=np.append(first, len(counts)),
            value=value,
            count=counts.weights,
            values=counts.sizes[-1],
            shares=whole / counts.total,
            sensitive=sensitive,
            hierarchy=hierarchy,
            known=known,
        )

    @classmethod
    def of_sizes(cls, sizes: NDArray[np.int64]) -> Blocks:
        """Make blocks of which only the sizes matter."""
        none = np.empty(0, dtype=np.int64)
        start = np.zeros(len(sizes) + 1, dtype=np.int64)
        return cls(sizes, start, none.astype(np.int32), none, 0, np.empty(0))

    @classmethod
    def of_table(cls, table: Table, quasi: Sequence[str], sensitive: str | None) -> Blocks:
        """Count a table by its quasi values; without any, the whole table is one block."""
        if sensitive is None:
            return cls.of_sizes(table.counts(quasi).weights if quasi else np.array([len(table)]))
        column = table[sensitive]
        return cls.of(table.counts([*quasi, sensitive]), sensitive, column.hierarchy, column.values)

    @property
    def whole(self) -> Blocks:
        """All records as one block."""
        totals = np.bincount(self.value, self.count, minlength=self.values).astype(np.int64)
        present = np.flatnonzero(totals)
        return Blocks(
            sizes=self.sizes.sum(keepdims=True),
            start=np.array([0, len(present)]),
            value=present.astype(np.int32),
            count=totals[present],
            values=self.values,
            shares=self.shares,
            sensitive=self.sensitive,
            hierarchy=self.hierarchy,
            known=self.known,
        )

    def without(self, codes: NDArray[np.int64]) -> Blocks:
        """Return the same blocks without the records of some values; a block may then be empty."""
        kept = ~np.isin(self.value, codes)
        block = np.repeat(np.arange(len(self)), np.diff(self.start))[kept]
        count = self.count[kept]
        return replace(
            self,
            sizes=np.bincount(block, count, minlength=len(self)).astype(np.int64),
            start=np.append(0, np.cumsum(np.bincount(block, minlength=len(self)))),
            value=self.value[kept],
            count=count,
        )

    def __len__(self) -> int:
        return len(self.sizes)
