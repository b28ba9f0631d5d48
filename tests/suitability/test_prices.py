from __future__ import annotations

from fractions import Fraction
from random import Random
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings

from sudare.privacy.minimum import BlockMinimum
from sudare.suitability import _prices, prices
from sudare.suitability.cells import ClosedCells, cell_costs
from sudare.suitability.prices import Prices, best_prices
from tests.suitability.cases import costs_of, problem_of, random_plain, randoms, row_units
from tests.suitability.plain import Plain, best_program, possible_blocks, subsets

FLAT = [("x", "*"), ("y", "*")]
MINIMA = [
    BlockMinimum(2),
    BlockMinimum(3),
    BlockMinimum(4),
    BlockMinimum(2, 2),
    BlockMinimum(3, 3),
    BlockMinimum(3, 2),
    BlockMinimum(4, 2),
]


def priced(plain: Plain, minimum: BlockMinimum) -> tuple[Prices, list[float]]:
    """The prices, and that of each record."""
    problem, costs = problem_of(plain, minimum.values > 1), costs_of(plain)
    start = cell_costs(problem, costs, [minimum])[0]
    proof = best_prices(problem, costs, minimum, start)
    return proof, proof.of_unit[row_units(plain, problem)].tolist()


def check(plain: Plain, minimum: BlockMinimum) -> None:
    proof, of_record = priced(plain, minimum)
    assert all(0 <= price <= 1 for price in of_record)  # a suppressed record costs 1
    for block, cost in possible_blocks(plain, minimum).items():
        assert sum(Fraction(of_record[row]) for row in block) <= cost
    assert proof.total == pytest.approx(sum(of_record) / len(of_record), abs=1e-12)
    assert proof.total <= proof.program + 1e-9
    best = best_program(plain, minimum)
    assert proof.total <= best + 1e-9
    assert proof.program >= best - 1e-7


@given(r=randoms)
@settings(max_examples=80)
def test_prices_break_no_constraint(r: Random) -> None:
    check(random_plain(r, most=7), r.choice(MINIMA))


def test_prices_are_near_the_best_that_there_are() -> None:
    r = Random(3)
    proven = best = 0.0
    for _ in range(40):
        plain, minimum = random_plain(r, most=7), r.choice(MINIMA)
        proven, best = proven + priced(plain, minimum)[0].total, best + best_program(plain, minimum)
    assert proven >= 0.99 * best


def test_prices_are_near_the_best_even_if_the_first_guess_breaks_nothing() -> None:
    """Then it is not yet the best guess."""
    paths = [[("a", "ab", "abc", "*"), ("b", "ab", "abc", "*")], FLAT, FLAT]
    rows = [(0, 0, 0)] * 4 + [(1, 0, 0), (1, 1, 1)]
    plain = Plain(paths, [2.0, 2.0, 1.0], rows, ["s"] * 6)
    best = best_program(plain, BlockMinimum(4))
    assert best == pytest.approx((1 + 8 / 15) / 6)
    proof, _ = priced(plain, BlockMinimum(4))
    assert proof.total >= (1 - 2 * prices.CLOSE) * best


@given(r=randoms)
@settings(max_examples=40)
def test_prices_break_no_constraint_with_odd_weights(r: Random) -> None:
    plain = random_plain(r, most=6, odd=True)
    if not any(plain.weights):
        return
    minimum = r.choice(MINIMA)
    _, of_record = priced(plain, minimum)
    for block, cost in possible_blocks(plain, minimum).items():
        assert sum(Fraction(of_record[row]) for row in block) <= cost


