"""Which sets of columns tell people apart, counted row by row and pair by pair."""

from __future__ import annotations

from collections import Counter
from itertools import combinations
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sudare as sd
from sudare.privacy import column_sets as counting
from sudare.privacy import minimal_sets as finding
from sudare.privacy.column_sets import MAX_SETS, column_sets, largest
from sudare.privacy.minimal_sets import minimal_sets
from sudare.tables.counts import count

NAMES = ["age", "sex", "region", "education"]


def table(frame: pl.DataFrame, engine: str) -> sd.Table:
    return sd.read(frame, sd.Schema.from_roles(quasi=NAMES, sensitive=["diagnosis"]), engine=engine)  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def people() -> pl.DataFrame:
    return sd.datasets.health_survey(250).select(*NAMES, "diagnosis")


def plain(people: pl.DataFrame, most: int) -> dict[tuple[str, ...], tuple[int, float]]:
    """Count people who are alone, and pairs that differ, for every set of columns."""
    found = {}
    for size in range(1, most + 1):
        for names in combinations(NAMES, size):
            rows = people.select(names).rows()
            alone = sum(rows.count(row) == 1 for row in rows)
            pairs = [a != b for a, b in combinations(rows, 2)]
            found[names] = alone, sum(pairs) / len(pairs)
    return found


@pytest.mark.parametrize("engine", ["memory", "duckdb"])
@pytest.mark.parametrize("most", [1, 3, 4])
def test_minimal_sets_are_found(people: pl.DataFrame, engine: str, most: int) -> None:
    found = column_sets(table(people, engine), most)
    minimal, expected = brute_force(people.select(NAMES), most), plain(people, most)
    assert {one.names for one in found.sets} == {
        names for names in expected if len(names) == 1 or names in minimal
    }
    for one in found.sets:
        assert (one.alone, one.separated) == pytest.approx(expected[one.names]), one.names
        assert one.by_all == minimal[one.names]
    assert (found.size, found.limit) == (most, None)


def brute_force(people: pl.DataFrame, most: int) -> Counter[tuple[str, ...]]:
    """Count, person by person, by which sets they are alone and by no part of these."""
    rows, found = people.rows(named=True), Counter[tuple[str, ...]]()
    for own in rows:
        minimal: list[tuple[str, ...]] = []
        for size in range(1, most + 1):
            for names in combinations(people.columns, size):
                if any(set(part) <= set(names) for part in minimal):
                    continue
                if sum(all(other[name] == own[name] for name in names) for other in rows) == 1:
                    minimal.append(names)
        found.update(minimal)
    return found


@given(
    st.integers(1, 6).flatmap(
        lambda columns: st.lists(
            st.lists(st.integers(0, 3), min_size=columns, max_size=columns), min_size=1, max_size=14
        )
    ),
    st.integers(1, 6),
)
@settings(max_examples=200)
def test_people_are_followed_as_they_are_one_by_one(rows: list[list[int]], most: int) -> None:
    names = [f"c{place}" for place in range(len(rows[0]))]
    frame = pl.DataFrame(rows, schema=names, orient="row")
    counts = count({name: frame[name].to_numpy() for name in names}, sizes=[4] * len(names))
    found = minimal_sets(counts, most)
    assert found.alone == brute_force(frame, most)
    if found.exhausted:
        assert brute_force(frame, len(names)) == found.alone
    else:
        assert found.size == most < len(names)


def test_what_takes_too_long_is_not_looked_at_and_that_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    frame = pl.DataFrame(
        np.random.default_rng(1).integers(0, 2, (300, 12)), schema=[f"c{i}" for i in range(12)]
    )
    whole = sd.read(frame, sd.Schema.from_roles(quasi=frame.columns))
    every = column_sets(whole, 12)
    assert (every.limit, every.size) == (None, 12)
    assert max(len(one.names) for one in every.sets) > 3
    monkeypatch.setattr(finding, "MAX_WORK", 600_000)
    few = column_sets(whole, 12)
    assert 1 <= few.size < 12
    assert (
        few.limit == f"Sets of more than {few.size} columns were not looked at: there are too many of them."
    )
    smaller = [one for one in every.sets if len(one.names) <= few.size]
    assert few.sets == sorted(smaller, key=lambda one: every.sets.index(one))


