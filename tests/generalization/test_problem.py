from __future__ import annotations

import datetime as dt
import itertools
from collections import Counter
from random import Random
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sudare as sd
from sudare.generalization.minimal import learn_minimal
from sudare.generalization.mondrian import learn_mondrian
from sudare.generalization.problem import Problem, hierarchy_of
from sudare.privacy.l_diversity import LDiversity
from tests import by_row
from tests.generalization.cases import random_table, randoms
from tests.generalization.plain import Rule, check, frame_of

numbers = st.lists(st.integers(-40, 40), min_size=1, max_size=40)
values = st.one_of(
    numbers,
    numbers.map(lambda whole: [n / 8 for n in whole]),
    numbers.map(lambda days: [dt.date(2020, 2, 27) + dt.timedelta(days=n) for n in days]),
    numbers.map(lambda minutes: [dt.datetime(2020, 1, 1, 12) + dt.timedelta(minutes=n) for n in minutes]),
)


def quasi_table(values: list[Any], **options: Any) -> sd.Table:
    return sd.read(pl.DataFrame({"q": values}), sd.Schema.from_roles(quasi=["q"], **options))


def halves(table: sd.Table) -> list[tuple[list[int], list[int]]]:
    """Of every cut: the records of the values left and right of it, in the order of the values."""
    h, records = hierarchy_of(table, "q"), Counter(by_row.codes(table, "q").tolist())
    cuts = []
    for level in range(1, h.height + 1):
        for node in set(h.codes[level].tolist()):
            inside = [leaf for leaf in range(len(table["q"].values)) if h.codes[level, leaf] == node]
            below = h.codes[level - 1, inside]
            children = list(dict.fromkeys(below.tolist()))
            assert len(children) <= 2
            if len(children) == 2:
                left, right = (
                    [records[leaf] for leaf, child in zip(inside, below, strict=True) if child == wanted]
                    for wanted in children
                )
                cuts.append((left, right))
    return cuts


@given(values=values, missing=st.booleans())
def test_numbers_and_dates_are_halved(values: list[Any], missing: bool) -> None:
    h = hierarchy_of(quasi_table([*values, None] if missing else values), "q")
    ordered = sorted(set(values))
    texts = [v.isoformat() if isinstance(v, dt.date) else str(v) for v in ordered]
    assert h.leaves == (*texts, None) if missing else h.leaves == tuple(texts)
    assert h.labels[-1] == ("*",)
    place = {text: i for i, text in enumerate(texts)}
    for leaf, path in enumerate(h.rows()[: len(texts)]):
        spans = []
        for label in path[:-1]:
            assert label is not None
            low, _, high = label.strip("[]").partition(", ")
            spans.append(range(place[low], place[high or low] + 1))
        assert all(leaf in span for span in spans)  # every label contains the value
        assert all(set(below) <= set(above) for below, above in itertools.pairwise(spans))
        assert spans[0] == range(leaf, leaf + 1)
    if missing:  # apart from all others up to the root
        assert h.rows()[-1] == (*[None] * h.height, "*")
        assert (h.meet(np.arange(len(texts)), len(texts)) == h.height).all()


@given(values=values)
def test_halves_differ_by_the_value_at_the_cut_at_most(values: list[Any]) -> None:
    for left, right in halves(quasi_table(values)):
        beside = left[-1] if sum(left) > sum(right) else right[0]
        assert 2 * (max(sum(left), sum(right)) - beside) <= sum(left) + sum(right)


@given(values=values)
def test_no_neighbouring_cut_is_more_even(values: list[Any]) -> None:
    for left, right in halves(quasi_table(values)):
        off = abs(sum(left) - sum(right))
        if len(left) > 1:
            assert off <= abs(sum(left) - sum(right) - 2 * left[-1])
        if len(right) > 1:
            assert off <= abs(sum(left) - sum(right) + 2 * right[0])


def test_equal_numbers_make_a_balanced_tree() -> None:
    h = hierarchy_of(quasi_table([*range(16)] * 3), "q")
    assert h.height == 4
    assert h.labels[2] == ("[0, 3]", "[4, 7]", "[8, 11]", "[12, 15]")
    assert h.labels[3] == ("[0, 7]", "[8, 15]")


