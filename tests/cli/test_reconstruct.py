"""`sudare reconstruct` says what the Python call says."""

from __future__ import annotations

import datetime as dt
import json
from pathlib import Path

import polars as pl
import pytest

import sudare as sd
from tests.cli.conftest import Run


@pytest.fixture
def reconstruct(run: Run) -> Run:
    """Reconstruct from a randomized table."""
    start = dt.date(2025, 1, 1)
    people = pl.DataFrame(
        {
            "age": [20 + i % 3 for i in range(500)],
            "day": [start + dt.timedelta(i % 3) for i in range(500)],
            "sex": ["Female", "Male"] * 250,
        }
    )
    schema = sd.Schema.from_roles(
        quasi=["age", "day", "sex"],
        bounds={"age": (20, 23), "day": (start, dt.date(2025, 1, 4))},
        domains={"sex": ["Female", "Male"]},
        missing="refuse",
    )
    sd.randomize(sd.read(people, schema), sd.DifferentialPrivacy(6, per="record"), unsafe_seed=1).write("out")
    return lambda *options: run("reconstruct", "out", *options)


@pytest.mark.parametrize("method", ["ml", "unbiased"])
def test_counts_equal_those_of_python(reconstruct: Run, method: str) -> None:
    done = reconstruct("sex", "age", "--method", method, "--json")
    assert done.code == 0, done.err
    printed = json.loads(done.out)
    expected = sd.reconstruct("out", ["sex", "age"], method=method)  # type: ignore[arg-type]
    assert printed["attributes"] == ["sex", "age"]
    rows = pl.DataFrame(printed["counts"])
    assert rows["estimate"].to_list() == pytest.approx(expected.counts.ravel().tolist())
    assert rows["stderr"].to_list() == pytest.approx(expected.stderr.ravel().tolist())
    assert rows["published"].sum() == 500
    one = expected.count(sex="Male", age=22)
    (row,) = rows.filter(sex="Male", age=22).to_dicts()
    assert (row["estimate"], row["low"], row["high"]) == pytest.approx((one.value, one.low, one.high))


def test_where_gives_one_answer(reconstruct: Run) -> None:
    expected = sd.reconstruct("out", ["sex", "age"]).count(sex="Female", age=(20, 21))
    answer = json.loads(reconstruct("sex", "--where", "sex=Female", "--where", "age=20..21", "--json").out)
    assert answer["value"] == pytest.approx(expected.value)
    assert (answer["low"], answer["high"]) == pytest.approx((expected.low, expected.high))
    said = reconstruct("--where", "sex=Female", "--where", "age=20..21").out
    assert said.strip() == f"sex=Female and age=20..21: {expected}"
    either = sd.reconstruct("out", "sex").count(sex=["Female", "Male"])
    said = reconstruct("--where", "sex=Female", "--where", "sex=Male").out
    assert said.strip() == f"sex=Female or Male: {either}"
    both = json.loads(reconstruct("--where", "sex=Female", "--where", "sex=Male", "--json").out)
    assert both["value"] == pytest.approx(500)


def test_dates_are_dates(reconstruct: Run) -> None:
    rows = json.loads(reconstruct("day", "--json").out)["counts"]
    assert [row["day"] for row in rows[:2]] == ["2025-01-01", "2025-01-02"]
    answer = json.loads(reconstruct("--where", "day=2025-01-01..2025-01-04", "--json").out)
    assert answer["value"] == pytest.approx(500)


def test_a_person_sees_a_table(reconstruct: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    said = reconstruct("sex").out
    assert "95% interval" in said
    assert "published" in said
    assert "Female" in said
    monkeypatch.setattr("sudare.cli.reconstruct.MAX_ROWS_SHOWN", 1)
    assert "1 more: use --json" in reconstruct("sex").out


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ([], "needs one attribute or several"),
        (["height"], "'height' was not randomized"),
        (["--where", "sex"], "--where must be like"),
        (["--where", "sex=female"], "'sex' has no value 'female'"),
        (["--where", "age=young"], "'young' is not a number, which 'age' needs"),
        (["--where", "day=soon..later"], "'soon' is not a date"),
        (["--where", "age=20..22", "--where", "age=24"], "speaks of 'age' twice"),
    ],
)
def test_what_cannot_be_answered_ends_with_2(reconstruct: Run, options: list[str], message: str) -> None:
    done = reconstruct(*options)
    assert done.code == 2
    assert message in done.err


def test_a_folder_that_is_no_release_ends_with_2(run: Run) -> None:
    done = run("reconstruct", "nowhere", "sex")
    assert done.code == 2
    assert "nowhere: there is no such file or folder" in done.err
    Path("empty").mkdir()
    assert "empty: there is no law.json" in run("reconstruct", "empty", "sex").err
