"""Reading into a database: rows stay there; their distinct values are typed and checked here, as those in memory are."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from glob import glob
from pathlib import Path
from typing import Any

import polars as pl

from sudare.engines.coding import Encode, Reading, check_columns, encode, how_to_parse
from sudare.engines.database import Database, refuse_alike
from sudare.engines.relational import Relational
from sudare.engines.sources import (
    Asked,
    frame_of,
    is_csv,
    is_elsewhere,
    is_parquet,
    open_csv_source,
    refuse_cells,
)
from sudare.engines.spark import Spark
from sudare.engines.spark_sessions import is_spark
from sudare.errors import InputError
from sudare.tables.checking import all_missing
from sudare.tables.column import Column
from sudare.tables.csv_files import CsvFile
from sudare.tables.databases import is_url, safe_name
from sudare.tables.parsing import typed_column
from sudare.tables.part_folders import CsvParts, parts_in
from sudare.tables.schema import Schema
from sudare.tables.table import Source, Table

Code = Callable[[str, pl.Series], Encode]
"""Says how the distinct values of a column are coded."""


def read_relational(database: Database, source: Any, schema: Schema | None, asked: Asked) -> Table:
    """Read a source into a database, and check it against its schema."""
    if is_csv(source):
        return _read_csv(database, open_csv_source(source, asked), schema)
    if isinstance(source, str | Path) and (found := _as_parquet(source)):
        relation, origin, types = _parquet(database, found)
        refuse_alike(list(types), database.name)
    elif isinstance(database, Spark) and is_spark(source, "DataFrame"):
        relation, origin = database.snapshot(source), Source(type(source).__name__)
        types = database.types(relation)
    else:
        frame, origin = frame_of(source, asked)
        relation, types = database.upload(frame), dict(frame.schema)
    missing_values = (schema and schema.missing_values) or ()
    reading = Reading(schema, origin)

    def code(name: str, raw: pl.Series) -> Encode:
        own = raw.cast(types[name]).alias(name)
        refuse_cells(own, origin)
        return partial(encode, own, reading[name], missing_values, origin)

    return _read(database, relation, types, reading, code, missing_values)


def _as_parquet(source: str | Path) -> str | None:
    """Return how a database finds Parquet files: by their path or pattern, or as all those of a folder; None for others."""
    if not is_url(str(source)) and Path(source).is_dir():
        parts = parts_in(Path(source))
        return str(Path(source) / f"*{parts[0].suffix}") if is_parquet(str(parts[0])) else None
    return str(source) if is_parquet(str(source)) else None


def _parquet(database: Database, source: str) -> tuple[str, Source, dict[str, pl.DataType]]:
    """Return the relation of Parquet files, what they are called, and their columns with their types."""
    if database.sees_local_files and not is_elsewhere(source):
        types = dict(pl.read_parquet_schema(_first_file(source)))  # they may be finer than the database's
        return database.parquet(source), Source(Path(source).name), types
    name = safe_name(source)
    try:
        relation = database.parquet(source)
        return relation, Source(name), database.types(relation)
    except InputError as error:
        raise InputError(f"{name}: {str(error).rstrip(' .:')}. {database.remote_files}") from None


def _first_file(pattern: str) -> str:
    files = sorted(glob(pattern, recursive=True))  # noqa: PTH207 (a pattern may begin anywhere)
    if not files:
        raise InputError(f"{pattern}: there is no such file.")
    return files[0]


def _read_csv(database: Database, file: CsvFile | CsvParts, schema: Schema | None) -> Table:
    """Let the database have the texts of a CSV file, as our own reader parses them."""
    notes = (f"not UTF-8; read as {file.format.encoding}",) if file.guessed_encoding else ()
    origin = Source(file.name, file.place, csv=file.format, notes=notes)
    missing_values = schema.missing_values if schema and schema.missing_values is not None else ("",)
    decimal, trim = file.format.decimal or ".", bool(file.format.trim)
    reading = Reading(schema, origin)
    relation = database.keep(file.slices())

    def code(name: str, raw: pl.Series) -> Encode:
        how, coded = how_to_parse(reading[name]), Column.encode(raw.alias(name))
        return partial(typed_column, coded, reading[name].type, decimal, missing_values, trim, **how)

    return _read(database, relation, database.types(relation), reading, code, missing_values)


def _read(
    database: Database,
    relation: str,
    types: Mapping[str, pl.DataType],
    reading: Reading,
    code: Code,
    missing_values: Sequence[str],
) -> Table:
    origin, names = reading.origin, list(types)
    check_columns(names, database.rows(relation), reading.schema, origin)

    def coded(name: str, raw: pl.Series) -> Column:
        if reading.can_wait(name):
            return code(name, raw)()[0]
        return reading.take(
            name, code(name, raw), raw.gather, _of_values(origin, database, relation, keys[name], raw)
        )

    always = [name for name in names if not reading.can_wait(name)] or names[:1]
    keys = database.keys(relation)
    rows = Relational(database, relation, keys, coded, always)
    for name in names:
        if name in always:
            rows.dictionary(name)
        unknown = missing_values if types[name] == pl.String else ()
        if (
            reading.can_wait(name)
            and not reading.may_be_empty(name)
            and not _has_a_value(database, relation, keys[name], unknown)
        ):
            reading.faults.append(all_missing(name, origin))
    return reading.table(rows)


def _has_a_value(database: Database, relation: str, key: str, missing_values: Sequence[str]) -> bool:
    """Tell whether any row has a value in a column; the first one that has ends the search."""
    where = f"{key} IS NOT NULL"
    if missing_values:
        texts = ", ".join("'" + text.replace("'", "''") + "'" for text in missing_values)
        where += f" AND trim({key}, ' \t') NOT IN ({texts})"
    return database.frame(f"SELECT 1 AS one FROM {relation} WHERE {where} LIMIT 1").height > 0


def _of_values(origin: Source, database: Database, relation: str, key: str, raw: pl.Series) -> Source:
    """Say where the first row stands that has one of the distinct values of a column."""

    def place(value: int) -> str:
        numbers = database.rows_with(relation, key, raw[[value]])
        return origin.place(numbers[0]) if numbers else "one of its rows"

    return replace(origin, place=place, unit="values")
