"""Compiled: the levels of blocks, and the blocks that the minimal method starts from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from sudare.kernels import inlined, kernel, slot_of, slots_for, step
from sudare.lent import lent
from sudare.privacy._kernels import meets

if TYPE_CHECKING:
    from sudare.generalization.problem import Trees, Units
    from sudare.privacy.limits import Limits

Array = np.ndarray[Any, Any]


@inlined
def meet(trees: Trees, a: int, x: int, y: int, level: int) -> int:  # pragma: no cover
    """Return the lowest level, from `level` up, at which two leaves of attribute a are alike."""
    while trees.nodes[trees.offset[a, level] + x] != trees.nodes[trees.offset[a, level] + y]:
        level += 1
    return level


@kernel
def block_levels(leaves: Array, block_of: Array, blocks: int, trees_: Trees) -> Array:  # pragma: no cover
    """Return the lowest level at which the units of each block are alike, attribute by attribute."""
    trees = lent(trees_)
    levels = np.zeros((blocks, leaves.shape[1]), dtype=np.int16)
    first = np.full(blocks, -1, dtype=np.int64)
    for u in range(leaves.shape[0]):
        b = block_of[u]
        if b < 0:
            continue
        if first[b] < 0:
            first[b] = u
        for a in range(leaves.shape[1]):
            levels[b, a] = meet(trees, a, leaves[first[b], a], leaves[u, a], levels[b, a])
    return levels


@inlined
def tuple_number(units: Units, u: int, levels: Array) -> Any:  # pragma: no cover
    """Return the number of the tuple that a unit's values are at these levels; see `Trees.fit_one_number`."""
    number = np.uint64(0)
    for a in range(levels.size):
        node = units.trees.nodes[units.trees.offset[a, levels[a]] + units.leaves[u, a]]
        number = number * np.uint64(units.trees.size[a, levels[a]]) + np.uint64(node)
    return number


# -- minimal: sweep --------------------------------------------------------------------------------


@kernel
def sweep(units_: Units, limits_: Limits, choices: Array, by_value: bool) -> Array:  # pragma: no cover
    """Let every unit climb only as far as it must to find company.

    `choices` are the level vectors by rising cost. At each, the units that are left are grouped by their
    generalized values, and every group that meets the limits becomes a block. Returns the block of each unit
    (-1 for what is left over).
    """
    units, limits = lent(units_), lent(limits_)
    weights, sensitive, m = units.weights, units.sensitive, units.weights.size
    slots = slots_for(m)
    choice_at = np.full(slots, -1, dtype=np.int64)
    number_at = np.empty(slots, dtype=np.uint64)
    group_at = np.empty(slots, dtype=np.int64)
    group_of = np.empty(m, dtype=np.int64)
    size = np.empty(m, dtype=np.int64)
    block = np.empty(m, dtype=np.int64)
    histogram = np.zeros((m if by_value else 1, units.values), dtype=np.int64)
    block_of = np.full(m, -1, dtype=np.int64)
    left = np.arange(m)
    remaining, blocks = m, 0
    for choice in range(choices.shape[0]):
        if remaining == 0:
            break
        groups = 0
        for i in range(remaining):
            u = left[i]
            number = tuple_number(units, u, choices[choice])
            slot = slot_of(number, choice, choice_at, number_at)
            if choice_at[slot] != choice:
                choice_at[slot], number_at[slot], group_at[slot] = choice, number, groups
                size[groups] = 0
                for value in range(histogram.shape[1] if by_value else 0):
                    histogram[groups, value] = 0
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


@kernel
def nearest_distances(units_: Units, by_value: bool) -> Array:  # pragma: no cover
    """Return the distance of each unit to its nearest other; by value: to the nearest with another value."""
    units = lent(units_)
    leaves, sensitive, trees = units.leaves, units.sensitive, units.trees
    m, n = leaves.shape
    nearest = np.full(m, np.inf)
    for i in range(m):
        for j in range(i):
            if by_value and sensitive[i] == sensitive[j]:
                continue
            cost, enough = 0.0, max(nearest[i], nearest[j])
            for a in range(n):
                cost += meet(trees, a, leaves[i, a], leaves[j, a], 0) * trees.step[a]
                if cost >= enough:
                    break
            nearest[i] = min(nearest[i], cost)
            nearest[j] = min(nearest[j], cost)
    return nearest


@kernel
def grow(units_: Units, limits_: Limits, seeds: Array, by_value: bool) -> Array:  # pragma: no cover
    """Grow one block after the other: a seed, and the nearest free units until it meets the limits.

    While values are lacking, only units of the values that the block has least of are taken, since others
    would make it larger and no more diverse. Returns the block of each unit (-1 for what is left over).
    """
    units, limits = lent(units_), lent(limits_)
    leaves, weights, sensitive, values, trees = (
        units.leaves,
        units.weights,
        units.sensitive,
        units.values,
        units.trees,
    )
    m, n = leaves.shape
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
        for value in range(values):
            histogram[value] = 0
        for a in range(n):
            rep[a], level[a] = leaves[seed, a], 0
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
                level[a] = meet(trees, a, rep[a], leaves[u, a], level[a])
            if meets(histogram, size, limits):
                for i in range(count):
                    block_of[members[i]] = blocks
                blocks += 1
                break
            u = _nearest_free(units, free, remaining, rep, level, histogram, supply, by_value)
            if u < 0:  # nothing is free any more: the members are left over
                break
    return block_of


@step
def _nearest_free(
    units: Units,
    free: Array,
    remaining: int,
    rep: Array,
    level: Array,
    histogram: Array,
    supply: Array,
    by_value: bool,
) -> int:  # pragma: no cover
    """Return the free unit that raises a growing block's cost least, of the values it has least of."""
    leaves, sensitive, trees = units.leaves, units.sensitive, units.trees
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
            cost += meet(trees, a, rep[a], leaves[u, a], level[a]) * trees.step[a]
            if cost >= least:
                break
        if cost < least:
            best, least = u, cost
    return best
