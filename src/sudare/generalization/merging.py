"""Blocks that fail something which no method looks at while it learns: they are joined with others until none does."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from sudare.errors import RequirementError
from sudare.generalization.recoding import Recoding

Ints = NDArray[np.int64]
Failing = Callable[[Ints], NDArray[np.bool_]]
"""Tells of every block whether it fails, from the block of each unit (-1: left out)."""


def merged(recoding: Recoding, failing: Failing, whose: str = "All records") -> Recoding:
    """Join every block that fails with the one that this costs least, until none fails; raise a RequirementError if all do together."""
    while (bad := failing(recoding.block_of)).any():
        if len(recoding.levels) == 1:
            raise RequirementError(f"{whose} together do not have what was asked for. Ask for less.")
        block_of = _joined(recoding, np.flatnonzero(bad).tolist())
        recoding = Recoding.of(recoding.method, recoding.problem, block_of)
    return recoding


def _joined(recoding: Recoding, bad: list[int]) -> Ints:
    """Return the blocks after each of some was joined with another; none of them twice."""
    into, free = np.arange(len(recoding.levels)), np.ones(len(recoding.levels), dtype=bool)
    sizes, leaves = recoding.block_sizes(), recoding.problem.units[recoding.first_units()]
    for block in bad:
        if not free[block]:
            continue
        cost = _costs(recoding, sizes, leaves, block)
        cost[~free] = np.inf
        cost[block] = np.inf
        other = int(cost.argmin())
        if np.isfinite(cost[other]):
            into[block] = other
            free[[block, other]] = False
    return np.where(recoding.kept, into[recoding.block_of], -1)


def _costs(recoding: Recoding, sizes: Ints, leaves: NDArray[np.int32], block: int) -> NDArray[np.float64]:
    """Return what joining a block with each of the others adds to the distortion; each has a size, and one unit's leaves."""
    p = recoding.problem
    more = np.zeros(len(sizes))
    for a, tree in enumerate(p.hierarchies):
        own = recoding.levels[:, a]
        together = np.maximum(np.maximum(own, own[block]), tree.meet(leaves[block, a], leaves[:, a]))
        step = p.trees.step[a]
        more += step * ((together - own) * sizes + (together - own[block]) * sizes[block])
    return more
