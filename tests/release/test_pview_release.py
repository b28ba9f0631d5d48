"""A p-view as a release: what is handed over, what is kept, and what the ledger is told."""

from __future__ import annotations

import copy
import dataclasses
import json
import pickle
import re
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import sudare as sd
from sudare.privacy.certificate import Certificate
from sudare.pview.pview import PView
from sudare.release import pview_release

SCHEMA = sd.Schema.from_roles(
    quasi=["age", "sex"],
    sensitive=["ill"],
    identifier=["name"],
    bounds={"age": (18, 90)},
    domains={"sex": ["F", "M"], "ill": ["yes", "no"]},
    missing="refuse",
)
HANDED_OVER = {"pview.parquet", "manifest.json", "certificate.json", "page.html"}
PROMISE = sd.DifferentialPrivacy(1.0)
SOURCE = "DataFrame"
RECORDS = 4733


@pytest.fixture(scope="module")
def table() -> sd.Table:
    rng = np.random.default_rng(0)
    frame = pl.DataFrame(
        {
            "name": [f"somebody-{i}" for i in range(RECORDS)],
            "age": rng.integers(18, 91, RECORDS),
            "sex": rng.choice(["F", "M"], RECORDS),
            "ill": rng.choice(["yes", "no"], RECORDS, p=[0.1, 0.9]),
        }
    )
    return sd.read(frame, SCHEMA)


@pytest.fixture(scope="module")
def pview(table: sd.Table) -> PView:
    return sd.materialize(table, PROMISE, unsafe_seed=1)


