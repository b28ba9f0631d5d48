"""Values as a receiver can tell them apart: exactly, by what the file or frame itself holds, never by a lossy text."""

from __future__ import annotations

import numpy as np
import polars as pl

from sudare.errors import InputError


def exact(series: pl.Series) -> pl.Series:
    """Return a key for every value: two are alike just if nobody can tell the values apart.

    Floats go by their bits, so that -0.0 is not 0.0 and a NaN is not every other NaN; a missing value stays missing.

    >>> exact(pl.Series([0.0, -0.0, None, 0.0])).to_list()
    [0, 9223372036854775808, None, 0]
    >>> import datetime as dt
    >>> exact(pl.Series([dt.time(9), dt.time(9, 0, 0, 1)])).to_list()
    [32400000000000, 32400000001000]
    """
    dtype = series.dtype
    if dtype.is_nested() or dtype in (pl.Object, pl.Unknown):
        raise InputError(
            f"Column '{series.name}' is of the type {dtype}, whose values cannot be compared. "
            "Publish numbers, texts, truth values, dates or times."
        )
    if dtype.is_float():
        return _bits(series)
    if isinstance(dtype, pl.Categorical | pl.Enum):
        return series.cast(pl.String)
    return series.to_physical() if dtype.is_temporal() or dtype.is_decimal() else series


def texts(series: pl.Series) -> pl.Series:
    """Write every value for people, nothing cut off. Values are compared by `exact`, not by these.

    >>> import datetime as dt
    >>> texts(pl.Series([dt.time(9), dt.time(9, 0, 0, 1)])).to_list()
    ['09:00:00', '09:00:00.000001']
    """
    if series.dtype == pl.Time:
        return series.dt.to_string("%H:%M:%S%.f")
    if series.dtype == pl.Binary:
        return series.bin.encode("hex")
    if isinstance(series.dtype, pl.Duration):  # polars writes no texts of them
        return series.to_physical().cast(pl.String) + f" {series.dtype.time_unit}"
    return series.cast(pl.String)


def _bits(series: pl.Series) -> pl.Series:
    numbers = series.fill_null(0.0).to_numpy()
    bits = pl.Series(series.name, numbers.view(np.dtype(f"u{numbers.dtype.itemsize}")))
    return bits.set(series.is_null(), None)
