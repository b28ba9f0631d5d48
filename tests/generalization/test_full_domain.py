"""One level for each attribute: the best of all choices, which all are tried."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Callable
from random import Random
from typing import Any

import polars as pl
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import sudare as sd
from sudare.generalization import lattice
from sudare.generalization.full_domain import MEASURES, prices_of
from sudare.generalization.lattice import best_levels
from sudare.generalization.problem import Problem, with_hierarchies
from sudare.plans.levels import LevelsPlan
from sudare.privacy.limits import ByTable
from sudare.tables.text import text_of
from tests import by_row
from tests.generalization.cases import Case, random_case, random_requirement, random_table, randoms
from tests.generalization.plain import Rule, check_blocks
from tests.generalization.plain_levels import every_choice, least
from tests.generalization.test_regions import held_at_once, people, schema
from tests.plans.worlds import World, assert_true_and_safe
from tests.privacy.plain import has_distinct, has_entropy, is_recursive

measures = st.sampled_from(MEASURES)


def case_of(r: Random) -> Case:
    """A table, and requirements that it may not be able to meet."""
    table = random_table(r, r.randint(1, 24), attributes=r.randint(1, 3))
    return Case(with_hierarchies(table), [random_requirement(r) for _ in range(r.randint(1, 2))])


def asks_for_closeness(case: Case) -> bool:
    return any(isinstance(one, ByTable) for one in case.requirements)


def spare_of(r: Random, case: Case) -> int:
    if asks_for_closeness(case):
        return 0
    return r.choice([0, 1, r.randrange(len(case.table)), len(case.table)])


@given(r=randoms, measure=measures)
@settings(max_examples=200)
def test_no_choice_of_all_is_better(r: Random, measure: Any) -> None:
    case = case_of(r)
    assert_best(case, measure, spare_of(r, case))


@given(r=randoms, measure=measures)
@settings(max_examples=100)
def test_no_choice_is_better_where_parts_may_be_diverse_and_the_whole_is_not(r: Random, measure: Any) -> None:
    table = with_hierarchies(random_table(r, r.randint(8, 30), attributes=r.randint(2, 3)))
    kinds = [sd.LDiversity(2, "entropy"), sd.LDiversity(2, "recursive", c=r.choice([0.5, 1, 2]))]
    assert_best(Case(table, [r.choice(kinds)]), measure, r.randint(1, len(table)))


@given(r=randoms, measure=measures)
@settings(max_examples=100)
def test_no_choice_is_better_with_harmless_and_close_values(r: Random, measure: Any) -> None:
    """Where all groups must hold, some, or none; a group of harmless values alone holds, and so may parts of others."""
    n, numbers = r.randint(6, 40), [1, 2, 3, 6, 7, 20]
    columns = {
        "age": range(1, 5),
        "town": range(3),
        "sex": range(2),
        "ill": r.sample(numbers, r.randint(2, 6)),
    }
    frame = pl.DataFrame({name: [r.choice(domain) for _ in range(n)] for name, domain in columns.items()})
    table = with_hierarchies(
        sd.read(frame, sd.Schema.from_roles(quasi=["age", "town", "sex"], sensitive=["ill"]))
    )
    known = frozenset(r.sample(numbers, r.randint(0, 2))) & frozenset(frame["ill"])
    kinds = ("distinct", "entropy", "recursive", "proximity")
    kind, k = r.choice(kinds if known else ["proximity"]), r.randint(1, 3)
    diverse = sd.LDiversity(
        2,
        kind,  # type: ignore[arg-type]
        c=1.5 if kind == "recursive" else None,
        within=1 if kind == "proximity" else None,
        harmless=sorted(known),
    )

    def rule(histogram: Counter[int]) -> bool:
        values = table["ill"].values
        others = Counter(
            {values[code]: count for code, count in histogram.items() if values[code] not in known}
        )
        return histogram.total() >= k and (not others or _is_diverse(others, kind))

    assert_best(Case(table, [sd.KAnonymity(k), diverse]), measure, r.choice([0, r.randrange(n), n]), rule)


def test_groups_of_harmless_values_are_published_as_they_are_where_some_may_be_left_out() -> None:
    frame = pl.DataFrame({"age": [1, 1, 2, 2, 3, 3], "sex": list("ffmmff"), "ill": list("nnnnab")})
    table = sd.read(frame, sd.Schema.from_roles(quasi=["age", "sex"], sensitive=["ill"]))
    asked = sd.LDiversity(2, harmless=["n"])
    release = sd.generalize(table, asked, "full-domain", suppress=0.2)
    assert release.holder["utility"]["distortion"] == 0
    assert len(release.frame()) == 6


def _is_diverse(others: Counter[int], kind: str) -> bool:
    if kind == "distinct":
        return has_distinct(others, 2)
    if kind == "entropy":
        return has_entropy(others, 2)
    if kind == "recursive":
        return is_recursive(others, 1.5, 2)
    return all(2 * (others[x] + others[x + 1]) <= others.total() for x in range(21))


def assert_best(
    case: Case, measure: Any, spare: int, rule: Callable[[Counter[int]], bool] | None = None
) -> None:
    problem, rule = Problem.of(case.table, case.requirements), rule or case.rule
    found = best_levels(problem, prices_of(case.table, problem, measure), spare)
    best = least(case.table, problem, rule, measure, spare)
    if found is None:
        assert best == math.inf
        return
    tried = {one.levels: one for one in every_choice(case.table, problem, rule, measure)}
    assert tried[found].left_out <= spare
    assert tried[found].cost == pytest.approx(best, rel=1e-9, abs=1e-12)


def test_a_group_may_be_diverse_in_a_table_that_is_not() -> None:
    frame = pl.DataFrame(
        {"age": [1, 1, 1, 1, 1, 2, 3], "sex": list("ffmmmmm"), "ill": ["a", "b", "a", "a", "a", "a", "a"]}
    )
    table = sd.read(frame, sd.Schema.from_roles(quasi=["age", "sex"], sensitive=["ill"]))
    release = sd.generalize(table, sd.LDiversity(2, "entropy"), "full-domain", suppress=1.0)
    assert release.frame().rows() == [(1, "f", "a"), (1, "f", "b")]


@given(r=randoms, measure=measures)
@settings(max_examples=60)
def test_what_is_published_has_one_coding_for_each_column(r: Random, measure: Any) -> None:
    case = random_case(r, attributes=r.randint(1, 3))
    suppress = 0.0 if asks_for_closeness(case) else r.choice([0.0, 0.2, 1.0])
    method = sd.methods.FullDomain(suppress, measure)
    plan = method.learn(case.table, case.requirements)
    assert isinstance(plan, LevelsPlan)
    again = LevelsPlan.read(json.loads(json.dumps(plan.to_json())), plan.tables())
    for one in (plan, again):
        located = one.locate(case.table)
        assert (located.levels == [one.levels[name] for name in case.table.names("quasi")]).all()
        kept = located.block_of[by_row.tuple_of(case.table, located.counts)] >= 0
        assert (~kept).sum() <= suppress * len(case.table)
        frame = by_row.published(case.table, located)
        for name, level in one.levels.items():
            paths = one.trees[name].rows()
            labels = {path[level] for path in paths}
            assert {None if text is None else text_of(text) for text in frame[name]} <= labels
        rest = case.table.frame().filter(kept)
        assume(not any(column.is_null().all() for column in rest))  # such a table is not read
        check_blocks(frame, case.table, Rule(sd.read(rest, case.table.schema), case.requirements))


@given(r=randoms, suppress=st.sampled_from([0.1, 0.3, 1.0]), measure=measures)
@settings(max_examples=40)
def test_who_is_left_out_leaves_no_trace(r: Random, suppress: float, measure: Any) -> None:
    """What is published is what would be published of the others alone, if nobody might be left out."""
    world = World.random(r)
    asked = [
        sd.KAnonymity(r.randint(2, 5)),
        *r.choice([[], [sd.LDiversity(2)], [sd.LDiversity(2, "entropy")]]),
    ]
    try:
        release = sd.generalize(world.table(), asked, "full-domain", suppress=suppress, measure=measure)
    except sd.RequirementError:
        return
    kept = set(release.frame()["row"])
    rest = [row for row in world.rows if row["row"] in kept]
    assert_true_and_safe(world, rest, release)
    assume(all(any(row[name] is not None for row in rest) for name in world.quasi))  # else it cannot be read
    alone = sd.generalize(world.table(rest), asked, "full-domain", measure=measure)
    assert release.frame().equals(alone.frame())
    assert release.plan.levels == alone.plan.levels  # type: ignore[attr-defined]
    own, other = (one.certificate.model_dump(exclude={"input", "created"}) for one in (release, alone))
    assert own == other


@pytest.mark.usefixtures("reports")
def test_a_tuple_that_was_left_out_stays_left_out() -> None:
    """Without the age of 35 the others are halved elsewhere, and it would be under a label that is published."""
    table = sd.read(pl.DataFrame({"age": [26, 32, 35, 38, 47, 89, 89]}), sd.Schema.from_roles(quasi=["age"]))
    release = sd.generalize(table, sd.KAnonymity(2), "full-domain", suppress=0.2)
    assert release.plan.left_out.rows() == [("35",)]  # type: ignore[attr-defined]
    assert release.holder["records"] == {"read": 7, "published": 6, "suppressed": 1}
    assert release.holder["levels"] == {"age": 2}
    assert "Levels, of one coding for each column" in release.report
    assert sd.apply(release.plan, table, unseen="suppress").frame().equals(release.frame())
    with pytest.raises(sd.InputError, match="does not cover 1 of 7 records; the first has age 35"):
        sd.apply(release.plan, table)


# -- Choices that cost the same -----------------------------------------------------------------------


@pytest.mark.parametrize("measure", MEASURES)
def test_of_choices_that_cost_the_same_the_lowest_is_taken(measure: Any) -> None:
    frame = pl.DataFrame({"one": ["a"] * 6, "free": ["x", "y"] * 3, "other": ["c", "d"] * 3})
    schema = sd.Schema.from_roles(quasi=["one", "free", "other"], weights={"free": 0.0})
    plan = sd.methods.FullDomain(measure=measure).learn(sd.read(frame, schema), [sd.KAnonymity(3)])
    assert plan.levels == {"one": 0, "free": 0, "other": 0}  # type: ignore[attr-defined]


@given(r=randoms, measure=measures)
@settings(max_examples=40)
def test_neither_rows_nor_columns_in_another_order_change_the_levels(r: Random, measure: Any) -> None:
    case = random_case(r, attributes=r.randint(2, 4))
    columns = list(case.table.columns)
    r.shuffle(columns)
    other = sd.read(
        case.table.frame().select(columns).sample(fraction=1, shuffle=True, seed=1), case.table.schema
    )
    method = sd.methods.FullDomain(measure=measure)
    one, two = (method.learn(table, case.requirements) for table in (case.table, other))
    assert dict(one.levels) == dict(two.levels)  # type: ignore[attr-defined]


# -- What is ruled out --------------------------------------------------------------------------------


def test_little_is_counted_of_a_large_lattice() -> None:
    table = with_hierarchies(
        random_table(Random(5), 600, attributes=7, kinds=["number", "tree", "intervals"])
    )
    problem = Problem.of(table, [sd.KAnonymity(4)])
    prices = prices_of(table, problem, "distortion")
    for spare in (0, 30, 600):
        search = lattice._Search(problem, prices, spare)
        assert search.best() is not None
        assert len(search.known) < problem.trees.choices / 10


def test_what_is_divided_again_gives_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows that were not kept for want of room are made again."""
    table = with_hierarchies(random_table(Random(5), 200, attributes=4))
    problem = Problem.of(table, [sd.KAnonymity(4)])
    prices = prices_of(table, problem, "ncp")
    kept = best_levels(problem, prices, 20)
    monkeypatch.setattr(lattice, "MAX_KEPT", 0)
    assert best_levels(problem, prices, 20) == kept


