"""Records whose values may be known, learned apart from the others: they need no diversity, and climb no higher for it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from sudare.generalization.problem import Problem
from sudare.generalization.recoding import Recoding
from sudare.privacy.limits import Limits

Learn = Callable[[Problem], Recoding]


def learn_with_harmless(problem: Problem, learn: Learn) -> Recoding:
    """Learn all records together, and, where some are harmless, also these and the others each by themselves.

    Blocks of the one are fine, and so are those of the other: k records of harmless values, and k records that are diverse
    without them. (Where two are published alike they are one block, which is fine as well.) What has the least
    distortion is taken.
    """
    together = learn(problem)
    harmless = np.isin(problem.sensitive, problem.limits.harmless)
    if not harmless.any() or harmless.all() or min(problem.limits.t) < 1:  # closeness is to the whole table
        return together
    limits = problem.limits
    besides = limits._replace(harmless=limits.harmless[:0])
    anonymous = besides._replace(
        distinct=0,
        more=False,
        log_l=0.0,
        recursive=limits.recursive[:0],
        near=limits.near[:0],
        windows=limits.windows[:0],
    )
    if min(problem.weights[harmless].sum(), problem.weights[~harmless].sum()) < limits.k:
        return together
    uncounted = np.zeros(problem.values, dtype=np.int32)
    return min(
        together,
        Recoding.joined(
            problem,
            [
                learn(replace(_part(problem, harmless, anonymous), groups=uncounted)),
                learn(_part(problem, ~harmless, besides)),
            ],
        ),
        key=Recoding.distortion,
    )


def _part(problem: Problem, some: NDArray[np.bool_], limits: Limits) -> Problem:
    """Return the problem of some of the units."""
    return replace(
        problem,
        units=np.ascontiguousarray(problem.units[some]),
        weights=problem.weights[some],
        sensitive=problem.sensitive[some],
        limits=limits,
    )
