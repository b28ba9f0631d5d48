"""The lattice, node by node, beside every choice that is tried from the definitions; and what is published at levels that are given."""

from __future__ import annotations

from random import Random
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sudare as sd
from sudare.generalization import nodes
from sudare.generalization.full_domain import MEASURES, prices_of
from sudare.generalization.lattice import best_levels
from sudare.generalization.nodes import lattice
from sudare.generalization.problem import Problem
from tests.generalization.cases import random_table, randoms
from tests.generalization.plain_levels import every_choice
from tests.generalization.test_full_domain import asks_for_closeness, case_of
from tests.plans.worlds import World, assert_true_and_safe

FRAME = pl.DataFrame({"age": [30, 31, 40, 41, 40], "sex": list("fmfmf"), "ill": list("aabbc")})
AGES = sd.Hierarchy.from_rows(
    [["30", "30-39", "*"], ["31", "30-39", "*"], ["40", "40-49", "*"], ["41", "40-49", "*"]]
)
TABLE = sd.read(
    FRAME, sd.Schema.from_roles(quasi=["age", "sex"], sensitive=["ill"], hierarchies={"age": AGES})
)


@given(r=randoms, measure=st.sampled_from(MEASURES))
@settings(max_examples=100)
def test_every_node_is_what_trying_it_gives(r: Random, measure: Any) -> None:
    case = case_of(r)
    suppress = 0.0 if asks_for_closeness(case) else r.choice([0.0, 0.2, 1.0])
    seen = lattice(case.table, case.requirements, suppress=suppress, measure=measure)
    problem = Problem.of(case.table, case.requirements)
    tried = {one.levels: one for one in every_choice(case.table, problem, case.rule, measure)}
    spare = int(suppress * len(case.table))
    assert seen.best == best_levels(problem, prices_of(case.table, problem, measure), spare)
    if seen.choices <= nodes.MOST_NODES:
        assert seen.is_whole
        assert {node.levels for node in seen.nodes} >= set(tried)
    for node in seen.nodes:
        own = tried.get(node.levels)
        if own is None:  # nobody would be published
            assert node.left_out == len(case.table)
            assert not node.holds
            continue
        assert (node.left_out, node.cost) == (own.left_out, pytest.approx(own.cost, abs=1e-12))
        assert node.holds == (own.left_out <= spare)
    holding = [node.cost for node in seen.nodes if node.holds]
    if seen.best is not None:
        (best,) = (node for node in seen.nodes if node.levels == seen.best)
        assert best.cost == pytest.approx(min(holding))


@given(r=randoms)
@settings(max_examples=30)
def test_of_a_large_lattice_the_nodes_around_one_are_looked_at(r: Random) -> None:
    table = random_table(r, 40, attributes=r.choice([5, 6]), kinds=["number", "tree"])
    whole = Problem.of(nodes.with_hierarchies(table), [sd.KAnonymity(3)])
    around = {
        name: r.randint(0, tree.height) for name, tree in zip(whole.names, whole.hierarchies, strict=True)
    }
    seen = lattice(table, [sd.KAnonymity(3)], around=around)
    centre = tuple(around[name] for name in seen.names)
    assert seen.centre == centre
    if seen.is_whole:
        return
    far = [sum(abs(a - b) for a, b in zip(node.levels, centre, strict=True)) for node in seen.nodes]
    assert max(far) <= 2
    assert len(seen.nodes) <= nodes.MOST_AROUND or max(far) == 1
    one_move = sum((own > 0) + (own < height) for own, height in zip(centre, seen.heights, strict=True))
    assert far.count(0) == 1
    assert far.count(1) == one_move
    assert [sum(node.levels) for node in seen.nodes] == sorted(sum(node.levels) for node in seen.nodes)


def test_of_very_many_attributes_one_move_is_enough() -> None:
    frame = pl.DataFrame({f"q{i}": [0, 1] for i in range(30)})
    seen = lattice(sd.read(frame, sd.Schema.from_roles(quasi=frame.columns)), [sd.KAnonymity(2)])
    assert seen.choices == 2**30
    assert len(seen.nodes) == 31
    assert seen.best == seen.centre == (1,) * 30
    assert [node.holds for node in seen.nodes] == [False] * 30 + [True]


def test_where_nothing_holds_the_roots_are_looked_at() -> None:
    seen = lattice(TABLE, [sd.KAnonymity(6)])
    assert (seen.best, seen.centre) == (None, (2, 1))
    assert not any(node.holds for node in seen.nodes)


@pytest.mark.parametrize(
    "asked",
    [sd.KMap(2, population=FRAME), sd.DeltaPresence(0.9, population=FRAME)],
    ids=["k-map", "delta-presence"],
)
def test_what_is_counted_in_a_population_is_refused(asked: Any) -> None:
    with pytest.raises(sd.InputError, match="needs the people of a population"):
        lattice(TABLE, [sd.KAnonymity(2), asked])


@pytest.mark.parametrize(
    "asked", [sd.BetaLikeness(1.5), sd.DeltaDisclosure(2), sd.TCloseness(0.3)], ids=["beta", "delta", "t"]
)
def test_a_node_holds_where_its_levels_can_be_published(asked: Any) -> None:
    """What is recounted of the release at a node's levels is what the lattice says of the node."""
    seen = lattice(TABLE, [asked])
    assert {node.holds for node in seen.nodes} == {True, False}
    for node in seen.nodes:
        levels = dict(zip(seen.names, node.levels, strict=True))
        raw = sd.generalize(TABLE, sd.KAnonymity(1), "full-domain", levels=levels)
        schema = sd.Schema.from_roles(quasi=["age", "sex"], sensitive=["ill"])
        assert sd.verify(raw.frame(), asked, schema).holds == node.holds
    with pytest.raises(sd.ParameterError, match="no record may be left out"):
        lattice(TABLE, [asked], suppress=0.5)


