"""Compiled: the steps of the linear program over blocks, each of which may be used in part."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from sudare.kernels import inlined, kernel, step
from sudare.lent import lent
from sudare.privacy._kernels import meets

if TYPE_CHECKING:
    from sudare.generalization.problem import Units
    from sudare.privacy.limits import Limits

Array = np.ndarray[Any, Any]
TOLERANCE = 1e-9  # a block must be worth more than rounding
PRICE = 0.05  # about what prices are; it weighs their steps against those of the shares


class Cells(NamedTuple):
    """Cell g has the units `members[start[g]:start[g + 1]]`, and costs each of their records `cost[g]`."""

    start: Array
    members: Array
    cost: Array


class Room(NamedTuple):
    """What is known of the block that is being made."""

    units: Array
    taken: Array
    """Whether each member of the cell is in it."""
    histogram: Array


@kernel
def best_blocks(
    units_: Units,
    limits_: Limits,
    cells_: Cells,
    room_: Room,
    prices: Array,
    chosen: Array,
    worth: Array,
    length: Array,
    start: Array,
    listed: Array,
) -> None:  # pragma: no cover
    """Find a block in each of the `chosen` cells that is worth much more than it costs: by how much, and of how many units.

    Where there is room in `listed`, its units are listed from `start` on.
    """
    units, limits, cells, room = lent(units_), lent(limits_), lent(cells_), lent(room_)
    for i in range(chosen.size):
        worth[i], length[i] = _best_block(chosen[i], prices, units, limits, cells, room)
        for j in range(length[i] if listed.size else 0):
            listed[start[i] + j] = room.units[j]


@step
def _best_block(
    g: int, prices: Array, units: Units, limits: Limits, cells: Cells, room: Room
) -> tuple[float, int]:  # pragma: no cover
    """List all units that are worth more than the cell costs, and then, while they meet no limits, the dearest of the rarest values."""
    first, count = cells.start[g], cells.start[g + 1] - cells.start[g]
    listed, size, worth = 0, 0, 0.0
    for value in range(units.values):
        room.histogram[value] = 0
    for i in range(count):
        u = cells.members[first + i]
        room.taken[i] = prices[u] > cells.cost[g]
        if room.taken[i]:
            size, worth = _put(u, listed, size, worth, cells.cost[g], prices, units, room)
            listed += 1
    while worth > TOLERANCE and not meets(room.histogram, size, limits):
        best = -1
        for i in range(count):
            if not room.taken[i] and (best < 0 or _comes_before(i, best, first, prices, units, cells, room)):
                best = i
        if best < 0:
            return 0.0, 0
        room.taken[best] = True
        u = cells.members[first + best]
        size, worth = _put(u, listed, size, worth, cells.cost[g], prices, units, room)
        listed += 1
    return (worth, listed) if worth > TOLERANCE else (0.0, 0)


@inlined
def _put(
    u: int, place: int, size: int, worth: float, cost: float, prices: Array, units: Units, room: Room
) -> tuple[int, float]:  # pragma: no cover
    """List a unit; return how many records there are then, and by how much they are worth more than they cost."""
    weight = units.weights[u]
    room.units[place] = u
    room.histogram[units.sensitive[u]] += weight
    return size + weight, worth + weight * (prices[u] - cost)


@step
def _comes_before(
    i: int, j: int, first: int, prices: Array, units: Units, cells: Cells, room: Room
) -> bool:  # pragma: no cover
    """Tell which of two members is to be added first: that of the value that there is less of, or the dearer one."""
    u, v = cells.members[first + i], cells.members[first + j]
    of_u, of_v = room.histogram[units.sensitive[u]], room.histogram[units.sensitive[v]]
    return bool(of_u < of_v or (of_u == of_v and prices[u] > prices[v]))


class Program(NamedTuple):
    """Block i has the units `listed[start[i]:start[i + 1]]`, costs `cost[i]`, and is used in part, `shares[i]`."""

    start: Array
    listed: Array
    cost: Array
    weights: Array
    """Of each unit, and what one of its records is worth."""
    prices: Array
    shares: Array


def solve(program: Program, steps: int) -> Array:
    """Go on with prices and shares, in place, towards the solution; return the mean of the later prices, which swings less.

    Chambolle & Pock's primal-dual method: prices rise where units are used too little, shares where blocks are worth more than they
    cost, with a step for each unit and block.
    """
    start, listed, weights = program.start, program.listed, program.weights
    times = np.bincount(listed, minlength=len(weights)).astype(np.float64)
    size = np.diff(np.append(0, np.cumsum(weights[listed]))[start]).astype(np.float64)
    mean, used, ahead = np.zeros((3, len(weights)))
    _solve(program, steps, times, size, used, ahead, mean)
    return mean


@kernel
def _solve(
    program: Program, steps: int, times: Array, size: Array, used: Array, ahead: Array, mean: Array
) -> None:  # pragma: no cover
    start, listed, cost, weights, prices, shares = program
    m, blocks = weights.size, cost.size
    for done in range(steps):
        for u in range(m):
            used[u] = 0.0
        for b in range(blocks):
            if shares[b] > 0.0:
                for j in range(start[b], start[b + 1]):
                    used[listed[j]] += shares[b]
        for u in range(m):
            price = max(prices[u] + PRICE / max(times[u], 1.0) * (1.0 - used[u]), 0.0)
            ahead[u] = 2.0 * price - prices[u]
            prices[u] = price
            mean[u] += price / (steps - steps // 2) if done >= steps // 2 else 0.0
        for b in range(blocks):
            worth = -cost[b]
            for j in range(start[b], start[b + 1]):
                worth += weights[listed[j]] * ahead[listed[j]]
            shares[b] = max(shares[b] + worth / size[b] / PRICE, 0.0)


def disjoint(start: Array, listed: Array, order: Array, units: int) -> Array:
    """Take blocks in this order that have no unit of one before; return the block of each unit, -1 for none."""
    block_of = np.full(units, -1, dtype=np.int64)
    _take_disjoint(start, listed, order, block_of)
    return block_of


@kernel
def _take_disjoint(start: Array, listed: Array, order: Array, block_of: Array) -> None:  # pragma: no cover
    blocks = 0
    for b in order:
        free = True
        for j in range(start[b], start[b + 1]):
            free = free and block_of[listed[j]] < 0
        if free:
            for j in range(start[b], start[b + 1]):
                block_of[listed[j]] = blocks
            blocks += 1
