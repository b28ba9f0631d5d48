"""A pipeline on a schedule: what was done is not done again, and what is wrong is told with its line and key."""

from __future__ import annotations

import json
import re
import shutil
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from typer.testing import CliRunner

import sudare as sd
from sudare.cli.app import app
from sudare.verbs.pipeline import Pipeline
from sudare.verbs.run import KEY, LOCK

RUN = CliRunner()
SCHEMA = sd.Schema.from_roles(
    identifier=["name"],
    quasi=["age", "sex"],
    sensitive=["diagnosis"],
    bounds={"age": (0, 120)},
    domains={
        "sex": ["Female", "Male"],
        "diagnosis": sd.datasets.health_survey(3000)["diagnosis"].unique().sort().to_list(),
    },
    source="survey",
)
GENERALIZE = """
[read]
source = "people.csv"
schema = "sudare.toml"

[make]
verb = "generalize"
k = 5
l = 2
method = "mondrian"

[write]
folder = "releases"
ledger = "releases.db"
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(
        tmp_path.parent
    )  # paths are relative to the pipeline's file, not to where somebody stands
    (tmp_path / "sudare.toml").write_text(SCHEMA.to_toml(), encoding="utf-8")
    people(tmp_path, 400)
    (tmp_path / "pipeline.toml").write_text(GENERALIZE, encoding="utf-8")
    return tmp_path


def people(folder: Path, rows: int) -> None:
    sd.datasets.health_survey(rows).select("name", "age", "sex", "diagnosis").write_csv(folder / "people.csv")


def releases(folder: Path) -> list[Path]:
    there = (folder / "releases").iterdir() if (folder / "releases").exists() else []
    return sorted(one for one in there if one.is_dir() and not one.name.startswith("."))


def entries(folder: Path) -> int:
    return len(sd.Ledger(folder / "releases.db").entries())


def asked(folder: Path, make: str) -> None:
    text = re.sub(r"\[make\].*?\n\n", f"[make]\n{make}\n\n", GENERALIZE, flags=re.S)
    (folder / "pipeline.toml").write_text(text, encoding="utf-8")


def test_what_was_done_is_not_done_again(folder: Path) -> None:
    first = sd.run(folder / "pipeline.toml")
    before = {file: file.read_bytes() for file in first.folder.rglob("*") if file.is_file()}
    again = sd.run(folder / "pipeline.toml")
    assert (first.status, again.status) == ("released", "unchanged")
    assert again.folder == first.folder == releases(folder)[0]
    assert {file: file.read_bytes() for file in first.folder.rglob("*") if file.is_file()} == before
    assert entries(folder) == 1
    assert sd.verify(first.folder).measured == again.verification.measured


def test_other_content_is_another_release(folder: Path) -> None:
    asked(folder, 'verb = "generalize"\nk = 5\nmethod = "mondrian"')
    sd.run(folder / "pipeline.toml")
    people(folder, 450)
    assert sd.run(folder / "pipeline.toml").status == "released"
    assert len(releases(folder)) == 2
    people(folder, 400)  # as it was
    assert sd.run(folder / "pipeline.toml").status == "unchanged"
    rows = pl.read_csv(folder / "people.csv")
    rows.reverse().write_csv(folder / "people.csv")
    assert sd.run(folder / "pipeline.toml").status == "unchanged", "the order of rows says nothing"


@pytest.mark.parametrize("change", ["pipeline", "schema", "comment"])
def test_what_makes_another_run(folder: Path, change: str) -> None:
    asked(folder, 'verb = "generalize"\nk = 5\nmethod = "mondrian"')
    sd.run(folder / "pipeline.toml")
    file = folder / ("sudare.toml" if change == "schema" else "pipeline.toml")
    text = file.read_text(encoding="utf-8")
    changed = {
        "pipeline": ("k = 5", "k = 6"),
        "schema": ("[0, 120]", "[0, 121]"),
        "comment": ("k = 5", "k = 5 # !"),
    }
    assert changed[change][0] in text
    file.write_text(text.replace(*changed[change]), encoding="utf-8")
    assert sd.run(folder / "pipeline.toml").status == ("unchanged" if change == "comment" else "released")


NOISY = {
    "materialize": 'verb = "materialize"\nepsilon = 1.0\nmethod = "independent"',
    "randomize": 'verb = "randomize"\nepsilon = 2.0',
}


@pytest.mark.parametrize("verb", NOISY)
def test_a_budget_is_not_charged_twice(folder: Path, verb: str) -> None:
    asked(folder, NOISY[verb])
    ledger = sd.Ledger(folder / "releases.db")
    ledger.set_budget("survey", 5)
    sd.run(folder / "pipeline.toml")
    spent = str(ledger.budget("survey"))
    assert "0 spent" not in spent
    for _ in range(3):
        assert sd.run(folder / "pipeline.toml").status == "unchanged"
    assert str(ledger.budget("survey")) == spent


def test_every_verb_runs(folder: Path) -> None:
    plan = sd.generalize(sd.read(folder / "people.csv", SCHEMA), sd.KAnonymity(5), "mondrian").plan
    plan.save(folder / "plan")
    (folder / "sudare.toml").write_text(SCHEMA.to_toml() + "\n[publish]\nl = 2\nk = 3\n", encoding="utf-8")
    for make in ('verb = "apply"\nplan = "plan"', 'verb = "publish"', 'verb = "randomize"\npk = 5'):
        text = re.sub(r"\[make\].*?\n\n", f"[make]\n{make}\n\n", GENERALIZE, flags=re.S).replace(
            'ledger = "releases.db"\n', ""
        )
        (folder / "pipeline.toml").write_text(text, encoding="utf-8")
        assert [sd.run(folder / "pipeline.toml").status for _ in range(2)] == ["released", "unchanged"]
    assert len(releases(folder)) == 3


def test_a_plan_that_changed_is_another_run(folder: Path) -> None:
    table = sd.read(folder / "people.csv", SCHEMA)
    sd.generalize(table, sd.KAnonymity(5), "mondrian").plan.save(folder / "plan")
    asked(folder, 'verb = "apply"\nplan = "plan"')
    sd.run(folder / "pipeline.toml")
    sd.generalize(table, sd.KAnonymity(9), "mondrian").plan.save(folder / "plan", force=True)
    assert sd.run(folder / "pipeline.toml").status == "released"


def test_what_the_ledger_refuses_is_not_released(folder: Path) -> None:
    """The same people in another state, again under l-diversity: no rule is known that keeps both promises."""
    sd.run(folder / "pipeline.toml")
    people(folder, 450)
    with pytest.raises(sd.RequirementError, match="another state of 'survey'"):
        sd.run(folder / "pipeline.toml")
    assert len(releases(folder)) == entries(folder) == 1


def test_a_release_that_was_changed_is_not_passed_off(folder: Path) -> None:
    out = sd.run(folder / "pipeline.toml").folder
    file = next((out / "hand-over").glob("*.csv"))
    file.write_text(file.read_text().replace("Female", "Male", 1))
    with pytest.raises(sd.SudareError):
        sd.run(folder / "pipeline.toml")


def test_the_name_of_a_folder_confirms_no_guess(folder: Path) -> None:
    """Who guesses the whole table and the pipeline still does not know the name: another holder's folder has another."""
    name = sd.run(folder / "pipeline.toml").folder.name
    key = folder / "releases" / KEY
    assert stat.S_IMODE(key.stat().st_mode) == 0o600
    (folder / "releases" / name).rename(folder / "away")
    key.unlink()
    (folder / "releases.db").unlink()
    assert sd.run(folder / "pipeline.toml").folder.name != name
    key.write_bytes(b"short")
    with pytest.raises(sd.InputError, match="no key"):
        sd.run(folder / "pipeline.toml")


