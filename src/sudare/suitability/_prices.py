"""Compiled: the dearest possible block in every cell."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit

Array = np.ndarray[Any, Any]

NONE = 1e-12


class Given(NamedTuple):
    """The cells and what a block needs; see `Cells`, `Need` and `Problem`."""

    start: Array
    members: Array
    cost: Array
    weights: Array
    sensitive: Array
    values: int
    need_records: int
    need_values: int


@njit(cache=True, nogil=True)
def _dearest(
    prices: Array, scale: float, g: int, given: Given, order: Array, times: Array, has: Array
) -> tuple[float, float, int]:  # pragma: no cover
    """Find the possible block in cell g that is worth most above its cost, with all prices times `scale`.

    It has all records that are worth more than the cell costs. If they have too few values, the dearest record of
    each further value, the dearest first; if they are too few, the dearest of the rest. (Each addition is
    needed, and the best that is left.) Returns the prices (unscaled) and the cost of its records, and how many
    units `order` and `times` list.
    """
    cost, found, records, values = given.cost[g], 0, 0, 0
    worth = 0.0
    low, high = given.start[g], given.start[g + 1]
    for i in range(low, high):
        u = given.members[i]
        if scale * prices[u] > cost:
            order[found], times[found] = u, given.weights[u]
            found += 1
            worth += given.weights[u] * prices[u]
            records += given.weights[u]
            if has[given.sensitive[u]] == 0:
                has[given.sensitive[u]] = 1
                values += 1
    while values < given.need_values:
        best = -1
        for i in range(low, high):
            u = given.members[i]
            if has[given.sensitive[u]] == 0 and (best < 0 or prices[u] > prices[best]):
                best = u
        has[given.sensitive[best]] = 1
        values += 1
        order[found], times[found] = best, 1
        found += 1
        worth += prices[best]
        records += 1
    for i in range(found):
        has[given.sensitive[order[i]]] = 0
    if records < given.need_records:
        found, more = _filled(prices, g, given, order, times, found, given.need_records - records)
        worth += more
        records = given.need_records
    return worth, cost * records, found


@njit(cache=True, nogil=True)
def _filled(
    prices: Array, g: int, given: Given, order: Array, times: Array, found: int, missing: int
) -> tuple[int, float]:  # pragma: no cover
    """Add the dearest records that are not taken yet; fewer than `missing` are never left."""
    taken, first = found, found
    room = 0  # records in order[first:found]
    for i in range(given.start[g], given.start[g + 1]):
        u = given.members[i]
        free = given.weights[u]
        for j in range(taken):
            if order[j] == u:
                free -= times[j]
        if free == 0 or (room >= missing and prices[u] <= prices[order[found - 1]]):
            continue
        j = found
        while j > first and prices[order[j - 1]] < prices[u]:
            order[j], times[j] = order[j - 1], times[j - 1]
            j -= 1
        order[j], times[j] = u, free
        found += 1
        room += free
        while room - times[found - 1] >= missing:
            room -= times[found - 1]
            found -= 1
    times[found - 1] -= room - missing
    worth = 0.0
    for j in range(first, found):
        worth += times[j] * prices[order[j]]
    return found, worth


@njit(cache=True, nogil=True)
def _largest(given: Given) -> int:  # pragma: no cover
    largest = 0
    for g in range(len(given.cost)):
        largest = max(largest, given.start[g + 1] - given.start[g])
    return largest + given.need_values + given.need_records + 2


@njit(cache=True, nogil=True)
def excess(prices: Array, given: Given) -> Array:  # pragma: no cover
    """Return by how much the dearest possible block of each cell is worth more than it costs."""
    room = _largest(given)
    order, times = np.empty(room, dtype=np.int64), np.empty(room, dtype=np.int64)
    has = np.zeros(given.values, dtype=np.int64)
    found = np.empty(len(given.cost))
    for g in range(len(given.cost)):
        worth, cost, _ = _dearest(prices, 1.0, g, given, order, times, has)
        found[g] = worth - cost
    return found


@njit(cache=True, nogil=True)
def blocks(
    prices: Array, given: Given, cells: Array
) -> tuple[Array, Array, Array, Array]:  # pragma: no cover
    """Return the dearest possible blocks of these cells: where each starts, units, records of each, and their costs."""
    room = _largest(given)
    order, times = np.empty(room, dtype=np.int64), np.empty(room, dtype=np.int64)
    has = np.zeros(given.values, dtype=np.int64)
    start, limits = np.zeros(len(cells) + 1, dtype=np.int64), np.empty(len(cells))
    units, records = (
        np.empty(8 * len(cells) + room, dtype=np.int64),
        np.empty(8 * len(cells) + room, dtype=np.int64),
    )
    for i in range(len(cells)):
        _, limits[i], found = _dearest(prices, 1.0, cells[i], given, order, times, has)
        end = start[i] + found
        if end > len(units):
            units = np.concatenate((units, np.empty(len(units) + room, dtype=np.int64)))
            records = np.concatenate((records, np.empty(len(records) + room, dtype=np.int64)))
        units[start[i] : end], records[start[i] : end] = order[:found], times[:found]
        start[i + 1] = end
    return start, units[: start[-1]], records[: start[-1]], limits


@njit(cache=True, nogil=True)
def lowered(prices: Array, given: Given) -> Array:  # pragma: no cover
    """Return prices that no possible block exceeds: each times the least factor that one of its cells needs.

    A factor r(g) such that r(g) pi breaks nothing in cell g is found by Dinkelbach's iteration. Prices with a smaller
    factor each break nothing there either, for all are 0 or more.
    """
    room = _largest(given)
    order, times = np.empty(room, dtype=np.int64), np.empty(room, dtype=np.int64)
    has = np.zeros(given.values, dtype=np.int64)
    factor = np.ones(len(prices))
    for g in range(len(given.cost)):
        scale = 1.0
        while True:
            worth, cost, _ = _dearest(prices, scale, g, given, order, times, has)
            if worth == 0.0 or scale * worth <= cost * (1 + NONE):
                break
            scale = cost / worth
        for i in range(given.start[g], given.start[g + 1]):
            u = given.members[i]
            factor[u] = min(factor[u], scale)
    return prices * factor * (1 - 2 * NONE)
