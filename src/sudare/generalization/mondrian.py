"""Mondrian (LeFevre, DeWitt & Ramakrishnan 2006): cut the table top down, as long as every part holds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sudare.generalization import _mondrian
from sudare.generalization.problem import Problem
from sudare.generalization.recoding import Recoding
from sudare.plans.cuts import CutPlan, first_leaves
from sudare.privacy.requirement import BlockRequirement

Cuts = tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]
"""The block of each unit, the parts, and the branches between them."""


def learn_mondrian(problem: Problem, *, strict: bool = False) -> Recoding:
    """Cut along the hierarchies, each time where the distortion falls most.

    Relaxed (the default): where some children of a node are too small, they stay together under it and the
    others are cut off. Strict: then the node is not cut at all.
    """
    return Recoding.of("mondrian", problem, cut_whole(problem, strict=strict)[0])


def learn_cuts(
    problem: Problem, requirements: Sequence[BlockRequirement], *, strict: bool = False
) -> CutPlan:
    """Learn the same as a plan: the cuts, which have a block for tuples that were not seen, too."""
    block_of, parts, branches = cut_whole(problem, strict=strict)
    recoding = Recoding.of("mondrian", problem, block_of)
    trees = dict(zip(problem.names, problem.hierarchies, strict=True))
    return CutPlan(
        "mondrian",
        tuple(requirements),
        trees,
        attribute=parts[:, 0],
        level=parts[:, 1],
        block=parts[:, 2],
        branches=branches,
        levels=recoding.levels,
        corners=first_leaves(trees, recoding.levels, problem.units[recoding.first_units()]),
    )


def cut_whole(p: Problem, *, strict: bool) -> Cuts:
    """Cut all units as far as they can be cut."""
    whole = np.zeros(len(p.units), dtype=np.int64)
    return _cut(p, whole, p.trees.height[None, :], strict=strict)


def cut(p: Problem, within: NDArray[np.int64], levels: NDArray[np.integer[Any]]) -> NDArray[np.int64]:
    """Cut given blocks, which stand at given levels, as far as they can be cut."""
    return _cut(p, within, levels, strict=False)[0]


def _cut(p: Problem, within: NDArray[np.int64], levels: NDArray[np.integer[Any]], *, strict: bool) -> Cuts:
    return _mondrian.mondrian(p.unit_arrays, p.limits, strict, within, levels)
