"""A question to a p-view, and its answer: counts with intervals, for all records or for groups of them."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sudare.errors import InputError
from sudare.pview.conditions import Comparison, Condition, Every, products_of
from sudare.pview.domain import Axis
from sudare.pview.pview import PView
from sudare.utility.intervals import REACH

MAX_ROWS = 10**6

Floats = NDArray[np.float64]
Codes = NDArray[Any]

COMPARED: dict[str, Callable[[Floats, Any], Any]] = {
    "=": operator.eq, "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge,
}  # fmt: skip


@dataclass(frozen=True)
class Order:
    """By what an answer is ordered: the values of an axis, or the count (None)."""

    axis: int | None
    falling: bool
    nulls_first: bool


@dataclass(frozen=True)
class Question:
    """What is asked: the columns of the answer (an axis, or None for the count, and a name), and of whom."""

    columns: Sequence[tuple[int | None, str]]
    where: Condition = True
    by: Sequence[int] = ()
    having: Condition = True
    """Tests of the count."""
    order: Sequence[Order] = ()
    limit: int | None = None

    @property
    def count(self) -> str:
        """What the count is called in the answer."""
        return next(name for axis, name in self.columns if axis is None)


def ask(pview: PView, question: Question) -> pl.DataFrame:
    """Answer a question, one row per group that its condition does not exclude."""
    axes = [pview.domain.axes[axis] for axis in question.by]
    if math.prod(axis.size for axis in axes) > MAX_ROWS:
        raise InputError(f"The answer would have more than {MAX_ROWS:,} rows. Group by fewer attributes.")
    parts = products_of(question.where, pview.domain)
    cells, counts = _counted(pview, parts, question.by)
    chosen = np.flatnonzero(_holds(question.having, counts))
    chosen = _ordered(chosen, question, axes, cells, counts)[: question.limit]
    cells, counts = cells[chosen], counts[chosen]
    reach = REACH * pview.cell_errors(parts, question.by, cells)
    columns: dict[str, pl.Series] = {}
    for axis, name in question.columns:
        if axis is None:
            columns[name] = pl.Series(np.maximum(counts, 0.0))
        else:
            columns[name] = pview.domain.axes[axis].cell_values().gather(cells[:, question.by.index(axis)])
    low, high = (np.maximum(ends, 0.0) for ends in (counts - reach, counts + reach))
    return pl.DataFrame(columns | {"count_low": pl.Series(low), "count_high": pl.Series(high)})


def _counted(pview: PView, parts: Sequence[dict[int, Floats]], by: Sequence[int]) -> tuple[Codes, Floats]:
    """Count in every group that a part takes anything of: its cells, and the count."""
    shape = tuple(pview.domain.sizes[axis] for axis in by)
    counts, taken = np.zeros(shape), np.full(shape, not by)
    for weights in parts:
        counts += pview.model.table(by, weights)
        mine = [weights.get(axis, np.ones(pview.domain.sizes[axis])) > 0 for axis in by]
        if by:
            taken[np.ix_(*mine)] = True
    return np.argwhere(taken).astype(np.int32).reshape(int(taken.sum()), len(by)), counts[taken].ravel()


def _holds(condition: Condition, counts: Floats) -> Any:
    if isinstance(condition, bool):
        return np.full(len(counts), condition)
    if isinstance(condition, Comparison):
        return _compared(condition, np.maximum(counts, 0.0)) != condition.negated
    parts = [_holds(part, counts) for part in condition.parts]
    return np.all(parts, axis=0) if isinstance(condition, Every) else np.any(parts, axis=0)


def _compared(test: Comparison, counts: Floats) -> Any:
    if test.sign == "null":
        return np.zeros(len(counts), dtype=bool)
    if test.sign == "in":
        return np.isin(counts, test.values)
    if test.sign == "between":
        return (counts >= test.values[0]) & (counts <= test.values[1])
    return COMPARED[test.sign](counts, test.values[0])


def _ordered(
    chosen: NDArray[np.int64], question: Question, axes: Sequence[Axis], cells: Codes, counts: Floats
) -> NDArray[np.int64]:
    if not question.order:
        return chosen
    keys = [
        pl.Series(str(i), np.maximum(counts[chosen], 0.0))
        if key.axis is None
        else _sortable(axes[question.by.index(key.axis)])
        .gather(cells[chosen, question.by.index(key.axis)])
        .alias(str(i))
        for i, key in enumerate(question.order)
    ]
    frame = pl.DataFrame([*keys, pl.Series("row", chosen)])
    return frame.sort(
        [key.name for key in keys],
        descending=[key.falling for key in question.order],
        nulls_last=[not key.nulls_first for key in question.order],
        maintain_order=True,
    )["row"].to_numpy()


def _sortable(axis: Axis) -> pl.Series:
    """Return what orders the cells of an axis: their values, or for bins their place."""
    if axis.single:
        return axis.cell_values()
    return pl.Series([*range(axis.bins), *([None] if axis.missing else [])], dtype=pl.Int64)