@given(r=randoms)
@settings(max_examples=80)
def test_the_best_block_of_each_cell_is_found(r: Random) -> None:
    """Whatever the prices, against all blocks of each cell; and lowered prices break nothing."""
    plain, minimum = random_plain(r, most=7), r.choice(MINIMA)
    problem, costs = problem_of(plain, minimum.values > 1), costs_of(plain)
    cells = ClosedCells.of(problem, costs, minimum)
    pricing = _prices.PricingProblem(
        cells.start, cells.members, cells.cost / costs.whole, problem.weights, problem.sensitive, problem.values,
        minimum.records, minimum.values,
    )  # fmt: skip
    asked = np.array([r.choice([0.0, 0.25, 0.5, 1.0, r.random()]) for _ in problem.units])
    excess = _prices.excess(asked, pricing)
    start, units, times, limits = _prices.blocks(asked, pricing, np.arange(len(cells)))
    of_record = asked[row_units(plain, problem)].tolist()
    for g, above in enumerate(excess.tolist()):
        members = cells.members[cells.start[g] : cells.start[g + 1]].tolist()
        rows = [row for row, unit in enumerate(row_units(plain, problem)) if unit in members]
        cost = float(pricing.cost[g])
        blocks = [[rows[i] for i in block] for block in subsets(len(rows))]
        best = max(
            sum(of_record[row] - cost for row in block)
            for block in blocks
            if len(block) >= minimum.records and len(plain.histogram(block)) >= minimum.values
        )
        assert above == pytest.approx(best, abs=1e-12)
        of_cell = slice(start[g], start[g + 1])
        worth = sum(asked[u] * t for u, t in zip(units[of_cell], times[of_cell], strict=True))
        assert worth - limits[g] == pytest.approx(best, abs=1e-12)
        taken = dict.fromkeys(members, 0)
        for u, t in zip(units[of_cell].tolist(), times[of_cell].tolist(), strict=True):
            taken[u] += t
        assert all(0 <= taken[u] <= problem.weights[u] for u in members)
        assert sum(taken.values()) >= minimum.records
        assert limits[g] == pytest.approx(cost * sum(taken.values()))
        assert len({int(problem.sensitive[u]) for u, t in taken.items() if t}) >= minimum.values
    lowered = _prices.lowered(asked, pricing)[row_units(plain, problem)].tolist()
    for block, limit in possible_blocks(plain, minimum).items():
        assert sum(Fraction(lowered[row]) for row in block) <= limit
    assert all(0 <= low <= high for low, high in zip(lowered, of_record, strict=True))


def test_the_bound_does_not_rest_on_the_solver() -> None:
    """Whatever it proposes."""
    r = Random(7)

    def nonsense(*_: object) -> np.ndarray:
        return np.array([r.random() for _ in range(units)])

    for _ in range(15):
        plain, minimum = random_plain(r, most=6), r.choice(MINIMA)
        units = len(problem_of(plain, minimum.values > 1).units)
        with patch.object(prices, "_solved", nonsense):
            _, of_record = priced(plain, minimum)
        for block, cost in possible_blocks(plain, minimum).items():
            assert sum(Fraction(of_record[row]) for row in block) <= cost


def test_a_solver_that_gives_up_costs_only_tightness() -> None:
    """linprog answers x = None where it ran into trouble."""
    paths = [[("a", "ab", "*"), ("b", "ab", "*"), ("c", "c", "*"), ("d", "c", "*")]]
    plain = Plain(paths, [1.0], [(0,), (1,), (2,), (3,), (0,)], ["s"] * 5)

    class GaveUp:
        x, fun, status, success, message = None, None, 4, False, "numerical difficulties"

    with patch("scipy.optimize.linprog", lambda *_, **__: GaveUp()):
        _, of_record = priced(plain, BlockMinimum(2))
    for block, cost in possible_blocks(plain, BlockMinimum(2)).items():
        assert sum(Fraction(of_record[row]) for row in block) <= cost


@pytest.mark.parametrize(
    "plain",
    [
        Plain([[("a", "*")]], [1.0], [(0,)], ["s"]),
        Plain([[("a", "*")]], [1.0], [(0,)] * 5, ["s", "t", "s", "s", "u"]),
        Plain([[("a", "*"), ("b", "*")]], [0.0], [(0,), (1,), (1,)], ["s", "t", "u"]),
        Plain([[("a", "*"), ("b", "*")]] * 2, [0.0, 1.0], [(0, 0), (1, 0), (1, 1)], ["s", "t", "u"]),
        Plain([[(f"{i}", "*") for i in range(6)]], [1.0], [(i,) for i in range(6)], list("stusts")),
    ],
    ids=["one record", "all equal", "all free", "one attribute free", "all as far from each other"],
)
@pytest.mark.parametrize("minimum", MINIMA)
def test_at_the_edges(plain: Plain, minimum: BlockMinimum) -> None:
    _, of_record = priced(plain, minimum)
    assert all(0 <= price <= 1 for price in of_record)
    for block, cost in possible_blocks(plain, minimum).items():
        assert sum(Fraction(of_record[row]) for row in block) <= cost
