"""Workbooks as Excel and LibreOffice write them are read right; what would be lost without a word is refused."""

from __future__ import annotations

import datetime as dt
import io
import re
import time
import zipfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import openpyxl
import polars as pl
import pytest
from odf.opendocument import OpenDocumentSpreadsheet
from odf.table import Table as OdfTable
from odf.table import TableCell, TableRow
from odf.text import P

import sudare as sd
from sudare.errors import MissingExtraError
from sudare.tables import apart, archives
from sudare.tables.workbooks import with_calamine


def excel(path: Path, rows: Sequence[Sequence[Any]], change: Callable[[Any], object] | None = None) -> Path:
    book = openpyxl.Workbook()
    book.active.title = "People"
    for row in rows:
        book.active.append(list(row))
    if change is not None:
        change(book)
    book.save(path)
    return path


def read(path: Path, sheet: str | None = None) -> pl.DataFrame:
    """Read here and now; that it is read apart is a matter of its own."""
    return with_calamine(path, sheet)[0]


def refused(path: Path, sheet: str | None = None) -> str:
    with pytest.raises(sd.InputError) as error:
        with_calamine(path, sheet)
    return str(error.value)


def changed(path: Path, parts: Mapping[str, Callable[[bytes], bytes]]) -> Path:
    """Change parts of an archive."""
    with zipfile.ZipFile(path) as archive:
        contents = {name: archive.read(name) for name in archive.namelist()}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in contents.items():
            archive.writestr(name, parts.get(name, lambda same: same)(content))
    return path


def test_what_cells_hold(tmp_path: Path) -> None:
    seen = dt.datetime(2020, 1, 1, 3, 4, 5, 123000)
    rows = [
        ["name", "n", "share", "born", "seen", "at", "ill", "code", "formula"],
        ["ann", 1, 0.25, dt.date(1950, 1, 2), seen, dt.time(3, 4, 5), True, "007", "#N/A"],
        ["=not a formula", 2, 1, dt.date(1900, 3, 1), dt.datetime(2020, 1, 1), None, False, "12", None],
    ]

    def change(book: Any) -> None:
        sheet = book.active
        sheet["C2"].number_format = "0%"
        sheet["A3"].data_type = "s"

    frame = read(excel(tmp_path / "p.xlsx", rows, change))
    assert dict(frame.schema) == {
        "name": pl.String(),
        "n": pl.Int64(),
        "share": pl.Float64(),
        "born": pl.Date(),
        "seen": pl.Datetime("us"),
        "at": pl.Time(),
        "ill": pl.Boolean(),
        "code": pl.String(),
        "formula": pl.Null(),
    }
    assert frame.rows() == [
        ("ann", 1, 0.25, dt.date(1950, 1, 2), seen, dt.time(3, 4, 5), True, "007", None),
        ("=not a formula", 2, 1.0, dt.date(1900, 3, 1), dt.datetime(2020, 1, 1), None, False, "12", None),
    ]


def test_days_are_counted_from_1904_where_a_workbook_says_so(tmp_path: Path) -> None:
    def change(book: Any) -> None:
        book.epoch = openpyxl.utils.datetime.CALENDAR_MAC_1904

    path = excel(tmp_path / "p.xlsx", [["born"], [dt.date(2020, 1, 2)]], change)
    with zipfile.ZipFile(path) as archive:
        assert b'date1904="1"' in archive.read("xl/workbook.xml")
    assert read(path)["born"].to_list() == [dt.date(2020, 1, 2)]


def test_the_value_of_a_formula_is_the_one_that_was_saved(tmp_path: Path) -> None:
    path = excel(tmp_path / "p.xlsx", [["a", "b"], [1, "=A2+1"]])
    assert (
        "sheet 'People', cell B2: its formula was never calculated. Open the file in a spreadsheet program"
        in refused(path)
    )
    sheet = "xl/worksheets/sheet1.xml"
    changed(path, {sheet: lambda xml: re.sub(rb"<v\s*/>|<v></v>", b"<v>2</v>", xml)})
    assert read(path).rows() == [(1, 2)]
    changed(
        path,
        {
            sheet: lambda xml: xml.replace(b'<c r="B2">', b'<c r="B2" t="str">').replace(
                b"<v>2</v>", b"<v></v>"
            )
        },
    )
    assert read(path).rows() == [(1, None)]


@pytest.mark.parametrize("error", ["#DIV/0!", "#REF!", "#VALUE!"])
def test_an_error_is_no_missing_value(tmp_path: Path, error: str) -> None:
    path = excel(tmp_path / "p.xlsx", [["a", "b"], [1, "x"], [2, error]])
    assert (
        f"p.xlsx, sheet 'People', cell B3: it has the error {error}. Fix the formula, or empty the cell."
        in refused(path)
    )


