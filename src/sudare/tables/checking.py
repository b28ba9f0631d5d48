"""Checking a table against its schema: domains, bounds, hierarchies and missing values."""

from __future__ import annotations

import datetime as dt
import math
import re
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from typing import Any
from zoneinfo import ZoneInfo

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sudare.errors import InputError, ParameterError
from sudare.tables.attribute import MAX_WEIGHT, Attribute, Bound, Role, Type
from sudare.tables.column import Column, smallest
from sudare.tables.dictionary import Dictionary
from sudare.tables.hierarchy import Hierarchy
from sudare.tables.schema import Missing
from sudare.tables.table import Source, Table
from sudare.tables.text import shown, spellings, text_of
from sudare.tables.toml import toml_key
from sudare.tables.types import KINDS, cast, declared_values, misfit, other_kind

MAX_ROWS_SHOWN = 5  # faulty rows named per column
EPOCH = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)
PART = "has a part of a microsecond, which no declared time keeps: round it"
WHOLE_NUMBER = re.compile(r"-?[0-9]+(\.0*)?$")
# What to declare where values between whole numbers, or days, are neither.
WIDER: dict[pl.DataType, tuple[Type, str]] = {
    pl.Int64(): ("number", "a whole number"),
    pl.Date(): ("datetime", "a day"),
}
TICKS = {"ns": Fraction(1000), "us": Fraction(1), "ms": Fraction(1, 1000)}  # in a microsecond
Rows = NDArray[np.int64]


def checked(
    column: Column, attribute: Attribute, missing: Missing, wrong: Rows, source: Source
) -> tuple[Column, list[str]]:
    """Return a column coded by its declared domain and within its bounds, and its faults.

    `wrong` are the rows whose text was not of the declared type.
    """
    column, outside = _in_bounds(column, attribute, source)
    if len(column.values) == 0 and len(wrong) == 0 and attribute.role != Role.identifier:
        return column, [all_missing(column.name, source)]
    faults = list(_missing_faults(column, wrong, missing, source))
    if attribute.domain is not None:
        column, unknown = _in_domain(column, attribute, attribute.domain, source)
        faults += _value_faults(column, unknown, "is not in the declared domain", source)
    faults += outside
    if no_weights := list(_weight_faults(column, attribute, source)):
        return column, [*faults, *no_weights]
    unknown = aligned(column.dictionary, attribute, source)[1]
    return column, [*faults, *_value_faults(column, unknown, "is not in the hierarchy", source)]


def all_missing(name: str, source: Source) -> str:
    """Say that a column has no value at all."""
    return (
        f"{source.name}, column '{name}': every value is missing. Remove the column, fix the export, or drop it: "
        'role = "identifier".'
    )


def hierarchies_of(table: Table) -> dict[str, Hierarchy]:
    """Return the hierarchies that the schema gives, for the values that the table has."""
    given = [name for name in table.columns if table.schema[name].hierarchy is not None]
    trees = {name: aligned(table[name], table.schema[name], table.source)[0] for name in given}
    return {name: tree for name, tree in trees.items() if tree is not None}


def type_faults(
    name: str, values_at: Callable[[Rows], pl.Series], rows: Rows, type_: Type, source: Source
) -> Iterator[str]:
    """Say of rows that their values, which `values_at` tells, are not of the declared type."""
    values = values_at(rows[:MAX_ROWS_SHOWN]).to_list()
    return _row_faults(name, rows, values, [_why(value, type_) for value in values], source)


def _why(value: Any, type_: Type) -> str:
    """Say why a value is not of the declared type."""
    if type_ == "integer" and (
        abs(value) >= 2**63 if isinstance(value, float) else WHOLE_NUMBER.match(text_of(value))
    ):
        return (
            'is beyond the whole numbers of 64 bits: declare bounds and outside = "clip", or type = "number"'
        )
    if type_ == "datetime" and isinstance(value, dt.datetime):
        return PART
    return f"is not {KINDS[type_]}, as the schema says"


def _row_faults(
    name: str, rows: Rows, values: list[Any], faults: Sequence[str], source: Source
) -> Iterator[str]:
    for row, value, fault in zip(rows, values, faults, strict=False):  # the first few have their values
        yield f"{source.where(int(row))}, column '{name}': {shown(value)} {fault}."
    if len(rows) > len(values):
        yield f"{source.name}, column '{name}': {len(rows) - len(values):,} more such {source.unit}."


def _missing_faults(column: Column, wrong: Rows, missing: Missing, source: Source) -> Iterator[str]:
    if not column.missing or missing != "refuse":
        return
    rows = np.setdiff1d(column.rows_with([len(column.values)]), wrong)
    if len(rows) > 0:
        where = source.where(int(rows[0]))
        yield f"{where}, column '{column.name}': the value is missing, and the schema says missing = \"refuse\"."


