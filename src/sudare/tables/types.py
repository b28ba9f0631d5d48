"""The types in which values are kept: the schema alone decides on them, never a source or what happens to be in it."""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Sequence
from typing import Any

import polars as pl

from sudare.errors import InputError
from sudare.tables.attribute import Attribute, Bound, Kind
from sudare.tables.hierarchy import Hierarchy
from sudare.tables.recipes import FileRecipe, GroupsRecipe, TreeRecipe
from sudare.tables.text import spelled, spellings, text_of

STORED: dict[Kind, pl.DataType] = {
    "integer": pl.Int64(),
    "number": pl.Float64(),
    "text": pl.String(),
    "date": pl.Date(),
    "datetime": pl.Datetime("us"),
    "truth value": pl.Boolean(),
}
ZONED = pl.Datetime("us", "UTC")
MAX_VALUES = 100_000  # that a domain lists, or that are listed of bounds
LARGEST = 2**63 - 1

KINDS: dict[Kind, str] = {
    "integer": "a whole number",
    "number": "a number",
    "text": "text",
    "date": "a date (YYYY-MM-DD)",
    "datetime": "a date and time (YYYY-MM-DD HH:MM:SS)",
    "truth value": "true or false",
}


def stored_type(attribute: Attribute) -> pl.DataType | None:
    """Return the type in which an attribute's values are kept, if its schema says what they are.

    Times are in UTC if the declared bounds or values have a time zone, and else have none.

    >>> stored_type(Attribute(role="quasi", bounds=(0, 120))), stored_type(Attribute(role="quasi"))
    (Int64, None)
    """
    kind = attribute.kind
    if kind == "datetime" and any(_has_zone(value) for value in attribute.domain or attribute.bounds or ()):
        return ZONED
    return None if kind is None else STORED[kind]


def _has_zone(value: Any) -> bool:
    return isinstance(value, dt.datetime) and value.tzinfo is not None


# -- what the schema declares ------------------------------------------------------------------------


def lists_values(attribute: Attribute) -> bool:
    """Tell whether an attribute's values are declared one by one: by its domain or, without bounds, by a hierarchy that lists them.

    >>> from sudare.tables.hierarchy import Hierarchy
    >>> lists_values(Attribute(role="quasi", hierarchy=Hierarchy.groups({"Paris": "France"})))
    True
    """
    return attribute.domain is not None or (attribute.bounds is None and tells_its_values(attribute))


def tells_its_values(attribute: Attribute) -> bool:
    """Say whether a hierarchy alone says what values there are: it is ready-made, or lists them."""
    return isinstance(attribute.hierarchy, Hierarchy | FileRecipe | TreeRecipe | GroupsRecipe)


def declared_values(name: str, attribute: Attribute) -> pl.Series:
    """Return the values that an attribute is declared to have, in its type and in the declared order.

    >>> declared_values("n", Attribute(role="quasi", type="number", domain=(2, 1))).to_list()
    [2.0, 1.0]
    """
    domain, dtype = attribute.domain or (), stored_type(attribute)
    if attribute.domain is None:
        domain, dtype = _leaves(attribute), dtype or pl.String()
        if dtype != pl.String:
            domain = tuple(pl.Series(domain, dtype=pl.String).cast(dtype, strict=False).to_list())
    if len(domain) > MAX_VALUES:
        raise InputError(
            f"'{name}': its domain lists {len(domain):,} values, more than {MAX_VALUES:,}. Group them, or declare bounds."
        )
    values = None if dtype is None else written_as(domain, dtype)
    if values is None:
        raise InputError(
            f"'{name}': its domain has a value that is not {KINDS[attribute.kind or 'text']}, as its type says. Fix one of "
            "them in the schema."
        )
    return values.alias(name)


def _leaves(attribute: Attribute) -> tuple[str, ...]:
    """Return the values that a hierarchy lists."""
    recipe = attribute.hierarchy
    assert recipe is not None  # it lists values
    tree = recipe if isinstance(recipe, Hierarchy) else recipe.build(pl.Series([], dtype=pl.String))
    return tuple(leaf for leaf in tree.leaves if leaf is not None)


def written_as(domain: Sequence[Any], dtype: pl.DataType) -> pl.Series | None:
    """Return declared values in a type, or None if one of them cannot be written in it."""
    try:
        values = pl.Series(list(domain), strict=False).cast(dtype)
        fits = all(_same(a, b) for a, b in zip(values.to_list(), domain, strict=True))
    except (pl.exceptions.PolarsError, TypeError, OverflowError):
        return None
    return values if fits else None


