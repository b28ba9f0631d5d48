"""Compiled: cutting blocks top down along the hierarchies."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numba import njit

from sudare.privacy._kernels import meets

if TYPE_CHECKING:
    from sudare.generalization.problem import Units
    from sudare.privacy.limits import Limits

Array = np.ndarray[Any, Any]


@njit(cache=True, nogil=True)
def mondrian(
    units: Units, limits: Limits, strict: bool, within: Array, within_levels: Array, order: Array
) -> tuple[Array, Array, Array]:  # pragma: no cover
    """Cut blocks top down, each time where most records fall by most, while all parts meet the limits.

    `within` is the block of each unit to start with (-1 stays -1), `within_levels` the levels of each block, and
    `order` the units by rising block, which is rearranged here. (Sorting here would take a second more to compile.)

    A cut takes a block's node of one attribute apart into its children. Strict: every child must meet the
    limits. Relaxed: children that do not stay together under the parent, with the smallest that do if need be.

    Returns the block of each unit, the parts (by which attribute and on which level each is cut, and which block it
    is; -1 where it is not), and the branches (from which part, by which node or -1 for what stays together, to which).
    """
    leaves, trees = units.leaves, units.trees
    m, n = leaves.shape
    widest: Any = np.int64(1)  # for a plain 1, and for the -1 below, what takes it would be compiled twice
    for a in range(n):
        for height in range(trees.height[a] + 1):
            widest = max(widest, trees.size[a, height])
    histogram = np.zeros(
        (widest + 1, units.values), dtype=np.int64
    )  # the last row is for what stays together
    size = np.zeros(widest + 1, dtype=np.int64)
    children = np.empty(widest, dtype=np.int64)
    fate = np.zeros(widest, dtype=np.int64)  # of each child: 1 its own part, 0 stays under the parent
    room, at = np.zeros(widest + 1, dtype=np.int64), np.zeros(widest + 1, dtype=np.int64)
    scratch = np.empty(m, dtype=np.int64)
    block_of = np.full(m, -1, dtype=np.int64)
    starts, stops, boxes, ids = (
        [0],
        [0],
        [within_levels[0]],
        [0],
    )  # an empty part tells the compiler the types
    parts, branches, made = [(-1, -1, -1)], [(-1, -1, -1)], 0  # so does an entry that stands for none
    begin = 0
    for i in range(m):
        if i + 1 == m or within[order[i + 1]] != within[order[i]]:
            if within[order[i]] >= 0:
                starts.append(begin)
                stops.append(i + 1)
                boxes.append(within_levels[within[order[i]]])
                ids.append(made)
                parts.append((-1, -1, -1))
                made += 1
            begin = i + 1
    blocks = 0
    while len(starts) > 0:
        start, stop, level, part_id = starts.pop(), stops.pop(), boxes.pop(), ids.pop()
        if start == stop:
            continue
        best: Any = np.int64(-1)
        gain = 0.0
        for a in range(n):
            if level[a] <= 0:  # at a leaf, or (-1 - level) closed: what stayed together here
                continue
            child_count = _children(units, order[start:stop], a, level[a] - 1, histogram, size, children)
            falling = _fates(child_count, children, histogram, size, widest, limits, strict, fate)
            _clear(child_count, children, histogram, size, widest)
            if falling * trees.step[a] > gain:
                best, gain = a, falling * trees.step[a]
        if best < 0:
            for i in range(start, stop):
                block_of[order[i]] = blocks
            parts[part_id + 1] = (-1, 0, blocks)
            blocks += 1
            continue
        below = level[best] - 1
        parts[part_id + 1] = (best, below, -1)
        child_count = _children(units, order[start:stop], best, below, histogram, size, children)
        _fates(child_count, children, histogram, size, widest, limits, strict, fate)
        _clear(child_count, children, histogram, size, widest)
        # Lay the parts out one after the other: each child that falls, then what stays together.
        room[:] = 0
        for i in range(start, stop):
            child = trees.nodes[trees.offset[best, below] + leaves[order[i], best]]
            room[child if fate[child] == 1 else widest] += 1
        place = start
        for c in range(child_count + 1):
            part = children[c] if c < child_count else widest
            if c < child_count and fate[part] == 0:
                continue
            if room[part] > 0:
                box = level.copy()
                box[best] = below if c < child_count else -1 - level[best]
                starts.append(place)
                stops.append(place + room[part])
                boxes.append(box)
                ids.append(made)
                parts.append((-1, -1, -1))
                branches.append((part_id, part if c < child_count else -1, made))
                made += 1
            at[part] = place
            place += room[part]
        for i in range(start, stop):
            child = trees.nodes[trees.offset[best, below] + leaves[order[i], best]]
            part = child if fate[child] == 1 else widest
            scratch[at[part]] = order[i]
            at[part] += 1
        for i in range(start, stop):
            order[i] = scratch[i]
    return block_of, np.array(parts)[1:], np.array(branches)[1:]


@njit(cache=True, nogil=True)
def _children(
    units: Units, members: Array, a: int, level: int, histogram: Array, size: Array, children: Array
) -> int:  # pragma: no cover
    """Count what each child node would hold."""
    leaves, weights, sensitive, _, trees = units
    child_count = 0
    for u in members:
        child = trees.nodes[trees.offset[a, level] + leaves[u, a]]
        if size[child] == 0:
            children[child_count] = child
            child_count += 1
        size[child] += weights[u]
        histogram[child, sensitive[u]] += weights[u]
    return child_count


@njit(cache=True, nogil=True)
def _fates(
    child_count: int,
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
    for i in range(child_count):
        child = children[i]
        fate[child] = 1
        if not meets(histogram[child], size[child], limits):
            fate[child] = 0
            failing += 1
            _join(child, pool, histogram, size)
    if failing > 0 and strict:
        return 0
    while failing > 0 and not meets(histogram[pool], size[pool], limits):
        smallest: Any = np.int64(-1)
        for i in range(child_count):
            child = children[i]
            if fate[child] == 1 and (smallest < 0 or size[child] < size[smallest]):
                smallest = child
        if smallest < 0:
            return 0
        fate[smallest] = 0
        _join(smallest, pool, histogram, size)
    falling = 0
    for i in range(child_count):
        falling += size[children[i]] if fate[children[i]] == 1 else 0
    return falling


@njit(cache=True, nogil=True)
def _join(child: int, pool: int, histogram: Array, size: Array) -> None:  # pragma: no cover
    """Add a child to what stays together."""
    size[pool] += size[child]
    for value in range(histogram.shape[1]):
        histogram[pool, value] += histogram[child, value]


@njit(cache=True, nogil=True)
def _clear(
    child_count: int, children: Array, histogram: Array, size: Array, pool: int
) -> None:  # pragma: no cover
    for i in range(child_count):
        size[children[i]] = 0
        histogram[children[i]] = 0
    size[pool] = 0
    histogram[pool] = 0
