"""The command `sudare attack` on several views."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

import sudare as sd
from tests.cli.conftest import Run

ILLNESSES = ["flu", "HIV", "flu", "HIV"]


@pytest.fixture
def views(tmp_path: Path) -> Path:
    """Two views: together they give the second person away, apart nobody."""
    folder = tmp_path / "out"
    folder.mkdir()
    schema = sd.Schema.from_roles(quasi=["age", "town"], sensitive=["illness"])
    (tmp_path / "sudare.toml").write_text(schema.to_toml())
    (tmp_path / "people.csv").write_text("age,town\n20,[red]Ayr\n21,Oslo\n22,Oslo\n23,Bonn\n")
    ages = ["[20, 21]", "[20, 21]", "[22, 23]", "[22, 23]"]
    towns = ["{[red]Ayr, Bonn}", "Oslo", "Oslo", "{[red]Ayr, Bonn}"]
    pl.DataFrame({"age": ages, "illness": ILLNESSES}).write_parquet(folder / "T1.parquet")
    pl.DataFrame({"town": towns, "illness": ["flu", "HIV", "HIV", "HIV"]}).write_parquet(
        folder / "T2.parquet"
    )
    for name in ("T1", "T2"):
        pl.read_parquet(folder / f"{name}.parquet").write_csv(tmp_path / f"{name}.csv")
    return folder


def test_a_folder_of_views(run: Run, views: Path) -> None:
    result = run("attack", "out", "--known", "people.csv")
    assert result.code == 0, result.err
    assert "intersection\nPeople looked up in 'out/T1.parquet', 'out/T2.parquet': 4." in result.out
    assert "row 1 (counting from 0), age 21, town Oslo: 'HIV'" in result.out


def test_files_as_json(run: Run, views: Path) -> None:
    result = run("attack", "T1.csv", "T2.csv", "--known", "people.csv", "--json")
    assert result.code == 0, result.err
    found = json.loads(result.out)["intersection"]
    assert found["views"] == ["T1.csv", "T2.csv"]
    assert (found["known"], found["by_attribute"]["illness"]["given_away"]) == (4, 2)
    assert "Oslo" not in result.out


def test_text_of_the_data_is_not_taken_for_markup(run: Run, views: Path) -> None:
    Path("people.csv").write_text("age,town\n30,[red]Ayr\n")
    pl.DataFrame({"town": ["[red]Ayr"], "illness": ["flu"]}).write_csv("T2.csv")
    assert "town [red]Ayr: 'flu'" in run("attack", "T2.csv", "--known", "people.csv").out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["out"], "this folder has views, 'T1.parquet', 'T2.parquet', which are attacked together"),
        (["out"], "--known PEOPLE"),
        (["out", "--json"], "--known PEOPLE"),
        (
            ["T1.csv", "T2.csv"],
            "Several outputs are attacked together. Say whose values an outsider knows: --known",
        ),
        (["T1.csv", "--known", "none.csv"], "none.csv: there is no such file"),
        (["none.csv", "--known", "people.csv"], "none.csv: the file cannot be read"),
    ],
)
def test_mistakes(run: Run, views: Path, arguments: list[str], message: str) -> None:
    result = run("attack", *arguments)
    assert result.code == 2
    assert message in result.err