def _value_faults(column: Column, codes: list[int], fault: str, source: Source) -> Iterator[str]:
    """Say of the rows that hold a faulty value where they stand."""
    if codes:
        rows = column.rows_with(codes)
        held = column.dictionary.decode(column.codes[rows[:MAX_ROWS_SHOWN]]).to_list()
        yield from _faults_of(column.dictionary, codes, rows, held, fault, source)


def _faults_of(
    dictionary: Dictionary, codes: list[int], rows: Rows, values: list[Any], fault: str, source: Source
) -> Iterator[str]:
    name = dictionary.name
    if codes and len(rows) == 0:  # a value of the declared domain that no row has
        yield f"{source.name}, column '{name}': {shown(dictionary.values[codes[0]])} of its domain {fault}."
    yield from _row_faults(name, rows, values, [fault] * len(values), source)


def _in_domain(
    column: Column, attribute: Attribute, domain: tuple[Any, ...], source: Source
) -> tuple[Column, list[int]]:
    """Code a column by its declared domain, in the declared order and type; return the codes of values outside it."""
    places = _places(column.values, domain)
    if unknown := np.flatnonzero(places < 0).tolist():
        return column, unknown
    values = declared_values(column.name, attribute)
    code_of = np.append(places, len(values)).astype(smallest(len(values) + 1))
    dictionary = Dictionary(values, column.missing)
    return Column(dictionary, code_of[column.codes]), []


def _weight_faults(column: Column, attribute: Attribute, source: Source) -> Iterator[str]:
    """Say what cannot be a weight."""
    if attribute.role != Role.weight:
        return
    if not (dtype := column.values.dtype).is_numeric():
        yield f"{source.name}, column '{column.name}': weights are numbers, and these values are {dtype}."
        return
    numbers = column.values.cast(pl.Float64)
    wrong = (~numbers.is_between(0, MAX_WEIGHT)).arg_true().to_list()
    yield from _value_faults(column, wrong, f"is no weight, which is from 0 to {MAX_WEIGHT:,}", source)


def _places(values: pl.Series, domain: Sequence[Any]) -> Rows:
    """Return where each value stands in a domain, by its text; -1 where it does not."""
    place = {text: i for i, value in enumerate(domain) for text in spellings(value)}
    places = (
        next((place[text] for text in spellings(value) if text in place), -1) for value in values.to_list()
    )
    return np.fromiter(places, dtype=np.int64, count=len(values))


# -- for those who count or randomize by what the schema declares --------------------------------------


def places_in(table: Table, name: str, domain: Sequence[Any]) -> Rows:
    """Return where each value of a column stands in a domain, or refuse those that do not."""
    places = _places(table[name].values, domain)
    _refuse_values(table, name, places < 0, "is not in the declared domain")
    return places


def values_as(table: Table, name: str, dtype: pl.DataType) -> pl.Series:
    """Return a column's values in the type that its bounds have, or refuse those that do not fit, with the line to add."""
    values = table[name].values
    typed = cast(values, dtype)
    if typed is None:
        raise InputError(f"{table.source.name}, column '{name}': {other_kind(values.dtype, dtype)}")
    fault = PART
    if dtype in WIDER:
        wider, what = WIDER[dtype]
        fault = f'is not {what}, as its bounds are. Add to [attributes.{toml_key(name)}]: type = "{wider}"'
    _refuse_values(table, name, (typed.is_null() & values.is_not_null()).to_numpy(), fault)
    return typed


def _refuse_values(table: Table, name: str, wrong: NDArray[np.bool_], fault: str) -> None:
    """Raise an InputError if some values are wrong; it says where the first of them stand."""
    dictionary = table[name]
    codes = np.flatnonzero(wrong).tolist()
    if codes:
        rows = table.rows.rows_with(name, codes[:1])
        faults = _faults_of(dictionary, codes[:1], rows, [dictionary.values[codes[0]]], fault, table.source)
        raise InputError("\n".join(faults))


