"""The plainest type that holds some values, whatever the source's was.

What is published must not tell by its type that somebody was left out: a column of numbers that are whole but for one is made of whole
numbers once that one is gone. So every column gets this type when it is read, and again when rows are left out.
"""

from __future__ import annotations

from decimal import Decimal

import polars as pl

from sudare.tables.numbers import WHOLE


def plainest(series: pl.Series, *, by_day: bool = False) -> pl.Series:
    """Return values in the plainest type that holds them: it tells nothing but the values.

    Whole numbers are whole numbers, decimals have as many digits as one of them needs, and an Enum has no other categories. Times that are all midnight are
    days, where a source does not say which of both it has (`by_day`). Where all are missing, they are texts.

    >>> plainest(pl.Series([1.0, 2.0])).dtype, plainest(pl.Series([1.0, 2.5])).dtype
    (Int64, Float64)
    """
    dtype = series.dtype
    if series.null_count() == len(series):  # those who had a value are left out, and what it was is not told
        return pl.repeat(None, len(series), dtype=pl.String, eager=True).alias(series.name)
    if isinstance(dtype, pl.Enum):  # its order may be that of sizes, and it lists the values that there are
        return series.cast(pl.Enum(dtype.categories.filter(dtype.categories.is_in(series.cast(pl.String)))))
    if isinstance(dtype, pl.Categorical):
        return series.cast(pl.String)
    if isinstance(dtype, pl.Datetime) and by_day:
        days = series.dt.date()
        return days if days.cast(dtype).equals(series) else series
    if dtype.is_integer():
        return _cast_if_same(series, pl.Int64())
    if dtype.is_float():
        numbers = series.cast(pl.Float64)
        below_zero = (numbers == 0) & (1 / numbers < 0)  # no whole number is -0
        whole = bool(((numbers.abs() <= WHOLE) & ~below_zero).drop_nulls().all())
        return _cast_if_same(series, pl.Int64()) if whole else series
    if isinstance(dtype, pl.Decimal):
        digits = max((_decimals(value) for value in series.drop_nulls().to_list()), default=0)
        return _cast_if_same(series, pl.Decimal(dtype.precision, digits) if digits else pl.Int64())
    return series


def _decimals(value: Decimal) -> int:
    exponent = value.normalize().as_tuple().exponent
    return max(0, -exponent) if isinstance(exponent, int) else 0


def _cast_if_same(series: pl.Series, dtype: pl.DataType) -> pl.Series:
    if series.dtype == dtype:
        return series
    cast = series.cast(dtype, strict=False)
    return cast if cast.cast(series.dtype, strict=False).equals(series) else series
