"""Checking a table against its schema: domains, bounds, hierarchies and missing values."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sudare.errors import InputError, ParameterError
from sudare.tables.column import Column, smallest
from sudare.tables.hierarchy import Hierarchy
from sudare.tables.schema import Attribute, Type
from sudare.tables.table import Source, Table
from sudare.tables.text import shown, spellings, text_of

SHOWN = 5  # faulty rows named per column
Rows = NDArray[np.int64]

KINDS: dict[Type, str] = {
    "integer": "a whole number",
    "number": "a number",
    "text": "text",
    "date": "a date (YYYY-MM-DD)",
    "datetime": "a date and time (YYYY-MM-DD HH:MM:SS)",
}


def checked(table: Table, wrong: Mapping[str, Rows], faults: list[str]) -> Table:
    """Return the table with its declared domains and hierarchies in place, or refuse it with all its faults.

    `faults` were found while reading; `wrong` are the rows whose text was not of the declared type, by column.
    """
    faults = list(faults)
    columns = {}
    for name, column in table.columns.items():
        attribute, source = table.schema[name], table.source
        if len(column.values) == 0 and len(wrong[name]) == 0:
            faults.append(
                f"{source.name}, column '{name}': every value is missing. Remove the column, or mend the export."
            )
            continue
        faults += _missing_faults(column, wrong[name], table)
        if attribute.domain is not None:
            column, unknown = _in_domain(column, attribute.domain, source)
            faults += _value_faults(column, unknown, "is not in the declared domain", source)
        if attribute.outside == "clip":
            column = _clipped(column, attribute)
        faults += _bounds_faults(column, attribute, source)
        hierarchy, unknown = _aligned(column, attribute, source)
        faults += _value_faults(column, unknown, "is not in the hierarchy", source)
        columns[name] = replace(column, hierarchy=hierarchy)
    if faults:
        raise InputError("\n".join(faults))
    return replace(table, columns=columns)


def type_faults(series: pl.Series, rows: Rows, type_: Type, source: Source) -> Iterator[str]:
    """Say of rows that their text is not of the declared type."""
    values = series.gather(rows[:SHOWN]).to_list()
    return _row_faults(series.name, rows, values, f"is not {KINDS[type_]}, as the schema says", source)


def _row_faults(name: str, rows: Rows, values: list[Any], fault: str, source: Source) -> Iterator[str]:
    for row, value in zip(rows, values, strict=False):  # the first few have their values
        yield f"{source.where(int(row))}, column '{name}': {shown(value)} {fault}."
    if len(rows) > len(values):
        yield f"{source.name}, column '{name}': {len(rows) - len(values):,} more such rows."


def _missing_faults(column: Column, wrong: Rows, table: Table) -> Iterator[str]:
    if not column.missing or table.schema.missing != "refuse":
        return
    rows = np.setdiff1d(column.rows_with([len(column.values)]), wrong)
    if len(rows) > 0:
        where = table.source.where(int(rows[0]))
        yield f"{where}, column '{column.name}': the value is missing, and the schema says missing = \"refuse\"."


def _value_faults(column: Column, codes: list[int], fault: str, source: Source) -> Iterator[str]:
    """Say of the rows that hold a faulty value where they stand."""
    rows = column.rows_with(codes)
    if codes and len(rows) == 0:  # a value of the declared domain that no row has
        yield f"{source.name}, column '{column.name}': {shown(column.values[codes[0]])} of its domain {fault}."
    values = column.decode(column.codes[rows[:SHOWN]]).to_list()
    yield from _row_faults(column.name, rows, values, fault, source)


def _in_domain(column: Column, domain: tuple[Any, ...], source: Source) -> tuple[Column, list[int]]:
    """Code a column by its declared domain, in the declared order; return the codes of values outside it."""
    place = {text: i for i, value in enumerate(domain) for text in spellings(value)}
    found = [
        next((place[text] for text in spellings(value) if text in place), -1)
        for value in column.values.to_list()
    ]
    unknown = [code for code, where in enumerate(found) if where < 0]
    if unknown:
        return column, unknown
    try:
        declared = pl.Series(column.name, list(domain), strict=False)
        values = declared.cast(column.values.dtype)
        fits = values.cast(declared.dtype).equals(declared)
    except (pl.exceptions.PolarsError, TypeError):
        fits = False
    if not fits:
        raise InputError(
            f"{source.name}, column '{column.name}': its domain cannot be written as {column.values.dtype}, which the values are. "
            "Give the attribute a type, or mend the domain."
        )
    code_of = np.array([*found, len(values)], dtype=smallest(len(values) + 1))
    return Column(values, code_of[column.codes], column.missing), []


def _clipped(column: Column, attribute: Attribute) -> Column:
    """Move what is outside the bounds to the nearer one."""
    low, high = attribute.bounds or (None, None)
    values = column.values
    if isinstance(low, dt.date) != values.dtype.is_temporal():
        return column  # the bounds are refused next
    series = values.clip(low, high).fill_nan(None) if values.dtype.is_float() else values.clip(low, high)
    return Column.encode(series.gather(pl.Series(column.codes).replace(len(values), None)).alias(column.name))


def _bounds_faults(column: Column, attribute: Attribute, source: Source) -> Iterator[str]:
    if attribute.bounds is None:
        return
    (low, high), values = attribute.bounds, column.values
    if (
        isinstance(low, dt.date)
        and not isinstance(low, dt.datetime)
        and isinstance(values.dtype, pl.Datetime)
    ):
        values = values.dt.date()  # a time on the last day is within the bounds
    kind = "dates" if isinstance(low, dt.date) else "numbers"
    if not (
        values.dtype.is_numeric() if kind == "numbers" else isinstance(values.dtype, pl.Date | pl.Datetime)
    ):
        yield f"{source.name}, column '{column.name}': its bounds are {kind}, but its values are {values.dtype}. Give it another type, or mend the bounds."
        return
    outside = (~values.is_between(low, high)).arg_true().to_list()  # NaN is above every number
    fault = f"is outside the declared bounds [{text_of(low)}, {text_of(high)}]"
    yield from _value_faults(column, outside, fault, source)


def _aligned(column: Column, attribute: Attribute, source: Source) -> tuple[Hierarchy | None, list[int]]:
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
