from __future__ import annotations

from fractions import Fraction
from random import Random

import pytest
from hypothesis import given, settings

from sudare.generalization.problem import Problem
from sudare.privacy.minimum import BlockMinimum
from sudare.suitability.cells import ClosedCells, can_be_listed, cell_costs
from sudare.suitability.costs import Costs, nearest_costs
from tests.suitability.cases import MINIMA, costs_of, problem_of, random_plain, randoms, row_units, some_row
from tests.suitability.plain import Plain


@given(r=randoms)
@settings(max_examples=100)
def test_the_cheapest_cell_is_that_of_all_choices_of_levels(r: Random) -> None:
    plain = random_plain(r, most=9)
    costs, problem = costs_of(plain), problem_of(plain)
    least, nearest = cell_costs(problem, costs, MINIMA), nearest_costs(problem, costs, MINIMA)
    assert (least >= nearest).all()
    assert (least <= costs.whole).all()
    for minimum, of_minimum in zip(MINIMA, least.tolist(), strict=True):
        cells = plain.cells(minimum.records, minimum.values)
        for row, cost in zip(some_row(plain, problem), of_minimum, strict=True):
            own = [price for (_, members), price in cells.items() if row in members]
            assert Fraction(cost, costs.whole) == min(own, default=Fraction(1))


@pytest.mark.parametrize("most", [8, pytest.param(12, marks=pytest.mark.slow)])
@given(r=randoms)
@settings(max_examples=40)
def test_cells_bound_no_less_than_the_nearest_with_any_weights(r: Random, most: int) -> None:
    plain = random_plain(r, most=most, odd=True)
    for by_value in (True, False):
        costs, problem = costs_of(plain), problem_of(plain, by_value)
        minima = MINIMA if by_value else MINIMA[:4]
        least = cell_costs(problem, costs, minima)
        assert (least >= nearest_costs(problem, costs, minima)).all()
        for minimum, of_minimum in zip(minima, least.tolist(), strict=True):
            cells = plain.cells(minimum.records, minimum.values)
            for row, cost in zip(some_row(plain, problem), of_minimum, strict=True):
                own = [price for (_, members), price in cells.items() if row in members]
                assert Fraction(cost, costs.whole) <= min(own, default=Fraction(1))


@given(r=randoms)
@settings(max_examples=100)
def test_closed_cells_are_the_smallest_for_each_set_of_records(r: Random) -> None:
    plain = random_plain(r, most=9)
    minimum = r.choice(MINIMA)
    by_value = minimum.values > 1 or r.random() < 0.5
    costs, problem = costs_of(plain), problem_of(plain, by_value)
    cells = ClosedCells.of(problem, costs, minimum)
    listed = [
        (
            frozenset(rows_of(plain, problem, cells.members[low:high].tolist())),
            Fraction(int(cost), costs.whole),
        )
        for low, high, cost in zip(cells.start[:-1], cells.start[1:], cells.cost, strict=True)
    ]
    assert len(listed) == len(cells) == len(set(listed))
    expected = smallest(plain, minimum)
    assert dict(listed) == expected
    assert len(listed) == len(expected)


def rows_of(plain: Plain, problem: Problem, units: list[int]) -> list[int]:
    assert len(set(units)) == len(units)
    return [row for row, unit in enumerate(row_units(plain, problem)) if unit in units]


def smallest(plain: Plain, minimum: BlockMinimum) -> dict[frozenset[int], Fraction]:
    """Each set of records that is all of a cell, with the cost of the levels that it must be published at."""
    return {
        members: plain.cost_at(plain.levels(sorted(members)))
        for _, members in plain.cells(minimum.records, minimum.values)
    }


def test_all_choices_of_levels_are_counted() -> None:
    tall = [(*(f"{i}.{level}" for level in range(11)), "*") for i in range(3)]
    plain = Plain([tall] * 3, [1.0] * 3, [(0, 0, 0), (1, 2, 0)], ["a", "b"])
    problem = problem_of(plain)
    assert problem.trees.choices == 12**3
    assert can_be_listed(problem, 2 * 12**3)
    assert not can_be_listed(problem, 2 * 12**3 - 1)


def test_tuples_that_fit_no_number_are_not_listed() -> None:
    paths = [(f"v{i}", "*") for i in range(2**13)]
    plain = Plain([paths] * 5, [1.0] * 5, [(i,) * 5 for i in range(4)], ["a"] * 4)
    assert not can_be_listed(problem_of(plain))
    assert can_be_listed(problem_of(Plain([paths] * 4, [1.0] * 4, [(i,) * 4 for i in range(4)], ["a"] * 4)))


def test_tuples_that_just_fit_a_number_are_told_apart() -> None:
    """4 x 13 bits: cells whose numbers differ only in the highest bits."""
    paths = [(f"v{i}", f"g{i // 2}", "*") for i in range(2**13)]
    rows = [(x, 0, 0, y) for x in (0, 4096, 8190, 8191) for y in (0, 8191)]
    plain = Plain([paths] * 4, [1.0] * 4, rows, ["a"] * len(rows))
    costs, problem = costs_of(plain), problem_of(plain)
    assert isinstance(costs, Costs)
    least = cell_costs(problem, costs, [BlockMinimum(2), BlockMinimum(3)])
    for minimum, of_minimum in zip((2, 3), least.tolist(), strict=True):
        cells = plain.cells(minimum, 1)
        for row, cost in zip(some_row(plain, problem), of_minimum, strict=True):
            own = min(price for (_, members), price in cells.items() if row in members)
            assert Fraction(cost, costs.whole) == own
