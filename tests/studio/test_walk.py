"""The whole walk, from a file to a verified release, as a browser without scripts walks it."""

from __future__ import annotations

import json
import sqlite3
import stat
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import polars as pl
import pytest

import sudare as sd
from tests.studio.conftest import Visitor


def test_the_walk_ends_in_a_verified_release(walked: Visitor) -> None:
    page = walked.get("write").text
    folder = walked.project.folder / "release-1"
    assert sd.verify(folder).measured["k"] >= 4
    assert str(folder) in page
    assert "Written, recorded and verified" in page
    (entry,) = [one for one in sd.Ledger(walked.home / "releases.db").entries() if one.kind == "release"]
    assert (entry.body["folder"], entry.body["receiver"]) == (str(folder), "A hospital")


def test_every_step_is_marked_done(walked: Visitor) -> None:
    page = walked.get("write").text
    assert page.count('<li class="done">') == 6  # all but the assessment
    assert page.count('aria-current="step"') == 1


def test_pages_of_the_walk(walked: Visitor) -> None:
    for path, words in {
        "roles": "Who could know what?",
        "risk": "people are the only one",
        "assess": "Assess the table",
        "choose": "What a sample says",
        "choose?way=views": "Several tables of some columns",
        "choose?way=randomize": "by a law that is published",
        "choose?way=pview": "Privacy budget",
        "run": "recounted on the output",
        "ask": "No p-view of this table",
        "code": "Save as script",
        "column/1": "Hierarchy",
        "/ledger": "A hospital",
        "/": "survey.csv",
    }.items():
        answer = walked.get(path)
        assert answer.status_code == 200, path
        assert words in answer.text, path


def test_what_the_report_may_do(walked: Visitor) -> None:
    answer = walked.get("report/report")
    assert "For the holder of the data only" in answer.text
    assert answer.headers["content-security-policy"].endswith("sandbox")
    assert walked.get("report/analysts").status_code == 404
    assert walked.get("report/..%2Fproject.json").status_code == 404


def test_only_the_hand_over_is_downloaded(walked: Visitor, tmp_path: Path) -> None:
    (tmp_path / "packed.zip").write_bytes(walked.get("hand-over/0").content)
    names = pl.Series(
        subprocess.run(
            [sys.executable, "-m", "zipfile", "-l", tmp_path / "packed.zip"],
            capture_output=True,
            text=True,
            check=True,
        ).stdout.splitlines()
    )
    assert names.str.contains("hand-over/certificate.json").any()
    assert not names.str.contains("keep|holder").any()
    assert walked.get("hand-over/7").status_code == 404


def test_everything_is_private(walked: Visitor) -> None:
    for path in [walked.home, *walked.home.rglob("*")]:
        if "hand-over" in path.parts or path.name.startswith("release-"):
            continue  # in a folder that is private
        mode = stat.S_IMODE(path.stat().st_mode)
        assert mode & 0o077 == 0, (path, oct(mode))


def test_a_change_marks_what_comes_after(walked: Visitor) -> None:
    project = walked.project
    before = project.schema_path.read_text("utf-8")
    try:
        walked.roles(region="other")
        page = walked.get("run").text
        assert "Something before this step was changed" in page
        assert "changed since" in page
        refused = walked.post("write", {"folder": str(walked.home / "never"), "ledger": "1"})
        assert refused.status_code == 422
        assert "Run it again first" in refused.text
    finally:
        project.schema_path.write_text(before, encoding="utf-8")
        walked.roles()


def test_two_columns_are_counted_together_before_and_after(walked: Visitor) -> None:
    walked.post("choose", {"way": "generalize", "with-k": "1", "k": "4", "method": "mondrian"})
    walked.wait()
    walked.post("together", {"first": "sex", "second": "diagnosis"})
    assert walked.wait()["state"] == "done", walked.get("run").text
    found = walked.project.found("together")
    assert found is not None
    rows = pl.read_csv(walked.project.facts.source)
    schema = walked.project.schema()
    release = sd.generalize(sd.read(walked.project.facts.source, schema), sd.KAnonymity(4), "mondrian")
    for when, frame in (("before", rows), ("after", release.frame())):
        one, total = found[when], 0
        for place, first in enumerate(one["firsts"]):
            for other, second in enumerate(one["seconds"]):
                count = frame.filter((pl.col("sex") == first) & (pl.col("diagnosis") == second)).height
                assert one["counts"][place][other] == count, (when, first, second)
                total += count
        assert total + one["others"] == frame.height
    page = walked.get("run").text
    assert page.count('role="img" aria-label="original"') == 1
    assert "table.counts(pair)" in page
    refused = walked.post("together", {"first": "sex", "second": "sex"})
    assert refused.status_code == 422
    assert "two different columns" in refused.text
    assert walked.post("together", {"first": "sex", "second": "name"}).status_code == 422


