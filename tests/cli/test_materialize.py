"""`sudare materialize`: the folder to hand over, and the pages beside it."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

import sudare as sd
from sudare.pview.pview import PView
from tests.cli.conftest import Run

ASKED = ("--epsilon", "1", "--method", "independent")


@pytest.fixture
def materialize(run: Run) -> Run:
    """Make a view of a small table, with further options."""
    rows = {"age": [20 + i % 50 for i in range(400)], "ill": ["yes", "no", "no", "no"] * 100}
    pl.DataFrame(rows).write_csv("people.csv")
    schema = sd.Schema.from_roles(
        quasi=["age"], sensitive=["ill"], bounds={"age": (18, 80)}, domains={"ill": ["yes", "no"]}
    )
    Path("sudare.toml").write_text(schema.to_toml())
    return lambda *options: run("materialize", "people.csv", "people.view", *ASKED, *options)


def files(folder: str) -> set[str]:
    return {path.name for path in Path(folder).iterdir()}


def test_the_pages_lie_beside_the_folder(materialize: Run) -> None:
    done = materialize()
    assert done.code == 0, done.err
    assert files("people.view") == {"view.parquet", "manifest.json"}
    assert {"people.view-report.html", "people.view-page.html"} < files(".")
    assert "For the holder of the data only" in Path("people.view-report.html").read_text()
    assert "For the holder" not in Path("people.view-page.html").read_text()
    assert "all of it may be handed over" in done.out
    assert "shows the original: people.view-report.html" in done.out
    assert PView.open("people.view").count(ill="no").value == pytest.approx(300, abs=60)


def test_json_says_where_everything_is(materialize: Run) -> None:
    done = materialize("--json")
    found = json.loads(done.out)
    assert [found[what] for what in ("folder", "page", "report")] == [
        "people.view",
        "people.view-page.html",
        "people.view-report.html",
    ]
    assert found["budget"]["remaining"] == "0"


def test_the_report_may_go_elsewhere(materialize: Run) -> None:
    Path("mine").mkdir()
    assert materialize("--report", "mine/report.html").code == 0
    assert files("mine") == {"report.html"}
    assert not Path("people.view-report.html").exists()


@pytest.mark.parametrize(
    ("report", "message"),
    [
        ("people.view/report.html", "which is handed over whole"),
        ("mine/../people.view/report.html", "which is handed over whole"),
        ("people.view-page.html", "is where the analysts' page goes"),
        ("nowhere/report.html", "there is no folder nowhere"),
        ("people.csv", "people.csv exists already"),
    ],
)
def test_what_would_give_the_original_away_is_refused_before_anything_is_spent(
    materialize: Run, report: str, message: str
) -> None:
    Path("mine").mkdir()
    done = materialize("--report", report, "--ledger", "ledger.db")
    assert done.code == 2
    assert message in done.err
    assert files(".") == {"people.csv", "sudare.toml", "mine"}


def test_pages_are_replaced_only_by_force(materialize: Run) -> None:
    Path("people.view-report.html").write_text("old")
    done = materialize()
    assert done.code == 2
    assert "people.view-report.html exists already" in done.err
    assert not Path("people.view").exists()
    assert materialize("--force").code == 0
    assert Path("people.view-report.html").read_text() != "old"
