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
from sudare.privacy.minimum import BlockMinimum
from sudare.suitability import _prices
from sudare.suitability.cells import ClosedCells
from sudare.suitability.costs import Costs

ROUNDS = 30
TOLERANCE = 1e-9  # of a block's price above its cost, which rounding may leave
CLOSE = 0.005  # the program's own value and the best prices differ by so little: stop
MAX_EXACT = 30_000  # numbers in the program's rows: up to so many it is solved exactly
MAX_IDLE = 4  # times that a constraint stays without a charge
STEPS = 200  # else towards its solution, each time
FIRST = 0.05  # about what prices are; it weighs their steps against those of the charges
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
    program, least = _Program(problem.weights), 1.0
    for _ in range(rounds):
        for step in (STEP, 1.0):
            trial = best + step * (proposed - best)
            best = max(
                best, _prices.lowered(trial, pricing), key=lambda prices: float(prices @ problem.weights)
            )
            broken, limits = _broken(trial, pricing)
            if broken.shape[0] > len(best) // 50:
                break
        if least - best @ problem.weights / records <= CLOSE * least:
            break
        program.add(broken, limits)
        before = proposed
        proposed, most = program.solved()
        least = min(least, most / records)
        if not broken.shape[0] and (proposed == before).all():
            break
    return Prices(best, float(best @ problem.weights / records), float(least))


class _Program:
    """The linear program over the constraints so far: the largest sum of prices from 0 to 1 that break none.

    A large one is solved nearly, by steps of the prices and of a charge for each constraint in turn (Chambolle & Pock's
    primal-dual method with a step for each row and column), each time from where the last steps ended. An exact solver would start
    anew, and take longer and longer.
    """

    def __init__(self, weights: NDArray[np.int64]) -> None:
        self.weights = weights.astype(np.float64)
        self.rows = scipy.sparse.csr_matrix((0, len(weights)))
        self.limits, self.charges = np.empty(0), np.empty(0)
        self.idle = np.empty(0)  # for how many times each was without a charge
        self.prices = np.full(len(weights), FIRST)

    def add(self, rows: scipy.sparse.csr_matrix, limits: NDArray[np.float64]) -> None:
        """Add constraints, without a charge at first. Those that have long had none give way; broken again, they come back."""
        kept = self.idle < MAX_IDLE
        self.rows = scipy.sparse.vstack([self.rows[kept], rows], format="csr")
        self.limits, self.charges, self.idle = (
            np.append(old[kept], new)
            for old, new in (
                (self.limits, limits), (self.charges, np.zeros(len(limits))), (self.idle, np.zeros(len(limits)))
            )
        )  # fmt: skip

    def solved(self) -> tuple[NDArray[np.float64], float]:
        """Return the best prices, or nearly, and what no prices' sum exceeds."""
        if self.rows.nnz <= MAX_EXACT:
            exact = _solved(self.rows, self.limits, self.weights)
            if exact is not None:
                return exact, float(exact @ self.weights)
        return self._nearly()

    def _nearly(self) -> tuple[NDArray[np.float64], float]:
        """The bound on their sum holds whatever the charges are: it is the program's dual."""
        rows, columns = self.rows, self.rows.T.tocsr()
        up = FIRST / np.maximum(np.asarray(rows.sum(axis=0)).ravel(), 1.0)
        dear = 1.0 / FIRST / np.maximum(np.asarray(rows.sum(axis=1)).ravel(), 1.0)
        mean = np.zeros_like(self.prices)
        for done in range(STEPS):
            prices = np.clip(self.prices + up * (self.weights - columns @ self.charges), 0.0, 1.0)
            above = rows @ (2 * prices - self.prices) - self.limits
            self.charges = np.maximum(self.charges + dear * above, 0.0)
            self.prices = prices
            if done >= STEPS // 2:  # the mean of the later ones swings less
                mean += prices / (STEPS - STEPS // 2)
        self.idle = np.where(self.charges > 0, 0, self.idle + 1)
        rest = np.maximum(self.weights - columns @ self.charges, 0.0).sum()
        return mean, float(self.limits @ self.charges + rest)


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
    rows: scipy.sparse.csr_matrix, limits: NDArray[np.float64], weights: NDArray[np.float64]
) -> NDArray[np.float64] | None:
    """Return the best prices under the constraints; None if the solver gives up."""
    if not rows.shape[0]:
        return np.ones(len(weights))
    from scipy.optimize import linprog  # it takes long to load

    result = linprog(-weights, A_ub=rows, b_ub=limits, bounds=(0, 1), method="highs-ipm")
    return None if result.x is None else np.asarray(np.clip(result.x, 0.0, 1.0))
