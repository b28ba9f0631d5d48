"""Recounting what a randomized table promises, from its published law alone.

Written anew from the definitions: every ratio of probabilities of every output is looked at. Nothing here comes
from `randomization`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import numpy as np
import polars as pl

from sudare.errors import InputError
from sudare.tables.text import shown, text_of

PART = 256  # columns compared with all others at a time


def promised(frame: pl.DataFrame, plan: Mapping[str, Any]) -> tuple[float, float, str]:
    """Return the epsilon and the spread of a record, and the law that uses most of it."""
    laws = plan["attributes"]
    columns = _columns(laws)
    if extra := [name for name in frame.columns if name not in columns]:
        raise InputError(f"The output has the column '{extra[0]}', for which no law is published.")
    if absent := [name for name in columns if name not in frame.columns]:
        raise InputError(f"A law is published for the column '{absent[0]}', which the output does not have.")
    for name, law in columns.items():
        _within(frame[name], law)
    found = {name: _law(name, law) for name, law in laws.items()}
    spent = plan.get("estimates", {}).values()
    if not all(math.isfinite(one) and one >= 0 for one in spent):
        raise InputError("The law spends an amount on estimates that is no number of 0 or more.")
    estimates = math.fsum(spent)
    worst = max(found, key=lambda name: found[name][1])
    epsilon = math.fsum(epsilon for epsilon, _ in found.values()) + estimates
    return epsilon, math.fsum(spread for _, spread in found.values()) + 2 * estimates, worst


def _columns(laws: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    """Return what is said of the values of every column; a law may speak of several columns, but no two of one."""
    found: dict[str, Mapping[str, Any]] = {}
    for name, law in laws.items():
        for column, values in law.get("columns", {name: law}).items():
            if column in found:
                raise InputError(f"Two laws speak of the column '{column}'. Which of them holds is not told.")
            if "columns" in law and "values" not in values:
                raise InputError(f"The law of '{name}' does not name the values of '{column}'.")
            found[column] = values
    return found


def _law(name: str, law: Mapping[str, Any]) -> tuple[float, float]:
    """Return the epsilon and the spread of one law."""
    kinds = [kind for kind in ("scale", "flips", "retention", "matrix") if kind in law]
    if len(kinds) != 1 or (("steps" in law) == ("values" in law or "columns" in law)):
        raise InputError(f"The law of '{name}' is of no known kind.")
    if "scale" in law:  # on a grid: its ends are farthest apart, and every grid point between adds a factor
        if Fraction(law["scale"]) <= 0:
            raise InputError(f"The law of '{name}' has noise of no scale.")
        width = Fraction(_size(law) - 1) / Fraction(law["scale"])
        return float(width), float(2 * width)
    if "flips" in law:
        if not 0 < law["flips"] < 1:
            raise InputError(
                f"The law of '{name}' flips bits with a probability that is not between 0 and 1."
            )
        bits = max(1, (_size(law) - 1).bit_length())
        one = abs(math.log((1 - law["flips"]) / law["flips"]))
        return bits * one, 2 * bits * one
    if "retention" in law:
        keep = np.array(law["retention"], dtype=np.float64)
        if len(keep) != _size(law) or not ((keep >= 0) & (keep <= 1)).all():
            raise InputError(
                f"The law of '{name}' must have a probability to be kept for each of its values."
            )
        return _retention(keep)
    matrix = np.array(law["matrix"], dtype=np.float64)
    if matrix.shape != (_size(law), _size(law)) or not np.isfinite(matrix).all():
        raise InputError(f"The matrix of '{name}' must have a row and a column for each of its values.")
    return _matrix(matrix)


def _size(law: Mapping[str, Any]) -> int:
    """Return how many values a law knows: grid points, values, or combinations of the values of several columns."""
    if "steps" in law:
        return int(law["steps"]) + 1
    if "columns" in law:
        return math.prod(len(column["values"]) for column in law["columns"].values())
    return len(law["values"])


def _within(column: pl.Series, law: Mapping[str, Any]) -> None:
    """Refuse a column with values that its law cannot produce."""
    if "values" in law:
        found = column.unique().to_list()
        known = set(law["values"])
        for value in found:
            if (law.get("missing") if value is None else text_of(value)) not in known:
                what = "a missing value" if value is None else shown(text_of(value))
                raise InputError(f"Column '{column.name}' holds {what}, which its law cannot produce.")
        return
    if "steps" not in law:
        raise InputError(f"The law of '{column.name}' is of no known kind.")
    numbers = _numbers(column)
    if numbers is None or numbers.null_count():
        raise InputError(f"Column '{column.name}' must hold numbers or dates, as its law says.")
    low, high = law["low"], law["low"] + law["step"] * law["steps"]
    slack = 1e-9 * max(abs(low), abs(high), 1.0)
    if not numbers.is_between(low - slack, high + slack).all():
        raise InputError(
            f"Column '{column.name}' holds a value outside [{low:g}, {high:g}], which its law cannot produce."
        )


def _numbers(column: pl.Series) -> pl.Series | None:
    """Return numbers as they are, days and seconds since 1970 for dates; texts (of a CSV file) as what they look like."""
    if column.dtype == pl.String:
        for read in (
            column.cast(pl.Float64, strict=False),
            column.str.to_date("%Y-%m-%d", strict=False),
            column.str.to_datetime("%Y-%m-%dT%H:%M:%S%.f", strict=False),
        ):
            if not read.null_count():
                return _numbers(read)
        return None
    if column.dtype == pl.Date:
        return column.to_physical().cast(pl.Float64)
    if column.dtype.is_temporal():
        return column.dt.epoch("us").cast(pl.Float64) / 1e6
    return column.cast(pl.Float64)


def _retention(keep: np.ndarray[Any, Any]) -> tuple[float, float]:
    """Compare all pairs of columns of the matrix that keeps value j with keep[j], and else takes any other.

    Columns that keep alike are compared once, a value's own column only with itself.
    """
    d = len(keep)
    if d == 1:
        return 0.0, 0.0
    alike, times = np.unique(keep, return_counts=True)
    keep = np.repeat(alike, np.minimum(times, 2))
    other = (1 - keep) / (d - 1)
    epsilon, spread = 0.0, 0.0
    with np.errstate(divide="ignore", invalid="ignore"):
        for start in range(0, len(keep), PART):
            u = slice(start, start + PART)
            ratios = [keep[u, None] / other, other[u, None] / keep]
            if d > 2:
                ratios.append(other[u, None] / other)
            logs = np.log(np.stack(ratios))
            logs[:, np.arange(len(keep[u])), np.arange(start, start + len(keep[u]))] = (
                0.0  # a column and itself
            )
            logs = np.nan_to_num(logs, nan=0.0, posinf=np.inf, neginf=-np.inf)  # 0/0: neither can come out
            epsilon = max(epsilon, float(np.abs(logs).max()))
            spread = max(spread, float((logs.max(axis=0) - logs.min(axis=0)).max()))
    return epsilon, spread


def _matrix(matrix: np.ndarray[Any, Any]) -> tuple[float, float]:
    """Compare all pairs of columns."""
    if (matrix < 0).any() or (abs(matrix.sum(axis=0) - 1) > 1e-9).any():
        raise InputError("A published matrix has a column that is no distribution.")
    epsilon, spread = 0.0, 0.0
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.log(matrix)
        for u in range(matrix.shape[1]):
            ratios = np.nan_to_num(logs[:, [u]] - logs, nan=0.0, posinf=np.inf, neginf=-np.inf)
            epsilon = max(epsilon, float(np.abs(ratios).max()))
            spread = max(spread, float((ratios.max(axis=0) - ratios.min(axis=0)).max()))
    return epsilon, spread
