"""`sudare publish`, by options, by the schema, and in a dialogue."""

from __future__ import annotations

import json
import re
from pathlib import Path

import polars as pl
import pytest

import sudare as sd
from sudare.cli import output
from sudare.cli import publish as command
from sudare.tables.recipes import MaskRecipe
from tests.cli.conftest import Run


@pytest.fixture
def survey(run: Run) -> str:
    sd.datasets.health_survey(300).select("name", "age", "sex", "diagnosis").write_csv("survey.csv")
    schema = sd.Schema.from_roles(identifier=["name"], quasi=["age", "sex"], sensitive=["diagnosis"])
    Path("sudare.toml").write_text(schema.to_toml())
    return "survey.csv"


def test_publish_writes_and_says_what_was_decided(run: Run, survey: str) -> None:
    done = run("publish", survey, "out", "-l", 2, "-k", 3, "--ledger", "ledger.db")
    assert done.code == 0, done.err
    holder = json.loads(Path("out/keep/holder.json").read_text())
    assert holder["decision"] in done.out
    assert f"no method can do better than {holder['bound']:.4f}" in done.out
    assert run("verify", "out", "-k", 3, "-l", 2).code == 0
    assert "distinct 2-diversity" in done.out
    assert run("ledger", "verify", "ledger.db").code == 0


def test_publish_json(run: Run, survey: str) -> None:
    done = run("publish", survey, "out", "-l", 2, "--diversity", "entropy", "--json")
    assert json.loads(done.out)["certificate"]["requirements"] == ["entropy 2-diversity"]


def test_the_schema_is_the_policy_and_options_go_before(run: Run, survey: str) -> None:
    assert run("publish", survey, "out").code == 2
    text = Path("sudare.toml").read_text()
    Path("sudare.toml").write_text(text + '\n[publish]\nl = 50\naccept = ["lower l"]\n')
    done = run("publish", survey, "out", "-k", 4)
    assert done.code == 0, done.err
    assert "Lower l to" in done.out
    assert json.loads(Path("out/hand-over/certificate.json").read_text())["requirements"][0] == "4-anonymity"


def test_what_is_impossible_ends_with_1_and_writes_nothing(run: Run, survey: str) -> None:
    done = run("publish", survey, "out", "-l", 50)
    assert done.code == 1
    assert "is impossible" in done.err
    assert "'lower l'" in done.err
    assert not Path("out").exists()


def test_a_wrong_compromise_is_refused(run: Run, survey: str) -> None:
    done = run("publish", survey, "out", "-l", 2, "--accept", "shrug")
    assert done.code == 2
    assert "must be one of 'go ahead', 'lower l'" in done.err


def test_a_person_is_asked_on_a_terminal(run: Run, survey: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(output.console, "_force_terminal", True)
    asked: list[str] = []

    def prompt(text: str, type: object) -> int:
        asked.append(text)
        return 9 if len(asked) == 1 else 2  # a slip first

    monkeypatch.setattr(command.typer, "prompt", prompt)
    done = run("publish", survey, "out", "-l", 50)
    assert done.code == 0, done.err
    assert [text.split(",")[0] for text in asked] == ["Which one", "Which one"]
    assert "lower l: Lower l to" in done.out


def test_harmless_values_and_k_anonymity_can_be_accepted(run: Run, survey: str) -> None:
    asked = ["-l", 12, "--diversity", "entropy"]
    done = run("publish", survey, "out", *asked, "--accept", "harmless value: No finding", "--json")
    assert done.code == 1  # that one does not do
    assert "'k-anonymity'" in done.err
    done = run("publish", survey, "out", *asked, "--accept", "k-anonymity")
    assert done.code == 0, done.err
    assert "if you accept the risk" in done.out
    assert "Not covered: sensitive values were not kept apart" in done.out
    assert json.loads(Path("out/hand-over/certificate.json").read_text())["caveats"]
    aside = ["-l", 4, "--harmless", "No finding", "--harmless", "Hypertension", "--accept", "go ahead"]
    done = run("publish", survey, "aside", *aside)
    assert done.code == 0, done.err
    assert "'Hypertension', 'No finding' harmless" in done.out
    assert run("verify", "aside").code == 0
    done = run("publish", survey, "again", "-l", 2, "--accept", "harmless value")
    assert done.code == 2
    assert "must name the value that is harmless" in done.err


@pytest.fixture
def towns(run: Run) -> str:
    """Everybody has neighbours with other illnesses, but for two in a place of their own."""
    houses = [f"{i // 5:03d}" for i in range(195)] + ["100", "101", "102"] + ["999"] * 2
    illness = ["cold", "flu", "cough", "gout", "cold"] * 39 + ["cold", "flu", "gout"] + ["cold"] * 2
    places = {"town": ["north"] * 198 + ["far"] * 2, "house": houses, "illness": illness}
    pl.DataFrame(places).write_csv("towns.csv")
    schema = sd.Schema.from_roles(
        quasi=["town", "house"],
        sensitive=["illness"],
        weights={"town": 2},
        hierarchies={"house": MaskRecipe(kind="mask")},
    )
    Path("sudare.toml").write_text(schema.to_toml())
    return "towns.csv"


@pytest.mark.parametrize(
    ("asked", "among"),
    [
        ("-l 2", "go ahead, harmless value: cold, drop attribute, suppress, k-anonymity"),
        ("-l 4 --diversity entropy", "lower l, distinct, k-anonymity"),
    ],
)
def test_every_choice_that_is_named_can_be_accepted(run: Run, towns: str, asked: str, among: str) -> None:
    """By the very words that name it; what is published then holds, and says why."""
    refused = run("publish", towns, "none", *asked.split())
    assert refused.code == 1
    named = re.findall(r"Accept '([^']+)' for that", refused.err.replace("\n", " "))
    assert named == among.split(", ")
    for place, accept in enumerate(named):
        done = run("publish", towns, f"out{place}", *asked.split(), "--accept", accept)
        assert done.code == 0, (accept, done.err)
        assert run("verify", f"out{place}").code == 0
        assert json.loads(Path(f"out{place}/keep/holder.json").read_text())["decision"] in refused.err


def test_another_try_is_offered_and_taken(run: Run, survey: str) -> None:
    asked = ["-l", 3, "--diversity", "entropy", "--accept", "go ahead"]
    done = run("publish", survey, "out", *asked)
    assert done.code == 0, done.err
    assert "Try again with more effort" in done.out
    assert "Accept 'retry' for that. Here that is --accept retry." in done.out
    done = run("publish", survey, "again", *asked, "--accept", "retry")
    assert done.code == 0, done.err
    assert "That was done" in done.out
    tried = [
        json.loads(Path(f"{folder}/keep/holder.json").read_text())["retry"]["tried"]
        for folder in ("out", "again")
    ]
    assert tried[0] is None
    assert tried[1]["after"] <= tried[1]["before"]
    assert run("verify", "again").code == 0
