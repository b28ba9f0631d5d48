"""The rows of a hierarchy of numbers: intervals, groups of equal size, cut tops and bottoms, fewer digits."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from decimal import Context, Decimal, localcontext
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
import polars as pl

from sudare.errors import InputError, ParameterError
from sudare.tables.paths import ROOT, Row
from sudare.tables.text import shown, text_of, texts_of

MAX_QUANTILES = 10_000
MAX_FANOUT = 10**6
MAX_DIGITS = 17
"""To which numbers are rounded; a float has no more."""


def interval_rows(
    values: pl.Series,
    width: float | None,
    quantiles: int | None,
    cuts: Sequence[float] | None,
    fanout: int,
    origin: float,
) -> list[Row]:
    """Put numbers into intervals that merge, `fanout` at a time, up to the root."""
    if sum(choice is not None for choice in (width, quantiles, cuts)) != 1:
        raise ParameterError("Hierarchy.intervals needs exactly one of width, quantiles and cuts.")
    if not 2 <= fanout <= MAX_FANOUT:
        raise ParameterError(
            f"The 'fanout' parameter of Hierarchy.intervals must be from 2 to {MAX_FANOUT:,}. Got {shown(fanout)} "
            "instead."
        )
    if not values.dtype.is_numeric():
        raise InputError(
            f"Hierarchy.intervals needs numbers; these values are {values.dtype}. Give them type 'number'."
        )
    numbers = values.to_numpy().astype(np.float64)
    if len(numbers) == 0:
        raise InputError("Hierarchy.intervals has no values to put into intervals.")
    if not np.isfinite(numbers).all():
        raise InputError("Hierarchy.intervals needs finite numbers; NaN or infinity is among the values.")
    if width is not None:
        index, label = _equal_width(numbers, width, origin)
    else:
        index, label = _between_cuts(numbers, _cut_points(numbers, quantiles, cuts))
    paths = _climb(index, label, fanout)
    rows = [(text, *path) for text, path in zip(texts_of(values), paths, strict=True)]
    return list(dict.fromkeys(rows))


def top_bottom_rows(
    values: pl.Series, low: float | None, high: float | None, width: float | None, fanout: int
) -> list[Row]:
    """Put what lies below or above into one group each, at the first level; what lies between goes into intervals then."""
    if low is None and high is None:
        raise ParameterError("Hierarchy.top_bottom needs low, high or both.")
    if not all(end is None or abs(end) <= sys.float_info.max for end in (low, high)):
        raise ParameterError(
            "The 'low' and 'high' parameters of Hierarchy.top_bottom must be finite numbers."
        )
    if low is not None and high is not None and not low < high:
        raise ParameterError(
            f"The 'low' parameter of Hierarchy.top_bottom must be below 'high'. Got {low:g} and {high:g}."
        )
    if not values.dtype.is_numeric():
        raise InputError(
            f"Hierarchy.top_bottom needs numbers; these values are {values.dtype}. Give them type 'number'."
        )
    values = values.unique().sort()
    below = pl.repeat(False, len(values), eager=True) if low is None else values < low
    above = pl.repeat(False, len(values), eager=True) if high is None else values >= high
    inside = values.filter(~(below | above))
    between: list[Row] = [(text, text, ROOT) for text in texts_of(inside)]
    if width is not None and len(inside):
        origin = next(end for end in (low, high) if end is not None)
        rows = interval_rows(inside, width, None, None, fanout, origin)
        between = [(text, text, *(_cut_off(label, high) for label in path)) for text, *path in rows]
    depth = max((len(row) for row in between), default=3) - 2
    ends = [
        (values.filter(below), f"< {_number(low or 0)}"),
        (values.filter(above), f">= {_number(high or 0)}"),
    ]
    outer = [(text, *[label] * depth, ROOT) for own, label in ends for text in texts_of(own)]
    return [*outer, *between]


def _cut_off(label: str, high: float | None) -> str:
    """Let an interval end where the upper end begins."""
    if label == ROOT or high is None:
        return label
    start, end = label[1:-1].split(", ")
    return label if Fraction(end) <= Fraction(str(high)) else f"[{start}, {_number(high)})"


def digit_rows(values: pl.Series, digits: int, root: float | None) -> list[Row]:
    """Round numbers to fewer and fewer significant digits; what a number becomes depends on no other one.

    A root that is a number is written with an exponent, as no other label is, so that it cannot be taken for one.
    """
    if not 1 <= digits <= MAX_DIGITS:
        raise ParameterError(
            f"The 'digits' parameter of Hierarchy.digits must be from 1 to {MAX_DIGITS}. Got {shown(digits)} instead."
        )
    if root is not None and not abs(root) <= sys.float_info.max:
        raise ParameterError(
            f"The 'root' parameter of Hierarchy.digits must be a number. Got {shown(root)} instead."
        )
    if not values.dtype.is_numeric():
        raise InputError(
            f"Hierarchy.digits needs numbers; these values are {values.dtype}. Give them type 'number'."
        )
    top = ROOT if root is None else f"{Decimal(str(root)).normalize():e}"
    rows = [(text_of(value), *_rounded(value, digits), top) for value in values.to_list()]
    return list(dict.fromkeys(rows))


def _rounded(value: float | Decimal, digits: int) -> Iterator[str]:
    """Round a number to so many digits, what is left to one less, and so on: groups must lie within groups."""
    number = Decimal(text_of(value))
    if not number.is_finite():
        raise InputError("Hierarchy.digits needs finite numbers; NaN or infinity is among the values.")
    for precision in range(digits, 0, -1):
        number = Context(prec=precision).plus(number)
        yield f"{number.normalize():f}" if number else "0"


# An interval is named by the numbers of its first and its last base interval.
Label = Callable[[int, int], str]


def _equal_width(numbers: np.ndarray[Any, Any], width: float, origin: float) -> tuple[list[int], Label]:
    """Limits are exact decimals, and a number lies where its own decimals say: 0.3 in [0.3, 0.4)."""
    if not 0 < width <= sys.float_info.max:
        raise ParameterError(
            f"The 'width' parameter of Hierarchy.intervals must be above 0. Got {shown(width)} instead."
        )
    if not abs(origin) <= sys.float_info.max:
        raise ParameterError(
            f"The 'origin' parameter of Hierarchy.intervals must be a number. Got {shown(origin)} instead."
        )
    position = np.floor((numbers - origin) / width)
    if np.abs(position).max() > 2**53:
        raise ParameterError(
            f"The 'width' parameter of Hierarchy.intervals is too small for these numbers: {width}."
        )
    index = position.astype(np.int64)
    start, step = Fraction(str(origin)), Fraction(str(width))

    def limits(index: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        known, where = np.unique(index, return_inverse=True)
        return np.array([float(start + i * step) for i in known.tolist()])[where]

    index -= numbers < limits(index)  # the division above has rounded
    index += numbers >= limits(index + 1)

    def label(first: int, last: int) -> str:
        return f"[{_decimal(start + first * step)}, {_decimal(start + (last + 1) * step)})"

    return index.tolist(), label


def _cut_points(
    numbers: np.ndarray[Any, Any], quantiles: int | None, cuts: Sequence[float] | None
) -> np.ndarray[Any, Any]:
    if cuts is not None:
        rising = all(a < b for a, b in pairwise(cuts)) and all(abs(cut) <= sys.float_info.max for cut in cuts)
        if len(cuts) == 0 or not rising:
            raise ParameterError(
                f"The 'cuts' parameter of Hierarchy.intervals must be rising numbers. Got {list(cuts)} instead."
            )
        return np.asarray(cuts, dtype=np.float64)
    if quantiles is None or not 2 <= quantiles <= MAX_QUANTILES:
        raise ParameterError(
            f"The 'quantiles' parameter of Hierarchy.intervals must be from 2 to {MAX_QUANTILES:,}. Got "
            f"{shown(quantiles)} instead."
        )
    shares = np.arange(1, quantiles) / quantiles
    return np.unique(np.quantile(numbers, shares, method="higher"))


def _between_cuts(numbers: np.ndarray[Any, Any], cuts: np.ndarray[Any, Any]) -> tuple[list[int], Label]:
    index = np.searchsorted(cuts, numbers, side="right")

    def label(first: int, last: int) -> str:
        if first == 0:
            return f"< {_number(cuts[last])}"
        if last >= len(cuts):
            return f">= {_number(cuts[first - 1])}"
        return f"[{_number(cuts[first - 1])}, {_number(cuts[last])})"

    return index.tolist(), label


def _climb(index: list[int], label: Label, fanout: int) -> list[Row]:
    """Return each number's path above itself. Groups are counted from base interval 0, so that
    [20, 30) and [30, 40) merge alike whatever the data."""
    low, high = min(index), max(index)
    paths: list[list[str]] = [[] for _ in index]
    span = 1
    while True:
        for path, base in zip(paths, index, strict=True):
            first = base // span * span
            path.append(label(first, first + span - 1))
        if (low // span, high // span) == (-1, 0):  # either side of the origin: they merge only at the root
            break
        span *= fanout
        if low // span == high // span:
            break
    return [(*path, ROOT) for path in paths]


def _number(value: float) -> str:
    return str(int(value)) if float(value).is_integer() else repr(float(value))


def _decimal(value: Fraction) -> str:
    """Write a fraction of tenths, hundredths, ... in full."""
    if value.denominator == 1:
        return str(value.numerator)
    with localcontext(prec=400):
        return f"{Decimal(value.numerator) / value.denominator:f}"
