"""What tables of several attributes tell of each one: their noisy sums over the others, by groups of values.

Each is worth little beside the one-way table, which has more of the budget; but there are several for every attribute, and a group's
sum holds for many values at once. Their noise is independent of the one-way table's, so that all of them together are solved for the
values by least squares.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sudare.pview.nonnegative import nearest
from sudare.pview.one_ways import Floats, Groups, OneWays, settle_cells
from sudare.pview.sides import Side
from sudare.pview.strategies import MAX_CELLS, Strategy, variances_by_width


@dataclass(frozen=True, eq=False)
class Told:
    """Noisy sums of one attribute's groups, as its side of a table measures them."""

    attribute: int
    groups: Groups
    strategy: Strategy
    sums: Floats
    variance: float


def told_by(
    sides: Sequence[Side], axes: Sequence[int], groups: Sequence[Groups], noisy: NDArray[Any], variance: float
) -> Iterator[Told]:
    """Add a measured table up over all attributes but one, for each of them whose sums follow from what was measured."""
    for place, axis in enumerate(axes):
        sums, squares = np.moveaxis(noisy.astype(np.float64), place, 0), 1.0
        for other in (own.strategy for x, own in enumerate(sides) if x != place):
            squares *= other.total_variance
            if other.knows_total:
                sums = np.tensordot(sums, other.of_total, axes=(1, 0))
        if math.isfinite(squares):
            yield Told(axis, groups[axis], sides[place].strategy, sums, variance * squares)


def refined(ones: OneWays, told: Iterable[Told]) -> OneWays:
    """Return the one-way tables with what other tables tell of them; the total stays."""
    by_attribute: dict[int, list[Told]] = {}
    for own in told:
        if ones.strategies[own.attribute].cells <= MAX_CELLS:
            by_attribute.setdefault(own.attribute, []).append(own)
    tables, by_width, known = list(ones.tables), list(ones.by_width), {}
    for a, sums in by_attribute.items():
        tables[a], known[a] = _solved(ones, a, sums)
        by_width[a] = variances_by_width(known[a])
    return replace(ones, tables=tables, by_width=by_width, known=known)


def _solved(ones: OneWays, a: int, told: Sequence[Told]) -> tuple[Floats, Floats]:
    """Return an attribute's table and the covariance of its cells, given the total."""
    strategy, cells = ones.strategies[a], ones.cells[a]
    precision = strategy.gram / ones.variances[a]
    pull = precision @ cells
    for own in told:
        precision = precision + (own.strategy.gram / own.variance)[np.ix_(own.groups, own.groups)]
        pull += (own.strategy.transposed(own.sums) / own.variance)[own.groups]
    # Given the sum, it makes no difference how much weight it has; with some, the matrix has an inverse.
    of_sum = np.trace(precision) / len(cells) ** 2
    precision, pull = precision + of_sum, pull + of_sum * ones.total
    covariance = np.linalg.inv(precision)
    best, with_sum = covariance @ pull, covariance.sum(axis=0)
    best += with_sum * (ones.total - best.sum()) / with_sum.sum()
    covariance -= np.outer(with_sum, with_sum) / with_sum.sum()
    if strategy.rows is None:
        deviation = math.sqrt(max(float(np.diag(covariance).mean()), 0.0))
        return settle_cells(best, ones.total, deviation), covariance
    return nearest(best, precision, ones.total), covariance
