"""What a p-view promises, added up again from its folder."""

from __future__ import annotations

import json
import math
import shutil
from pathlib import Path

import pytest
from typer.testing import CliRunner

import sudare as sd
from sudare.cli.app import app
from sudare.verification.recount_budget import epsilon_spent
from sudare.verification.verify import verify
from tests.pview.forged import forge
from tests.reports.pview_cases import people, survey

PURE, GAUSSIAN = sd.DifferentialPrivacy(1.0), sd.DifferentialPrivacy(1.0, 1e-9)


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[sd.DifferentialPrivacy, Path]:
    table, at = survey(people(300)), tmp_path_factory.mktemp("pviews")
    return {
        promise: sd.materialize(table, promise, "independent").save(at / str(promise.delta))
        for promise in (PURE, GAUSSIAN)
    }


@pytest.mark.parametrize("promise", [PURE, GAUSSIAN], ids=["pure", "gaussian"])
def test_a_pview_keeps_its_promise_and_no_better_one(folders, promise) -> None:
    verification = verify(folders[promise], promise)
    assert verification.holds
    assert 0.999 < verification.value <= 1.0
    assert not verify(folders[promise], sd.DifferentialPrivacy(0.99, promise.delta)).holds


def test_without_a_delta_gaussian_noise_promises_nothing(folders) -> None:
    verification = verify(folders[GAUSSIAN], PURE)
    assert not verification.holds
    assert math.isinf(verification.value)


def test_a_pure_epsilon_needs_no_delta(folders) -> None:
    assert verify(folders[PURE], GAUSSIAN).holds


def test_shares_that_were_raised_are_found(folders, tmp_path: Path) -> None:
    budget = json.loads((folders[PURE] / "manifest.json").read_text())["facts"]["budget"]
    budget["shares"][0]["amount"] = "2"
    assert epsilon_spent(budget, 0.0) > 2


def test_a_manifest_that_was_touched_is_refused(folders, tmp_path: Path) -> None:
    for name in ("pview.parquet", "manifest.json"):
        (tmp_path / name).write_bytes((folders[PURE] / name).read_bytes())
    manifest = tmp_path / "manifest.json"
    manifest.write_text(manifest.read_text().replace('"remaining": "0"', '"remaining": "1"'))
    with pytest.raises(sd.InputError, match="damaged"):
        verify(tmp_path, PURE)


@pytest.mark.parametrize("other", [sd.KAnonymity(2), sd.DifferentialPrivacy(1.0, per="record")])
def test_other_promises_are_refused(folders, other) -> None:
    with pytest.raises(sd.ParameterError, match="this is a p-view, of which"):
        verify(folders[PURE], other)


def test_a_pview_tells_its_own_promise(folders) -> None:
    for promise, folder in folders.items():
        assert verify(folder) == verify(folder, promise)
        assert verify(folder).holds


def test_a_file_that_is_no_part_of_a_pview(folders, tmp_path: Path) -> None:
    shutil.copytree(folders[PURE], tmp_path / "pview")
    people(5).write_csv(tmp_path / "pview" / "raw.csv")
    with pytest.raises(sd.RequirementError, match=r"raw\.csv is no part of a p-view"):
        verify(tmp_path / "pview")


def share(**change: object) -> dict[str, object]:
    return {"kind": "cells", "attributes": [], "amount": "1"} | change


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda facts: facts["certificate"]["measured"].update(epsilon=0.5), "claims epsilon = 0.5"),
        (lambda facts: facts["certificate"]["measured"].update(delta=-1), "claims delta = -1"),
        (lambda facts: facts["certificate"].update(promises=[]), "promises nothing"),
        (
            lambda facts: facts.update(certificate="trust me"),
            "The certificate of the p-view is of no known form",
        ),
        (lambda facts: facts.pop("budget"), "does not say what its budget was spent on"),
        (
            lambda facts: facts.update(budget={"unit": "epsilon", "shares": [share(amount="-1")]}),
            "The budget of the p-view",
        ),
        (
            lambda facts: facts.update(budget={"unit": "epsilon", "shares": [share(amount="1/0")]}),
            "The budget of the p-view",
        ),
        (
            lambda facts: facts.update(budget={"unit": "epsilon", "shares": [share(amount=[1])]}),
            "The budget of the p-view",
        ),
        (
            lambda facts: facts.update(budget={"unit": "trust", "shares": [share(amount="1")]}),
            "The budget of the p-view",
        ),
    ],
)
def test_a_pview_that_claims_more(folders, tmp_path: Path, change, message: str) -> None:
    folder = Path(shutil.copytree(folders[PURE], tmp_path / "pview"))
    forge(folder, lambda about: change(about["facts"]))
    with pytest.raises(sd.SudareError, match=message):
        verify(folder)


def test_a_table_needs_its_schema_and_requirements() -> None:
    with pytest.raises(sd.ParameterError, match="needs the requirements and the schema"):
        verify(people(5), sd.KAnonymity(2))
    with pytest.raises(sd.ParameterError, match="needs the requirements and the schema"):
        verify(people(5), schema=sd.Schema.from_roles(quasi=["age"]))


def test_several_views_are_sent_to_the_attack(tmp_path: Path) -> None:
    for name in ("a.parquet", "b.parquet"):
        people(5).select("age").write_parquet(tmp_path / name)
    with pytest.raises(sd.InputError, match=r"sudare attack .* --known"):
        verify(tmp_path, sd.KAnonymity(2), sd.Schema.from_roles(quasi=["age"]))


def run(*arguments: object) -> tuple[int, str]:
    invoked = CliRunner().invoke(app, [str(a) for a in arguments])
    return invoked.exit_code, str(invoked.exception or invoked.output)


def test_the_command_needs_no_schema_file(folders, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    code, said = run("verify", folders[PURE], "--epsilon", 1)
    assert code == 0
    assert "holds" in said
    assert run("verify", folders[PURE], "--epsilon", 0.5)[0] == 1
    assert run("verify", folders[GAUSSIAN], "--epsilon", 1, "--delta", 1e-9)[0] == 0
    code, said = run("verify", folders[GAUSSIAN])
    assert code == 0
    assert "epsilon = 1, delta = 1e-09 holds" in said


def test_a_pview_has_no_records_to_attack(folders) -> None:
    with pytest.raises(sd.InputError, match="no records to attack"):
        sd.attack(folders[PURE], sd.Schema.from_roles(quasi=["age"]))
