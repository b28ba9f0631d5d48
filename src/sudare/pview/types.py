"""The types of a view's attributes, as files keep them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl

from sudare.tables.types import ZONED

DTYPES: dict[str, pl.DataType] = {
    str(dtype): dtype
    for dtype in (
        pl.Int8(), pl.Int16(), pl.Int32(), pl.Int64(), pl.UInt8(), pl.UInt16(), pl.UInt32(), pl.UInt64(),
        pl.Float32(), pl.Float64(), pl.String(), pl.Boolean(), pl.Date(), pl.Datetime("us"), pl.Datetime("ms"),
        pl.Datetime("ns"), pl.Int128(), pl.Categorical(),
    )
}  # fmt: skip
PARAMETRIC: dict[str, Any] = {"Datetime": pl.Datetime, "Decimal": pl.Decimal, "Enum": pl.Enum}


def type_to_json(dtype: pl.DataType) -> dict[str, Any]:
    """Return a type that a schema can declare as plain data."""
    if dtype == ZONED:
        return {"type": "Datetime", "of": [ZONED.time_unit, ZONED.time_zone]}
    return {"type": str(dtype)}


def type_from_json(found: Mapping[str, Any]) -> pl.DataType:
    """Read what `type_to_json` wrote."""
    made: pl.DataType = PARAMETRIC[found["type"]](*found["of"]) if "of" in found else DTYPES[found["type"]]
    return made
