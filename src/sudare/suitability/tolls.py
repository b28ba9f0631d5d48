"""Tolls: a bound that knows of entropy, and of recursive diversity.

A credit is a number y_v for each sensitive value, such that the records of no possible block sum to less than 0. Entropy
gives many: by Gibbs' inequality H(p) <= - sum_v p_v log q_v for all shares p and any shares q, so that a block with n_v records of
value v and H >= log l has

    sum_v n_v (- log q_v - log l) >= 0    for any q.

Frequent values lack credit, rare ones bring it. Recursive (c, l)-diversity gives r_1 < c (r_l + ... + r_m). For any
value a and any l - 1 values S, n_a <= r_1, and what is not in S has at least r_l + ... + r_m records, so that

    sum_v n_v (c [v not in S] - [v = a]) > 0    for any a and S.

Sums of credits with factors of 0 or more are credits.

Let every cell g, which costs each of its records c(g), have credits y and a toll t >= 0 of its own. A record of value v that is
published in g pays c(g) - t y_v there. Its price pi_u is the least that it can pay, over all cells that it lies in and in which a
possible block lies, and no more than `cap`, above which cells are not looked at. A block B, which lies in a cell
g, has sum_{u in B} pi_u <= |B| c(g) - t sum_{u in B} y <= |B| c(g), which is what it costs. So no generalization costs less than all prices
together. (Left out, a record costs 1, and no price is more.) Without tolls this is the bound by the cheapest cells.

Whatever the tolls and credits are, the bound holds. They are found by ascent: a smoothed bound shares each record among the cells that cost
it least; where those who come to a cell lack credit, its toll rises; it cools down slowly to the bound itself.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from sudare.generalization.problem import Problem
from sudare.privacy.minimum import BlockMinimum
from sudare.suitability import _tolls
from sudare.suitability.cells import ClosedCells
from sudare.suitability.costs import Costs
from sudare.threads import CORES, MIN_SHARED, in_threads

MAX_MEMBERS = 8_000_000  # units of all cells together: some tenths of a second a round
MAX_SHARES = 10_000_000  # cells x values
ROUNDS = 80
WARM = 10  # rounds before it cools down
COOLING = 0.97
WARMTH = 0.05  # the temperature at first, as a share of a suppressed record
STEP, FOLLOW = 1.5, 0.2
PATIENCE = 3  # rounds without gain, before steps get smaller
MARGIN = 1e-11  # more than sums of prices and logarithms are rounded by, and than ties are decided by

Floats = NDArray[np.float64]
Found = TypeVar("Found")


def can_be_tolled(minimum: BlockMinimum) -> bool:
    """Say whether entropy or recursive diversity is asked for."""
    return bool(_limits(minimum))


def tolled_prices(problem: Problem, costs: Costs, minimum: BlockMinimum, rounds: int = ROUNDS) -> Floats:
    """Return what a record of each unit pays at least, as a share of a suppressed record; rare values may be paid."""
    found = [_best(problem, costs, minimum, limit, rounds) for limit in _limits(minimum)]
    return max(found, key=lambda prices: float(prices @ problem.weights))


def _limits(minimum: BlockMinimum) -> list[Floats]:
    """Return log l and two zeros for entropy, and 0, c and l for each recursive pair."""
    by_entropy = [[minimum.log_l - MARGIN, 0.0, 0.0]] if minimum.log_l > MARGIN else []
    return [np.array(limit) for limit in (*by_entropy, *([0.0, c, l] for c, l in minimum.recursive))]


def _best(problem: Problem, costs: Costs, minimum: BlockMinimum, limit: Floats, rounds: int) -> Floats:
    cells, cap = _tolled(problem, costs, minimum, limit)
    kept = (cells.tolls, cells.credits, cells.tangents)
    best, saved = np.full(len(problem.weights), -np.inf), [part.copy() for part in kept]
    temperature, pace, waited = WARMTH, 1.0, 0
    for done in range(rounds):
        prices = _prices(cells, cap)
        gain = float((prices - best) @ problem.weights)
        if gain > 0:
            best, saved, waited = prices, [part.copy() for part in kept], 0
            pace = min(1.05 * pace, 1.0)
        else:
            waited += 1
        if waited > PATIENCE or gain < -0.4 * temperature * problem.weights.sum():
            for part, before in zip(kept, saved, strict=True):
                part[...] = before
            prices, pace, waited = best, pace / 2, 0
        _follow(cells, cap, prices, temperature, limit, pace)
        if done >= WARM:
            temperature *= COOLING
    return best - MARGIN


def _tolled(
    problem: Problem, costs: Costs, minimum: BlockMinimum, limit: Floats
) -> tuple[_tolls.TolledCells, float]:
    """Return the cheapest cells, as many as there is room for, and the cost from which on they are left out."""
    listed = ClosedCells.of(problem, costs, minimum)  # the cheapest first
    cost = listed.cost / costs.whole
    room = min(
        int(np.searchsorted(listed.start, MAX_MEMBERS, side="right")) - 1, MAX_SHARES // problem.values
    )
    cap = min(1.0, float(cost[room]) if room < len(cost) else 1.0)
    number = int(np.searchsorted(cost, cap))
    start, members = listed.start[: number + 1].copy(), listed.members[: listed.start[number]].copy()
    place = np.repeat(np.arange(number) * problem.values, np.diff(start)) + problem.sensitive[members]
    records = np.bincount(place, problem.weights[members], number * problem.values)
    shares = records.reshape(number, problem.values).astype(np.float64)
    shares /= shares.sum(axis=1, keepdims=True)
    logs = -np.log(shares, where=shares > 0, out=np.zeros_like(shares))
    credits = np.where(shares > 0, logs - limit[0], 0.0) if limit[0] > 0 else np.zeros_like(shares)
    cells = _tolls.TolledCells(
        start, members, cost[:number].copy(), problem.sensitive, problem.weights,
        shares, credits, np.zeros(number), shares.copy(),
    )  # fmt: skip
    return cells, cap


def _prices(cells: _tolls.TolledCells, cap: float) -> Floats:
    """Return the least that each unit pays."""

    def work(low: int, high: int) -> Floats:
        best = np.full(len(cells.weights), cap)
        _tolls.lower_prices(cells, low, high, best)
        return best

    return np.asarray(np.minimum.reduce(_by_parts(cells, work)))


def _follow(
    cells: _tolls.TolledCells, cap: float, prices: Floats, temperature: float, limit: Floats, pace: float
) -> None:
    """Let all tolls follow the demand at these prices."""

    def work(low: int, high: int) -> Floats:
        pull = np.zeros(len(cells.weights))
        _tolls.add_pulls(cells, low, high, prices, temperature, pull)
        return pull

    pull = np.exp((prices - cap) / temperature) + np.sum(_by_parts(cells, work), axis=0)
    _by_parts(
        cells,
        lambda low, high: _tolls.adjust(
            cells, low, high, prices, temperature, pull, limit, pace * STEP, pace * FOLLOW
        ),
    )


def _by_parts(cells: _tolls.TolledCells, work: Callable[[int, int], Found]) -> list[Found]:
    """Do the work for ranges of cells with about as many members each."""
    parts = CORES if len(cells.members) > MIN_SHARED else 1
    ends = np.searchsorted(cells.start, np.linspace(0, len(cells.members), parts + 1)[1:-1])
    bounds = [0, *ends.tolist(), len(cells.cost)]
    return in_threads(lambda i: work(bounds[i], bounds[i + 1]), range(parts))
