"""Tolls: whatever they are, no possible block is worth more than it costs; and they know what entropy asks."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction
from itertools import product
from pathlib import Path
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings

import sudare as sd
from sudare.generalization.problem import Problem
from sudare.privacy.minimum import BlockMinimum
from sudare.suitability import _tolls, bounds, tolls
from sudare.suitability.cells import cell_costs
from tests.generalization.adult import adult
from tests.suitability.cases import Asked, costs_of, random_plain, randoms, row_units
from tests.suitability.plain import Plain, subsets

ASKED = [
    Asked(entropy=1.5), Asked(entropy=2), Asked(entropy=2.5), Asked(entropy=3), Asked(k=3, entropy=2),
    Asked(recursive=(1, 2)), Asked(recursive=(2, 2)), Asked(recursive=(0.5, 1)), Asked(recursive=(3, 3)),
    Asked(entropy=2, recursive=(1, 2)),
]  # fmt: skip


def tolled(plain: Plain, asked: Asked, rounds: int = 30) -> list[float]:
    """The price of each record."""
    problem = Problem.of(plain.table(), asked.requirements())
    minimum = BlockMinimum.of(problem.limits)
    prices = tolls.tolled_prices(problem, costs_of(plain), minimum, rounds)
    return prices[row_units(plain, problem)].tolist()


def check(plain: Plain, asked: Asked) -> None:
    """Every possible block costs at least its prices, and a record that is left out at least its own."""
    of_record = tolled(plain, asked)
    assert max(of_record) <= 1
    for block in subsets(len(plain.rows)):
        if block and asked(plain.histogram(block)):
            cost = len(block) * sum(
                share * level for share, level in zip(plain.shares, plain.levels(block), strict=True)
            )
            assert sum(Fraction(of_record[row]) for row in block) <= cost


@given(r=randoms)
@settings(max_examples=100)
def test_no_possible_block_is_worth_more_than_it_costs(r: Random) -> None:
    check(random_plain(r, most=8), r.choice(ASKED))


@given(r=randoms)
@settings(max_examples=30)
def test_nor_with_odd_weights(r: Random) -> None:
    plain = random_plain(r, most=6, odd=True)
    if any(plain.weights):
        check(plain, r.choice(ASKED))


@given(r=randoms)
@settings(max_examples=60)
def test_credits_sum_to_nothing_less_than_0_in_possible_blocks(r: Random) -> None:
    """Whatever demand they have followed: compared with all blocks of up to four records of each value."""
    values = r.randint(2, 4)
    asked = r.choice(ASKED[:9])
    shares = np.array([[r.random() + 0.01 for _ in range(values)]])
    shares /= shares.sum()
    limit = np.array([math.log(asked.entropy), 0, 0] if asked.recursive is None else [0, *asked.recursive])
    first = -np.log(shares) - limit[0] if asked.recursive is None else np.zeros_like(shares)
    none = np.zeros(0)
    cells = _tolls.TolledCells(none, none, none, none, none, shares, first, np.zeros(1), shares.copy())
    for _ in range(r.randint(1, 5)):
        demand = np.array([r.choice([0.0, r.random()]) for _ in range(values)]) + 1e-9
        demand /= demand.sum()
        if asked.recursive is None:
            _tolls._turn_entropy.py_func(cells, 0, demand, limit[0], r.random())
        else:
            _tolls._turn_recursive.py_func(cells, 0, demand, np.zeros(values), limit, r.random())
    for counts in product(range(5), repeat=values):
        histogram: Counter[str | None] = Counter({f"s{v}": n for v, n in enumerate(counts) if n})
        if histogram and asked(histogram):
            assert cells.credits[0] @ counts >= -1e-9


def crowds(others: int) -> Plain:
    """A crowd of which nearly all have one value; the next is mixed."""
    paths = [[("a", "*"), ("b", "*")]]
    return Plain(paths, [1.0], [(0,)] * 8 + [(1,)] * others, [*"ssssssst", *("st" * others)[:others]])


def test_frequent_values_pay_for_company() -> None:
    """Of the first crowd only two records can be a block of their own; cells, matching and prices know nothing of it."""
    plain = crowds(others=6)
    problem = Problem.of(plain.table(), Asked(entropy=2).requirements())
    minimum = BlockMinimum.of(problem.limits)
    assert cell_costs(problem, costs_of(plain), [minimum]).max() == 0
    best = plain.optimum(Asked(entropy=2), suppressing=True)
    bound = bounds.best_bounds(problem, costs_of(plain), [minimum], tight=True)[0]
    assert bound.by == "tolls"
    assert best is not None
    assert 0.5 * float(best) < bound.value <= best


def test_recursive_diversity_too() -> None:
    plain = crowds(others=6)
    asked = Asked(recursive=(2, 2))  # at most two s for every t
    assert 0 < sum(tolled(plain, asked, 60)) / len(plain.rows) <= plain.optimum(asked, suppressing=True)  # type: ignore[operator]


def test_without_tolls_the_cheapest_cells() -> None:
    r = Random(5)
    for _ in range(10):
        plain, asked = random_plain(r, most=7), r.choice(ASKED)
        problem, costs = Problem.of(plain.table(), asked.requirements()), costs_of(plain)
        minimum = BlockMinimum.of(problem.limits)
        prices = tolls.tolled_prices(problem, costs, minimum, rounds=1)
        assert prices == pytest.approx(cell_costs(problem, costs, [minimum])[0] / costs.whole, abs=1e-9)


def test_fewer_cells_are_a_bound_too(monkeypatch: pytest.MonkeyPatch) -> None:
    """Those that cost more than the cap are not looked at."""
    r = Random(6)
    for _ in range(15):
        monkeypatch.setattr(tolls, "MAX_MEMBERS", r.randint(1, 20))
        check(random_plain(r, most=7), r.choice(ASKED))


def test_hardly_any_entropy_asks_for_nothing() -> None:
    assert not tolls.can_be_tolled(BlockMinimum(1, 1, 1e-13))
    assert tolls.can_be_tolled(BlockMinimum(2, 2, math.log(2)))
    assert tolls.can_be_tolled(BlockMinimum(2, 2, 0.0, ((1.0, 2.0),)))


@pytest.mark.slow
def test_adult(data_folder: Path) -> None:
    problem = Problem.of(adult(data_folder), [sd.LDiversity(8, "entropy")])
    costs, minimum = (
        bounds.Costs.of(problem.trees.height.tolist(), [1.0] * 7),
        BlockMinimum.of(problem.limits),
    )
    records = problem.weights.sum()
    by_cells = cell_costs(problem, costs, [minimum])[0] @ problem.weights / records / costs.whole
    by_tolls = tolls.tolled_prices(problem, costs, minimum) @ problem.weights / records
    assert by_tolls > 1.6 * by_cells
