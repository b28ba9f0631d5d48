"""A project is files: private, whole, and the same for a page, a preview and a run that change it at once."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import sudare as sd
from sudare.errors import InputError
from sudare.studio.project import FILE, MAX_TRIED, Project, Tried, projects, written_whole
from sudare.studio.walk import standing


def project(home: Path) -> Project:
    made = Project.create(home, "people.csv", "path", "a table/../of <people>")
    made.set_schema(sd.Schema.from_roles(quasi=["age"]))
    return made


def test_a_project_is_private_and_is_found_again(tmp_path: Path) -> None:
    made = project(tmp_path / "home")
    assert made.folder.parent == tmp_path / "home"
    assert made.folder.stat().st_mode & 0o777 == 0o700
    assert (made.folder / FILE).stat().st_mode & 0o777 == 0o600
    assert made.schema_path.stat().st_mode & 0o777 == 0o600
    assert [one.facts for one in projects(tmp_path / "home")] == [made.facts]


def test_changes_at_once_are_all_kept(tmp_path: Path) -> None:
    made = project(tmp_path)

    def change(number: int) -> None:
        own = Project(made.folder)
        if number % 2:
            own.remember_tried(Tried(asked=f"{number}", settings={}, risk=0.1, distortion=0.2))
        else:
            own.keep(f"step {number}", {"number": number}, "basis")

    with ThreadPoolExecutor(8) as threads:
        list(threads.map(change, range(40)))
    facts = Project(made.folder).facts
    assert {one.asked for one in facts.tried} == {f"{number}" for number in range(1, 40, 2)}
    assert set(facts.results) == {f"step {number}" for number in range(0, 40, 2)}


def test_what_was_tried_is_bounded(tmp_path: Path) -> None:
    made = project(tmp_path)
    for number in [*range(MAX_TRIED + 5), MAX_TRIED]:
        made.remember_tried(Tried(asked=f"{number}", settings={}, risk=0.1, distortion=0.2))
    assert [one.asked for one in made.facts.tried][-2:] == [f"{MAX_TRIED + 4}", f"{MAX_TRIED}"]
    assert len(made.facts.tried) == MAX_TRIED


@pytest.mark.parametrize("text", ["", "{}", "[1]", '{"name": 3}', "\x00"])
def test_a_damaged_project_file_is_said_and_left_out(tmp_path: Path, text: str) -> None:
    made = project(tmp_path)
    (made.folder / FILE).write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match="no project file of the studio, or it is damaged"):
        Project(made.folder)
    assert projects(tmp_path) == []


def test_a_result_is_current_until_what_it_rests_on_changes(tmp_path: Path) -> None:
    made = project(tmp_path)
    assert (standing(made, "run"), standing(made, "roles")) == ("open", "open")
    for step in ("read", "run", "write"):
        made.keep(step, {}, made.basis(step))
    assert made.is_current("run")
    with made.changing() as facts:
        facts.choice.generalize.k = 7
    assert made.is_current("read")
    assert not made.is_current("run")
    made.set_schema(sd.Schema.from_roles(sensitive=["age"]))
    assert not made.is_current("read")
    assert standing(made, "run") == "changed"


def test_a_choice_of_another_way_does_not_age_a_run(tmp_path: Path) -> None:
    made = project(tmp_path)
    made.keep("run", {}, made.basis("run"))
    with made.changing() as facts:
        facts.choice.pview.epsilon = 9.0
    assert made.is_current("run")


def test_a_file_that_is_written_anew_is_whole_for_who_reads_it_meanwhile(tmp_path: Path) -> None:
    path = tmp_path / "values.parquet"
    for content in ("before", "after"):
        with written_whole(path) as new:
            new.write_text(content)
            assert not path.exists() or path.read_text() == "before"
        assert path.read_text() == content
    assert path.stat().st_mode & 0o777 == 0o600
    assert [one.name for one in tmp_path.iterdir()] == [path.name]
