"""How the values of a table find their places in a plan."""

from __future__ import annotations

import json
from dataclasses import replace

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sudare as sd
from sudare.plans.trees import matched
from sudare.plans.tuples import TuplePlan
from sudare.tables.table import Source
from sudare.tables.text import text_of


def places(names: list[str | None], values: pl.Series | list, source: str = "frame") -> list[int]:
    table = sd.read(pl.DataFrame({"x": pl.Series(values)}))
    if source == "csv":
        table = replace(table, source=Source("people.csv", csv=sd.CsvFormat()))
    return matched(names, table, "x").tolist()


def test_values_are_looked_up_by_what_they_say_whatever_their_type() -> None:
    assert places(["20", "30"], [30, 20, 31]) == [0, 1, -1]
    assert places(["20", "30"], [30.0, 20.0]) == [0, 1]
    assert places(["20", "30"], ["30", "3e1"], "csv") == [1, -1]  # the text 30 is there itself
    assert places(["20", "30"], ["3e1"], "csv") == [1]
    assert places(["2024-01-31"], ["2024-01-31 00:00"], "csv") == [0]
    assert places(["20", "30"], ["3e1"]) == [-1]  # of a source with types, a text is only itself


def test_a_missing_value_has_its_own_name() -> None:
    assert places(["a", None], ["a", None]) == [0, 1]
    assert places(["a"], ["a", None]) == [0, -1]
    assert places(["a", None], ["a"]) == [0]
    assert places(["(missing)", "", None], ["", None]) == [1, 2]


def test_another_spelling_is_no_value_that_is_there_itself() -> None:
    assert places(["30.0", "40"], ["30", "30.0", "40"]) == [-1, 0, 1]


def test_leaves_of_one_text_go_by_their_order_if_there_are_as_many() -> None:
    assert places(["0", "0", "1"], [-0.0, 0.0, 1.0]) == [0, 1, 2]
    assert places(["0", "0", "1"], [0.0, 1.0]) == [-1, 2]  # nobody can tell which
    assert places(["0", "1"], [-0.0, 0.0, 1.0]) == [0, 0, 1]
    nanoseconds = pl.Series([0, 1, 2]).cast(pl.Datetime("ns"))
    texts = [text_of(value) for value in nanoseconds.to_list()]
    assert len(set(texts)) == 1
    assert places(texts, nanoseconds) == [0, 1, 2]


@given(st.lists(st.sampled_from(["30", "30.0", "3e1", "x", "", "1", "true", "007"]), unique=True, min_size=1))
def test_a_table_finds_itself(values: list[str]) -> None:
    values = sorted(values)
    for source in ("frame", "csv"):
        assert places([*values, None], [*values, None], source) == list(range(len(values) + 1))


@pytest.mark.parametrize("method", ["minimal", "mondrian", "full-domain"])
def test_values_that_the_hierarchy_takes_for_one_are_covered(method: str) -> None:
    """-0.0 and 0.0 are two values, but one leaf."""
    frame = pl.DataFrame({"x": [-0.0, 0.0, 1.0, 1.0] * 3})
    hierarchies = {"x": sd.Hierarchy.suppress(["0", "1"])}
    table = sd.read(frame, sd.Schema.from_roles(quasi=["x"], hierarchies=hierarchies))
    release = sd.generalize(table, sd.KAnonymity(2), method)
    assert release.plan.locate(table).covered.all()
    assert release.frame().height == 12


def test_who_is_left_out_is_not_found_again_by_another_spelling() -> None:
    frame = pl.DataFrame({"x": ["30", *["30.0"] * 5, *["40"] * 6]})
    table = sd.read(frame, sd.Schema.from_roles(quasi=["x"]))
    release = sd.generalize(table, sd.KAnonymity(2), suppress=0.2)
    assert release.frame()["x"].to_list() == ["30.0"] * 5 + ["40"] * 6
    assert isinstance(release.plan, TuplePlan)
    again = TuplePlan.read(json.loads(json.dumps(release.plan.to_json())), release.plan.tables())
    assert again.locate(table).counts.weights[~again.locate(table).covered].tolist() == [1]
