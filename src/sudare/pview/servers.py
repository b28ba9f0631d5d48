"""Publishing a p-view to PostgreSQL or DuckDB, for whoever asks there."""

from __future__ import annotations

import io
from contextlib import closing
from pathlib import Path
from typing import Any

import polars as pl

from sudare.errors import InputError
from sudare.pview.domain import Axis
from sudare.pview.pview import PView
from sudare.pview.sql_tables import DUCKDB, POSTGRES, PViewTables
from sudare.tables.databases import DatabaseUrl, load_extra, postgres_arguments, quoted, refuse_taken
from sudare.tables.typed import typed

MARK = "A differentially private view, published by Sudare."
MAX_NAME_BYTES = 63  # in PostgreSQL
MAX_PARAMETERS = 100  # of a function, in PostgreSQL

TYPES: dict[Any, str] = {
    pl.Int8: "smallint", pl.UInt8: "smallint", pl.Int16: "smallint", pl.UInt16: "integer", pl.Int32: "integer",
    pl.UInt32: "bigint", pl.Int64: "bigint", pl.UInt64: "numeric(20)", pl.Float32: "real",
    pl.Float64: "double precision", pl.String: "text", pl.Boolean: "boolean", pl.Date: "date",
    pl.Datetime: "timestamp",
}  # fmt: skip


@typed
def publish_pview(pview: PView, to: str, name: str = "view", *, force: bool = False) -> dict[str, str]:
    """Write a p-view to a database in one transaction, and return what its parts are called there.

    `to` is a `postgresql://` URL, or `duckdb:PATH`. NAME is then a view with a row per point or block and its weight;
    NAME_domain lists all cells; and NAME_count counts: `SELECT people_count(age_low => 20, age_high => 39, sex =>
    'Female')`, where whatever is not given is no condition. What has one of these names is refused, and with `force`
    replaced if it was published in this way before.

    >>> import sudare as sd, duckdb, tempfile
    >>> table = sd.read(sd.datasets.health_survey(2000).select("age", "sex"), sd.Schema.from_roles(
    ...     quasi=["age", "sex"], bounds={"age": (18, 95)}, domains={"sex": ["Female", "Male"]}))
    >>> pview = sd.materialize(table, sd.DifferentialPrivacy(1.0), unsafe_seed=1)
    >>> file = tempfile.mkdtemp() + "/pviews.duckdb"
    >>> publish_pview(pview, file, "people")["function"]
    'people_count'
    >>> [[count]] = duckdb.connect(file).execute("SELECT people_count(age_high := 39, sex := 'Male')").fetchall()
    >>> abs(count - pview.count(age=(18, 39), sex="Male").value) < 1e-6
    True
    """
    if not name:
        raise InputError("A p-view needs a name in the database. Give one, such as 'people'.")
    tables = PViewTables.of(pview, name)
    scheme, sign, path = to.partition(":")
    if sign and scheme.lower() in ("postgresql", "postgres"):
        _to_postgres(tables, DatabaseUrl.parse(to), force=force)
    elif "://" in to and scheme.lower() == "duckdb":
        _to_duckdb(tables, Path(DatabaseUrl.parse(to).path), force=force)
    elif sign and scheme.lower() == "duckdb":
        _to_duckdb(tables, Path(path), force=force)
    elif to.endswith(".duckdb"):
        _to_duckdb(tables, Path(to), force=force)
    else:
        where = DatabaseUrl.parse(to).name if "://" in to else to
        raise InputError(
            f"{where}: a p-view cannot be published there. Give a postgresql:// URL, or duckdb:PATH for a DuckDB file."
        )
    return tables.names


# -- PostgreSQL ------------------------------------------------------------------------------------


