"""Bounds where some values are harmless or close: by what must hold of the other records, and of groups of close values.

Take any release that meets the limits, and look at the records that are not harmless alone. Each block has none of them, or
they are l-diverse by themselves; and what they cost in it is no less than in a block of their own, which climbs no higher. So
the other records cost at least what any bound says of the table that they are by themselves, under the limits without harmless
values and without k (of which harmless records may make up a part). The harmless records cost, each, what k-anonymity costs
them. Both add up.

Numbers are put into groups, each of which lies in one interval of the width that proximity speaks of. A group then has
at most 1/l of a block's records. So groups in place of values are entropy l-diverse, and every block has l groups or more.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sudare.generalization.problem import Problem
from sudare.privacy.limits import Limits
from sudare.privacy.minimum import BlockMinimum
from sudare.privacy.values import window_groups
from sudare.similarity.pairs import Device
from sudare.suitability.bounds import Bound, best_bounds
from sudare.suitability.costs import Costs


class Implied(NamedTuple):
    """What a block must have at least of some of its records, told apart by value or by groups of values."""

    problem: Problem
    minimum: BlockMinimum
    kept: NDArray[np.bool_]
    """Which units of the whole problem these are."""


def implied(problem: Problem, limits: Limits) -> Iterator[Implied]:
    """Yield what limits with harmless values, or of proximity, imply."""
    kept = ~np.isin(problem.sensitive, limits.harmless)
    if not kept.any():
        return
    rest = limits._replace(k=1, harmless=limits.harmless[:0])
    others = replace(problem.at(kept), limits=rest)
    if limits.harmless.size:
        yield Implied(others, BlockMinimum.of(rest), kept)
    for l, windows in zip(limits.near.tolist(), limits.windows, strict=True):
        by_group = grouped(others, l, windows)
        yield Implied(by_group, BlockMinimum.of(by_group.limits), kept)


def grouped(problem: Problem, l: float, windows: NDArray[np.int64]) -> Problem:
    """Return the problem with groups of close values in place of values, which are entropy l-diverse."""
    groups = window_groups(windows)
    return replace(
        problem,
        sensitive=groups[problem.sensitive],
        values=int(groups.max()) + 1,
        sensitive_dictionary=None,
        limits=problem.limits._replace(
            distinct=0,
            log_l=math.log(l),
            recursive=problem.limits.recursive[:0],
            near=problem.limits.near[:0],
            windows=problem.limits.windows[:0],
        ),
    )


def bound_of_limits(problem: Problem, costs: Costs, *, tight: bool = False, device: Device = "cpu") -> Bound:
    """Return the best bound for what a problem's limits ask."""
    minimum = BlockMinimum.of(problem.limits)
    bounds = best_bounds(problem, costs, [minimum], tight=tight, device=device)
    parts = list(implied(problem, problem.limits))
    if any(not part.kept.all() for part in parts):
        # What is true of each record alone: else it could not be added to what the others cost.
        (alone,) = best_bounds(problem, costs, [minimum], device=device)
    for part in parts:
        (own,) = best_bounds(part.problem, costs, [part.minimum], tight=tight, device=device)
        of_unit = np.empty(len(problem.units)) if part.kept.all() else alone.of_unit.copy()
        of_unit[part.kept] = own.of_unit
        bounds.append(spread(problem, own, of_unit))
    return max(bounds, key=lambda bound: bound.value)


def spread(problem: Problem, bound: Bound, of_unit: NDArray[np.float64]) -> Bound:
    """Return a bound as that of all units."""
    return replace(bound, value=float(of_unit @ problem.weights / problem.weights.sum()), of_unit=of_unit)
