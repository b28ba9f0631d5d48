"""What `sudare views` writes and says, what it refuses, and who gets it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import sudare as sd
from tests.cli.conftest import Run

TWO = ("--view", "ages=age,sex", "--view", "places=sex,region")


@pytest.fixture
def views(run: Run) -> Run:
    """Publish views of a small survey; the folder and further options are given."""
    sd.datasets.health_survey(600).select("name", "age", "sex", "region", "diagnosis").write_csv("survey.csv")
    schema = sd.Schema.from_roles(
        identifier=["name"], quasi=["age", "sex", "region"], sensitive=["diagnosis"]
    )
    Path("sudare.toml").write_text(schema.to_toml())
    return lambda folder, *options: run("generalize-views", "survey.csv", folder, *options)


def certificate(folder: str) -> dict[str, Any]:
    return sd.Certificate.open(Path(folder, "hand-over", "certificate.json")).model_dump(mode="json")


def holder(folder: str) -> dict[str, Any]:
    record: dict[str, Any] = json.loads(Path(folder, "keep", "holder.json").read_text())
    return record


def test_it_writes_every_view_and_says_what_each_cost(views: Run) -> None:
    done = views("out", *TWO, "--l", 3)
    assert done.code == 0, done.err
    assert "multi-view 3-diversity: holds, l_multiview = " in done.out
    certified = certificate("out")
    assert certified["measured"]["l_multiview"] >= 3
    for name, columns in {"ages": ["age", "sex"], "places": ["sex", "region"]}.items():
        published = pl.read_parquet(f"out/hand-over/{name}.parquet")
        assert published.columns == [*columns, "diagnosis"]
        assert published.height == 600
        cost = holder("out")["utility"][name]
        assert certified["utility"][name]["discernibility"] == cost["discernibility"]
        assert cost["blocks"] == published.select(columns).n_unique()
        (line,) = [line for line in done.out.splitlines() if f" {name} " in line]
        for text in (f"{cost['average_block']:,.1f}", f"{cost['discernibility']:,}", f"{cost['open']:.2%}"):
            assert f" {text} " in line
    posterior = holder("out")["attacks"]["output"]["intersection"]["by_attribute"]["diagnosis"]["posterior"]
    assert f"for whoever combines these views: {posterior:.1%} (raw views: 100.0%)" in done.out
    assert "Not covered: Sets and counts of values" in done.out
    assert (
        done.out.index("holds") < done.out.index("What it cost") < done.out.index("Hand over out/hand-over")
    )


def test_nobody_has_one_value_left_when_the_files_are_attacked(views: Run) -> None:
    assert views("out", *TWO, "-l", 3).code == 0
    frames = {name: f"out/hand-over/{name}.parquet" for name in ("ages", "places")}
    people = sd.read("survey.csv", "sudare.toml")
    outcome = sd.attack(frames, people.schema, kind="intersection", known=people)
    assert outcome.by_attribute["diagnosis"].least >= 3
    raw = {name: people.frame().select(pl.read_parquet(file).columns) for name, file in frames.items()}
    before = sd.attack(raw, people.schema, kind="intersection", known=people)
    assert before.by_attribute["diagnosis"].given_away > 0


def test_json_is_the_certificate(views: Run) -> None:
    done = views("out", *TWO, "-l", 3, "--json")
    told = json.loads(done.out)
    assert told == {
        "folder": "out",
        "certificate": certificate("out") | {"output": {}},
        "holder": holder("out"),
    }


@pytest.mark.parametrize(
    ("kind", "name"), [("entropy", "l_multiview_entropy"), ("posterior", "l_multiview_posterior")]
)
def test_kind_is_what_is_measured(views: Run, kind: str, name: str) -> None:
    done = views("out", *TWO, "-l", 1.5, "--kind", kind)
    assert done.code == 0, done.err
    assert certificate("out")["measured"][name] >= 1.5


@pytest.mark.parametrize("order", [("--order", "places,ages"), ("--order", "places", "--order", "ages")])
def test_the_first_in_order_is_as_fine_as_if_it_were_alone(views: Run, order: tuple[str, ...]) -> None:
    options = ("-l", 4, "--method", "sequential")
    done = views("out", *TWO, *options, *order)
    assert done.code == 0, done.err
    assert views("alone", "--view", "places=sex,region", *options).code == 0
    assert certificate("out")["method"] == "sequential"
    assert holder("out")["utility"]["places"] == holder("alone")["utility"]["places"]


def test_more_weight_makes_a_view_finer(views: Run) -> None:
    for folder, weight in (("plain", "ages=1"), ("heavy", "ages=50")):
        done = views(folder, *TWO, "-l", 6, "--weight", weight)
        assert done.code == 0, done.err
    plain, heavy = (holder(folder)["utility"]["ages"]["open"] for folder in ("plain", "heavy"))
    assert heavy <= plain
    assert heavy < holder("heavy")["utility"]["places"]["open"]


def test_the_papers_way_can_be_asked_for(views: Run) -> None:
    done = views("out", *TWO, "-l", 3, "--score", "paper", "--candidates", 3, "--alpha", 0.5)
    assert done.code == 0, done.err
    assert certificate("out")["measured"]["l_multiview"] >= 3


def test_a_later_view_is_made_against_the_ledger(views: Run) -> None:
    book = ("--ledger", "releases.db", "--receiver", "university")
    assert views("first", "--view", "ages=age,sex", "-l", 3, *book).code == 0
    done = views("second", "--view", "places=sex,region", "-l", 3, *book)
    assert done.code == 0, done.err
    assert (
        "Made against release 1 of the ledger: whoever has that, too, is left with what is promised."
        in done.out
    )
    assert "were not looked at" in done.out
    assert [entry.body["receiver"] for entry in sd.Ledger("releases.db").entries()] == ["university"] * 2
    together = {"ages": "first/hand-over/ages.parquet", "places": "second/hand-over/places.parquet"}
    people = sd.read("survey.csv", "sudare.toml")
    outcome = sd.attack(together, people.schema, kind="intersection", known=people)
    assert outcome.by_attribute["diagnosis"].least >= 3


def test_receivers_apart_are_not_combined_unless_everybody_is_meant(views: Run) -> None:
    sd.Ledger("releases.db").declare_apart(["university", "insurer"])
    book = ("--ledger", "releases.db", "--receiver")
    assert views("first", "--view", "ages=age,sex", "-l", 3, *book, "university").code == 0
    apart = views("second", "--view", "places=sex,region", "-l", 3, *book, "insurer")
    assert apart.code == 0, apart.err
    assert "Made against" not in apart.out
    third = ("third", "--view", "all=age,region", "-l", 3, *book, "insurer")
    every = views(*third, "--everybody")
    assert every.code == 1
    assert "after releases 2, 3 somebody is left with 1" in every.err
    assert "Made against release 3 of the ledger" in views(*third).out


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--view", "ages", "-l", 3), "--view must be like T1=age,sex. Got 'ages' instead."),
        (("--view", "a=age", "--view", "a=sex", "-l", 3), "--view speaks of 'a' twice."),
        (("--view", "a=age,weight", "-l", 3), "there is no column 'weight'"),
        (("--view", "a=age,diagnosis", "-l", 3), "The view 'a' has 'diagnosis', which is sensitive."),
        ((*TWO, "-l", 2.5), "The 'l' parameter of MultiViewDiversity must be a whole number"),
        (
            (*TWO, "-l", 3, "--weight", "ages=much"),
            "--weight ages must be a number, as in ages=2. Got 'much'",
        ),
        ((*TWO, "-l", 3, "--order", "places"), "must name every view once, for 'sequential'"),
        ((*TWO, "-l", 3, "--receiver", "insurer"), "--receiver is noted in a ledger. Give --ledger too."),
        ((*TWO, "-l", 3, "--everybody"), "--everybody speaks of a ledger's receivers. Give --ledger too."),
    ],
)
def test_bad_input_ends_with_2_and_writes_nothing(
    views: Run, options: tuple[object, ...], message: str
) -> None:
    done = views("out", *options)
    assert done.code == 2
    assert message in done.err
    assert not Path("out").exists()


def test_what_is_impossible_ends_with_1(views: Run) -> None:
    done = views("out", *TWO, "-l", 1000)
    assert done.code == 1
    assert "multi-view 1000-diversity is impossible: the table has only" in done.err
    assert not Path("out").exists()


@pytest.mark.parametrize(
    "command",
    [
        ("generalize", "-k", 3),
        ("publish", "-l", 1.5, "--diversity", "entropy"),
        ("randomize", "--pk", 3, "--how", "age=bins"),
    ],
)
def test_every_command_with_a_ledger_notes_the_receiver(
    views: Run, run: Run, command: tuple[object, ...]
) -> None:
    names, survey = ["sex", "region", "diagnosis"], pl.read_csv("survey.csv")
    schema = sd.Schema.from_roles(
        identifier=["name"],
        quasi=["age", "sex", "region"],
        sensitive=["diagnosis"],
        bounds={"age": (0, 120)},
        domains={column: survey[column].drop_nulls().unique().sort().to_list() for column in names},
    )
    Path("sudare.toml").write_text(schema.to_toml())
    name, *options = command
    alone = run(name, "survey.csv", "out", *options, "--receiver", "university")
    assert alone.code == 2
    assert "--receiver is noted in a ledger. Give --ledger too." in alone.err
    done = run(name, "survey.csv", "out", *options, "--receiver", "university", "--ledger", "releases.db")
    assert done.code == 0, done.err
    (entry,) = sd.Ledger("releases.db").entries()
    assert entry.body["receiver"] == "university"
