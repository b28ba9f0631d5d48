"""Compiled: place what is left over, then move, swap and dissolve until nothing helps."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numba import njit

from sudare.generalization._kernels import meet
from sudare.privacy._kernels import meets

if TYPE_CHECKING:
    from sudare.generalization.problem import Trees
    from sudare.privacy.limits import Limits

Array = np.ndarray[Any, Any]
TOLERANCE = 1e-12  # a change must save more than rounding
LEFT_OUT = -2  # the block of a unit that is left out for good; -1: not placed yet
NOT_SHARED = -1  # the mark of a block whose units do not share one
ROUGH = 1e-5  # more than single precision can be wrong by
MEMBERS = 64  # larger blocks are not worth dissolving


class Given(NamedTuple):
    """What does not change: the units, the trees they climb, and what blocks must meet."""

    units: Array
    weights: Array
    sensitive: Array
    trees: Trees
    limits: Limits
    marks: Array
    """The node that each unit lies under at each level of each attribute below the root, one after the other."""
    gain: Array
    """What two units save that share a mark."""


class State(NamedTuple):
    """Which unit is in which block. The units of a block are a linked list."""

    block_of: Array
    first: Array  # of each block
    after: Array  # of each unit
    before: Array
    rep: Array  # the first unit's leaves, of each block
    marks: Array  # the marks that all units of each block share; NOT_SHARED for the others
    level: Array
    size: Array
    cost: Array  # per record
    histogram: Array
    by_cost: Array  # the blocks by rising cost, as they were when last sorted
    ranked: Array  # their costs then


@njit(cache=True, nogil=True)
def improve(
    units: Array,
    weights: Array,
    sensitive: Array,
    values: int,
    trees: Trees,
    limits: Limits,
    block_of: Array,
    blocks: int,
    may_leave_out: int,
    passes: int,
    swaps: int,
) -> int:  # pragma: no cover
    """Improve `block_of` in place; -1 marks units without a block. Returns how many changes were made.

    At most `may_leave_out` records may end without a block; each then costs 1. Units that fit into no block
    join the costliest blocks in one of their own. Swaps take longest and save least: they are tried when nothing
    else helps, in at most `swaps` passes.
    """
    m, n = units.shape
    g = Given(units, weights, sensitive, trees, limits, *_marked(units, trees))
    s = State(
        block_of,
        np.full(blocks, -1, dtype=np.int64),
        np.full(m, -1, dtype=np.int64),
        np.full(m, -1, dtype=np.int64),
        np.zeros((blocks, n), dtype=np.int32),
        np.zeros((blocks, g.gain.size), dtype=np.int32),
        np.zeros((blocks, n), dtype=np.int16),
        np.zeros(blocks, dtype=np.int64),
        np.zeros(blocks),
        np.zeros((blocks, values), dtype=np.int64),
        np.zeros(blocks, dtype=np.int64),
        np.zeros(blocks),
    )
    for u in range(m):
        if block_of[u] >= 0:
            _put(u, block_of[u], g, s)
    for b in range(blocks):
        _refit(b, g, s)
    _sort(s)
    left_out = _place_the_rest(may_leave_out, g, s)
    members = np.empty(m, dtype=np.int64)
    changes, swapping = 0, False
    for _ in range(passes):
        _sort(s)
        changed = 0
        for rank in range(blocks - 1, -1, -1):
            b = s.by_cost[rank]
            if s.size[b] == 0 or s.cost[b] == 0.0:
                continue
            count = _members(b, members, s)
            out = _dissolve(b, members, count, may_leave_out - left_out, g, s)
            if out >= 0:
                left_out += out
                changed += 1
                continue
            for i in range(count):
                changed += _move(members[i], b, g, s) or (swapping and _swap(members[i], b, g, s))
        changes += changed
        if changed == 0 and (swapping or swaps == 0):
            break
        swapping = changed == 0
        swaps -= swapping
    return changes


@njit(cache=True, nogil=True)
def _marked(units: Array, trees: Trees) -> tuple[Array, Array]:  # pragma: no cover
    """Return the marks of all units, and what each saves."""
    m, n = units.shape
    marks = np.empty((m, trees.height.sum()), dtype=np.int32)
    gain = np.empty(trees.height.sum(), dtype=np.float32)
    d = 0
    for a in range(n):
        for level in range(trees.height[a]):
            gain[d] = trees.step[a]
            for u in range(m):
                marks[u, d] = trees.nodes[trees.offset[a, level] + units[u, a]]
            d += 1
    return marks, gain


@njit(cache=True, nogil=True, fastmath=True)
def _roughly(a: Array, b: Array, gain: Array) -> Any:  # pragma: no cover
    """Return what it costs not to share marks, in single precision: many marks are compared at once."""
    cost = np.float32(0.0)
    for d in range(gain.size):
        cost += gain[d] if a[d] != b[d] else np.float32(0.0)
    return cost


@njit(cache=True, nogil=True)
def _place_the_rest(may_leave_out: int, g: Given, s: State) -> int:  # pragma: no cover
    """Put units without a block where they cost least, or leave them out; return how many records are."""
    left_out = 0
    for u in range(g.weights.size):
        if s.block_of[u] >= 0:
            continue
        w = g.weights[u]
        price = 1.0 * w if left_out + w <= may_leave_out else np.inf
        b, _ = _best_block(u, -1, price, g, s)
        if b >= 0:
            _put(u, b, g, s)
            _refit(b, g, s)
        elif price < np.inf:
            left_out += w
            s.block_of[u] = LEFT_OUT
    return 0 if _gather(g, s) else left_out


@njit(cache=True, nogil=True)
def _gather(g: Given, s: State) -> bool:  # pragma: no cover
    """Put units that fit nowhere into one block, with the costliest other blocks until it meets the limits.

    If even all of them together do not, those that were left out come back; tells whether they did.
    """
    pool = s.by_cost[s.by_cost.size - 1]
    any_unplaced = False
    for u in range(g.weights.size):
        if s.block_of[u] == -1:
            any_unplaced = True
            _put(u, pool, g, s)
    if not any_unplaced:
        return False
    rank = s.by_cost.size - 2
    while rank >= 0 and not _holds(pool, g, s):
        b = s.by_cost[rank]
        while s.first[b] >= 0:
            u = s.first[b]
            _take(u, b, g, s)
            _put(u, pool, g, s)
        s.cost[b] = 0.0
        rank -= 1
    back = not _holds(pool, g, s)
    for u in range(g.weights.size):
        if back and s.block_of[u] == LEFT_OUT:
            _put(u, pool, g, s)
    _refit(pool, g, s)
    return back


@njit(cache=True, nogil=True)
def _dissolve(b: int, members: Array, count: int, spare: int, g: Given, s: State) -> int:  # pragma: no cover
    """Dissolve a block if all its units find other places for less than it costs.

    Returns how many records were left out, or -1 if the block stays.
    """
    if count > MEMBERS:
        return -1
    targets = np.empty(count, dtype=np.int64)
    budget, moved, out = s.size[b] * s.cost[b], 0, 0
    while moved < count:
        u = members[moved]
        target, price = _best_block(u, b, budget - TOLERANCE, g, s)
        if out + g.weights[u] <= spare and g.weights[u] < price:
            target, price = LEFT_OUT, 1.0 * g.weights[u]
        if target == -1 or price >= budget - TOLERANCE:
            break
        _take(u, b, g, s)
        if target >= 0:
            _put(u, target, g, s)
            _refit(target, g, s)
        else:
            out += g.weights[u]
        targets[moved] = target
        budget -= price
        moved += 1
    if moved == count:
        for i in range(count):
            if targets[i] == LEFT_OUT:
                s.block_of[members[i]] = LEFT_OUT
        s.cost[b] = 0.0
        return out
    for i in range(moved - 1, -1, -1):
        if targets[i] >= 0:
            _take(members[i], targets[i], g, s)
            _refit(targets[i], g, s)
        _put(members[i], b, g, s)
    _refit(b, g, s)
    return -1


@njit(cache=True, nogil=True)
def _move(u: int, b: int, g: Given, s: State) -> bool:  # pragma: no cover
    """Move a unit that its block can spare to another block, if that saves distortion."""
    whole = s.size[b] * s.cost[b]
    _take(u, b, g, s)
    target = -1
    if s.size[b] > 0 and _holds(b, g, s):
        _refit(b, g, s)
        target, _ = _best_block(u, b, whole - s.size[b] * s.cost[b] - TOLERANCE, g, s)
    to = target if target >= 0 else b
    _put(u, to, g, s)
    _refit(to, g, s)
    return target >= 0


@njit(cache=True, nogil=True)
def _swap(u: int, b: int, g: Given, s: State) -> bool:  # pragma: no cover
    """Swap a unit with one of the block that is nearest to it, if that saves distortion."""
    near, _ = _best_block(u, b, s.size[b] * s.cost[b], g, s)
    if near < 0:
        return False
    both = s.size[b] * s.cost[b] + s.size[near] * s.cost[near]
    v = s.first[near]
    for _ in range(MEMBERS):
        if v < 0:
            break
        following = s.after[v]
        _exchange(u, b, v, near, g, s)
        if _holds(b, g, s) and _holds(near, g, s):
            _refit(b, g, s)
            _refit(near, g, s)
            if s.size[b] * s.cost[b] + s.size[near] * s.cost[near] < both - TOLERANCE:
                return True
        _exchange(v, b, u, near, g, s)  # v is at the head now, and `following` where it was
        v = following
    _refit(b, g, s)
    _refit(near, g, s)
    return False


@njit(cache=True, nogil=True)
def _exchange(u: int, b: int, v: int, c: int, g: Given, s: State) -> None:  # pragma: no cover
    """Let a unit of block b and a unit of block c change places."""
    _take(u, b, g, s)
    _take(v, c, g, s)
    _put(v, b, g, s)
    _put(u, c, g, s)


@njit(cache=True, nogil=True)
def _best_block(
    u: int, avoid: int, enough: float, g: Given, s: State
) -> tuple[int, float]:  # pragma: no cover
    """Return the block that a unit joins most cheaply, and the price; -1 if none costs less than `enough`.

    A block never gets cheaper by a new unit, so the unit pays at least the block's own cost: blocks are looked
    at by rising cost, and the search ends when that alone is too much.
    """
    best, w = -1, g.weights[u]
    for i in range(s.by_cost.size):
        b = s.by_cost[i]
        if w * s.ranked[i] >= enough:
            break
        if s.size[b] == 0 or b == avoid or w * s.cost[b] >= enough:
            continue
        most = (enough + s.size[b] * s.cost[b]) / (s.size[b] + w)
        if _roughly(g.marks[u], s.marks[b], g.gain) >= most + ROUGH:
            continue
        together = s.cost[b]
        for a in range(g.units.shape[1]):
            level = s.level[b, a]
            together += (meet(g.trees, a, s.rep[b, a], g.units[u, a], level) - level) * g.trees.step[a]
        if together < most:
            s.histogram[b, g.sensitive[u]] += w
            fits = meets(s.histogram[b], s.size[b] + w, g.limits)
            s.histogram[b, g.sensitive[u]] -= w
            if fits:
                best, enough = b, (s.size[b] + w) * together - s.size[b] * s.cost[b]
    return best, enough


@njit(cache=True, nogil=True)
def _holds(b: int, g: Given, s: State) -> bool:  # pragma: no cover
    return meets(s.histogram[b], s.size[b], g.limits)


@njit(cache=True, nogil=True)
def _sort(s: State) -> None:  # pragma: no cover
    s.by_cost[:] = np.argsort(s.cost)
    s.ranked[:] = s.cost[s.by_cost]


@njit(cache=True, nogil=True)
def _members(b: int, members: Array, s: State) -> int:  # pragma: no cover
    count, u = 0, s.first[b]
    while u >= 0:
        members[count] = u
        count += 1
        u = s.after[u]
    return count


@njit(cache=True, nogil=True)
def _put(u: int, b: int, g: Given, s: State) -> None:  # pragma: no cover
    """Put a unit into a block. Its levels are found anew by `_refit`."""
    s.after[u] = s.first[b]
    s.before[u] = -1
    if s.first[b] >= 0:
        s.before[s.first[b]] = u
    s.first[b] = u
    s.block_of[u] = b
    s.size[b] += g.weights[u]
    s.histogram[b, g.sensitive[u]] += g.weights[u]


@njit(cache=True, nogil=True)
def _take(u: int, b: int, g: Given, s: State) -> None:  # pragma: no cover
    """Take a unit out of its block."""
    if s.before[u] >= 0:
        s.after[s.before[u]] = s.after[u]
    else:
        s.first[b] = s.after[u]
    if s.after[u] >= 0:
        s.before[s.after[u]] = s.before[u]
    s.size[b] -= g.weights[u]
    s.histogram[b, g.sensitive[u]] -= g.weights[u]


@njit(cache=True, nogil=True)
def _refit(b: int, g: Given, s: State) -> None:  # pragma: no cover
    """Find a block's levels and cost anew from its units."""
    u = s.first[b]
    s.cost[b] = 0.0
    if u < 0:
        return
    s.rep[b] = g.units[u]
    s.level[b] = 0
    u = s.after[u]
    while u >= 0:
        for a in range(g.units.shape[1]):
            s.level[b, a] = meet(g.trees, a, s.rep[b, a], g.units[u, a], s.level[b, a])
        u = s.after[u]
    d = 0
    for a in range(g.units.shape[1]):
        s.cost[b] += s.level[b, a] * g.trees.step[a]
        for level in range(g.trees.height[a]):
            s.marks[b, d] = g.marks[s.first[b], d] if level >= s.level[b, a] else NOT_SHARED
            d += 1