def _to_postgres(tables: PViewTables, url: DatabaseUrl, *, force: bool) -> None:
    psycopg = load_extra("psycopg", "Writing to PostgreSQL", extra="postgres")
    _check_limits(tables, url.name)
    try:
        with psycopg.connect(**postgres_arguments(url)) as connection:  # one transaction
            _clear_postgres(connection, tables, url.name, force=force)
            _copy(connection, tables.names["domain"], tables.domain, key='("position", cell)')
            _copy(connection, tables.names["rows"], tables.rows)
            connection.execute(f"CREATE VIEW {quoted(tables.names['view'])} AS {tables.select()}")
            _mark(connection, "VIEW", quoted(tables.names["view"]))
            connection.execute(_function(tables))
            _mark(connection, "FUNCTION", quoted(tables.names["function"]))
        with psycopg.connect(**postgres_arguments(url)) as connection:
            for part in ("domain", "rows"):
                connection.execute(f"ANALYZE {quoted(tables.names[part])}")
    except (psycopg.Error, TypeError) as error:  # TypeError: an option that is none
        raise InputError(f"{url.name}: PostgreSQL refused: {str(error).strip()}.") from None


def _check_limits(tables: PViewTables, where: str) -> None:
    parameters = [name for _, own in tables.parameters for name in own]
    for name in (*tables.names.values(), *tables.rows.columns, *parameters):
        if len(name.encode()) > MAX_NAME_BYTES:
            raise InputError(
                f"{where}: the name '{name}' is longer than the {MAX_NAME_BYTES} bytes that PostgreSQL keeps. Shorten it."
            )
    if len(parameters) > MAX_PARAMETERS:
        raise InputError(
            f"{where}: the function would have {len(parameters)} parameters, and PostgreSQL takes {MAX_PARAMETERS}. "
            "Publish to DuckDB, or a p-view of fewer attributes."
        )


def _clear_postgres(connection: Any, tables: PViewTables, where: str, *, force: bool) -> None:
    relations = connection.execute(
        "SELECT c.relname, c.relkind, obj_description(c.oid, 'pg_class') FROM pg_class c "
        "WHERE c.relnamespace = current_schema()::regnamespace AND c.relname = ANY (%s)",
        [_every_name(tables)],
    ).fetchall()
    functions = connection.execute(
        "SELECT p.proname, p.oid::regprocedure::text, obj_description(p.oid, 'pg_proc') FROM pg_proc p "
        "WHERE p.pronamespace = current_schema()::regnamespace AND p.proname = %s",
        [tables.names["function"]],
    ).fetchall()
    refuse_taken({name: mark for name, _, mark in (*relations, *functions)}, where, MARK, force=force)
    for _, signature, _ in functions:
        connection.execute(f"DROP FUNCTION {signature}")
    for name, kind, _ in sorted(
        relations, key=lambda relation: relation[1] != "v"
    ):  # views first: they rest on tables
        connection.execute(f"DROP {'VIEW' if kind == 'v' else 'TABLE'} {quoted(name)}")


def _copy(connection: Any, name: str, frame: pl.DataFrame, key: str = "") -> None:
    columns = [f"{quoted(column.name)} {_type(column.dtype)}" for column in frame]
    if key:
        columns.append(f"PRIMARY KEY {key}")
    connection.execute(f"CREATE TABLE {quoted(name)} ({', '.join(columns)})")
    content = io.BytesIO()
    frame.write_csv(content, include_header=False)  # a missing value is nothing, an empty text is ""
    with connection.cursor().copy(f"COPY {quoted(name)} FROM STDIN (FORMAT csv)") as copy:
        copy.write(content.getvalue())
    _mark(connection, "TABLE", quoted(name))


def _mark(connection: Any, what: str, name: str) -> None:
    connection.execute(f"COMMENT ON {what} {name} IS '{MARK}'")


def _type(dtype: pl.DataType) -> str:
    return TYPES[dtype.base_type()]


def _parameter_type(axis: Axis) -> str:
    """Return a type to which PostgreSQL turns every number by itself, so that 20 and 20.5 can be written."""
    return "double precision" if axis.dtype.is_numeric() and axis.ordered else _type(axis.dtype)