# -- What is published at levels that are given --------------------------------------------------------


@given(r=randoms, suppress=st.sampled_from([0.0, 0.3, 0.6]))
@settings(max_examples=60)
def test_what_is_published_has_these_levels_and_meets_what_is_asked(r: Random, suppress: float) -> None:
    """And who is left out leaves no trace: the others alone give the same."""
    world = World.random(r)
    asked = [
        sd.KAnonymity(r.randint(2, 4)),
        *r.choice([[], [sd.LDiversity(2)], [sd.LDiversity(2, "entropy")]]),
    ]
    problem = Problem.of(nodes.with_hierarchies(world.table()), asked)
    levels = {
        name: r.randint(0, tree.height) for name, tree in zip(problem.names, problem.hierarchies, strict=True)
    }
    method = sd.methods.FullDomain(suppress, levels=levels)
    try:
        release = sd.generalize(world.table(), asked, method)
    except sd.RequirementError:
        return
    plan: Any = release.plan
    trees = {name: tree.height for name, tree in plan.trees.items()}
    assert dict(plan.levels) == {name: min(level, trees[name]) for name, level in levels.items()}
    kept = set(release.frame()["row"])
    rest = [row for row in world.rows if row["row"] in kept]
    assert len(rest) >= len(world.rows) * (1 - suppress) - 1e-9
    assert_true_and_safe(world, rest, release)
    if all(any(row[name] is not None for row in rest) for name in world.quasi):  # else it cannot be read
        alone = sd.generalize(world.table(rest), asked, sd.methods.FullDomain(levels=dict(plan.levels)))
        assert release.frame().equals(alone.frame())


def test_the_best_levels_given_are_the_release_that_finds_them() -> None:
    table = nodes.with_hierarchies(random_table(Random(3), 60, attributes=3))
    found = sd.generalize(table, sd.KAnonymity(4), "full-domain", suppress=0.1)
    best = lattice(table, [sd.KAnonymity(4)], suppress=0.1)
    assert best.best is not None
    levels = dict(zip(best.names, best.best, strict=True))
    given_ = sd.generalize(table, sd.KAnonymity(4), "full-domain", suppress=0.1, levels=levels)
    assert given_.frame().equals(found.frame())
    (node,) = (one for one in best.nodes if one.levels == best.best)
    assert given_.holder["utility"]["distortion"] * (60 - node.left_out) / 60 + node.left_out / 60 == (
        pytest.approx(node.cost)
    )


def test_levels_are_published_and_recorded() -> None:
    release = sd.generalize(TABLE, sd.KAnonymity(2), "full-domain", levels={"sex": 1, "age": 1})
    assert set(release.frame()["age"]) == {"30-39", "40-49"}
    assert set(release.frame()["sex"]) == {"*"}
    assert release.holder["levels"] == {"age": 1, "sex": 1}
    assert release.holder["method"]["levels"] == {"sex": 1, "age": 1}
    assert release.certificate.measured["k"] == 2
    assert hash(sd.methods.FullDomain(levels={"age": 1})) == hash(sd.methods.FullDomain())


@pytest.mark.parametrize(
    ("levels", "error", "words"),
    [
        (
            {"age": 0, "sex": 1},
            sd.RequirementError,
            "At these levels 3 of 5 records are in groups that fail, and 0 may",
        ),
        ({"age": 1}, sd.ParameterError, "must have a level of every quasi attribute: 'age', 'sex'"),
        ({"age": 1, "sex": 0, "ill": 0}, sd.ParameterError, "level of every quasi attribute"),
        ({"age": 3, "sex": 0}, sd.ParameterError, "The level of 'age' must be at most 2"),
        ({"age": -1, "sex": 0}, sd.ParameterError, "'levels' parameter of generalize must be a level of"),
        ({"age": True, "sex": 0}, sd.ParameterError, "'levels' parameter of generalize must be a level of"),
        ({"age": 0.5, "sex": 0}, sd.ParameterError, "'levels' parameter of generalize must be a level of"),
        ({}, sd.ParameterError, "'levels' parameter of generalize must be a level of"),
        ([1, 2], sd.ParameterError, "'levels' parameter of generalize must be a level of"),
    ],
)
def test_levels_that_cannot_be_are_refused(levels: Any, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        sd.generalize(TABLE, sd.KAnonymity(2), "full-domain", levels=levels)


def test_somebody_is_published_at_levels_that_are_given() -> None:
    with pytest.raises(
        sd.RequirementError, match="At these levels 5 of 5 records are in groups that fail, and 4 may"
    ):
        sd.generalize(TABLE, sd.KAnonymity(5), "full-domain", suppress=1.0, levels={"age": 0, "sex": 0})


def test_levels_belong_to_one_method() -> None:
    with pytest.raises(
        sd.ParameterError, match="'levels' parameter of generalize is for the method 'full-domain'"
    ):
        sd.generalize(TABLE, sd.KAnonymity(2), levels={"age": 1, "sex": 1})


def test_nobody_is_left_out_beside_closeness() -> None:
    with pytest.raises(sd.ParameterError, match="no record may be left out"):
        lattice(TABLE, [sd.TCloseness(0.5)], suppress=0.5)
