"""Columns before and after, on one scale: values one by one where they are few, numbers in bins, dates by spans of the calendar."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sudare.reports.charts.axes import decimals, round_step
from sudare.reports.words import MISSING, shown_value, value_labels
from sudare.tables.attribute import Role
from sudare.tables.dictionary import Dictionary
from sudare.tables.hierarchy import Hierarchy
from sudare.tables.runs import PublishedRows
from sudare.tables.table import Table

MAX_VALUES = 16  # values, or labels, that have a bar each; the most frequent of them
MAX_BINS = 24
ENDS = 0.01  # of the records at either end, which share a bin where they would press the others together
FAR = 2.0  # times the range of all others
ANY = "any"  # the bin of labels that stand for every value

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


class ComparedColumn(NamedTuple):
    """How many records have which values of a column, or values in which bin, before and after."""

    name: str
    role: Role
    labels: list[str]
    original: list[float]
    published: list[float]
    binned: bool
    distinct: tuple[int, int]
    """How many different values there were, and are."""
    spread: bool
    """Whether what is published covers several bins, and was spread over the values that it stands for."""

    @property
    def for_any(self) -> float:
        """How many records have a label that stands for every value, where there are bins."""
        return self.published[-1] if self.binned and self.labels[-1] == ANY else 0.0


def compared_columns(table: Table, data: PublishedRows) -> Iterator[ComparedColumn]:
    """Compare every published column: the quasi ones first, then what is sensitive, then what is passed on."""
    order = [*table.names(Role.quasi), *table.names(Role.sensitive)]
    columns = [name for name in data.columns if name in table.columns and table.schema[name].is_measured]
    for name in sorted(columns, key=lambda one: order.index(one) if one in order else len(order)):
        yield compared(table, name, data)


def compared(table: Table, name: str, data: PublishedRows) -> ComparedColumn:
    """Compare one column, in whichever way it is seen best."""
    counts, column = table.counts([name]), table[name]
    before = np.bincount(counts.codes[:, 0], counts.weights, minlength=column.size).astype(np.float64)
    after = data.counted([name])
    cells = (
        pl.DataFrame({"value": after.rows[name], "count": after.lengths})
        .group_by("value")
        .agg(pl.sum("count"))
    )
    role, seen = table.schema[name].treated_as, np.flatnonzero(before)
    distinct = int((before[: len(column.values)] > 0).sum()), cells.drop_nulls("value").height
    bins = Bins.of(column, before) if distinct[0] > MAX_VALUES else None
    if bins is None:
        labels, original, published = _one_by_one(column, before, cells, seen)
        return ComparedColumn(name, role, labels, original, published, False, distinct, False)
    published, spread = bins.published(cells)
    original = bins.original(before)
    kept = [i for i in range(len(original)) if i < len(bins.labels) - 2 or original[i] or published[i]]
    return ComparedColumn(
        name,
        role,
        [bins.labels[i] for i in kept],
        [original[i] for i in kept],
        [published[i] for i in kept],
        True,
        distinct,
        spread,
    )


# -- Values, one by one --------------------------------------------------------------------------------


def _one_by_one(
    column: Dictionary, before: Floats, cells: pl.DataFrame, seen: Ints
) -> tuple[list[str], list[float], list[float]]:
    """Count by value, and by label; the most frequent have a bar each, all others one together."""
    names = value_labels(column)
    lifted = _lifted(column.hierarchy) if len(seen) > MAX_VALUES else {}
    original, published = defaultdict[str, float](float), defaultdict[str, float](float)
    for code in seen.tolist():
        original[lifted.get(names[code], names[code])] += before[code]
    for value, count in cells.rows():
        label = shown_value(value)
        published[lifted.get(label, label)] += count
    order = {label: place for place, label in enumerate(_ordered(column, names))}
    labels = sorted(
        {*original, *published}, key=lambda one: (one == MISSING, order.get(one, len(order)), one)
    )
    most = sorted(labels, key=lambda one: -max(original[one], published[one]))
    shown = set(most if len(most) <= MAX_VALUES else most[: MAX_VALUES - 1])
    rest = [label for label in labels if label not in shown]
    kept = [label for label in labels if label in shown]
    sides = [[float(side[label]) for label in kept] for side in (original, published)]
    if rest:
        kept.append(f"{len(rest):,} others")
        for side, counts in zip((original, published), sides, strict=True):
            counts.append(math.fsum(side[label] for label in rest))
    return kept, sides[0], sides[1]


def _lifted(tree: Hierarchy | None) -> dict[str, str]:
    """Return by label what it is at the lowest level that has few labels, but more than one; higher labels stay what they are."""
    levels = [] if tree is None else [i for i, own in enumerate(tree.labels) if 1 < len(own) <= MAX_VALUES]
    if tree is None or not levels:
        return {}
    top, lifted = levels[0], dict[str, str]()
    for level in range(top):
        for node, above in zip(tree.codes[level].tolist(), tree.codes[top].tolist(), strict=True):
            label, to = tree.labels[level][node], tree.labels[top][above]
            if label is not None and to is not None:
                lifted.setdefault(label, to)
    return lifted


def _ordered(column: Dictionary, names: list[str]) -> list[str]:
    """Return values in their own order, then the labels of each level in that of their first values."""
    labels = dict.fromkeys(names)
    if (tree := column.hierarchy) is not None:
        for level, own in enumerate(tree.labels):
            nodes = dict.fromkeys(tree.codes[level].tolist())
            labels |= dict.fromkeys(label for node in nodes if (label := own[node]) is not None)
    return list(labels)


# -- Bins ----------------------------------------------------------------------------------------------


class Bins(NamedTuple):
    """The bins of a column: those of its values, one of what is missing, one of labels that stand for any value."""

    labels: list[str]
    of_code: Ints
    """The bin of each value, by its code."""
    column: Dictionary
    place: Callable[[pl.Series], Ints]
    """The bins of values that were published as they are."""

    @classmethod
    def of(cls, column: Dictionary, before: Floats) -> Bins | None:
        """Choose bins for numbers and dates; None for other values."""
        dtype = column.values.dtype
        if isinstance(dtype, pl.Date | pl.Datetime):
            names, place = _calendar(column.values)
        elif dtype.is_numeric() and (cut := _numbers(column.values, before[: len(column.values)])):
            names, place = cut
        else:
            return None
        lost = [len(names)] * column.missing
        of_code = np.append(place(column.values), np.array(lost, dtype=np.int64)).astype(np.int64)
        return cls([*names, MISSING, ANY], of_code, column, place)

    def original(self, before: Floats) -> list[float]:
        """Count the original by bin."""
        counts: list[float] = np.bincount(self.of_code, before, minlength=len(self.labels)).tolist()
        return counts

    def published(self, cells: pl.DataFrame) -> tuple[list[float], bool]:
        """Count what is published by bin. A label counts for all values that it stands for, for each as much, unless these are all."""
        counts, spread = np.zeros(len(self.labels)), False
        missing = int(cells.filter(pl.col("value").is_null())["count"].sum())
        counts[-2] += missing
        there = cells.drop_nulls("value")
        if there["value"].dtype == self.column.values.dtype:
            np.add.at(counts, self.place(there["value"]), there["count"].to_numpy().astype(np.float64))
            return counts.tolist(), False
        shares = self._shares()
        for label, count in there.rows():
            own = shares.get(label)
            if own is None:
                counts[-1] += count
            else:
                counts += count * own
                spread = spread or bool((own > 0).sum() > 1)
        return counts.tolist(), spread

    def _shares(self) -> dict[str | None, Floats]:
        """Return for each label but those of all values how its own are distributed over the bins; the lowest node counts."""
        tree = self.column.hierarchy
        shares: dict[str | None, Floats] = {}
        for level in range(0 if tree is None else len(tree.labels)):
            assert tree is not None
            nodes = tree.codes[level][: len(self.of_code)]
            table = np.zeros((len(tree.labels[level]), len(self.labels)))
            np.add.at(table, (nodes, self.of_code), 1.0)
            if len(tree.labels[level]) == 1:  # it says nothing
                continue
            sums = table.sum(axis=1, keepdims=True)
            for label, row, total in zip(tree.labels[level], table, sums[:, 0], strict=True):
                if total > 0:
                    shares.setdefault(label, row / total)
        return shares


def _numbers(values: pl.Series, before: Floats) -> tuple[list[str], Callable[[pl.Series], Ints]] | None:
    """Cut the range of numbers at round steps; a few far ends get open bins. None if it is beyond all that can be drawn."""
    numbers = values.cast(pl.Float64).to_numpy()
    low, high = _range(numbers, before)
    if not 1e-300 < high - low < 1e300:
        return None
    step = round_step((high - low) * 5 / MAX_BINS) or 1.0
    if values.dtype.is_integer():
        step = max(step, 1.0)
    first = math.floor(low / step)
    count = max(1, math.floor(high / step) - first + 1)
    edges = (first + np.arange(count + 1)) * step
    digits = 0 if values.dtype.is_integer() else decimals(step)
    names = [f"{edge:,.{digits}f}" for edge in edges[:-1]]
    if numbers.min() < edges[0]:
        names[0] = f"< {edges[1]:,.{digits}f}"
    if numbers.max() >= edges[-1]:
        names[-1] = f"≥ {names[-1]}"

    def place(some: pl.Series) -> Ints:
        at = np.floor(some.cast(pl.Float64).to_numpy() / step + 1e-9) - first
        places: Ints = np.clip(np.nan_to_num(at), 0, count - 1).astype(np.int64)
        return places

    return names, place


def _range(numbers: Floats, before: Floats) -> tuple[float, float]:
    """Return from where to where bins go: over all numbers, or over all but the ends, if these lie far away."""
    finite = np.isfinite(numbers)
    numbers, weights = numbers[finite], before[finite]
    if not len(numbers):
        return 0.0, 1.0
    order = np.argsort(numbers)
    shares = np.cumsum(weights[order]) / max(weights.sum(), 1.0)
    places = np.minimum(np.searchsorted(shares, [ENDS, 1 - ENDS]), len(order) - 1)
    low, high = numbers[order][places].tolist()
    least, most = float(numbers.min()), float(numbers.max())
    return (low, high) if high > low and most - least > FAR * (high - low) else (least, most)


class Span(NamedTuple):
    """A span of the calendar: the number of the one that a day is in, and what each is called."""

    number: Callable[[pl.Series], pl.Series]
    write: Callable[[int], str]


def _day(number: int) -> str:
    return str(pl.Series([number], dtype=pl.Int32).cast(pl.Date).dt.to_string("%Y-%m-%d")[0])


def _year(days: pl.Series) -> pl.Series:
    return days.dt.year().cast(pl.Int64)


SPANS = (
    Span(lambda days: days.to_physical().cast(pl.Int64), _day),
    Span(
        lambda days: (days.to_physical().cast(pl.Int64) + 3) // 7, lambda n: _day(7 * n - 3)
    ),  # from Mondays on
    Span(lambda days: _year(days) * 12 + days.dt.month() - 1, lambda n: f"{n // 12}-{n % 12 + 1:02}"),
    Span(lambda days: _year(days) * 4 + days.dt.quarter() - 1, lambda n: f"{n // 4}-Q{n % 4 + 1}"),
    Span(_year, str),
    Span(lambda days: _year(days) // 10, lambda n: f"{n}0s"),
    Span(lambda days: _year(days) // 100, lambda n: f"{n}00s"),
    Span(lambda days: _year(days) // 1000, lambda n: f"{n}000s"),
)
"""Days, weeks, months, quarters, years, decades, centuries, millennia."""


def _calendar(values: pl.Series) -> tuple[list[str], Callable[[pl.Series], Ints]]:
    """Cut time into the shortest spans of the calendar that are not too many; of millennia there may be more."""
    days = values.cast(pl.Date)
    for span in SPANS:
        numbers = span.number(days).to_numpy()
        low, high = int(numbers.min()), int(numbers.max())
        if high - low < MAX_BINS:
            break
    names = [span.write(low + i) for i in range(min(high - low + 1, 2 * MAX_BINS))]

    def place(some: pl.Series) -> Ints:
        at: Ints = np.clip(span.number(some.cast(pl.Date)).to_numpy() - low, 0, len(names) - 1).astype(
            np.int64
        )
        return at

    return names, place
