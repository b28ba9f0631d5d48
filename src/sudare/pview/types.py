"""The types of a view's attributes: as the schema declares them, and as files keep them."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl

from sudare.errors import InputError
from sudare.tables.column import Column
from sudare.tables.schema import Attribute, Type
from sudare.tables.table import Source

JSON_LINES = (".jsonl", ".ndjson")
DTYPES: dict[str, pl.DataType] = {
    str(dtype): dtype
    for dtype in (
        pl.Int8(), pl.Int16(), pl.Int32(), pl.Int64(), pl.UInt8(), pl.UInt16(), pl.UInt32(), pl.UInt64(),
        pl.Float32(), pl.Float64(), pl.String(), pl.Boolean(), pl.Date(), pl.Datetime("us"), pl.Datetime("ms"),
        pl.Datetime("ns"), pl.Int128(), pl.Categorical(),
    )
}  # fmt: skip
TYPED: dict[str, pl.DataType] = {
    "integer": pl.Int64(),
    "number": pl.Float64(),
    "date": pl.Date(),
    "datetime": pl.Datetime("us"),
}
KINDS: dict[Type, set[type]] = {
    "integer": {int},
    "number": {int, float},
    "date": {dt.date},
    "datetime": {dt.date, dt.datetime},
}
PARAMETRIC: dict[str, Any] = {"Datetime": pl.Datetime, "Decimal": pl.Decimal, "Enum": pl.Enum}


def as_declared(column: Column, attribute: Attribute, source: Source) -> Column:
    """Return a column of the type that the schema declares, or that its declared values or bounds have.

    Texts have no types, unlike frames and databases, so a single record could make whole numbers of a column or not, and
    so decide what its cells are.
    """
    if source.csv is None and Path(source.name).suffix.lower() not in JSON_LINES:
        return column
    kind = attribute.type or _kind_of(attribute.domain or attribute.bounds or ())
    dtype = TYPED.get(kind or "text")
    if dtype is None or column.values.dtype == dtype:
        return column
    cast = column.values.cast(dtype, strict=False)
    if not cast.cast(column.values.dtype).equals(column.values):
        words = "whole numbers" if kind == "integer" else "days"
        raise InputError(
            f"'{column.name}': its bounds are {words}, but its values are not. Declare its type in the schema: "
            f'type = "{"number" if kind == "integer" else "datetime"}".'
        )
    return replace(column, values=cast)


def _kind_of(declared: Sequence[Any]) -> Type | None:
    """Return the type that declared values or bounds have, if they are numbers or dates."""
    kinds = {type(value) for value in declared}
    for kind, types in KINDS.items():
        if kinds and kinds <= types:
            return kind
    return None


# -- In files ----------------------------------------------------------------------------------------


def type_to_json(dtype: pl.DataType) -> dict[str, Any]:
    """Return a type as plain data: its name, and of what it is."""
    if str(dtype) in DTYPES:
        return {"type": str(dtype)}
    given: list[Any] = []
    if isinstance(dtype, pl.Datetime):
        given = [dtype.time_unit, dtype.time_zone]
    elif isinstance(dtype, pl.Decimal):
        given = [dtype.precision, dtype.scale]
    elif isinstance(dtype, pl.Enum):
        given = [dtype.categories.to_list()]
    return {"type": type(dtype).__name__, "of": given}


def can_be_saved(dtype: pl.DataType) -> bool:
    """Say whether a type can be written as plain data."""
    return str(dtype) in DTYPES or type(dtype).__name__ in PARAMETRIC
