"""The form of a saved p-view: exactly which keys, numbers and columns there are, and how large they may be.

Whoever forges a p-view also computes its hashes anew. So nothing is made of a file before all of it was compared with
what is written here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
import polars as pl
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field

from sudare.errors import InputError
from sudare.tables.column import smallest
from sudare.tables.text import listed

MAX_AXES = 400
MAX_DOMAIN_CELLS = 2**20
"""Cells of all attributes together, each on its own: values, or bins."""
MAX_NAME_LENGTH = 1_000
"""Characters of an attribute's name."""
MAX_ROWS = 2**22
"""Points, or blocks."""
MAX_VALUES = 10**8
"""Rows x columns of the data."""
MAX_BYTES = 2**30
"""Of the data's file."""
MAX_COUNT = 2.0**53
"""The largest count, beyond which floats no longer tell whole numbers apart."""

Floats = NDArray[np.float64]


class Form(BaseModel):
    """Plain data of an exact form: no other keys, no number for a text or a truth value, nothing infinite."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, allow_inf_nan=False)


Number = Annotated[float, Field(ge=-MAX_COUNT, le=MAX_COUNT)]
Variance = Annotated[float, Field(ge=0, le=MAX_COUNT**2)]
Name = Annotated[str, Field(max_length=MAX_NAME_LENGTH)]


class Manifest(Form):
    """All that says what the data of a p-view mean."""

    format: str
    version: int
    kind: str
    domain: list[dict[str, Any]] = Field(min_length=1, max_length=MAX_AXES)
    extras: dict[str, Any]
    facts: dict[str, Any]
    data_sha256: str = Field(pattern="^[0-9a-f]{64}$")


# -- Columns --------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Layout:
    """The columns of a p-view's data, in order, and how many rows it may have."""

    columns: dict[str, pl.DataType]
    least: int
    most: int

    def admits(self, names: Sequence[str], rows: int) -> bool:
        """Say whether data of these columns and so many rows may be read."""
        return list(names) == list(self.columns) and self.least <= rows <= self.most


def codes_of(sizes: Sequence[int], ends: Sequence[str]) -> dict[str, pl.DataType]:
    """Return the columns for codes of every axis, each of the smallest type."""
    types = [pl.Series(np.empty(0, smallest(size))).dtype for size in sizes]
    return {f"{end}{a}": types[a] for a in range(len(sizes)) for end in ends}


def refuse_other_layouts(names: Sequence[str], rows: int, layouts: Sequence[Layout]) -> None:
    """Refuse data by its names and rows alone, before it is read."""
    if rows * len(names) > MAX_VALUES:
        raise InputError(
            f"There are {rows:,} rows of {len(names):,} columns; {MAX_VALUES:,} values are the most."
        )
    if not any(layout.admits(names, rows) for layout in layouts):
        wanted = layouts[-1]
        raise InputError(
            f"The columns are not those of this kind of p-view, or too many rows or too few: {listed(list(names))} with "
            f"{rows:,} rows, where {listed(list(wanted.columns))} with {wanted.least:,} to {wanted.most:,} were expected."
        )


def refuse_unfit(frame: pl.DataFrame, layouts: Sequence[Layout]) -> None:
    """Refuse data of other types, with missing values, or with numbers that are infinite or too large to count with."""
    refuse_other_layouts(frame.columns, frame.height, layouts)
    if not any(dict(frame.schema) == layout.columns for layout in layouts):
        raise InputError(f"The columns are of other types: {listed([str(dtype) for dtype in frame.dtypes])}.")
    for column in frame:
        if column.null_count():
            raise InputError(f"The column '{column.name}' has missing values.")
        if column.dtype == pl.Float64:
            refuse_large(column.to_numpy(), f"The column '{column.name}'")


def refuse_large(numbers: Floats, what: str, least: float = -MAX_COUNT) -> None:
    """Refuse numbers that are infinite, too large to count with, or below what they can be."""
    if not ((numbers >= least) & (numbers <= MAX_COUNT)).all():
        raise InputError(f"{what} has a number that is not from {least:g} to {MAX_COUNT:g}.")
