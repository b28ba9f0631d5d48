"""The scripts that the studio saves run as they are, in a folder that has nothing else: for every kind of release."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

import sudare as sd
from sudare.studio import code, code_page
from sudare.studio.choices import Choice, Generalizing, Materializing, Randomizing, Viewing
from sudare.studio.project import Project

pytestmark = pytest.mark.slow
HARMLESS = 'It\'s "fine" {x}\\'


def people(path: Path) -> None:
    frame = sd.datasets.health_survey(400).select("age", "sex", "region", "diagnosis", "weight_kg")
    diagnosis = pl.Series(["one", "two", "three", HARMLESS] * 100)
    household = pl.Series([row // 2 for row in range(400)])
    frame.with_columns(diagnosis=diagnosis, household=household).write_csv(path)


def schema(household: str, in_bins: bool) -> sd.Schema:
    return sd.Schema.from_dict(
        {
            "attributes": {
                "age": {
                    "role": "quasi",
                    "bounds": (0, 120),
                    "type": "integer",
                    "hierarchy": {"kind": "intervals", "width": 10},
                },
                "sex": {"role": "quasi", "domain": ["Female", "Male"]},
                "region": {
                    "role": "quasi",
                    "domain": [
                        "Capital",
                        "Plains",
                        "Estuary",
                        "Highlands",
                        "Lakeland",
                        "Northmoor",
                        "Southshore",
                        "Westvale",
                    ],
                },
                "diagnosis": {"role": "sensitive", "domain": ["one", "two", "three", HARMLESS]},
                "weight_kg": {
                    "role": "identifier" if household == "household" else "quasi",
                    "type": "number",
                    "bounds": (30.0, 200.0),
                }
                | ({} if in_bins else {"hierarchy": {"kind": "intervals", "width": 20}}),
                "household": {"role": household} | ({"most_rows": 2} if household == "household" else {}),
            }
        }
    )


KINDS = {
    "blocks": (
        Choice(generalize=Generalizing(k=3, l=2, harmless=[HARMLESS], attribute="diagnosis", suppress=0.05)),
        "identifier",
    ),
    "closeness": (Choice(generalize=Generalizing(k=None, t=0.4, method="mondrian")), "identifier"),
    "households": (Choice(generalize=Generalizing(k=3, method="minimal")), "household"),
    "views": (
        Choice(way="views", views=Viewing(views={"one": ["age", "sex"], "two": ["region"]}, l=2)),
        "identifier",
    ),
    "law": (Choice(way="randomize", randomize=Randomizing(k=8, bins=["weight_kg"])), "identifier"),
    "epsilon": (
        Choice(way="randomize", randomize=Randomizing(promise="epsilon", epsilon=3, bins=["weight_kg"])),
        "identifier",
    ),
    "p-view": (Choice(way="pview", pview=Materializing(epsilon=2)), "identifier"),
    "p-view of households": (Choice(way="pview", pview=Materializing(epsilon=2)), "household"),
}


@pytest.mark.parametrize("kind", KINDS)
def test_a_script_runs_as_it_is(tmp_path: Path, kind: str) -> None:
    choice, household = KINDS[kind]
    source, empty = tmp_path / "it's here" / "people.csv", tmp_path / "empty"
    source.parent.mkdir()
    empty.mkdir()
    people(source)
    project = Project.create(tmp_path / "home", str(source), "path", "people")
    project.set_schema(schema(household, in_bins=choice.way == "randomize"))
    with project.changing() as facts:
        facts.choice = choice
    (empty / "release.py").write_text(code.script(project, code_page.steps(project)), encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "release.py"], capture_output=True, text=True, cwd=empty, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == "True"
    assert sd.verify(project.folder / "release-1").holds
    assert [file.name for file in empty.iterdir()] == ["release.py"]
