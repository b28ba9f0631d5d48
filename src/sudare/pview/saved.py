"""The form of a saved view: exactly which keys, numbers and columns there are, and how large they may be.

Whoever forges a view also computes its hashes anew. So nothing is made of a file before all of it was compared with
what is written here.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Annotated, Any, Literal, TypeVar

import numpy as np
import polars as pl
from numpy.typing import NDArray
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from sudare.errors import InputError
from sudare.tables.column import smallest
from sudare.tables.faults import first_fault
from sudare.tables.text import listed, shown

MOST_AXES = 400
MOST_SIZE = 2**20
"""Cells of all attributes together, each on its own: values, or bins."""
MOST_NAME = 1_000
"""Characters of an attribute's name, and of what a share of the budget was spent on."""
MOST_ROWS = 2**22
"""Points, or blocks."""
MOST_VALUES = 10**8
"""Rows x columns of the data."""
MOST_BYTES = 2**30
"""Of the data's file."""
MOST_COUNT = 2.0**53
"""The largest count, beyond which floats no longer tell whole numbers apart."""
MOST_FACTS = 4 * 2**20
"""Characters of what is said about how the view was made."""
MOST_DIGITS = 300
"""Of a share of the budget, and of the common denominator of all."""
MOST_SHARES = 100_000
MOST_BUDGET = 10**6

Floats = NDArray[np.float64]
FRACTION = re.compile(rf"[0-9]{{1,{MOST_DIGITS}}}(/[1-9][0-9]{{0,{MOST_DIGITS - 1}}})?")


def _as_fraction(text: str) -> str:
    if not FRACTION.fullmatch(text) or Fraction(text) > MOST_BUDGET:
        raise ValueError(f"must be a fraction from 0 to {MOST_BUDGET:,}, such as '1/64'")
    return text


class Form(BaseModel):
    """Plain data of an exact form: no other keys, no number for a text or a truth value, nothing infinite."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, allow_inf_nan=False)


Number = Annotated[float, Field(ge=-MOST_COUNT, le=MOST_COUNT)]
Variance = Annotated[float, Field(ge=0, le=MOST_COUNT**2)]
Share = Annotated[str, AfterValidator(_as_fraction)]
Name = Annotated[str, Field(max_length=MOST_NAME)]


class Budget(Form):
    """What was spent on what, exactly."""

    unit: Literal["epsilon", "rho"]
    whole: Share
    shares: dict[Name, Share] = Field(min_length=1, max_length=MOST_SHARES)
    remaining: Share


class Manifest(Form):
    """All that says what the data of a view mean."""

    format: str
    version: int
    kind: str
    domain: list[dict[str, Any]] = Field(min_length=1, max_length=MOST_AXES)
    extras: dict[str, Any]
    facts: dict[str, Any]
    view_sha256: str = Field(pattern="^[0-9a-f]{64}$")


Some = TypeVar("Some", bound=Form)


def checked(form: type[Some], data: object, what: str) -> Some:
    """Return data of a form, or raise an InputError that names what is wrong with it."""
    try:
        return form.model_validate(data)
    except ValidationError as error:
        fault = first_fault(error)
        raise InputError(f"{what}: {fault}. Got {shown(fault.given)} instead.") from None


def check_facts(facts: Mapping[str, Any]) -> None:
    """Refuse facts that are too large, or whose budget could not be added up."""
    if len(json.dumps(facts)) > MOST_FACTS:
        raise InputError(f"The facts of the view are too long. They may have {MOST_FACTS:,} characters.")
    if not isinstance(facts.get("certificate", {}), dict):
        raise InputError("The certificate of the view is of no known form.")
    if "budget" in facts:
        shares = checked(Budget, facts["budget"], "The budget of the view").shares
        common = 1
        for share in shares.values():  # a sum of shares that have nothing in common would grow without end
            common = math.lcm(common, Fraction(share).denominator)
            if common > 10**MOST_DIGITS:
                raise InputError(
                    "The budget of the view: its shares have no common denominator worth the name."
                )


# -- Columns --------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Layout:
    """The columns of a view's data, in order, and how many rows it may have."""

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
    if rows * len(names) > MOST_VALUES:
        raise InputError(
            f"There are {rows:,} rows of {len(names):,} columns; {MOST_VALUES:,} values are the most."
        )
    if not any(layout.admits(names, rows) for layout in layouts):
        wanted = layouts[-1]
        raise InputError(
            f"The columns are not those of this kind of view, or too many rows or too few: {listed(list(names))} with "
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


def refuse_large(found: Floats, what: str, least: float = -MOST_COUNT) -> None:
    """Refuse numbers that are infinite, too large to count with, or below what they can be."""
    if not ((found >= least) & (found <= MOST_COUNT)).all():
        raise InputError(f"{what} has a number that is not from {least:g} to {MOST_COUNT:g}.")
