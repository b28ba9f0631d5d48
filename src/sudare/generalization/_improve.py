"""Compiled: place what is left over, then move units between blocks and dissolve blocks until nothing helps."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numba import njit

from sudare.generalization._kernels import meet
from sudare.privacy._kernels import meets

if TYPE_CHECKING:
    from sudare.generalization.problem import Trees
    from sudare.privacy.limits import Limits

Array = np.ndarray[Any, Any]
EPS = 1e-12  # a change must save more than rounding


@njit(cache=True, nogil=True)
def refit(
    b: int, first: Array, after: Array, units: Array, trees: Trees, rep: Array, level: Array, cost: Array
) -> None:  # pragma: no cover
    """Find a block's levels anew from its units."""
    u = first[b]
    cost[b] = 0.0
    if u < 0:
        return
    rep[b] = units[u]
    level[b] = 0
    u = after[u]
    while u >= 0:
        for a in range(units.shape[1]):
            level[b, a] = meet(trees, a, rep[b, a], units[u, a], level[b, a])
        u = after[u]
    for a in range(units.shape[1]):
        cost[b] += level[b, a] * trees.step[a]


@njit(cache=True, nogil=True)
def link(u: int, b: int, first: Array, after: Array, before: Array) -> None:  # pragma: no cover
    """Put a unit into a block's list."""
    after[u] = first[b]
    before[u] = -1
    if first[b] >= 0:
        before[first[b]] = u
    first[b] = u


@njit(cache=True, nogil=True)
def unlink(u: int, b: int, first: Array, after: Array, before: Array) -> None:  # pragma: no cover
    """Take a unit out of a block's list."""
    if before[u] >= 0:
        after[before[u]] = after[u]
    else:
        first[b] = after[u]
    if after[u] >= 0:
        before[after[u]] = before[u]


@njit(cache=True, nogil=True)
def best_block(
    u: int,
    avoid: int,
    enough: float,
    by_cost: Array,
    ranked: Array,
    units: Array,
    weights: Array,
    sensitive: Array,
    trees: Trees,
    limits: Limits,
    rep: Array,
    level: Array,
    size: Array,
    cost: Array,
    histogram: Array,
) -> tuple[int, float]:  # pragma: no cover
    """Return the block that a unit joins most cheaply, and the price; -1 if none costs less than `enough`.

    A block never gets cheaper by a new unit, so the unit pays at least the block's own cost: blocks are looked
    at by rising cost, and the search ends when that alone is too much. `ranked` are the costs by which they
    were sorted; they have changed a little since.
    """
    best, w = -1, weights[u]
    for i in range(by_cost.size):
        b = by_cost[i]
        if w * ranked[i] >= enough:
            break
        if size[b] == 0 or b == avoid or w * cost[b] >= enough:
            continue
        most = (enough + size[b] * cost[b]) / (size[b] + w)
        together = 0.0
        for a in range(units.shape[1]):
            together += meet(trees, a, rep[b, a], units[u, a], level[b, a]) * trees.step[a]
            if together >= most:
                break
        if together < most:
            histogram[b, sensitive[u]] += w
            fits = meets(histogram[b], size[b] + w, limits)
            histogram[b, sensitive[u]] -= w
            if fits:
                best, enough = b, (size[b] + w) * together - size[b] * cost[b]
    return best, enough


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
) -> int:  # pragma: no cover
    """Improve `block_of` in place; -1 marks units without a block. Returns how many changes were made.

    At most `may_leave_out` records may end without a block; each then costs 1. What cannot be placed in any
    block joins the cheapest blocks in one of its own.
    """
    m, n = units.shape
    first = np.full(blocks, -1, dtype=np.int64)
    after, before = np.full(m, -1, dtype=np.int64), np.full(m, -1, dtype=np.int64)
    rep, level = np.zeros((blocks, n), dtype=np.int32), np.zeros((blocks, n), dtype=np.int16)
    size, cost = np.zeros(blocks, dtype=np.int64), np.zeros(blocks)
    histogram = np.zeros((blocks, values), dtype=np.int64)
    for u in range(m):
        b = block_of[u]
        if b >= 0:
            link(u, b, first, after, before)
            size[b] += weights[u]
            histogram[b, sensitive[u]] += weights[u]
    for b in range(blocks):
        refit(b, first, after, units, trees, rep, level, cost)

    left_out, changes = 0, 0
    by_cost = np.argsort(cost)
    ranked = cost[by_cost]
    for u in range(m):
        if block_of[u] >= 0:
            continue
        price = 1.0 * weights[u] if left_out + weights[u] <= may_leave_out else np.inf
        b, _ = best_block(
            u,
            -1,
            price,
            by_cost,
            ranked,
            units,
            weights,
            sensitive,
            trees,
            limits,
            rep,
            level,
            size,
            cost,
            histogram,
        )
        if b >= 0:
            _put(u, b, block_of, weights, sensitive, first, after, before, size, histogram)
            refit(b, first, after, units, trees, rep, level, cost)
        elif price < np.inf:
            left_out += weights[u]
            block_of[u] = -2  # for good
    if _gather(
        block_of,
        by_cost,
        units,
        weights,
        sensitive,
        trees,
        limits,
        first,
        after,
        before,
        rep,
        level,
        size,
        cost,
        histogram,
    ):
        left_out = 0

    members, targets = np.empty(m, dtype=np.int64), np.empty(m, dtype=np.int64)
    for _ in range(passes):
        by_cost = np.argsort(cost)
        ranked = cost[by_cost]
        changed = 0
        for rank in range(blocks - 1, -1, -1):
            b = by_cost[rank]
            if size[b] == 0 or cost[b] == 0.0:
                continue
            count = 0
            u = first[b]
            while u >= 0:
                members[count] = u
                count += 1
                u = after[u]
            # Dissolve the block, if all its units find other places for less than it costs.
            budget, moved, out = size[b] * cost[b], 0, 0
            while moved < count and count <= 64:
                u = members[moved]
                w = weights[u]
                target, price = best_block(
                    u,
                    b,
                    budget - EPS,
                    by_cost,
                    ranked,
                    units,
                    weights,
                    sensitive,
                    trees,
                    limits,
                    rep,
                    level,
                    size,
                    cost,
                    histogram,
                )
                if left_out + out + w <= may_leave_out and 1.0 * w < price:
                    target, price = -2, 1.0 * w
                if price >= budget - EPS or target == -1:
                    break
                _take(u, b, weights, sensitive, first, after, before, size, histogram)
                if target >= 0:
                    _put(u, target, block_of, weights, sensitive, first, after, before, size, histogram)
                    refit(target, first, after, units, trees, rep, level, cost)
                else:
                    out += w
                targets[moved] = target
                budget -= price
                moved += 1
            if moved == count:
                for i in range(count):
                    if targets[i] == -2:
                        block_of[members[i]] = -2
                left_out += out
                cost[b] = 0.0
                changed += 1
                continue
            for i in range(moved - 1, -1, -1):
                u = members[i]
                if targets[i] >= 0:
                    _take(u, targets[i], weights, sensitive, first, after, before, size, histogram)
                    refit(targets[i], first, after, units, trees, rep, level, cost)
                _put(u, b, block_of, weights, sensitive, first, after, before, size, histogram)
            refit(b, first, after, units, trees, rep, level, cost)
            # Else move single units that the block can spare.
            for i in range(count):
                u = members[i]
                whole = size[b] * cost[b]
                _take(u, b, weights, sensitive, first, after, before, size, histogram)
                target = -1
                if size[b] > 0 and meets(histogram[b], size[b], limits):
                    refit(b, first, after, units, trees, rep, level, cost)
                    saved = whole - size[b] * cost[b]
                    target, _ = best_block(
                        u,
                        b,
                        saved - EPS,
                        by_cost,
                        ranked,
                        units,
                        weights,
                        sensitive,
                        trees,
                        limits,
                        rep,
                        level,
                        size,
                        cost,
                        histogram,
                    )
                to = target if target >= 0 else b
                _put(u, to, block_of, weights, sensitive, first, after, before, size, histogram)
                refit(to, first, after, units, trees, rep, level, cost)
                changed += target >= 0
        changes += changed
        if changed == 0:
            break
    return changes


