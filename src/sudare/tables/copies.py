"""Copies of a published table in the formats of other programs: workbooks, files of Stata and SPSS, JSON.

A table always stands in Parquet files; a copy says the same once more. Nothing else is in it: no author, no time of writing,
no label of a value that is not published; and the same rows always give the same bytes, so that whoever verifies a release can
write the copy again and compare. Two values that can be told apart in the table can be told apart in the copy: a column is
written in the format's own type where that keeps every value of it, and else as texts; a text that cannot be kept is refused.
"""

from __future__ import annotations

import filecmp
import tempfile
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Literal, get_args

import polars as pl

from sudare.errors import ParameterError
from sudare.progress import step
from sudare.tables.databases import need_extra
from sudare.tables.exact import texts
from sudare.tables.kept_values import JSON, kept
from sudare.tables.labels import Labels, used_codes
from sudare.tables.runs import PublishedRows, Runs
from sudare.tables.schema import Schema
from sudare.tables.statistics_files import read_statistics
from sudare.tables.statistics_writer import write_dta, write_sav
from sudare.tables.text import listed
from sudare.tables.workbook_writer import write_ods, write_xlsx

Format = Literal["xlsx", "ods", "dta", "sav", "json"]
FORMATS: tuple[Format, ...] = get_args(Format)
COPY_ENDINGS = tuple(f".{name}" for name in FORMATS)
LABELLED = (".dta", ".sav")
"""Copies that have labels, and that pyreadstat writes."""


def formats_given(formats: object, owner: str) -> tuple[Format, ...]:
    """Return the formats that are asked for, each once, or refuse what is none; and those that nobody here can write.

    >>> formats_given(["xlsx", "pdf"], "write")
    Traceback (most recent call last):
    sudare.errors.ParameterError: The 'formats' parameter of write must be some of 'xlsx', 'ods', 'dta', 'sav', 'json'. Got 'pdf' instead.
    """
    asked = (
        [formats]
        if isinstance(formats, str)
        else list(formats)
        if isinstance(formats, Sequence)
        else [formats]
    )
    for one in asked:
        if one not in FORMATS:
            what = owner if owner.startswith("--") else f"The 'formats' parameter of {owner}"
            raise ParameterError(f"{what} must be some of {listed(FORMATS)}. Got {one!r} instead.")
        if f".{one}" in LABELLED:
            need_extra("pyreadstat", f"Writing .{one} files", "files")
    return tuple(one for one in FORMATS if one in asked)


def write_copy(rows: PublishedRows, labels: Labels, to: Path) -> None:
    """Write a table in the format that the ending of a path says."""
    with step(f"Writing {to.name}", total=rows.height) as writing:
        WRITERS[to.suffix](rows.runs(), labels, to)
        writing.advance(rows.height)


def labels_of(schema: Schema, rows: Iterable[PublishedRows]) -> Labels:
    """Return what a schema calls published columns, and the codes that are in them."""
    columns: dict[str, str] = {}
    codes: dict[str, dict[str, str]] = {}
    for table in rows:
        for name in table.columns:
            own = schema[name]
            if own.label is not None:
                columns[name] = own.label
            if own.codes and (used := used_codes(table.counted([name]).rows[name], own.codes)):
                codes[name] = codes.get(name, {}) | used
    return Labels(columns, codes)


def is_copy_of(path: Path, rows: PublishedRows, labels: Labels, *, to_the_byte: bool = True) -> bool:
    """Tell whether a file is byte by byte the copy that is written for these rows; or else whether it says the same.

    Only what pyreadstat writes can say the same in other bytes: those of another version of it.
    """
    if path.suffix in LABELLED:
        need_extra("pyreadstat", f"Verifying {path.name}", "files")
    with tempfile.TemporaryDirectory(prefix="sudare-copy-") as folder:
        fresh = Path(folder) / path.name
        write_copy(rows, labels, fresh)
        if to_the_byte or path.suffix not in LABELLED:
            return filecmp.cmp(path, fresh, shallow=False)
        (found, found_labels, _), (wanted, wanted_labels, _) = (
            read_statistics(one, None) for one in (path, fresh)
        )
        return found.equals(wanted) and found.schema == wanted.schema and found_labels == wanted_labels


def _write_xlsx(runs: Runs, labels: Labels, to: Path) -> None:
    write_xlsx(runs, to)


def _write_ods(runs: Runs, labels: Labels, to: Path) -> None:
    write_ods(runs, to)


def _write_json(runs: Runs, labels: Labels, to: Path) -> None:
    """Write an array of objects, one on each line; what is missing is null, and dates are texts."""
    plain = Runs(
        pl.DataFrame([_plain(kept(column, JSON, to)) for column in runs.rows.iter_columns()]), runs.lengths
    )
    before = b"["
    with to.open("wb") as file:
        for some in plain.slices():
            if some.height:
                file.write(before + b"\n" + some.write_ndjson().encode().rstrip(b"\n").replace(b"\n", b",\n"))
                before = b","
        file.write(b"\n]\n" if before == b"," else b"[]\n")


def _plain(column: pl.Series) -> pl.Series:
    return texts(column) if column.dtype.is_temporal() else column


WRITERS: dict[str, Callable[[Runs, Labels, Path], None]] = {
    ".xlsx": _write_xlsx,
    ".ods": _write_ods,
    ".dta": write_dta,
    ".sav": write_sav,
    ".json": _write_json,
}
