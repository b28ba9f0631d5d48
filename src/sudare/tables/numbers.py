"""Numbers and dates as plain numbers: dates as days, times as seconds since 1970."""

from __future__ import annotations

import datetime as dt
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

EPOCH = dt.date(1970, 1, 1)


def number_of(value: Any, dtype: pl.DataType) -> float:
    """Return a bound or a condition as the number that a column of a type has for it."""
    if dtype == pl.Date:
        day = value.date() if isinstance(value, dt.datetime) else value
        return float((day - EPOCH).days) if isinstance(day, dt.date) else float(day)
    if isinstance(value, dt.date):
        moment = value if isinstance(value, dt.datetime) else dt.datetime(value.year, value.month, value.day)
        return moment.replace(tzinfo=moment.tzinfo or dt.UTC).timestamp()
    return float(value)


def numbers_of(values: pl.Series) -> NDArray[np.float64]:
    """Return numbers as they are, dates as days and times as seconds since 1970."""
    if values.dtype == pl.Date:
        return values.to_physical().cast(pl.Float64).to_numpy()
    if values.dtype.is_temporal():
        return values.dt.epoch("us").cast(pl.Float64).to_numpy() / 1e6
    return values.cast(pl.Float64).to_numpy()
