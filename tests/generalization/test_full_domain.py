"""One level for each attribute: the best of all choices, which all are tried."""

from __future__ import annotations

import math
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sudare.generalization.full_domain import MEASURES, prices_of
from sudare.generalization.lattice import best_levels
from sudare.generalization.problem import Problem, with_hierarchies
from sudare.privacy.t_closeness import TCloseness
from tests.generalization.cases import Case, random_requirement, random_table, randoms
from tests.generalization.plain_levels import every_choice, least

measures = st.sampled_from(MEASURES)


def case_of(r: Random) -> Case:
    """A table, and requirements that it may not be able to meet."""
    table = random_table(r, r.randint(1, 24), attributes=r.randint(1, 3))
    return Case(with_hierarchies(table), [random_requirement(r) for _ in range(r.randint(1, 2))])


def spare_of(r: Random, case: Case) -> int:
    if any(isinstance(one, TCloseness) for one in case.requirements):
        return 0
    return r.choice([0, 1, r.randrange(len(case.table)), len(case.table)])


@given(r=randoms, measure=measures)
@settings(max_examples=250)
def test_no_choice_of_all_is_better(r: Random, measure: str) -> None:
    case = case_of(r)
    problem, spare = Problem.of(case.table, case.requirements), spare_of(r, case)
    found = best_levels(problem, prices_of(case.table, problem, measure), spare)
    best = least(case.table, problem, case.rule, measure, spare)
    if found is None:
        assert best == math.inf
        return
    tried = {one.levels: one for one in every_choice(case.table, problem, case.rule, measure)}
    assert tried[found].left_out <= spare
    assert tried[found].cost == pytest.approx(best, rel=1e-9, abs=1e-12)
