"""`sudare apply`: a plan that was learned before, for other rows."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

import sudare as sd
from sudare.tables import parts
from tests.cli.conftest import Run


@pytest.fixture
def learned(run: Run) -> Run:
    """A release whose plan can be applied; its table stands beside it, and one more with a person of a new age."""
    ages = [20 + i % 10 for i in range(200)]
    people = pl.DataFrame({"age": ages, "ill": ["yes", "no", "no", "no"] * 50})
    people.write_csv("people.csv")
    people.vstack(pl.DataFrame({"age": [99], "ill": ["no"]})).write_csv("more.csv")
    roles = {"quasi": ["age"], "sensitive": ["ill"]}
    schema = sd.Schema.from_roles(**roles, bounds={"age": (18, 120)}, domains={"ill": ["yes", "no"]})
    Path("sudare.toml").write_text(schema.to_toml())
    done = run("generalize", "people.csv", "out", "-k", 5)
    assert done.code == 0, done.err
    return run


def test_the_same_rows(learned: Run) -> None:
    done = learned("apply", "out", "people.csv", "again")
    assert done.code == 0, done.err
    assert "5-anonymity: holds, k = " in done.out
    assert "left out" not in done.out
    assert "Hand over again/hand-over." in done.out
    published = Path("again/hand-over/data.csv").read_text()
    assert published == Path("out/hand-over/data.csv").read_text()


def test_what_is_not_covered_is_refused_or_left_out(learned: Run) -> None:
    refused = learned("apply", "out", "more.csv", "again")
    assert refused.code == 2
    assert "does not cover 1 of 201 records; the first has age 99" in refused.err
    assert not Path("again").exists()
    done = learned("apply", "out", "more.csv", "again", "--unseen", "suppress")
    assert "1 of 201 records were left out." in done.out
    assert learned("verify", "again").code == 0


def test_json_of_a_release(learned: Run) -> None:
    told = json.loads(learned("apply", "out", "people.csv", "again", "--json").out)
    assert told["folder"] == "again"
    assert told["certificate"]["measured"]["k"] >= 5
    assert told["holder"]["records"] == {"read": 200, "published": 200, "suppressed": 0}


def test_the_design_of_a_p_view(learned: Run) -> None:
    made = learned("materialize", "people.csv", "first.pview", "--epsilon", 1, "--method", "independent")
    assert made.code == 0, made.err
    done = learned("apply", "first.pview", "more.csv", "second.pview")
    assert done.code == 0, done.err
    assert "Where the budget went" in done.out
    assert "To hand over: second.pview/hand-over" in done.out
    told = json.loads(learned("apply", "first.pview", "more.csv", "third.pview", "--json").out)
    assert told["folder"] == "third.pview"
    assert (
        told["certificate"]["requirements"]
        == json.loads(Path("second.pview/hand-over/certificate.json").read_text())["requirements"]
    )
    assert learned("verify", "third.pview").code == 0


def test_an_existing_folder_is_refused_before_the_table_is_read(learned: Run) -> None:
    error = learned("apply", "out", "none.csv", "out").err
    assert "out exists already. Nothing was written." in error
    assert "there is no such file" not in error


@pytest.mark.parametrize(
    ("kind", "unseen"),
    [
        ("Parquet files", "suppress"),
        ("CSV", "refuse"),
        pytest.param("Parquet files", "refuse", marks=pytest.mark.slow),
        pytest.param("CSV", "suppress", marks=pytest.mark.slow),
    ],
)
def test_duckdb_applies_to_several_files_what_memory_applies_to_one(
    kind: str, unseen: str, learned: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parts, "PART_ROWS", 64)
    more = pl.read_csv("more.csv") if unseen == "suppress" else pl.read_csv("people.csv")
    more.write_parquet("whole.parquet")
    more.write_csv("whole.csv")
    for i, rows in enumerate(more.iter_slices(70)):
        rows.write_parquet(f"more-{i}.parquet")
    source = "more-*.parquet" if kind == "Parquet files" else "whole.csv"
    engine = ["--engine", "duckdb", "--memory", "500MB", "--unseen", unseen]
    one = learned("apply", "out", "whole.parquet", "one", "--engine", "memory", "--unseen", unseen)
    other = learned("apply", "out", source, "other", *engine)
    assert (one.code, other.code) == (0, 0), other.err
    assert ("1 of 201 records were left out." in other.out) == (unseen == "suppress")
    files = {path.name for path in Path("one/hand-over").iterdir()}
    assert {path.name for path in Path("other/hand-over").iterdir()} == files
    assert {f"data.0000{i}.parquet" for i in (1, 2, 3, 4)} < files
    for name in files - {"certificate.json"}:
        assert Path("other/hand-over", name).read_bytes() == Path("one/hand-over", name).read_bytes()
    assert learned("verify", "other").code == 0


def test_duckdb_refuses_what_memory_refuses(learned: Run) -> None:
    pl.read_csv("more.csv").write_parquet("more.parquet")
    said = [
        learned("apply", "out", "more.parquet", "again", "--engine", engine)
        for engine in ("memory", "duckdb")
    ]
    assert said[0] == said[1]
    assert said[1].code == 2
    assert not Path("again").exists()
