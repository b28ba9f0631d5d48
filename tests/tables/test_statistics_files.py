"""Files of Stata, SPSS and SAS are read with their labels, dates and missing values right; damaged ones harm nobody."""

from __future__ import annotations

import datetime as dt
import os
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyreadstat
import pytest

import sudare as sd
from sudare.tables import parquet_files
from sudare.tables.statistics_files import with_readstat
from sudare.verbs.draft import draft
from tests.tables.sas import MISSING, MISSING_A, SasColumn, sas_file

LABELS = {"sex": {1: "male", 2: "female"}, "age": {99: "not known"}}
SEEN = [dt.datetime(2020, 1, 1, 3, 4, 5, 123000), dt.datetime(1950, 6, 1), None]
PEOPLE = pd.DataFrame(
    {
        "sex": [1.0, 2.0, np.nan],
        "age": [30.0, 99.0, 40.0],
        "weight": [60.5, np.nan, 80.0],
        "name": ["ann", "böb", ""],
        "born": [dt.date(1990, 1, 2), dt.date(1950, 6, 1), None],
        "seen": SEEN,
    }
)
NAMED = {"sex": "Sex at birth", "age": "Age in years"}
WRITERS: dict[str, Callable[[Path], object]] = {
    "p.dta": lambda path: pyreadstat.write_dta(
        PEOPLE, str(path), column_labels=NAMED, variable_value_labels=LABELS
    ),
    "old.dta": lambda path: (
        pyreadstat.write_dta(  # which pyreadstat writes in UTF-8, and Stata in Windows' encoding
            PEOPLE.assign(name=["ann", "bob", ""]),
            str(path),
            column_labels=NAMED,
            variable_value_labels=LABELS,
            version=10,
        )
    ),
    "p.sav": lambda path: pyreadstat.write_sav(
        PEOPLE, str(path), column_labels=NAMED, variable_value_labels=LABELS
    ),
    "rows.sav": lambda path: pyreadstat.write_sav(
        PEOPLE, str(path), column_labels=NAMED, variable_value_labels=LABELS, row_compress=True
    ),
    "p.zsav": lambda path: pyreadstat.write_sav(
        PEOPLE, str(path), column_labels=NAMED, variable_value_labels=LABELS, compress=True
    ),
}


@pytest.mark.parametrize("name", WRITERS)
def test_what_is_written_by_its_library(tmp_path: Path, name: str) -> None:
    WRITERS[name](tmp_path / name)
    table = sd.read(tmp_path / name)
    assert table.frame().rows() == [
        ("male", 30, 60.5, "ann", dt.date(1990, 1, 2), SEEN[0]),
        ("female", 99, None, "bob" if name == "old.dta" else "böb", dt.date(1950, 6, 1), SEEN[1]),
        (None, 40, 80.0, None, None, None),
    ]
    assert table.source.labels.columns == NAMED
    assert table.source.labels.codes == {"age": {"99": "not known"}}
    assert table.source.notes == (
        "column 'age': some codes have no label of their own, so codes are its values; for labels, declare type = \"text\"",
    )


@pytest.mark.parametrize("engine", ["memory", "duckdb"])
def test_the_schema_says_whether_codes_or_labels_are_the_values(tmp_path: Path, engine: Any) -> None:
    WRITERS["p.sav"](tmp_path / "p.sav")
    others = ["weight", "name", "born", "seen"]

    def read(**types: Any) -> pl.DataFrame:
        schema = sd.Schema.from_roles(quasi=["sex", "age"], other=others, types=types)
        return sd.read(tmp_path / "p.sav", schema, engine=engine).frame().sort("weight", nulls_last=True)

    assert read(sex="integer", age="text").select("sex", "age").rows() == [
        (1, "30"),
        (None, "40"),
        (2, "not known"),
    ]
    assert read(sex="text", age="number").select("sex", "age").rows() == [
        ("male", 30.0),
        (None, 40.0),
        ("female", 99.0),
    ]


def test_declared_values_say_it_too(tmp_path: Path) -> None:
    frame = pd.DataFrame({"sex": [1.0, 2.0, 3.0]})
    pyreadstat.write_sav(
        frame, str(tmp_path / "p.sav"), variable_value_labels={"sex": {1: "male", 2: "female"}}
    )
    by_label = sd.Schema.from_roles(quasi=["sex"], domains={"sex": ["male", "female", "3"]})
    assert sd.read(tmp_path / "p.sav", by_label).frame()["sex"].to_list() == ["male", "female", "3"]
    by_code = sd.Schema.from_roles(quasi=["sex"], bounds={"sex": (1, 3)})
    assert sd.read(tmp_path / "p.sav", by_code).frame()["sex"].to_list() == [1, 2, 3]