def test_the_script_does_the_same(walked: Visitor, tmp_path: Path) -> None:
    script = tmp_path / "release.py"
    script.write_text(
        walked.get("script").text.replace(str(walked.project.folder / "release-"), str(tmp_path / "again-")),
        encoding="utf-8",
    )
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, cwd=tmp_path, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == "True"
    (again,) = tmp_path.glob("again-*")
    first, second = (
        pl.read_parquet(folder / "hand-over" / "data.parquet")
        for folder in (walked.project.folder / "release-1", again)
    )
    assert first.equals(second)


def test_previews_say_risk_and_distortion(walked: Visitor) -> None:
    asked = {"with-k": "1", "k": "9", "suppress": "0"}
    page = walked.post("preview", asked)
    assert "9-anonymity" in page.text
    assert "<svg" in page.text
    assert 'r="7"' in page.text
    other = walked.post("preview", asked | {"other": "1"}).text  # one of the settings that are tried first
    assert "<svg" in other
    assert 'r="7"' not in other
    bounded = walked.post("preview", asked | {"bound": "1"})
    assert "No method can stay below" in bounded.text
    (tried,) = [one for one in walked.project.facts.tried if one.asked == "9-anonymity"]
    assert 0 < tried.settings["bound"] <= tried.distortion <= 1
    assert tried.risk <= 1 / 9


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({}, "Nothing is asked for"),
        ({"with-k": "1", "k": "many"}, "must be a number"),
        ({"with-k": "1", "k": "0"}, "must be greater than or equal to 1"),
        ({"with-k": "1", "k": "301"}, "301"),
        ({"with-l": "1", "l": "1000", "attribute": "diagnosis"}, "1000"),
    ],
)
def test_what_cannot_be_is_said_where_it_was_asked(
    walked: Visitor, fields: dict[str, str], words: str
) -> None:
    page = walked.post("preview", fields)
    assert 'role="alert"' in page.text
    assert words in page.text


def test_levels_are_shown_before_the_column_is_saved(walked: Visitor) -> None:
    before = walked.project.schema_stamp()
    page = walked.post("column/1/levels", {"kind": "intervals", "width": "25", "fanout": "2"}).text
    assert "[25, 50)" in page
    assert "[0, 50)" in page
    assert "level 2" in page
    wrong = walked.post("column/1/levels", {"kind": "intervals", "width": "25", "fanout": "1"}).text
    assert "must be from 2" in wrong
    assert 'role="alert"' in wrong
    assert walked.project.schema_stamp() == before


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"kind": "quantiles", "quantiles": "4"}, "level 3"),
        ({"kind": "digits", "digits": "1"}, "level 1"),
        ({"kind": "top_bottom", "low-end": "30", "high-end": "60", "width": "10"}, "&gt;= 60"),
    ],
)
def test_numbers_become_coarser_in_every_way_that_is_offered(
    walked: Visitor, fields: dict[str, object], words: str
) -> None:
    page = walked.post("column/1/levels", fields).text
    assert words in page
    assert 'role="alert"' not in page


def test_dates_become_parts_of_the_calendar_or_ages(tmp_path: Path) -> None:
    one = Visitor(tmp_path / "home")
    path = tmp_path / "born.csv"
    sd.datasets.health_survey(100).select("birth_date", "sex").write_csv(path)
    try:
        one.open(path)
        years = one.post("column/0/levels", {"kind": "dates", "period": ["year", "month"]}).text
        assert "level 3" in years
        assert "level 4" not in years
        assert "must be" in one.post("column/0/levels", {"kind": "ages", "on": ""}).text.lower()
        asked = {"kind": "ages", "on": "2026-01-01", "width": "10", "fanout": "2"}
        assert one.post("column/0", asked).status_code == 200
        page = one.get("column/0").text
        assert 'value="ages" checked' in page
        assert 'value="2026-01-01"' in page
        assert "[50, 60)" in page
    finally:
        one.end()


def test_a_part_of_the_people_is_opened_by_a_query(tmp_path: Path) -> None:
    people = sd.datasets.health_survey(300).select("age", "sex", "diagnosis")
    with closing(sqlite3.connect(tmp_path / "people.db")) as database, database:
        database.execute("CREATE TABLE people (age, sex, diagnosis)")
        database.executemany("INSERT INTO people VALUES (?, ?, ?)", people.rows())
    one = Visitor(tmp_path / "home")
    try:
        page = one.open(f"sqlite:///{tmp_path}/people.db?query=SELECT * FROM people WHERE age < 40").text
        assert f"{people.filter(pl.col('age') < 40).height} rows, 3 columns" in page
    finally:
        one.end()


def test_quantiles_are_remembered_as_such(walked: Visitor) -> None:
    before = walked.project.schema_path.read_text("utf-8")
    try:
        walked.post("column/1", {"kind": "quantiles", "quantiles": "5", "fanout": "3"})
        walked.wait()
        page = walked.get("column/1").text
        assert 'value="quantiles" checked' in page
        assert 'name="quantiles" min="2" value="5"' in page
    finally:
        walked.project.schema_path.write_text(before, encoding="utf-8")
        walked.roles()