@pytest.fixture(scope="module")
def folder(pview: PView, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return pview.write(tmp_path_factory.mktemp("release") / "out")


@pytest.fixture
def ledger(tmp_path: Path) -> sd.Ledger:
    made = sd.Ledger(tmp_path / "ledger.db")
    made.set_budget(SOURCE, 1, neighbours="add or remove")
    return made


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


# -- The folders ------------------------------------------------------------------------------------


def test_what_is_handed_over_and_what_is_kept(folder: Path, pview: PView) -> None:
    assert names(folder / "hand-over") == HANDED_OVER
    assert names(folder / "keep") == {"holder.json", "plan.json", "report.html"}
    assert (folder / "keep").stat().st_mode & 0o77 == 0
    assert json.loads((folder / "keep" / "holder.json").read_text()) == pview.holder
    assert json.loads((folder / "keep" / "plan.json").read_text()) == pview.design.to_json()


# As a number of its own: its digits stand in some digest once in a few hundred runs.
NUMBER_OF_RECORDS = re.compile(rf"(?<![\w.])({RECORDS}|{RECORDS:,})(?!\w|\.\d*[1-9])".encode())


def test_what_is_handed_over_tells_no_identifier_and_no_number_of_records(folder: Path) -> None:
    for path in (folder / "hand-over").iterdir():
        content = path.read_bytes()
        assert b"somebody" not in content
        if path.suffix != ".parquet":
            assert not NUMBER_OF_RECORDS.search(content), path


def test_it_opens_verifies_and_answers_from_either_folder(folder: Path, pview: PView) -> None:
    for place in (folder, folder / "hand-over"):
        assert PView.open(place).count(ill="yes") == pview.count(ill="yes")
        verified = sd.verify(place, PROMISE)
        assert verified.holds
        assert sd.verify(place) == verified
        assert any("page.html" in note for note in verified.notes)


def test_its_certificate_names_every_other_file(folder: Path, pview: PView) -> None:
    certificate = Certificate.open(folder / "hand-over" / "certificate.json")
    assert set(certificate.output) == HANDED_OVER - {"certificate.json"}
    assert certificate.model_copy(update={"output": {}}) == pview.certificate
    assert pview.certificate.measured == {"epsilon": 1.0}
    assert pview.facts["certificate"] == pview.certificate.model_dump(mode="json")


def test_a_release_is_replaced_only_with_force(pview: PView, tmp_path: Path) -> None:
    folder = pview.write(tmp_path / "out")
    with pytest.raises(sd.InputError, match="exists already"):
        pview.write(folder)
    pview.write(folder, force=True)
    (tmp_path / "mine").mkdir()
    with pytest.raises(sd.InputError, match="it is not ours"):
        pview.write(tmp_path / "mine", force=True)


def test_what_fails_leaves_nothing_behind(
    pview: PView, ledger: sd.Ledger, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: Any) -> str:
        raise OSError("the disk is full")

    monkeypatch.setattr(pview_release, "write_pview_report", fail)
    with pytest.raises(OSError, match="disk is full"):
        pview.write(tmp_path / "out", ledger=ledger)
    assert names(tmp_path) == {"ledger.db"}
    assert ledger.budget(SOURCE).spent == 0  # type: ignore[union-attr]


@pytest.mark.parametrize("name", sorted(HANDED_OVER))
def test_a_changed_file_is_noticed(folder: Path, tmp_path: Path, name: str) -> None:
    copied = Path(shutil.copytree(folder / "hand-over", tmp_path / "copy"))
    content = bytearray((copied / name).read_bytes())
    content[len(content) // 2] ^= 1
    (copied / name).write_bytes(content)
    with pytest.raises(sd.SudareError, match=name.replace(".", r"\.")):
        sd.verify(copied)


@pytest.mark.parametrize("name", sorted(HANDED_OVER))
def test_a_missing_file_is_noticed(folder: Path, tmp_path: Path, name: str) -> None:
    copied = Path(shutil.copytree(folder / "hand-over", tmp_path / "copy"))
    (copied / name).unlink()
    with pytest.raises(sd.SudareError):
        sd.verify(copied)


def test_another_certificate_beside_the_manifest_is_refused(folder: Path, tmp_path: Path) -> None:
    copied = Path(shutil.copytree(folder / "hand-over", tmp_path / "copy"))
    own = Certificate.open(copied / "certificate.json")
    own.model_copy(update={"caveats": ["Alice has HIV"]}).write(copied / "certificate.json")
    with pytest.raises(sd.RequirementError, match="is not the certificate that stands in manifest"):
        sd.verify(copied)


def test_a_file_that_the_certificate_does_not_name_is_refused(folder: Path, tmp_path: Path) -> None:
    copied = Path(shutil.copytree(folder / "hand-over", tmp_path / "copy"))
    (copied / "raw.csv").write_text("somebody-1\n")
    with pytest.raises(sd.RequirementError, match=r"raw\.csv is no part"):
        sd.verify(copied)


# -- What the holder keeps --------------------------------------------------------------------------


def test_the_holder_knows_the_records_and_the_errors(pview: PView) -> None:
    assert pview.holder["records"] == {"read": RECORDS}
    assert pview.holder["cells"]["occupied"] <= 73 * 2 * 2
    assert [error["name"] for error in pview.holder["errors"]][:2] == [
        "1-way marginals, cell by cell",
        "2-way marginals, cell by cell",
    ]
    assert all(0 <= error["covered"] <= 1 for error in pview.holder["errors"])


def test_what_the_holder_keeps_goes_nowhere_with_the_pview(pview: PView, tmp_path: Path) -> None:
    pview.holder  # noqa: B018 (made, and now kept with it)
    saved = PView.open(pview.save(tmp_path / "saved"))
    for other in (saved, pickle.loads(pickle.dumps(pview)), copy.copy(pview), copy.deepcopy(pview)):
        assert other.total == pview.total
        assert other.kept is None
        assert other.certificate == pview.certificate  # it goes with the p-view
        for ask in (lambda o=other: o.holder, lambda o=other: o.design):
            with pytest.raises(sd.InputError, match="has only what is handed over"):
                ask()
        with pytest.raises(sd.InputError, match="has only what is handed over"):
            other.write(tmp_path / "out")
    assert b"somebody" not in pickle.dumps(pview)


# -- The ledger -------------------------------------------------------------------------------------


def test_what_was_charged_when_it_was_made_is_only_recorded(
    table: sd.Table, ledger: sd.Ledger, tmp_path: Path
) -> None:
    pview = sd.materialize(table, PROMISE, ledger=ledger, receiver="hospital")
    assert ledger.budget(SOURCE, "hospital").remaining == 0  # type: ignore[union-attr]
    for name in ("one", "two"):  # as often as wanted
        pview.write(tmp_path / name, ledger=ledger)
    pview.write(tmp_path / "three", ledger=sd.Ledger(ledger.path), receiver="hospital")
    charged, *written = [entry.body for entry in ledger.entries() if entry.kind == "release"]
    assert charged["noise"] == {"epsilon": "1.0", "delta": "0", "neighbours": "add or remove"}
    assert [body["folder"] for body in written] == [str(tmp_path / n) for n in ("one", "two", "three")]
    assert len({body["measurement"] for body in written}) == 1
    assert {body["receiver"] for body in (charged, *written)} == {"hospital"}
    assert ledger.budget(SOURCE, "hospital").spent == 1  # type: ignore[union-attr]
    ledger.verify()


def test_the_same_p_view_for_another_receiver_costs_nothing_more(
    table: sd.Table, ledger: sd.Ledger, tmp_path: Path
) -> None:
    """It is one measurement; but what each receiver has of it is known, and counts with whatever it gets later."""
    pview = sd.materialize(table, PROMISE, ledger=ledger, receiver="hospital")
    pview.write(tmp_path / "one", ledger=ledger)
    pview.write(tmp_path / "two", ledger=ledger, receiver="insurer")
    pview.write(tmp_path / "all", ledger=ledger, receiver=None)
    assert [e.body["receiver"] for e in ledger.entries()[1:]] == [
        "hospital",
        "hospital",
        "insurer",
        "hospital",
    ]
    assert ledger.budget(SOURCE).spent == 1  # type: ignore[union-attr]
    ledger.declare_apart(["hospital", "insurer"])
    for receiver in ("hospital", "insurer"):
        assert ledger.budget(SOURCE, receiver).remaining == 0  # type: ignore[union-attr]
        with pytest.raises(sd.LedgerError, match="would be overspent"):
            sd.materialize(table, PROMISE, "independent", ledger=ledger, receiver=receiver)


def test_what_a_receiver_has_may_be_published_to_all(
    table: sd.Table, ledger: sd.Ledger, tmp_path: Path
) -> None:
    pview = sd.materialize(table, PROMISE, "independent")
    pview.write(tmp_path / "one", ledger=ledger, receiver="hospital")
    pview.write(tmp_path / "all", ledger=ledger)
    assert [entry.body["receiver"] for entry in ledger.entries()[1:]] == ["hospital", None]
    assert ledger.budget(SOURCE).spent == 1  # type: ignore[union-attr]


def test_another_measurement_in_its_place_is_charged(
    table: sd.Table, ledger: sd.Ledger, tmp_path: Path
) -> None:
    """With the salt, the certificate and the name of one that was charged, but other counts."""
    first, second = (sd.materialize(table, PROMISE, "independent", unsafe_seed=seed) for seed in (1, 2))
    first.write(tmp_path / "first", ledger=ledger)
    forged = dataclasses.replace(first, model=second.model)
    with pytest.raises(sd.LedgerError, match="epsilon 1 requested, 0 of 1 remaining"):
        forged.write(tmp_path / "second", ledger=ledger)
    assert not (tmp_path / "second").exists()


def test_what_was_charged_is_for_the_first_that_goes_out(
    table: sd.Table, ledger: sd.Ledger, tmp_path: Path
) -> None:
    charged = sd.materialize(table, PROMISE, "independent", ledger=ledger, unsafe_seed=1)
    second = sd.materialize(table, PROMISE, "independent", unsafe_seed=2)
    dataclasses.replace(charged, model=second.model).write(tmp_path / "forged", ledger=ledger)
    with pytest.raises(sd.LedgerError, match="would be overspent"):
        charged.write(tmp_path / "out", ledger=ledger)


def test_what_anybody_may_get_a_receiver_may(table: sd.Table, ledger: sd.Ledger, tmp_path: Path) -> None:
    pview = sd.materialize(table, PROMISE, ledger=ledger)
    pview.write(tmp_path / "out", ledger=ledger, receiver="hospital")
    assert ledger.budget(SOURCE, "hospital").spent == 1  # type: ignore[union-attr]
    assert ledger.entries()[-1].body["receiver"] == "hospital"


def test_the_holders_folder_opens_with_what_is_kept(pview: PView, folder: Path, tmp_path: Path) -> None:
    opened = PView.open(folder)
    assert opened.certificate == pview.certificate
    assert opened.design.to_json() == pview.design.to_json()
    assert opened.holder == json.loads(json.dumps(pview.holder))
    with pytest.raises(sd.InputError, match="only one that was just materialized can be written"):
        opened.write(tmp_path / "again")
    handed_over = PView.open(folder / "hand-over")
    assert handed_over.certificate == pview.certificate
    with pytest.raises(sd.InputError, match="opened without its `keep` folder"):
        _ = handed_over.design


def test_what_is_kept_of_another_p_view_is_refused(folder: Path, tmp_path: Path) -> None:
    copied = Path(shutil.copytree(folder, tmp_path / "copy"))
    plan = copied / "keep" / "plan.json"
    design = json.loads(plan.read_text())
    plan.write_text(json.dumps(design | {"domain": design["domain"][:1]}))
    (copied / "keep" / "holder.json").write_text("[]")
    opened = PView.open(copied)
    with pytest.raises(sd.InputError, match="the design of another p-view"):
        _ = opened.design
    with pytest.raises(sd.InputError, match="no holder's record"):
        _ = opened.holder
    plan.unlink()
    with pytest.raises(sd.InputError, match=r"There is no .*plan\.json"):
        _ = opened.design


def test_what_was_not_charged_is_charged_when_it_is_written(
    table: sd.Table, ledger: sd.Ledger, tmp_path: Path
) -> None:
    first, second = (sd.materialize(table, PROMISE, "independent") for _ in range(2))
    first.write(tmp_path / "first", ledger=ledger)
    assert ledger.budget(SOURCE).remaining == 0  # type: ignore[union-attr]
    entry = ledger.entries()[-1].body
    assert entry["holder"]["records"] == {"read": RECORDS}
    first.write(tmp_path / "again", ledger=ledger)  # the same p-view costs nothing more
    before = ledger.entries()
    with pytest.raises(sd.LedgerError, match="would be overspent"):
        second.write(tmp_path / "second", ledger=ledger)
    assert ledger.entries() == before
    assert names(tmp_path) == {"first", "again", "ledger.db"}


def test_it_is_refused_before_pages_are_drawn(
    table: sd.Table, ledger: sd.Ledger, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pview = sd.materialize(table, sd.DifferentialPrivacy(2.0), "independent")
    monkeypatch.setattr(pview_release, "write_pview_page", lambda _: pytest.fail("a page was drawn"))
    with pytest.raises(sd.LedgerError):
        pview.write(tmp_path / "out", ledger=ledger)


def test_a_smaller_charge_does_not_pay_for_it(table: sd.Table, ledger: sd.Ledger, tmp_path: Path) -> None:
    """An entry with this p-view's salt but another epsilon was not written for it."""
    pview = sd.materialize(table, PROMISE, "independent", ledger=ledger)
    body = dict(ledger.entries()[-1].body)
    other = sd.Ledger(tmp_path / "other.db")
    other.append("release", body | {"noise": body["noise"] | {"epsilon": "0.1"}})
    pview.write(tmp_path / "out", ledger=other)
    assert other.entries()[-1].body["noise"]["epsilon"] == "1.0"


@pytest.mark.parametrize("wrong", ["ledger.db", 3])
def test_a_path_is_no_ledger(pview: PView, tmp_path: Path, wrong: Any) -> None:
    with pytest.raises(sd.ParameterError, match="'ledger' must be a ledger"):
        pview.write(tmp_path / "out", ledger=wrong)
    assert names(tmp_path) == set()
