"""Tables that are written to a PostgreSQL server."""

from __future__ import annotations

import secrets
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from typing import Any

import polars as pl

from sudare.errors import InputError
from sudare.tables.databases import DatabaseUrl, load_extra, postgres_arguments, quoted
from sudare.tables.runs import PublishedRows

FETCH = 100_000  # rows that are counted again at a time
MAX_NAME_BYTES = 63
TYPES: dict[Any, str] = {
    pl.Int8: "smallint", pl.UInt8: "smallint", pl.Int16: "smallint", pl.UInt16: "integer", pl.Int32: "integer",
    pl.UInt32: "bigint", pl.Int64: "bigint", pl.UInt64: "numeric(20)", pl.Float32: "real",
    pl.Float64: "double precision", pl.String: "text", pl.Boolean: "boolean", pl.Date: "date", pl.Time: "time",
}  # fmt: skip
AS_TEXT = (pl.Float32, pl.Float64, pl.UInt64, pl.Decimal)
"""What is counted by its text: -0.0 is not 0.0 then, and digits are kept."""


@contextmanager
def postgres_tables(url: DatabaseUrl) -> Iterator[PostgresTables]:
    """Open a connection; what was not published when it is closed is gone."""
    psycopg = load_extra("psycopg", "Writing to PostgreSQL", extra="postgres")
    try:
        with closing(psycopg.connect(**postgres_arguments(url))) as connection:
            connection.execute("SET TIME ZONE 'UTC'")
            yield PostgresTables(connection, url.name)
    except (psycopg.Error, TypeError) as error:  # TypeError: an option that is none
        raise url.refusal("PostgreSQL", error, None) from None


class PostgresTables:
    """The tables of the connection's own schema, within one transaction."""

    def __init__(self, connection: Any, name: str) -> None:
        self._connection, self._name = connection, name

    def marks(self, names: Sequence[str]) -> dict[str, str | None]:
        """Return which names are taken, each with the comment on what has it."""
        for name in names:
            self._refuse_long(name)
        there = self._connection.execute(
            "SELECT c.relname, CASE c.relkind WHEN 'r' THEN obj_description(c.oid, 'pg_class') END FROM pg_class c "
            "WHERE c.relnamespace = current_schema()::regnamespace AND c.relname = ANY (%s)",
            [list(names)],
        ).fetchall()
        return dict(there)

    def _refuse_long(self, name: str) -> None:
        if len(name.encode()) > MAX_NAME_BYTES:
            raise InputError(
                f"{self._name}: the name '{name}' is longer than the {MAX_NAME_BYTES} bytes that PostgreSQL keeps. Shorten it."
            )

    def fill(self, rows: PublishedRows, schema: pl.Schema, mark: str) -> str:
        """Write rows, in their order, to a new table, and return its name."""
        for column in schema:
            self._refuse_long(column)
        name = f"sudare_{secrets.token_hex(8)}"
        columns = ", ".join(
            f"{quoted(column)} {self._type(column, dtype)}" for column, dtype in schema.items()
        )
        self._connection.execute(f"CREATE TABLE {name} ({columns})")
        with self._connection.cursor().copy(f"COPY {name} FROM STDIN (FORMAT csv)") as copy:
            for part in rows.parts():
                for some in part.slices():
                    # Texts are quoted: an empty one is then no missing value, and none ends the copy.
                    copy.write(some.write_csv(include_header=False, quote_style="non_numeric"))
        self._connection.execute(f"COMMENT ON TABLE {name} IS '{mark}'")
        return name

    def _type(self, column: str, dtype: pl.DataType) -> str:
        if isinstance(dtype, pl.Datetime) and dtype.time_unit != "ns" and dtype.time_zone in (None, "UTC"):
            return "timestamptz" if dtype.time_zone else "timestamp"
        if isinstance(dtype, pl.Decimal):
            return f"numeric({dtype.precision}, {dtype.scale})"
        if dtype.base_type() not in TYPES:
            raise InputError(
                f"{self._name}: PostgreSQL has no type that keeps '{column}', which is {dtype}. Nothing was written there."
            )
        return TYPES[dtype.base_type()]

    def counted(self, name: str, schema: pl.Schema) -> Iterator[pl.DataFrame]:
        """Return the distinct rows of a table, with how often each is there."""
        as_text = {column: dtype.base_type() in AS_TEXT for column, dtype in schema.items()}
        keys = [f"{quoted(column)}::text" if text else quoted(column) for column, text in as_text.items()]
        places = ", ".join(map(str, range(1, len(keys) + 1)))
        read_as = {f"c{i}": pl.String() if text else schema[c] for i, (c, text) in enumerate(as_text.items())}
        types = pl.Schema(zip(read_as, schema.values(), strict=True))
        with self._connection.cursor(name="sudare") as cursor:  # rows come in portions
            cursor.execute(f"SELECT {', '.join(keys)}, count(*) FROM {name} GROUP BY {places}")
            while some := cursor.fetchmany(FETCH):
                yield pl.DataFrame(some, schema={**read_as, "weight": pl.Int64()}, orient="row").cast(types)

    def publish(self, names: Mapping[str, str], replaced: Collection[str]) -> None:
        """Give tables their names, in place of what has these now, and commit."""
        for name in replaced:
            self._connection.execute(f"DROP TABLE {quoted(name)}")
        for own, name in names.items():
            self._connection.execute(f"ALTER TABLE {own} RENAME TO {quoted(name)}")
        self._connection.commit()
