"""Compiled loops of the generalization methods, on plain arrays."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numba import njit

from sudare.privacy._kernels import meets

if TYPE_CHECKING:
    from sudare.generalization.problem import Trees
    from sudare.privacy.limits import Limits

Array = np.ndarray[Any, Any]


@njit(cache=True, nogil=True, inline="always")
def meet(trees: Trees, a: int, x: int, y: int, level: int) -> int:  # pragma: no cover
    """Return the lowest level, from `level` up, at which two leaves of attribute a are alike."""
    while trees.nodes[trees.offset[a, level] + x] != trees.nodes[trees.offset[a, level] + y]:
        level += 1
    return level


@njit(cache=True, nogil=True)
def block_levels(units: Array, block_of: Array, blocks: int, trees: Trees) -> Array:  # pragma: no cover
    """Return the lowest level at which the units of each block are alike, attribute by attribute."""
    levels = np.zeros((blocks, units.shape[1]), dtype=np.int16)
    first = np.full(blocks, -1, dtype=np.int64)
    for u in range(units.shape[0]):
        b = block_of[u]
        if b < 0:
            continue
        if first[b] < 0:
            first[b] = u
        for a in range(units.shape[1]):
            levels[b, a] = meet(trees, a, units[first[b], a], units[u, a], levels[b, a])
    return levels


# -- mondrian --------------------------------------------------------------------------------------


@njit(cache=True, nogil=True)
def mondrian(
    units: Array,
    weights: Array,
    sensitive: Array,
    values: int,
    trees: Trees,
    limits: Limits,
    strict: bool,
    within: Array,
    within_levels: Array,
) -> Array:  # pragma: no cover
    """Cut blocks top down, each time where most records fall by most, while all parts meet the limits.

    `within` is the block of each unit to start with (-1 stays -1), `within_levels` the levels of each block.

    A cut takes a block's node of one attribute apart into its children. Strict: every child must meet the
    limits. Relaxed: children that do not stay together under the parent, with the smallest that do if need be.
    """
    m, n = units.shape
    widest = 1
    for a in range(n):
        for height in range(trees.height[a] + 1):
            widest = max(widest, trees.size[a, height])
    histogram = np.zeros((widest + 1, values), dtype=np.int64)  # the last row is for what stays together
    size = np.zeros(widest + 1, dtype=np.int64)
    children = np.empty(widest, dtype=np.int64)
    fate = np.zeros(widest, dtype=np.int64)  # of each child: 1 its own part, 0 stays under the parent
    room, at = np.zeros(widest + 1, dtype=np.int64), np.zeros(widest + 1, dtype=np.int64)
    order, scratch = np.argsort(within, kind="mergesort"), np.empty(m, dtype=np.int64)
    block_of = np.full(m, -1, dtype=np.int64)
    starts, stops, boxes = [0], [0], [within_levels[0]]  # an empty part tells the compiler the types
    begin = 0
    for i in range(m):
        if i + 1 == m or within[order[i + 1]] != within[order[i]]:
            if within[order[i]] >= 0:
                starts.append(begin)
                stops.append(i + 1)
                boxes.append(within_levels[within[order[i]]])
            begin = i + 1
    blocks = 0
    while len(starts) > 0:
        start, stop, level = starts.pop(), stops.pop(), boxes.pop()
        if start == stop:
            continue
        best, gain = -1, 0.0
        for a in range(n):
            if level[a] <= 0:  # at a leaf, or (-1 - level) closed: what stayed together here
                continue
            found = _children(
                order,
                start,
                stop,
                units,
                weights,
                sensitive,
                a,
                level[a] - 1,
                trees,
                histogram,
                size,
                children,
            )
            falling = _fates(found, children, histogram, size, widest, limits, strict, fate)
            _clear(found, children, histogram, size, widest)
            if falling * trees.step[a] > gain:
                best, gain = a, falling * trees.step[a]
        if best < 0:
            for i in range(start, stop):
                block_of[order[i]] = blocks
            blocks += 1
            continue
        below = level[best] - 1
        found = _children(
            order, start, stop, units, weights, sensitive, best, below, trees, histogram, size, children
        )
        _fates(found, children, histogram, size, widest, limits, strict, fate)
        _clear(found, children, histogram, size, widest)
        # Lay the parts out one after the other: each child that falls, then what stays together.
        room[:] = 0
        for i in range(start, stop):
            child = trees.nodes[trees.offset[best, below] + units[order[i], best]]
            room[child if fate[child] == 1 else widest] += 1
        place = start
        for c in range(found + 1):
            part = children[c] if c < found else widest
            if c < found and fate[part] == 0:
                continue
            if room[part] > 0:
                box = level.copy()
                box[best] = below if c < found else -1 - level[best]
                starts.append(place)
                stops.append(place + room[part])
                boxes.append(box)
            at[part] = place
            place += room[part]
        for i in range(start, stop):
            child = trees.nodes[trees.offset[best, below] + units[order[i], best]]
            part = child if fate[child] == 1 else widest
            scratch[at[part]] = order[i]
            at[part] += 1
        order[start:stop] = scratch[start:stop]
    return block_of


@njit(cache=True, nogil=True)
def _children(
    order: Array,
    start: int,
    stop: int,
    units: Array,
    weights: Array,
    sensitive: Array,
    a: int,
    level: int,
    trees: Trees,
    histogram: Array,
    size: Array,
    children: Array,
) -> int:  # pragma: no cover
    """Count what each child node would hold."""
    found = 0
    for i in range(start, stop):
        u = order[i]
        child = trees.nodes[trees.offset[a, level] + units[u, a]]
        if size[child] == 0:
            children[found] = child
            found += 1
        size[child] += weights[u]
        histogram[child, sensitive[u]] += weights[u]
    return found


@njit(cache=True, nogil=True)
def _fates(
    found: int,
    children: Array,
    histogram: Array,
    size: Array,
    pool: int,
    limits: Limits,
    strict: bool,
    fate: Array,
) -> int:  # pragma: no cover
    """Decide which children become parts of their own; return how many records fall to them."""
    failing = 0
    for i in range(found):
        child = children[i]
        fate[child] = 1
        if not meets(histogram[child], size[child], limits):
            fate[child] = 0
            failing += 1
            size[pool] += size[child]
            histogram[pool] += histogram[child]
    if failing > 0 and strict:
        return 0
    while failing > 0 and not meets(histogram[pool], size[pool], limits):
        smallest = -1
        for i in range(found):
            child = children[i]
            if fate[child] == 1 and (smallest < 0 or size[child] < size[smallest]):
                smallest = child
        if smallest < 0:
            return 0
        fate[smallest] = 0
        size[pool] += size[smallest]
        histogram[pool] += histogram[smallest]
    falling = 0
    for i in range(found):
        falling += size[children[i]] if fate[children[i]] == 1 else 0
    return falling


@njit(cache=True, nogil=True)
def _clear(found: int, children: Array, histogram: Array, size: Array, pool: int) -> None:  # pragma: no cover
    for i in range(found):
        size[children[i]] = 0
        histogram[children[i]] = 0
    size[pool] = 0
    histogram[pool] = 0


# -- minimal: sweep --------------------------------------------------------------------------------


@njit(cache=True, nogil=True)
def sweep(
    units: Array,
    weights: Array,
    sensitive: Array,
    values: int,
    trees: Trees,
    limits: Limits,
    choices: Array,
    by_value: bool,
) -> Array:  # pragma: no cover
    """Let every unit climb only as far as it must to find company.

    `choices` are the level vectors by rising cost. At each, the units that are left are grouped by their
    generalized values, and every group that meets the limits becomes a block. Returns the block of each unit
    (-1 for what is left over).
    """
    m, n = units.shape
    slots = 1
    while slots < 2 * m:
        slots *= 2
    key_at = np.empty(slots, dtype=np.uint64)
    seen = np.full(slots, -1, dtype=np.int64)
    group_at = np.empty(slots, dtype=np.int64)
    group_of = np.empty(m, dtype=np.int64)
    size = np.empty(m, dtype=np.int64)
    block = np.empty(m, dtype=np.int64)
    histogram = np.zeros((m if by_value else 1, values), dtype=np.int64)
    block_of = np.full(m, -1, dtype=np.int64)
    left = np.arange(m)
    remaining, blocks = m, 0
    for choice in range(choices.shape[0]):
        if remaining == 0:
            break
        groups = 0
        for i in range(remaining):
            u = left[i]
            key = np.uint64(0)
            for a in range(n):
                level = choices[choice, a]
                node = trees.nodes[trees.offset[a, level] + units[u, a]]
                key = key * np.uint64(trees.size[a, level]) + np.uint64(node)
            slot = np.int64((key * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(32)) & (slots - 1)
            while seen[slot] == choice and key_at[slot] != key:
                slot = (slot + 1) & (slots - 1)
            if seen[slot] != choice:
                seen[slot] = choice
                key_at[slot] = key
                group_at[slot] = groups
                size[groups] = 0
                if by_value:
                    histogram[groups] = 0
                groups += 1
            g = group_at[slot]
            group_of[i] = g
            size[g] += weights[u]
            if by_value:
                histogram[g, sensitive[u]] += weights[u]
        for g in range(groups):
            block[g] = -1
            if meets(histogram[g if by_value else 0], size[g], limits):
                block[g] = blocks
                blocks += 1
        kept = 0
        for i in range(remaining):
            u = left[i]
            if block[group_of[i]] >= 0:
                block_of[u] = block[group_of[i]]
            else:
                left[kept] = u
                kept += 1
        remaining = kept
    return block_of


# -- minimal: growing blocks -----------------------------------------------------------------------


@njit(cache=True, nogil=True)
def nearest_distances(
    units: Array, sensitive: Array, trees: Trees, by_value: bool
) -> Array:  # pragma: no cover
    """Return the distance of each unit to its nearest other; by value: to the nearest with another value."""
    m, n = units.shape
    nearest = np.full(m, np.inf)
    for i in range(m):
        for j in range(i):
            if by_value and sensitive[i] == sensitive[j]:
                continue
            cost, enough = 0.0, max(nearest[i], nearest[j])
            for a in range(n):
                cost += meet(trees, a, units[i, a], units[j, a], 0) * trees.step[a]
                if cost >= enough:
                    break
            nearest[i] = min(nearest[i], cost)
            nearest[j] = min(nearest[j], cost)
    return nearest


@njit(cache=True, nogil=True)
def grow(
    units: Array,
    weights: Array,
    sensitive: Array,
    values: int,
    trees: Trees,
    limits: Limits,
    seeds: Array,
    by_value: bool,
) -> Array:  # pragma: no cover
    """Grow one block after the other: a seed, and the nearest free units until it meets the limits.

    While values are lacking, only units of the values that the block has least of are taken, since others
    would make it larger and no more diverse. Returns the block of each unit (-1 for what is left over).
    """
    m, n = units.shape
    block_of = np.full(m, -1, dtype=np.int64)
    free, place = np.arange(m), np.arange(m)
    remaining, blocks = m, 0
    histogram = np.zeros(values, dtype=np.int64)
    rep, level = np.empty(n, dtype=np.int32), np.empty(n, dtype=np.int16)
    members = np.empty(m, dtype=np.int64)
    supply = np.zeros(values, dtype=np.int64)
    for u in range(m):
        supply[sensitive[u]] += 1
    for seed in seeds:
        if block_of[seed] >= 0:
            continue
        histogram[:] = 0
        rep[:] = units[seed]
        level[:] = 0
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
            for a in range(n):
                level[a] = meet(trees, a, rep[a], units[u, a], level[a])
            if meets(histogram, size, limits):
                for i in range(count):
                    block_of[members[i]] = blocks
                blocks += 1
                break
            u = _nearest_free(
                units, weights, sensitive, trees, free, remaining, rep, level, histogram, supply, by_value
            )
            if u < 0:  # nothing is free any more: the members are left over
                break
    return block_of


@njit(cache=True, nogil=True)
def _nearest_free(
    units: Array,
    weights: Array,
    sensitive: Array,
    trees: Trees,
    free: Array,
    remaining: int,
    rep: Array,
    level: Array,
    histogram: Array,
    supply: Array,
    by_value: bool,
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
        if by_value and histogram[sensitive[u]] > rarest:
            continue
        cost = 0.0
        for a in range(rep.size):
            cost += meet(trees, a, rep[a], units[u, a], level[a]) * trees.step[a]
            if cost >= least:
                break
        if cost < least:
            best, least = u, cost
    return best
