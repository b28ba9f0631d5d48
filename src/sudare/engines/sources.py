"""Where rows come from: files by their endings, databases by their URLs, and frames of other libraries."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable, Container
from pathlib import Path
from typing import Any

import narwhals as nw
import polars as pl

from sudare.errors import InputError
from sudare.tables.arrow_files import read_arrow
from sudare.tables.databases import READERS, is_url, read_database
from sudare.tables.json_lines import read_json_lines
from sudare.tables.parquet_files import read_parquet, without_panic
from sudare.tables.table import Source
from sudare.tables.text import listed, spelled

PARQUET_ENDINGS = (".parquet", ".pq")
CSV_ENDINGS = (".csv", ".tsv", ".txt", ".tab")
FRAME_READERS: dict[str, Callable[[Path], pl.DataFrame]] = {
    **dict.fromkeys(PARQUET_ENDINGS, read_parquet),
    ".feather": read_arrow,
    ".arrow": read_arrow,
    ".ipc": read_arrow,
    ".jsonl": read_json_lines,
    ".ndjson": read_json_lines,
}


def is_csv(source: Any) -> bool:
    """Tell whether a source is a CSV file, plain or gzipped."""
    if not isinstance(source, str | Path) or is_url(str(source)):
        return False
    path = Path(source)
    ending = path.suffix.lower() if path.suffix.lower() != ".gz" else Path(path.stem).suffix.lower()
    return ending in CSV_ENDINGS


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
    """Return the path of a file that is there."""
    path = Path(source)
    if not path.exists():
        raise InputError(f"{path}: there is no such file.")
    if path.is_dir():
        raise InputError(f"{path}: this is a folder. Name the file in it.")
    return path


def frame_of(source: Any, typed: Container[str]) -> tuple[pl.DataFrame, Source]:
    """Return the rows of a source that is no CSV file, and what it is called; `typed` are columns with a declared type."""
    if isinstance(source, str | Path):
        if is_url(str(source)):
            frame, name = read_database(str(source))
            return frame, Source(name)
        path = existing(source)
        return _read_file(path), Source(path.name)
    return _from_native(source, typed), Source(type(source).__name__)


def _from_native(source: Any, typed: Container[str]) -> pl.DataFrame:
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
    except (ValueError, TypeError, OverflowError, pl.exceptions.PolarsError) as error:
        if str(series.name) in typed:
            missing = series.is_null().to_list()
            texts = [None if lost else spelled(v) for lost, v in zip(missing, series.to_list(), strict=True)]
            return pl.Series(str(series.name), texts, dtype=pl.String)
        reason = str(error).splitlines()[0]
        raise InputError(
            f"{kind}, column '{series.name}': its values are not of one type: {reason}. Convert them first, or give the "
            "attribute a type."
        ) from None


def _read_file(path: Path) -> pl.DataFrame:
    reader = FRAME_READERS.get(path.suffix.lower())
    if reader is None:
        known = ", ".join([*CSV_ENDINGS, *FRAME_READERS])
        raise InputError(f"{path}: the ending '{path.suffix}' is not known. Known are {known}.")
    return without_panic(lambda: reader(path), str(path))


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
