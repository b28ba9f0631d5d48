"""Numbers and dates as plain numbers: dates as days, times as seconds since 1970."""

from __future__ import annotations

import datetime as dt
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

EPOCH = dt.date(1970, 1, 1)
WHOLE = 2**53
"""Up to here, every whole number is a float of its own."""


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


def whole_if_all_are(column: pl.Series) -> pl.Series:
    """Return numbers as whole numbers, if all of them are.

    >>> whole_if_all_are(pl.Series([1.0, None])).to_list(), whole_if_all_are(pl.Series([0.5, 1.0])).to_list()
    ([1, None], [0.5, 1.0])
    """
    if not column.dtype.is_float() or column.null_count() == len(column):
        return column
    numbers = column.drop_nulls()
    whole = bool((numbers.is_finite() & (numbers.abs() <= WHOLE) & (numbers == numbers.round())).all())
    return column.cast(pl.Int64) if whole else column
