"""Recounting what a randomized table promises, from its published law alone.

Written anew from the definitions: every ratio of probabilities of every output is looked at. Nothing here comes
from `randomization`.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import polars as pl

from sudare.errors import InputError, RequirementError
from sudare.plans.law import LawForm, TableLaw, Values
from sudare.tables.text import shown, text_of

TOLERANCE = 1e-6  # relative: how far figures are off that were computed in another order
PART = 256  # columns compared with all others at a time


def promised(
    published: Sequence[str], values_of: Callable[[str], pl.Series], table: TableLaw
) -> tuple[float, float, str]:
    """Return the epsilon and the spread of a record, and the law that uses most of it.

    `published` are the columns of the output, and `values_of` tells what is in one.
    """
    columns = table.columns()
    if extra := [name for name in published if name not in columns]:
        raise InputError(f"The output has the column '{extra[0]}', for which no law is published.")
    if absent := [name for name in columns if name not in published]:
        raise InputError(f"A law is published for the column '{absent[0]}', which the output does not have.")
    for name, law in table.attributes.items():
        for column, values in law.values_by_column(name).items():
            _within(values_of(column), law, values)
    of_law = {name: _epsilon_and_spread(law) for name, law in table.attributes.items()}
    estimates = math.fsum(table.estimates.values())
    worst = max(of_law, key=lambda name: of_law[name][1])
    epsilon = math.fsum(epsilon for epsilon, _ in of_law.values()) + estimates
    return epsilon, math.fsum(spread for _, spread in of_law.values()) + 2 * estimates, worst


def refuse_better(table: TableLaw, records: int, recounted: Mapping[str, float]) -> None:
    """Refuse a law that says of itself better figures than were recounted, or speaks of other records."""
    if table.records != records:
        raise RequirementError(
            f"The law speaks of {table.records:,} records, but the output has {records:,}. Do not rely on it."
        )
    if not {"epsilon", "pk"} <= set(recounted):
        raise RequirementError("The certificate of a randomized table promises something else than its law.")
    figures = [("epsilon", table.epsilon, recounted["epsilon"]), ("pk", -table.pk, -recounted["pk"])]
    for name, law in table.attributes.items():
        own_epsilon, own_spread = _epsilon_and_spread(law)
        figures += [
            (f"epsilon of {shown(name)}", law.epsilon, own_epsilon),
            (f"spread of {shown(name)}", law.spread, own_spread),
        ]
    for what, claimed, own in figures:
        if claimed < own - TOLERANCE * max(abs(own), 1e-6):
            raise RequirementError(
                f"The law claims {what} = {abs(claimed):g}, but its probabilities give {abs(own):g}. Do not rely on it."
            )


def _epsilon_and_spread(law: LawForm) -> tuple[float, float]:
    """Return the epsilon and the spread of one law."""
    if law.axes is not None:
        widest = _widest(law)
        return widest, 2 * widest
    if (
        law.scale is not None
    ):  # on a grid: its ends are farthest apart, and every grid point between adds a factor
        width = Fraction(law.size - 1) / Fraction(law.scale)
        return float(width), float(2 * width)
    if law.flips is not None:
        bits = max(1, (law.size - 1).bit_length())
        one = abs(math.log((1 - law.flips) / law.flips))
        return bits * one, 2 * bits * one
    if law.retention is not None:
        return _retention(np.array(law.retention))
    if law.weights is not None:
        return _weights(np.array(law.weights), law.ratio or 1.0)
    return _matrix(np.array(law.matrix))


def _within(column: pl.Series, law: LawForm, values: Values | None) -> None:
    """Refuse a column with values that its law cannot produce."""
    if values is not None:
        if column.dtype.is_nested() or column.dtype in (pl.Binary, pl.Object):
            raise InputError(f"Column '{column.name}' holds {column.dtype}, which its law cannot produce.")
        known = set(values.values)
        for value in column.unique().to_list():
            if (values.missing if value is None else text_of(value)) not in known:
                what = "a missing value" if value is None else shown(text_of(value))
                raise InputError(f"Column '{column.name}' holds {what}, which its law cannot produce.")
        return
    numbers, grid = _numbers(column), law.grid_of(column.name)
    if numbers is None or numbers.null_count() or grid is None:
        raise InputError(f"Column '{column.name}' must hold numbers or dates, as its law says.")
    low, high = grid.low, grid.high
    if law.logarithm:
        low, high = math.exp(low), math.exp(high)
    tolerance = 1e-9 * max(abs(low), abs(high), 1.0)
    if not numbers.is_between(low - tolerance, high + tolerance).all():
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
    if isinstance(column.dtype, pl.Datetime):
        return column.dt.epoch("us").cast(pl.Float64) / 1e6
    return column.cast(pl.Float64) if column.dtype.is_numeric() else None


def _widest(law: LawForm) -> float:
    """Return how far two points of an area are apart at most, in scales of its noise: by linear programs, one along each diagonal.

    Points are rounded to the grid, so that its faces are looser by half a step along each axis, and a little more. Every axis goes
    from 0 to 1 here, so that no small coefficient matters that a solver might take for 0.
    """
    from scipy.optimize import linprog  # it takes long to load

    axes = list((law.axes or {}).values())
    faces = np.array(law.faces or np.empty((0, len(axes) + 1)))
    widths = np.array([axis.step * axis.steps for axis in axes])
    with np.errstate(over="ignore", invalid="ignore"):
        slopes = faces[:, :-1] * widths
        room = np.abs(slopes / [axis.steps for axis in axes]).sum(axis=1) / 2 * (1 + 2.0**-10)
        most = faces[:, -1] - faces[:, :-1] @ np.array([axis.low for axis in axes]) + room
        size = np.abs(slopes).max(axis=1, initial=np.finfo(np.float64).tiny)
        sides, ends = slopes / size[:, None], most / size
    scales = np.array([float(Fraction(axis.steps) / Fraction(axis.scale)) for axis in axes])
    if not all(np.isfinite(one).all() for one in (sides, ends, scales)):
        raise InputError("A law is over an area whose faces are too steep, or too far away, to compute with.")
    widest = 0.0
    for signs in itertools.product((1.0, -1.0), repeat=len(axes) - 1):
        along = np.array([1.0, *signs]) * scales / scales.max()
        found = [linprog(way * along, sides, ends, bounds=(0.0, 1.0)) for way in (1, -1)]
        if not all(one.success for one in found):
            raise InputError(
                "A law is over an area in which there is no point, or whose width cannot be computed."
            )
        widest = max(widest, -float(sum(one.fun for one in found)) * float(scales.max()))
    return widest


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


def _weights(weights: np.ndarray[Any, Any], ratio: float) -> tuple[float, float]:
    """Compare columns of the matrix that takes an output by its weight, the own one's times a ratio, over their sum.

    Columns of equal weights are compared once, with each other. The output u has the ratio x (c_v / c_u) for the values u and v, v has
    (c_v / c_u) / x and any other c_v / c_u, as far as they come out.
    """
    alike, times = np.unique(weights, return_counts=True)
    kinds = np.repeat(alike, np.minimum(times, 2))
    sums, come_out = np.log(weights.sum() + (ratio - 1) * kinds), int((weights > 0).sum())
    epsilon, spread, x = 0.0, 0.0, math.log(ratio)
    for start in range(0, len(kinds), PART):
        u, own = np.arange(start, min(start + PART, len(kinds))), kinds[start : start + PART] > 0
        between = sums - sums[u, None]
        outputs = [
            (between + x, np.broadcast_to(own[:, None], between.shape)),
            (between - x, np.broadcast_to(kinds > 0, between.shape)),
            (between, come_out - own[:, None].astype(int) - (kinds > 0) > 0),
        ]
        logs = np.stack([np.where(there, one, np.nan) for one, there in outputs])
        logs[:, np.arange(len(u)), u] = 0.0  # a column and itself
        epsilon = max(epsilon, float(np.nanmax(np.abs(logs))))
        spread = max(spread, float((np.nanmax(logs, axis=0) - np.nanmin(logs, axis=0)).max()))
    return epsilon, spread


def _matrix(matrix: np.ndarray[Any, Any]) -> tuple[float, float]:
    """Compare all pairs of columns."""
    epsilon, spread = 0.0, 0.0
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.log(matrix)
        for u in range(matrix.shape[1]):
            ratios = np.nan_to_num(logs[:, [u]] - logs, nan=0.0, posinf=np.inf, neginf=-np.inf)
            epsilon = max(epsilon, float(np.abs(ratios).max()))
            spread = max(spread, float((ratios.max(axis=0) - ratios.min(axis=0)).max()))
    return epsilon, spread
