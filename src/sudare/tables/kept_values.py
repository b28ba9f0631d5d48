"""Which values a format keeps apart: a column of it has the format's own type only if that keeps all of them."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from sudare.errors import InputError
from sudare.tables.exact import texts
from sudare.tables.numbers import WHOLE, whole_if_all_are
from sudare.tables.text import shown

NO_SIGN = r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u{fffe}\u{ffff}]"  # of XML, nor of a name of anything


@dataclass(frozen=True)
class Keeps:
    """What a format has types for."""

    name: str
    largest: float
    """Numbers beyond it are texts."""
    first_day: dt.date | None
    """Of its calendar; None if dates are texts."""
    truth_values: bool = True
    bytes_of_text: int = 2**31
    lost: str = ""
    """Texts that it changes, as a pattern."""


XLSX = Keeps(
    "an Excel workbook",
    1e307,
    dt.date(1900, 3, 1),
    lost=rf"^$|{NO_SIGN}|\r|_x[0-9A-Fa-f]{{4}}_",
    bytes_of_text=32_767,
)
"""Its calendar has a day in 1900 that never was, and \\_x0041\\_ is A."""
ODS = Keeps("an OpenDocument spreadsheet", 1e307, dt.date(1600, 1, 1), lost=rf"^$|{NO_SIGN}|[\r\n\t]")
DTA = Keeps("a Stata file", 1e307, dt.date(1600, 1, 1), False, 2_045, rf"^$|{NO_SIGN}|^\.[a-z]?$|\s$")
SAV = Keeps("an SPSS file", 1e307, dt.date(1600, 1, 1), False, 32_767, rf"^$|{NO_SIGN}|\s$")
JSON = Keeps("JSON", float("inf"), None)


def kept(column: pl.Series, format: Keeps, to: Path) -> pl.Series:
    """Return a column as a format has it: whole numbers, numbers, truth values, days, times in milliseconds, or texts.

    >>> kept(pl.Series("x", [1.0, 2.0]), DTA, Path("data.dta")).dtype, kept(pl.Series("x", [2**60]), DTA, Path("data.dta")).to_list()
    (Int64, ['1152921504606846976'])
    >>> kept(pl.Series("x", ["a", ""]), DTA, Path("data.dta"))
    Traceback (most recent call last):
    sudare.errors.InputError: data.dta: column 'x' has the text '', which a Stata file does not keep as it is. Leave this format out, or change the text in the source.
    """
    own = _own_type(column, format)
    if own is not None:
        return own
    written = column.cast(pl.String) if column.dtype == pl.String else texts(column)
    wrong = pl.Series([], dtype=pl.String)
    if format.lost:
        found = written.drop_nulls().unique()
        wrong = found.filter(
            found.str.contains(format.lost) | (found.str.len_bytes() > format.bytes_of_text)
        ).sort()
    if len(wrong):
        raise InputError(
            f"{to.name}: column '{column.name}' has the text {shown(wrong[0])}, which {format.name} does not keep as it is. Leave this "
            "format out, or change the text in the source."
        )
    return written


def _own_type(column: pl.Series, format: Keeps) -> pl.Series | None:
    """Return a column in a type of the format that keeps all its values, if there is one."""
    if column.null_count() == len(column):
        return column.cast(pl.Int64, strict=False)
    dtype = column.dtype
    if dtype == pl.Boolean:
        return column if format.truth_values else None
    if dtype.is_integer() or dtype.is_float():
        return _numbers(column, format)
    if format.first_day is not None and (
        dtype == pl.Date or (isinstance(dtype, pl.Datetime) and not dtype.time_zone)
    ):
        return _moments(column, format.first_day)
    return None


def _numbers(column: pl.Series, format: Keeps) -> pl.Series | None:
    if column.dtype.is_integer():
        fits = bool((column.cast(pl.Int128).abs() <= WHOLE).all()) or format is JSON
        return (
            column.cast(pl.Int64, strict=False)
            if fits and column.dtype != pl.UInt64
            else column
            if fits
            else None
        )
    numbers = column.cast(pl.Float64)
    # -0 and 0 are one number in a spreadsheet, and no format has what is not finite.
    odd = ~numbers.is_finite() | (numbers.abs() > format.largest) | ((numbers == 0) & (1 / numbers < 0))
    return None if bool(odd.any()) else whole_if_all_are(numbers)


def _moments(column: pl.Series, first: dt.date) -> pl.Series | None:
    moments = column.cast(pl.Datetime("us"))
    if isinstance(column.dtype, pl.Datetime) and bool((moments.cast(column.dtype) != column).any()):
        return None  # nanoseconds
    earliest = dt.datetime.combine(first, dt.time.min)
    if bool(
        (moments < earliest).any()
        or (moments.dt.year() > 9999).any()
        or (moments.dt.microsecond() % 1000 != 0).any()
    ):
        return None
    days = moments.dt.date()
    return days if bool((days.cast(moments.dtype) == moments).all()) else moments
