"""From the texts of a CSV file to typed values. Only distinct texts are parsed: equal ones cost once."""

from __future__ import annotations

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sudare.tables.attribute import Type
from sudare.tables.column import Column
from sudare.tables.plainest import plainest
from sudare.tables.types import saturated

# A whole number is one only if writing it back gives the same text: 007 and 01234 stay text.
INTEGER = r"^(0|-?[1-9][0-9]*)$"
NUMBER = r"^[+-]?(0|[1-9][0-9]*|)(\.[0-9]*)?([eE][+-]?[0-9]+)?$"
HAS_DIGIT = r"^[+-]?\.?[0-9]"
BEYOND_FLOATS = r"^[+-]?[0-9]{17,}$"
DATE = r"^[0-9]{4}[-/][0-9]{1,2}[-/][0-9]{1,2}$"
DATETIME = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9]{2}:[0-9]{2}(:[0-9]{2}(\.[0-9]+)?)?$"
ZONE = r"(Z|[+-][0-9]{2}:[0-9]{2})$"


def infer_type(texts: pl.Series, decimal: str = ".") -> Type:
    """Guess the type that all of these distinct texts have.

    >>> infer_type(pl.Series(["17", "90"])), infer_type(pl.Series(["017", "90"])), infer_type(pl.Series(["1.5", "2"]))
    ('integer', 'text', 'number')
    """
    texts = texts.drop_nulls()
    if len(texts) == 0:
        return "text"
    for guess in ("integer", "number", "date", "datetime"):
        if guess == "number" and texts.str.contains(BEYOND_FLOATS).any():
            continue  # as numbers, two long card numbers could become one
        if parse(texts, guess, decimal).null_count() == 0:
            return guess
    return "text"


def parse(
    texts: pl.Series,
    type_: Type,
    decimal: str = ".",
    *,
    zoned: bool = False,
    clip: bool = False,
    form: str | None = None,
) -> pl.Series:
    """Parse texts as a type; what cannot be parsed becomes null.

    `zoned` times must have a time zone, and others none. With `clip`, a whole number of any length is one: the nearest of
    64 bits. `form` says how dates and times are written.

    >>> parse(pl.Series(["1,5", "x"]), "number", decimal=",").to_list()
    [1.5, None]
    """
    if type_ == "text":
        return texts
    if type_ == "integer":
        return _whole(_only(texts, INTEGER), clip=clip)
    if type_ == "number":
        if decimal == ",":
            texts = texts.set(texts.str.contains(".", literal=True), None).str.replace(",", ".", literal=True)
        return _only(_only(texts, NUMBER), HAS_DIGIT).cast(pl.Float64, strict=False)
    if form is not None:
        return _by_form(texts, type_, form, zoned=zoned)
    if type_ == "date":
        return (
            _only(texts, DATE).str.replace_all("/", "-", literal=True).str.to_date("%Y-%m-%d", strict=False)
        )
    if zoned:
        zone = texts.str.extract(ZONE)
        full = _with_seconds(texts.str.replace(ZONE, "")) + zone
        return full.str.to_datetime("%Y-%m-%d %H:%M:%S%.f%#z", time_unit="us", strict=False)
    return _with_seconds(texts).str.to_datetime("%Y-%m-%d %H:%M:%S%.f", time_unit="us", strict=False)


def _by_form(texts: pl.Series, type_: Type, form: str, *, zoned: bool) -> pl.Series:
    """Parse dates or times that are written in a declared form; times without a zone are in UTC, if they need one."""
    if type_ == "date":
        return texts.str.to_date(form, strict=False)
    times = texts.str.to_datetime(form, time_unit="us", strict=False)
    if not zoned:
        return times.dt.replace_time_zone(None)
    return times.dt.convert_time_zone("UTC") if times.dtype.time_zone else times.dt.replace_time_zone("UTC")  # type: ignore[attr-defined]


FORMS = (
    *(f"%d{sign}%m{sign}%Y" for sign in "/.- "),
    *(f"%m{sign}%d{sign}%Y" for sign in "/-"),
    *("%d/%m/%y", "%m/%d/%y", "%d.%m.%y", "%Y.%m.%d", "%Y%m%d", "%Y年%m月%d日"),
    *("%d %b %Y", "%d %B %Y", "%d-%b-%Y", "%b %d, %Y", "%B %d, %Y"),
)
"""In which dates are often written, beside YYYY-MM-DD."""


def date_forms(texts: pl.Series) -> list[str]:
    """Return the forms in which all of these texts are dates; more than one where they do not tell day from month.

    >>> date_forms(pl.Series(["1/22/2020", "2/3/2020"])), date_forms(pl.Series(["1/2/2020"]))
    (['%m/%d/%Y'], ['%d/%m/%Y', '%m/%d/%Y'])
    """
    texts = texts.drop_nulls()
    if not len(texts):
        return []
    return [form for form in FORMS if not _plausible(texts.str.to_date(form, strict=False)).null_count()]


def _plausible(days: pl.Series) -> pl.Series:
    """Leave out days of years that nobody lived in: what looks like one is a number."""
    return days.set(~days.dt.year().is_between(1850, 2150).fill_null(False), None)


def _whole(digits: pl.Series, *, clip: bool) -> pl.Series:
    numbers = digits.cast(pl.Int64, strict=False)
    if not clip:
        return numbers
    return saturated(numbers, numbers.is_null() & digits.is_not_null(), digits.str.starts_with("-"))


def _with_seconds(texts: pl.Series) -> pl.Series:
    """Return the texts that are times, all with seconds."""
    plain = _only(texts, DATETIME).str.replace("T", " ", literal=True)
    minutes = plain.str.len_bytes() == len("2024-01-01 00:00")
    return plain.zip_with(~minutes.fill_null(False), plain + ":00")


def _only(texts: pl.Series, pattern: str) -> pl.Series:
    return texts.set(~texts.str.contains(pattern), None)


def encode_text(
    series: pl.Series,
    type_: Type | None,
    decimal: str,
    missing_values: tuple[str, ...],
    trim: bool,
    *,
    zoned: bool = False,
    clip: bool = False,
    form: str | None = None,
) -> tuple[Column, NDArray[np.int64]]:
    """Code a text column as its type (None: as the type its texts have).

    Also returns the rows whose text is not of the declared type; they are coded as missing.
    """
    return typed_column(
        Column.encode(series), type_, decimal, missing_values, trim, zoned=zoned, clip=clip, form=form
    )


def typed_column(
    coded: Column,
    type_: Type | None,
    decimal: str,
    missing_values: tuple[str, ...],
    trim: bool,
    *,
    zoned: bool = False,
    clip: bool = False,
    form: str | None = None,
) -> tuple[Column, NDArray[np.int64]]:
    """Type a coded text column, as `encode_text` does."""
    texts = coded.values.str.strip_chars(" \t") if trim else coded.values
    texts = texts.set(texts.is_in(missing_values), None)
    typed = parse(texts, type_ or infer_type(texts, decimal), decimal, zoned=zoned, clip=clip, form=form)
    typed = typed if type_ else plainest(typed, by_day=True)
    wrong = (texts.is_not_null() & typed.is_null()).arg_true().to_list()
    return coded.with_values(typed), coded.rows_with(wrong)
