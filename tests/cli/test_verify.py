"""The command `sudare verify`."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

import sudare as sd
from tests.cli.conftest import Run

SCHEMA = sd.Schema.from_roles(identifier=["name"], quasi=["age", "town"], sensitive=["illness"])
PEOPLE = pl.DataFrame(
    {
        "name": [f"p{i}" for i in range(60)],
        "age": [20 + i % 30 for i in range(60)],
        "town": [f"[red]town {i % 4}\x1b[2J" for i in range(60)],
        "illness": [f"illness {i % 5}" for i in range(60)],
    }
)


@pytest.fixture
def released(tmp_path: Path) -> Path:
    """A release, and no schema anywhere."""
    table = sd.read(PEOPLE, SCHEMA)
    return sd.generalize(table, [sd.KAnonymity(4), sd.LDiversity(2)]).write(tmp_path / "out")


def test_a_folder_needs_no_options(run: Run, released: Path) -> None:
    for folder in ("out", "out/hand-over"):
        result = run("verify", folder)
        assert result.code == 0, result.err
        first, second = [line for line in result.out.splitlines() if " holds: " in line]
        assert first.startswith("4-anonymity holds: k = ")
        assert second.startswith("distinct 2-diversity holds: l_distinct = ")
        assert "\x1b" not in result.out
        rows = pl.read_parquet("out/hand-over/data.parquet").height
        assert f"Recounted: all {rows:,} rows\n" in result.out
    verification = json.loads(run("verify", "out", "--json").out)
    assert verification["holds"]
    assert set(verification["measured"]) == {"k", "l_distinct"}
    assert verification["rows"] == {"data": rows}


def test_more_can_be_asked(run: Run, released: Path) -> None:
    assert run("verify", "out", "-k", "4").code == 0
    asked = run("verify", "out", "-k", "61")
    assert asked.code == 1
    assert "61-anonymity does not hold" in asked.out
    Path("other.toml").write_text(SCHEMA.to_toml())
    assert run("verify", "out", "-l", "2", "--schema", "other.toml").code == 0
    assert run("verify", "out", "--schema", "other.toml").code == 0


def test_a_file_needs_options_and_a_schema(run: Run, released: Path) -> None:
    result = run("verify", "out/hand-over/data.csv")
    assert result.code == 2
    assert (
        "is of the folder. Verify that: sudare verify out/hand-over; or say what to ask of this file"
        in result.err
    )
    result = run("verify", "out/hand-over/data.csv", "-k", "4")
    assert result.code == 2
    assert "there is no schema file" in result.err
    Path("sudare.toml").write_text(SCHEMA.to_toml())
    assert run("verify", "out/hand-over/data.csv", "-k", "4").code == 0


def test_what_is_refused_ends_with_1(run: Run, released: Path) -> None:
    (released / "hand-over" / "notes.txt").write_text("hello")
    result = run("verify", "out")
    assert result.code == 1
    assert "notes.txt is no part of a release" in result.err


def test_views_say_what_was_verified(run: Run, tmp_path: Path) -> None:
    views = {"ages": ["age"], "towns": ["town"]}
    sd.generalize_views(sd.read(PEOPLE, SCHEMA), views, sd.MultiViewDiversity(2)).write(tmp_path / "views")
    result = run("verify", "views")
    assert result.code == 0, result.err
    assert "multi-view 2-diversity holds: l_multiview = " in result.out
    assert "this is what each view leaves by itself; all views of this release together leave" in result.out
    verification = json.loads(run("verify", "views", "--json").out)
    assert "by itself" in verification["notes"]["l_multiview"]


def test_a_randomized_release_and_a_private_view(run: Run, tmp_path: Path) -> None:
    schema = sd.Schema.from_roles(
        sensitive=["illness"], domains={"illness": [f"illness {i}" for i in range(5)]}
    )
    table = sd.read(PEOPLE.select("illness"), schema)
    sd.randomize(table, sd.PkAnonymity(3)).write(tmp_path / "noisy")
    result = run("verify", "noisy")
    assert result.code == 0, result.err
    assert "Pk-anonymity with k = 3 holds: pk = 3" in result.out
    assert run("verify", "noisy", "--pk", "4").code == 1
    sd.materialize(table, sd.DifferentialPrivacy(1.0)).save(tmp_path / "view")
    assert "differential privacy with epsilon = 1 holds" in run("verify", "view").out
