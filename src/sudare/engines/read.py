"""Reading: any source of rows becomes a Table, or an error that says what is wrong and where."""

from __future__ import annotations

import datetime as dt
from collections import defaultdict
from collections.abc import Callable, Container, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import narwhals as nw
import numpy as np
import polars as pl
from numpy.typing import NDArray

from sudare.engines.memory import Later, Memory
from sudare.errors import InputError
from sudare.tables.arrow_files import read_arrow
from sudare.tables.checking import all_missing, checked, hierarchies_of, type_faults
from sudare.tables.column import Column
from sudare.tables.csv_files import CsvFile, open_csv
from sudare.tables.databases import is_url, read_database
from sudare.tables.parquet_files import MAX_COLUMNS, read_parquet, refuse_bomb, without_panic
from sudare.tables.parsing import encode_text, typed_column
from sudare.tables.schema import Attribute, CsvFormat, Role, Schema
from sudare.tables.table import Source, Table
from sudare.tables.text import listed, spelled
from sudare.tables.text_files import MAX_DEPTH, nesting
from sudare.tables.types import ZONED, cast, other_kind, stored_type

NONE = np.empty(0, dtype=np.int64)
OPEN = Attribute(role=Role.other)  # what nothing is said of
Encode = Callable[[], tuple[Column, NDArray[np.int64]]]
CSV_ENDINGS = (".csv", ".tsv", ".txt", ".tab")


def read_json_lines(path: Path) -> pl.DataFrame:
    """Read a file with one JSON object on each line."""
    content = path.read_bytes()
    if nesting(content) > MAX_DEPTH:
        raise InputError(f"{path}: it is nested more than {MAX_DEPTH} deep. Write it flatter.")
    columns = pl.scan_ndjson(content, infer_schema_length=None).collect_schema()
    if len(columns) > MAX_COLUMNS:
        raise InputError(f"{path}: its objects have {len(columns):,} keys. {MAX_COLUMNS:,} are the most.")
    try:
        refuse_bomb(
            len(content), content.count(b"\n") + 1, len(columns), 0
        )  # what a line leaves out is missing
    except ValueError as error:
        raise InputError(f"{path}: the file cannot be read: {error}.") from None
    return pl.read_ndjson(content, schema=columns)


FRAME_READERS: dict[str, Callable[[Path], pl.DataFrame]] = {
    ".parquet": read_parquet,
    ".pq": read_parquet,
    ".feather": read_arrow,
    ".arrow": read_arrow,
    ".ipc": read_arrow,
    ".jsonl": read_json_lines,
    ".ndjson": read_json_lines,
}


def read(source: Any, schema: Schema | str | Path | None = None, *, csv: CsvFormat | None = None) -> Table:
    """Read a table from a file, a database URL or a frame, and check it against its schema.

    `source` is the path of a CSV, TSV, Parquet, Arrow/Feather or JSON lines file; a URL such as
    `sqlite:///people.db?table=people`, `duckdb:///people.duckdb?query=SELECT ...` or
    `postgresql://user@host/database?table=people`; or a pandas, polars or pyarrow frame.
    `schema` is a Schema or the path of a schema file. Without one, every column has the role
    "other": it can be counted, but nothing is known that could be protected.
    `csv` says how a CSV file is written, where the schema does not; what nobody says is found out.

    >>> read(pl.DataFrame({"age": [30, 40]}))
    Table(DataFrame: 2 rows x 1 columns)
    """
    if isinstance(schema, str | Path):
        schema = Schema.from_toml(schema)
    if _is_csv(source):
        return _read_csv(open_csv(_existing(source), csv or (schema.csv if schema else CsvFormat())), schema)
    typed = {name for name in schema.attributes if schema[name].type} if schema else set()
    frame, origin = _frame_of(source, typed)
    _check_columns(frame.columns, frame.height, schema, origin)
    missing_values = (schema and schema.missing_values) or ()
    reading = _Reading(schema, origin, frame.height)
    shared = not isinstance(source, str | Path)
    for series in frame:
        _refuse_cells(series, origin)
        # What is coded later must be what it was when it was read, though somebody writes to the frame meanwhile.
        own = _copied(series) if shared and reading.can_wait(series.name) else series
        encode = partial(_encode, own, reading[series.name], missing_values, origin)
        if reading.can_wait(series.name):
            reading.leave(own, encode, missing_values)
        else:
            reading.take(series.name, encode, own.gather)
    return reading.table()


