"""Outputs that give people away, or are not what was certified: each was verified as safe once."""

from __future__ import annotations

import datetime as dt
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import sudare as sd
from tests.release.hand_over import PEOPLE, SCHEMA, certified, forged, write

K3 = sd.KAnonymity(3)
RAW = pl.Series("raw", range(PEOPLE.height))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write(tmp_path / "hand-over")


def as_file(frame: pl.DataFrame, path: Path) -> pl.DataFrame | Path:
    if path.suffix == ".frame":
        return frame
    frame.write_csv(path) if path.suffix == ".csv" else frame.write_parquet(path)
    return path


# -- columns -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("ending", ["frame", "csv", "parquet", "folder"])
@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("age_raw", "'age_raw', which the schema does not mention"),
        ("name", "still has the identifier 'name'"),
        ("Name", "'Name', which looks like the identifier 'name'"),
        ("name ", "'name ', which looks like the identifier 'name'"),
        ("ｎａｍｅ", "which looks like the identifier 'name'"),
        ("n\u0430me", "which looks like the identifier 'name'"),
        ("age\u200b", "which looks like the quasi attribute 'age'"),
        ("\u0430ge", "which looks like the quasi attribute 'age'"),
        ("Illness", "which looks like the sensitive attribute 'illness'"),
        ("note ", "which looks like the other attribute 'note'"),
    ],
    ids=ascii,
)
def test_a_column_that_nobody_promised_anything_of(
    tmp_path: Path, ending: str, name: str, message: str
) -> None:
    frame = PEOPLE.with_columns(RAW.alias(name))
    if ending == "folder":
        output: Any = tmp_path / "out"
        output.mkdir()
        for kind in ("parquet", "csv"):
            as_file(frame, output / f"data.{kind}")
    else:
        output = as_file(frame, tmp_path / f"data.{ending}")
    with pytest.raises(sd.RequirementError, match=message):
        sd.verify(output, K3, SCHEMA)


def test_two_columns_of_the_schema_that_look_alike() -> None:
    schema = sd.Schema.from_roles(quasi=["age"], other=["Age"])
    frame = pl.DataFrame({"age": [1, 1], "Age": [1, 2]})
    with pytest.raises(sd.RequirementError, match="'age', which looks like the other attribute 'Age'"):
        sd.verify(frame, sd.KAnonymity(2), schema)


def test_a_second_csv_column_of_the_same_name(tmp_path: Path) -> None:
    path = tmp_path / "data.csv"
    lines = PEOPLE.write_csv().splitlines()
    path.write_text("\n".join([f"{lines[0]},age", *(f"{line},{i}" for i, line in enumerate(lines[1:]))]))
    with pytest.raises(sd.RequirementError, match=r"data\.csv has two columns named 'age'"):
        sd.verify(path, K3, SCHEMA)


def test_a_column_of_its_own_role_is_welcome() -> None:
    assert sd.verify(PEOPLE.with_columns(note=RAW), K3, SCHEMA).holds


# -- files -----------------------------------------------------------------------------------------------


def test_a_folder_verifies_itself(folder: Path) -> None:
    verification = sd.verify(folder)
    assert verification.holds
    assert verification.measured == {"k": 3, "l_distinct": 3}
    assert sd.verify(folder.parent).measured == verification.measured  # the release's folder


def test_a_csv_file_that_was_replaced_by_the_raw_table(folder: Path) -> None:
    PEOPLE.with_columns(age=RAW.cast(pl.String)).write_csv(folder / "data.csv")
    with pytest.raises(sd.RequirementError, match=r"data\.csv is not the file that was certified"):
        sd.verify(folder)
    with pytest.raises(sd.RequirementError, match=r"data\.csv is not the file that was certified"):
        sd.verify(folder, K3, SCHEMA)


def test_a_csv_file_with_other_rows_and_the_right_hash(folder: Path) -> None:
    PEOPLE.with_columns(age=RAW.cast(pl.String)).write_csv(folder / "data.csv")
    forged(folder, lambda certificate: None)
    with pytest.raises(sd.RequirementError, match=r"data\.csv does not have the same rows as data\.parquet"):
        sd.verify(folder)


def test_a_folder_without_a_certificate_is_read_whole(tmp_path: Path) -> None:
    folder = tmp_path / "out"
    folder.mkdir()
    PEOPLE.write_parquet(folder / "data.parquet")
    assert sd.verify(folder, K3, SCHEMA).holds
    PEOPLE.with_columns(age=RAW.cast(pl.String)).write_csv(folder / "data.csv")
    with pytest.raises(sd.RequirementError, match="does not have the same rows"):
        sd.verify(folder, K3, SCHEMA)
    with pytest.raises(sd.ParameterError, match=r"has no certificate\.json that says what it promises"):
        sd.verify(folder)


