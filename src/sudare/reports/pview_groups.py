"""The cells of an attribute of a p-view, put into so few groups that a picture can show them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sudare.pview.domain import Axis
from sudare.pview.pview import PView
from sudare.reports.charts import Interval
from sudare.reports.words import MISSING
from sudare.tables.text import text_of
from sudare.utility.intervals import REACH

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Groups:
    """Which group every cell of an attribute is in. What decides is public: the domain, and what the p-view says.

    >>> import polars as pl, sudare as sd
    >>> from sudare.verbs.materialize import materialize
    >>> table = sd.read(pl.DataFrame({"age": [20, 25]}), sd.Schema.from_roles(
    ...     quasi=["age"], bounds={"age": (18, 27)}, missing="refuse"))
    >>> pview = materialize(table, sd.DifferentialPrivacy(1.0), "independent")
    >>> Groups.of(pview, 0, max_groups=3).labels
    ['18 .. 21', '22 .. 25', '26 .. 27']
    """

    axis: Axis
    place: int
    """Which axis it is."""
    labels: list[str]
    of_cell: NDArray[np.int64]

    @classmethod
    def of(cls, pview: PView, place: int, max_groups: int) -> Groups:
        """Take neighbours together, or, of values without an order, all but the most frequent; missing stays alone."""
        axis = pview.domain.axes[place]
        real = axis.size - axis.missing
        if axis.ordered or real <= max_groups:
            width = -(-real // max_groups)
            of_cell = np.arange(real) // width
            starts = np.arange(0, real, width)
            labels = _spans(axis, starts, np.minimum(starts + width, real) - 1)
        else:
            of_cell, labels = _frequent(axis, pview.model.table([place], {})[:real], max_groups - 1)
        if axis.missing:
            of_cell, labels = np.append(of_cell, len(labels)), [*labels, MISSING]
        return cls(axis, place, labels, of_cell)

    @property
    def matrix(self) -> Floats:
        """Which cells are in which group, groups x cells."""
        return np.equal.outer(np.arange(len(self.labels)), self.of_cell).astype(np.float64)

    def sums(self, table: Floats, along: int = 0) -> Floats:
        """Add up the cells of every group along one dimension of a table of counts."""
        order = np.argsort(self.of_cell, kind="stable")
        starts = np.searchsorted(self.of_cell[order], np.arange(len(self.labels)))
        sorted_already = (np.diff(order) == 1).all()
        return np.add.reduceat(table if sorted_already else np.take(table, order, along), starts, along)

    def errors(self, pview: PView) -> Floats:
        """Return the standard error of every group's count."""
        return errors_of(pview, [{self.place: own} for own in self.matrix])


def errors_of(pview: PView, several: Sequence[Mapping[int, Floats]]) -> Floats:
    """Return the standard errors of some counts, each of groups of some axes: which cells are in them."""
    low = np.zeros((len(several), len(pview.domain.axes)), np.int32)
    high = np.tile(np.array(pview.domain.sizes, np.int32) - 1, (len(several), 1))
    scattered = []
    for row, groups in enumerate(several):
        for axis, own in groups.items():
            cells = np.flatnonzero(own)
            low[row, axis], high[row, axis] = cells[0], cells[-1]
            if cells[-1] - cells[0] >= len(cells):
                scattered.append(row)
    errors = pview.errors(low, high)
    for row in scattered:  # not one box, but several
        errors[row] = pview.cell_errors([several[row]], [], np.zeros((1, 0), np.int32))[0]
    return errors


def one_way(pview: PView, groups: Groups) -> list[Interval]:
    """Return the p-view's count of every group, with its 95% interval."""
    counts = groups.sums(pview.model.table([groups.place], {}))
    return [interval(*pair) for pair in zip(counts.tolist(), groups.errors(pview).tolist(), strict=True)]


def interval(count: float, error: float) -> Interval:
    """Return a count with its 95% interval; none is below 0."""
    return Interval(*(max(value, 0.0) for value in (count, count - REACH * error, count + REACH * error)))


def two_way(model: Any, a: Groups, b: Groups) -> Floats:
    """Return the counts of two attributes' groups: of a p-view's model, or of anything else that makes tables."""
    return b.sums(a.sums(model.table([a.place, b.place], {})), along=1)


def dependence(table: Floats) -> float:
    """Return the mutual information of a two-way table, in bits: how much one attribute tells about the other.

    >>> dependence(np.array([[5.0, 0.0], [0.0, 5.0]])), dependence(np.array([[5.0, 5.0], [5.0, 5.0]]))
    (1.0, 0.0)
    """
    p = np.maximum(table, 0.0)
    if p.sum() <= 0:
        return 0.0
    p = p / p.sum()
    alone = np.outer(p.sum(axis=1), p.sum(axis=0))
    some = p > 0
    return max(float((p[some] * np.log2(p[some] / alone[some])).sum()), 0.0)


def strongest(pview: PView, groups: list[Groups], max_pairs: int) -> list[tuple[Groups, Groups]]:
    """Return the pairs of attributes that depend most on each other, as far as the p-view tells."""
    pairs = list(combinations(groups, 2))
    bits = np.array([dependence(two_way(pview.model, *pair)) for pair in pairs])
    return [pairs[i] for i in np.argsort(-bits, kind="stable")[:max_pairs]]


def ends(axis: Axis) -> tuple[list[Any], list[Any]]:
    """Return the first and the last value of every cell but the missing; a bin of numbers with parts ends before the last."""
    if axis.values is not None:
        return list(axis.values), list(axis.values)
    first, last = axis.bounds()
    return first.to_list(), last.to_list()


def is_half_open(axis: Axis) -> bool:
    """Whether a cell's last value is where the next begins."""
    return axis.values is None and not axis.whole


def _spans(axis: Axis, starts: NDArray[np.int64], stops: NDArray[np.int64]) -> list[str]:
    first, last = ([text_of(value) for value in own] for own in ends(axis))
    spans = [(first[a], last[b]) for a, b in zip(starts.tolist(), stops.tolist(), strict=True)]
    if is_half_open(axis):
        return [f"[{a}, {b})" for a, b in spans]
    return [a if a == b else f"{a} .. {b}" for a, b in spans]


def _frequent(axis: Axis, counts: Floats, named: int) -> tuple[NDArray[np.int64], list[str]]:
    chosen = np.sort(np.argsort(-counts, kind="stable")[:named])
    of_cell = np.full(len(counts), named, dtype=np.int64)
    of_cell[chosen] = np.arange(named)
    labels = axis.labels()
    return of_cell, [*(labels[i] for i in chosen), f"{len(counts) - named:,} others"]