def _same(kept: Any, declared: Any) -> bool:
    """Say whether a value is still the one that was declared: 1.0 for 1, "true" for true, midnight for a day."""
    if isinstance(kept, dt.date) and isinstance(declared, dt.date):
        return _moment(kept) == _moment(declared)
    if isinstance(kept, float) and not math.isfinite(kept):
        return False  # nothing equals NaN, and no file of plain data has infinity
    return (
        bool(kept == declared) or text_of(kept) in spellings(declared) or spelled(kept) == spelled(declared)
    )


def _moment(value: dt.date) -> dt.datetime:
    return value if isinstance(value, dt.datetime) else dt.datetime.combine(value, dt.time.min)


def misfit(bounds: tuple[Bound, Bound], dtype: pl.DataType) -> str | None:
    """Say why bounds are not of the kind of a type."""
    dates = isinstance(bounds[0], dt.date)
    if not (isinstance(dtype, pl.Date | pl.Datetime) if dates else dtype.is_numeric()):
        kind = "dates" if dates else "numbers"
        return f"its bounds are {kind}, but its values are {dtype}. Give it another type, or fix the bounds."
    zoned = any(_has_zone(end) for end in bounds)
    if zoned and isinstance(dtype, pl.Datetime) and dtype.time_zone is None:
        return "its bounds have a time zone, but its values have none. Give both one, or neither."
    return None


# -- what a source has -------------------------------------------------------------------------------


def other_kind(actual: pl.DataType, wanted: pl.DataType) -> str:
    """Say that values are of another kind than the schema says, and what to do."""
    kind = next(kind for kind, dtype in STORED.items() if type(dtype) is type(wanted))
    if isinstance(actual, pl.Datetime) and isinstance(wanted, pl.Datetime):
        some, other = ("values", "schema") if wanted.time_zone is None else ("schema", "values")
        return (
            f"the {some} have a time zone, but the {other} none. Give it bounds such as 2024-01-01T00:00:00Z, or take "
            "the time zone off the values."
        )
    return f"the schema says {KINDS[kind]}, but the values are {actual}. Fix one of them."


def cast(values: pl.Series, dtype: pl.DataType, *, clip: bool = False) -> pl.Series | None:
    """Return values in the type that the schema says, null where it does not have them; None if they are of another kind.

    With `clip`, a number beyond the whole numbers of 64 bits becomes the nearest of them.

    >>> cast(pl.Series([1.0, 2.5, 1e30]), pl.Int64()).to_list(), cast(pl.Series([1]), pl.Date())
    ([1, None, None], None)
    """
    if values.dtype == dtype:
        return values
    if dtype == pl.String:
        return pl.Series(values.name, [v if v is None else spelled(v) for v in values.to_list()], dtype=dtype)
    if dtype.is_numeric():
        if not values.dtype.is_numeric():
            return None
        return values.cast(dtype) if dtype.is_float() else _whole(values, clip=clip)
    if not isinstance(values.dtype, pl.Date | pl.Datetime):
        return None
    return _days(values) if dtype == pl.Date else _times(values, dtype)


def _whole(values: pl.Series, *, clip: bool) -> pl.Series:
    """Return numbers as whole numbers of 64 bits, null where they are not."""
    if values.dtype.is_decimal():
        whole = pl.Series(values.name, [_integral(v) for v in values.to_list()], dtype=pl.Int128)
        integers = whole.cast(pl.Int64, strict=False)
        beyond = whole.is_not_null() & integers.is_null()
    else:
        integers = values.cast(pl.Int64, strict=False)
        beyond = integers.is_null() & values.is_not_null()
        if values.dtype.is_float():
            integers = integers.set(integers.cast(values.dtype) != values, None)
            beyond = beyond & values.is_not_nan()
    return saturated(integers, beyond, values < 0) if clip else integers


def _integral(value: Any) -> int | None:
    return None if value is None or value != int(value) else int(value)


def saturated(integers: pl.Series, beyond: pl.Series, negative: pl.Series) -> pl.Series:
    """Put the nearest whole number of 64 bits where a number lies beyond them."""
    return integers.set(beyond & ~negative, LARGEST).set(beyond & negative, -LARGEST - 1)


def _days(values: pl.Series) -> pl.Series:
    """Return the days of times at midnight, by their own clock; null for other times."""
    clock = values if values.dtype == pl.Date else values.dt.replace_time_zone(None)
    days = clock.dt.date()
    return days.set(days.cast(clock.dtype) != clock, None)


def _times(values: pl.Series, dtype: pl.DataType) -> pl.Series | None:
    """Return times in microseconds, null where one has a part of them; a time zone must be in both or in neither."""
    if values.dtype == pl.Date:
        return values.cast(dtype) if dtype != ZONED else None
    if (values.dtype.time_zone is None) != (dtype != ZONED):  # type: ignore[attr-defined]
        return None
    moments = values.dt.convert_time_zone("UTC") if dtype == ZONED else values
    rounded = moments.cast(dtype)
    return rounded.set(rounded.cast(moments.dtype) != moments, None)
