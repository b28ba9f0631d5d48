"""Records whose values may be known, learned apart from the others: they need no diversity, and climb no higher for it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from sudare.generalization.problem import Problem
from sudare.generalization.recoding import Recoding

Learn = Callable[[Problem], Recoding]


def learn_with_harmless(problem: Problem, learn: Learn) -> Recoding:
    """Learn all records together, and, where some are harmless, also these and the others each by themselves.

    Blocks of the one are fine, and so are those of the other: k records of harmless values, and k records that are diverse
    without them. (Where two are published alike they are one block, which is fine as well.) What has the least
    distortion is taken.
    """
    together = learn(problem)
    harmless = np.isin(problem.sensitive, problem.limits.harmless)
    if not harmless.any() or harmless.all() or problem.limits.by_table:
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
                learn(replace(problem.at(harmless), limits=anonymous, groups=uncounted)),
                learn(replace(problem.at(~harmless), limits=besides)),
            ],
        ),
        key=Recoding.distortion,
    )
