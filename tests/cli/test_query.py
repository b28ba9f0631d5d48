"""`sudare query`, and `sudare publish --to`."""

from __future__ import annotations

import json
from pathlib import Path

import duckdb
import polars as pl
import pytest

from sudare.pview import files
from sudare.pview.domain import Axis
from sudare.pview.pview import PView
from tests.cli.conftest import Run
from tests.conftest import PASSWORD
from tests.pview.exact import Exact, points_pview


@pytest.fixture
def pview(run: Run, monkeypatch: pytest.MonkeyPatch) -> PView:
    monkeypatch.setitem(files.KINDS, "exact", Exact)
    axes = (
        Axis("age", pl.Int64(), None, 18, 30, 12, missing=True),
        Axis("sex", pl.String(), ("Female", "Male")),
        Axis("born", pl.Date(), None, 0, 3, 3),
    )
    ages = [*([20] * 1200), *([25] * 300), None]
    rows = pl.DataFrame({"age": ages, "sex": ["Female", *["Male"] * 1500], "born": [1] * 1501})
    pview = points_pview(axes, rows.with_columns(pl.col("born").cast(pl.Date)), error=10)
    pview.save("pview")
    return pview


def test_query_prints_a_table(run: Run, pview: PView) -> None:
    done = run(
        "query",
        "pview",
        "SELECT age, COUNT(*) AS people FROM view WHERE age = 20 OR age IS NULL GROUP BY age",
    )
    assert done.code == 0, done.err
    assert "people" in done.out
    assert "1,200" in done.out
    assert "1,180 to 1,220" in done.out


def test_query_prints_no_more_than_a_person_reads(run: Run, pview: PView) -> None:
    done = run("query", "pview", "SELECT age, sex, born, COUNT(*) FROM view GROUP BY age, sex, born")
    assert done.code == 0, done.err
    assert "use --json, or LIMIT" not in done.out
    pview.save("pview", force=True)
    axes = tuple(Axis(name, pl.Int64(), tuple(range(11))) for name in "xy")
    points_pview(axes, pl.DataFrame({"x": [1], "y": [1]})).save("large")
    assert (
        "21 more: use --json, or LIMIT"
        in run("query", "large", "SELECT COUNT(*) FROM view GROUP BY x, y").out
    )


def test_query_json(run: Run, pview: PView) -> None:
    done = run(
        "query",
        "pview",
        "SELECT born, COUNT(*) FROM view WHERE sex = 'Female' GROUP BY born LIMIT 2",
        "--json",
    )
    rows = json.loads(done.out)
    assert [row["born"] for row in rows] == ["1970-01-01", "1970-01-02"]
    assert [row["count"] for row in rows] == [0, 1]
    assert rows[1]["count_high"] == pytest.approx(20.6, abs=0.1)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("nowhere", "SELECT COUNT(*) FROM view"), "nowhere: there is no such file or folder"),
        (
            ("pview", "SELECT COUNT(*) FROM view WHERE job = 1"),
            "no attribute 'job'. There are 'age', 'sex', 'born'",
        ),
        (("pview", "SELECT AVG(age) FROM view"), "is not supported. A p-view answers SELECT"),
    ],
)
def test_what_query_refuses(run: Run, pview: PView, arguments: tuple[str, str], message: str) -> None:
    done = run("query", *arguments)
    assert done.code == 2
    assert message in done.err


def test_publish_to_duckdb(run: Run, pview: PView) -> None:
    done = run("publish", "pview", "--to", "duckdb:people.duckdb", "--name", "people")
    assert done.code == 0, done.err
    assert 'SELECT "people_count"(...)' in done.out
    with duckdb.connect("people.duckdb") as connection:
        [[count]] = connection.execute("SELECT people_count(age_high := 22, sex := 'Male')").fetchall()
    assert count == pytest.approx(pview.count(age=(18, 22), sex="Male").value)
    again = run("publish", "pview", "--to", "people.duckdb", "--name", "people")
    assert again.code == 2
    assert "--force" in again.err
    done = run("publish", "pview", "--to", "people.duckdb", "--name", "people", "--force", "--json")
    assert json.loads(done.out)["function"] == "people_count"


def test_publish_to_postgresql(run: Run, pview: PView, pviews_url: str) -> None:
    done = run("publish", "pview", "--to", pviews_url, "--name", "cli pview")
    assert done.code == 0, done.err
    assert PASSWORD not in done.out + done.err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("pview", "out", "--to", "x.duckdb"), "there is no schema file"),
        (
            ("pview", "--to", "x.duckdb", "-l", 3),
            "With --to and no folder to write, a p-view is published as it is",
        ),
        (("pview",), "Give the folder to write"),
        (("nowhere", "--to", "x.duckdb"), "nowhere: there is no such file or folder"),
    ],
)
def test_what_publish_refuses(run: Run, pview: PView, arguments: tuple[object, ...], message: str) -> None:
    done = run("publish", *arguments)
    assert done.code == 2
    assert message in done.err
    assert not Path("x.duckdb").exists()