def test_rows_in_an_order_that_tells(tmp_path: Path) -> None:
    folder = write(tmp_path / "out", {"data": PEOPLE.reverse()})
    with pytest.raises(
        sd.RequirementError, match=r"rows of data\.parquet do not stand in the order of their values"
    ):
        sd.verify(folder)


def extra_notes(folder: Path) -> None:
    (folder / "notes.txt").write_text("Alice is in the first block")


def extra_table(folder: Path) -> None:
    PEOPLE.write_csv(folder / "raw.csv")


def subfolder(folder: Path) -> None:
    (folder / "more").mkdir()


def link(folder: Path) -> None:
    (folder.parent / "elsewhere.csv").write_bytes((folder / "data.csv").read_bytes())
    (folder / "data.csv").unlink()
    (folder / "data.csv").symlink_to(folder.parent / "elsewhere.csv")


def pipe(folder: Path) -> None:
    os.mkfifo(folder / "more.csv")


def missing(folder: Path) -> None:
    (folder / "data.csv").unlink()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (extra_notes, r"notes\.txt is no part of a release"),
        (extra_table, r"raw\.csv is not named by the certificate"),
        (subfolder, "more is a folder"),
        (link, r"data\.csv is a link"),
        (pipe, r"more\.csv is not a plain file"),
        (missing, r"'data\.csv' is missing"),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_files_that_were_not_certified(folder: Path, change: Callable[[Path], None], message: str) -> None:
    change(folder)
    with pytest.raises(sd.RequirementError, match=message):
        sd.verify(folder)


def test_a_second_table_that_the_certificate_names(folder: Path) -> None:
    extra_table(folder)
    forged(folder, lambda certificate: None)
    with pytest.raises(sd.InputError, match="several views, 'data', 'raw'"):
        sd.verify(folder)


# -- what a certificate claims -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda c: c["measured"].update(k=4), "claims k = 4, but the output has 3"),
        (lambda c: c["measured"].update(k="many"), "claims k = many"),
        (lambda c: c["measured"].update(pk=9), "claims pk = 9, which is no figure of its promises"),
        (lambda c: c["records"].update(published=7), r"claims the records .*7.*, but data\.parquet has 6"),
        (lambda c: c["records"].update(read=6), "claims the records"),
        (lambda c: c["requirements"].append("complete anonymity"), "something else in its words"),
        (
            lambda c: c["attributes"].update(town={"role": "quasi", "type": None}),
            "speaks of the column 'town', which is not published",
        ),
        (lambda c: c["attributes"].pop("age"), "'age', which the schema does not mention"),
        (lambda c: c["attributes"]["age"].update(role="identifier"), "still has the identifier 'age'"),
    ],
)
def test_a_certificate_that_claims_more(
    folder: Path, change: Callable[[dict[str, Any]], Any], message: str
) -> None:
    with pytest.raises(sd.RequirementError, match=message):
        sd.verify(forged(folder, change))


def test_a_promise_that_does_not_hold_is_found(folder: Path) -> None:
    def more(certificate: dict[str, Any]) -> None:
        certificate["promises"][0]["k"] = 4
        certificate["requirements"][0] = "4-anonymity"

    verification = sd.verify(forged(folder, more))
    assert not verification.holds
    assert not verification.findings[0].holds
    with pytest.raises(sd.RequirementError, match="does not have 4-anonymity"):
        sd.verify(folder, K3, SCHEMA)  # whatever else is asked for


@pytest.mark.parametrize(
    "promise",
    [
        {"requirement": "KAnonymity"},
        {"requirement": "KAnonymity", "k": "5"},
        {"requirement": "KAnonymity", "k": True},
        {"requirement": "Trust"},
        {},
        {"requirement": "LDiversity", "l": 2, "kind": "distinct", "c": None, "attribute": ["illness"]},
        {"requirement": "LDiversity", "l": 2, "kind": "distinct", "c": None, "attribute": "age"},
    ],
    ids=str,
)
def test_a_promise_that_is_none(folder: Path, promise: dict[str, Any]) -> None:
    with pytest.raises(sd.SudareError):
        sd.verify(forged(folder, lambda c: c.update(promises=[promise], requirements=[""])))


def test_a_certificate_of_nothing(folder: Path) -> None:
    with pytest.raises(sd.InputError, match="promises nothing"):
        sd.verify(forged(folder, lambda c: c.update(promises=[], requirements=[])))


