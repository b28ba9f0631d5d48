"""Checking a table against its schema: domains, bounds, hierarchies and missing values."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
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


def checked(table: Table, wrong_types: Iterable[str]) -> Table:
    """Return the table with its declared domains and hierarchies in place, or refuse it with all its faults.

    `wrong_types` are the faults found while reading.
    """
    faults = list(wrong_types)
    columns = {}
    for name, column in table.columns.items():
        attribute = table.schema[name]
        faults += _missing_faults(column, table)
        if attribute.domain is not None:
            column, unknown = _in_domain(column, attribute.domain, table.source)
            faults += _value_faults(column, unknown, "is not in the declared domain", table.source)
        faults += _value_faults(
            column, _out_of_bounds(column, attribute), _bounds_text(attribute), table.source
        )
        hierarchy, unknown = _aligned(column, attribute, table.source)
        faults += _value_faults(column, unknown, "is not in the hierarchy", table.source)
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


def _missing_faults(column: Column, table: Table) -> Iterator[str]:
    if len(column.values) == 0:
        yield f"{table.source.name}, column '{column.name}': every value is missing. Remove the column, or mend the export."
    elif column.missing and table.schema.missing == "refuse":
        row = column.rows_with([len(column.values)])[0]
        yield f"{table.source.where(int(row))}, column '{column.name}': the value is missing, and the schema says missing = \"refuse\"."


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
        values = pl.Series(column.name, list(domain), strict=True).cast(column.values.dtype)
    except (pl.exceptions.PolarsError, TypeError):
        raise InputError(
            f"{source.name}, column '{column.name}': its domain cannot be written as {column.values.dtype}, which the values are. "
            "Give the attribute a type, or mend the domain."
        ) from None
    code_of = np.array([*found, len(values)], dtype=smallest(len(values) + 1))
    return Column(values, code_of[column.codes], column.missing), []


def _out_of_bounds(column: Column, attribute: Attribute) -> list[int]:
    if attribute.bounds is None:
        return []
    low, high = attribute.bounds
    try:
        outside = ~column.values.is_between(low, high)  # NaN is above every number
    except (pl.exceptions.PolarsError, TypeError):  # texts have no place between numbers
        return list(range(len(column.values)))
    return outside.arg_true().to_list()


def _bounds_text(attribute: Attribute) -> str:
    if attribute.bounds is None:
        return ""
    low, high = attribute.bounds
    return f"is outside the declared bounds [{text_of(low)}, {text_of(high)}]"


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
