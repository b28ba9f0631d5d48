"""Reading: any source of rows becomes a Table, or an error that says what is wrong and where."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sudare.engines.memory import Later, Memory
from sudare.engines.sources import existing, frame_of, is_csv, refuse_cells
from sudare.errors import InputError
from sudare.tables.attribute import Attribute, Role
from sudare.tables.checking import all_missing, checked, hierarchies_of, type_faults
from sudare.tables.column import Column
from sudare.tables.csv_files import CsvFile, open_csv
from sudare.tables.parsing import encode_text, typed_column
from sudare.tables.schema import CsvFormat, Schema
from sudare.tables.table import Source, Table
from sudare.tables.text import listed
from sudare.tables.types import ZONED, cast, other_kind, stored_type

NO_ROWS = np.empty(0, dtype=np.int64)
UNDECLARED = Attribute(role=Role.other)  # what the schema says of a column if there is none
Encode = Callable[[], tuple[Column, NDArray[np.int64]]]


def read(source: Any, schema: Schema | str | Path | None = None, *, csv: CsvFormat | None = None) -> Table:
    """Read a table from a file, a database URL or a frame, and check it against its schema.

    `source` is the path of a CSV, TSV, Parquet, Arrow/Feather or JSON lines file; a URL such as
    `sqlite:///people.db?table=people`, `duckdb:///people.duckdb?query=SELECT ...` or
    `postgresql://user@host/database?table=people`; or a pandas, polars or pyarrow frame.
    `schema` is a Schema or the path of a schema file. Without one, every column has the role
    "other": it can be counted, but nothing is known that could be protected.
    `csv` says how a CSV file is written, where the schema does not; what nobody says is detected.

    >>> read(pl.DataFrame({"age": [30, 40]}))
    Table(DataFrame: 2 rows x 1 columns)
    """
    if isinstance(schema, str | Path):
        schema = Schema.from_toml(schema)
    if is_csv(source):
        return _read_csv(open_csv(existing(source), csv or (schema.csv if schema else CsvFormat())), schema)
    typed = {name for name in schema.attributes if schema[name].type} if schema else set()
    frame, origin = frame_of(source, typed)
    _check_columns(frame.columns, frame.height, schema, origin)
    missing_values = (schema and schema.missing_values) or ()
    reading = _Reading(schema, origin, frame.height)
    shared = not isinstance(source, str | Path)
    for series in frame:
        refuse_cells(series, origin)
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
        return self.schema[name] if self.schema else UNDECLARED

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
        known = self.schema or Schema(attributes=dict.fromkeys(self.columns, UNDECLARED))
        table = Table(Memory(self.columns, self.rows), known, self.origin)
        return replace(table, hierarchies=hierarchies_of(table))


def _coded_by(encode: Encode) -> Column:
    return encode()[0]


def _is_all_missing(series: pl.Series, missing_values: Sequence[str]) -> bool:
    if series.dtype == pl.String and missing_values:
        return bool((series.is_null() | series.str.strip_chars(" \t").is_in(list(missing_values))).all())
    return series.null_count() == len(series)


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
        return Column.encode(series), NO_ROWS
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