def _function(tables: PViewTables) -> str:
    given = [
        f"{quoted(name)} {_parameter_type(axis)} DEFAULT NULL"
        for axis, own in tables.parameters
        for name in own
    ]
    numbers = iter(range(1, len(given) + 1))
    body = tables.count(POSTGRES, [[f"${next(numbers)}" for _ in own] for _, own in tables.parameters])
    # plpgsql plans with the values at hand, and so leaves out what is not asked; plain SQL functions do not.
    code = f"#variable_conflict use_column\nBEGIN RETURN ({body}); END"
    escaped = code.replace("'", "''").replace("\\", "\\\\")
    return (
        f"CREATE FUNCTION {quoted(tables.names['function'])}({', '.join(given)}) RETURNS double precision "
        f"LANGUAGE plpgsql STABLE PARALLEL SAFE AS E'{escaped}'"
    )


# -- DuckDB ----------------------------------------------------------------------------------------


def _to_duckdb(tables: PViewTables, path: Path, *, force: bool) -> None:
    duckdb = load_extra("duckdb", "Writing to DuckDB")
    new, done = not path.exists(), False
    try:
        with closing(duckdb.connect(str(path))) as connection:
            connection.execute("BEGIN")
            _clear_duckdb(connection, tables, f"duckdb:{path}", force=force)
            for part, frame in (("domain", tables.domain), ("rows", tables.rows)):
                connection.register("sudare_frame", frame.to_arrow())
                connection.execute(f"CREATE TABLE {quoted(tables.names[part])} AS SELECT * FROM sudare_frame")
                _mark(connection, "TABLE", quoted(tables.names[part]))
            connection.execute(f"CREATE VIEW {quoted(tables.names['view'])} AS {tables.select()}")
            _mark(connection, "VIEW", quoted(tables.names["view"]))
            connection.execute(_macro(tables))
            _mark(connection, "MACRO", quoted(tables.names["function"]))
            connection.execute("COMMIT")
            done = True
    except duckdb.Error as error:
        raise InputError(f"duckdb:{path}: DuckDB refused: {str(error).strip()}.") from None
    finally:
        if new and not done:
            path.unlink(missing_ok=True)


def _clear_duckdb(connection: Any, tables: PViewTables, where: str, *, force: bool) -> None:
    mine = "database_name = current_database() AND schema_name = current_schema() AND NOT internal"
    relations = connection.execute(
        f"SELECT 'VIEW', view_name, comment FROM duckdb_views() WHERE {mine} "
        f"UNION ALL SELECT 'TABLE', table_name, comment FROM duckdb_tables() WHERE {mine} "
        f"UNION ALL SELECT 'MACRO', function_name, comment FROM duckdb_functions() WHERE {mine}"
    ).fetchall()
    taken = {name.lower() for name in (*_every_name(tables), tables.names["function"])}
    there = [(kind, name, mark) for kind, name, mark in relations if name.lower() in taken]
    refuse_taken({name: mark for _, name, mark in there}, where, MARK, force=force)
    for kind, name, _ in there:
        connection.execute(f"DROP {kind} {quoted(name)}")


def _macro(tables: PViewTables) -> str:
    given = [f"{quoted(name)} := NULL" for _, own in tables.parameters for name in own]
    body = tables.count(DUCKDB, [[quoted(name) for name in own] for _, own in tables.parameters])
    return f"CREATE MACRO {quoted(tables.names['function'])}({', '.join(given)}) AS ({body})"


def _every_name(tables: PViewTables) -> list[str]:
    """Return what the tables and the view are called, and those of a p-view of the other kind before."""
    return [tables.names["view"], tables.names["domain"], f"{tables.name}_points", f"{tables.name}_blocks"]


publish_view = publish_pview  # as it was called before p-views had their own word