class _Reading:
    """A table that is being read, column by column, with the faults of those that were read."""

    def __init__(self, schema: Schema | None, origin: Source, rows: int = 0) -> None:
        self.schema, self.origin, self.rows = schema, origin, rows
        self.columns: dict[str, Column | Later] = {}
        self.faults: list[str] = []

    def __getitem__(self, name: str) -> Attribute:
        return self.schema[name] if self.schema else OPEN

    def take(self, name: str, encode: Encode, values_at: Callable[[NDArray[np.int64]], pl.Series]) -> None:
        """Code a column and check it; `values_at` tells what stands in some of its rows."""
        attribute = self[name]
        column, wrong = encode()
        self.faults += type_faults(name, values_at, wrong, attribute.type or "text", self.origin)
        missing = self.schema.missing if self.schema else "own value"
        self.columns[name], faults = checked(column, attribute, missing, wrong, self.origin)
        self.faults += faults

    def leave(self, series: pl.Series, encode: Encode, missing_values: Sequence[str]) -> None:
        """Keep a column as it is, to be coded when it is needed."""
        if _is_all_missing(series, missing_values):
            self.faults.append(all_missing(series.name, self.origin))
        self.columns[series.name] = partial(_coded_by, encode)

    def can_wait(self, name: str) -> bool:
        """Tell whether nothing is said of a column but its role, so that it need not be coded to be checked."""
        attribute = self[name]
        said = (attribute.type, attribute.domain, attribute.bounds, attribute.hierarchy)
        refusing = self.schema is not None and self.schema.missing == "refuse"
        return attribute.role in (Role.identifier, Role.other) and said == (None,) * 4 and not refusing

    def table(self) -> Table:
        """Return the table, or refuse it with all its faults."""
        if self.faults:
            raise InputError("\n".join(self.faults))
        known = self.schema or Schema(attributes=dict.fromkeys(self.columns, OPEN))
        table = Table(Memory(self.columns, self.rows), known, self.origin)
        return replace(table, hierarchies=hierarchies_of(table))


def _coded_by(encode: Encode) -> Column:
    return encode()[0]


def _is_all_missing(series: pl.Series, missing_values: Sequence[str]) -> bool:
    if series.dtype == pl.String and missing_values:
        return bool((series.is_null() | series.str.strip_chars(" \t").is_in(list(missing_values))).all())
    return series.null_count() == len(series)


def _is_csv(source: Any) -> bool:
    if not isinstance(source, str | Path) or is_url(str(source)):
        return False
    path = Path(source)
    ending = path.suffix.lower() if path.suffix.lower() != ".gz" else Path(path.stem).suffix.lower()
    return ending in CSV_ENDINGS


def _existing(source: str | Path) -> Path:
    path = Path(source)
    if not path.exists():
        raise InputError(f"{path}: there is no such file.")
    if path.is_dir():
        raise InputError(f"{path}: this is a folder. Name the file in it.")
    return path


