"""Compiled: the levels of blocks, and the blocks that the minimal method starts from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from sudare.kernels import inlined, kernel, slot_of, slots_for
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
