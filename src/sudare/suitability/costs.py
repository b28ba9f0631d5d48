"""The least that each record must cost: the distance to the company that it needs.

Costs are whole numbers, so that a bound is exact and the same on every machine.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from sudare.generalization.problem import Problem
from sudare.privacy.minimum import BlockMinimum
from sudare.similarity.pairs import Device, Marks, kth_likeness, likest_by_value
from sudare.tables.table import Table

MAX_WHOLE = 2**28  # what a whole record costs, in the smallest unit of cost


@dataclass(frozen=True, eq=False)
class Costs:
    """What a level of each attribute costs a record, in whole numbers, of which `whole` make a suppressed record.

    Where the weights of the attributes have no common measure that is small enough, costs are rounded down:
    a bound stays a bound.
    """

    step: NDArray[np.int64]
    whole: int

    @classmethod
    def of(cls, heights: Sequence[int], weights: Sequence[float]) -> Costs:
        """Share a record's cost among the attributes by their weights, and an attribute's among its levels."""
        exact = [Fraction(repr(float(weight))) for weight in weights]  # 0.1 is meant as a tenth
        total = sum(exact) or Fraction(1)
        steps = [weight / total / height for weight, height in zip(exact, heights, strict=True)]
        whole = min(math.lcm(*(step.denominator for step in steps)), MAX_WHOLE)
        return cls(np.array([math.floor(step * whole) for step in steps], dtype=np.int64), whole)

    @classmethod
    def in_table(cls, table: Table, problem: Problem) -> Costs:
        """Return what the table's schema makes the levels cost."""
        return cls.of(problem.trees.height.tolist(), [table.schema[name].weight for name in problem.names])

    def marks(self, problem: Problem) -> Marks:
        """Return which nodes each unit lies under, below the root, and what two units save that share one."""
        trees = problem.trees
        columns = [
            trees.nodes[trees.offset[a, level] + problem.units[:, a]]
            for a, height in enumerate(trees.height)
            for level in range(height)
        ]
        return Marks(np.stack(columns, axis=1), np.repeat(self.step, trees.height))


def nearest_costs(
    problem: Problem, costs: Costs, minima: Sequence[BlockMinimum], device: Device = "cpu"
) -> NDArray[np.int64]:
    """Return what each unit costs at least, by the distance to those nearest to it: a row per minimum.

    In its block a record costs at least its distance CE(u, v) to any other v there. So it costs at least the
    distance to the (k-1)-th nearest other record and, over the other sensitive values, the (l-1)-th smallest
    of the distances to the nearest record with that value (the paper's first indicator). A minimum that
    the table cannot meet costs the whole record.
    """
    marks = costs.marks(problem)
    full = int(marks.gains.sum())
    least = np.zeros((len(minima), len(problem.units)), dtype=np.int64)
    by_records = [i for i, minimum in enumerate(minima) if minimum.records > minimum.values]
    if by_records:
        likeness = kth_likeness(
            marks, problem.weights, [minima[i].records for i in by_records], device=device
        )
        least[by_records] = np.where(likeness < 0, costs.whole, full - likeness)
    by_values = [i for i, minimum in enumerate(minima) if minimum.values > 1]
    if by_values:
        cost = value_costs(marks, problem, [minima[i].values for i in by_values], device)
        least[by_values] = np.maximum(least[by_values], np.where(cost > full, costs.whole, cost))
    return least


def value_costs(marks: Marks, problem: Problem, ls: Sequence[int], device: Device) -> NDArray[np.int64]:
    """Return each unit's distance to the nearest records that together have l - 1 further values: a row per l.

    More than the sum of all gains if there are fewer than l values.
    """
    full = int(marks.gains.sum())
    best = likest_by_value(marks, problem.sensitive, problem.values, device=device)
    best[np.arange(len(best)), problem.sensitive] = full + 1  # a record has its own value, whatever it costs
    falling = -np.sort(-best, axis=1)
    none = np.full(len(best), -1)
    distances = np.stack([full - (falling[:, l - 1] if l <= problem.values else none) for l in ls])
    return np.asarray(np.maximum(distances, 0), dtype=np.int64)