def _read_csv(file: CsvFile, schema: Schema | None) -> Table:
    notes = (f"not UTF-8; read as {file.format.encoding}",) if file.guessed_encoding else ()
    origin = Source(file.name, lambda row: f"line {file.line_of(row)}", file.format, notes)
    missing_values = schema.missing_values if schema and schema.missing_values is not None else ("",)
    decimal, trim = file.format.decimal or ".", bool(file.format.trim)
    reading = _Reading(schema, origin)
    waiting, coded = defaultdict[str, list[pl.Series]](list), defaultdict[str, list[Column]](list)
    names: list[str] = []
    for frame in file.slices():
        if not names:
            names = frame.columns
            _check_columns(names, 1, schema, origin)  # a file without records was refused by now
        reading.rows += frame.height
        for name in names:
            texts = frame.drop_in_place(name)  # a column's texts are not needed once it is coded
            if reading.can_wait(name):
                waiting[name].append(texts)
            else:
                coded[name].append(Column.encode(texts))
    for name in names:
        how = _how_to_parse(reading[name])
        if name in waiting:
            series = pl.concat(waiting.pop(name))
            encode = partial(encode_text, series, None, decimal, missing_values, trim, **how)
            reading.leave(series, encode, missing_values)
        else:
            column = Column.joined(coded.pop(name))
            type_ = reading[name].type
            encode = partial(typed_column, column, type_, decimal, missing_values, trim, **how)
            reading.take(name, encode, column.values_at)
    return reading.table()


def _frame_of(source: Any, typed: Container[str]) -> tuple[pl.DataFrame, Source]:
    if isinstance(source, str | Path):
        if is_url(str(source)):
            frame, name = read_database(str(source))
            return frame, Source(name)
        path = _existing(source)
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


def _check_columns(names: list[str], rows: int, schema: Schema | None, origin: Source) -> None:
    if rows == 0 or not names:
        raise InputError(f"{origin.name}: the table is empty.")
    if schema is None:
        return
    if unknown := [name for name in schema.attributes if name not in names]:
        raise InputError(
            f"{origin.name}: the schema has {listed(unknown)}, but the table does not. It has {listed(names)}."
        )
    if unmentioned := [name for name in names if name not in schema]:
        raise InputError(
            f"{origin.name}: the schema does not mention {listed(unmentioned)}. "
            "Give every column a role: identifier, quasi, sensitive or other."
        )


def _refuse_cells(series: pl.Series, origin: Source) -> None:
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


def _copied(series: pl.Series) -> pl.Series:
    return series.gather(pl.int_range(len(series), eager=True))


def _encode(
    series: pl.Series, attribute: Attribute, missing_values: tuple[str, ...], origin: Source
) -> tuple[Column, NDArray[np.int64]]:
    """Code a column of a frame as its declared type; also return the rows whose values are not of that type."""
    if attribute.type is not None and isinstance(series.dtype, pl.Categorical | pl.Enum):
        series = series.cast(pl.String)
    if series.dtype == pl.String and (attribute.type or missing_values):
        type_ = attribute.type or "text"
        return encode_text(series, type_, ".", missing_values, trim=False, **_how_to_parse(attribute))
    dtype = stored_type(attribute)
    if attribute.type is None or dtype is None or series.null_count() == len(series):
        return Column.encode(series), NONE
    coded = Column.encode(series)
    typed = cast(coded.values, dtype, clip=attribute.outside == "clip")
    if typed is None:
        raise InputError(f"{origin.name}, column '{series.name}': {other_kind(series.dtype, dtype)}")
    wrong = (coded.values.is_not_null() & typed.is_null()).arg_true().to_list()
    return coded.with_values(typed), coded.rows_with(wrong)


def _how_to_parse(attribute: Attribute) -> dict[str, bool]:
    """Say what a declared type adds to how texts are parsed."""
    if attribute.type is None:
        return {}
    return {"zoned": stored_type(attribute) == ZONED, "clip": attribute.outside == "clip"}


def _beyond_the_calendar(series: pl.Series) -> list[int]:
    """Return the rows whose dates no calendar has, such as a database's infinity."""
    if not (
        series.dtype == pl.Date or (isinstance(series.dtype, pl.Datetime) and series.dtype.time_unit != "ns")
    ):
        return []  # nanoseconds end in the year 2262
    limits = pl.Series([dt.datetime.min, dt.datetime.max]).cast(series.dtype).to_physical()
    return (~series.to_physical().is_between(limits[0], limits[1])).arg_true().to_list()
