"""Where rows come from: files by their endings, databases by their URLs, and frames of other libraries."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable, Container, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import narwhals as nw
import numpy as np
import polars as pl

from sudare.errors import InputError
from sudare.tables.arrow_files import read_arrow
from sudare.tables.attribute import Kind, Type
from sudare.tables.csv_files import CSV_ENDINGS, CsvFile, open_csv
from sudare.tables.databases import READERS, is_url, read_database
from sudare.tables.file_kinds import refuse_other_kind
from sudare.tables.json_files import read_json_lines, read_json_table
from sudare.tables.parquet_files import read_parquet, without_panic
from sudare.tables.part_folders import CsvParts, other_columns, parts_in
from sudare.tables.schema import CsvFormat, Schema
from sudare.tables.statistics_files import PROGRAMS, read_statistics
from sudare.tables.table import Source
from sudare.tables.text import listed, spelled
from sudare.tables.workbooks import WORKBOOKS, read_workbook

PARQUET_ENDINGS = (".parquet", ".pq")
PLAIN_READERS: dict[str, Callable[[Path], pl.DataFrame]] = {
    **dict.fromkeys(PARQUET_ENDINGS, read_parquet),
    ".feather": read_arrow,
    ".arrow": read_arrow,
    ".ipc": read_arrow,
    ".jsonl": read_json_lines,
    ".ndjson": read_json_lines,
    ".json": read_json_table,
}
KNOWN = (*CSV_ENDINGS, *PLAIN_READERS, *WORKBOOKS, *PROGRAMS)


@dataclass(frozen=True)
class Asked:
    """What is asked of a source beside its name: how its texts are written, which sheet is meant, which types there are."""

    csv: CsvFormat = field(default_factory=CsvFormat)
    sheet: str | None = None
    types: Mapping[str, Type] = field(default_factory=dict)
    """That are declared, by column."""
    kinds: Mapping[str, Kind] = field(default_factory=dict)
    """The same, also where the declared values tell what they are."""

    @classmethod
    def of(cls, schema: Schema | None, csv: CsvFormat | None, sheet: str | None) -> Asked:
        """Return what is asked, or else what the schema says."""
        if schema is None:
            return cls(csv or CsvFormat(), sheet)
        types = {name: own.type for name, own in schema.attributes.items() if own.type}
        kinds = {name: own.kind for name, own in schema.attributes.items() if own.kind}
        return cls(csv or schema.csv, schema.sheet if sheet is None else sheet, types, kinds)


def is_csv(source: Any) -> bool:
    """Tell whether a source is a CSV file, plain or packed, or a folder of them."""
    if not isinstance(source, str | Path) or is_url(str(source)):
        return False
    path = Path(source)
    if path.is_dir():
        return ending_of(parts_in(path)[0]) in (*CSV_ENDINGS, ".zip")
    return ending_of(path) in (*CSV_ENDINGS, ".zip")


def ending_of(path: Path) -> str:
    """Return the ending of a file, without that of being gzipped.

    >>> ending_of(Path("people.CSV.gz"))
    '.csv'
    """
    ending = path.suffix.lower()
    return ending if ending != ".gz" else Path(path.stem).suffix.lower()


def open_csv_source(source: str | Path, asked: Asked) -> CsvFile | CsvParts:
    """Open a CSV file, or all those of a folder."""
    path = existing(source)
    if path.is_dir():
        return CsvParts.open(path, asked.csv, asked.sheet)
    return open_csv(path, asked.csv, asked.sheet)


def is_elsewhere(source: str) -> bool:
    """Tell whether a path begins with the scheme of a file system.

    >>> [is_elsewhere(path) for path in ("s3://bucket/x.parquet", "dbfs:/x.parquet", "file:///x.parquet", "C:/x.parquet")]
    [True, True, True, False]
    """
    return re.match(r"[A-Za-z][\w+.-]+:/", source) is not None


def is_parquet(source: str) -> bool:
    """Tell whether a path is of Parquet files; a URL may have more after it.

    >>> is_parquet("https://host/people.parquet?signature=x"), is_parquet("sqlite:///people.db?table=x.parquet")
    (True, False)
    """
    if source.partition(":")[0].lower() in READERS:
        return False
    return any(path.lower().endswith(PARQUET_ENDINGS) for path in (source, source.partition("?")[0]))


def existing(source: str | Path) -> Path:
    """Return the path of a file or folder that is there."""
    path = Path(source)
    if not path.exists():
        raise InputError(f"{path}: there is no such file.")
    if not (path.is_file() or path.is_dir()):
        raise InputError(f"{path} is no plain file. Write what comes out of it to a file, and give that.")
    return path


def frame_of(source: Any, asked: Asked) -> tuple[pl.DataFrame, Source]:
    """Return the rows of a source that is no CSV file, and what it is called."""
    if isinstance(source, str | Path):
        if is_url(str(source)):
            frame, name = read_database(str(source))
            return frame, Source(name)
        path = existing(source)
        return _read_parts(path, asked) if path.is_dir() else _read_file(path, asked)
    return polars_from(source, asked.types), Source(type(source).__name__)


def polars_from(source: Any, typed: Container[str] = ()) -> pl.DataFrame:
    """Return a frame of any kind as one of polars; columns that are `typed` may hold objects, which then go by their texts."""
    kind = type(source).__name__
    if isinstance(source, pl.LazyFrame):
        source = source.collect()
    names = [str(name) for name in getattr(source, "column_names", None) or getattr(source, "columns", [])]
    if len(set(names)) < len(names):  # pandas and pyarrow allow that
        twice = sorted({name for name in names if names.count(name) > 1})
        raise InputError(f"{kind}: two columns are named {listed(twice)}. Rename one.")
    try:
        frame = nw.from_native(source)
        eager = frame.collect() if isinstance(frame, nw.LazyFrame) else frame
        return pl.DataFrame([_column_of(eager.get_column(name), kind, typed) for name in eager.columns])
    except TypeError:
        raise InputError(
            f"A table cannot be read from {kind}. Give a path, a database URL, or a pandas, polars or pyarrow frame."
        ) from None


def _column_of(series: nw.Series[Any], kind: str, typed: Container[str]) -> pl.Series:
    """Return a column of any frame. Objects that no type holds together go by their texts, if the schema declares one."""
    try:
        return series.to_polars().alias(str(series.name))
    except (ValueError, TypeError, OverflowError, NotImplementedError, pl.exceptions.PolarsError) as error:
        if str(series.name) in typed:
            missing = series.is_null().to_list()
            texts = [None if lost else spelled(v) for lost, v in zip(missing, series.to_list(), strict=True)]
            return pl.Series(str(series.name), texts, dtype=pl.String)
        reason = str(error).splitlines()[0]
        raise InputError(
            f"{kind}, column '{series.name}': its values are not of one type: {reason}. Convert them first, or give the "
            "attribute a type."
        ) from None


def _read_file(path: Path, asked: Asked) -> tuple[pl.DataFrame, Source]:
    ending = path.suffix.lower()
    if ending in WORKBOOKS:
        frame, about = read_workbook(path, asked.sheet)
        first, notes = about["first"], tuple(about["notes"])
        return frame, Source(
            path.name,
            lambda row: f"row {row + first}",
            notes=notes,
            by_cell=True,
            mixed=tuple(about["mixed"]),
        )
    if ending in PROGRAMS:
        codes, labels, notes = read_statistics(path, asked.csv.encoding)
        frame, left, more = labels.applied(codes, asked.kinds, path.name)
        return frame, Source(path.name, notes=(*notes, *more), labels=left)
    if ending not in PLAIN_READERS:
        refuse_other_kind(path)
        raise InputError(
            f"{path}: the ending '{path.suffix}' is not known. Known are {', '.join(KNOWN)}; of CSV files also .gz and .zip."
        )
    refuse_other_kind(path, ending)
    return without_panic(lambda: PLAIN_READERS[ending](path), str(path)), Source(path.name)


def _read_parts(folder: Path, asked: Asked) -> tuple[pl.DataFrame, Source]:
    """Read all files of a folder, one after the other; they must have the same columns and types."""
    paths = parts_in(folder)
    read = [_read_file(path, asked) for path in paths]
    first = read[0][0]
    for path, (frame, _) in zip(paths, read, strict=True):
        if list(frame.schema.items()) != list(first.schema.items()):
            raise other_columns(path, paths[0], frame.columns, first.columns)
    ends = np.cumsum([frame.height for frame, _ in read])

    def place(row: int) -> str:
        part = int(np.searchsorted(ends, row, side="right"))
        before = int(ends[part - 1]) if part else 0
        return f"{paths[part].name}, {read[part][1].place(row - before)}"

    notes = tuple(dict.fromkeys(note for _, source in read for note in source.notes))
    mixed = tuple(dict.fromkeys(name for _, source in read for name in source.mixed))
    own = replace(read[0][1], name=folder.name, place=place, notes=notes, mixed=mixed)
    return pl.concat([frame for frame, _ in read]), own


def refuse_cells(series: pl.Series, origin: Source) -> None:
    """Refuse cells that are no plain values, and days that no calendar has."""
    if series.dtype.is_nested() or isinstance(series.dtype, pl.Object | pl.Binary):
        raise InputError(
            f"{origin.name}, column '{series.name}': a cell holds {series.dtype}. Keep one number, date or text per cell."
        )
    if rows := _beyond_the_calendar(series):
        raise InputError(
            f"{origin.where(rows[0])}, column '{series.name}': the date is not in the years 1 to 9999. "
            "Make it missing, or another date."
        )


def _beyond_the_calendar(series: pl.Series) -> list[int]:
    """Return the rows whose dates no calendar has, such as a database's infinity."""
    if not (
        series.dtype == pl.Date or (isinstance(series.dtype, pl.Datetime) and series.dtype.time_unit != "ns")
    ):
        return []  # nanoseconds end in the year 2262
    limits = pl.Series([dt.datetime.min, dt.datetime.max]).cast(series.dtype).to_physical()
    return (~series.to_physical().is_between(limits[0], limits[1])).arg_true().to_list()
