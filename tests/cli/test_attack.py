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
    assert "The first: age 21, town Oslo: 'HIV'" in result.out


def test_files_as_json(run: Run, views: Path) -> None:
    result = run("attack", "T1.csv", "T2.csv", "--known", "people.csv", "--json")
    assert result.code == 0, result.err
    outcome = json.loads(result.out)["intersection"]
    assert outcome["views"] == ["T1.csv", "T2.csv"]
    assert (outcome["known"], outcome["by_attribute"]["illness"]["given_away"]) == (4, 2)
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
        (["none.csv", "--known", "people.csv"], "none.csv: the output cannot be read"),
    ],
)
def test_mistakes(run: Run, views: Path, arguments: list[str], message: str) -> None:
    result = run("attack", *arguments)
    assert result.code == 2
    assert message in result.err


@pytest.mark.usefixtures("reports")
def test_a_randomized_release_is_attacked_by_its_law(run: Run, tmp_path: Path) -> None:
    schema = sd.Schema.from_roles(sensitive=["ill"], domains={"ill": ["yes", "no", "[red]maybe"]})
    table = sd.read(pl.DataFrame({"ill": ["yes", "no", "[red]maybe"] * 20}), schema)
    sd.randomize(table, sd.PkAnonymity(4)).write(tmp_path / "noisy")
    result = run("attack", "noisy")
    assert result.code == 0, result.err
    assert result.out.startswith("law\nEvery published value was drawn by a law")
    assert "finds a person's row with probability 25.00% at most" in result.out
    assert "100%" not in result.out
    outcomes = json.loads(run("attack", "noisy/hand-over", "--json").out)
    assert outcomes["law"]["k"] >= 4
    assert outcomes["pk_game"]["win_rate"] <= outcomes["pk_game"]["limit"] <= 1 / 4
    assert outcomes["pk_game"]["here"] is None
    (tmp_path / "people.csv").write_text("ill\n" + "yes\nno\n[red]maybe\n" * 20)
    (tmp_path / "sudare.toml").write_text(schema.to_toml())
    for kind in ([], ["--kind", "pk_game"]):
        known = json.loads(run("attack", "noisy", "--known", "people.csv", "--json", *kind).out)
        assert 0 < known["pk_game"]["here"] <= known["pk_game"]["bound"] <= 1 / 4
    refused = run("attack", "noisy", "--known", "people.csv", "--kind", "intersection")
    assert refused.code == 2
    assert "would take noise for truth" in refused.err


def test_what_is_printed_cannot_move_the_terminal(run: Run, tmp_path: Path) -> None:
    schema = sd.Schema.from_roles(quasi=["town"], sensitive=["illness"])
    (tmp_path / "sudare.toml").write_text(schema.to_toml())
    frame = pl.DataFrame({"town": ["\x1b[2Jdoes not hold\x1b[A", "[/x]"], "illness": ["flu", "[red]HIV\x07"]})
    frame.write_csv("out.csv")
    result = run("attack", "out.csv")
    assert result.code == 0, result.err
    assert "\x1b" not in result.out
    assert "\x07" not in result.out
    verified = run("verify", "out.csv", "-k", "2")
    assert verified.code == 1
    assert "\x1b" not in verified.out
    assert "2-anonymity does not hold: k = 1; worst: town = '\\x1b[2Jdoes not hold\\x1b[A'" in verified.out


# -- attacks that know the method --------------------------------------------------------------------


@pytest.fixture
def released(tmp_path: Path, run: Run) -> Path:
    """Two people with q1, who have both the same illness, and four with q2: published by the command."""
    schema = sd.Schema.from_roles(quasi=["q"], sensitive=["ill"])
    (tmp_path / "sudare.toml").write_text(schema.to_toml())
    (tmp_path / "all.csv").write_text("q,ill\nq1,HIV\nq1,HIV\nq2,flu\nq2,cold\nq2,gout\nq2,ulcer\n")
    result = run("generalize", "all.csv", "out", "-l", "2", "--method", "mondrian")
    assert result.code == 0, result.err
    return tmp_path / "out"


def test_minimality_reads_the_certificate(run: Run, released: Path) -> None:
    result = run("attack", "out", "--kind", "minimality", "--known", "all.csv", "--json")
    assert result.code == 0, result.err
    assert json.loads(result.out)["minimality"]["certain"] == 2
    refused = run("attack", "all.csv", "--kind", "minimality", "--known", "all.csv")
    assert refused.code != 0
    assert "there is no certificate beside it" in refused.err


