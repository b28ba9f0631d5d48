"""Axes in a file: each a type that a schema can declare, and values or bins that it can have."""

from __future__ import annotations

import datetime as dt
import math
import sys
from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl
from pydantic import Field

from sudare.errors import InputError
from sudare.pview.axis import Axis
from sudare.pview.saved import MAX_AXES, MAX_DOMAIN_CELLS, Form, Name
from sudare.tables.faults import checked
from sudare.tables.numbers import EPOCH
from sudare.tables.text import PATTERN, is_pattern, shown, text_of
from sudare.tables.types import ZONED

TYPES: dict[tuple[str, ...], pl.DataType] = {
    **{(str(dtype),): dtype for dtype in (pl.Int64(), pl.Float64(), pl.String(), pl.Boolean(), pl.Date())},
    (str(pl.Datetime("us")),): pl.Datetime("us"),
    ("Datetime", "us", "UTC"): ZONED,
}
"""The types that a schema can declare, by their names in a file."""
PLAIN: dict[str, tuple[type, ...]] = {"Int64": (int,), "Float64": (int, float), "Boolean": (bool,)}
"""As what values stand in a file; others are texts."""
DAYS = float(dt.date.min.toordinal() - EPOCH.toordinal()), float(dt.date.max.toordinal() - EPOCH.toordinal())
SECONDS = 86400 * DAYS[0], 86400 * (DAYS[1] + 1)
ENDS: dict[pl.DataType, tuple[float, float]] = {
    pl.Int64(): (-(2.0**53), 2.0**53),  # beyond, floats no longer tell whole numbers apart
    pl.Float64(): (-sys.float_info.max, sys.float_info.max),
    pl.Date(): DAYS,
    pl.Datetime("us"): SECONDS,
    ZONED: SECONDS,
}
"""Between what bins can lie."""


def axis_to_json(axis: Axis) -> dict[str, Any]:
    """Return an axis as plain data."""
    data: dict[str, Any] = {"name": axis.name, **_type_to_json(axis.dtype), "missing": axis.missing}
    if axis.values is None:
        return data | {"low": axis.low, "high": axis.high, "bins": axis.bins}
    plain = axis.dtype.is_integer() or axis.dtype.is_float() or axis.dtype in (pl.String, pl.Boolean)
    return data | {"values": list(axis.values) if plain else [text_of(v) for v in axis.values]}


def _type_to_json(dtype: pl.DataType) -> dict[str, Any]:
    if dtype == ZONED:
        return {"type": "Datetime", "of": [ZONED.time_unit, ZONED.time_zone]}
    return {"type": str(dtype)}


class AxisForm(Form):
    """One attribute: its values, or bins between two numbers."""

    name: Name
    type: str
    of: list[str] = Field(default_factory=list)
    missing: bool
    values: list[bool | int | float | str] | None = Field(
        default=None, min_length=1, max_length=MAX_DOMAIN_CELLS
    )
    low: float | None = None
    high: float | None = None
    bins: int | None = Field(default=None, ge=1, le=MAX_DOMAIN_CELLS)

    @property
    def cells(self) -> int:
        """How many cells it has, but for one for missing values."""
        return (self.bins if self.values is None else len(self.values)) or 0

    @property
    def dtype(self) -> pl.DataType:
        """The type of its values."""
        key = (self.type, *self.of)
        if key not in TYPES:
            raise InputError(f"'{self.name}' of the p-view has no known type: {shown(' '.join(key))}.")
        return TYPES[key]


def refuse_large_domain(axes: int, cells: int) -> None:
    """Refuse too many attributes, or too many cells of all of them together."""
    if not 1 <= axes <= MAX_AXES:
        raise InputError(f"A p-view has 1 to {MAX_AXES:,} attributes. Got {axes:,} instead. Drop some.")
    if cells > MAX_DOMAIN_CELLS:
        raise InputError(
            f"The attributes of the p-view have {cells:,} cells together; {MAX_DOMAIN_CELLS:,} are the most. Declare fewer bins or values."
        )


def axes_from_json(axes: Sequence[object]) -> tuple[Axis, ...]:
    """Read the attributes of a p-view, if they are not too many, nor have too many cells together."""
    forms = [checked(AxisForm, axis, "An attribute of the p-view") for axis in axes]
    refuse_large_domain(len(forms), sum(form.cells for form in forms))  # before any of it is laid out
    if len({form.name for form in forms}) < len(forms):
        raise InputError("Two attributes of the p-view have one name.")
    if patterns := [form.name for form in forms if is_pattern(form.name)]:
        raise InputError(f"No attribute of a p-view can be called {shown(patterns[0])}: {PATTERN}.")
    return tuple(_axis_of(form) for form in forms)


def _axis_of(form: AxisForm) -> Axis:
    """Take what a file says, and refuse what no axis can be."""
    ends = (form.low, form.high, form.bins)
    if form.values is not None and ends == (None, None, None):
        values = _values_of(form.values, form.dtype, form.name)
        return Axis(form.name, form.dtype, values, missing=form.missing)
    if form.values is not None or form.low is None or form.high is None or form.bins is None:
        raise InputError(f"'{form.name}' of the p-view must have either values, or low, high and bins.")
    _refuse_wrong_ends(form.low, form.high, form.dtype, form.name)
    axis = Axis(form.name, form.dtype, None, form.low, form.high, form.bins, form.missing)
    if not (np.diff(axis.edges()) > 0).all():
        raise InputError(f"'{form.name}' of the p-view has bins without a width.")
    return axis


def _values_of(values: Sequence[Any], dtype: pl.DataType, name: str) -> tuple[Any, ...]:
    """Read the values of an attribute, each of its type, no two alike."""
    kinds = PLAIN.get(str(dtype), (str,))
    try:
        if not all(type(value) in kinds for value in values):
            raise ValueError
        if dtype.is_temporal():
            moment = dt.date if dtype == pl.Date else dt.datetime
            values = [moment.fromisoformat(value) for value in values]
            zone = dt.timedelta(0) if dtype == ZONED else None
            if dtype != pl.Date and any(value.utcoffset() != zone for value in values):
                raise ValueError
        typed = tuple(pl.Series(values, dtype=dtype).to_list())
    except (ValueError, OverflowError, TypeError, pl.exceptions.PolarsError):
        raise InputError(f"'{name}' of the p-view has a value that is no {dtype}.") from None
    if len(set(typed)) < len(typed):
        raise InputError(f"'{name}' of the p-view has a value twice.")
    return typed


def _refuse_wrong_ends(low: float, high: float, dtype: pl.DataType, name: str) -> None:
    """Refuse bins of a type that has none, or between ends that the type does not have."""
    least, most = ENDS.get(dtype, (math.inf, -math.inf))
    whole = dtype.is_integer() or dtype == pl.Date
    if not (least <= low < high <= most and math.isfinite(high - low)) or (
        whole and not (low.is_integer() and high.is_integer())
    ):
        raise InputError(
            f"'{name}' of the p-view has bins from {low:g} to {high:g}, which {dtype} cannot have."
        )
