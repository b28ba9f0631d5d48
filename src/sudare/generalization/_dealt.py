"""Compiled: the records of units, dealt to blocks. A unit's records may lie in several blocks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from sudare.generalization._blocks import gains, note_marks
from sudare.generalization._kernels import meet
from sudare.kernels import inlined, step
from sudare.privacy._kernels import meets

if TYPE_CHECKING:
    from sudare.generalization.problem import Units
    from sudare.privacy.limits import Limits

Array = np.ndarray[Any, Any]
TOLERANCE = 1e-12  # a change must save more than rounding
NONE = -1


class Dealt(NamedTuple):
    """The records of units, dealt to blocks. An entry is so many records of a unit in a block; a block's are a linked list."""

    unit: Array
    weight: Array  # 0: the entry is free
    block: Array
    after: Array
    first: Array  # entry of each block
    free: Array  # entries
    free_blocks: Array
    left: Array  # how many entries, and how many blocks, are free
    level: Array  # of each block, as all that follow
    size: Array
    cost: Array  # per record
    marks: Array  # see `_blocks`
    histogram: Array
    stale: Array  # whether something near it changed since it was looked at
    deals: bool  # whether the records of a unit may come into different blocks

    @classmethod
    def room_for(cls, units: Units, blocks: int, deals: bool) -> Dealt:
        """Make room for all records, and for some blocks more than there are."""
        m, n = units.leaves.shape
        # An entry for every record would do, with some to spare while a few move; so many are never needed.
        entries = m + min(int(units.weights.sum()) - m, m) + 1024
        blocks += blocks // 2 + 64

        def numbers(many: int, of: int = 0) -> Array:
            return np.full(many, of, dtype=np.int64)

        return cls(
            unit=numbers(entries),
            weight=numbers(entries),
            block=numbers(entries),
            after=numbers(entries, NONE),
            first=numbers(blocks, NONE),
            free=numbers(entries),
            free_blocks=numbers(blocks),
            left=numbers(2),
            level=np.zeros((blocks, n), dtype=np.int16),
            size=numbers(blocks),
            cost=np.zeros(blocks),
            marks=np.zeros((blocks, len(gains(units))), dtype=np.int32),
            histogram=np.zeros((blocks, units.values), dtype=np.int64),
            stale=np.ones(blocks, dtype=np.bool_),
            deals=deals,
        )

    def entries(self) -> tuple[Array, Array, Array]:
        """List the entries of all blocks: a unit, how many of its records, and their block."""
        used = np.flatnonzero(self.weight)
        used = used[np.argsort(self.block[used], kind="stable")]
        return self.unit[used], self.weight[used], self.block[used]


@step
def deal(block_of: Array, blocks: int, units: Units, d: Dealt) -> None:  # pragma: no cover
    """Put all records into their blocks."""
    for e in range(d.unit.size - 1, -1, -1):
        d.free[d.left[0]] = e
        d.left[0] += 1
    for b in range(d.first.size - 1, blocks - 1, -1):
        d.free_blocks[d.left[1]] = b
        d.left[1] += 1
    for u in range(block_of.size):
        if block_of[u] >= 0:
            add(u, units.weights[u], block_of[u], units, d)
    for b in range(blocks):
        refit(b, units, d)


@inlined
def lot(e: int, d: Dealt) -> Any:  # pragma: no cover
    """Return how many records of an entry go together."""
    return np.int64(1) if d.deals else d.weight[e]


@step
def let_go(b: int, value: int, some: int, limits: Limits, d: Dealt) -> bool:  # pragma: no cover
    """Take so many records of a value out of a block if the rest meets the limits, or nobody is left; tell whether."""
    d.size[b] -= some
    d.histogram[b, value] -= some
    if d.size[b] == 0 or meets(d.histogram[b], d.size[b], limits):
        return True
    d.size[b] += some
    d.histogram[b, value] += some
    return False


@step
def add(u: int, weight: int, b: int, units: Units, d: Dealt) -> None:  # pragma: no cover
    """Put records of a unit into a block."""
    d.size[b] += weight
    d.histogram[b, units.sensitive[u]] += weight
    e = d.first[b]
    while e != NONE:
        if d.unit[e] == u:
            d.weight[e] += weight
            return
        e = d.after[e]
    d.left[0] -= 1
    e = d.free[d.left[0]]
    d.unit[e], d.weight[e], d.block[e], d.after[e] = u, weight, b, d.first[b]
    d.first[b] = e


@step
def refit(b: int, units: Units, d: Dealt) -> None:  # pragma: no cover
    """Drop entries without records, and find the block's levels and cost anew."""
    leaves, trees = units.leaves, units.trees
    e, kept = d.first[b], NONE
    d.first[b], d.cost[b] = NONE, 0.0
    for a in range(leaves.shape[1]):
        d.level[b, a] = 0
    while e != NONE:
        following = d.after[e]
        if d.weight[e] == 0:
            d.free[d.left[0]] = e
            d.left[0] += 1
        else:
            if kept == NONE:
                d.first[b] = e
            else:
                d.after[kept] = e
                for a in range(leaves.shape[1]):
                    x, y = leaves[d.unit[d.first[b]], a], leaves[d.unit[e], a]
                    d.level[b, a] = meet(trees, a, x, y, d.level[b, a])
            kept = e
            d.after[e] = NONE
        e = following
    for a in range(leaves.shape[1]):
        d.cost[b] += d.level[b, a] * trees.step[a]
    if kept != NONE:
        note_marks(leaves[d.unit[d.first[b]]], d.level[b], d.marks[b], trees)