def test_a_notebook_has_the_steps_of_the_script(walked: Visitor) -> None:
    made = json.loads(walked.get("notebook").text)
    assert (made["nbformat"], made["nbformat_minor"]) == (4, 5)
    assert len({cell["id"] for cell in made["cells"]}) == len(made["cells"])
    script = walked.get("script").text
    cells = [cell for cell in made["cells"] if cell["cell_type"] == "code"]
    assert len(cells) >= 4
    for cell in cells:
        assert (cell["outputs"], cell["execution_count"]) == ([], None)
        assert all(line in script for line in cell["source"].splitlines())


def test_a_hierarchy_that_does_not_know_a_value_is_refused(walked: Visitor) -> None:
    before = walked.project.schema_stamp()
    page = walked.post("column/3", {"kind": "tree", "arx": "Capital;inland;*\n"})
    assert page.status_code == 422
    assert "has no" in page.text or "not in" in page.text
    assert walked.project.schema_stamp() == before


def test_a_hierarchy_is_written_as_arx_reads_it(walked: Visitor) -> None:
    rows = walked.get("column/3/arx").text.splitlines()
    assert all(row.split(";")[-1] == "*" for row in rows)
    assert len(rows) == walked.project.found("read")["columns"]["region"]["distinct"]  # type: ignore[index]


def test_nothing_is_lost_when_the_studio_starts_again(walked: Visitor) -> None:
    other = Visitor(walked.home)
    try:
        other.id = walked.id
        assert "recounted on the output" in other.get("run").text
        other.post("write", {"folder": str(walked.home / "later"), "ledger": "1"})
        other.wait()
        assert "started again since this was made" in other.get("write").text
        assert not (walked.home / "later").exists()
    finally:
        other.end()


def test_the_address_of_an_action_leads_to_its_page(walked: Visitor) -> None:
    for path, page in {"/open": "/", "/ledger/budget": "/ledger", "preview": walked.at("roles")}.items():
        answer = walked.get(path)
        assert (answer.status_code, answer.url.path) == (200, page)
    refused = walked.post("/open", {"path": "/nowhere.csv"})
    assert "there is no such file" in refused.text
    assert 'name="back" value="/open"' in refused.text


def test_what_tells_people_apart_is_counted(walked: Visitor) -> None:
    found = walked.project.found("read")
    assert found is not None
    rows = pl.read_csv(walked.project.facts.source)
    quasi = walked.project.schema().names("quasi")
    for one in found["tells"]:
        for columns, people in (
            ([one["name"]], one["own"]),
            ([name for name in quasi if name != one["name"]], one["without"]),
        ):
            assert people == rows.group_by(columns).len().filter(pl.col("len") == 1).height, one["name"]
    assert "What tells people apart" in walked.get("risk").text


def test_a_setting_that_was_tried_can_be_taken(walked: Visitor) -> None:
    walked.post("preview", {"with-k": "1", "k": "13", "suppress": "0"})
    assert (
        "tried=13-anonymity"
        in walked.get("choose").text + walked.post("preview", {"with-k": "1", "k": "13"}).text
    )
    assert 'name="k" min="1" value="13"' in walked.get("choose?tried=13-anonymity").text
    assert walked.get("choose?tried=<b>nothing").status_code == 200


@pytest.mark.parametrize(
    ("fields", "asked", "risk"),
    [
        ({"way": "randomize", "promise": "pk", "k": "8"}, "Pk-anonymity with k = 8", 1 / 8),
        (
            {"way": "randomize", "promise": "epsilon", "epsilon": "3"},
            "differential privacy with epsilon = 3, for each record",
            None,
        ),
        ({"way": "pview", "epsilon": "1"}, "differential privacy with epsilon = 1", 0.7311),
    ],
)
def test_previews_of_noise_say_risk_and_error(
    walked: Visitor, fields: dict[str, str], asked: str, risk: float | None
) -> None:
    page = walked.post("preview", fields)
    assert asked in page.text
    assert "a count by one column lies within ±" in page.text
    (tried,) = [one for one in walked.project.facts.tried if one.asked == asked]
    assert risk is None or tried.risk == pytest.approx(risk, abs=1e-3)
    assert 0 < tried.distortion < 300
    stronger = walked.post("preview", fields | {"k": "100", "epsilon": "0.1"})
    assert stronger.status_code == 200
    safer = min(
        walked.project.facts.tried,
        key=lambda one: one.risk if one.settings.get("way") == fields["way"] else 2,
    )
    assert safer.risk < tried.risk
    assert safer.distortion > tried.distortion
    assert "tried=" in walked.get(f"choose?way={fields['way']}").text
    assert walked.project.facts.choice.way == "generalize"