@pytest.mark.parametrize("engine", ["memory", "duckdb"])
@pytest.mark.parametrize("most", [1, 3, 4])
def test_of_too_many_people_sets_are_counted_as_rows_are(
    people: pl.DataFrame, engine: str, most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(counting, "MAX_TUPLES", 0)
    seen = column_sets(table(people, engine), most)
    found = {one.names: (one.alone, one.separated) for one in seen.sets}
    expected = plain(people, min(most, 3))
    new = {
        names
        for names, (alone, _) in expected.items()
        if all(expected[part][0] < alone for part in combinations(names, len(names) - 1) if part)
    }
    assert set(found) == new
    for names, own in found.items():
        assert own == pytest.approx(expected[names]), names
    assert {one.by_all for one in seen.sets} == {None}
    assert (seen.limit is None) == (most <= 3)


def test_what_tells_most_stands_first(people: pl.DataFrame) -> None:
    alone = [one.alone for one in column_sets(table(people, "memory"), 4).sets]
    assert alone == sorted(alone, reverse=True)


def test_of_each_size_those_are_shown_that_no_part_of_them_replaces(people: pl.DataFrame) -> None:
    found = column_sets(table(people, "memory"), 4)
    shown = found.of_size(2)
    assert [len(one.names) for one in shown] == [1, 1, 2, 2, 3, 3, 4]
    for size in (1, 2, 3, 4):
        own = sorted((one.by_all or 0 for one in found.sets if len(one.names) == size), reverse=True)
        assert [one.by_all for one in shown if len(one.names) == size] == own[:2]


def test_a_table_without_rows_or_quasi_columns_has_nobody_alone() -> None:
    none = sd.read(pl.DataFrame({"a": [1, 2]}), sd.Schema.from_roles(other=["a"]))
    assert column_sets(none).sets == []
    one = sd.read(pl.DataFrame({"a": [1]}), sd.Schema.from_roles(quasi=["a"]))
    assert [(own.alone, own.separated) for own in column_sets(one).sets] == [(1, 0.0)]


def test_of_many_columns_fewer_are_looked_at_together() -> None:
    for columns in (3, 25, 26, 77, 78, 3000):
        size = largest(columns, 3)
        sets = sum(1 for own in range(1, size + 1) for _ in combinations(range(columns), own))
        assert size == 1 or sets <= MAX_SETS
    assert (largest(25, 3), largest(78, 3)) == (3, 1)


def test_a_wrong_size_is_refused(people: pl.DataFrame) -> None:
    with pytest.raises(sd.ParameterError, match="1 or more"):
        column_sets(table(people, "memory"), 0)


def test_the_command_counts_them(people: pl.DataFrame, tmp_path: Path) -> None:
    from typer.testing import CliRunner

    from sudare.cli.app import app

    people.write_csv(tmp_path / "people.csv")
    (tmp_path / "sudare.toml").write_text(
        sd.Schema.from_roles(quasi=NAMES, sensitive=["diagnosis"]).to_toml(), encoding="utf-8"
    )
    asked = ["check", str(tmp_path / "people.csv"), "-s", str(tmp_path / "sudare.toml"), "--sets", "2"]
    shown = CliRunner().invoke(app, asked)
    assert shown.exit_code == 0, shown.output
    most = column_sets(table(people, "memory"), 2).sets[0]
    assert f"{most.alone:,}" in shown.output
    told = CliRunner().invoke(app, [*asked, "--json"])
    assert f'"alone": {most.alone}' in told.output
