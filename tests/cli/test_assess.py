"""`sudare assess` as a person and as a machine sees it."""

from __future__ import annotations

import json
import shlex
import sys
from importlib.util import find_spec
from pathlib import Path

import polars as pl
import pytest

import sudare as sd
from tests.cli.conftest import Run
from tests.conftest import unavailable


@pytest.fixture
def assess(run: Run, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Assess a small survey, on a terminal of 80 columns."""
    monkeypatch.setenv("COLUMNS", "80")
    sd.datasets.health_survey(300).select("name", "age", "sex", "smoker", "diagnosis").write_csv("survey.csv")
    schema = sd.Schema.from_roles(
        identifier=["name"], quasi=["age", "sex"], sensitive=["diagnosis"], other=["smoker"]
    )
    Path("sudare.toml").write_text(schema.to_toml())
    return lambda *options: run("assess", "survey.csv", *options)


def python(**asked: object) -> sd.Assessment:
    return sd.assess(sd.read("survey.csv", "sudare.toml"), **asked)  # type: ignore[arg-type]


def test_a_person_sees_figures_and_sentences(assess: Run) -> None:
    done = assess("-l", 2, "-l", 4, "-l", 12, "-k", 3)
    assert done.code == 0, done.err
    assessment = python(l=[2, 4, 12], k=3)
    figures = [f"{assessment.best_l[l].value:.4f}" for l in (2, 4)]
    figures += [
        f"{assessment.best_k[3].value:.4f}",
        f"{assessment.reached_k[4]:.4f}",
        f"{assessment.ratio[4]:.2f}",
    ]
    figures += [f" {assessment.max_blocks[12]} ", f" {assessment.min_block_distinct[4]} "]
    for text in (*figures, *assessment.advice, "possible", "k-anonymity"):
        assert text in done.out
    assert "…" not in done.out  # the table fits into 80 columns
    for symbol in ("MaxNB", "BS_s", "BS_e", "DIS"):
        assert symbol not in done.out


def test_each_choice_says_the_words_by_which_publish_takes_it(assess: Run) -> None:
    done = assess("-l", 2, "-l", 8, "-k", 3, "--diversity", "entropy")
    choices = [
        one for offered in python(l=[2, 8], k=3, diversity="entropy").choices.values() for one in offered[1:]
    ]
    accepted = [one.accepted_as for one in choices if one.accepted_as]
    assert accepted
    for words in accepted:
        assert f"Accept {' with '.join(map(repr, words))} for that." in done.out
    assert f"--accept {shlex.quote(accepted[0][0])}" in done.out
    assert len(python(l=2, k=3).choices[2]) == 1  # what suits need not be accepted
    assert "ccept" not in assess("-l", 2, "-k", 3).out


def test_a_machine_sees_what_python_returns(assess: Run) -> None:
    done = assess("-l", 2, "-l", 2.5, "-k", 2, "-k", 5, "--diversity", "entropy", "--json")
    assert done.code == 0, done.err
    asked = python(l=[2, 2.5], k=[2, 5], diversity="entropy").to_json()
    assert json.loads(done.out) == json.loads(json.dumps(asked))


def test_without_options_the_defaults_of_python_hold(assess: Run) -> None:
    assert json.loads(assess("--json").out) == json.loads(json.dumps(python().to_json()))


def test_entropy_tight_and_the_sensitive_attribute_are_passed_on(assess: Run) -> None:
    text = Path("sudare.toml").read_text()
    Path("sudare.toml").write_text(text.replace('"other"', '"sensitive"'))
    assert "Name one" in assess().err
    options = ["--attribute", "smoker", "--diversity", "entropy", "--tight", "-l", 2, "-k", 2]
    printed = json.loads(assess(*options, "--json").out)
    asked = python(l=2, k=2, attribute="smoker", diversity="entropy", tight=True).to_json()
    assert printed == json.loads(json.dumps(asked))


def test_not_feasible_is_an_answer(assess: Run) -> None:
    done = assess("-l", 40, "-k", 301)
    assert done.code == 0, done.err
    assert "Distinct 40-diversity is impossible" in done.out
    assert "distinct l-diversity of 'diagnosis'" in done.out
    assert "301-anonymity is impossible: there are only 300 records" in done.out


def test_report_and_plots(assess: Run) -> None:
    if find_spec("resvg_py") is None:
        unavailable("resvg-py is not installed: pip install 'sudare[plots]'")
    done = assess("-l", 2, "-k", 2, "--report", "page.html", "--plots", "plots")
    assert done.code == 0, done.err
    assert "Written: page.html." in done.out
    assert "Written: plots." in done.out
    assert "Assessment of survey.csv" in Path("page.html").read_text()
    assert {path.name for path in Path("plots").iterdir()} >= {"bounds.svg", "bounds.png", "values.png"}
    again = assess("-l", 3, "-k", 2, "--report", "page.html", "--json")
    assert list(json.loads(again.out)["best_l"]) == ["3"]
    assert "l = 3:" in Path("page.html").read_text()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["-l", 0], "'l' parameter"),
        (["-l", "nan"], "'l' parameter"),
        (["-k", 0], "'k' parameter"),
        (["-l", 2.5], "'l' parameter"),
        (["--diversity", "recursive"], "recursive"),
        (["--device", "abacus"], "abacus"),
        (["--attribute", "agge"], "agge"),
        (["--schema", "none.toml"], "Draft one: sudare init"),
        (["--report", "survey.csv"], "name it FILE.html. Got survey.csv instead"),
        (["--report", "none/page.html"], "there is no folder none"),
        (["--plots", "survey.csv"], "survey.csv is not a folder"),
    ],
)
def test_mistakes_end_with_2_and_write_nothing(assess: Run, options: list[object], message: str) -> None:
    data = Path("survey.csv").read_bytes()
    done = assess(*options)
    assert done.code == 2
    assert message in done.err
    assert "Traceback" not in done.err
    assert Path("survey.csv").read_bytes() == data
    assert sorted(path.name for path in Path().iterdir()) == ["sudare.toml", "survey.csv"]


def test_plots_without_the_extra_are_refused_before_the_work(
    assess: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "resvg_py", None)
    done = assess("--plots", "plots")
    assert done.code == 2
    assert "pip install 'sudare[plots]'" in done.err
    assert not Path("plots").exists()


def test_text_of_the_data_is_not_taken_for_markup(assess: Run) -> None:
    pl.DataFrame({"x": ["a", "b"] * 3, "[red]s[/]": ["[/u]", "v", "[/u]"] * 2}).write_csv("survey.csv")
    Path("sudare.toml").write_text(sd.Schema.from_roles(quasi=["x"], sensitive=["[red]s[/]"]).to_toml())
    done = assess("-l", 3)
    assert done.code == 0, done.err
    assert "[red]s[/]" in done.out


def test_harmless_values_recursive_diversity_and_proximity(assess: Run) -> None:
    harmless = ["--harmless", "No finding", "--harmless", "Asthma"]
    for options, asked in (
        (harmless, {"harmless": ["No finding", "Asthma"]}),
        (["--diversity", "recursive", "-c", 2], {"diversity": "recursive", "c": 2.0}),
    ):
        done = assess("-l", 3, "-k", 2, *options, "--json")
        assert done.code == 0, done.err
        expected = python(l=3, k=2, **asked).to_json()
        assert json.loads(done.out) == json.loads(json.dumps(expected))
    assert "'Asthma', 'No finding' harmless" in assess("-l", 3, "-k", 2, *harmless).out
    words = assess("-l", 2, "--diversity", "proximity", "--within", 5)
    assert words.code == 2
    assert "is for numbers, and 'diagnosis' has String" in words.err
    assert assess("-l", 2, "--harmless", "Nothing").code == 2


def test_values_that_are_nearly_all_different(run: Run) -> None:
    sd.datasets.health_survey(300).select("age", "sex", "annual_income").write_csv("incomes.csv")
    schema = sd.Schema.from_roles(quasi=["age", "sex"], sensitive=["annual_income"])
    Path("sudare.toml").write_text(schema.to_toml())
    warning = "Warning: 'annual_income' has"
    for command in (["check"], ["assess", "-l", 2], ["generalize", "out", "-l", 2]):
        done = run(command[0], "incomes.csv", *command[1:])
        assert done.code == 0, done.err
        assert warning in done.out
    near = ["-l", 2, "--diversity", "proximity", "--within", 0.05, "--relative"]
    done = run("generalize", "incomes.csv", "near", *near)
    assert done.code == 0, done.err
    assert warning not in done.out
    assert run("verify", "near").code == 0
    assert run("verify", "near", *near).code == 0
    assert run("verify", "near", *near[:-3], "--within", 0.5, "--relative").code == 1
    done = run("attack", "near", "--kind", "proximity", "--within", 0.05, "--json")
    assert json.loads(done.out)["proximity"]["by_attribute"]["annual_income"]["belief"] <= 0.5
    assert "proximity" in run("attack", "near", "--harmless", 0).out
