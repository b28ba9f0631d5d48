from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest

import sudare as sd
from sudare.release.certificate import Certificate, InputHash
from tests.conformance import SCHEMA, people


@pytest.fixture(scope="module")
def table() -> sd.Table:
    return sd.read(people(), SCHEMA)


@pytest.fixture(scope="module")
def release(table: sd.Table) -> sd.Release:
    return sd.generalize(table, sd.KAnonymity(5))


def test_write_makes_the_five_files(release: sd.Release, tmp_path: Path) -> None:
    folder = release.write(tmp_path / "out")
    names = sorted(file.name for file in folder.iterdir())
    assert names == ["certificate.json", "data.csv", "data.parquet", "plan.json", "report.html"]
    assert pl.read_parquet(folder / "data.parquet").equals(release.frame())
    assert pl.read_csv(folder / "data.csv", schema=release.frame().schema).equals(release.frame())
    assert json.loads((folder / "plan.json").read_text()) == release.plan.to_json()


def test_certificate_says_what_holds_and_hashes_the_files(
    release: sd.Release, table: sd.Table, tmp_path: Path
) -> None:
    folder = release.write(tmp_path / "out")
    certificate = Certificate.model_validate_json((folder / "certificate.json").read_text())
    assert certificate.requirements == ["5-anonymity"]
    assert certificate.measured["k"] >= 5
    assert certificate.versions["sudare"] == sd.__version__
    assert set(certificate.output) == {"data.csv", "data.parquet", "plan.json", "report.html"}
    for name, sha256 in certificate.output.items():
        assert hashlib.sha256((folder / name).read_bytes()).hexdigest() == sha256
    assert certificate.input.matches(table.digest(), release.input_salt)


def test_the_input_hash_cannot_be_checked_without_the_salt(
    release: sd.Release, table: sd.Table, tmp_path: Path
) -> None:
    folder = release.write(tmp_path / "out")
    published = b"".join(file.read_bytes() for file in folder.iterdir())
    for secret in (table.digest(), release.input_salt):
        assert secret.encode() not in published
    again, _ = InputHash.commit(table.source.name, table.digest())
    assert again.sha256_salted != release.certificate.input.sha256_salted


def test_ledger_records_the_release_with_its_salt(
    release: sd.Release, table: sd.Table, tmp_path: Path
) -> None:
    ledger = sd.Ledger(tmp_path / "ledger.db")
    folder = release.write(tmp_path / "out", ledger=ledger)
    (entry,) = ledger.entries()
    assert entry.kind == "release"
    assert entry.body["certificate"] == json.loads((folder / "certificate.json").read_text())
    assert (
        entry.body["certificate_sha256"]
        == hashlib.sha256((folder / "certificate.json").read_bytes()).hexdigest()
    )
    commitment = InputHash.model_validate(entry.body["certificate"]["input"])
    assert commitment.matches(table.digest(), entry.body["input_salt"])


def test_an_existing_release_is_replaced_only_with_force(release: sd.Release, tmp_path: Path) -> None:
    folder = release.write(tmp_path / "out")
    before = (folder / "certificate.json").read_bytes()
    ledger = sd.Ledger(tmp_path / "ledger.db")
    with pytest.raises(sd.InputError, match="exists already"):
        release.write(folder, ledger=ledger)
    assert (folder / "certificate.json").read_bytes() == before
    assert ledger.entries() == []
    release.write(folder, force=True, ledger=ledger)
    assert len(ledger.entries()) == 1


def test_a_release_that_fails_verification_is_not_written(release: sd.Release, tmp_path: Path) -> None:
    tampered = replace(
        release, data=pl.concat([release.frame(), release.frame()[:1].with_columns(town=pl.lit("x"))])
    )
    ledger = sd.Ledger(tmp_path / "ledger.db")
    with pytest.raises(sd.RequirementError, match="does not have 5-anonymity"):
        tampered.write(tmp_path / "out", ledger=ledger)
    assert [path.name for path in tmp_path.iterdir()] == ["ledger.db"]
    assert ledger.entries() == []


def test_rows_are_shuffled(table: sd.Table) -> None:
    notes = [f"note {i % 7}" for i in range(60)]
    orders = [sd.generalize(table, sd.KAnonymity(5)).frame()["note"].to_list() for _ in range(2)]
    assert sorted(orders[0]) == sorted(notes)
    assert notes not in orders
    assert orders[0] != orders[1]


def test_report_opens_without_a_network_and_says_who_it_is_for(release: sd.Release) -> None:
    assert "For the holder of the data only" in release.report
    assert "5-anonymity" in release.report
    for remote in ("src=", "href=", "url(", "@import"):
        assert remote not in release.report


def test_report_escapes_what_the_data_says() -> None:
    schema = sd.Schema.from_roles(quasi=["<b>", "x"])
    table = sd.read(pl.DataFrame({"<b>": ["<script>", "<script>"], "x": ["a", "a"]}), schema)
    report = sd.generalize(table, sd.KAnonymity(2)).report
    assert "<script>" not in report
    assert "&lt;script&gt;" in report


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"requirements": []}, "at least one requirement"),
        ({"method": "magic"}, "'method' parameter"),
        ({"suppress": 1.0}, "'suppress' parameter"),
        ({"suppress": -0.1}, "'suppress' parameter"),
        (
            {"suppress": 0.1, "method": "mondrian"},
            "'suppress' parameter of generalize is for the method 'minimal'",
        ),
        ({"strict": True}, "'strict' parameter of generalize is for the method 'mondrian'"),
    ],
)
def test_bad_parameters_are_refused(table: sd.Table, arguments: dict[str, object], message: str) -> None:
    given: dict[str, object] = {"requirements": sd.KAnonymity(2)} | arguments
    with pytest.raises(sd.ParameterError, match=message):
        sd.generalize(table, **given)  # type: ignore[arg-type]


def test_a_table_without_quasi_attributes_is_refused() -> None:
    with pytest.raises(sd.InputError, match="no quasi attribute"):
        sd.generalize(sd.read(people()), sd.KAnonymity(2))
