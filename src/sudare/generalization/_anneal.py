"""Compiled: units change places at random, less and less often for the worse (simulated annealing)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from sudare.generalization._blocks import Given, State, list_members, put, start, take, unlikeness
from sudare.kernels import fast_step, kernel, step
from sudare.lent import lent
from sudare.privacy._kernels import meets

if TYPE_CHECKING:
    from sudare.generalization.problem import Units
    from sudare.privacy.limits import Limits

Array = np.ndarray[Any, Any]
MAX_MEMBERS = 48  # units of larger blocks stay where they are
NOBODY = -1
ROUNDING = 1 - 1e-5  # of sums in single precision, in any order


class Change(NamedTuple):
    """What two blocks would be after a change: room for their units, and for the marks in which those differ."""

    one: Array
    other: Array
    differ: Array

    @classmethod
    def room_for(cls, g: Given) -> Change:
        one, other = np.empty((2, MAX_MEMBERS + 1), dtype=np.int64)
        return cls(one, other, np.empty(g.gain.size, dtype=np.int32))


def anneal(
    units: Units,
    limits: Limits,
    block_of: Array,
    blocks: int,
    neighbours: int,
    steps: int,
    hot: float,
    cold: float,
    seed: int,
    by_value: bool,
) -> None:
    """Let units join the blocks of their nearest, in place; another unit may come instead.

    A change may lose some distortion, drawn anew each time: about `hot` at first, `cold` at last. `by_value`: the nearest are those
    with another sensitive value, which blocks need; those with the same would rarely be let in.
    """
    given = Given.of(units)
    state = State.room_for(given, block_of, blocks)
    change = Change.room_for(given)
    nearest = np.zeros((len(block_of), neighbours), dtype=np.int64)
    distance = np.full((len(block_of), neighbours), np.inf, dtype=np.float32)
    counts = np.bincount(block_of[block_of >= 0], minlength=blocks)
    _anneal(limits, given, state, change, nearest, distance, counts, steps, hot, cold, seed, by_value)


@kernel
def _anneal(
    limits_: Limits,
    given: Given,
    state: State,
    room: Change,
    nearest: Array,
    distance: Array,
    count_of: Array,
    steps: int,
    hot: float,
    cold: float,
    seed: int,
    by_value: bool,
) -> None:  # pragma: no cover
    limits, g, s, change = lent(limits_), lent(given), lent(state), lent(room)
    start(s.size.size, g, s)
    _find_nearest(nearest, distance, by_value, g)
    np.random.seed(seed)
    temperature, factor = hot, (cold / hot) ** (1.0 / steps)
    for _ in range(steps):
        temperature *= factor
        u = np.random.randint(nearest.shape[0])
        v = nearest[u, np.random.randint(nearest.shape[1])]
        b, c = s.block_of[u], s.block_of[v]
        if b < 0 or c < 0 or b == c or s.cost[b] == 0.0 or max(count_of[b], count_of[c]) > MAX_MEMBERS:
            continue
        w = _drawn(c, u, v, by_value, change, g, s)
        if _exchanges(u, b, w, c, temperature, limits, change, g, s):
            count_of[b] += (w != NOBODY) - 1
            count_of[c] += 1 - (w != NOBODY)


@step
def _find_nearest(nearest: Array, distance: Array, by_value: bool, g: Given) -> None:  # pragma: no cover
    """Find the nearest other units of each unit; by value: those with another value."""
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


@step
def _drawn(
    c: int, u: int, v: int, by_value: bool, change: Change, g: Given, s: State
) -> int:  # pragma: no cover
    """Draw who leaves block c for u: any of its units but v, or nobody; by value, every other time one of u's value."""
    count = list_members(c, change.other, s)
    at = np.random.randint(count + 1)
    if by_value and np.random.random() < 0.5:
        for i in range(count - 1, -1, -1):
            if g.units.sensitive[change.other[i]] == g.units.sensitive[u]:
                at = i
    return NOBODY if at == count or change.other[at] == v else change.other[at]


@step
def _exchanges(
    u: int, b: int, w: int, c: int, temperature: float, limits: Limits, change: Change, g: Given, s: State
) -> bool:  # pragma: no cover
    """Let u go from block b to block c, and w, if there is one, the other way, unless that loses too much; tell whether it did."""
    weights = g.units.weights
    more = weights[u] - (weights[w] if w != NOBODY else 0)
    if s.size[b] - more < limits.k or s.size[c] + more < limits.k:
        return False
    enough = s.size[b] * s.cost[b] + s.size[c] * s.cost[c] - temperature * np.log(np.random.random())
    # Most changes are for the worse by far, which one unit of each block shows already.
    least = (s.size[c] + more) * _apart(u, c, w, g, s)
    if w != NOBODY and least < enough:
        least += (s.size[b] - more) * _apart(w, b, u, g, s)
    if least * ROUNDING >= enough:
        return False
    count = _with(b, u, w, change.one, s)
    cost_b = _cost(change.one, count, change.differ, g) if count else np.inf
    if (s.size[b] - more) * cost_b >= enough:
        return False
    count = _with(c, w, u, change.other, s)
    cost_c = _cost(change.other, count, change.differ, g)
    if (s.size[b] - more) * cost_b + (s.size[c] + more) * cost_c >= enough:
        return False
    _trade(u, b, w, c, g, s)
    if limits.distinct > 1 or limits.more:
        holds = meets(s.histogram[b], s.size[b], limits) and meets(s.histogram[c], s.size[c], limits)
        if not holds:
            _trade(u, c, w, b, g, s)
            return False
    s.cost[b], s.cost[c] = cost_b, cost_c
    return True


@step
def _apart(u: int, b: int, leaves: int, g: Given, s: State) -> float:  # pragma: no cover
    """Return what a record of a block costs at least if u comes: as much as u differs from a unit that stays there."""
    v = s.first[b]
    if v == leaves:
        v = s.after[v]
    return float(unlikeness(g.marks[u], g.marks[v], g.gain)) if v >= 0 else 0.0


@step
def _with(b: int, leaves: int, comes: int, members: Array, s: State) -> int:  # pragma: no cover
    """List the units of a block after a change; return how many there are."""
    count, u = 0, s.first[b]
    while u >= 0:
        if u != leaves:
            members[count] = u
            count += 1
        u = s.after[u]
    if comes != NOBODY:
        members[count] = comes
        count += 1
    return count


@fast_step
def _cost(members: Array, count: int, differ: Array, g: Given) -> float:  # pragma: no cover
    """Return what a record costs in a block of these units; many marks are compared at once."""
    for d in range(g.gain.size):
        differ[d] = 0
    first = g.marks[members[0]]
    for i in range(1, count):
        other = g.marks[members[i]]
        for d in range(g.gain.size):
            differ[d] |= first[d] ^ other[d]
    cost = np.float32(0.0)
    for d in range(g.gain.size):
        cost += g.gain[d] if differ[d] != 0 else np.float32(0.0)
    return float(cost)


@step
def _trade(u: int, b: int, w: int, c: int, g: Given, s: State) -> None:  # pragma: no cover
    """Move u from block b to block c, and w, if there is one, the other way."""
    take(u, b, g, s)
    put(u, c, g, s)
    if w != NOBODY:
        take(w, c, g, s)
        put(w, b, g, s)