# -- What is refused ----------------------------------------------------------------------------------


def test_closeness_is_refused_where_records_may_be_left_out() -> None:
    table = random_table(Random(1), 20)
    with pytest.raises(sd.ParameterError, match=r"t-closeness, .* compare blocks with the whole table"):
        sd.generalize(table, sd.TCloseness(0.5), "full-domain", suppress=0.1)


def test_what_no_choice_of_levels_meets_is_refused() -> None:
    frame = pl.DataFrame({"age": [1] * 8 + [2] * 8, "ill": (["a"] * 7 + ["b"]) * 2})
    table = sd.read(frame, sd.Schema.from_roles(quasi=["age"], sensitive=["ill"]))
    with pytest.raises(
        sd.RequirementError, match="Whatever the levels, more than 8 of 16 records are in groups that fail"
    ):
        sd.generalize(table, sd.LDiversity(2, "entropy"), "full-domain", suppress=0.5)


def test_too_many_choices_are_refused_at_once_or_after_some_time(monkeypatch: pytest.MonkeyPatch) -> None:
    many = pl.DataFrame({f"q{i}": [0, 1] for i in range(101)})
    with pytest.raises(sd.ParameterError, match="Of 101 quasi attributes there are too many choices"):
        sd.generalize(
            sd.read(many, sd.Schema.from_roles(quasi=many.columns)), sd.KAnonymity(2), "full-domain"
        )
    monkeypatch.setattr(lattice, "MAX_COUNTED", 1000)
    with pytest.raises(sd.ParameterError, match="is not found in a reasonable time"):
        sd.generalize(random_table(Random(1), 20), sd.KAnonymity(2), "full-domain")


def test_tuples_beyond_memory_are_refused_with_the_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    held_at_once(monkeypatch, 50)
    table = sd.read(people(600), schema(), engine="duckdb")
    with pytest.raises(
        sd.ParameterError, match=r"tuples of .* are too many to be held at once. Read it with more memory"
    ):
        sd.generalize(table, sd.KAnonymity(2), "full-domain")
