"""The rows of a hierarchy (value, parent, ..., root) from files, trees and simple rules."""

from __future__ import annotations

import csv
import datetime as dt
import json
import math
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from sudare.errors import InputError, ParameterError
from sudare.tables.text import shown, text_of, texts_of

ROOT = "*"
Row = tuple[str, ...]


# -- files and trees -----------------------------------------------------------------------------


def read_csv_rows(path: Path, delimiter: str) -> tuple[list[Row], list[str]]:
    """Read ARX's format; return the rows and where each stands."""
    rows: list[Row] = []
    lines: list[str] = []
    with _opened(path) as file:
        reader = csv.reader(file, delimiter=delimiter)
        try:
            for row in reader:
                if row:
                    rows.append(tuple(row))
                    lines.append(f"{path.name}, line {reader.line_num}")
        except (UnicodeDecodeError, csv.Error) as error:
            raise InputError(f"{path}: cannot be read near line {reader.line_num + 1}: {error}.") from None
    if not rows:
        raise InputError(
            f"{path}: the hierarchy has no values. Give one line per value: the value, its parent, ..., the root."
        )
    return rows, lines


def read_tree(path: Path) -> Mapping[str, Any]:
    """Read a nested tree from a .json or .toml file."""
    try:
        with _opened(path) as file:
            text = file.read()
        tree = tomllib.loads(text) if path.suffix.lower() == ".toml" else json.loads(text)
    except ValueError as error:
        raise InputError(f"{path}: not a valid {path.suffix[1:].upper()} file: {error}.") from None
    if not isinstance(tree, dict):
        raise InputError(f"{path}: a tree starts with a mapping from a name to its children.")
    return tree


def _opened(path: Path) -> Any:
    try:
        return path.open(encoding="utf-8-sig", newline="")
    except OSError as error:
        raise InputError(f"{path}: the hierarchy cannot be opened: {error.strerror}.") from None


def tree_rows(tree: Mapping[str, Any]) -> list[Row]:
    """List the paths of a nested tree; several names at the top get one root above them."""
    above: Row = () if len(tree) == 1 else (ROOT,)
    return list(_descend(tree, above))


def _descend(node: Any, above: Row) -> Iterator[Row]:
    if isinstance(node, Mapping):
        for name, children in node.items():
            yield from _descend(children, (text_of(name), *above))
    elif isinstance(node, Sequence) and not isinstance(node, str):
        for child in node:
            if isinstance(child, Mapping):
                yield from _descend(child, above)
            else:
                yield (text_of(child), *above)
    else:
        raise InputError(
            f"Hierarchy: '{above[0]}' has {shown(node)} under it. Write a list of values or a mapping to children."
        )


# -- strings and dates ---------------------------------------------------------------------------


def mask_rows(values: list[str], pad: str | None) -> list[Row]:
    """Mask from the right, after padding on the left to equal width."""
    width = max((len(value) for value in values), default=0)
    if pad is None:
        pad = "0" if all(value.isdecimal() for value in values) else " "
    if len(pad) != 1:
        raise ParameterError(
            f"The 'pad' parameter of Hierarchy.mask must be one character. Got {pad!r} instead."
        )

    def path(value: str) -> Row:
        padded = value.rjust(width, pad)
        return (value, *(padded[: width - level] + ROOT * level for level in range(1, width + 1)))

    return [path(value) for value in values]


DATE_LABELS: dict[str, Callable[[dt.date], str]] = {
    "day": lambda day: f"{day.year:04d}-{day.month:02d}-{day.day:02d}",
    "month": lambda day: f"{day.year:04d}-{day.month:02d}",
    "quarter": lambda day: f"{day.year:04d}-Q{(day.month + 2) // 3}",
    "year": lambda day: f"{day.year:04d}",
    "decade": lambda day: f"{day.year // 10:03d}0s",
}


def date_rows(values: pl.Series, levels: Sequence[str]) -> list[Row]:
    """Truncate dates or times to coarser and coarser parts."""
    if list(levels) != [name for name in DATE_LABELS if name in levels] or not levels:
        raise ParameterError(
            "The 'levels' parameter of Hierarchy.dates must be some of day, month, quarter, year, decade, "
            f"finest first. Got {list(levels)} instead."
        )
    if not isinstance(values.dtype, pl.Date | pl.Datetime):
        raise InputError(
            f"Hierarchy.dates needs dates; these values are {values.dtype}. Give them type 'date'."
        )
    labels = [DATE_LABELS[level] for level in levels]
    return [(text_of(value), *(label(value) for label in labels), ROOT) for value in values.to_list()]


# -- numbers -------------------------------------------------------------------------------------


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
    if fanout < 2:
        raise ParameterError(
            f"The 'fanout' parameter of Hierarchy.intervals must be 2 or more. Got {fanout} instead."
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


# An interval is named by the numbers of its first and its last base interval.
Label = Callable[[int, int], str]


def _equal_width(numbers: np.ndarray[Any, Any], width: float, origin: float) -> tuple[list[int], Label]:
    """Limits are exact decimals, and a number lies where its own decimals say: 0.3 in [0.3, 0.4)."""
    if not (width > 0 and math.isfinite(width)):
        raise ParameterError(
            f"The 'width' parameter of Hierarchy.intervals must be above 0. Got {width} instead."
        )
    if not math.isfinite(origin):
        raise ParameterError(
            f"The 'origin' parameter of Hierarchy.intervals must be a number. Got {origin} instead."
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
        rising = all(a < b for a, b in pairwise(cuts)) and all(math.isfinite(cut) for cut in cuts)
        if len(cuts) == 0 or not rising:
            raise ParameterError(
                f"The 'cuts' parameter of Hierarchy.intervals must be rising numbers. Got {list(cuts)} instead."
            )
        return np.asarray(cuts, dtype=np.float64)
    if quantiles is None or quantiles < 2:
        raise ParameterError(
            f"The 'quantiles' parameter of Hierarchy.intervals must be 2 or more. Got {quantiles} instead."
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
