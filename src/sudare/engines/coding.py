"""Coding: what the columns of a source are, by what the schema declares; with the faults of those that are not so."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sudare.engines.engine import Engine
from sudare.engines.memory import Later
from sudare.errors import InputError
from sudare.tables.attribute import Attribute, Role
from sudare.tables.checking import all_missing, checked, hierarchies_of, type_faults
from sudare.tables.column import Column
from sudare.tables.parsing import encode_text
from sudare.tables.plainest import plainest
from sudare.tables.schema import Schema
from sudare.tables.table import Source, Table
from sudare.tables.text import PATTERN, is_pattern, listed
from sudare.tables.types import ZONED, cast, other_kind, stored_type

NO_ROWS = np.empty(0, dtype=np.int64)
UNDECLARED = Attribute(role=Role.other)  # what the schema says of a column if there is none
Encode = Callable[[], tuple[Column, NDArray[np.int64]]]


class Reading:
    """A table that is being read, column by column, with the faults of those that were read."""

    def __init__(self, schema: Schema | None, origin: Source, rows: int = 0) -> None:
        self.schema, self.origin, self.rows = schema, origin, rows
        self.columns: dict[str, Column | Later] = {}
        self.faults: list[str] = []

    def __getitem__(self, name: str) -> Attribute:
        return self.schema[name] if self.schema else UNDECLARED

    def take(
        self,
        name: str,
        encode: Encode,
        values_at: Callable[[NDArray[np.int64]], pl.Series],
        origin: Source | None = None,
    ) -> Column:
        """Code a column and check it; `values_at` tells what stands in some of its rows, and `origin` where these are."""
        attribute, origin = self[name], origin or self.origin
        column, wrong = encode()
        self.faults += type_faults(name, values_at, wrong, attribute.type or "text", origin)
        missing = self.schema.missing if self.schema else "own value"
        column, faults = checked(column, attribute, missing, wrong, origin)
        self.columns[name] = column
        self.faults += faults
        return column

    def leave(self, series: pl.Series, encode: Encode, missing_values: Sequence[str]) -> None:
        """Keep a column as it is, to be coded when it is needed."""
        if not self.may_be_empty(series.name) and is_all_missing(series, missing_values):
            self.faults.append(all_missing(series.name, self.origin))
        self.columns[series.name] = partial(_coded_by, encode)

    def can_wait(self, name: str) -> bool:
        """Tell whether nothing is said of a column but its role, so that it need not be coded to be checked."""
        attribute = self[name]
        said = (attribute.type, attribute.domain, attribute.bounds, attribute.hierarchy)
        refusing = self.schema is not None and self.schema.missing == "refuse"
        unread = attribute.treated_as in (Role.identifier, Role.other) and attribute.role != Role.weight
        return unread and said == (None,) * 4 and not refusing

    def may_be_empty(self, name: str) -> bool:
        """Tell whether a column may lack every value: it is dropped, or nothing is said of it."""
        return self.schema is None or self[name].role == Role.identifier

    def table(self, rows: Engine) -> Table:
        """Return the table whose rows an engine holds, or refuse it with all its faults."""
        if self.faults:
            raise InputError("\n".join(self.faults))
        known = self.schema or Schema(attributes=dict.fromkeys(rows.names, UNDECLARED))
        table = Table(rows, known, self.origin)
        return replace(table, hierarchies=hierarchies_of(table))


def _coded_by(encode: Encode) -> Column:
    return encode()[0]


def is_all_missing(series: pl.Series, missing_values: Sequence[str]) -> bool:
    """Tell whether a column has no value at all."""
    if series.dtype == pl.String and missing_values:
        return bool((series.is_null() | series.str.strip_chars(" \t").is_in(list(missing_values))).all())
    return series.null_count() == len(series)


def check_columns(names: list[str], rows: int, schema: Schema | None, origin: Source) -> None:
    """Refuse a table that is empty, or has other columns than its schema."""
    if rows == 0 or not names:
        raise InputError(f"{origin.name}: the table is empty.")
    if patterns := [name for name in names if is_pattern(name)]:
        raise InputError(f"{origin.name}: no column can be called {listed(patterns)}: {PATTERN}. Rename it.")
    if schema is None:
        return
    if unknown := [name for name in schema.attributes if name not in names]:
        raise InputError(
            f"{origin.name}: the schema has {listed(unknown)}, but the table does not. It has {listed(names)}."
        )
    if unmentioned := [name for name in names if name not in schema.attributes]:
        raise InputError(
            f"{origin.name}: the schema does not mention {listed(unmentioned)}. "
            "Give every column a role: identifier, quasi, sensitive or other."
        )


def encode(
    series: pl.Series, attribute: Attribute, missing_values: tuple[str, ...], origin: Source
) -> tuple[Column, NDArray[np.int64]]:
    """Code a column of a frame as its declared type; also return the rows whose values are not of that type."""
    if attribute.type is not None and isinstance(series.dtype, pl.Categorical | pl.Enum):
        series = series.cast(pl.String)
    if series.dtype == pl.String and (attribute.type or missing_values):
        type_ = attribute.type or "text"
        return encode_text(series, type_, ".", missing_values, trim=False, **how_to_parse(attribute))
    dtype = stored_type(attribute)
    coded = Column.encode(series)
    if series.null_count() == len(series):
        return coded, NO_ROWS
    if attribute.type is None or dtype is None:
        if attribute.domain is not None:  # whose type is published; its texts are found as they are written
            return coded, NO_ROWS
        return coded.with_values(plainest(coded.values, by_day=origin.by_cell)), NO_ROWS
    typed = cast(coded.values, dtype, clip=attribute.outside == "clip")
    if typed is None:
        raise InputError(f"{origin.name}, column '{series.name}': {other_kind(series.dtype, dtype)}")
    wrong = (coded.values.is_not_null() & typed.is_null()).arg_true().to_list()
    return coded.with_values(typed), coded.rows_with(wrong)


def how_to_parse(attribute: Attribute) -> dict[str, Any]:
    """Say what a declared type adds to how texts are parsed."""
    if attribute.type is None:
        return {}
    zoned, clip = stored_type(attribute) == ZONED, attribute.outside == "clip"
    return {"zoned": zoned, "clip": clip, "form": attribute.format}
