"""Mondrian (LeFevre, DeWitt & Ramakrishnan 2006): cut the table top down, as long as every part holds."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sudare.generalization import _mondrian
from sudare.generalization.problem import Problem
from sudare.generalization.recoding import Recoding


def learn_mondrian(problem: Problem, *, strict: bool = False) -> Recoding:
    """Cut along the hierarchies, each time where the distortion falls most.

    Relaxed (the default): where some children of a node are too small, they stay together under it and the
    others are cut off. Strict: then the node is not cut at all.
    """
    whole = np.zeros(len(problem.units), dtype=np.int64)
    return Recoding.of("mondrian", problem, cut(problem, whole, problem.trees.height[None, :], strict=strict))


def cut(
    p: Problem, within: NDArray[np.int64], levels: NDArray[np.integer[Any]], *, strict: bool = False
) -> NDArray[np.int64]:
    """Cut given blocks, which stand at given levels, as far as they can be cut."""
    return _mondrian.mondrian(
        p.units,
        p.weights,
        p.sensitive,
        p.values,
        p.trees,
        p.limits,
        strict,
        within,
        np.ascontiguousarray(levels, dtype=np.int64),
    )
