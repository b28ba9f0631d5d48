"""Workbooks that hold one table and nothing else: no author, no time, no style that was not needed.

They are not packed: the bytes of packed ones depend on who packs them, and these are compared byte by byte.
"""

from __future__ import annotations

import datetime as dt
import re
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

import polars as pl

from sudare.errors import InputError
from sudare.tables.kept_values import ODS, XLSX, Keeps, kept
from sudare.tables.numbers import WHOLE
from sudare.tables.runs import Runs
from sudare.tables.spreadsheets import FORMULA

MAX_ROWS, MAX_COLUMNS = 2**20, 2**14
"""Of a sheet."""
HEAD = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
DAY_0 = dt.datetime(1899, 12, 30)
PLAIN, DAY, MOMENT, TEXT = "", ' s="1"', ' s="2"', ' s="3"'
"""The styles below, in their order. A text that looks like a formula is marked as text, so that it stays one when it is edited."""
STYLES = (
    '<styleSheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main">'
    '<numFmts count="2"><numFmt numFmtId="164" formatCode="yyyy\\-mm\\-dd"/>'
    '<numFmt numFmtId="165" formatCode="yyyy\\-mm\\-dd\\ hh:mm:ss.000"/></numFmts>'
    '<fonts count="1"><font/></fonts>'
    '<fills count="2"><fill><patternFill patternType="none"/></fill><fill><patternFill patternType="gray125"/></fill></fills>'
    '<borders count="1"><border/></borders><cellStyleXfs count="1"><xf/></cellStyleXfs>'
    '<cellXfs count="4"><xf/><xf numFmtId="164" applyNumberFormat="1"/><xf numFmtId="165" applyNumberFormat="1"/>'
    '<xf numFmtId="49" applyNumberFormat="1" quotePrefix="1"/></cellXfs>'
    '<cellStyles count="1"><cellStyle name="Normal" xfId="0" builtinId="0"/></cellStyles></styleSheet>'
)
RELATIONS = "http://schemas.openxmlformats.org/package/2006/relationships"
DOCUMENT = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
TYPE = "application/vnd.openxmlformats-officedocument.spreadsheetml"
XLSX_PARTS = {
    "[Content_Types].xml": '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">'
    '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
    '<Default Extension="xml" ContentType="application/xml"/>'
    f'<Override PartName="/xl/workbook.xml" ContentType="{TYPE}.sheet.main+xml"/>'
    f'<Override PartName="/xl/worksheets/sheet1.xml" ContentType="{TYPE}.worksheet+xml"/>'
    f'<Override PartName="/xl/styles.xml" ContentType="{TYPE}.styles+xml"/>'
    f'<Override PartName="/xl/sharedStrings.xml" ContentType="{TYPE}.sharedStrings+xml"/></Types>',
    "_rels/.rels": f'<Relationships xmlns="{RELATIONS}">'
    f'<Relationship Id="rId1" Type="{DOCUMENT}/officeDocument" Target="xl/workbook.xml"/></Relationships>',
    "xl/workbook.xml": f'<workbook xmlns="{MAIN}" xmlns:r="{DOCUMENT}">'
    '<sheets><sheet name="data" sheetId="1" r:id="rId1"/></sheets></workbook>',
    "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{RELATIONS}">'
    f'<Relationship Id="rId1" Type="{DOCUMENT}/worksheet" Target="worksheets/sheet1.xml"/>'
    f'<Relationship Id="rId2" Type="{DOCUMENT}/styles" Target="styles.xml"/>'
    f'<Relationship Id="rId3" Type="{DOCUMENT}/sharedStrings" Target="sharedStrings.xml"/></Relationships>',
    "xl/styles.xml": STYLES,
}
ODS_TYPE = "application/vnd.oasis.opendocument.spreadsheet"
OASIS = "urn:oasis:names:tc:opendocument:xmlns"
MANIFEST = (
    f'<manifest:manifest xmlns:manifest="{OASIS}:manifest:1.0" manifest:version="1.2">'
    f'<manifest:file-entry manifest:full-path="/" manifest:version="1.2" manifest:media-type="{ODS_TYPE}"/>'
    '<manifest:file-entry manifest:full-path="content.xml" manifest:media-type="text/xml"/></manifest:manifest>'
)
CONTENT = (
    f'<office:document-content xmlns:office="{OASIS}:office:1.0" xmlns:table="{OASIS}:table:1.0" '
    f'xmlns:text="{OASIS}:text:1.0" office:version="1.2"><office:body><office:spreadsheet><table:table table:name="data">'
)
CONTENT_END = "</table:table></office:spreadsheet></office:body></office:document-content>"

Write = Callable[[Any], str]
"""Writes a value as a cell."""


