from __future__ import annotations

import math
from fractions import Fraction
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings

from sudare.generalization.problem import Problem
from sudare.privacy.minimum import BlockMinimum
from sudare.suitability.costs import MAX_WHOLE, Costs, nearest_costs
from tests.suitability.cases import (
    ASKED,
    MINIMA,
    Asked,
    costs_of,
    problem_of,
    random_plain,
    randoms,
    some_row,
)
from tests.suitability.plain import Plain


def exact(plain: Plain) -> bool:
    """Whether the weights have a common measure that is not too small: else costs are rounded down."""
    return costs_of(plain).whole < MAX_WHOLE


@given(r=randoms)
@settings(max_examples=150)
def test_nearest_costs_are_those_of_the_definition(r: Random) -> None:
    plain = random_plain(r, most=9, odd=False)
    costs, problem = costs_of(plain), problem_of(plain)
    least = nearest_costs(problem, costs, MINIMA)
    assert least.dtype == np.int64
    rows = some_row(plain, problem)
    assert exact(plain)
    for minimum, of_minimum in zip(MINIMA, least.tolist(), strict=True):
        for row, cost in zip(rows, of_minimum, strict=True):
            assert Fraction(cost, costs.whole) == plain.nearest(row, minimum.records, minimum.values)


@given(r=randoms)
@settings(max_examples=60)
def test_with_odd_weights_they_are_never_more_and_hardly_less(r: Random) -> None:
    plain = random_plain(r, most=8, odd=True)
    costs, problem = costs_of(plain), problem_of(plain)
    levels = sum(plain.heights())
    for minimum, of_minimum in zip(MINIMA, nearest_costs(problem, costs, MINIMA).tolist(), strict=True):
        for row, cost in zip(some_row(plain, problem), of_minimum, strict=True):
            expected = plain.nearest(row, minimum.records, minimum.values)
            if any(plain.weights) or expected < 1:
                lost = expected - Fraction(cost, costs.whole)
                assert 0 <= lost <= (0 if exact(plain) else Fraction(levels, costs.whole))


@given(r=randoms)
@settings(max_examples=40)
def test_without_sensitive_values_copies_are_counted_too(r: Random) -> None:
    plain = random_plain(r, most=9)
    costs, problem = costs_of(plain), problem_of(plain, by_value=False)
    assert problem.weights.sum() == len(plain.rows)
    minima = [BlockMinimum(k) for k in (1, 2, 3, 5, 12)]
    for minimum, of_minimum in zip(minima, nearest_costs(problem, costs, minima).tolist(), strict=True):
        expected = [plain.nearest(row, minimum.records, 1) for row in some_row(plain, problem)]
        assert [Fraction(cost, costs.whole) for cost in of_minimum] == expected


# -- costs in whole numbers ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("heights", "weights", "step", "whole"),
    [
        ([1], [1.0], [1], 1),
        ([1], [0.1], [1], 1),
        ([2, 3], [1.0, 1.0], [3, 2], 12),
        ([2, 3], [1.0, 0.0], [1, 0], 2),
        ([1, 1], [0.1, 0.2], [1, 2], 3),
        ([4, 4], [0.0, 0.0], [0, 0], 1),
        ([2, 2, 2], [1 / 3, 1 / 3, 1 / 3], [1, 1, 1], 6),
        ([1, 1], [0.5, 1.5], [1, 3], 4),
    ],
)
def test_costs_share_a_record_exactly(
    heights: list[int], weights: list[float], step: list[int], whole: int
) -> None:
    costs = Costs.of(heights, weights)
    assert (costs.step.tolist(), costs.whole) == (step, whole)


@given(r=randoms)
@settings(max_examples=100)
def test_a_record_never_costs_more_than_all(r: Random) -> None:
    heights = [r.randint(1, 17) for _ in range(r.randint(1, 90))]
    weights = [r.choice([0, 1, 0.1, 1 / 3, 1e-12, 1e12, r.random()]) for _ in heights]
    costs = Costs.of(heights, weights)
    exact = [Fraction(repr(float(weight))) for weight in weights]  # 0.1 is a tenth
    total = sum(exact)
    assert int(costs.step @ np.array(heights)) <= costs.whole <= MAX_WHOLE
    for step, weight, height in zip(costs.step.tolist(), exact, heights, strict=True):
        share = weight / total / height if total else Fraction()
        assert 0 <= share - Fraction(step, costs.whole) < Fraction(1, costs.whole)
        assert costs.whole == MAX_WHOLE or share == Fraction(step, costs.whole)


# -- what is needed --------------------------------------------------------------------------------


def lines(n: int, values: int) -> Plain:
    paths = [[(f"v{i}", "*") for i in range(n)]]
    return Plain(paths, [1.0], [(i,) for i in range(n)], [f"s{i % values}" for i in range(n)])


@pytest.mark.parametrize(
    ("asked", "minimum"),
    [
        (Asked(k=1), BlockMinimum(1, 1)),
        (Asked(k=5), BlockMinimum(5, 1)),
        (Asked(distinct=3), BlockMinimum(3, 3)),
        (Asked(k=5, distinct=3), BlockMinimum(5, 3)),
        (Asked(entropy=2.5), BlockMinimum(3, 3)),
        (Asked(entropy=2), BlockMinimum(2, 2)),
        (Asked(entropy=1.0001), BlockMinimum(2, 2)),
        (Asked(entropy=3, distinct=2), BlockMinimum(3, 3)),
        (Asked(recursive=(2, 3)), BlockMinimum(3, 3)),
        (Asked(recursive=(0.5, 3)), BlockMinimum(5, 5)),
        (Asked(k=2, recursive=(0.5, 3), entropy=1.5), BlockMinimum(5, 5)),
    ],
)
def test_what_the_requirements_need(asked: Asked, minimum: BlockMinimum) -> None:
    found = BlockMinimum.of(Problem.of(lines(8, 4).table(), asked.requirements()).limits)
    assert found[:2] == minimum[:2]
    assert found.log_l == pytest.approx(math.log(asked.entropy))
    assert found.recursive == ((asked.recursive,) if asked.recursive else ())


@pytest.mark.parametrize("l", range(2, 40))
def test_an_l_that_went_through_logarithms_needs_no_more(l: int) -> None:
    """e^(log l) may be more than l."""
    asked = Asked(entropy=l)
    found = BlockMinimum.of(Problem.of(lines(40, 40).table(), asked.requirements()).limits)
    assert (found.records, found.values) == (l, l)


@given(r=randoms)
@settings(max_examples=60)
def test_no_block_that_meets_the_requirements_has_less_than_is_needed(r: Random) -> None:
    plain, asked = random_plain(r, most=7), r.choice(ASKED)
    minimum = BlockMinimum.of(Problem.of(plain.table(), asked.requirements()).limits)
    for bits in range(1, 2 ** len(plain.rows)):
        histogram = plain.histogram(row for row in range(len(plain.rows)) if bits >> row & 1)
        if asked(histogram):
            assert histogram.total() >= minimum.records
            assert len(histogram) >= minimum.values
