"""`sudare materialize`: the folder to hand over, and the one to keep."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

import sudare as sd
from sudare.pview.pview import PView
from tests.cli.conftest import Run

ASKED = ("--epsilon", "1", "--method", "independent")


@pytest.fixture
def materialize(run: Run) -> Run:
    """Make a p-view of a small table, with further options."""
    rows = {"age": [20 + i % 50 for i in range(400)], "ill": ["yes", "no", "no", "no"] * 100}
    pl.DataFrame(rows).write_csv("people.csv")
    schema = sd.Schema.from_roles(
        quasi=["age"], sensitive=["ill"], bounds={"age": (18, 80)}, domains={"ill": ["yes", "no"]}
    )
    Path("sudare.toml").write_text(schema.to_toml())
    return lambda *options: run("materialize", "people.csv", "out", *ASKED, *options)


def files(folder: str) -> set[str]:
    return {path.name for path in Path(folder).iterdir()}


@pytest.mark.usefixtures("reports")
def test_what_is_handed_over_and_what_is_kept_are_apart(materialize: Run) -> None:
    done = materialize()
    assert done.code == 0, done.err
    assert files("out") == {"hand-over", "keep"}
    assert files("out/hand-over") == {"pview.parquet", "manifest.json", "certificate.json", "page.html"}
    assert files("out/keep") == {"report.html", "holder.json", "plan.json"}
    assert "For the holder of the data only" in Path("out/keep/report.html").read_text()
    assert "For the holder" not in Path("out/hand-over/page.html").read_text()
    assert "To hand over: out/hand-over" in done.out
    assert "shows the original: out/keep/report.html" in done.out
    assert PView.open("out").count(ill="no").value == pytest.approx(300, abs=60)


def test_query_takes_the_release_or_what_is_handed_over(materialize: Run, run: Run) -> None:
    materialize()
    asked = "SELECT COUNT(*) FROM view WHERE ill = 'no'"
    answers = [json.loads(run("query", folder, asked, "--json").out) for folder in ("out", "out/hand-over")]
    assert answers[0] == answers[1]


def test_verify_takes_the_release(materialize: Run, run: Run) -> None:
    materialize()
    for folder in ("out", "out/hand-over"):
        done = run("verify", folder)
        assert done.code == 0, done.err


def test_json_says_where_everything_is(materialize: Run) -> None:
    told = json.loads(materialize("--json").out)
    assert told["folder"] == "out"
    assert told["budget"]["remaining"] == "0"
    assert {share["kind"] for share in told["budget"]["shares"]} == {"table"}


def test_parameters_of_a_method(materialize: Run) -> None:
    done = materialize("--theta", "2")
    assert done.code == 2
    assert "The method 'independent' has no parameter 'theta'" in done.err
    assert materialize("--method", "dp-mondrian", "--theta", "2").code == 0
    assert json.loads(Path("out/keep/plan.json").read_text())["method"]["theta"] == 2
    assert materialize("--method", "dp-mondrian", "--gamma", "0", "--projection", "--force").code == 0
    told = json.loads(Path("out/keep/plan.json").read_text())["method"]
    assert (told["gamma"], told["projection"]) == ("0", True)


def test_the_ledger_is_charged_once_and_knows_the_folder(materialize: Run) -> None:
    done = materialize("--ledger", "ledger.db", "--receiver", "hospital")
    assert done.code == 0, done.err
    charged, written = (entry.body for entry in sd.Ledger("ledger.db").entries())
    assert charged["noise"]["epsilon"] == "1.0"
    assert (charged["folder"], written["folder"]) == ("a p-view", "out")
    assert ("measurement" in charged, len(written["measurement"])) == (False, 64)
    assert charged["receiver"] == written["receiver"] == "hospital"


def test_an_existing_folder_is_refused_before_anything_is_spent(materialize: Run) -> None:
    Path("out").mkdir()
    for force, why in (((), "out exists already"), (("--force",), "so it is not ours")):
        done = materialize("--ledger", "ledger.db", *force)
        assert done.code == 2
        assert why in done.err
    assert files(".") == {"people.csv", "sudare.toml", "out"}
    assert files("out") == set()


def test_a_release_is_replaced_only_by_force(materialize: Run) -> None:
    assert materialize().code == 0
    before = Path("out/hand-over/certificate.json").read_text()
    done = materialize()
    assert done.code == 2
    assert "out exists already" in done.err
    assert Path("out/hand-over/certificate.json").read_text() == before
    assert materialize("--force").code == 0
    assert Path("out/hand-over/certificate.json").read_text() != before


def test_what_will_be_asked_is_read_from_options_and_a_file(materialize: Run) -> None:
    asked = "SELECT COUNT(*) FROM view WHERE age < 30"
    done = materialize("--ask", asked)
    assert done.code == 2
    assert "The method 'independent' spends its budget alike, whatever will be asked" in done.err
    Path("queries.sql").write_text(f"{asked};\nSELECT COUNT(*) FROM view WHERE height < 30;")
    done = materialize("--ask", asked, "--ask-file", "queries.sql")
    assert done.code == 2
    assert "The p-view has no attribute 'height'" in done.err
    assert "the file of queries cannot be opened" in materialize("--ask-file", "nowhere.sql").err
    assert not Path("out").exists()


def test_sets_of_attributes_that_will_be_asked_are_options_beside_queries(materialize: Run) -> None:
    done = materialize("--ask-marginals", "age,ill")
    assert done.code == 2
    assert "The method 'independent' spends its budget alike, whatever will be asked" in done.err
    query = "SELECT ill, COUNT(*) FROM view WHERE age < 30 GROUP BY ill"
    sets = (
        "--ask-marginals",
        "age,ill",
        "--ask-marginals",
        "ill",
        "--ask-ranges",
        "age,ill",
        "--ask-prefixes",
        "age",
    )
    assert materialize("--method", "pairs", "--ask", query, *sets).code == 0
    both = ["age", "ill"]
    workload = {"queries": [query], "marginals": [both, ["ill"]], "ranges": [both], "prefixes": ["age"]}
    expected = sd.Interest.of(workload, PView.open("out").domain)
    assert json.loads(Path("out/keep/plan.json").read_text())["interest"] == expected.to_json()
    assert (
        "no attribute 'height'"
        in materialize("--method", "pairs", "--ask-ranges", "age,height", "--force").err
    )
