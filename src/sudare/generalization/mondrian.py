"""Mondrian (LeFevre, DeWitt & Ramakrishnan 2006): cut the table top down, as long as every part holds."""

from __future__ import annotations

from sudare.generalization import _kernels
from sudare.generalization.problem import Problem
from sudare.generalization.recoding import Recoding


def learn_mondrian(problem: Problem, *, strict: bool = False) -> Recoding:
    """Cut along the hierarchies, each time where the distortion falls most.

    Relaxed (the default): where some children of a node are too small, they stay together under it and the
    others are cut off. Strict: then the node is not cut at all.
    """
    p = problem
    block_of = _kernels.mondrian(p.units, p.weights, p.sensitive, p.values, p.trees, p.limits, strict)
    return Recoding.of("mondrian", p, block_of)