def test_definetti_and_downcoding(run: Run, released: Path) -> None:
    model = run("attack", "out", "--kind", "definetti", "--known", "all.csv")
    assert model.code == 0, model.err
    assert "By a model that is learned from the blocks. 6 people in 1 of 1 blocks" in model.out
    undone = run(
        "attack", "out", "--kind", "downcoding", "--population", "all.csv", "--truth", "all.csv", "--json"
    )
    assert undone.code == 0, undone.err
    assert json.loads(undone.out)["downcoding"]["records"] == 6


def test_composition_takes_several_releases(run: Run, released: Path, tmp_path: Path) -> None:
    (tmp_path / "others.csv").write_text("q,ill\nq1,HIV\nq1,sprain\n")
    assert run("generalize", "others.csv", "other", "-l", "2").code == 0
    (tmp_path / "both.csv").write_text("q\nq1\n")
    result = run("attack", "out", "other", "--kind", "composition", "--known", "both.csv")
    assert result.code == 0, result.err
    assert "of 1 people, 1 (100.0%) are left with one value by all releases together" in result.out


def test_blind_releases(run: Run, released: Path) -> None:
    refused = run("generalize", "all.csv", "out2", "-k", "2", "-l", "2", "--method", "blind")
    assert refused.code != 0
    assert "parts with 33.3% of the records do not meet the requirements" in refused.err
    made = run(
        "generalize",
        "all.csv",
        "out2",
        "-k",
        "2",
        "-l",
        "2",
        "--method",
        "blind",
        "--suppress",
        "0.4",
        "--region-labels",
    )
    assert made.code == 0, made.err
    result = run("attack", "out2", "--kind", "minimality", "--known", "all.csv", "--json")
    assert json.loads(result.out)["minimality"]["ruled_out"] == 0
    assert run("verify", "out2").code == 0


def test_an_engine_reads_who_is_known(run: Run, views: Path) -> None:
    plain = run("attack", "out", "--known", "people.csv", "--json")
    engine = ["--engine", "duckdb", "--memory", "200MB"]
    assert run("attack", "out", "--known", "people.csv", "--json", *engine).out == plain.out


@pytest.mark.parametrize(
    "arguments", [["T1.csv"], ["T1.csv", "--kind", "background", "--known", "1"]], ids=["nobody", "a number"]
)
def test_an_engine_is_for_who_is_known(run: Run, views: Path, arguments: list[str]) -> None:
    result = run("attack", *arguments, "--engine", "duckdb")
    assert result.code == 2
    assert "--engine and --memory are for people that an outsider knows" in result.err


# -- households ---------------------------------------------------------------------------------------


def test_known_people_are_looked_up_with_their_household(run: Run, tmp_path: Path) -> None:
    schema = sd.Schema.from_roles(household="hid", quasi=["age"], sensitive=["ill"], linked={"hid": True})
    (tmp_path / "sudare.toml").write_text(schema.to_toml())
    rows = [f"{hid},{age},{ill}" for hid in range(6) for age, ill in ((30 + hid, "flu"), (hid, "HIV"))]
    (tmp_path / "all.csv").write_text("\n".join(["hid,age,ill", *rows]))
    (tmp_path / "known.csv").write_text("hid,age\n8,31\n8,1\n9,90\n")
    assert run("generalize", "all.csv", "out", "-k", "3").code == 0
    result = run("attack", "out", "--known", "known.csv", "--json")
    assert result.code == 0, result.err
    found = json.loads(result.out)["households"]
    assert (found["unit"], found["known"], found["k"], found["linked"]) == ("household", 2, 3, True)
    assert (found["by_ties"]["hid"]["least"], found["by_ties"]["hid"]["below"]) == (3, 0)
    assert found["by_ties"]["hid"]["candidates"] == {"0": 1, "3": 1}
    assert "fewer than 4 groups" in run("attack", "out", "--known", "known.csv", "-k", 4).out


def test_an_undeclared_household_is_named(run: Run, tmp_path: Path) -> None:
    schema = sd.Schema.from_roles(quasi=["age"], other=["rent", "ill"])
    (tmp_path / "sudare.toml").write_text(schema.to_toml())
    (tmp_path / "out.csv").write_text("age,rent,ill\n30,500,flu\n5,500,HIV\n30,700,flu\n8,700,flu\n")
    (tmp_path / "known.csv").write_text("family,age\nA,30\nA,5\n")
    options = ("--unit", "family", "--tie", "rent")
    result = run("attack", "out.csv", "--known", "known.csv", *options)
    assert result.code == 0, result.err
    assert "households\nHouseholds looked up with all their rows: 1." in result.out
    assert "Tied by rent, 2 groups: all rows of 1 (100.0%) are found." in result.out
