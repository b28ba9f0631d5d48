"""How Spark says what we say: queries, names, and types in which different values stay different."""

from __future__ import annotations

import polars as pl

from sudare.errors import InputError

TYPES: dict[pl.DataType, str] = {
    pl.Boolean(): "BOOLEAN",
    pl.Int8(): "TINYINT",
    pl.Int16(): "SMALLINT",
    pl.Int32(): "INT",
    pl.Int64(): "BIGINT",
    pl.Float32(): "FLOAT",
    pl.Float64(): "DOUBLE",
    pl.String(): "STRING",
    pl.Date(): "DATE",
    pl.Datetime("us"): "TIMESTAMP_NTZ",
    pl.Datetime("us", "UTC"): "TIMESTAMP",
}
"""What Spark has."""
WIDER: dict[pl.DataType, pl.DataType] = {
    pl.UInt8(): pl.Int16(),
    pl.UInt16(): pl.Int32(),
    pl.UInt32(): pl.Int64(),
}


def translated(query: str) -> str:
    """Write a query of DuckDB's as Spark does.

    >>> print(translated('SELECT CAST("a`b" AS VARCHAR) AS key FROM people'))
    SELECT CAST(`a``b` AS STRING) AS `key` FROM `people`
    """
    import sqlglot  # takes long

    [translated] = sqlglot.transpile(query, read="duckdb", write="spark", identify=True)
    return translated


def name_in_spark(name: str) -> str:
    """Write a name as Spark's SQL does.

    >>> name_in_spark("the `age` group")
    '`the ``age`` group`'
    """
    return "`" + name.replace("`", "``") + "`"


def type_in_spark(dtype: pl.DataType) -> str | None:
    """Return the type of Spark that keeps all values of a type, if there is one."""
    if isinstance(dtype, pl.Decimal):
        return f"DECIMAL({dtype.precision}, {dtype.scale})"
    return TYPES.get(WIDER.get(dtype, dtype))


def as_kept(series: pl.Series) -> pl.Series:
    """Return a column in a type that Spark has, in which different values stay different."""
    dtype = series.dtype
    refuse_uncountable(series.name, dtype)
    if dtype in TYPES or isinstance(dtype, pl.Decimal):
        return series
    if dtype in WIDER:
        return series.cast(WIDER[dtype])
    return series.to_physical() if dtype.is_temporal() else series.cast(pl.String)


def in_utc(dtype: pl.DataType) -> pl.DataType:
    """Return a type in which an instant does not depend on the session's time zone."""
    return pl.Datetime("us", "UTC") if isinstance(dtype, pl.Datetime) and dtype.time_zone else dtype


def refuse_uncountable(name: str, dtype: pl.DataType) -> None:
    """Refuse cells that hold more than one value, or something that is neither number, date nor text."""
    if dtype.is_nested() or isinstance(dtype, pl.Object | pl.Binary):
        raise InputError(
            f"Column '{name}' is of the type {dtype}, which the engine \"spark\" does not count. Keep one number, date or "
            "text per cell."
        )