@njit(cache=True, nogil=True)
def _put(
    u: int,
    b: int,
    block_of: Array,
    weights: Array,
    sensitive: Array,
    first: Array,
    after: Array,
    before: Array,
    size: Array,
    histogram: Array,
) -> None:  # pragma: no cover
    link(u, b, first, after, before)
    block_of[u] = b
    size[b] += weights[u]
    histogram[b, sensitive[u]] += weights[u]


@njit(cache=True, nogil=True)
def _take(
    u: int,
    b: int,
    weights: Array,
    sensitive: Array,
    first: Array,
    after: Array,
    before: Array,
    size: Array,
    histogram: Array,
) -> None:  # pragma: no cover
    unlink(u, b, first, after, before)
    size[b] -= weights[u]
    histogram[b, sensitive[u]] -= weights[u]


@njit(cache=True, nogil=True)
def _gather(
    block_of: Array,
    by_cost: Array,
    units: Array,
    weights: Array,
    sensitive: Array,
    trees: Trees,
    limits: Limits,
    first: Array,
    after: Array,
    before: Array,
    rep: Array,
    level: Array,
    size: Array,
    cost: Array,
    histogram: Array,
) -> bool:  # pragma: no cover
    """Put units that fit nowhere into one block, with the costliest other blocks until it meets the limits.

    If even all of them together do not, those that were left out come back; tells whether they did.
    """
    pool = -1
    for u in range(units.shape[0]):
        if block_of[u] == -1:
            if pool < 0:
                pool = by_cost[by_cost.size - 1]
            _put(u, pool, block_of, weights, sensitive, first, after, before, size, histogram)
    if pool < 0:
        return False
    rank = by_cost.size - 2
    while rank >= 0 and not meets(histogram[pool], size[pool], limits):
        b = by_cost[rank]
        while first[b] >= 0:
            u = first[b]
            _take(u, b, weights, sensitive, first, after, before, size, histogram)
            _put(u, pool, block_of, weights, sensitive, first, after, before, size, histogram)
        cost[b] = 0.0
        rank -= 1
    back = not meets(histogram[pool], size[pool], limits)
    if back:
        for u in range(units.shape[0]):
            if block_of[u] == -2:
                _put(u, pool, block_of, weights, sensitive, first, after, before, size, histogram)
    refit(pool, first, after, units, trees, rep, level, cost)
    return back
