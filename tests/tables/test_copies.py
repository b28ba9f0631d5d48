"""Copies in other formats say what the table says, to the real libraries too, and nothing else."""

from __future__ import annotations

import datetime as dt
import time
import zipfile
from pathlib import Path

import openpyxl
import pandas as pd
import polars as pl
import pyreadstat
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sudare as sd
from sudare.engines.sources import Asked, frame_of
from sudare.tables.copies import COPY_ENDINGS, formats_given, is_copy_of, write_copy
from sudare.tables.labels import Labels
from sudare.tables.runs import Runs
from sudare.tables.workbooks import with_calamine

MOMENT = dt.datetime(2020, 1, 2, 3, 4, 5, 123000)
FRAME = pl.DataFrame(
    {
        "age": ["[30, 40)", "[30, 40)", "[40, 50)", None],
        "town": [" a  b", "<&>\"'", "東京", "=1+1"],
        "ill": [1, 2, 2, None],
        "x": [1.5, -0.25, 1e300, None],
        "born": [dt.date(2020, 1, 2), dt.date(1950, 1, 1), None, dt.date(1900, 3, 1)],
        "seen": [MOMENT, dt.datetime(1999, 1, 1), None, MOMENT],
    }
)
LABELS = Labels({"age": "Age in years"}, {"ill": {"1": "flu", "3": "never published"}})


def written(folder: Path, ending: str, frame: pl.DataFrame = FRAME, labels: Labels = LABELS) -> Path:
    path = folder / f"data{ending}"
    write_copy(Runs.of(frame), labels, path)
    return path


@pytest.mark.parametrize("ending", [ending for ending in COPY_ENDINGS if ending != ".json"])
def test_there_and_back(tmp_path: Path, ending: str) -> None:
    frame, source = frame_of(written(tmp_path, ending), Asked(types={"ill": "integer"}))
    assert frame.equals(FRAME)
    assert frame.schema == FRAME.schema
    if ending in (".dta", ".sav"):
        assert source.labels == Labels({"age": "Age in years"}, {"ill": {"1": "flu"}})


def test_json_there_and_back(tmp_path: Path) -> None:
    frame, _ = frame_of(written(tmp_path, ".json"), Asked())
    assert frame.drop("born", "seen").equals(FRAME.drop("born", "seen"))
    assert frame["born"].to_list() == ["2020-01-02", "1950-01-01", None, "1900-03-01"]
    assert frame["seen"].to_list()[0] == "2020-01-02 03:04:05.123000"


@pytest.mark.parametrize("ending", COPY_ENDINGS)
def test_an_empty_table_and_repeated_rows(tmp_path: Path, ending: str) -> None:
    frame = pl.DataFrame({"a": ["x"] * 5 + ["y"], "b": [1] * 6})
    assert frame_of(written(tmp_path, ending, frame), Asked())[0].equals(frame)
    if ending == ".json":
        assert written(tmp_path, ending, frame.clear()).read_text() == "[]\n"


@pytest.mark.parametrize("ending", COPY_ENDINGS)
def test_the_same_rows_give_the_same_bytes(tmp_path: Path, ending: str) -> None:
    first = written(tmp_path, ending).read_bytes()
    time.sleep(1.1 if ending in (".dta", ".sav") else 0)  # their writer looks at the clock, to the second
    assert written(tmp_path, ending).read_bytes() == first
    year = str(dt.date.today().year).encode()
    assert year not in first.replace(b"2020", b"")


@pytest.mark.parametrize("ending", COPY_ENDINGS)
def test_what_is_read_is_written_again_as_it_was(tmp_path: Path, ending: str) -> None:
    """So a copy can be verified that lies there alone."""
    frame = FRAME.with_columns(
        whole=pl.Series([1.0, 2.0, None, 0.0]),
        midnight=pl.Series([dt.datetime(2020, 1, 1)] * 4),
        big=pl.Series([2**60, 1, 2, 3]),
        old=pl.Series([dt.date(1500, 1, 1)] * 4),
        zoned=pl.Series([MOMENT.replace(tzinfo=dt.UTC)] * 4),
        odd=pl.Series([float("inf"), -0.0, 0.0, 1.0]),
        at=pl.Series([dt.time(3, 4, 5)] * 4),
        nothing=pl.Series([None] * 4, dtype=pl.Float64),
        true=pl.Series([True, False, None, True]),
    )
    path = written(tmp_path, ending, frame)
    again, _ = frame_of(path, Asked(types={"ill": "integer"}))
    assert is_copy_of(path, Runs.of(again), LABELS)
    assert again["odd"].to_list() == (["inf", "-0.0", "0.0", "1.0"])
    assert again["big"].to_list()[0] in ("1152921504606846976", 2**60)
    assert again["zoned"].to_list()[0] == "2020-01-02 03:04:05.123000+00:00"


@pytest.mark.parametrize("ending", [".dta", ".sav"])
def test_no_label_of_what_is_not_published(tmp_path: Path, ending: str) -> None:
    assert b"never published" not in written(tmp_path, ending).read_bytes()
    frame = FRAME.with_columns(
        ill=pl.Series(["[1, 2]"] * 4)
    )  # generalized: the codes are gone, and so are their labels
    content = written(tmp_path, ending, frame).read_bytes()
    assert b"flu" not in content
    assert b"[1, 2]" in content