@pytest.mark.parametrize(
    ("own", "other"),
    [(b't="e"', b"t='e'"), (b't="e"', b't = "e"'), (b"<v>#", b'<v xml:space="preserve">#')],
)
def test_an_error_is_none_however_its_cell_is_written(tmp_path: Path, own: bytes, other: bytes) -> None:
    path = excel(tmp_path / "p.xlsx", [["a", "b"], [1, "x"], [2, "#REF!"]])
    changed(path, {"xl/worksheets/sheet1.xml": lambda xml: xml.replace(own, other)})
    assert "cell B3: it has the error #REF!" in refused(path)


def test_the_table_may_stand_anywhere_on_its_sheet(tmp_path: Path) -> None:
    rows = [[], [], [None, "a", "b"], [None, 1, "x"], [None, None, "y"], [None, None, None]]
    path = excel(tmp_path / "p.xlsx", rows, lambda book: setattr(book.active["G9"], "number_format", "0.00"))
    assert read(path).rows() == [(1, "x"), (None, "y")]


def test_where_a_wrong_value_stands(tmp_path: Path) -> None:
    path = excel(tmp_path / "p.xlsx", [[], ["age"], [30], ["old"]])
    with pytest.raises(sd.InputError, match=r"p\.xlsx, row 4, column 'age': 'old' is not a whole number"):
        sd.read(path, sd.Schema.from_roles(quasi=["age"], types={"age": "integer"}))


def test_numbers_that_are_stored_as_texts(tmp_path: Path) -> None:
    path = excel(tmp_path / "p.xlsx", [["age"], [30], ["40"], [50.0]])
    table = sd.read(path)
    assert table.frame()["age"].to_list() == ["30", "40", "50"]
    assert table.source.notes == ("column 'age' mixes numbers and texts: it is read as texts",)
    typed = sd.read(path, sd.Schema.from_roles(quasi=["age"], types={"age": "integer"}))
    assert typed.frame()["age"].to_list() == [30, 40, 50]


