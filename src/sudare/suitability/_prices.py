"""Compiled: the possible block of every cell that is worth most above its cost."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from sudare.kernels import kernel, step

Array = np.ndarray[Any, Any]

TOLERANCE = 1e-12  # relative: below it, a block is worth no more than it costs


class PricingProblem(NamedTuple):
    """The cells, and what a block must have at least; see `ClosedCells`, `BlockMinimum` and `Problem`."""

    start: Array
    members: Array
    cost: Array
    weights: Array
    sensitive: Array
    values: int
    min_records: int
    min_values: int


@step
def _best_block(
    prices: Array,
    scale: float,
    g: int,
    problem: PricingProblem,
    order: Array,
    times: Array,
    has: Array,
    top: Array,
) -> tuple[float, float, int]:  # pragma: no cover
    """Find the possible block in cell g that is worth most above its cost, with all prices times `scale`.

    It has all records that are worth more than the cell costs. If they have too few values, the record of the
    highest price (in `top`) of each further value, the highest first; if they are too few, the highest of the rest. (Each addition is
    needed, and the best that is left.) Returns the prices (unscaled) and the cost of its records, and how many
    units `order` and `times` list.
    """
    cost, listed, records, values = problem.cost[g], 0, 0, 0
    worth = 0.0
    low, high = problem.start[g], problem.start[g + 1]
    for i in range(low, high):
        u = problem.members[i]
        dearest = top[problem.sensitive[u]]
        if dearest < 0 or prices[u] > prices[dearest]:
            top[problem.sensitive[u]] = u
        if scale * prices[u] > cost:
            order[listed], times[listed] = u, problem.weights[u]
            listed += 1
            worth += problem.weights[u] * prices[u]
            records += problem.weights[u]
            if has[problem.sensitive[u]] == 0:
                has[problem.sensitive[u]] = 1
                values += 1
    while values < problem.min_values:
        best = -1
        for v in range(top.size):
            if top[v] >= 0 and has[v] == 0 and (best < 0 or prices[top[v]] > prices[best]):
                best = top[v]
        has[problem.sensitive[best]] = 1
        values += 1
        order[listed], times[listed] = best, 1
        listed += 1
        worth += prices[best]
        records += 1
    for i in range(low, high):
        top[problem.sensitive[problem.members[i]]] = -1
    for i in range(listed):
        has[problem.sensitive[order[i]]] = 0
    if records < problem.min_records:
        listed, more = _filled(prices, g, problem, order, times, listed, problem.min_records - records)
        worth += more
        records = problem.min_records
    return worth, cost * records, listed


@step
def _filled(
    prices: Array, g: int, problem: PricingProblem, order: Array, times: Array, listed: int, missing: int
) -> tuple[int, float]:  # pragma: no cover
    """Add the records of the highest prices that are not taken yet; fewer than `missing` are never left."""
    taken, first = listed, listed
    room = 0  # records in order[first:listed]
    for i in range(problem.start[g], problem.start[g + 1]):
        u = problem.members[i]
        free = problem.weights[u]
        for j in range(taken):
            if order[j] == u:
                free -= times[j]
        if free == 0 or (room >= missing and prices[u] <= prices[order[listed - 1]]):
            continue
        j = listed
        while j > first and prices[order[j - 1]] < prices[u]:
            order[j], times[j] = order[j - 1], times[j - 1]
            j -= 1
        order[j], times[j] = u, free
        listed += 1
        room += free
        while room - times[listed - 1] >= missing:
            room -= times[listed - 1]
            listed -= 1
    times[listed - 1] -= room - missing
    worth = 0.0
    for j in range(first, listed):
        worth += times[j] * prices[order[j]]
    return listed, worth


@step
def _largest(problem: PricingProblem) -> int:  # pragma: no cover
    largest = 0
    for g in range(len(problem.cost)):
        largest = max(largest, problem.start[g + 1] - problem.start[g])
    return largest + problem.min_values + problem.min_records + 2


@kernel
def excess(prices: Array, problem: PricingProblem) -> Array:  # pragma: no cover
    """Return by how much the best possible block of each cell is worth more than it costs."""
    room = _largest(problem)
    order, times = np.empty(room, dtype=np.int64), np.empty(room, dtype=np.int64)
    has, top = np.zeros(problem.values, dtype=np.int64), np.full(problem.values, -1, dtype=np.int64)
    above = np.empty(len(problem.cost))
    for g in range(len(problem.cost)):
        worth, cost, _ = _best_block(prices, 1.0, g, problem, order, times, has, top)
        above[g] = worth - cost
    return above


@kernel
def blocks(
    prices: Array, problem: PricingProblem, cells: Array
) -> tuple[Array, Array, Array, Array]:  # pragma: no cover
    """Return the best possible blocks of these cells: where each starts, units, records of each, and their costs."""
    room = _largest(problem)
    order, times = np.empty(room, dtype=np.int64), np.empty(room, dtype=np.int64)
    has, top = np.zeros(problem.values, dtype=np.int64), np.full(problem.values, -1, dtype=np.int64)
    start, limits = np.zeros(len(cells) + 1, dtype=np.int64), np.empty(len(cells))
    units, records = (
        np.empty(8 * len(cells) + room, dtype=np.int64),
        np.empty(8 * len(cells) + room, dtype=np.int64),
    )
    for i in range(len(cells)):
        _, limits[i], listed = _best_block(prices, 1.0, cells[i], problem, order, times, has, top)
        end = start[i] + listed
        if end > len(units):
            units = np.concatenate((units, np.empty(len(units) + room, dtype=np.int64)))
            records = np.concatenate((records, np.empty(len(records) + room, dtype=np.int64)))
        units[start[i] : end], records[start[i] : end] = order[:listed], times[:listed]
        start[i + 1] = end
    return start, units[: start[-1]], records[: start[-1]], limits


@kernel
def lowered(prices: Array, problem: PricingProblem) -> Array:  # pragma: no cover
    """Return prices that no possible block exceeds: each times the least factor that one of its cells needs.

    A factor r(g) such that r(g) pi breaks nothing in cell g comes from Dinkelbach's iteration. Prices with a smaller
    factor each break nothing there either, for all are 0 or more.
    """
    room = _largest(problem)
    order, times = np.empty(room, dtype=np.int64), np.empty(room, dtype=np.int64)
    has, top = np.zeros(problem.values, dtype=np.int64), np.full(problem.values, -1, dtype=np.int64)
    factor = np.ones(len(prices))
    for g in range(len(problem.cost)):
        scale = 1.0
        while True:
            worth, cost, _ = _best_block(prices, scale, g, problem, order, times, has, top)
            if worth == 0.0 or scale * worth <= cost * (1 + TOLERANCE):
                break
            scale = cost / worth
        for i in range(problem.start[g], problem.start[g + 1]):
            u = problem.members[i]
            factor[u] = min(factor[u], scale)
    return prices * factor * (1 - 2 * TOLERANCE)