def test_nothing_appears_where_it_fails(folder: Path) -> None:
    asked(folder, 'verb = "generalize"\nk = 5000')
    with pytest.raises(sd.RequirementError):
        sd.run(folder / "pipeline.toml")
    assert releases(folder) == []


KILLED_AT = """
import os, sys
import sudare as sd
from pathlib import Path
steps, last = 0, int(sys.argv[2])

def count(event, arguments):
    global steps
    written = event in ("os.rename", "os.mkdir", "os.remove", "sqlite3.connect") or (
        event == "open" and isinstance(arguments[2], int) and arguments[2] & (os.O_WRONLY | os.O_RDWR)
    )
    if written and str(Path(sys.argv[1]).parent) in str(arguments[0]):
        steps += 1
        if steps == last:
            os._exit(9)

sd.KAnonymity, sd.run
sys.addaudithook(count)
sd.run(sys.argv[1])
print(steps)
"""
"""Runs a pipeline, and ends at once, as if killed, at some change in its folder; without one, says how many there are."""


def killed_at(folder: Path, step: int) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", KILLED_AT, str(folder / "pipeline.toml"), str(step)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.mark.slow
def test_a_run_that_is_killed_is_done_by_the_next(
    folder: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Whatever it was about to change in its folder, the next run finishes, and after it nothing is done any more."""
    whole = tmp_path_factory.mktemp("whole") / "folder"
    shutil.copytree(folder, whole)
    steps = int(killed_at(whole, 0).stdout)
    assert steps > 10
    for step in sorted({*range(1, steps + 1, 4), *range(steps - 4, steps + 1)}):
        own = tmp_path_factory.mktemp("killed") / "folder"
        shutil.copytree(folder, own)
        assert killed_at(own, step).returncode == 9
        assert all(sd.verify(one).holds for one in releases(own)), step
        sd.run(own / "pipeline.toml")
        assert len(releases(own)) == 1, step
        assert sd.verify(releases(own)[0]).holds
        assert sd.run(own / "pipeline.toml").status == "unchanged"


def test_the_place_of_the_same_content_makes_no_other_release(folder: Path) -> None:
    asked(folder, 'verb = "generalize"\nk = 5\nmethod = "mondrian"')
    assert sd.run(folder / "pipeline.toml").status == "released"
    shutil.copy(folder / "people.csv", folder / "moved.csv")
    text = (folder / "pipeline.toml").read_text(encoding="utf-8")
    (folder / "pipeline.toml").write_text(text.replace("people.csv", "moved.csv"), encoding="utf-8")
    assert sd.run(folder / "pipeline.toml").status == "unchanged"
    to = Pipeline.open(folder / "pipeline.toml")
    written = [
        to.model_copy(update={"write": to.write.model_copy(update={"to": url})}).digest(
            sd.Schema.from_toml(folder / "sudare.toml"), "", None
        )
        for url in (
            "postgresql://ann:a@h/d?table=t",
            "postgresql://ann:b@h/d?table=t",
            "postgresql://h/d?table=u",
        )
    ]
    assert written[0] == written[1] != written[2]


def test_what_nobody_foresaw_is_logged_without_values(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: Any, **__: Any) -> None:
        raise OSError("No space left on device: Kowalczyk")

    monkeypatch.setattr("sudare.verbs.run.read", full)
    for log in ("json", "text"):
        done = RUN.invoke(app, ["run", str(folder / "pipeline.toml"), "--log", log])
        assert done.exit_code == 4
        assert "Kowalczyk" not in done.output
        assert "OSError" in done.stderr
    told = folder / "releases" / "error.txt"
    assert "Kowalczyk" in told.read_text(encoding="utf-8")
    assert stat.S_IMODE(told.stat().st_mode) == 0o600
    monkeypatch.undo()
    assert RUN.invoke(app, ["run", str(folder / "pipeline.toml")]).exit_code == 0
    assert not told.exists()  # it said what is over


HOSTILE = [
    ("", "read is missing"),
    ("[read\n", "line 1"),
    (GENERALIZE.replace("k = 5", "k = '5'"), "line 8: make.k must be a valid integer"),
    (GENERALIZE.replace("l = 2", "l = '2'"), r"^\S+, line 9: make\.l must be a number\. Got '2' instead\.$"),
    (
        GENERALIZE.replace("k = 5", "kk = 5"),
        "line 8: 'make.kk' is not a known key here. There are 'verb', 'k'",
    ),
    (
        GENERALIZE.replace('verb = "generalize"', 'verb = "exec"'),
        "line 7: make.verb must be one of 'generalize'",
    ),
    (GENERALIZE.replace('verb = "generalize"\n', ""), "make.verb is missing"),
    (GENERALIZE.replace('source = "people.csv"\n', ""), "line 2: read.source is missing"),
    (
        GENERALIZE.replace('folder = "releases"', "folder = 7"),
        "line 13: write.folder must be a valid string. Got 7",
    ),
    (GENERALIZE.replace('folder = "releases"', 'folder = ""'), "line 13: write.folder"),
    (
        GENERALIZE + "\n[hooks]\nafter = 'rm -rf /'\n",
        "'hooks' is not a known key here. There are 'read', 'make', 'write'",
    ),
    (GENERALIZE.replace("k = 5", '"\\u001b[2J" = 5'), r"'make.'\\x1b\[2J'' is not a known key"),
    (GENERALIZE.replace("k = 5\nl = 2\n", ""), "line 7: make: nothing is asked for"),
    (
        GENERALIZE.replace('ledger = "releases.db"', 'receiver = "a"'),
        "line 14: write.receiver is noted in a ledger",
    ),
    (GENERALIZE.replace("k = 5", "k = true"), "line 8: make.k must be a valid integer"),
    (GENERALIZE.replace('source = "people.csv"', f'source = "{"x" * 5000}"'), "line 3: read.source"),
    (GENERALIZE.replace('ledger = "releases.db"', 'formats = ["exe"]'), "line 14: write.formats"),
    (
        "make = { verb = 'randomize', pk = 5, epsilon = 1 }\nread = { source = 'a', schema = 'b' }\nwrite = { folder = 'c' }",
        "line 1: make: give either pk or epsilon",
    ),
    (
        "read = { source = 'a', schema = 'b', x = 1 }\nmake = { verb = 'publish' }\nwrite = { folder = 'c' }",
        "line 1: 'read.x' is not a known key here. There are 'source', 'schema'",
    ),
]


@pytest.mark.parametrize(("text", "why"), HOSTILE, ids=lambda own: own[:30])
def test_a_wrong_pipeline_is_refused_with_its_line_and_key(text: str, why: str, tmp_path: Path) -> None:
    file = tmp_path / "pipeline.toml"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(sd.InputError, match=why) as caught:
        Pipeline.open(file)
    assert str(caught.value).startswith(str(file))
    assert all(line.isprintable() for line in str(caught.value).splitlines())


def lines(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.splitlines()]


def test_every_event_is_a_line_of_json(folder: Path) -> None:
    command = ["run", str(folder / "pipeline.toml"), "--log", "json", "--json"]
    first = RUN.invoke(app, command)
    assert first.exit_code == 0
    told = lines(first.stderr)
    assert [one["event"] for one in told] == [
        "started",
        "read",
        "made",
        "written",
        "recorded",
        "verified",
        "finished",
    ]
    assert told[1]["rows"] == 400
    assert told[-1]["status"] == json.loads(first.stdout)["status"] == "released"
    assert [one["event"] for one in lines(RUN.invoke(app, command).stderr)] == [
        "started",
        "read",
        "unchanged",
        "finished",
    ]


def test_a_log_names_nobodys_values(folder: Path) -> None:
    frame = pl.read_csv(folder / "people.csv").with_columns(pl.lit("Kowalczyk's disease").alias("diagnosis"))
    frame.write_csv(folder / "people.csv")
    done = RUN.invoke(app, ["run", str(folder / "pipeline.toml"), "--log", "json"])
    assert done.exit_code == 2
    assert "Kowalczyk" not in done.output
    told = lines(done.stderr)[-1]
    assert (told["event"], told["error"], told["exit_code"]) == ("failed", "InputError", 2)
    file = Path(told["told_in"])
    assert "Kowalczyk" in file.read_text(encoding="utf-8")
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_exit_codes(folder: Path) -> None:
    command = ["run", str(folder / "pipeline.toml"), "--log", "json"]
    asked(folder, 'verb = "generalize"\nk = 5000')
    assert RUN.invoke(app, command).exit_code == 1
    (folder / "pipeline.toml").write_text("x = 1", encoding="utf-8")
    wrong = RUN.invoke(app, command)
    assert wrong.exit_code == 2
    assert "is not a known key" in lines(wrong.stderr)[-1]["message"]
    asked(folder, 'verb = "generalize"\nk = 5')
    import fcntl

    with (folder / "releases" / LOCK).open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        assert RUN.invoke(app, command).exit_code == 3
    assert RUN.invoke(app, command).exit_code == 0


def test_what_is_asked_of_shares_and_of_a_population(folder: Path) -> None:
    """A population lies beside the pipeline's file; another one is another run."""
    everybody = sd.datasets.health_survey(3000).select("age", "sex")
    everybody.write_csv(folder / "register.csv")
    asked(
        folder,
        'verb = "generalize"\nmethod = "mondrian"\nbeta = 9\nlikeness = "basic"\ndisclosure = 4\nd_max = 0.6\n'
        'population = "register.csv"',
    )
    first = sd.run(folder / "pipeline.toml")
    assert set(first.verification.measured) == {"beta", "disclosure", "presence"}
    assert first.verification.measured["beta"] <= 9
    assert sd.run(folder / "pipeline.toml").status == "unchanged"
    everybody.head(2900).write_csv(folder / "register.csv")
    assert sd.run(folder / "pipeline.toml").status == "released"
    assert len(releases(folder)) == 2
    asked(folder, 'verb = "generalize"\nmethod = "mondrian"\nk_map = 3\npopulation = "register.csv"')
    text = (folder / "pipeline.toml").read_text(encoding="utf-8")
    assert Pipeline.open(folder / "pipeline.toml").make.requirements(folder)[0].k == 3  # type: ignore[union-attr]
    (folder / "pipeline.toml").write_text(text.replace("register.csv", "nobody.csv"), encoding="utf-8")
    with pytest.raises(sd.InputError, match="there is no such file or folder, which the pipeline names"):
        sd.run(folder / "pipeline.toml")


@pytest.mark.parametrize(
    ("make", "said"),
    [
        ("k = 3\npopulation = 'a.csv'", "Give one of them and population, or neither"),
        ("d_max = 0.5", "Give one of them and population, or neither"),
        ("k = 3\nd_min = 0.5", "d_min is the lower end of d_max"),
        ("suppress = 0.5", "nothing is asked for. Give k, l or t, or beta"),
    ],
)
def test_what_asks_for_nothing_that_can_be_counted(folder: Path, make: str, said: str) -> None:
    asked(folder, f'verb = "generalize"\n{make}')
    with pytest.raises(sd.InputError, match=said):
        Pipeline.open(folder / "pipeline.toml")
