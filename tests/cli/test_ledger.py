"""`sudare ledger`: budgets, receivers apart, and what was released."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

import sudare as sd
from tests.cli.conftest import Run


def test_a_budget_has_an_epsilon_a_delta_and_a_relation(run: Run) -> None:
    done = run(
        "ledger",
        "budget",
        "l.db",
        "people",
        "--epsilon",
        3,
        "--delta",
        "1e-9",
        "--neighbours",
        "add or remove",
    )
    assert done.code == 0, done.err
    assert "delta 1e-09 in all, 0 spent, 1e-09 remain; one record added or removed" in done.out
    assert sd.Ledger("l.db").entries()[0].body == {
        "source": "people", "epsilon": "3", "delta": "1e-9", "neighbours": "add or remove",
    }  # fmt: skip
    budget = json.loads(run("ledger", "budget", "l.db", "people", "--json").out)
    assert budget["neighbours"] == "add or remove"
    assert (budget["epsilon"], budget["remaining"], budget["remaining_delta"]) == (3, 3, 1e-9)
    assert run("ledger", "budget", "l.db", "people", "--epsilon", "2").code == 0
    assert sd.Ledger("l.db").entries()[1].body["neighbours"] == "replace"
    listed = run("ledger", "show", "l.db").out
    assert "epsilon 2" in listed  # a narrow terminal breaks the line after it


def test_a_budget_is_dealt_out_over_periods(run: Run) -> None:
    done = run("ledger", "budget", "l.db", "people", "--epsilon", 12, "--periods", 12)
    assert done.code == 0, done.err
    assert "people, period 1: epsilon 1 in all" in done.out
    assert "people, period 2: epsilon 1 in all" in run("ledger", "period", "l.db", "people").out
    assert run("ledger", "budget", "l.db", "people", "--epsilon", 12, "--decay", "1/3").code == 0
    begun = json.loads(run("ledger", "period", "l.db", "people", "--json").out)
    assert (begun["period"], begun["epsilon"]) == (3, 12 * 2 / 27)
    listed = " ".join(run("ledger", "show", "l.db").out.split())
    assert "next period" in listed
    assert run("ledger", "period", "l.db", "others").code == 2


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--epsilon", "1e999999999"), "at most 30 digits"),
        (("--epsilon", "0"), "must be above 0"),
        (("--delta", "1e-9"), "Give --epsilon too."),
        (("--neighbours", "replace"), "Give --epsilon too."),
        (("--periods", "3"), "Give --epsilon too."),
        (("--epsilon", "3", "--periods", "3", "--decay", "1/2"), "either so many periods"),
        (("--epsilon", "3", "--decay", "2"), "between 0 and 1"),
        ((), "There is no ledger"),
    ],
)
def test_what_is_no_budget_ends_with_2(run: Run, options: tuple[str, ...], message: str) -> None:
    done = run("ledger", "budget", "l.db", "people", *options)
    assert done.code == 2
    assert message in " ".join(done.err.split())


def test_a_p_view_is_told_from_the_entry_that_charged_it(run: Run) -> None:
    sd.datasets.health_survey(200).select("sex").write_csv("survey.csv")
    Path("sudare.toml").write_text('[attributes.sex]\nrole = "quasi"\ndomain = ["Female", "Male"]\n')
    for name in ("one", "two"):
        assert run("materialize", "survey.csv", name, "--epsilon", 1, "--ledger", "l.db").code == 0
    shown = " ".join(re.sub("[┃│]", " ", run("ledger", "show", "l.db").out).split())
    assert shown.count("a p-view, charged") == 2
    for entry, name in ((1, "one"), (3, "two")):
        assert f"{name}, the p-view of {entry}" in shown
    assert "is charged once" in shown
    assert run("generalize", "survey.csv", "rows", "-k", 2, "--ledger", "rows.db").code == 0
    assert "is charged once" not in run("ledger", "show", "rows.db").out


def test_init_names_the_source_and_the_ledger_knows_it_by_that(run: Run) -> None:
    sd.datasets.health_survey(300).select("age", "sex", "diagnosis").write_csv("survey.csv")
    assert run("init", "survey.csv").code == 0
    assert sd.Schema.from_toml("sudare.toml").source == "survey"
    assert run("generalize", "survey.csv", "out", "-k", 4, "--suppress", 0.05, "--ledger", "l.db").code == 0
    assert sd.Ledger("l.db").entries()[0].body["source"] == "survey"
