"""Parts of a problem that is too large to be learned at once, and how an allowance is shared out to them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sudare.generalization.mondrian import cut_whole
from sudare.generalization.problem import Problem

Ints = NDArray[np.int64]


def parts_of(p: Problem, start: Ints | None, most: int) -> list[Ints]:
    """Return the units of each part: the largest of Mondrian's tree that have at most so many.

    The units of a block of `start` stay together, in the part that the first of them lies in. So every part has blocks that
    meet the limits, or meets them as a whole.
    """
    part_of = _mondrian_parts(p, most)
    if start is not None and (start >= 0).any():
        blocks, first = np.unique(start[start >= 0], return_index=True)
        home = part_of[np.flatnonzero(start >= 0)[first]]
        part_of[start >= 0] = home[np.searchsorted(blocks, start[start >= 0])]
        with_blocks = np.unique(home)  # who has no block goes where there are some
        part_of = with_blocks[np.minimum(np.searchsorted(with_blocks, part_of), len(with_blocks) - 1)]
    order = np.argsort(part_of, kind="stable")
    return np.split(order, np.flatnonzero(np.diff(part_of[order])) + 1)


def _mondrian_parts(p: Problem, most: int) -> Ints:
    """Return the part of each unit."""
    block_of, parts, branches = cut_whole(p, strict=False)
    part_of = np.empty(len(parts), dtype=np.int64)
    part_of[parts[parts[:, 2] >= 0, 2]] = np.flatnonzero(parts[:, 2] >= 0)
    part_of = part_of[block_of]
    above = np.full(len(parts), -1, dtype=np.int64)
    above[branches[:, 2]] = branches[:, 0]
    sizes = np.bincount(part_of, minlength=len(parts))
    for part in range(len(parts) - 1, 0, -1):  # parents come before their children
        sizes[above[part]] += sizes[part]
    whole = np.arange(len(parts))
    for part in range(1, len(parts)):
        if sizes[whole[above[part]]] <= most:
            whole[part] = whole[above[part]]
    return np.asarray(whole[part_of])


def shared_out(number: int, sizes: Ints) -> Ints:
    """Share a number out in proportion to sizes; nothing of it is lost to rounding.

    >>> shared_out(7, np.array([50, 25, 25])).tolist()
    [3, 2, 2]
    """
    return np.asarray(np.diff(number * np.cumsum(sizes) // sizes.sum(), prepend=0))