def test_codes_that_have_one_label(tmp_path: Path) -> None:
    frame = pd.DataFrame({"ill": [1.0, 2.0, 3.0]})
    labels = {"ill": {1: "flu", 2: "other", 3: "other"}}
    pyreadstat.write_dta(frame, str(tmp_path / "p.dta"), variable_value_labels=labels)
    assert sd.read(tmp_path / "p.dta").frame()["ill"].to_list() == [1, 2, 3]
    schema = sd.Schema.from_roles(sensitive=["ill"], types={"ill": "text"})
    with pytest.raises(
        sd.InputError,
        match=r"p\.dta, column 'ill': the codes 2 and 3 have one label, 'other'. Give them labels of",
    ):
        sd.read(tmp_path / "p.dta", schema)


def test_labels_of_texts(tmp_path: Path) -> None:
    frame = pd.DataFrame({"sex": ["m", "f", ""]})
    pyreadstat.write_sav(
        frame, str(tmp_path / "p.sav"), variable_value_labels={"sex": {"m": "male", "f": "female"}}
    )
    assert sd.read(tmp_path / "p.sav").frame()["sex"].to_list() == ["male", "female", None]


def test_what_a_user_declared_missing_is_missing(tmp_path: Path) -> None:
    frame = pd.DataFrame({"age": [30.0, 98.0, 99.0], "sex": ["m", "X", "f"]})
    pyreadstat.write_sav(
        frame, str(tmp_path / "p.sav"), missing_ranges={"age": [{"lo": 98, "hi": 99}], "sex": ["X"]}
    )
    assert sd.read(tmp_path / "p.sav").frame().rows() == [(30, "m"), (None, None), (None, "f")]
    letters = pd.DataFrame({"age": [30.0, "a", "z"]})
    pyreadstat.write_dta(letters, str(tmp_path / "p.dta"), missing_user_values={"age": ["a", "z"]})
    assert sd.read(tmp_path / "p.dta").frame()["age"].to_list() == [30, None, None]


def test_periods_of_stata_are_numbers_and_a_note_says_so(tmp_path: Path) -> None:
    pyreadstat.write_dta(
        pd.DataFrame({"month": [720.0, 721.0]}), str(tmp_path / "p.dta"), variable_format={"month": "%tm"}
    )
    table = sd.read(tmp_path / "p.dta")
    assert table.frame()["month"].to_list() == [720, 721]
    assert table.source.notes == (
        "column 'month' has Stata's %tm: it is read as the number that is counted from 1960",
    )


def test_old_texts_in_another_encoding(tmp_path: Path) -> None:
    path = tmp_path / "p.dta"
    pyreadstat.write_dta(pd.DataFrame({"name": ["aaXXXX"]}), str(path), version=8)
    path.write_bytes(path.read_bytes().replace(b"aaXXXX", "東京x".encode("shift_jis").ljust(6)))
    read = sd.read(path, csv=sd.CsvFormat(encoding="shift_jis")).frame()["name"].to_list()
    assert [text.strip() for text in read] == ["東京x"]
    drafted = draft(path, sd.CsvFormat(encoding="shift_jis"))
    assert '[csv]\nencoding = "shift_jis"' in drafted.text
    with pytest.raises(sd.InputError, match="there is no encoding 'klingon'"):
        sd.read(path, csv=sd.CsvFormat(encoding="klingon"))
    with pytest.raises(
        sd.InputError,
        match=r"p\.dta: a text in it is not in the encoding UTF-8. Say which .*: in the schema, \[csv\] encoding",
    ):
        sd.read(path, csv=sd.CsvFormat(encoding="utf-8"))


# -- SAS -----------------------------------------------------------------------------------------------

SAS = [
    SasColumn("age", [30.0, MISSING, MISSING_A, 40.5], label="Age in years"),
    SasColumn("name", ["ann", "böb", "", "x"], width=12),
    SasColumn("born", [0.0, 21915.0, -3650.0, 1.0], format="DATE"),
    SasColumn("seen", [0.0, 1893467045.123, 1.0, 2.0], format="DATETIME"),
    SasColumn("month", [0.0, 31.0, 60.0, 91.0], format="MONYY"),
]


