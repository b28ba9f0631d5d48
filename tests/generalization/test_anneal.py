from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import sudare as sd
from sudare.generalization import _anneal
from sudare.generalization.problem import Problem
from sudare.generalization.recoding import Recoding

PAIRS = 40


def couples() -> Problem:
    """Return people in couples who have six answers in common, not the sensitive one, nor others that go with it."""
    rng = np.random.default_rng(0)
    answers = np.unique(rng.integers(0, 3, (PAIRS, 6)), axis=0)  # few of them are alike, if any
    rows = [
        [*couple, *[value] * 10, value] for couple in answers.tolist() for value in (0, 1)
    ]  # so that all others of one's own value are nearer than one's partner
    frame = pl.DataFrame(np.array(rows).astype(str), schema=[f"a{i}" for i in range(16)] + ["ill"])
    table = sd.read(frame, sd.Schema.from_roles(quasi=frame.columns[:16], sensitive=["ill"]))
    return Problem.of(table, [sd.LDiversity(2)])


def annealed(problem: Problem, by_value: bool) -> Recoding:
    """Begin with people of either value in any pairs, and let them change places for a little while."""
    block_of = np.empty(len(problem.units), dtype=np.int64)
    for value in (0, 1):
        own = np.flatnonzero(problem.sensitive == value)
        block_of[own] = np.random.default_rng(value).permutation(len(own))
    steps = 300 * len(block_of)
    _anneal.anneal(
        problem.unit_arrays,
        problem.limits,
        block_of,
        len(own),
        8,
        steps,
        0.1,
        0.01,
        seed=0,
        by_value=by_value,
    )
    return Recoding.of("minimal", problem, block_of)


def test_units_look_for_company_of_other_values() -> None:
    problem = couples()
    found, without = annealed(problem, by_value=True), annealed(problem, by_value=False)
    for recoding in (found, without):
        assert all(
            len(set(problem.sensitive[recoding.block_of == b])) == 2 for b in range(len(recoding.levels))
        )
    least = 10 / 16  # the ten answers that go with the value
    assert found.distortion() == pytest.approx(least)
    assert without.distortion() > least + 0.1