@pytest.mark.parametrize("ending", [".dta", ".sav"])
def test_names_that_a_program_cannot_have(tmp_path: Path, ending: str) -> None:
    path = written(tmp_path, ending, pl.DataFrame({"marital-status": ["x"]}), Labels())
    assert frame_of(path, Asked())[1].labels.columns == {"marital_status": "marital-status"}
    for names in (["1st"], ["a" * 65], ["a-b", "a_b"], ["with"]):
        with pytest.raises(sd.InputError, match=f"data{ending}: no column can be called '{names[0]}' there"):
            written(tmp_path, ending, pl.DataFrame({name: ["x"] for name in names}))


@pytest.mark.parametrize(
    ("ending", "text"),
    [
        *((ending, text) for ending in (".xlsx", ".ods", ".dta", ".sav") for text in ("", "a\x01", "a\x00b")),
        *((".xlsx", text) for text in ("a\rb", "_x0041_", "a" * 32_768)),
        *((".ods", text) for text in ("a\nb", "a\tb")),
        *((ending, "a ") for ending in (".dta", ".sav")),
        (".dta", "a" * 2_046),
    ],
)
def test_texts_that_a_format_does_not_keep(tmp_path: Path, ending: str, text: str) -> None:
    with pytest.raises(
        sd.InputError, match=rf"data{ending}: column 'a' has the text .*does not keep as it is"
    ):
        written(tmp_path, ending, pl.DataFrame({"a": ["x", text]}))


TEXTS = st.text(st.sampled_from(" 'ab=+-@<>&\"\n\té東\U0001f600"), max_size=8) | st.none()


@settings(deadline=None, max_examples=60)
@given(st.lists(TEXTS, min_size=1, max_size=6), st.sampled_from([".xlsx", ".ods"]))
def test_texts_of_a_workbook_are_kept_or_refused(
    tmp_path_factory: pytest.TempPathFactory, texts: list[str | None], ending: str
) -> None:
    frame = pl.DataFrame({"a": pl.Series(texts, dtype=pl.String), "b": 1})
    try:
        path = written(tmp_path_factory.mktemp("copy"), ending, frame)
    except sd.InputError:
        return
    if any(text is not None for text in texts):
        assert with_calamine(path, None)[0]["a"].to_list() == texts


# -- As the real libraries see them ------------------------------------------------------------------------


def test_openpyxl_reads_the_workbook(tmp_path: Path) -> None:
    book = openpyxl.load_workbook(written(tmp_path, ".xlsx"))
    assert book.sheetnames == ["data"]
    header, *rows = book["data"].iter_rows()
    assert [cell.value for cell in header] == FRAME.columns
    assert [cell.value for cell in rows[0]] == ["[30, 40)", " a  b", 1, 1.5, dt.datetime(2020, 1, 2), MOMENT]
    formula = rows[3][1]
    assert (formula.value, formula.data_type, formula.number_format, formula.quotePrefix) == (
        "=1+1",
        "s",
        "@",
        True,
    )
    assert book.properties.creator in (None, "openpyxl")  # which is what it says where there is none


@pytest.mark.parametrize("ending", [".xlsx", ".ods"])
def test_a_workbook_has_nothing_but_its_table(tmp_path: Path, ending: str) -> None:
    with zipfile.ZipFile(written(tmp_path, ending)) as archive:
        names = archive.namelist()
        assert {one.date_time for one in archive.infolist()} == {(1980, 1, 1, 0, 0, 0)}
    assert not [name for name in names if "docProps" in name or "meta.xml" in name or "settings" in name]


def test_pandas_reads_the_opendocument_file(tmp_path: Path) -> None:
    frame = pd.read_excel(written(tmp_path, ".ods", FRAME[:, ["age", "ill", "born"]]), engine="odf")
    assert frame["age"].to_list()[:3] == ["[30, 40)", "[30, 40)", "[40, 50)"]
    assert frame["born"].dt.year.to_list()[:2] == [2020, 1950]


def test_pandas_reads_the_stata_file(tmp_path: Path) -> None:
    frame = pd.read_stata(written(tmp_path, ".dta"), convert_categoricals=False)
    assert frame["born"].dt.date.to_list()[0] == dt.date(2020, 1, 2)
    assert frame["seen"].to_list()[0] == pd.Timestamp(MOMENT)


def test_readstat_says_what_the_spss_file_has(tmp_path: Path) -> None:
    _, about = pyreadstat.read_sav(str(written(tmp_path, ".sav")))
    assert about.variable_value_labels == {"ill": {1.0: "flu"}}
    assert about.original_variable_types["born"].startswith("DATE")
    assert not about.notes
    assert not about.file_label
    assert about.creation_time == dt.datetime(1980, 1, 1)


@pytest.mark.parametrize("ending", [".dta", ".sav"])
def test_long_texts(tmp_path: Path, ending: str) -> None:
    frame = pl.DataFrame(
        {"a": ["x" * 300, "é" * (1_000 if ending == ".dta" else 16_000), "a\nb"], "b": [1, 2, 3]}
    )
    assert frame_of(written(tmp_path, ending, frame), Asked())[0].equals(frame)


def test_a_sheet_has_so_many_rows(tmp_path: Path) -> None:
    runs = Runs(pl.DataFrame({"a": ["x"]}), pl.Series([2**20]))
    with pytest.raises(sd.InputError, match=r"data\.xlsx: a sheet has 1,048,575 rows under its header"):
        write_copy(runs, Labels(), tmp_path / "data.xlsx")


def test_formats_that_are_none() -> None:
    assert formats_given("xlsx", "write") == ("xlsx",)
    assert formats_given(["json", "xlsx", "json"], "write") == ("xlsx", "json")
    for wrong in ("pdf", ["xlsx", 5], 5):
        with pytest.raises(
            sd.ParameterError, match="The 'formats' parameter of write must be some of 'xlsx', 'ods'"
        ):
            formats_given(wrong, "write")
