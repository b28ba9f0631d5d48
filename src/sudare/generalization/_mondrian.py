"""Compiled: cutting blocks top down along the hierarchies."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from sudare.kernels import kernel, step
from sudare.lent import lent
from sudare.privacy._kernels import meets

if TYPE_CHECKING:
    from sudare.generalization.problem import Units
    from sudare.privacy.limits import Limits

Array = np.ndarray[Any, Any]


class Stack(NamedTuple):
    """The parts that are still to be cut: their units (from `start` to `stop` of the order), levels and numbers."""

    start: Array
    stop: Array
    number: Array
    level: Array

    @classmethod
    def of(cls, within: Array, order: Array, within_levels: Array) -> tuple[Stack, int]:
        """Begin with the blocks that there are, also return how many; with room for all parts: no two have a unit in common."""
        start, stop, number = np.zeros((3, len(within)), dtype=np.int64)
        level = np.zeros((len(within), within_levels.shape[1]), dtype=np.int16)
        blocks, begin, units = np.unique(within[order], return_index=True, return_counts=True)
        inside = blocks >= 0
        top = int(inside.sum())
        start[:top], stop[:top], number[:top] = begin[inside], (begin + units)[inside], np.arange(top)
        level[:top] = within_levels[blocks[inside]]
        return cls(start, stop, number, level), top


class Made(NamedTuple):
    """The parts and branches so far, with room for some more, and how many there are."""

    parts: Array
    branches: Array
    numbers: Array
    """Of parts that are still to be cut, of parts, of branches and of blocks."""

    @classmethod
    def room_for(cls, units: Units, begun: int) -> Made:
        m = len(units.weights)
        parts, branches = np.empty((2, m + int(units.trees.size.max()) + 1, 3), dtype=np.int64)
        return cls(parts, branches, np.array([begun, begun, 0, 0]))

    def doubled(self) -> Made:
        parts, branches = (np.concatenate([rows, np.empty_like(rows)]) for rows in self[:2])
        return Made(parts, branches, self.numbers)


class Children(NamedTuple):
    """What the children of a node would hold. The last row is for what stays together."""

    histogram: Array
    size: Array
    listed: Array
    fate: Array
    """1 for a part of its own, 0 for what stays under the parent."""
    room: Array
    at: Array

    @classmethod
    def room_for(cls, units: Units) -> Children:
        widest = int(units.trees.size.max())
        size, listed, fate, room, at = np.zeros((5, widest + 1), dtype=np.int64)
        return cls(np.zeros((widest + 1, units.values), dtype=np.int64), size, listed, fate, room, at)


def mondrian(
    units: Units, limits: Limits, strict: bool, within: Array, within_levels: Array
) -> tuple[Array, Array, Array]:
    """Cut blocks top down, each time where most records fall by most, while all parts meet the limits.

    `within` is the block of each unit to start with (-1 stays -1), and `within_levels` the levels of each block.

    A cut takes a block's node of one attribute apart into its children. Strict: every child must meet the
    limits. Relaxed: children that do not stay together under the parent, with the smallest that do if need be.

    Returns the block of each unit, the parts (by which attribute and on which level each is cut, and which block it
    is; -1 where it is not), and the branches (from which part, by which node or -1 for what stays together, to which).
    """
    order = np.argsort(within, kind="stable")
    block_of, scratch = np.full((2, len(order)), -1, dtype=np.int64)
    level = np.empty(within_levels.shape[1], dtype=np.int64)
    stack, begun = Stack.of(within, order, within_levels)
    children, made = Children.room_for(units), Made.room_for(units, begun)
    while not _mondrian(units, limits, strict, order, block_of, scratch, level, stack, children, made):
        made = made.doubled()
    _, parts, branches, _ = made.numbers
    return block_of, made.parts[:parts], made.branches[:branches]


@kernel
def _mondrian(
    units_: Units,
    limits_: Limits,
    strict: bool,
    order: Array,
    block_of: Array,
    scratch: Array,
    level: Array,
    stack_: Stack,
    children: Children,
    made_: Made,
) -> bool:  # pragma: no cover
    """Go on until all is cut, or there is no room for more parts; tell which."""
    units, limits, stack, c, made = lent(units_), lent(limits_), lent(stack_), lent(children), lent(made_)
    trees, n = units.trees, level.size
    top, parts, branches, blocks = made.numbers[0], made.numbers[1], made.numbers[2], made.numbers[3]
    while top > 0 and parts + c.size.size <= made.parts.shape[0]:
        top -= 1
        start, stop, number = stack.start[top], stack.stop[top], stack.number[top]
        for a in range(n):
            level[a] = stack.level[top, a]
        best: Any = np.int64(-1)  # for a plain -1, what takes it would be compiled twice
        gain = 0.0
        for a in range(n):
            if level[a] <= 0:  # at a leaf, or (-1 - level) closed: what stayed together here
                continue
            count = _count_children(order[start:stop], a, level[a] - 1, units, c)
            falling = _fates(count, limits, strict, c)
            _clear(count, c)
            if falling * trees.step[a] > gain:
                best, gain = a, falling * trees.step[a]
        if best < 0:
            for i in range(start, stop):
                block_of[order[i]] = blocks
            made.parts[number, 0], made.parts[number, 1], made.parts[number, 2] = -1, 0, blocks
            blocks += 1
            continue
        below = level[best] - 1
        made.parts[number, 0], made.parts[number, 1], made.parts[number, 2] = best, below, -1
        count = _count_children(order[start:stop], best, below, units, c)
        _fates(count, limits, strict, c)
        _clear(count, c)
        # Lay the parts out one after the other: each child that falls, then what stays together.
        rest = c.size.size - 1
        for i in range(count):
            c.room[c.listed[i]] = 0
        c.room[rest] = 0
        for i in range(start, stop):
            child = trees.nodes[trees.offset[best, below] + units.leaves[order[i], best]]
            c.room[child if c.fate[child] == 1 else rest] += 1
        place = start
        for i in range(count + 1):
            part = c.listed[i] if i < count else rest
            if i < count and c.fate[part] == 0:
                continue
            if c.room[part] > 0:
                stack.start[top], stack.stop[top], stack.number[top] = place, place + c.room[part], parts
                for a in range(n):
                    stack.level[top, a] = level[a]
                stack.level[top, best] = below if i < count else -1 - level[best]
                made.branches[branches, 0], made.branches[branches, 2] = number, parts
                made.branches[branches, 1] = part if i < count else -1
                top += 1
                branches += 1
                parts += 1
            c.at[part] = place
            place += c.room[part]
        for i in range(start, stop):
            child = trees.nodes[trees.offset[best, below] + units.leaves[order[i], best]]
            part = child if c.fate[child] == 1 else rest
            scratch[c.at[part]] = order[i]
            c.at[part] += 1
        for i in range(start, stop):
            order[i] = scratch[i]
    made.numbers[0], made.numbers[1], made.numbers[2], made.numbers[3] = top, parts, branches, blocks
    return bool(top == 0)


@step
def _count_children(members: Array, a: int, level: int, units: Units, c: Children) -> int:  # pragma: no cover
    """Count what each child node would hold."""
    leaves, weights, sensitive, trees = units.leaves, units.weights, units.sensitive, units.trees
    histogram, size, nodes, offset = c.histogram, c.size, trees.nodes, trees.offset[a, level]
    count = 0
    for i in range(members.size):
        u = members[i]
        child = nodes[offset + leaves[u, a]]
        if size[child] == 0:
            c.listed[count] = child
            count += 1
        size[child] += weights[u]
        histogram[child, sensitive[u]] += weights[u]
    return count


@step
def _fates(count: int, limits: Limits, strict: bool, c: Children) -> int:  # pragma: no cover
    """Decide which children become parts of their own; return how many records fall to them."""
    failing, rest = 0, c.size.size - 1
    for i in range(count):
        child = c.listed[i]
        c.fate[child] = 1
        if not meets(c.histogram[child], c.size[child], limits):
            c.fate[child] = 0
            failing += 1
            _join(child, c)
    if failing > 0 and strict:
        return 0
    while failing > 0 and not meets(c.histogram[rest], c.size[rest], limits):
        smallest: Any = np.int64(-1)
        for i in range(count):
            child = c.listed[i]
            if c.fate[child] == 1 and (smallest < 0 or c.size[child] < c.size[smallest]):
                smallest = child
        if smallest < 0:
            return 0
        c.fate[smallest] = 0
        _join(smallest, c)
    falling = 0
    for i in range(count):
        falling += c.size[c.listed[i]] if c.fate[c.listed[i]] == 1 else 0
    return falling


@step
def _join(child: int, c: Children) -> None:  # pragma: no cover
    """Add a child to what stays together."""
    rest = c.size.size - 1
    c.size[rest] += c.size[child]
    for value in range(c.histogram.shape[1]):
        c.histogram[rest, value] += c.histogram[child, value]


@step
def _clear(count: int, c: Children) -> None:  # pragma: no cover
    for i in range(count + 1):
        child = c.listed[i] if i < count else c.size.size - 1
        c.size[child] = 0
        for value in range(c.histogram.shape[1]):
            c.histogram[child, value] = 0
