"""`sudare combine`: several p-views, one answer."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

import sudare as sd
from tests.cli.conftest import Run

ASKED = "SELECT COUNT(*) FROM view WHERE ill = 'no'"


@pytest.fixture
def months(run: Run) -> Run:
    """Make two p-views of one table, and return what runs a command."""
    pl.DataFrame({"ill": ["yes", "no", "no", "no"] * 100}).write_csv("people.csv")
    schema = sd.Schema.from_roles(sensitive=["ill"], domains={"ill": ["yes", "no"]}, source="people")
    Path("sudare.toml").write_text(schema.to_toml())
    for name in ("first", "second"):
        made = run("materialize", "people.csv", name, "--epsilon", "0.5", "--method", "identity")
        assert made.code == 0, made.err
    return run


def test_it_is_asked_and_verified_like_any_other(months: Run) -> None:
    done = months("combine", "first", "second/hand-over", "both")
    assert done.code == 0, done.err
    assert "differential privacy with epsilon = 1, for 2 p-views together" in done.out
    (answer,) = json.loads(months("query", "both", ASKED, "--json").out)
    assert answer["count"] == pytest.approx(300, abs=60)
    assert months("verify", "both").code == 0
    assert months("verify", "both", "--epsilon", "0.9").code == 1
    assert "exists already" in months("combine", "first", "second", "both").err
    told = json.loads(months("combine", "first", "second", "both", "--of", "mean", "--force", "--json").out)
    assert len(told["parts"]) == 2
    assert months("combine", "first", "first", "twice").code == 2
