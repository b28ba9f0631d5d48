"""Cells: a node per attribute, and all records that lie under them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sudare.generalization import _cells
from sudare.generalization.problem import Problem, level_vectors
from sudare.privacy.minimum import BlockMinimum
from sudare.suitability.costs import Costs
from sudare.threads import CORES, in_threads

MAX_WORK = 300_000_000  # units times choices of levels: some seconds


def can_be_listed(problem: Problem, max_work: int = MAX_WORK) -> bool:
    """Say whether there are few enough cells to look at all of them."""
    return problem.trees.choices * len(problem.units) <= max_work and problem.trees.fit_one_number


def cell_costs(problem: Problem, costs: Costs, minima: Sequence[BlockMinimum]) -> NDArray[np.int64]:
    """Return what each unit costs at least, by the cheapest cell in which it finds company: a row per minimum.

    The block of a record lies in a cell, at whose levels it is published, and the cell has all records of the
    block. So the record costs at least what its cheapest cell costs that has the records and values needed.
    That is never less than the distance to the nearest (which asks that each companion is near the record,
    but not that one cell has them all). A minimum that the table cannot meet costs the whole record.
    """
    levels, cost = _levels(problem, costs)
    # One form of array everywhere, so that one kernel is compiled.
    records = np.array([one.records for one in minima], dtype=np.int64)
    values = np.array([one.values for one in minima], dtype=np.int64)

    def work(part: int) -> NDArray[np.int64]:
        best = np.full((len(minima), len(problem.units)), costs.whole, dtype=np.int64)
        own = np.ascontiguousarray(levels[part::CORES]), np.ascontiguousarray(cost[part::CORES])
        _cells.cheapest(problem.unit_arrays, *own, records, values, best)
        return best

    return np.asarray(np.minimum.reduce(in_threads(work, range(CORES), levels.size * len(problem.units))))


@dataclass(frozen=True, eq=False)
class ClosedCells:
    """Cell g has the units `members[start[g]:start[g + 1]]`, and costs each of its records `cost[g]`."""

    start: NDArray[np.int64]
    members: NDArray[np.int32]
    cost: NDArray[np.int64]

    @classmethod
    def of(cls, problem: Problem, costs: Costs, minimum: BlockMinimum) -> ClosedCells:
        """List the cells in which a block with the minimum can lie, the smallest for each set of records."""
        levels, cost = _levels(problem, costs)
        units = problem.unit_arrays
        start, members, choice = _cells.closed(
            units, levels, minimum.records, minimum.values, len(units.weights)
        )
        return cls(start, members, cost[choice])

    def __len__(self) -> int:
        return len(self.cost)


def _levels(problem: Problem, costs: Costs) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return all choices of one level per attribute with their costs, the cheapest first."""
    levels = level_vectors(problem.trees.height, costs.step)
    return levels, levels @ costs.step
