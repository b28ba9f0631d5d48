"""Compiled: the nearest of every unit, and blocks that grow by them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from sudare.generalization._blocks import NOT_SHARED, Given, unlikeness
from sudare.kernels import kernel, step
from sudare.lent import lent
from sudare.privacy._kernels import meets

if TYPE_CHECKING:
    from sudare.generalization.problem import Units
    from sudare.privacy.limits import Limits

Array = np.ndarray[Any, Any]


def nearest_units(units: Units, count: int, by_value: bool) -> tuple[Array, Array]:
    """Return so many nearest others of each unit and their distances; by value: of those with another value.

    Where there are fewer, unit 0 stands in their place, at an infinite distance.
    """
    nearest = np.zeros((len(units.weights), count), dtype=np.int32)
    distance = np.full(nearest.shape, np.inf, dtype=np.float32)
    _find_nearest(Given.of(units), by_value, nearest, distance)
    return nearest, distance


@kernel
def _find_nearest(given: Given, by_value: bool, nearest: Array, distance: Array) -> None:  # pragma: no cover
    g = lent(given)
    m, count = nearest.shape
    for i in range(m):
        for j in range(i):
            if by_value and g.units.sensitive[i] == g.units.sensitive[j]:
                continue
            cost = unlikeness(g.marks[i], g.marks[j], g.gain)
            if cost < distance[i, count - 1]:
                _insert(nearest[i], distance[i], j, cost)
            if cost < distance[j, count - 1]:
                _insert(nearest[j], distance[j], i, cost)


@step
def _insert(nearest: Array, distance: Array, j: int, cost: Any) -> None:  # pragma: no cover
    at = nearest.size - 1
    while at > 0 and distance[at - 1] > cost:
        nearest[at], distance[at] = nearest[at - 1], distance[at - 1]
        at -= 1
    nearest[at], distance[at] = j, cost


def grow(units: Units, limits: Limits, seeds: Array, by_value: bool) -> Array:
    """Grow one block after the other: a seed, and the nearest free units until it meets the limits.

    While values are lacking, only units of the values that the block has least of are taken, since others
    would make it larger and no more diverse. Returns the block of each unit (-1 for what is left over).
    """
    return np.asarray(_grow(Given.of(units), limits, seeds, by_value))


@kernel
def _grow(given: Given, limits_: Limits, seeds: Array, by_value: bool) -> Array:  # pragma: no cover
    g, limits = lent(given), lent(limits_)
    weights, sensitive, values = g.units.weights, g.units.sensitive, g.units.values
    m = weights.size
    block_of = np.full(m, -1, dtype=np.int64)
    free, place = np.arange(m), np.arange(m)
    remaining, blocks = m, 0
    histogram = np.zeros(values, dtype=np.int64)
    marks = np.empty(g.gain.size, dtype=np.int32)
    members = np.empty(m, dtype=np.int64)
    supply = np.zeros(values, dtype=np.int64)
    for u in range(m):
        supply[sensitive[u]] += 1
    for seed in seeds:
        if block_of[seed] >= 0:
            continue
        for value in range(values):
            histogram[value] = 0
        for d in range(marks.size):
            marks[d] = g.marks[seed, d]
        count, size = 0, 0
        u = seed
        while True:
            members[count] = u
            count += 1
            size += weights[u]
            histogram[sensitive[u]] += weights[u]
            supply[sensitive[u]] -= 1
            remaining -= 1
            last = free[remaining]
            free[place[u]] = last
            place[last] = place[u]
            free[remaining] = u
            place[u] = remaining
            for d in range(marks.size):
                if marks[d] != g.marks[u, d]:
                    marks[d] = NOT_SHARED
            if meets(histogram, size, limits):
                for i in range(count):
                    block_of[members[i]] = blocks
                blocks += 1
                break
            u = _nearest_free(g, free, remaining, marks, histogram, supply, by_value)
            if u < 0:  # nothing is free any more: the members are left over
                break
    return block_of


@step
def _nearest_free(
    g: Given, free: Array, remaining: int, marks: Array, histogram: Array, supply: Array, by_value: bool
) -> int:  # pragma: no cover
    """Return the free unit that raises a growing block's cost least, of the values it has least of."""
    rarest = np.iinfo(np.int64).max
    if by_value:
        for value in range(histogram.size):
            if supply[value] > 0 and histogram[value] < rarest:
                rarest = histogram[value]
    best, least = -1, np.inf
    for i in range(remaining):
        u = free[i]
        if by_value and histogram[g.units.sensitive[u]] > rarest:
            continue
        cost = unlikeness(marks, g.marks[u], g.gain)
        if cost < least:
            best, least = u, cost
    return best
