"""Which sets of columns tell people apart, counted row by row and pair by pair."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path

import polars as pl
import pytest

import sudare as sd
from sudare.privacy import column_sets as counting
from sudare.privacy.column_sets import MAX_SETS, column_sets, largest

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
@pytest.mark.parametrize("most", [1, 3])
@pytest.mark.parametrize("kept", [10**6, 0])
def test_sets_are_counted_as_rows_are(
    people: pl.DataFrame, engine: str, most: int, kept: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(counting, "MAX_TUPLES", kept)
    found = {one.names: (one.alone, one.separated) for one in column_sets(table(people, engine), most)}
    expected = plain(people, most)
    new = {
        names
        for names, (alone, _) in expected.items()
        if all(expected[part][0] < alone for part in combinations(names, len(names) - 1) if part)
    }
    assert set(found) == new
    for names, own in found.items():
        assert own == pytest.approx(expected[names]), names


def test_what_tells_most_stands_first(people: pl.DataFrame) -> None:
    alone = [one.alone for one in column_sets(table(people, "memory"))]
    assert alone == sorted(alone, reverse=True)


def test_a_table_without_rows_or_quasi_columns_has_nobody_alone() -> None:
    none = sd.read(pl.DataFrame({"a": [1, 2]}), sd.Schema.from_roles(other=["a"]))
    assert column_sets(none) == []
    one = sd.read(pl.DataFrame({"a": [1]}), sd.Schema.from_roles(quasi=["a"]))
    assert [(own.alone, own.separated) for own in column_sets(one)] == [(1, 0.0)]


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
    most = column_sets(table(people, "memory"), 2)[0]
    assert f"{most.alone:,}" in shown.output
    told = CliRunner().invoke(app, [*asked, "--json"])
    assert f'"alone": {most.alone}' in told.output