@pytest.mark.parametrize(
    ("values", "rows"),
    [
        ([7, 7], [("7", "*")]),
        ([7, 3, 7], [("3", "*"), ("7", "*")]),
        ([7, None], [("7", "*"), (None, "*")]),
        ([1.5, 0.5, None], [("0.5", "*"), ("1.5", "*"), (None, "*")]),
        (["b", "a", "b", "c"], [("a", "*"), ("b", "*"), ("c", "*")]),
        ([True, False], [("false", "*"), ("true", "*")]),
        ([1, 2, 4], [("1", "[1, 2]", "*"), ("2", "[1, 2]", "*"), ("4", "4", "*")]),
    ],
)
def test_few_values(values: list[Any], rows: list[tuple[str | None, ...]]) -> None:
    assert hierarchy_of(quasi_table(values), "q").rows() == rows


def test_a_given_hierarchy_is_taken_as_it_is() -> None:
    given_one = sd.Hierarchy.intervals(range(30), width=10)
    table = quasi_table([3, 14, 15], hierarchies={"q": given_one})
    assert hierarchy_of(table, "q") is table["q"].hierarchy


def test_labels_contain_the_value_though_the_domain_is_declared_in_another_order() -> None:
    table = quasi_table([1, 3, 5, 9], domains={"q": (5, 1, 9, 3)})
    for value, path in zip(table["q"].values.to_list(), hierarchy_of(table, "q").rows(), strict=True):
        for label in path[:-1]:
            low, _, high = str(label).strip("[]").partition(", ")
            assert int(low) <= value <= int(high or low), f"{value} is published as {label}"


def test_values_of_the_domain_that_no_record_has_make_no_deep_tree() -> None:
    table = quasi_table([20, 30, 40, 110], domains={"q": range(121)})
    assert hierarchy_of(table, "q").height <= 14


@pytest.mark.parametrize("learn", [learn_mondrian, learn_minimal])
def test_a_wide_declared_domain_is_no_way_out(learn: Any) -> None:
    table = quasi_table([20, 30, 40, 310], domains={"q": range(321)})
    recoding = learn(Problem.of(table, [sd.KAnonymity(4)]))
    assert len(set(frame_of(table, recoding)["q"].to_list())) == 1
    assert recoding.distortion() == 1


@given(r=randoms)
@settings(max_examples=50)
def test_units_are_the_distinct_rows(r: Random) -> None:
    table = random_table(r, r.randint(1, 20))
    for requirement in (sd.KAnonymity(1), LDiversity(1)):
        problem = Problem.of(table, [requirement])
        names = [*problem.names, "illness"] if requirement.needs_sensitive else problem.names
        rows = list(zip(*(by_row.codes(table, name).tolist() for name in names), strict=True))
        last = (*problem.units.T, problem.sensitive) if requirement.needs_sensitive else problem.units.T
        units = list(zip(*(column.tolist() for column in last), strict=True))
        assert dict(zip(units, problem.weights.tolist(), strict=True)) == Counter(rows)
        if not requirement.needs_sensitive:
            assert problem.values == 1
            assert not problem.sensitive.any()


@given(r=randoms)
@settings(max_examples=50)
def test_trees_hold_the_hierarchies(r: Random) -> None:
    table = random_table(r, r.randint(1, 12))
    problem = Problem.of(table, [sd.KAnonymity(1)])
    trees = problem.trees
    weights = [table.schema[name].weight for name in problem.names]
    for a, h in enumerate(problem.hierarchies):
        assert trees.step[a] * h.height == pytest.approx(weights[a] / sum(weights))
        for level in range(h.height + 1):
            start = trees.offset[a, level]
            assert trees.nodes[start : start + len(h.leaves)].tolist() == h.codes[level].tolist()
            assert trees.size[a, level] == len(h.labels[level])
    assert float(trees.step @ trees.height) == pytest.approx(1)


@pytest.mark.parametrize("weights", [{"a": 0.0}, {"a": 0.0, "b": 0.0}])
@pytest.mark.parametrize("learn", [learn_mondrian, learn_minimal])
def test_attributes_without_weight_still_count_as_quasi(learn: Any, weights: dict[str, float]) -> None:
    rng = np.random.default_rng(0)
    frame = pl.DataFrame({"a": rng.integers(0, 6, 30), "b": rng.integers(0, 6, 30)})
    table = sd.read(frame, sd.Schema.from_roles(quasi=["a", "b"], weights=weights))
    recoding = learn(Problem.of(table, [sd.KAnonymity(4)]))
    sizes = Counter(frame_of(table, recoding).select("a", "b").rows())
    assert min(sizes.values()) >= 4
    if len(weights) == 2:
        assert recoding.distortion() == 0
    else:
        check(table, Rule(table, [sd.KAnonymity(4)]), recoding)
