from __future__ import annotations

from random import Random

import numpy as np
import polars as pl
import pytest

import sudare as sd
from sudare.generalization import _anneal
from sudare.generalization._blocks import Given
from sudare.generalization._members import (
    MAX_MEMBERS,
    NOBODY,
    Members,
    gather,
    may_trade,
    price_with,
    trade,
)
from sudare.generalization.minimal import learn_minimal
from sudare.generalization.problem import Problem
from sudare.generalization.recoding import Recoding
from sudare.kernels import kernel
from sudare.lent import lent
from sudare.privacy.limits import Limits, block_meets
from sudare.privacy.requirement import BlockRequirement
from tests.generalization.cases import random_table

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


@pytest.mark.parametrize("asked", [sd.KAnonymity(3), sd.LDiversity(2, "entropy")], ids=str)
def test_what_blocks_have_in_common_is_kept_through_changes(asked: BlockRequirement) -> None:
    """Compared with all units of a block, one by one: its cost, without one of them, and with another instead."""
    p = Problem.of(random_table(Random(1), 120, attributes=5), [asked])
    block_of = learn_minimal(p, effort="quick").block_of.copy()
    given, blocks = Given.of(p.unit_arrays), int(block_of.max()) + 1
    s = Members.room_for(given, block_of, blocks)
    drawn = Random(2)
    prices: list[tuple[float, float]] = []

    def cost(units: set[int]) -> float:
        return float(given.gain[(given.marks[sorted(units)] != given.marks[min(units)]).any(axis=0)].sum())

    gathered(given, s)
    for _ in range(2_000):
        u, w = drawn.randrange(len(block_of)), drawn.randrange(len(block_of))
        b, c = block_of[u], block_of[w]
        if b == c or max(s.number[b], s.number[c]) > MAX_MEMBERS:
            continue
        of_b, of_c = ({*np.flatnonzero(block_of == block).tolist()} for block in (b, c))
        if len(of_b) > 1:
            prices.append((s.cost[b] - s.saves[u], cost(of_b - {u})))
        prices.append((s.cost[b], cost(of_b)))
        prices.append((priced(u, c, w, given, s), cost(of_c - {w} | {u})))
        prices.append((priced(u, c, NOBODY, given, s), cost(of_c | {u})))
        if traded(u, b, NOBODY if len(of_b) > 1 and drawn.random() < 0.3 else w, c, p.limits, given, s):
            assert block_of[u] == c
    found, plain = np.array(prices).T
    assert len(prices) > 5_000
    assert found == pytest.approx(plain, abs=1e-5)
    kept = np.bincount(block_of, p.weights, minlength=blocks)
    assert s.size.tolist() == kept.tolist()
    assert all(block_meets(s.histogram[b], s.size[b], p.limits) for b in range(blocks))


@kernel
def gathered(given: Given, members: Members) -> None:  # pragma: no cover
    gather(lent(given), lent(members))


@kernel
def priced(u: int, b: int, leaves: int, given: Given, members: Members) -> float:  # pragma: no cover
    return price_with(u, b, leaves, lent(given), lent(members))


@kernel
def traded(
    u: int, b: int, w: int, c: int, limits: Limits, given: Given, members: Members
) -> bool:  # pragma: no cover
    g, s = lent(given), lent(members)
    holds = may_trade(u, b, w, c, lent(limits), g, s)
    if holds:
        trade(u, b, w, c, g, s)
    return holds
