"""Records of which only numbers are known, laid side by side."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]


def side_by_side(one: Ints, other: Ints) -> tuple[Ints, Ints, Ints]:
    """Lay two lists of as many records beside each other: return which of both meet, and in how many records.

    >>> [array.tolist() for array in side_by_side(np.array([2, 3]), np.array([4, 0, 1]))]
    [[0, 1, 1], [0, 0, 2], [2, 2, 1]]
    """
    ends = [np.cumsum(one), np.cumsum(other)]
    cuts = np.union1d(*ends)
    cuts = cuts[cuts > 0]
    first, second = (np.searchsorted(end, cuts) for end in ends)
    return first, second, np.diff(cuts, prepend=0)


def all_pairs(group: Ints, weights: Ints, other_group: Ints, other_weights: Ints) -> tuple[Ints, Ints, Ints]:
    """Return all pairs of one list and another in the same group, and how many records each pair has if they lie side by side.

    Both lists are in the order of the groups, which have as many records in both. So the numbers of the pairs add up to those of
    either list; a pair may have none.

    >>> [array.tolist() for array in all_pairs(np.array([0, 1]), np.array([2, 3]), np.array([0, 0, 1]), np.array([1, 1, 3]))]
    [[0, 0, 1], [0, 1, 2], [1, 1, 3]]
    >>> [array.tolist() for array in all_pairs(np.array([0, 0]), np.array([1, 1]), np.array([0, 0]), np.array([1, 1]))]
    [[0, 0, 1, 1], [0, 1, 0, 1], [1, 0, 0, 1]]
    """
    begin = np.searchsorted(other_group, group)
    times = np.searchsorted(other_group, group, side="right") - begin
    start = np.cumsum(times) - times
    first = np.repeat(np.arange(len(group)), times)
    second = begin[first] + np.arange(len(first)) - start[first]
    records = np.zeros(len(first), dtype=np.int64)
    a, b, met = side_by_side(weights, other_weights)
    records[start[a] + b - begin[a]] = met
    return first, second, records


def pairs_of(group: Ints, other_group: Ints) -> int:
    """Return how many pairs `all_pairs` would return."""
    begin = np.searchsorted(other_group, group)
    return int((np.searchsorted(other_group, group, side="right") - begin).sum())
