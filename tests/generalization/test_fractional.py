"""The linear program over blocks: what joins it can be a block, and its value is that of all blocks."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from scipy.optimize import linprog

import sudare as sd
from sudare.generalization import drafts, fractional, minimal
from sudare.generalization.drafts import drafts_of
from sudare.generalization.minimal import learn_minimal
from sudare.generalization.moving import placed
from sudare.generalization.problem import Problem
from sudare.privacy.limits import block_meets
from tests.generalization.adult import adult, adult_blocks
from tests.generalization.cases import random_case, random_table, randoms


def lowest_cost(problem: Problem, block: tuple[int, ...]) -> float:
    """What a record of a block costs: each attribute climbs until all are alike."""
    cost = 0.0
    for a, tree in enumerate(problem.hierarchies):
        level = next(
            i for i, codes in enumerate(tree.codes) if len({codes[problem.units[u, a]] for u in block}) == 1
        )
        cost += level * problem.trees.step[a]
    return cost


def can_be_block(problem: Problem, block: tuple[int, ...]) -> bool:
    units = problem.unit_arrays
    histogram = np.bincount(
        units.sensitive[list(block)], units.weights[list(block)], minlength=units.values
    ).astype(np.int64)
    return bool(block_meets(histogram, int(histogram.sum()), problem.limits))


def least_fractional(problem: Problem) -> float:
    """The value of the program over all blocks, by a solver that shares nothing with ours."""
    m = len(problem.units)
    blocks = [
        block
        for size in range(1, m + 1)
        for block in combinations(range(m), size)
        if can_be_block(problem, block)
    ]
    cost = [lowest_cost(problem, block) * problem.weights[list(block)].sum() for block in blocks]
    uses = np.array([[u in block for block in blocks] for u in range(m)], dtype=float)
    return float(linprog(cost, A_eq=uses, b_eq=np.ones(m)).fun)


def swept(problem: Problem) -> np.ndarray:
    return next(iter(drafts_of(problem, improves=False)))


@pytest.mark.parametrize("k", [2, 3])
def test_the_program_comes_to_the_value_of_all_blocks(k: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fractional, "ROUNDS", 60)
    solved = []
    monkeypatch.setattr(fractional._Program, "rounded", lambda program: solved.append(program))
    for seed in range(30):
        problem = Problem.of(random_table(Random(seed), 8, attributes=3), [sd.KAnonymity(k)])
        if len(problem.units) < 4 or problem.weights.max() > 1:
            continue  # units of several records go as a whole, and the best block of a cell is a knapsack
        fractional.disjoint_blocks(problem, placed(problem, swept(problem), spare=0))
        value = float(solved[-1].cost @ solved[-1].shares)
        assert value == pytest.approx(least_fractional(problem), rel=0.02, abs=1e-3)
    assert len(solved) > 2


@given(randoms)
@settings(max_examples=60)
def test_what_is_taken_are_blocks(r: Random) -> None:
    case = random_case(r)
    problem = Problem.of(case.table, case.requirements)
    if not drafts.can_sweep(problem):
        return
    block_of = fractional.disjoint_blocks(problem, placed(problem, swept(problem), spare=0))
    for block in range(block_of.max() + 1):
        assert can_be_block(problem, tuple(np.flatnonzero(block_of == block).tolist()))


@pytest.mark.parametrize(
    "asked",
    [[sd.KAnonymity(3)], [sd.LDiversity(2)], [sd.KAnonymity(4), sd.LDiversity(3, "entropy")]],
    ids=str,
)
def test_it_saves_distortion_on_people_it_was_not_tuned_on(
    asked: list[sd.Requirement], data_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = adult(data_folder)
    some = sd.read(whole.frame().sample(2000, seed=1), whole.schema)
    problem = Problem.of(some, asked)
    by_program = learn_minimal(problem).distortion()
    monkeypatch.setattr(drafts, "can_be_solved", lambda _: False)
    assert by_program < 0.99 * learn_minimal(problem).distortion()


@pytest.mark.parametrize("share", [2, pytest.param(20, marks=pytest.mark.slow)])
def test_a_table_too_large_for_one_program_has_one_for_each_part(
    share: int, data_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And if the parts are so small that they lose at their edges, what a quick look finds is no worse."""
    whole = adult(data_folder)
    some = sd.read(whole.frame().sample(3000, seed=2), whole.schema)
    for asked in ([sd.KAnonymity(3)], [sd.LDiversity(2)]):
        problem = Problem.of(some, asked)
        monkeypatch.setattr(minimal, "MIN_SOLVED", 1)
        for module in (minimal, fractional):
            monkeypatch.setattr(module, "MAX_LISTED", len(problem.units) // share * problem.trees.choices)
        recoding = learn_minimal(problem)
        quick = learn_minimal(problem, effort="quick")
        for block in adult_blocks(recoding, some):
            assert block.total() >= 3 if asked == [sd.KAnonymity(3)] else len(block) >= 2
        assert recoding.distortion() <= quick.distortion()
        if share == 2:
            assert recoding.account.parts > 1