def _in_bounds(column: Column, attribute: Attribute, source: Source) -> tuple[Column, list[str]]:
    """Clip a column to its bounds, if the schema says so; else say which values are outside. NaN always is."""
    if attribute.bounds is None or len(column.values) == 0:
        return column, []
    if reason := misfit(attribute.bounds, column.values.dtype):
        return column, [f"{source.name}, column '{column.name}': {reason}"]
    values, (first, last) = column.values, innermost(attribute.bounds, column.values.dtype)
    # A decimal is stored as a whole number of its last digit.
    numbers = values.cast(pl.Float64) if values.dtype.is_decimal() else values.to_physical()
    some = first <= last
    inside = numbers.is_between(first, last) if some else pl.repeat(False, len(numbers), eager=True)
    if attribute.outside == "clip" and some:
        return _clipped(column, inside, numbers.clip(first, last)), []
    low, high = map(text_of, attribute.bounds)
    fault = f"is outside the declared bounds [{low}, {high}]"
    return column, list(_value_faults(column, (~inside).arg_true().to_list(), fault, source))


def _clipped(column: Column, inside: pl.Series, nearest: pl.Series) -> Column:
    """Move what is outside to the nearest number inside; what is inside is left alone, and NaN becomes missing."""
    dtype = column.values.dtype
    values = column.values.zip_with(inside, nearest.cast(dtype, strict=False))
    series = values.fill_nan(None) if dtype.is_float() else values
    return Column.encode(series.gather(pl.Series(column.codes).replace(len(values), None)).alias(column.name))


def innermost(bounds: tuple[Bound, Bound], dtype: pl.DataType) -> tuple[float, float]:
    """Return the first and the last number within bounds, of those by which a type stores its values.

    Where there is none, the first is above the last. A bound that is a day takes in the whole day.

    >>> innermost((-0.5, 1000), pl.UInt8()), innermost((dt.date(1970, 1, 1), dt.date(1970, 1, 1)), pl.Datetime("ms"))
    ((0, 255), (0, 86399999))
    """
    low, high = bounds
    if isinstance(low, dt.date) and isinstance(high, dt.date):
        return _innermost_times(low, high, dtype)
    assert not isinstance(low, dt.date)  # the schema refuses to mix them
    assert not isinstance(high, dt.date)
    if dtype.is_integer():
        return _held(low, high, dtype)
    if dtype == pl.Float32 and math.isfinite(low) and math.isfinite(high):
        most = float(np.finfo(np.float32).max)
        return max(low, -most), min(high, most)
    return float(low), float(high)


def _innermost_times(low: dt.date, high: dt.date, dtype: pl.DataType) -> tuple[int, int]:
    if not isinstance(dtype, pl.Datetime):  # of days, a bound with a time takes those that begin within
        begin = low if isinstance(low, dt.datetime) else dt.datetime.combine(low, dt.time.min)
        days = begin.toordinal() + (begin.time() > dt.time.min)
        return days - EPOCH.toordinal(), high.toordinal() - EPOCH.toordinal()
    ticks = TICKS[dtype.time_unit]
    first, last = (ticks * _microseconds(moment_of(end, dtype)) for end in (low, high))
    if not isinstance(high, dt.datetime):
        last = ticks * (_microseconds(moment_of(high, dtype, dt.time.max)) + 1) - 1
    return _held(first, last, dtype)


def _microseconds(moment: dt.datetime) -> int:
    return (moment - EPOCH) // dt.timedelta(microseconds=1)


def _held(low: float | Fraction, high: float | Fraction, dtype: pl.DataType) -> tuple[int, int]:
    """Return the first and the last whole number of a range, of those that a type can hold."""
    none = pl.Series([], dtype=dtype).to_physical()
    least, most = none.lower_bound().item(), none.upper_bound().item()
    return math.ceil(min(max(low, least), most + 1)), math.floor(max(min(high, most), least - 1))


def moment_of(value: dt.date, dtype: pl.Datetime, at: dt.time = dt.time.min) -> dt.datetime:
    """Return a time, or a day at some time, in its own time zone, or else in the type's; a type that has none is in UTC."""
    moment = value if isinstance(value, dt.datetime) else dt.datetime.combine(value, at)
    zone = ZoneInfo(dtype.time_zone) if dtype.time_zone else dt.UTC
    return moment if moment.tzinfo else moment.replace(tzinfo=zone)


def aligned(column: Dictionary, attribute: Attribute, source: Source) -> tuple[Hierarchy | None, list[int]]:
    """Return the hierarchy whose leaves are the column's codes, and the codes of values it does not have."""
    recipe = attribute.hierarchy
    if recipe is None or len(column.values) == 0:
        return None, []
    try:
        whole = recipe if isinstance(recipe, Hierarchy) else recipe.build(column.values)
    except (InputError, ParameterError) as error:
        raise InputError(f"{source.name}, column '{column.name}': {error}") from None
    leaves = whole.find(column.values)
    if (leaves < 0).any():
        return None, np.flatnonzero(leaves < 0).tolist()
    hierarchy = whole.take(leaves)
    return (hierarchy.with_missing() if column.missing else hierarchy), []
