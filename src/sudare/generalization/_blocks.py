"""Compiled: blocks that units enter and leave, with what each block costs.

Rows are copied value by value: numba compiles an assignment of whole rows, which may broadcast, for seconds.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from sudare.generalization._kernels import meet
from sudare.kernels import fast_step, rank, step
from sudare.privacy._kernels import meets

if TYPE_CHECKING:
    from sudare.generalization.problem import Trees, Units
    from sudare.privacy.limits import Limits

Array = np.ndarray[Any, Any]
LANES = 8  # marks are compared so many at a time: some left over at the end would take longer than all others
NOT_SHARED = -1  # the mark of a block whose units do not share one


class Given(NamedTuple):
    """What does not change. (What blocks must meet is given only to those who ask: arrays cost time wherever they go.)"""

    units: Units
    marks: Array
    """The node that each unit lies under at each level of each attribute below the root, one after the other; then zeros."""
    gain: Array
    """What two units save that share a mark; nothing for the zeros."""

    @classmethod
    def of(cls, units: Units) -> Given:
        trees, gain = units.trees, gains(units)
        levels = [(a, level) for a, height in enumerate(trees.height) for level in range(height)]
        marks = np.zeros((len(units.leaves), len(gain)), dtype=np.int32)
        for d, (a, level) in enumerate(levels):
            marks[:, d] = trees.nodes[trees.offset[a, level] + units.leaves[:, a]]
        return cls(units, marks, gain)


def gains(units: Units) -> Array:
    """Return what two units save that share each mark, and zeros as far as the last lane."""
    each = np.repeat(units.trees.step, units.trees.height).astype(np.float32)
    return np.append(each, np.zeros(-len(each) % LANES, dtype=np.float32))


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

    @classmethod
    def room_for(cls, g: Given, block_of: Array, blocks: int) -> State:
        m, n = g.units.leaves.shape
        return cls(
            block_of=block_of,
            first=np.full(blocks, -1, dtype=np.int64),
            after=np.full(m, -1, dtype=np.int64),
            before=np.full(m, -1, dtype=np.int64),
            rep=np.zeros((blocks, n), dtype=np.int32),
            marks=np.zeros((blocks, g.gain.size), dtype=np.int32),
            level=np.zeros((blocks, n), dtype=np.int16),
            size=np.zeros(blocks, dtype=np.int64),
            cost=np.zeros(blocks),
            histogram=np.zeros((blocks, g.units.values), dtype=np.int64),
            by_cost=np.arange(blocks),
            ranked=np.zeros(blocks),
        )


@step
def start(blocks: int, g: Given, s: State) -> None:  # pragma: no cover
    """Put all units into their blocks."""
    for u in range(s.block_of.size):
        if s.block_of[u] >= 0:
            put(u, s.block_of[u], g, s)
    for b in range(blocks):
        refit(b, g, s)
    sort(s)


@fast_step
def unlikeness(a: Array, b: Array, gain: Array) -> Any:  # pragma: no cover
    """Return what it costs not to share marks, in single precision: many marks are compared at once."""
    cost = np.float32(0.0)
    for d in range(gain.size):
        cost += gain[d] if a[d] != b[d] else np.float32(0.0)
    return cost


@step
def holds(b: int, limits: Limits, s: State) -> bool:  # pragma: no cover
    """Tell whether a block meets the limits."""
    return meets(s.histogram[b], s.size[b], limits)


@step
def sort(s: State) -> None:  # pragma: no cover
    """Rank the blocks by what they cost now."""
    rank(s.cost, s.by_cost)
    for i in range(s.by_cost.size):
        s.ranked[i] = s.cost[s.by_cost[i]]


@step
def list_members(b: int, members: Array, s: State) -> int:  # pragma: no cover
    """Fill in the units of a block, and return how many there are."""
    count, u = 0, s.first[b]
    while u >= 0:
        members[count] = u
        count += 1
        u = s.after[u]
    return count


@step
def put(u: int, b: int, g: Given, s: State) -> None:  # pragma: no cover
    """Put a unit into a block. Its levels are set anew by `refit`."""
    s.after[u] = s.first[b]
    s.before[u] = -1
    if s.first[b] >= 0:
        s.before[s.first[b]] = u
    s.first[b] = u
    s.block_of[u] = b
    s.size[b] += g.units.weights[u]
    s.histogram[b, g.units.sensitive[u]] += g.units.weights[u]


@step
def take(u: int, b: int, g: Given, s: State) -> None:  # pragma: no cover
    """Take a unit out of its block."""
    if s.before[u] >= 0:
        s.after[s.before[u]] = s.after[u]
    else:
        s.first[b] = s.after[u]
    if s.after[u] >= 0:
        s.before[s.after[u]] = s.before[u]
    s.size[b] -= g.units.weights[u]
    s.histogram[b, g.units.sensitive[u]] -= g.units.weights[u]


@step
def refit(b: int, g: Given, s: State) -> None:  # pragma: no cover
    """Find a block's levels and cost anew from its units."""
    u = s.first[b]
    s.cost[b] = 0.0
    if u < 0:
        return
    leaves, trees = g.units.leaves, g.units.trees
    for a in range(leaves.shape[1]):
        s.rep[b, a], s.level[b, a] = leaves[u, a], 0
    u = s.after[u]
    while u >= 0:
        for a in range(leaves.shape[1]):
            s.level[b, a] = meet(trees, a, s.rep[b, a], leaves[u, a], s.level[b, a])
        u = s.after[u]
    for a in range(leaves.shape[1]):
        s.cost[b] += s.level[b, a] * trees.step[a]
    note_marks(s.rep[b], s.level[b], s.marks[b], trees)


@step
def note_marks(leaves: Array, levels: Array, marks: Array, trees: Trees) -> None:  # pragma: no cover
    """Note the marks that all units of a block share, which are those of any of them from the block's levels up."""
    d = 0
    for a in range(leaves.size):
        for level in range(trees.height[a]):
            shared = level >= levels[a]
            marks[d] = trees.nodes[trees.offset[a, level] + leaves[a]] if shared else NOT_SHARED
            d += 1
