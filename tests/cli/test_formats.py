"""Sheets, labels and formats on the command line."""

from __future__ import annotations

from pathlib import Path

import openpyxl
import polars as pl
import pyreadstat

from tests.cli.conftest import Run

PEOPLE = pl.DataFrame({"age": [20, 30] * 10, "sex": [1, 2] * 10, "ill": [1, 1, 2, 2] * 5})
LABELS = {"sex": {1: "male", 2: "female"}, "ill": {1: "flu"}}


def test_a_sheet_is_named_once_and_drafted(run: Run, tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    for name in ("Notes", "People"):
        sheet = book.create_sheet(name)
        sheet.append(PEOPLE.columns)
        for row in PEOPLE.rows():
            sheet.append(row)
    book.save(tmp_path / "p.xlsx")
    refused = run("init", "p.xlsx")
    assert refused.code == 2
    assert "there are several sheets, 'Notes', 'People'. Name one" in refused.err
    assert run("init", "p.xlsx", "--sheet", "People").code == 0
    assert 'sheet = "People"' in (tmp_path / "sudare.toml").read_text()
    assert run("check", "p.xlsx").code == 0


def test_labels_are_drafted_and_handed_over(run: Run, tmp_path: Path) -> None:
    pyreadstat.write_sav(PEOPLE, "p.sav", column_labels={"ill": "Illness"}, variable_value_labels=LABELS)
    assert run("init", "p.sav").code == 0
    drafted = (tmp_path / "sudare.toml").read_text()
    assert 'label = "Illness"\ncodes = { 1 = "flu" }' in drafted
    assert '# domain = ["female", "male"]' in drafted
    result = run("generalize", "p.sav", "out", "-k", "5", "--format", "xlsx", "--format", "dta")
    assert result.code == 0, result.err
    there = {file.name for file in (tmp_path / "out" / "hand-over").iterdir()}
    assert there == {"data.parquet", "data.csv", "data.xlsx", "data.dta", "certificate.json"}
    assert run("verify", "out").code == 0
    assert run("verify", "out/hand-over/data.xlsx", "-k", "5").code == 0


def test_a_format_that_is_none_is_refused_before_the_work(run: Run, tmp_path: Path) -> None:
    PEOPLE.write_csv(tmp_path / "p.csv")
    run("init", "p.csv")
    (tmp_path / "p.csv").unlink()
    result = run("generalize", "p.csv", "out", "-k", "5", "--format", "pdf")
    assert "--format must be some of 'xlsx', 'ods', 'dta', 'sav', 'json'. Got 'pdf' instead." in result.err
