"""Recounting numbers that are published beside ranges: ends are those of the label, and everybody of a block has one mean.

Labels are read anew here. What a mean is the mean of cannot be seen: only that it lies in its range, is as coarse as it must
be, and tells nobody of a block from the others.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import polars as pl

from sudare.errors import RequirementError
from sudare.tables.attribute import Role
from sudare.tables.exact import exact
from sudare.tables.numbers_beside import MIN_MEMBERS, columns_beside
from sudare.tables.schema import Schema
from sudare.tables.text import shown
from sudare.verification.files import PublishedTable

Number = float | None


def refuse_false_numbers(table: PublishedTable, schema: Schema) -> None:
    """Raise a RequirementError at a number that its label or its block does not account for."""
    beside = schema.beside()
    for name in dict.fromkeys(beside.values()):
        numbers = schema[name].numbers
        assert numbers is not None  # or nothing would stand beside it
        columns = columns_beside(name, numbers)
        if there := [column for column in columns if column in table.columns]:
            if there != columns or name not in table.columns:
                raise RequirementError(
                    f"{table.where} has '{there[0]}' without the columns that belong to it. Ask for it again."
                )
            if numbers == "ends":
                _refuse_other_ends(table, name, columns)
            else:
                _refuse_other_means(table, name, columns[0], schema.names(Role.quasi))


def _refuse_other_ends(table: PublishedTable, name: str, columns: list[str]) -> None:
    runs = table.counted([name, *columns])
    for label, low, high in _rows(table, runs.rows):
        if (low, high) != _ends(label):
            raise RequirementError(
                f"{table.where} has {shown(low)} and {shown(high)} beside the {name} {shown(label)}, which are not its ends. Do not rely "
                "on it."
            )


def _refuse_other_means(table: PublishedTable, name: str, column: str, quasi: list[str]) -> None:
    for runs in table.pieces([*quasi, column], quasi):
        keys = [exact(runs.rows[one]).alias(str(at)) for at, one in enumerate(quasi)]
        rows = pl.DataFrame([*keys, exact(runs.rows[column]).alias("mean"), runs.lengths.alias("records")])
        blocks = rows.with_row_index("row").group_by([key.name for key in keys])
        found = blocks.agg(pl.min("row"), pl.n_unique("mean"), pl.sum("records"))
        if (found["mean"] > 1).any():
            raise RequirementError(
                f"{table.where}: the records of a block have different values of '{column}', by which they can be told apart. Give all "
                "of a block one."
            )
        shown_once = runs.rows[found["row"]].select(name, column)
        for (label, mean), records in zip(_rows(table, shown_once), found["records"], strict=True):
            if not _is_mean(mean, *_ends(label), records):
                raise RequirementError(
                    f"{table.where} has {shown(mean)} as the mean of {records:,} records with the {name} {shown(label)}: a mean lies in a "
                    f"range of two ends, is rounded to a hundredth of it, and is of {MIN_MEMBERS} records or more. Do not rely on it."
                )


def _is_mean(mean: Number, low: Number, high: Number, records: int) -> bool:
    """Tell whether a number can be a mean that is published."""
    if low is None or high is None:
        return mean is None
    if low == high:
        return mean == low
    if records < MIN_MEMBERS:
        return mean is None
    grain = 2 - math.floor(math.log10(high - low))
    return mean is not None and low <= mean <= high and round(mean, grain) == mean


def _rows(table: PublishedTable, frame: pl.DataFrame) -> Iterator[tuple[Any, ...]]:
    """Yield rows of a label and numbers; in a CSV file numbers are texts."""
    first, *others = (table.meant(column) for column in frame.iter_columns())
    numbers = [own.replace("", None).cast(pl.Float64) if own.dtype == pl.String else own for own in others]
    yield from zip(first.to_list(), *(own.to_list() for own in numbers), strict=True)


def _ends(label: object) -> tuple[Number, Number]:
    """Return from where to where a label goes."""
    text = "" if label is None else str(label)
    try:
        if text[:1] == "[" and text[-1:] in (")", "]"):
            low, high = text[1:-1].split(", ")
            return float(low), float(high)
        if text.startswith("< "):
            return None, float(text[2:])
        if text.startswith(">= "):
            return float(text[3:]), None
        number = float(text)
    except ValueError:
        return None, None
    return (number, number) if math.isfinite(number) else (None, None)
