"""Compiled: the levels of blocks, and the blocks that the minimal method starts from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from sudare.kernels import inlined, kernel, slot_of, slots_for
from sudare.lent import lent
from sudare.privacy._kernels import meets
from sudare.progress import in_parts

if TYPE_CHECKING:
    from sudare.generalization.problem import Trees, Units
    from sudare.privacy.limits import Limits

Array = np.ndarray[Any, Any]
LEARNING = "Learning"
SWEPT_AT_ONCE = 4_000_000  # units times choices: a part of a second


@inlined
def meet(trees: Trees, a: int, x: int, y: int, level: int) -> int:  # pragma: no cover
    """Return the lowest level, from `level` up, at which two leaves of attribute a are alike."""
    while trees.nodes[trees.offset[a, level] + x] != trees.nodes[trees.offset[a, level] + y]:
        level += 1
    return level


def block_levels(leaves: Array, block_of: Array, blocks: int, trees: Trees) -> Array:
    """Return the lowest level at which the units of each block are alike, attribute by attribute."""
    levels = np.zeros((blocks, leaves.shape[1]), dtype=np.int16)
    _raise_levels(leaves, block_of, np.full(blocks, -1, dtype=np.int64), trees, levels)
    return levels


@kernel
def _raise_levels(
    leaves: Array, block_of: Array, first: Array, trees_: Trees, levels: Array
) -> None:  # pragma: no cover
    trees = lent(trees_)
    for u in range(leaves.shape[0]):
        b = block_of[u]
        if b < 0:
            continue
        if first[b] < 0:
            first[b] = u
        for a in range(leaves.shape[1]):
            levels[b, a] = meet(trees, a, leaves[first[b], a], leaves[u, a], levels[b, a])


@inlined
def tuple_number(units: Units, u: int, levels: Array) -> Any:  # pragma: no cover
    """Return the number of the tuple that a unit's values are at these levels; see `Trees.fit_one_number`."""
    number = np.uint64(0)
    for a in range(levels.size):
        node = units.trees.nodes[units.trees.offset[a, levels[a]] + units.leaves[u, a]]
        number = number * np.uint64(units.trees.size[a, levels[a]]) + np.uint64(node)
    return number


class Groups(NamedTuple):
    """The groups at one choice of levels, and a hash table that numbers them (see `slot_of`); made once for all choices."""

    choice_at: Array
    number_at: Array
    group_at: Array
    group_of: Array
    """Of each unit that is left."""
    size: Array
    block: Array
    """Which block each group becomes; -1 for none."""
    histogram: Array

    @classmethod
    def room_for(cls, units: Units, by_value: bool) -> Groups:
        m = len(units.weights)
        slots = slots_for(m)
        return cls(
            choice_at=np.full(slots, -1, dtype=np.int64),
            number_at=np.empty(slots, dtype=np.uint64),
            group_at=np.empty(slots, dtype=np.int64),
            group_of=np.empty(m, dtype=np.int64),
            size=np.empty(m, dtype=np.int64),
            block=np.empty(m, dtype=np.int64),
            histogram=np.zeros((m if by_value else 1, units.values), dtype=np.int64),
        )


def sweep(units: Units, limits: Limits, choices: Array, by_value: bool) -> Array:
    """Let every unit climb only as far as it must to find company.

    `choices` are the level vectors by rising cost. At each, the units that are left are grouped by their
    generalized values, and every group that meets the limits becomes a block. Returns the block of each unit
    (-1 for what is left over).
    """
    m = len(units.weights)
    block_of, so_far = np.full(m, -1, dtype=np.int64), np.array([m, 0])
    left, groups = np.arange(m), Groups.room_for(units, by_value)
    at_once = max(1, SWEPT_AT_ONCE // max(m, 1))
    for some in in_parts(LEARNING, len(choices), at_once=at_once, share=lambda: 1 - so_far[0] / max(m, 1)):
        _sweep(units, limits, choices, some.start, some.stop, by_value, left, groups, so_far, block_of)
        if so_far[0] == 0:
            break
    return block_of


@kernel
def _sweep(
    units_: Units,
    limits_: Limits,
    choices: Array,
    first: int,
    end: int,
    by_value: bool,
    left: Array,
    groups: Groups,
    so_far: Array,
    block_of: Array,
) -> None:  # pragma: no cover
    """Sweep by the choices from the first to the end; `so_far` has how many units are left, and how many blocks there are."""
    units, limits, g = lent(units_), lent(limits_), lent(groups)
    weights, sensitive, histogram = units.weights, units.sensitive, g.histogram
    remaining, blocks = so_far[0], so_far[1]
    for choice in range(first, end):
        if remaining == 0:
            break
        count = 0
        for i in range(remaining):
            u = left[i]
            number = tuple_number(units, u, choices[choice])
            slot = slot_of(number, choice, g.choice_at, g.number_at)
            if g.choice_at[slot] != choice:
                g.choice_at[slot], g.number_at[slot], g.group_at[slot] = choice, number, count
                g.size[count] = 0
                for value in range(histogram.shape[1] if by_value else 0):
                    histogram[count, value] = 0
                count += 1
            group = g.group_at[slot]
            g.group_of[i] = group
            g.size[group] += weights[u]
            if by_value:
                histogram[group, sensitive[u]] += weights[u]
        for group in range(count):
            g.block[group] = -1
            if meets(histogram[group if by_value else 0], g.size[group], limits):
                g.block[group] = blocks
                blocks += 1
        kept = 0
        for i in range(remaining):
            u = left[i]
            if g.block[g.group_of[i]] >= 0:
                block_of[u] = g.block[g.group_of[i]]
            else:
                left[kept] = u
                kept += 1
        remaining = kept
    so_far[0], so_far[1] = remaining, blocks
