"""Workbooks of Excel and OpenDocument: one sheet, whose first row that is not empty names the columns.

They are read by calamine, apart (`apart.py`). It follows no entities and no links, runs no formulas, and takes the values that
were calculated when the file was saved. What it would leave out without a word is looked for before: errors, formulas that
were never calculated, and merged cells, of which only the first has a value.
"""

from __future__ import annotations

import datetime as dt
import io
import re
import zipfile
from collections.abc import Sequence
from pathlib import Path
from types import NoneType
from typing import Any
from xml.etree import ElementTree

import polars as pl

from sudare.errors import InputError
from sudare.tables.apart import read_apart
from sudare.tables.archives import opened
from sudare.tables.databases import need_extra
from sudare.tables.file_kinds import refuse_other_kind, refuse_text
from sudare.tables.numbers import whole_if_all_are
from sudare.tables.parquet_files import MAX_COLUMNS
from sudare.tables.text import listed, shown, spelled

WORKBOOKS = {
    ".xlsx": "an Excel workbook",
    ".xlsm": "an Excel workbook",
    ".ods": "an OpenDocument spreadsheet",
}
"""What is read, by its ending."""
NOT_AVAILABLE = "#N/A"
"""The only error that is a missing value; all others are faults."""
NEEDED = re.compile(
    r"(\[Content_Types\]\.xml|_rels/\.rels|xl/.*\.(xml|rels)|mimetype|content\.xml|META-INF/manifest\.xml)"
)
RELATED = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}id"
# No sign of these can stand for many tags: so they take no longer for a file that is made to be slow.
FORMULA = rb"<(?:\w+:)?f\b[^<>]*(?:/>|>[^<]*+</(?:\w+:)?f>)\s*+"
IS_ERROR, IS_TEXT = (rb"""\bt\s*=\s*["']%s["']""" % kind for kind in (b"e", b"str"))
VALUE = rb"<(?:\w+:)?v\b[^<>/]*+"
ERROR = re.compile(rb"<(?:\w+:)?c\b(?=[^<>]*?%s)([^<>]*+)>(?:%s)?%s>([^<]*)<" % (IS_ERROR, FORMULA, VALUE))
NEVER_CALCULATED = re.compile(
    rb"<(?:\w+:)?c\b([^<>]*+)>%s(?:%s/>|%s></(?:\w+:)?v\s*>)?</(?:\w+:)?c\s*>" % (FORMULA, VALUE, VALUE)
)
REFERENCE = re.compile(rb"""\br\s*=\s*["']([A-Z]+[0-9]+)["']""")
ODS_ERROR = re.compile(rb"""\bvalue-type\s*=\s*["']error["'][^<>]*+>(?:\s*+<text:p\b[^<>]*+>([^<]*+))?""")
ODS_MERGED = re.compile(rb"""table:number-(?:columns|rows)-spanned\s*=\s*["'](?:[2-9]|[1-9][0-9]+)["']""")

KINDS = {
    **{str: "texts", bool: "truth values", dt.date: "dates", dt.datetime: "dates"},
    **{dt.time: "times", dt.timedelta: "spans of time"},
}
Cell = str | float | bool | dt.datetime | dt.date | dt.time | dt.timedelta | None


def read_workbook(path: Path, sheet: str | None) -> tuple[pl.DataFrame, dict[str, Any]]:
    """Read a sheet of a workbook; also returns its name, the number of its first record, and notes."""
    what = WORKBOOKS[path.suffix.lower()]
    need_extra("python_calamine", f"Reading {what}", "files")
    refuse_other_kind(path, path.suffix.lower())
    refuse_text(path, what)
    return read_apart(with_calamine, path, sheet=sheet)


def with_calamine(path: Path, sheet: str | None) -> tuple[pl.DataFrame, dict[str, Any]]:
    """Read a sheet here and now."""
    import python_calamine

    parts = _parts(path)
    try:
        book = python_calamine.CalamineWorkbook.from_filelike(_packed_again(parts))
        name = _chosen(book, sheet, path)
        found = book.get_sheet_by_name(name)
        rows = found.to_python(skip_empty_area=False)
        merged = found.merged_cell_ranges or []
    except python_calamine.CalamineError as error:
        raise InputError(
            f"{path}: the file cannot be read: {str(error).removesuffix('.')}. Ask for it again."
        ) from None
    where = f"{path.name}, sheet {shown(name)}"
    if path.suffix.lower() == ".ods":
        _refuse_ods_faults(parts["content.xml"], where)
    else:
        _refuse_faults(_sheet_part(parts, name), where)
    return _table(rows, merged, where, name)


