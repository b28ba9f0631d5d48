"""Prices: the tightest bound. Every record is given a price; no possible block may be worth more than it costs.

Let pi_u >= 0 be such prices, and let c(g) be what cell g costs each of its records. If sum_{u in B} pi_u <= |B| c(g)
for every set B of records in g that could be a block, then any partition into blocks costs at least the sum of
all prices: each block B lies in a cell g and costs |B| c(g), at least the prices of its records. The best prices
are the optimum of a linear program, the dual of the fractional partition into blocks; its constraints, one for each
possible block, are added when prices break them.

The bound does not rest on the solver: whatever prices it proposes are lowered until they break nothing.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy  # which loads its parts when they are first used
from numpy.typing import NDArray

from sudare.generalization.problem import Problem
from sudare.suitability import _prices
from sudare.suitability.cells import ClosedCells
from sudare.suitability.costs import BlockMinimum, Costs

ROUNDS = 30
TOLERANCE = 1e-9  # of a block's price above its cost, which rounding may leave
CLOSE = 0.005  # the program's own value and the best prices differ by so little: stop
STEP = 0.4  # from the best prices so far towards the program's: breaks fewer constraints, and tighter ones


@dataclass(frozen=True, eq=False)
class Prices:
    """A price for a record of each unit, as a share of a suppressed record, and what they prove together."""

    of_unit: NDArray[np.float64]
    total: float
    """The lower bound of DIS: the mean price of a record."""
    program: float
    """An upper bound of what any prices could prove: what is left to gain by more rounds."""


def best_prices(
    problem: Problem, costs: Costs, minimum: BlockMinimum, start: NDArray[np.int64], rounds: int = ROUNDS
) -> Prices:
    """Find prices by cutting planes, from the costs `start` that are prices already (`cell_costs`)."""
    cells = ClosedCells.of(problem, costs, minimum)
    pricing = _prices.PricingProblem(
        cells.start, cells.members, cells.cost / costs.whole, problem.weights, problem.sensitive, problem.values,
        minimum.records, minimum.values,
    )  # fmt: skip
    records = problem.weights.sum()
    best = _prices.lowered(start / costs.whole, pricing)
    proposed = np.minimum(3 * best, 1.0)
    rows = scipy.sparse.csr_matrix((0, len(best)))
    limits = np.empty(0)
    program = 1.0
    for _ in range(rounds):
        for step in (STEP, 1.0):
            trial = best + step * (proposed - best)
            best = max(
                best, _prices.lowered(trial, pricing), key=lambda prices: float(prices @ problem.weights)
            )
            broken, broken_limits = _broken(trial, pricing)
            if broken.shape[0] > len(best) // 50:
                break
        if program - best @ problem.weights / records <= CLOSE * program:
            break
        rows, limits = scipy.sparse.vstack([rows, broken], format="csr"), np.append(limits, broken_limits)
        solved = _solved(rows, limits, problem.weights)
        if solved is None or (not broken.shape[0] and (solved == proposed).all()):
            break
        proposed = solved
        program = float(proposed @ problem.weights / records)
    return Prices(best, float(best @ problem.weights / records), program)


def _broken(
    prices: NDArray[np.float64], pricing: _prices.PricingProblem
) -> tuple[scipy.sparse.csr_matrix, NDArray[np.float64]]:
    """Return the constraints that the prices break most, at most two for each unit."""
    excess = _prices.excess(prices, pricing)
    broken = np.flatnonzero(excess > TOLERANCE)
    broken = broken[np.argsort(-excess[broken], kind="stable")][: 2 * len(prices)]
    start, units, times, limits = _prices.blocks(prices, pricing, broken)
    return scipy.sparse.csr_matrix(
        (times.astype(np.float64), units, start), shape=(len(broken), len(prices))
    ), limits


def _solved(
    rows: scipy.sparse.csr_matrix, limits: NDArray[np.float64], weights: NDArray[np.int64]
) -> NDArray[np.float64] | None:
    """Return the best prices under the constraints so far; None if the solver gives up."""
    if not rows.shape[0]:
        return np.ones(len(weights))
    from scipy.optimize import linprog  # it takes long to load

    result = linprog(-weights.astype(np.float64), A_ub=rows, b_ub=limits, bounds=(0, 1), method="highs-ipm")
    return None if result.x is None else np.asarray(np.clip(result.x, 0.0, 1.0))
