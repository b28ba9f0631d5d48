"""The command line as a person and as a machine sees it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

import sudare as sd
from sudare.cli import demo
from tests.cli.conftest import Run


@pytest.fixture
def survey(tmp_path: Path) -> Path:
    path = tmp_path / "survey.csv"
    sd.datasets.health_survey(300).select("name", "age", "sex", "region", "diagnosis").write_csv(path)
    return path


def test_init_check_count_generalize_verify(run: Run, survey: Path) -> None:
    assert run("init", survey).code == 0
    text = Path("sudare.toml").read_text()
    assert "# 'diagnosis' in its name: health" in text
    checked = run("check", survey)
    assert checked.code == 0
    assert "agrees with its schema" in checked.out
    counted = run("count", survey, "sex", "--json")
    groups = json.loads(counted.out)["groups"]
    assert sum(group["count"] for group in groups) == 300
    written = run("generalize", survey, "out", "-k", 4, "--suppress", 0.05, "--ledger", "ledger.db")
    assert written.code == 0, written.err
    assert run("verify", "out", "-k", 4).code == 0
    assert run("verify", "out/hand-over/data.csv", "-k", 4).code == 0
    assert run("ledger", "verify", "ledger.db").code == 0
    (entry,) = json.loads(run("ledger", "show", "ledger.db", "--json").out)
    assert entry["body"]["folder"] == "out"


def test_init_saves_hierarchies_to_be_edited(run: Run, survey: Path) -> None:
    written = json.loads(run("init", survey, "--hierarchies", "--json").out)
    assert written["hierarchies"] == [f"sudare.hierarchies/{name}.csv" for name in ("age", "sex", "region")]
    assert Path("sudare.hierarchies/sex.csv").read_text().splitlines() == ["Female;*", "Male;*"]
    assert run("check", survey).code == 0
    assert "--force" in run("init", survey, "--hierarchies").err


def test_init_on_adult_gives_roles_a_person_would_keep(run: Run, data_folder: Path) -> None:
    sd.datasets.load("adult").write_csv("adult.csv", null_value="?")
    assert run("init", "adult.csv").code == 0
    schema = sd.Schema.from_toml("sudare.toml")
    known = [
        "age",
        "workclass",
        "education",
        "marital-status",
        "relationship",
        "race",
        "sex",
        "native-country",
    ]
    assert set(known) <= set(schema.names("quasi"))
    assert "income" in schema.names("sensitive")
    assert schema.names("weight") == ["fnlwgt"]
    assert schema.names("identifier") == []
    assert schema.missing_values == ("", "?")
    checked = json.loads(run("check", "adult.csv", "--json").out)
    assert checked["rows"] == 48_842
    missing = {column["column"]: column["missing"] for column in checked["columns"]}
    assert missing["workclass"] == 2_799
    assert missing["occupation"] == 2_809
    assert missing["native-country"] == 857


@pytest.mark.parametrize("people", [500, pytest.param(demo.PEOPLE, marks=pytest.mark.slow)])
def test_demo_prints_where_the_outputs_are(run: Run, people: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(demo, "PEOPLE", people)
    result = run("demo")
    assert result.code == 0, result.err
    out = [f"hand-over/{name}" for name in ("data.csv", "data.parquet", "certificate.json")]
    for name in [*out, "keep/plan.json", "keep/report.html", "keep/holder.json"]:
        assert f"demo-output/release/{name}" in result.out
        assert Path("demo-output/release", name).is_file()
    again = run("demo")
    assert again.code == 2
    assert "--force" in again.err
    assert run("demo", "--force").code == 0
    assert len(sd.Ledger("demo-output/ledger.db").entries()) == 2


def test_a_requirement_that_does_not_hold_ends_with_1(run: Run, survey: Path) -> None:
    run("init", survey)
    impossible = run("generalize", survey, "out", "-k", 301)
    assert impossible.code == 1
    assert "301-anonymity is impossible: there are only 300 records" in impossible.err
    assert not Path("out").exists()
    run("generalize", survey, "out", "-k", 3)
    broken = run("verify", "out", "-k", 200, "--json")
    assert broken.code == 1
    assert json.loads(broken.out)["holds"] is False


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["check", "none.csv"], "none.csv: there is no such file"),
        (["check", "survey.csv", "--schema", "none.toml"], "Draft one: sudare init"),
        (
            ["check", "survey.csv", "--schema", "bad.toml"],
            "role must be 'identifier', 'quasi', 'sensitive', 'other', 'weight', 'person' or 'household'",
        ),
        (["init", "survey.csv", "--force", "--decimal", ";"], "csv.decimal must be '.' or ','"),
        (["init", "survey.csv", "--force", "--delimiter", "ab"], "csv.delimiter must be one ASCII character"),
        (["count", "survey.csv", "agge"], "there is no column 'agge'"),
        (["ledger", "show", "none.db"], "There is no ledger at"),
        (["ledger", "verify", "survey.csv"], "is not a"),
        (["verify", "none.csv", "-k", "2"], "none.csv: there is no such file or folder"),
        (["generalize", "survey.csv", "out", "-k", "2", "--suppress", "7"], "'suppress' parameter"),
        (["nonsense"], "No such command"),
        (["generalize", "survey.csv", "out"], "Nothing is asked for. Give -k, -l, -t or --k-map, or --beta"),
        (["generalize", "survey.csv", "out", "-k", "2", "--method", "magic"], "'magic' is not one of"),
        (["generalize", "survey.csv", "out", "-l", "2", "--diversity", "recursive"], "'c' parameter"),
    ],
)
def test_mistakes_end_with_2_and_no_traceback(
    run: Run, survey: Path, arguments: list[str], message: str
) -> None:
    run("init", survey)
    Path("bad.toml").write_text('[attributes.age]\nrole = "qasi"\n')
    result = run(*arguments)
    assert result.code == 2
    assert message in result.err
    assert "Traceback" not in result.err
    assert not Path("out").exists()


def test_bad_data_names_file_line_column_and_value(run: Run) -> None:
    Path("people.csv").write_text("age,sex\n30,f\nold,m\n")
    Path("sudare.toml").write_text(
        '[attributes.age]\nrole = "quasi"\ntype = "integer"\n[attributes.sex]\nrole = "quasi"\n'
    )
    result = run("check", "people.csv")
    assert result.code == 2
    assert "people.csv, line 3, column 'age': 'old' is not a whole number" in result.err


def test_init_keeps_an_existing_schema(run: Run, survey: Path) -> None:
    Path("sudare.toml").write_text("mine")
    assert run("init", survey).code == 2
    assert Path("sudare.toml").read_text() == "mine"
    assert run("init", survey, "--force").code == 0


def test_text_of_the_data_is_not_taken_for_markup(run: Run) -> None:
    pl.DataFrame({"town": ["[red]x[/]", "[/nonsense]"]}).write_csv("people.csv")
    result = run("count", "people.csv", "town")
    assert result.code == 0
    assert "[red]x[/]" in result.out


def test_l_diversity_and_t_closeness_from_the_command_line(run: Run, survey: Path) -> None:
    run("init", survey)
    asked = ["-k", 3, "-l", 2, "--diversity", "entropy", "-t", 0.5]
    assert run("generalize", survey, "out", *asked, "--method", "mondrian").code == 0
    assert run("verify", "out", *asked).code == 0
    assert run("verify", "out", "-l", 13).code == 1
    attacked = run("attack", "out")
    assert attacked.code == 0
    assert "homogeneity" in attacked.out
    assert (
        json.loads(run("attack", "out", "--json").out)["reidentification"]["prosecutor"]["largest"] <= 1 / 3
    )


def test_one_coding_for_each_column_from_the_command_line(run: Run, survey: Path) -> None:
    run("init", survey)
    asked = ["--method", "full-domain", "--suppress", 0.1, "--measure", "discernibility"]
    assert run("generalize", survey, "out", "-k", 3, *asked).code == 0
    assert run("verify", "out").code == 0
    holder = json.loads(Path("out/keep/holder.json").read_text(encoding="utf-8"))
    assert set(holder["levels"]) == set(holder["utility"]["distortion_by_attribute"])
    given = [word for name, level in holder["levels"].items() for word in ("--level", f"{name}={level}")]
    assert run("generalize", survey, "out3", "-k", 3, *asked, *given).code == 0
    again = json.loads(Path("out3/keep/holder.json").read_text(encoding="utf-8"))
    assert (again["levels"], again["records"]) == (holder["levels"], holder["records"])
    for wrong in (given[:2], [*given[:-1], "age=0.5"], [*given, *given]):
        assert run("generalize", survey, "out2", "-k", 3, *asked, *wrong).code == 2
    refused = run("generalize", survey, "out2", "-k", 3, "--measure", "ncp")
    assert refused.code != 0
    assert "'measure' parameter of generalize is for the method 'full-domain'" in refused.out + refused.err


def test_shift_jis_is_detected_and_written_down(run: Run) -> None:
    Path("people.csv").write_bytes("年齢;都市\n30;東京\n40;大阪\n".encode("shift_jis"))
    assert run("init", "people.csv").code == 0
    assert sd.Schema.from_toml("sudare.toml").csv.encoding == "shift_jis"
    assert run("check", "people.csv").code == 0


def test_version_and_help_start_without_a_table(run: Run) -> None:
    done = run("--help")
    assert done.code == 0
    assert "init" in done.out
    done = subprocess.run(
        [sys.executable, "-c", "from sudare.cli import main; main()", "--version"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert sd.__version__ in done.stdout
