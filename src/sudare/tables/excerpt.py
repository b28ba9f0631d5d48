"""Some rows of a table, as if the others had never been there: their types and hierarchies are made from them alone."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sudare.tables.checking import aligned
from sudare.tables.column import Column
from sudare.tables.parsing import infer_type, parse
from sudare.tables.schema import Attribute, Role
from sudare.tables.table import Source, Table

UNTYPED = (".jsonl", ".ndjson")
WHOLE = 2.0**53  # up to it, floats tell all whole numbers apart


def only(table: Table, kept: NDArray[np.bool_]) -> Table:
    """Return the table with some of its rows alone.

    >>> import sudare as sd
    >>> table = sd.read(pl.DataFrame({"height": [1.0, 2.0, 2.5]}))
    >>> only(table, np.array([True, True, False])).frame()["height"].dtype
    Int64
    """
    untyped = table.source.csv is not None or Path(table.source.name).suffix.lower() in UNTYPED
    columns = {
        name: _only(column, table.schema[name], kept, table.source, untyped=untyped)
        for name, column in table.columns.items()
    }
    return replace(table, columns=columns)


def _only(
    column: Column, attribute: Attribute, kept: NDArray[np.bool_], source: Source, *, untyped: bool
) -> Column:
    codes = column.codes[kept]
    missing = bool((codes == len(column.values)).any())
    if attribute.domain is not None or attribute.role == Role.identifier:
        rest = replace(column, codes=codes, missing=missing, hierarchy=None)
    else:
        values = column.decode(codes)
        rest = Column.encode(values if attribute.type is not None else plainest(values, untyped=untyped))
    hierarchy, _ = aligned(rest, attribute, source)
    return replace(rest, hierarchy=hierarchy)


def plainest(series: pl.Series, *, untyped: bool = False) -> pl.Series:
    """Return values in the plainest type that holds them: it tells nothing but the values.

    Whole numbers are whole numbers, and decimals have as many digits as one of them needs. Texts of a source that has no
    types (`untyped`) are read as what they look like.

    >>> plainest(pl.Series([1.0, 2.0])).dtype, plainest(pl.Series(["7", "8"]), untyped=True).dtype
    (Int64, Int64)
    """
    dtype = series.dtype
    if isinstance(dtype, pl.Categorical | pl.Enum):
        return series.cast(pl.String)
    if dtype == pl.String:
        type_ = infer_type(series.unique()) if untyped else "text"
        return series if type_ == "text" else parse(series, type_).alias(series.name)
    if isinstance(dtype, pl.Datetime) and untyped:
        days = series.dt.date()
        return days if days.cast(dtype).equals(series) else series
    if dtype.is_integer():
        return _cast_if_same(series, pl.Int64())
    if dtype.is_float():
        whole = bool((series.drop_nulls().abs() <= WHOLE).all())
        return _cast_if_same(series.cast(pl.Float64), pl.Int64()) if whole else series.cast(pl.Float64)
    if isinstance(dtype, pl.Decimal):
        digits = max((_decimals(value) for value in series.drop_nulls().to_list()), default=0)
        return _cast_if_same(series, pl.Decimal(dtype.precision, digits) if digits else pl.Int64())
    return series


def _decimals(value: Decimal) -> int:
    exponent = value.normalize().as_tuple().exponent
    return max(0, -exponent) if isinstance(exponent, int) else 0


def _cast_if_same(series: pl.Series, dtype: pl.DataType) -> pl.Series:
    cast = series.cast(dtype, strict=False)
    return cast if cast.cast(series.dtype, strict=False).equals(series) else series