# -- The archive -------------------------------------------------------------------------------------


def _parts(path: Path) -> dict[str, bytes]:
    """Unpack the parts of a workbook that say what is in its cells, within limits; refuse what could be made to harm."""
    with opened(path) as archive:
        names = [name for name in archive.members if NEEDED.fullmatch(name)]
        parts = dict(zip(names, archive.unpacked(*names), strict=True))
    for name, content in parts.items():
        if b"<!DOCTYPE" in content or b"<!ENTITY" in content or b"\0" in content[:4]:  # the last is UTF-16
            raise InputError(
                f"{path}: {name} in it declares XML entities, which no spreadsheet program writes. Ask for it again."
            )
    if b"encryption-data" in parts.get("META-INF/manifest.xml", b""):
        raise InputError(
            f"{path}: this is a spreadsheet that is protected by a password. Open it, take the password off, and save it."
        )
    return parts


def _packed_again(parts: dict[str, bytes]) -> io.BytesIO:
    """Return an archive of what was checked: two programs can read one archive differently."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_STORED) as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    packed.seek(0)
    return packed


def _chosen(book: Any, sheet: str | None, path: Path) -> str:
    """Return the sheet that is asked for, or the only one that has something in it and can be seen."""
    kinds = {about.name: (str(about.typ), str(about.visible)) for about in book.sheets_metadata}
    tables = [name for name, (kind, _) in kinds.items() if kind.endswith("WorkSheet")]
    if sheet is not None:
        if sheet not in tables:
            raise InputError(f"{path}: there is no sheet '{sheet}'. There are {listed(tables)}.")
        return sheet
    visible = [name for name in tables if kinds[name][1].endswith(".Visible")]
    filled = [name for name in visible if len(visible) == 1 or book.get_sheet_by_name(name).start is not None]
    if not filled:
        raise InputError(f"{path}: the workbook is empty: it has no sheet with cells in it.")
    if len(filled) > 1:
        raise InputError(
            f"{path}: there are several sheets, {listed(filled)}. Name one: sheet = {shown(filled[0])} in the schema, --sheet with sudare "
            f"init, or in Python read(..., sheet={shown(filled[0])})."
        )
    return str(filled[0])


# -- What calamine leaves out ----------------------------------------------------------------------------


def _sheet_part(parts: dict[str, bytes], sheet: str) -> bytes:
    """Return the part of a workbook in which a sheet stands; none if it cannot be found in the usual way."""
    try:
        book = ElementTree.fromstring(parts["xl/workbook.xml"])
        relations = ElementTree.fromstring(parts["xl/_rels/workbook.xml.rels"])
    except (ElementTree.ParseError, KeyError):
        return b""
    ids = {own.get("name"): own.get(RELATED) for own in book.iter() if own.tag.endswith("}sheet")}
    targets = {own.get("Id"): own.get("Target") or "" for own in relations}
    target = targets.get(ids.get(sheet), "")
    return parts.get(target.removeprefix("/") if target.startswith("/") else f"xl/{target}", b"")


def _refuse_faults(content: bytes, where: str) -> None:
    for cell in ERROR.finditer(content):
        if cell[2] != NOT_AVAILABLE.encode():
            raise InputError(
                f"{where}, cell {_reference(cell[1])}: it has the error {cell[2].decode(errors='replace')}. Fix the formula, or empty the cell."
            )
    for cell in NEVER_CALCULATED.finditer(content):
        if not re.search(IS_TEXT, cell[1]):  # whose result is a text without signs
            raise InputError(
                f"{where}, cell {_reference(cell[1])}: its formula was never calculated. Open the file in a spreadsheet program, and "
                "save it there."
            )


def _reference(attributes: bytes) -> str:
    found = REFERENCE.search(attributes)
    return found[1].decode() if found else "of a formula"


def _refuse_ods_faults(content: bytes, where: str) -> None:
    for cell in ODS_ERROR.finditer(content):
        shown_as = (cell[1] or b"of a formula").decode(errors="replace")
        if shown_as != NOT_AVAILABLE:
            raise InputError(f"{where}: a cell has the error {shown_as}. Fix the formula, or empty the cell.")
    if ODS_MERGED.search(content):
        raise InputError(
            f"{where}: cells are merged, so that only the first of them has a value. Unmerge them, and fill all of them."
        )


# -- From cells to columns -------------------------------------------------------------------------------


def _table(
    rows: Sequence[Sequence[Any]],
    merged: Sequence[tuple[tuple[int, int], tuple[int, int]]],
    where: str,
    sheet: str,
) -> tuple[pl.DataFrame, dict[str, Any]]:
    cells = [[_value(cell) for cell in row] for row in rows]
    filled = [any(cell is not None for cell in row) for row in cells]
    if True not in filled:
        raise InputError(f"{where}: the sheet is empty.")
    top, bottom = filled.index(True), len(filled) - filled[::-1].index(True)
    left = min(i for row in cells[top:bottom] for i, cell in enumerate(row) if cell is not None)
    right = max(i for row in cells[top:bottom] for i, cell in enumerate(row) if cell is not None) + 1
    _refuse_merged(merged, top, where)
    names = _names(cells[top][left:right], top, left, where)
    if bottom == top + 1:
        raise InputError(f"{where}: the table is empty; there is no record under the names in row {top + 1}.")
    if False in filled[top:bottom]:
        raise InputError(
            f"{where}, row {top + filled[top:bottom].index(False) + 1}: the row is empty, and records follow it. Remove it."
        )
    mixed: dict[str, str] = {}
    columns = [
        _column(name, [row[place] for row in cells[top + 1 : bottom]], mixed)
        for place, name in enumerate(names, start=left)
    ]
    notes = [f"column '{name}' mixes {kinds}: it is read as texts" for name, kinds in mixed.items()]
    about = {"sheet": sheet, "first": top + 2, "notes": notes, "mixed": list(mixed)}
    return pl.DataFrame(columns), about


def _value(cell: Any) -> Cell:
    value: Cell = None if cell in ("", NOT_AVAILABLE) else cell
    return value


def _refuse_merged(merged: Sequence[tuple[tuple[int, int], tuple[int, int]]], top: int, where: str) -> None:
    for (row, column), (last_row, last_column) in merged:
        if last_row >= top:
            cells = f"{_letters(column)}{row + 1}:{_letters(last_column)}{last_row + 1}"
            raise InputError(
                f"{where}: the cells {cells} are merged, so that only the first of them has a value. Unmerge them, and fill all of them."
            )


def _names(cells: Sequence[Cell], row: int, left: int, where: str) -> list[str]:
    if len(cells) > MAX_COLUMNS:
        raise InputError(
            f"{where}, row {row + 1}: it names {len(cells):,} columns. {MAX_COLUMNS:,} are the most."
        )
    names = ["" if cell is None else spelled(cell).strip() for cell in cells]
    for place, name in enumerate(names):
        cell = f"{where}, cell {_letters(left + place)}{row + 1}"
        if not name:
            raise InputError(
                f"{cell}: the column has no name. The first row that is not empty must name all columns: name it there, and remove "
                "titles above."
            )
        if name in names[:place]:
            raise InputError(f"{cell}: two columns are named '{name}'. Rename one.")
    return names


def _letters(column: int) -> str:
    """Write the number of a column, from 0, as spreadsheets do.

    >>> _letters(0), _letters(25), _letters(26), _letters(16383)
    ('A', 'Z', 'AA', 'XFD')
    """
    text = ""
    while column >= 0:
        text, column = chr(ord("A") + column % 26) + text, column // 26 - 1
    return text


def _column(name: str, cells: list[Cell], mixed: dict[str, str]) -> pl.Series:
    """Return cells as a column: numbers, dates, times, truth values, or texts; what is mixed is texts."""
    kinds = {KINDS.get(own, "numbers") for own in set(map(type, cells)) - {NoneType}}
    if len(kinds) > 1:
        mixed[name] = " and ".join(sorted(kinds))
        return pl.Series(name, [None if cell is None else spelled(cell) for cell in cells], dtype=pl.String)
    if kinds == {"dates"}:
        moments = pl.Series(name, [_moment(cell) for cell in cells], dtype=pl.Datetime("us"))
        days = moments.dt.date()
        return days if bool((days.cast(moments.dtype) == moments).all()) else moments
    column = pl.Series(name, cells)
    return whole_if_all_are(column)


def _moment(cell: Any) -> dt.datetime | None:
    if cell is None or isinstance(cell, dt.datetime):
        return cell
    return dt.datetime.combine(cell, dt.time.min)
