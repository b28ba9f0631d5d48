from __future__ import annotations

import hashlib
import json
import stat
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest

import sudare as sd
from sudare.privacy.certificate import Certificate, InputHash
from sudare.release.certify import HandedOver
from sudare.tables.runs import Runs
from tests.conformance import SCHEMA, people


@pytest.fixture(scope="module")
def table() -> sd.Table:
    return sd.read(people(), SCHEMA)


@pytest.fixture(scope="module")
def release(table: sd.Table) -> sd.Release:
    return sd.generalize(table, sd.KAnonymity(5))


def test_write_makes_a_folder_to_hand_over_and_one_to_keep(release: sd.Release, tmp_path: Path) -> None:
    folder = release.write(tmp_path / "out")
    assert sorted(path.name for path in folder.iterdir()) == ["hand-over", "keep"]
    out, kept = folder / "hand-over", folder / "keep"
    assert {file.name for file in out.iterdir()} == {"certificate.json", "data.csv", "data.parquet"}
    assert {file.name for file in kept.iterdir()} == {
        "holder.json", "levels.parquet", "plan.json", "report.html", "trees.parquet", "tuples.parquet"
    }  # fmt: skip
    assert pl.read_parquet(out / "data.parquet").equals(release.frame())
    assert pl.read_csv(out / "data.csv", schema=release.frame().schema).equals(release.frame())
    again = sd.apply(sd.Plan.open(folder), sd.read(people().reverse(), SCHEMA))
    assert again.frame().equals(release.frame())
    assert json.loads((kept / "holder.json").read_text()) == release.holder
    assert (kept / "report.html").read_text() == release.report


def test_only_the_owner_can_read_what_is_kept(release: sd.Release, tmp_path: Path) -> None:
    kept = release.write(tmp_path / "out") / "keep"
    assert stat.S_IMODE(kept.stat().st_mode) == 0o700
    assert {stat.S_IMODE(file.stat().st_mode) for file in kept.iterdir()} == {0o600}


def test_certificate_says_what_holds_and_hashes_the_files(
    release: sd.Release, table: sd.Table, tmp_path: Path
) -> None:
    folder = release.write(tmp_path / "out")
    certificate = Certificate.open(folder / "hand-over" / "certificate.json")
    assert certificate.requirements == ["5-anonymity"]
    assert certificate.measured["k"] >= 5
    assert certificate.versions["sudare"] == sd.__version__
    assert set(certificate.output) == {"data.csv", "data.parquet"}
    for name, sha256 in certificate.output.items():
        assert hashlib.sha256((folder / "hand-over" / name).read_bytes()).hexdigest() == sha256
    assert certificate.input.matches(table.digest(), release.kept.input_salt)


def test_the_input_hash_cannot_be_checked_without_the_salt(
    release: sd.Release, table: sd.Table, tmp_path: Path
) -> None:
    folder = release.write(tmp_path / "out")
    published = b"".join(file.read_bytes() for file in folder.rglob("*") if file.is_file())
    for secret in (table.digest(), release.kept.input_salt):
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
    certificate = (folder / "hand-over" / "certificate.json").read_bytes()
    assert (
        entry.body["certificate"].items() <= json.loads(certificate).items()
    )  # the file also has its own hash
    assert entry.body["holder"] == release.holder
    assert entry.body["certificate_sha256"] == hashlib.sha256(certificate).hexdigest()
    commitment = InputHash.model_validate(entry.body["certificate"]["input"])
    assert commitment.matches(table.digest(), entry.body["input_salt"])


def test_an_existing_release_is_replaced_only_with_force(release: sd.Release, tmp_path: Path) -> None:
    folder = release.write(tmp_path / "out")
    certificate = folder / "hand-over" / "certificate.json"
    before = certificate.read_bytes()
    ledger = sd.Ledger(tmp_path / "ledger.db")
    with pytest.raises(sd.InputError, match="exists already"):
        release.write(folder, ledger=ledger)
    assert certificate.read_bytes() == before
    assert ledger.entries() == []
    release.write(folder, force=True, ledger=ledger)
    assert len(ledger.entries()) == 1


def test_a_release_that_fails_verification_is_not_written(release: sd.Release, tmp_path: Path) -> None:
    one_more = pl.concat([release.frame(), release.frame()[:1].with_columns(town=pl.lit("x"))])
    tampered = replace(release, handed_over=HandedOver({"data": Runs.of(one_more.sort(one_more.columns))}))
    ledger = sd.Ledger(tmp_path / "ledger.db")
    with pytest.raises(sd.RequirementError, match="The output does not have 5-anonymity"):
        tampered.write(tmp_path / "out", ledger=ledger)
    # The files are read again, whatever was verified before.
    tampered.__dict__.update(certificate=release.certificate, holder=release.holder, report=release.report)
    with pytest.raises(sd.RequirementError, match=r"claims k = \d+, but the output has 1"):
        tampered.write(tmp_path / "out", ledger=ledger)
    assert [path.name for path in tmp_path.iterdir()] == ["ledger.db"]
    assert ledger.entries() == []


def test_the_order_of_rows_is_a_function_of_what_is_published(table: sd.Table, tmp_path: Path) -> None:
    shuffled = sd.read(people().sample(fraction=1, shuffle=True, seed=3), SCHEMA)
    folders = [
        sd.generalize(one, sd.KAnonymity(5)).write(tmp_path / name) / "hand-over"
        for one, name in ((table, "one"), (shuffled, "other"))
    ]
    for name in ("data.csv", "data.parquet"):
        assert (folders[0] / name).read_bytes() == (folders[1] / name).read_bytes()


@pytest.mark.usefixtures("reports")
def test_report_opens_without_a_network_and_says_who_it_is_for(release: sd.Release) -> None:
    assert "For the holder of the data only" in release.report
    assert "5-anonymity" in release.report
    for remote in ("src=", "href=", "url(", "@import"):
        assert remote not in release.report


@pytest.mark.usefixtures("reports")
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
            "'suppress' parameter of generalize is for the method 'minimal' or 'blind' or 'full-domain'",
        ),
        ({"strict": True}, "'strict' parameter of generalize is for the method 'mondrian'"),
        ({"measure": "ncp"}, "'measure' parameter of generalize is for the method 'full-domain'"),
        ({"measure": "beauty", "method": "full-domain"}, "'measure' parameter of generalize must be one of"),
        (
            {"suppress": 1.1, "method": "full-domain"},
            "'suppress' parameter of generalize must be a share from 0 to 1",
        ),
    ],
)
def test_bad_parameters_are_refused(table: sd.Table, arguments: dict[str, object], message: str) -> None:
    given: dict[str, object] = {"requirements": sd.KAnonymity(2)} | arguments
    with pytest.raises(sd.ParameterError, match=message):
        sd.generalize(table, **given)  # type: ignore[arg-type]


def test_a_table_without_quasi_attributes_is_refused() -> None:
    with pytest.raises(sd.InputError, match="no quasi attribute"):
        sd.generalize(sd.read(people()), sd.KAnonymity(2))