def test_a_sas_file(tmp_path: Path) -> None:
    path = tmp_path / "p.sas7bdat"
    path.write_bytes(sas_file(SAS))
    table = sd.read(path)
    assert table.frame().rows() == [
        (30.0, "ann", dt.date(1960, 1, 1), dt.datetime(1960, 1, 1), dt.date(1960, 1, 1)),
        (None, "böb", dt.date(2020, 1, 1), dt.datetime(2020, 1, 1, 3, 4, 5, 123000), dt.date(1960, 2, 1)),
        (None, None, dt.date(1950, 1, 3), dt.datetime(1960, 1, 1, 0, 0, 1), dt.date(1960, 3, 1)),
        (40.5, "x", dt.date(1960, 1, 2), dt.datetime(1960, 1, 1, 0, 0, 2), dt.date(1960, 4, 1)),
    ]
    assert table.source.labels.columns == {"age": "Age in years"}


def test_the_sas_file_is_one_to_another_reader_too(tmp_path: Path) -> None:
    (tmp_path / "p.sas7bdat").write_bytes(sas_file(SAS))
    frame = pd.read_sas(tmp_path / "p.sas7bdat", encoding="utf-8")
    assert frame["born"].dt.year.to_list() == [1960, 2020, 1950, 1960]
    assert frame["age"].isna().to_list() == [False, True, True, False]


def test_a_sas_transport_file(tmp_path: Path) -> None:
    frame = PEOPLE[["sex", "born"]]
    pyreadstat.write_xport(
        frame, str(tmp_path / "p.xpt"), file_format_version=8, column_labels={"sex": "Sex at birth"}
    )
    table = sd.read(tmp_path / "p.xpt")
    assert table.frame().rows() == [(1, dt.date(1990, 1, 2)), (2, dt.date(1950, 6, 1)), (None, None)]
    assert table.source.labels.columns == {"sex": "Sex at birth"}


# -- What is damaged, or made to harm ----------------------------------------------------------------------


def test_a_file_that_breaks_its_reader_breaks_nothing_else(tmp_path: Path) -> None:
    """The width of its first column is not what its rows have: the reader of SPSS files writes beyond them."""
    path = tmp_path / "p.sav"
    WRITERS["p.sav"](path)
    content = bytearray(path.read_bytes())
    content[183] = 0x7F
    path.write_bytes(content)
    with pytest.raises(sd.InputError, match=r"p\.sav: the file cannot be read: "):
        sd.read(path)


def test_a_file_that_says_it_has_very_many_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "old.dta"
    WRITERS["old.dta"](path)
    content = bytearray(path.read_bytes())
    content[6:10] = struct.pack("<i", 2**31 - 1)
    path.write_bytes(content)
    monkeypatch.setattr(parquet_files, "VALUES_FLOOR", 10**6)
    with pytest.raises(
        sd.InputError, match=r"it has 2,147,483,647 rows of 6 columns, where 1,000,000 values are the most"
    ):
        with_readstat(path, None)


@pytest.mark.parametrize("name", ["p.dta", "p.sav", "p.zsav"])
def test_a_file_that_is_cut_off(tmp_path: Path, name: str) -> None:
    WRITERS[name](tmp_path / name)
    (tmp_path / name).write_bytes((tmp_path / name).read_bytes()[:600])
    with pytest.raises(sd.InputError, match=r"the file cannot be read: .*Ask for it again"):
        sd.read(tmp_path / name)


def _from_sas() -> list[Path]:
    """Return the files that SAS itself wrote, such as those in the tests of pyreadstat and haven, for runs by hand: SUDARE_SAS names their folder."""
    folder = os.environ.get("SUDARE_SAS")
    return sorted(Path(folder).rglob("*.sas7bdat")) if folder else []


@pytest.mark.skipif(not _from_sas(), reason="SUDARE_SAS names no folder with files that SAS wrote")
def test_files_that_sas_wrote_have_the_values_that_their_writer_meant() -> None:
    for path in _from_sas():
        expected, _ = pyreadstat.read_sas7bdat(str(path))
        frame = sd.read(path).frame()
        assert frame.columns == list(expected.columns), path
        for name in frame.columns:
            own, theirs = (
                frame[name].to_list(),
                [
                    None
                    if pd.isna(one) or one == ""
                    else getattr(one, "to_pydatetime", lambda own=one: own)()
                    for one in expected[name]
                ],
            )
            if all(isinstance(one, int | float | None) for one in own):
                assert [one is None for one in own] == [one is None for one in theirs], (path, name)
                assert own == pytest.approx(theirs), (path, name)
            elif not any(
                isinstance(one, float) for one in theirs
            ):  # which leaves dates of some formats as numbers
                assert own == theirs, (path, name)
