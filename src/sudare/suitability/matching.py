"""The matching bound for blocks of two records or more: everybody needs a partner, and no partner serves twice."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sudare.generalization.problem import Problem
from sudare.similarity.pairs import Marks
from sudare.suitability.costs import Costs

MAX_UNITS = 8_000  # the distances of all pairs are held at once


def matched_costs(problem: Problem, costs: Costs) -> NDArray[np.int64]:
    """Return a cost for each unit, for all its copies together; no 2-anonymous table costs less than their sum.

    Let every record of a block point at the next one, round in a circle. All records together are then permuted, and
    u pays at least its distance to the record s(u) that it points at. A record that stays in place is left out, and
    pays for the whole record. So the cheapest permutation bounds the cost. Records that have a copy pay 0 (the copies
    can be a block): one place in the permutation, which may stay fixed, stands for all copies of a tuple. That loses nothing that
    the proof needs: where the path a -> copy -> b of the permutation passes a second time through copies of
    the same tuple, a can point at b instead, at no more cost, because CE obeys the triangle inequality in each
    attribute; and of records that point at a copy and are pointed at by it, two at a time can point at each other.
    """
    distance = _distances(costs.marks(problem))
    np.fill_diagonal(distance, np.where(problem.weights > 1, 0, costs.whole))
    from scipy.optimize import linear_sum_assignment  # it takes long to load

    unit, partner = linear_sum_assignment(distance)
    return np.asarray(distance[unit, partner], dtype=np.int64)


def _distances(marks: Marks) -> NDArray[np.float64]:
    """Return the distances of all pairs."""
    likeness = np.zeros((len(marks), len(marks)), dtype=np.int32)
    for codes, gain in zip(marks.codes.T, marks.gains.astype(np.int32), strict=True):
        likeness += (codes[:, None] == codes) * gain
    return (int(marks.gains.sum()) - likeness).astype(np.float64)
