"""Nothing small is left to save: no block splits into cheaper ones, row by row; and what that means for plans and engines."""

from __future__ import annotations

import itertools
import json
import math
from collections import Counter
from pathlib import Path
from random import Random

import numpy as np
import polars as pl
import pytest

import sudare as sd
from sudare.generalization import minimal
from sudare.generalization.efforts import SEARCHES, Effort
from sudare.generalization.minimal import learn_minimal
from sudare.generalization.mondrian import learn_mondrian
from sudare.generalization.parts import parts_of
from sudare.generalization.problem import Problem
from sudare.generalization.recoding import Recoding
from sudare.plans.tuples import TuplePlan
from sudare.privacy.requirement import BlockRequirement
from tests.generalization.cases import random_table, with_limits
from tests.generalization.plain import Costs, Rule, check, least_cost
from tests.generalization.test_minimal import rows_as_units

ASKED: dict[str, BlockRequirement] = {
    "2-anonymity": sd.KAnonymity(2),
    "3-anonymity": sd.KAnonymity(3),
    "distinct": sd.LDiversity(2),
    "entropy": sd.LDiversity(2, "entropy"),
    "recursive": sd.LDiversity(2, "recursive", c=2),
    "closeness": sd.TCloseness(0.4),
}


def seen_blocks(recoding: Recoding) -> list[list[int]]:
    """The rows of each block that receivers see: those of several are together if they have the same labels."""
    problem = recoding.problem
    nodes = [
        [
            (level, tree.codes[level, leaf])
            for level, tree, leaf in zip(levels, problem.hierarchies, unit, strict=True)
        ]
        for levels, unit in zip(
            recoding.levels[recoding.block_of].tolist(), problem.units.tolist(), strict=True
        )
    ]
    blocks: dict[tuple[tuple[int, int], ...], list[int]] = {}
    for row, unit in enumerate(np.repeat(np.arange(len(nodes)), problem.weights).tolist()):
        blocks.setdefault(tuple(nodes[unit]), []).append(row)
    return list(blocks.values())


def splits(recoding: Recoding, rule: Rule) -> bool:
    """Whether the rows of a block can be divided in two that hold and cost less together: all ways are tried.

    Blocks that hold do so together, too. So if several parts cost less, one of them and all others together do.
    """
    costs = Costs(rows_as_units(recoding.problem), rule)
    for first, *others in seen_blocks(recoding):
        whole = frozenset([first, *others])
        for count in range(len(others)):
            for chosen in itertools.combinations(others, count):
                part = frozenset([first, *chosen])
                if costs.cost(part) + costs.cost(whole - part) < costs.cost(whole) - 1e-9 and (
                    costs.meets(part) and costs.meets(whole - part)
                ):
                    return True
    return False


