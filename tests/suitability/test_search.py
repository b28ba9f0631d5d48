"""The search for each record's cheapest cell, beside the list of all cells."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sudare as sd
from sudare.generalization.problem import with_hierarchies
from sudare.privacy.minimum import BlockMinimum
from sudare.suitability.bounds import best_bounds
from sudare.suitability.cells import cell_costs
from sudare.suitability.costs import Costs, nearest_costs
from sudare.suitability.facts import Facts
from sudare.suitability.search import searched_costs
from tests.suitability.cases import random_plain


def facts_of(table: sd.Table) -> Facts:
    by_value = table.counts([*table.names("quasi"), *table.names("sensitive")])
    return Facts(with_hierarchies(table), by_value)


@pytest.mark.parametrize("most", [6, pytest.param(8, marks=pytest.mark.slow)])
@given(r=st.randoms(use_true_random=False))
@settings(max_examples=60)
def test_what_is_found_is_what_the_list_has(r: Random, most: int) -> None:
    facts = facts_of(random_plain(r, most=most).table())
    problem = facts.problem
    for minimum in (
        BlockMinimum(2),
        BlockMinimum(3),
        BlockMinimum(2, 2),
        BlockMinimum(3, 3),
        BlockMinimum(4, 2),
    ):
        if minimum.records > facts.records or minimum.values > int((facts.counts > 0).sum()):
            continue
        listed = cell_costs(problem, facts.costs, [minimum])[0]
        least = searched_costs(problem, facts.costs, minimum)
        if (
            minimum.records > minimum.values > 1
        ):  # each companion and each value in some cell, but not all in one
            assert (least <= listed).all()
        else:
            assert least.tolist() == listed.tolist()


@pytest.fixture(scope="module")
def survey() -> Facts:
    people = sd.datasets.health_survey(250).select("age", "sex", "region", "education", "diagnosis")
    hierarchies = {"age": sd.Hierarchy.intervals(range(18, 96), width=10)}
    schema = sd.Schema.from_roles(
        quasi=["age", "sex", "region", "education"], sensitive=["diagnosis"], hierarchies=hierarchies
    )
    return facts_of(sd.read(people, schema))


@pytest.mark.parametrize("steps", [1, 10, 100])
def test_a_search_that_is_cut_short_still_bounds(survey: Facts, steps: int) -> None:
    problem, costs, minimum = survey.by_quasi, survey.costs, BlockMinimum(5)
    whole = searched_costs(problem, costs, minimum)
    short = searched_costs(problem, costs, minimum, steps)
    assert whole.tolist() == cell_costs(problem, costs, [minimum])[0].tolist()
    assert (short <= whole).all()
    assert (short >= nearest_costs(problem, costs, [minimum])[0]).all()
    assert steps > 1 or (short < whole).any()


def test_a_wide_table_is_searched() -> None:
    """With 40 attributes there are too many cells to list."""
    rng = np.random.default_rng(1)
    names = [f"q{i}" for i in range(40)]
    frame = (
        sd.datasets.health_survey(60)
        .select("diagnosis")
        .with_columns(**{name: rng.choice(["a", "b", "c"], 60) for name in names})
    )
    facts = facts_of(sd.read(frame, sd.Schema.from_roles(quasi=names, sensitive=["diagnosis"])))
    minimum = BlockMinimum(4)
    (plain,) = best_bounds(facts.by_quasi, facts.costs, [minimum])
    (tight,) = best_bounds(facts.by_quasi, facts.costs, [minimum], tight=True)
    assert (plain.by, tight.by) == ("nearest", "search")
    assert plain.value < tight.value <= facts.reached(4)
    assert isinstance(facts.costs, Costs)