def write_xlsx(runs: Runs, to: Path) -> None:
    """Write a table as an Excel workbook; texts are texts there, whatever they begin with."""
    frame = _checked(runs, XLSX, to)
    places: dict[str, int] = {}  # of each text among those that cells share

    def text(value: str) -> str:
        style = TEXT if re.match(FORMULA, value) else PLAIN
        return f'<c{style} t="s"><v>{places.setdefault(value, len(places))}</v></c>'

    writers: dict[type[pl.DataType], Write] = {
        pl.String: text,
        pl.Boolean: lambda value: f'<c t="b"><v>{int(value)}</v></c>',
        pl.Date: lambda value: f"<c{DAY}><v>{(dt.datetime.combine(value, dt.time.min) - DAY_0).days}</v></c>",
        pl.Datetime: lambda value: f"<c{MOMENT}><v>{_number((value - DAY_0) / dt.timedelta(days=1))}</v></c>",
    }
    header = "".join(map(text, frame.columns))
    rows = _rows(frame, runs.lengths, writers, lambda value: f"<c><v>{_number(value)}</v></c>", "<c/>", "row")
    sheet = f'<worksheet xmlns="{MAIN}"><sheetData><row>{header}</row>{rows}</sheetData></worksheet>'
    shared = "".join(f'<si><t xml:space="preserve">{escape(value)}</t></si>' for value in places)
    parts = XLSX_PARTS | {
        "xl/sharedStrings.xml": f'<sst xmlns="{MAIN}" uniqueCount="{len(places)}">{shared}</sst>',
        "xl/worksheets/sheet1.xml": sheet,
    }
    _write(to, {name: HEAD + content for name, content in parts.items()})


def write_ods(runs: Runs, to: Path) -> None:
    """Write a table as an OpenDocument spreadsheet."""
    frame = _checked(runs, ODS, to)

    def text(value: str) -> str:
        return f'<table:table-cell office:value-type="string"><text:p>{_spaced(value)}</text:p></table:table-cell>'

    def cell(kind: str, key: str, value: str) -> str:
        return f'<table:table-cell office:value-type="{kind}" office:{key}="{value}"/>'

    writers: dict[type[pl.DataType], Write] = {
        pl.String: text,
        pl.Boolean: lambda value: cell("boolean", "boolean-value", "true" if value else "false"),
        pl.Date: lambda value: cell("date", "date-value", value.isoformat()),
        pl.Datetime: lambda value: cell("date", "date-value", value.isoformat(timespec="milliseconds")),
    }
    header = "".join(map(text, frame.columns))
    number: Write = lambda value: cell("float", "value", _number(value))  # noqa: E731
    rows = _rows(frame, runs.lengths, writers, number, "<table:table-cell/>", "table:table-row")
    sheet = f"<table:table-row>{header}</table:table-row>{rows}"
    _write(
        to,
        {
            "mimetype": ODS_TYPE,
            "META-INF/manifest.xml": HEAD + MANIFEST,
            "content.xml": HEAD + CONTENT + sheet + CONTENT_END,
        },
    )


def _checked(runs: Runs, format: Keeps, to: Path) -> pl.DataFrame:
    if runs.height >= MAX_ROWS or runs.rows.width > MAX_COLUMNS:
        raise InputError(
            f"{to.name}: a sheet has {MAX_ROWS - 1:,} rows under its header and {MAX_COLUMNS:,} columns at most, and there are "
            f"{runs.height:,} rows and {runs.rows.width:,} columns. Leave this format out."
        )
    kept(pl.Series("names", runs.columns, dtype=pl.String), format, to)  # refused as texts are
    return pl.DataFrame([kept(column, format, to) for column in runs.rows.iter_columns()])


def _rows(
    frame: pl.DataFrame,
    lengths: pl.Series,
    writers: Mapping[type[pl.DataType], Write],
    number: Write,
    nothing: str,
    element: str,
) -> str:
    """Write rows, each as often as it stands there; what is written for a value is written once."""
    columns = [
        _cells(column, writers.get(column.dtype.base_type(), number), nothing)
        for column in frame.iter_columns()
    ]
    begin, end = f"<{element}>", f"</{element}>"
    return "".join(
        (begin + "".join(cells) + end) * length
        for *cells, length in zip(*columns, lengths.to_list(), strict=True)
    )


def _cells(column: pl.Series, write: Write, nothing: str) -> list[str]:
    values = column.to_list()
    written = {value: write(value) for value in dict.fromkeys(values) if value is not None}
    return [nothing if value is None else written[value] for value in values]


def _number(value: float) -> str:
    """Write a number; equal ones are written alike, whatever their type.

    >>> _number(3), _number(3.0), _number(0.25), _number(1e300)
    ('3', '3', '0.25', '1e+300')
    """
    return str(int(value)) if value == int(value) and abs(value) <= WHOLE else repr(value)


def _spaced(text: str) -> str:
    """Write a text of which an OpenDocument reader keeps all blanks."""
    return re.sub("^ +| +$|(?<= ) +", lambda blanks: f'<text:s text:c="{len(blanks[0])}"/>', escape(text))


def _write(to: Path, parts: Mapping[str, str]) -> None:
    with zipfile.ZipFile(to, "w", zipfile.ZIP_STORED) as archive:
        for name, content in parts.items():
            about = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
            about.create_system = 0  # else it tells on which system it was written
            archive.writestr(about, content.encode())
