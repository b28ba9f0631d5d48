"""The records by groups of values: the true tables of two attributes, for scores and measurements only, and those of more."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from sudare.pview._pairs import weigh_pairs
from sudare.pview.one_ways import Floats, Groups
from sudare.tables.counts import Counts
from sudare.threads import CORES, MIN_SHARED, in_threads, pieces


@dataclass(frozen=True, eq=False)
class GroupedCounts:
    """How many records there are by the groups of two attributes, and of any."""

    groups: list[Groups]
    """Of every value."""
    pairs: NDArray[np.int64]
    true: NDArray[np.int64]
    """Pairs x cells."""
    grouped: Groups
    """Of the records' values, attributes x tuples."""
    records: Floats
    """Of each tuple."""

    @classmethod
    def of(cls, counts: Counts, groups: list[Groups], *, any_pairs: bool) -> GroupedCounts:
        """Count the pairs, if any are wanted."""
        bins, pairs = bins_of(groups), all_pairs(len(groups) if any_pairs else 0)
        cells = int(bins[pairs].prod(axis=1).max()) if len(pairs) else 1
        grouped = np.stack([g[counts.codes[:, a]] for a, g in enumerate(groups)])
        records = counts.weights.astype(np.float64)
        true = weighed(grouped, records, pairs, bins, cells).astype(np.int64)
        return cls(groups, pairs, true, grouped, records)

    @cached_property
    def bins(self) -> NDArray[np.int64]:
        """How many groups every attribute has."""
        return bins_of(self.groups)

    @cached_property
    def cells(self) -> NDArray[np.int64]:
        """How many cells each pair has."""
        return np.asarray(self.bins[self.pairs].prod(axis=1))

    def pair_of(self, one: int, other: int) -> int:
        """Return the number of the pair of two attributes."""
        return int(np.flatnonzero((self.pairs == sorted((one, other))[::-1]).all(axis=1))[0])

    def count(self, axes: Sequence[int]) -> NDArray[np.int64]:
        """Count the records by the groups of some attributes."""
        shape = tuple(self.bins[list(axes)])
        keys = np.ravel_multi_index(tuple(self.grouped[a].astype(np.int64) for a in axes), shape)
        sums = np.bincount(keys, self.records, minlength=math.prod(shape))
        return sums.astype(np.int64).reshape(shape)


def bins_of(groups: Sequence[Groups]) -> NDArray[np.int64]:
    """Return how many groups every attribute has."""
    return np.array([int(g.max()) + 1 for g in groups])


def all_pairs(attributes: int) -> NDArray[np.int64]:
    """Return all pairs of different attributes."""
    return np.array([(i, j) for i in range(attributes) for j in range(i)], dtype=np.int64).reshape(-1, 2)


def weighed(
    groups: Groups, weights: Floats, pairs: NDArray[np.int64], bins: NDArray[np.int64], cells: int
) -> Floats:
    """Return the two-way tables of weighted tuples or points (attributes x points): pairs x cells."""
    out = np.zeros((len(pairs), cells))
    each = max(-(-len(pairs) // CORES), MIN_SHARED // max(groups.shape[1], 1), 1)
    in_threads(
        lambda part: weigh_pairs(groups, weights, pairs[part], bins, out[part]), pieces(len(pairs), each)
    )
    return out
