"""Compiled: place what is left over, then move and dissolve until nothing helps."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from sudare.generalization._blocks import (
    Given,
    State,
    holds,
    list_members,
    put,
    refit,
    sort,
    start,
    take,
)
from sudare.generalization._joining import NEVER, Times, best_block, note
from sudare.kernels import inlined, kernel, step
from sudare.lent import lent

if TYPE_CHECKING:
    from sudare.generalization.problem import Units
    from sudare.privacy.limits import Limits

Array = np.ndarray[Any, Any]
TOLERANCE = 1e-12  # a change must save more than rounding
LEFT_OUT = -2  # the block of a unit that is left out for good; -1: not placed yet
MAX_MEMBERS = 64  # larger blocks are not worth dissolving


def improve(
    units: Units,
    limits: Limits,
    block_of: Array,
    blocks: int,
    new: Array,
    may_leave_out: int,
    passes: int,
) -> bool:
    """Improve `block_of` in place; -1 marks units without a block. Returns whether it went on until nothing helped.

    Between blocks that are not `new`, it is known that no change helps. At most `may_leave_out` records may end without a block;
    each then costs 1. Units that fit into no block join the costliest blocks in one of their own.
    """
    given = Given.of(units)
    state = State.room_for(given, block_of, blocks)
    members, targets = np.empty(len(units.weights), dtype=np.int64), np.empty(MAX_MEMBERS, dtype=np.int64)
    return _improve(limits, given, state, Times.of(new), members, targets, may_leave_out, passes)


@kernel
def _improve(
    limits_: Limits,
    given: Given,
    state: State,
    times: Times,
    members: Array,
    targets: Array,
    may_leave_out: int,
    passes: int,
) -> bool:  # pragma: no cover
    limits, g, s, t = lent(limits_), lent(given), lent(state), lent(times)
    start(s.size.size, g, s)
    left_out = _place_the_rest(may_leave_out, limits, g, s, t)
    for _ in range(passes):
        sort(s)
        changed = 0
        for place in range(s.size.size - 1, -1, -1):
            b = s.by_cost[place]
            if s.size[b] == 0 or s.cost[b] == 0.0:
                continue
            count = list_members(b, members, s)
            out = _shed(b, members, count, may_leave_out - left_out, limits, g, s)
            if out > 0:
                left_out += out
                changed += 1
                note(b, t)
                count = list_members(b, members, s)
            since = t.seen[b] if t.changed[b] <= t.seen[b] else NEVER
            t.seen[b] = t.now[0]
            out = -1
            if may_leave_out > left_out or _may_dissolve(b, members, count, since, limits, g, s, t):
                out = _dissolve(b, members, count, targets, may_leave_out - left_out, limits, g, s, t)
            if out >= 0:
                left_out += out
                changed += 1
                continue
            for i in range(count):
                changed += _move(members[i], b, since, limits, g, s, t)
        if changed == 0:
            return True
    return False


@step
def _place_the_rest(
    may_leave_out: int, limits: Limits, g: Given, s: State, t: Times
) -> int:  # pragma: no cover
    """Put units without a block where they cost least, or leave them out; return how many records are."""
    left_out = 0
    nowhere: Any = np.int64(-1)  # for a plain -1, the search would be compiled twice
    for u in range(g.units.weights.size):
        if s.block_of[u] >= 0:
            continue
        w = g.units.weights[u]
        price = 1.0 * w if left_out + w <= may_leave_out else np.inf
        b, _ = best_block(u, nowhere, price, nowhere, limits, g, s, t)
        if b >= 0:
            put(u, b, g, s)
            refit(b, g, s)
        elif price < np.inf:
            left_out += w
            s.block_of[u] = LEFT_OUT
    return 0 if _gather(limits, g, s) else left_out


@inlined
def _gather(limits: Limits, g: Given, s: State) -> bool:  # pragma: no cover
    """Put units that fit nowhere into one block, with the costliest other blocks until it meets the limits.

    If even all of them together do not, those that were left out come back; tells whether they did.
    """
    pool = s.by_cost[s.by_cost.size - 1]
    any_unplaced = False
    for u in range(g.units.weights.size):
        if s.block_of[u] == -1:
            any_unplaced = True
            put(u, pool, g, s)
    if not any_unplaced:
        return False
    rank = s.by_cost.size - 2
    while rank >= 0 and not holds(pool, limits, s):
        b = s.by_cost[rank]
        while s.first[b] >= 0:
            u = s.first[b]
            take(u, b, g, s)
            put(u, pool, g, s)
        s.cost[b] = 0.0
        rank -= 1
    back = not holds(pool, limits, s)
    for u in range(g.units.weights.size):
        if back and s.block_of[u] == LEFT_OUT:
            put(u, pool, g, s)
    refit(pool, g, s)
    return back


@step
def _may_dissolve(
    b: int, members: Array, count: int, since: int, limits: Limits, g: Given, s: State, t: Times
) -> bool:  # pragma: no cover
    """Tell whether a unit could go to a block that changed: else the block stays, as it did when it was looked at before."""
    if since == NEVER:
        return True
    for i in range(count):
        if best_block(members[i], b, s.size[b] * s.cost[b] - TOLERANCE, since, limits, g, s, t)[0] >= 0:
            return True
    return False


@step
def _dissolve(
    b: int,
    members: Array,
    count: int,
    targets: Array,
    spare: int,
    limits: Limits,
    g: Given,
    s: State,
    t: Times,
) -> int:  # pragma: no cover
    """Dissolve a block if all its units find other places for less than it costs.

    Returns how many records were left out, or -1 if the block stays.
    """
    if count > targets.size:
        return -1
    budget, moved, out = s.size[b] * s.cost[b], 0, 0
    of_all: Any = np.int64(NEVER)
    while moved < count:
        u = members[moved]
        target, price = best_block(u, b, budget - TOLERANCE, of_all, limits, g, s, t)
        if out + g.units.weights[u] <= spare and g.units.weights[u] < price:
            target, price = LEFT_OUT, 1.0 * g.units.weights[u]
        if target == -1 or price >= budget - TOLERANCE:
            break
        take(u, b, g, s)
        if target >= 0:
            put(u, target, g, s)
            refit(target, g, s)
        else:
            out += g.units.weights[u]
        targets[moved] = target
        budget -= price
        moved += 1
    if moved == count:
        for i in range(count):
            if targets[i] == LEFT_OUT:
                s.block_of[members[i]] = LEFT_OUT
            else:
                note(targets[i], t)
        s.cost[b] = 0.0
        return out
    for i in range(moved - 1, -1, -1):
        if targets[i] >= 0:
            take(members[i], targets[i], g, s)
            refit(targets[i], g, s)
        put(members[i], b, g, s)
    refit(b, g, s)
    return -1


@step
def _shed(
    b: int, members: Array, count: int, spare: int, limits: Limits, g: Given, s: State
) -> int:  # pragma: no cover
    """Leave out the units for which a block must climb in some attribute, if that saves more than they cost.

    Those stay that lie under the node with the most records. Returns how many records were left out.
    """
    if spare == 0 or count > MAX_MEMBERS:
        return 0
    leaves, trees, weights = g.units.leaves, g.units.trees, g.units.weights
    size, whole = s.size[b], s.size[b] * s.cost[b]
    for a in range(leaves.shape[1]):
        if s.level[b, a] == 0:
            continue
        below = trees.offset[a, s.level[b, a] - 1]
        stays, most = -1, 0
        for i in range(count):
            node, records = trees.nodes[below + leaves[members[i], a]], 0
            for j in range(count):
                if trees.nodes[below + leaves[members[j], a]] == node:
                    records += weights[members[j]]
            if records > most:
                stays, most = node, records
        if size - most > spare:
            continue
        for i in range(count):
            if trees.nodes[below + leaves[members[i], a]] != stays:
                take(members[i], b, g, s)
        refit(b, g, s)
        saves = s.size[b] * s.cost[b] + (size - most) < whole - TOLERANCE and holds(b, limits, s)
        for i in range(count):
            u = members[i]
            if trees.nodes[below + leaves[u, a]] != stays:
                if saves:
                    s.block_of[u] = LEFT_OUT
                else:
                    put(u, b, g, s)
        if saves:
            return int(size - most)
        refit(b, g, s)
    return 0


@step
def _move(
    u: int, b: int, since: int, limits: Limits, g: Given, s: State, t: Times
) -> bool:  # pragma: no cover
    """Move a unit that its block can spare to another block, if that saves distortion."""
    whole = s.size[b] * s.cost[b]
    take(u, b, g, s)
    target = -1
    if s.size[b] > 0 and holds(b, limits, s):
        refit(b, g, s)
        enough = whole - s.size[b] * s.cost[b] - TOLERANCE
        if t.changed[b] > t.seen[b]:  # another unit has just left it
            since = NEVER
        target, _ = best_block(u, b, enough, since, limits, g, s, t)
    to = target if target >= 0 else b
    put(u, to, g, s)
    refit(to, g, s)
    if target >= 0:
        note(b, t)
        note(target, t)
    return target >= 0
