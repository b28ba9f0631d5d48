"""Compiled: rows of a large block that are alike one level further down become a block of their own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from sudare.generalization._dealt import NONE, Dealt, add, let_go, lot, refit
from sudare.generalization._divide import Pool
from sudare.kernels import inlined, step
from sudare.privacy._kernels import meets

if TYPE_CHECKING:
    from sudare.generalization.problem import Units
    from sudare.privacy.limits import Limits

Array = np.ndarray[Any, Any]


@step
def split_off(
    b: int, least_size: int, units: Units, limits: Limits, p: Pool, d: Dealt
) -> int:  # pragma: no cover
    """Make rows a block of their own that are alike one level further down, and that the others can spare.

    If only k is asked for, this finds whether a block can be split at all: it can if and only if it has 2k rows, and k of them
    are alike one level further down.
    """
    leaves, trees = units.leaves, units.trees
    for a in range(leaves.shape[1]):
        if d.level[b, a] == 0:
            continue
        offset = trees.offset[a, d.level[b, a] - 1]
        start = d.first[b]
        while start != NONE:
            node = trees.nodes[offset + leaves[d.unit[start], a]]
            if _is_first_under(start, node, a, offset, units, d):
                size = _count_spare(b, node, a, offset, units, limits, p, d)
                if (
                    size >= least_size
                    and meets(p.histogram, size, limits)
                    and d.left[1] > 0
                    and d.left[0] > size
                ):
                    _clear(p)
                    _split(b, node, a, offset, units, limits, d)
                    return 1
                _clear(p)
            start = d.after[start]
    return 0


@inlined
def _clear(p: Pool) -> None:  # pragma: no cover
    for value in range(p.histogram.size):
        p.histogram[value] = 0


@inlined
def _is_first_under(
    start: int, node: int, a: int, offset: int, units: Units, d: Dealt
) -> bool:  # pragma: no cover
    """Tell whether no entry before in the block lies under a node."""
    e = d.first[d.block[start]]
    while e != start:
        if units.trees.nodes[offset + units.leaves[d.unit[e], a]] == node:
            return False
        e = d.after[e]
    return True


@inlined
def _count_spare(
    b: int, node: int, a: int, offset: int, units: Units, limits: Limits, p: Pool, d: Dealt
) -> int:  # pragma: no cover
    """Count the rows under a node that the rest of the block can spare, and their values; the block stays as it is."""
    size, e = 0, d.first[b]
    while e != NONE:
        if units.trees.nodes[offset + units.leaves[d.unit[e], a]] == node:
            value = units.sensitive[d.unit[e]]
            taken = _spare(b, e, value, limits, d)
            p.histogram[value] += taken
            size += taken
        e = d.after[e]
    d.size[b] += size
    for value in range(p.histogram.size):
        d.histogram[b, value] += p.histogram[value]
    return size


@step
def _spare(b: int, e: int, value: int, limits: Limits, d: Dealt) -> int:  # pragma: no cover
    """Take rows of an entry out of a block as long as the rest meets the limits; return how many."""
    taken, some = 0, lot(e, d)
    while taken < d.weight[e] and d.size[b] > some and let_go(b, value, some, limits, d):
        taken += some
    return taken


@inlined
def _split(
    b: int, node: int, a: int, offset: int, units: Units, limits: Limits, d: Dealt
) -> None:  # pragma: no cover
    d.left[1] -= 1
    new = d.free_blocks[d.left[1]]
    e = d.first[b]
    while e != NONE:
        if units.trees.nodes[offset + units.leaves[d.unit[e], a]] == node:
            taken = _spare(b, e, units.sensitive[d.unit[e]], limits, d)
            if taken > 0:
                d.weight[e] -= taken
                add(d.unit[e], taken, new, units, d)
        e = d.after[e]
    refit(b, units, d)
    refit(new, units, d)
    d.stale[b] = d.stale[new] = True