@pytest.mark.parametrize("tables", [6, pytest.param(500, marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", ASKED)
def test_no_block_splits_and_little_is_lost(name: str, tables: int) -> None:
    """By default, with tables of 6 to 12 rows; up to 9, all partitions are tried for the least possible."""
    seen, over, least = 0, 0.0, 0.0
    for seed in itertools.count():
        r = Random(seed)
        rows = r.randint(6, 12)
        table = random_table(r, rows, attributes=r.randint(2, 3))
        rule = Rule(table, [ASKED[name]])
        if not rule.possible:
            continue
        problem = Problem.of(table, [ASKED[name]])
        recoding = learn_minimal(problem)
        check(table, rule, recoding)
        assert not splits(recoding, rule), seed
        if rows <= 9:
            over += recoding.distortion()
            least += least_cost(Costs(rows_as_units(problem), rule), rows) / rows
        seen += 1
        if seen == tables:
            break
    assert over <= least * 1.005 + 1e-9


@pytest.mark.parametrize("asked", [sd.KAnonymity(3), sd.KAnonymity(20), sd.LDiversity(3)], ids=str)
def test_no_larger_block_has_rows_to_split_off(asked: BlockRequirement) -> None:
    """A block can be split for k if and only if it has 2k rows of which k are alike in one attribute more."""
    table = random_table(Random(3), 400, attributes=3, kinds=["number", "tree", "intervals"])
    recoding = learn_minimal(Problem.of(table, [asked]))
    problem, rule = recoding.problem, Rule(table, [asked])
    for b, levels in enumerate(recoding.levels.tolist()):
        inside = recoding.block_of == b
        for a, level in enumerate(levels):
            if level == 0:
                continue
            nodes = problem.hierarchies[a].codes[level - 1, problem.units[inside, a]]
            for node in np.unique(nodes):
                part = nodes == node
                weights, values = problem.weights[inside], problem.sensitive[inside]
                if isinstance(asked, sd.KAnonymity):
                    assert weights[part].sum() < asked.k or weights.sum() < 2 * asked.k
                else:
                    both = [np.unique(values[part]), np.unique(values[~part])]
                    assert min(map(len, both)) < asked.l or not rule.possible


# -- Equal rows go different ways ------------------------------------------------------------------

SCHEMA = sd.Schema.from_roles(
    identifier=["name"], quasi=["town"], sensitive=["illness"], other=["day"], domains={"town": list("abcd")}
)
PEOPLE = pl.DataFrame(
    {
        "name": [f"p{i}" for i in range(8)],
        "town": list("aaabcccc"),
        "illness": list("xxxyxyxy"),
        "day": [5, 1, 3, 9, 2, 2, 7, 7],
    }
)


def dealt() -> sd.Release:
    """Three people of one town: two stay with each other, and one goes with the fourth, who would be alone."""
    return sd.generalize(sd.read(PEOPLE, SCHEMA), sd.KAnonymity(2))


def test_equal_rows_are_dealt_in_the_order_of_what_else_is_published() -> None:
    frame = dealt().frame()
    assert frame["town"].to_list().count("*") == 2
    assert frame.filter(pl.col("town") == "a").rows() == [("a", "x", 3), ("a", "x", 5)]
    assert sorted(frame.filter(pl.col("town") == "*").select("illness", "day").rows()) == [("x", 1), ("y", 9)]


@pytest.mark.parametrize("engine", ["duckdb", pytest.param("spark", marks=pytest.mark.slow)])
def test_every_engine_deals_alike(engine: str, request: pytest.FixtureRequest, tmp_path: Path) -> None:
    session = request.getfixturevalue("spark") if engine == "spark" else engine
    plan, expected = dealt().plan, dealt().frame()
    table = sd.read(PEOPLE.reverse(), SCHEMA, engine=session)
    assert sd.generalize(table, sd.KAnonymity(2)).frame().equals(expected)
    plan.save(tmp_path / "plan")
    again = sd.apply(sd.Plan.open(tmp_path / "plan"), table)
    assert again.frame().equals(expected)
    assert sd.verify(again.write(tmp_path / "out")).holds


def test_other_rows_are_dealt_in_proportion() -> None:
    plan = dealt().plan
    for times, fewer, expected in ((1, 0, (2, 2)), (3, 0, (6, 6)), (1, 1, None)):
        table = sd.read(pl.concat([PEOPLE[fewer:]] * times), SCHEMA)
        if expected is None:  # none goes with the fourth, who would be alone
            with pytest.raises(sd.RequirementError):
                sd.apply(plan, table)
            continue
        towns = sd.apply(plan, table).frame()["town"].to_list()
        assert (towns.count("a"), towns.count("*")) == expected


def test_equal_rows_stay_together_if_that_is_asked_for() -> None:
    release = sd.generalize(sd.read(PEOPLE, SCHEMA), sd.KAnonymity(2), sd.methods.Minimal(deal=False))
    assert isinstance(release.plan, TuplePlan)
    assert not release.plan.records.any()
    assert (release.holder["dealt"], dealt().holder["dealt"]) == (0, 3)


@pytest.mark.parametrize("column", ["illness", "day"])
def test_columns_are_counted_as_they_were_dealt(column: str) -> None:
    """The first column that is passed on decides first who goes where; a declared order of its values does not."""
    schema = sd.Schema.from_roles(
        identifier=["name"], quasi=["town"], sensitive=["illness"], other=["day"],
        domains={"town": list("abcd"), "illness": ["y", "x"]},
    )  # fmt: skip
    frame = PEOPLE.with_columns(illness=pl.Series(list("yxxyxyxy")))
    release = sd.generalize(sd.read(frame, schema), sd.KAnonymity(2))
    located = release.plan.locate(sd.read(frame, schema)).at_once("")  # type: ignore[attr-defined]
    assert located.dealt
    own = located.with_column(column)
    values = own.table[column].decode(own.counts.column(column)).to_list()
    blocks: dict[int, Counter[object]] = {}
    for block, value, weight in zip(own.block_of.tolist(), values, own.counts.weights.tolist(), strict=True):
        blocks.setdefault(block, Counter())[value] += weight
    published = [Counter(part[column].to_list()) for _, part in release.frame().group_by("town")]
    assert sorted(sorted(one.items()) for one in blocks.values()) == sorted(
        sorted(one.items()) for one in published
    )


@pytest.mark.parametrize(
    "records",
    [[1, 0, 0, 0], [0, 0, 0, 0], [1, 2, 0, 3], [1, 2, 1, 0]],
    ids=["one", "none", "last", "alone"],
)
def test_a_plan_that_deals_otherwise_is_refused(records: list[int]) -> None:
    plan = dealt().plan
    assert isinstance(plan, TuplePlan)
    assert plan.records.tolist() == [1, 2, 0, 0]
    tables = plan.tables()
    tables["tuples"] = tables["tuples"].with_columns(records=pl.Series(records))
    with pytest.raises(ValueError, match="dealt"):
        TuplePlan.read(json.loads(json.dumps(plan.to_json())), tables)


# -- Effort, and where it starts -------------------------------------------------------------------


@pytest.fixture(scope="module")
def many() -> sd.Table:
    return random_table(Random(8), 300, attributes=4, kinds=["number", "tree", "intervals", "date"])


def test_more_effort_never_costs_more(many: sd.Table) -> None:
    problem = Problem.of(many, [sd.KAnonymity(4)])
    quick, normal, thorough = (learn_minimal(problem, effort=effort) for effort in SEARCHES)  # type: ignore[arg-type]
    assert quick.distortion() > normal.distortion() >= thorough.distortion() - 1e-12
    assert learn_minimal(problem, effort=0.01).distortion() <= quick.distortion()
    for recoding in (quick, normal, thorough):
        check(many, Rule(many, [sd.KAnonymity(4)]), recoding)


@pytest.mark.parametrize("method", ["minimal", "mondrian"])
def test_an_earlier_plan_is_where_it_starts(method: str, many: sd.Table) -> None:
    asked = [sd.KAnonymity(4), sd.LDiversity(2)]
    first = sd.generalize(
        many, sd.KAnonymity(4), method
    )  # of another promise: some of its blocks do not hold now
    same = sd.generalize(many, asked, method)
    again = sd.generalize(many, asked, effort="quick", start=first.plan)
    assert sd.verify(again.frame(), asked, many.schema).holds
    better = sd.generalize(many, asked, start=same.plan)
    assert better.holder["utility"]["distortion"] <= same.holder["utility"]["distortion"] + 1e-12


def test_what_is_no_effort_or_no_start_is_refused(many: sd.Table) -> None:
    for effort in ("much", 0, -1, True):
        with pytest.raises(sd.ParameterError, match="'effort' parameter of generalize"):
            sd.generalize(many, sd.KAnonymity(2), effort=effort)  # type: ignore[arg-type]
    with pytest.raises(
        sd.ParameterError, match="'effort' parameter of generalize is for the method 'minimal'"
    ):
        sd.generalize(many, sd.KAnonymity(2), "mondrian", effort="quick")
    with pytest.raises(sd.ParameterError, match="'start' parameter of generalize must be a plan"):
        sd.generalize(many, sd.KAnonymity(2), start="plan")  # type: ignore[arg-type]


# -- Large tables ----------------------------------------------------------------------------------


def test_a_large_table_is_learned_region_by_region(monkeypatch: pytest.MonkeyPatch) -> None:
    with_limits(monkeypatch, MAX_CHOICES=0, MAX_PAIRS=10_000, MAX_UNITS=60)
    table = random_table(Random(5), 350, attributes=4, kinds=["number", "tree", "intervals", "date"])
    for asked in ([sd.KAnonymity(4)], [sd.LDiversity(2)]):
        problem = Problem.of(table, asked)
        parts = parts_of(problem, None, minimal.MAX_UNITS)
        assert len(parts) > 3
        assert sorted(np.concatenate(parts).tolist()) == list(range(len(problem.units)))
        recoding = learn_minimal(problem)
        check(table, Rule(table, asked), recoding)
        assert recoding.distortion() < 0.9 * learn_mondrian(problem).distortion()


def towns(clusters: dict[str, int], outliers: dict[str, int]) -> sd.Table:
    """Clusters of 25 equal people in each town, and people who are like nobody."""
    alike = [(town, f"{town}{i}", f"{town}{i}") for town, count in clusters.items() for i in range(count)]
    alone = [(town, f"{town}-{i}", f"-{i}-{town}") for town, count in outliers.items() for i in range(count)]
    frame = pl.DataFrame([*alike * 25, *alone], schema=["town", "street", "job"], orient="row")
    return sd.read(frame, sd.Schema.from_roles(quasi=frame.columns))


@pytest.mark.parametrize("effort", ["quick", "normal"])
def test_parts_leave_out_where_it_saves(monkeypatch: pytest.MonkeyPatch, effort: Effort) -> None:
    """The people who are like nobody live in one town, and are more than its share of those who may be left out."""
    with_limits(monkeypatch, MAX_CHOICES=0, MAX_PAIRS=100, MAX_UNITS=22)
    table = towns({"a": 20, "b": 4}, {"b": 10})
    problem = Problem.of(table, [sd.KAnonymity(20)])
    assert len(parts_of(problem, None, minimal.MAX_UNITS)) > 1
    assert learn_minimal(problem, effort=effort).distortion() > 0.03
    recoding = learn_minimal(problem, suppress=0.02, effort=effort)
    assert recoding.left_out == 10
    assert recoding.distortion() == pytest.approx(10 / len(table))
    check(table, Rule(table, [sd.KAnonymity(20)]), recoding, spare=math.floor(0.02 * len(table)))


@pytest.mark.parametrize("effort", ["quick", "normal"])
def test_parts_share_what_may_be_left_out(monkeypatch: pytest.MonkeyPatch, effort: Effort) -> None:
    with_limits(monkeypatch, MAX_CHOICES=0, MAX_PAIRS=100, MAX_UNITS=22)
    table = towns({"a": 12, "b": 12}, {"a": 4, "b": 8})
    problem, asked = Problem.of(table, [sd.KAnonymity(20)]), [sd.KAnonymity(20)]
    for share in (0.005, 0.01, 0.015, 0.02):
        recoding = learn_minimal(problem, suppress=share, effort=effort)
        check(table, Rule(table, asked), recoding, spare=math.floor(share * len(table)))
        assert recoding.distortion() <= learn_minimal(problem, effort=effort).distortion() + 1e-12
    assert recoding.left_out == 12  # all may be at last


@pytest.mark.parametrize("name", [name for name in ASKED if name != "closeness"])
@pytest.mark.parametrize("seeds", [5, pytest.param(30, marks=pytest.mark.slow)])
def test_leaving_out_never_costs_more(name: str, seeds: int) -> None:
    for seed in range(seeds):
        table = random_table(Random(seed), 60, attributes=3)
        if Rule(table, [ASKED[name]]).possible:
            problem = Problem.of(table, [ASKED[name]])
            assert (
                learn_minimal(problem, suppress=0.1).distortion()
                <= learn_minimal(problem).distortion() + 1e-12
            )


def test_blocks_of_a_start_stay_in_one_part() -> None:
    table = random_table(Random(5), 300, attributes=4, kinds=["number", "tree", "intervals", "date"])
    problem = Problem.of(table, [sd.KAnonymity(4)])
    start = np.arange(len(problem.units)) % 40 - 1  # scattered over all parts, and some in no block
    parts = parts_of(problem, start, 60)
    assert len(parts) > 1
    assert sorted(np.concatenate(parts).tolist()) == list(range(len(problem.units)))
    homes = [set(start[part].tolist()) - {-1} for part in parts]
    assert all(homes)
    assert sum(map(len, homes)) == 39
    one = parts_of(problem, np.zeros(len(problem.units), dtype=np.int64), 60)
    assert len(one) == 1
    none = parts_of(problem, np.full(len(problem.units), -1), 60)
    assert len(none) == len(parts_of(problem, None, 60))
