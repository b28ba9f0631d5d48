"""Compiled: blocks that units enter and leave, with what each block costs.

Rows are copied value by value: numba compiles an assignment of whole rows, which may broadcast, for seconds.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numba import njit

from sudare.generalization._kernels import meet
from sudare.privacy._kernels import meets

if TYPE_CHECKING:
    from sudare.generalization.problem import Units
    from sudare.privacy.limits import Limits

Array = np.ndarray[Any, Any]
NOT_SHARED = -1  # the mark of a block whose units do not share one


class Given(NamedTuple):
    """What does not change. (What blocks must meet is given only to those who ask: arrays cost time wherever they go.)"""

    units: Units
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


@njit(cache=True, nogil=True, inline="always")  # so that it is compiled once, where it is called
def start(units: Units, block_of: Array, blocks: int) -> tuple[Given, State]:  # pragma: no cover
    """Put all units into their blocks."""
    m, n = units.leaves.shape
    g = Given(units, *_marked(units))
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
        np.zeros((blocks, units.values), dtype=np.int64),
        np.zeros(blocks, dtype=np.int64),
        np.zeros(blocks),
    )
    for u in range(m):
        if block_of[u] >= 0:
            put(u, block_of[u], g, s)
    for b in range(blocks):
        refit(b, g, s)
    sort(s)
    return g, s


@njit(cache=True, nogil=True)
def _marked(units: Units) -> tuple[Array, Array]:  # pragma: no cover
    """Return the marks of all units, and what each saves."""
    leaves, trees = units.leaves, units.trees
    m, n = leaves.shape
    marks = np.empty((m, trees.height.sum()), dtype=np.int32)
    gain = np.empty(trees.height.sum(), dtype=np.float32)
    d = 0
    for a in range(n):
        for level in range(trees.height[a]):
            gain[d] = trees.step[a]
            for u in range(m):
                marks[u, d] = trees.nodes[trees.offset[a, level] + leaves[u, a]]
            d += 1
    return marks, gain


@njit(cache=True, nogil=True, fastmath=True)
def unlikeness(a: Array, b: Array, gain: Array) -> Any:  # pragma: no cover
    """Return what it costs not to share marks, in single precision: many marks are compared at once."""
    cost = np.float32(0.0)
    for d in range(gain.size):
        cost += gain[d] if a[d] != b[d] else np.float32(0.0)
    return cost


@njit(cache=True, nogil=True)
def holds(b: int, limits: Limits, s: State) -> bool:  # pragma: no cover
    """Tell whether a block meets the limits."""
    return meets(s.histogram[b], s.size[b], limits)


@njit(cache=True, nogil=True)
def sort(s: State) -> None:  # pragma: no cover
    """Rank the blocks by what they cost now."""
    rising = np.argsort(s.cost)
    for i in range(rising.size):
        s.by_cost[i], s.ranked[i] = rising[i], s.cost[rising[i]]


@njit(cache=True, nogil=True)
def list_members(b: int, members: Array, s: State) -> int:  # pragma: no cover
    """Fill in the units of a block, and return how many there are."""
    count, u = 0, s.first[b]
    while u >= 0:
        members[count] = u
        count += 1
        u = s.after[u]
    return count


@njit(cache=True, nogil=True)
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


@njit(cache=True, nogil=True)
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


@njit(cache=True, nogil=True)
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
    d = 0
    for a in range(leaves.shape[1]):
        s.cost[b] += s.level[b, a] * trees.step[a]
        for level in range(trees.height[a]):
            s.marks[b, d] = g.marks[s.first[b], d] if level >= s.level[b, a] else NOT_SHARED
            d += 1