FAULTS: dict[str, tuple[Sequence[Sequence[Any]], Callable[[Any], object] | None, str]] = {
    "merged cells": (
        [["ward", "n"], ["A", 1], [None, 2]],
        lambda book: book.active.merge_cells("A2:A3"),
        "the cells A2:A3 are merged, so that only the first of them has a value. Unmerge them, and fill all of them.",
    ),
    "merged names": (
        [["who", None], ["a", "b"]],
        lambda book: book.active.merge_cells("A1:B1"),
        "the cells A1:B1 are merged",
    ),
    "a title": (
        [["Report of 2024"], ["a", "b"], [1, 2]],
        None,
        "cell B1: the column has no name. The first row that is not empty",
    ),
    "one name twice": ([["a", "a"], [1, 2]], None, "cell B1: two columns are named 'a'. Rename one."),
    "an empty row": (
        [["a"], [1], [], [2]],
        None,
        "row 3: the row is empty, and records follow it. Remove it.",
    ),
    "names alone": ([["a", "b"]], None, "the table is empty; there is no record under the names in row 1."),
    "nothing": ([], None, "the sheet is empty."),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_what_is_no_table(tmp_path: Path, fault: str) -> None:
    rows, change, sentence = FAULTS[fault]
    message = refused(excel(tmp_path / "p.xlsx", rows, change))
    assert message.startswith("p.xlsx, sheet 'People'")
    assert sentence in message


def test_one_of_several_sheets(tmp_path: Path) -> None:
    def change(book: Any) -> None:
        other = book.create_sheet("Others")
        other.append(["b"])
        other.append([2])
        hidden = book.create_sheet("Hidden")
        hidden.append(["c"])
        hidden.append([3])
        hidden.sheet_state = "hidden"
        book.create_sheet("Empty")

    path = excel(tmp_path / "p.xlsx", [["a"], [1]], change)
    assert (
        "there are several sheets, 'People', 'Others'. Name one: sheet = 'People' in the schema, --sheet with"
        in refused(path)
    )
    assert "there is no sheet 'X'. There are 'People', 'Others', 'Hidden', 'Empty'." in refused(path, "X")
    assert read(path, "Others").columns == ["b"]
    assert read(path, "Hidden").columns == ["c"]
    assert sd.read(path, sheet="Others").columns == ("b",)
    schema = sd.Schema.from_dict({"attributes": {"b": {"role": "quasi"}}, "sheet": "Others"})
    assert sd.read(path, schema).columns == ("b",)
    assert sd.Schema.from_toml(_written(tmp_path, schema)) == schema
    with pytest.raises(sd.ParameterError, match="The 'sheet' parameter of read must be the name of a sheet"):
        sd.read(path, sheet=1)  # type: ignore[arg-type]


def _written(folder: Path, schema: sd.Schema) -> Path:
    (folder / "sudare.toml").write_text(schema.to_toml())
    return folder / "sudare.toml"


def test_one_sheet_among_empty_and_hidden_ones_needs_no_name(tmp_path: Path) -> None:
    def change(book: Any) -> None:
        book.create_sheet("Sheet2")
        book.create_sheet("Notes")["A1"] = "x"
        book["Notes"].sheet_state = "veryHidden"

    assert read(excel(tmp_path / "p.xlsx", [["a"], [1]], change)).columns == ["a"]


# -- OpenDocument --------------------------------------------------------------------------------------


def cell(text: str | None = None, **about: str) -> Any:
    one = TableCell(**about)
    if text is not None:
        one.addElement(P(text=text))
    return one


def ods(path: Path, rows: Sequence[Sequence[Any]], repeated: Mapping[int, int] | None = None) -> Path:
    document, table = OpenDocumentSpreadsheet(), OdfTable(name="People")
    for number, cells in enumerate(rows):
        times = (repeated or {}).get(number, 1)
        row = TableRow(numberrowsrepeated=str(times)) if times > 1 else TableRow()
        for one in cells:
            row.addElement(one)
        table.addElement(row)
    document.spreadsheet.addElement(table)
    document.save(path)
    return path


def names(*texts: str) -> list[Any]:
    return [cell(text, valuetype="string") for text in texts]


def test_what_cells_of_opendocument_hold(tmp_path: Path) -> None:
    rows = [
        names("name", "n", "share", "born", "seen", "at", "ill"),
        [
            cell("ann", valuetype="string"),
            cell("1", valuetype="float", value="1"),
            cell("25%", valuetype="percentage", value="0.25"),
            cell("2.1.50", valuetype="date", datevalue="1950-01-02"),
            cell("x", valuetype="date", datevalue="2020-01-01T03:04:05.123"),
            cell("x", valuetype="time", timevalue="PT03H04M05S"),
            cell("TRUE", valuetype="boolean", booleanvalue="true"),
        ],
        [cell("bob", valuetype="string"), cell("2", valuetype="float", value="2")],
        [TableCell(numbercolumnsrepeated="1024")],
    ]
    frame = read(ods(tmp_path / "p.ods", rows, {2: 2, 3: 1_000_000}))
    seen = dt.datetime(2020, 1, 1, 3, 4, 5, 123000)
    assert frame.rows() == [
        ("ann", 1, 0.25, dt.date(1950, 1, 2), seen, dt.time(3, 4, 5), True),
        *[("bob", 2, None, None, None, None, None)] * 2,
    ]


def test_merged_cells_of_opendocument(tmp_path: Path) -> None:
    rows = [
        names("a"),
        [cell("x", valuetype="string", numberrowsspanned="2")],
        [cell("y", valuetype="string")],
    ]
    assert "p.ods, sheet 'People': cells are merged" in refused(ods(tmp_path / "p.ods", rows))


@pytest.mark.parametrize(("error", "is_read"), [("#N/A", True), ("Err:502", False)])
def test_errors_of_opendocument(tmp_path: Path, error: str, is_read: bool) -> None:
    path = ods(tmp_path / "p.ods", [names("a", "b"), names("x", "y"), names("z", "here")])
    old = b'office:value-type="string"><text:p>here<'
    new = f'office:value-type="string" calcext:value-type="error"><text:p>{error}<'.encode()
    changed(path, {"content.xml": lambda xml: xml.replace(old, new)})
    if is_read:
        assert read(path).rows() == [("x", "y"), ("z", None)]
    else:
        assert "a cell has the error Err:502. Fix the formula, or empty the cell." in refused(path)


def test_a_protected_opendocument_file(tmp_path: Path) -> None:
    path = ods(tmp_path / "p.ods", [names("a"), names("x")])
    changed(
        path,
        {
            "META-INF/manifest.xml": lambda xml: xml.replace(
                b"</manifest:manifest>", b"<manifest:encryption-data/></manifest:manifest>"
            )
        },
    )
    assert "this is a spreadsheet that is protected by a password. Open it, take the password off" in refused(
        path
    )


# -- What is made to harm --------------------------------------------------------------------------------

LAUGHS = b"""<?xml version="1.0"?><!DOCTYPE l [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">
<!ENTITY c "&b;&b;&b;&b;&b;&b;&b;&b;"><!ENTITY d SYSTEM "file:///etc/passwd">]>"""


def test_entities_are_refused(tmp_path: Path) -> None:
    path = excel(tmp_path / "p.xlsx", [["a"], ["x"]])
    changed(
        path,
        {"xl/worksheets/sheet1.xml": lambda xml: LAUGHS + xml.replace(b"<sheetData>", b"<sheetData>&c;&d;")},
    )
    assert (
        "xl/worksheets/sheet1.xml in it declares XML entities, which no spreadsheet program writes."
        in refused(path)
    )


@pytest.mark.parametrize("piece", [b'<c t="e" ', b"<c><f>", b't="e" ', b"<c ><f "])
def test_a_sheet_that_is_made_to_be_slow(tmp_path: Path, piece: bytes) -> None:
    path = excel(tmp_path / "p.xlsx", [["a"], ["x"]])
    slow = b"<!-- <c " + piece * 200_000 + b" --></worksheet>"
    changed(path, {"xl/worksheets/sheet1.xml": lambda xml: xml.replace(b"</worksheet>", slow)})
    start = time.monotonic()
    assert read(path).rows() == [("x",)]
    assert time.monotonic() - start < 5


def test_a_workbook_that_unpacks_to_far_more(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = excel(tmp_path / "p.xlsx", [["a"], [1]])
    changed(path, {"xl/worksheets/sheet1.xml": lambda xml: xml + b" " * 10**7})
    assert read(path).rows() == [(1,)]
    monkeypatch.setattr(archives, "UNPACKED_FLOOR", 10**6)
    assert "the file unpacks to more than" in refused(path)


def test_a_workbook_with_a_cell_in_its_last_corner(tmp_path: Path) -> None:
    """It asks for half a terabyte. The process that reads it ends, and no other."""
    path = excel(tmp_path / "p.xlsx", [["a"], [1]], lambda book: book.active.cell(2**20, 2**14, "x"))
    with pytest.raises(
        sd.InputError, match=r"p\.xlsx: the file cannot be read: it is damaged, or made to harm"
    ):
        sd.read(path)


def test_a_reader_that_asks_for_too_much_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = excel(tmp_path / "p.xlsx", [["a"], [1]])
    assert sd.read(path).frame().rows() == [(1,)]
    monkeypatch.setattr(apart, "MEMORY_FLOOR", 3 * 10**8)
    monkeypatch.setattr(apart, "MEMORY_PER_BYTE", 1)
    with pytest.raises(sd.InputError, match="the file cannot be read"):
        sd.read(path)


def test_an_archive_with_one_name_twice(tmp_path: Path) -> None:
    path = excel(tmp_path / "p.xlsx", [["a"], [1]])
    with zipfile.ZipFile(path, "a") as archive, pytest.warns(UserWarning, match="Duplicate name"):
        archive.writestr("xl/workbook.xml", b"")
    assert "two files in it have one name" in refused(path)


def test_a_damaged_workbook(tmp_path: Path) -> None:
    path = excel(tmp_path / "p.xlsx", [["a"], [1]])
    whole = path.read_bytes()
    at = whole.index(b"xl/worksheets/sheet1.xml") + 60
    path.write_bytes(whole[:at] + b"\xff" * 20 + whole[at + 20 :])
    assert "p.xlsx: the file cannot be unpacked: " in refused(path)
    with zipfile.ZipFile(io.BytesIO(whole)) as archive, zipfile.ZipFile(path, "w") as cut:
        cut.writestr("xl/workbook.xml", archive.read("xl/workbook.xml")[:100])
    assert "p.xlsx: the file cannot be read: " in refused(path)


def test_the_extra_is_asked_for_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    path = tmp_path / "p.xlsx"
    path.write_bytes(b"PK\x03\x04")
    with pytest.raises(
        MissingExtraError,
        match=r"Reading an Excel workbook needs an optional part. Install it: pip install 'sudare\[files\]'",
    ):
        sd.read(path)


@pytest.mark.parametrize(
    "markup",
    [
        "calcext:value-type='error'><text:p>Err:502<",
        'calcext:value-type="error"><text:p text:style-name="P1">Err:502<',
        'calcext:value-type="error"><text:p><',
    ],
)
def test_errors_of_opendocument_however_they_are_written(tmp_path: Path, markup: str) -> None:
    path = ods(tmp_path / "p.ods", [names("a", "b"), names("x", "y"), names("z", "here")])
    old, new = b"><text:p>here<", f" {markup}".encode()
    changed(path, {"content.xml": lambda xml: xml.replace(old, new)})
    assert "a cell has the error" in refused(path)