# -- exact values --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("ending", ["frame", "parquet", "csv"])
def test_a_thousand_times_of_day(tmp_path: Path, ending: str) -> None:
    times = [dt.time(9, 0, i // 5, 1000 * (i % 5)) for i in range(300)] + [
        dt.time(9, 10, 0, i) for i in range(700)
    ]
    schema = sd.Schema.from_roles(quasi=["at"])
    frame = pl.DataFrame({"at": times})
    assert sd.verify(as_file(frame, tmp_path / f"data.{ending}"), sd.KAnonymity(5), schema).value == 1


# -- what a Parquet file tells beside its rows ---------------------------------------------------------------------


def test_values_of_people_who_were_left_out(tmp_path: Path) -> None:
    kinds = pl.Enum(["[20, 30)", "[30, 40)", "107"])
    frame = PEOPLE.with_columns(pl.col("age").cast(kinds))
    path = as_file(frame, tmp_path / "data.parquet")
    with pytest.raises(sd.RequirementError, match=r"the type of column 'age' lists 1 values that no row has"):
        sd.verify(path, K3, SCHEMA)
    used = PEOPLE.with_columns(pl.col("age").cast(pl.Enum(["[20, 30)", "[30, 40)"])))
    assert sd.verify(as_file(used, tmp_path / "data.parquet"), K3, SCHEMA).holds


def test_categories_of_a_file(tmp_path: Path) -> None:
    """pandas writes the categories of rows that were taken out; polars does not tell."""
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    people = pandas.DataFrame(PEOPLE.to_dict(as_series=False))
    people["age"] = pandas.Categorical(people["age"], categories=["[20, 30)", "[30, 40)", "SECRET"])
    people.to_parquet(tmp_path / "data.parquet")
    assert b"SECRET" in (tmp_path / "data.parquet").read_bytes()
    with pytest.raises(sd.RequirementError, match=r"data\.parquet has notes beside its rows: 'pandas'"):
        sd.verify(tmp_path / "data.parquet", K3, SCHEMA)
    PEOPLE.with_columns(pl.col("age").cast(pl.Categorical)).write_parquet(tmp_path / "data.parquet")
    with pytest.raises(sd.RequirementError, match="column 'age' is categorical"):
        sd.verify(tmp_path / "data.parquet", K3, SCHEMA)


def test_notes_in_a_file(tmp_path: Path) -> None:
    PEOPLE.write_parquet(tmp_path / "data.parquet", metadata={"raw": "Alice, 23, HIV"})
    with pytest.raises(sd.RequirementError, match="notes beside its rows: 'raw'"):
        sd.verify(tmp_path / "data.parquet", K3, SCHEMA)


# -- cells that a spreadsheet would take for formulas -------------------------------------------------------------------


def test_guarded_cells_are_the_same_rows(tmp_path: Path) -> None:
    frame = PEOPLE.with_columns(illness=pl.Series(["=1+1", "'=1+1", "-x"] * 2), age=pl.lit("@home"))
    schema = sd.Schema.from_roles(quasi=["age", "sex"], sensitive=["illness"])
    folder = write(tmp_path / "out", {"data": frame.sort(frame.columns)}, schema=schema)
    assert sd.verify(folder).measured == {"k": 3, "l_distinct": 3}
    assert sd.verify(folder / "data.csv", [K3, sd.LDiversity(3)], schema).holds


def test_guarded_names_of_columns(tmp_path: Path) -> None:
    frame = pl.DataFrame({"=age": ["x", "x"], "'=age": ["y", "y"]})
    schema = sd.Schema.from_roles(quasi=["=age"], other=["'=age"])
    folder = write(tmp_path / "out", {"data": frame}, [sd.KAnonymity(2)], schema)
    assert (folder / "data.csv").read_text().startswith("'=age,''=age")
    assert sd.verify(folder).holds
    assert sd.attack(folder / "data.csv", schema, kind="reidentification").prosecutor.largest == 0.5


def test_what_a_guard_would_make_alike_is_told_apart(tmp_path: Path) -> None:
    path = tmp_path / "data.csv"
    path.write_text("age\n=x\n'=x\n")
    assert sd.verify(path, sd.KAnonymity(2), sd.Schema.from_roles(quasi=["age"])).value == 1


# -- any byte ---------------------------------------------------------------------------------------------------------------


def test_a_certificate_of_another_folder(folder: Path, tmp_path: Path) -> None:
    other = write(tmp_path / "other", {"data": PEOPLE.head(3)})
    shutil.copy(other / "certificate.json", folder / "certificate.json")
    with pytest.raises(sd.RequirementError, match="is not the file that was certified"):
        sd.verify(folder)


def test_forging_needs_the_whole_folder(folder: Path) -> None:
    certified(folder, sd.Certificate.open(folder / "certificate.json"))
    assert sd.verify(folder) == sd.verify(folder)
