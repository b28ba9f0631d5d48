"""Reading: any source of rows becomes a Table, or an error that says what is wrong and where."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Literal, get_args

import polars as pl

from sudare.engines.coding import Reading, check_columns, encode, how_to_parse
from sudare.engines.database import Database
from sudare.engines.duckdb import DuckDB
from sudare.engines.memory import Memory
from sudare.engines.read_relational import read_relational
from sudare.engines.sizes import fit
from sudare.engines.sources import Asked, frame_of, is_csv, open_csv_source, refuse_cells
from sudare.engines.spark import Spark
from sudare.engines.spark_sessions import CONNECT, connected_session, is_spark, safe_engine
from sudare.errors import ParameterError
from sudare.tables.column import Column
from sudare.tables.csv_files import CsvFile
from sudare.tables.given import kind_given
from sudare.tables.parsing import encode_text, typed_column
from sudare.tables.part_folders import CsvParts
from sudare.tables.schema import CsvFormat, Schema, schema_given
from sudare.tables.table import Source, Table
from sudare.tables.text import listed

EngineName = Literal["memory", "duckdb", "spark"]
ENGINES: tuple[EngineName, ...] = get_args(EngineName)


def read(
    source: Any,
    schema: Schema | str | Path | None = None,
    *,
    csv: CsvFormat | None = None,
    sheet: str | None = None,
    engine: EngineName | Any = None,
    memory: str | None = None,
) -> Table:
    """Read a table from a file, a database URL or a frame, and check it against its schema.

    `source` is the path of a CSV or TSV file, also packed (.gz, .zip), of a Parquet, Arrow/Feather, JSON or JSON lines file,
    of a workbook (.xlsx, .ods), of a file of Stata, SPSS or SAS (.dta, .sav, .sas7bdat, .xpt), or of a folder with parts of
    one kind; a URL such as `sqlite:///people.db?table=people`, `duckdb:///people.duckdb?query=SELECT ...` or
    `postgresql://user@host/database?table=people`; or a pandas, polars or pyarrow frame.
    `schema` is a Schema or the path of a schema file. Without one, every column has the role
    "other": it can be counted, but nothing is known that could be protected.
    `csv` says how a CSV file is written, where the schema does not; what nobody says is detected.
    `sheet` names the sheet of a workbook, or the file in a zip archive, where there are several.

    In a file of Stata, SPSS or SAS, labels are the values (male, not 1) where every code that occurs has one of its own. An
    attribute of the type integer or number keeps its codes, and one of the type text has the labels that there are.

    `engine` says who holds the rows: "memory", or "duckdb", which keeps them on disk and uses as much `memory` as it is
    given, such as "2GB", or "spark": the session that is running, or one on this machine if there is none. It may also be
    a SparkSession, or the URL of a Spark Connect server, "sc://host:15002". Without it, a source that is too large for the
    memory that is free gets "duckdb", and a note says so. Except in memory, `source` may be several Parquet files,
    "people/*.parquet", also from elsewhere, "s3://bucket/people.parquet"; Spark's may be a DataFrame of its own.

    >>> read(pl.DataFrame({"age": [30, 40]}))
    Table(DataFrame: 2 rows x 1 columns)
    """
    if isinstance(schema, str | Path):
        schema = Schema.from_toml(schema)
    if schema is not None:
        schema_given(schema, "read")
    if memory is not None:
        kind_given(memory, str, "memory", "read", "a size such as '2GB'")
    if csv is not None:
        kind_given(csv, CsvFormat, "csv", "read", "a CsvFormat")
    if sheet is not None:
        kind_given(sheet, str, "sheet", "read", "the name of a sheet")
    asked = Asked.of(schema, csv, sheet)
    notes: tuple[str, ...] = ()
    if engine is None and is_spark(source, "DataFrame"):
        engine = "spark"
    if engine is None:
        engine, notes = fit(source, memory)
        memory = memory if engine == "duckdb" else None
    database = _database(engine, source, memory)
    if database:
        table = read_relational(database, source, schema, asked)
    else:
        table = _read_into_memory(source, schema, asked)
    return replace(table, source=replace(table.source, notes=(*table.source.notes, *notes)))


def _read_into_memory(source: Any, schema: Schema | None, asked: Asked) -> Table:
    if is_csv(source):
        return _read_csv(open_csv_source(source, asked), schema)
    frame, origin = frame_of(source, asked)
    check_columns(frame.columns, frame.height, schema, origin)
    missing_values = (schema and schema.missing_values) or ()
    reading = Reading(schema, origin, frame.height)
    shared = not isinstance(source, str | Path)
    for series in frame:
        refuse_cells(series, origin)
        # What is coded later must be what it was when it was read, though somebody writes to the frame meanwhile.
        own = _copied(series) if shared and reading.can_wait(series.name) else series
        coded_later = partial(encode, own, reading[series.name], missing_values, origin)
        if reading.can_wait(series.name):
            reading.leave(own, coded_later, missing_values)
        else:
            reading.take(series.name, coded_later, own.gather)
    return reading.table(Memory(reading.columns, reading.rows))


def _database(engine: EngineName | Any, source: Any, memory: str | None) -> Database | None:
    """Return who holds the rows, if they are not held in memory."""
    if engine == "duckdb":
        return DuckDB(memory)
    if memory is not None:
        raise ParameterError(
            "The 'memory' parameter of read is of engine=\"duckdb\" only. Spark has the memory that its session was given; in "
            "memory, all rows are held."
        )
    if engine == "spark":
        return Spark(source.sparkSession if is_spark(source, "DataFrame") else None)
    if is_spark(engine, "SparkSession"):
        return Spark(engine)
    if isinstance(engine, str) and engine.startswith(CONNECT):
        return Spark(connected_session(engine), own=True)
    if engine != "memory":
        given = safe_engine(engine) if isinstance(engine, str) else engine
        raise ParameterError(
            f"The 'engine' parameter of read must be one of {listed(list(ENGINES))}, a SparkSession, or the URL of a Spark "
            f"Connect server, such as 'sc://host:15002'. Got {given!r} instead."
        )
    return None


def _read_csv(file: CsvFile | CsvParts, schema: Schema | None) -> Table:
    notes = (f"not UTF-8; read as {file.format.encoding}",) if file.guessed_encoding else ()
    origin = Source(file.name, file.place, csv=file.format, notes=notes)
    missing_values = schema.missing_values if schema and schema.missing_values is not None else ("",)
    decimal, trim = file.format.decimal or ".", bool(file.format.trim)
    reading = Reading(schema, origin)
    waiting, coded = defaultdict[str, list[pl.Series]](list), defaultdict[str, list[Column]](list)
    names: list[str] = []
    for frame in file.slices():
        if not names:
            names = frame.columns
            check_columns(names, 1, schema, origin)  # a file without records was refused by now
        reading.rows += frame.height
        for name in names:
            texts = frame.drop_in_place(name)  # a column's texts are not needed once it is coded
            if reading.can_wait(name):
                waiting[name].append(texts)
            else:
                coded[name].append(Column.encode(texts))
    for name in names:
        how = how_to_parse(reading[name])
        if name in waiting:
            series = pl.concat(waiting.pop(name))
            coded_later = partial(encode_text, series, None, decimal, missing_values, trim, **how)
            reading.leave(series, coded_later, missing_values)
        else:
            column = Column.joined(coded.pop(name))
            type_ = reading[name].type
            typed = partial(typed_column, column, type_, decimal, missing_values, trim, **how)
            reading.take(name, typed, column.values_at)
    return reading.table(Memory(reading.columns, reading.rows))


def _copied(series: pl.Series) -> pl.Series:
    return series.gather(pl.int_range(len(series), eager=True))
