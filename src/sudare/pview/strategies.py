"""What is measured of a table in place of its cells, so that the noise of a range grows less with its length.

A strategy is a matrix A of whole numbers: A x is measured with exact discrete noise, and x is solved from it. Noise is
as large as one record's change of A x asks: the largest column's sum of absolute values (pure), or of squares (rho).

With rho: the variance of all ranges together is trace(X^-1 G) for X = A'A and the ranges' Gram matrix G, and X's diagonal
is 1. If the cells stood round a circle, G would be circulant, and so would be the best X, which is G's root then (the
Lagrangian's condition is that X^-1 G X^-1 is diagonal; a circulant matrix has an even diagonal by itself). On a line that
strategy is within 0.5% of the best, for 2 cells and for 200. A is the root of X, times a large number, rounded. The number
of records is measured by itself, once for all tables, so that no table spends much on its own sum.

Pure: the sum of a column's absolute values eats what correlated noise would gain, up to a hundred cells and more. Only of two
values, the difference is measured: that has half the noise of two cells.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

FINE, ROUGH = 2**10, 2**7
"""A column of a strategy is rounded to so many parts of its length; of tables with several axes, to fewer for each."""
MAX_CELLS = 1024
"""Of more than that every cell is measured by itself."""
OWN_SUM = 0.02
"""How much a table asks for its own sum, beside all else that it asks: little, but A must have an inverse."""


@dataclass(frozen=True, eq=False)
class Strategy:
    """Sums of counts that are measured together.

    >>> halves = Strategy(4, np.array([[1, 1, 0, 0], [0, 0, 1, 1], [1, -1, 0, 0], [0, 0, 1, -1]]), pure=True)
    >>> halves.change, halves.solve(np.array([5, 2, 1, 0])).tolist()
    (2, [3.0, 2.0, 1.0, 1.0])
    """

    cells: int
    rows: Integers | None
    """What is measured, sums x cells; None: every cell by itself."""
    pure: bool

    @cached_property
    def change(self) -> int:
        """By how much one record changes the sums: the sum of absolute values, or of squares, in the largest column."""
        if self.rows is None:
            return 1
        each = np.abs(self.rows) if self.pure else self.rows**2
        return int(each.sum(axis=0).max())

    @property
    def sums(self) -> int:
        """How many sums are measured."""
        return self.cells if self.rows is None else len(self.rows)

    @property
    def knows_total(self) -> bool:
        """Whether the sum of all cells follows from what is measured."""
        return self.sums >= self.cells

    def measure(self, counts: Integers) -> Integers:
        """Return the sums of some cells' counts; of a table, along its first axis."""
        return counts if self.rows is None else self.rows @ counts

    def solve(self, sums: NDArray[Any]) -> Floats:
        """Return the cells that fit measured sums best; of a table, along its first axis."""
        return sums.astype(np.float64) if self.rows is None else np.asarray(self.inverse @ sums)

    def transposed(self, sums: Floats) -> Floats:
        """Return A' times sums."""
        return sums if self.rows is None else np.asarray(self._floats.T @ sums)

    @cached_property
    def inverse(self) -> Floats:
        """What turns measured sums into cells, by least squares; of what follows from none, nothing."""
        if not self.knows_total:
            return np.asarray(np.linalg.pinv(self._floats))
        return np.asarray(np.linalg.solve(self.gram, self._floats.T))

    @cached_property
    def gram(self) -> Floats:
        """A'A: the inverse of the cells' covariance, for noise of variance 1."""
        return np.asarray(self._floats.T @ self._floats)

    @cached_property
    def metric(self) -> Floats:
        """The same, with more weight on the sum of all cells: for who knows that, it makes no difference."""
        return np.asarray(self.gram + np.trace(self.gram) / self.cells**2)

    @cached_property
    def covariance(self) -> Floats:
        """The covariance of the cells given their sum, for noise of variance 1."""
        whole = self.inverse @ self.inverse.T
        if not self.knows_total:
            return np.asarray(whole)
        with_sum = whole.sum(axis=0)
        return np.asarray(whole - np.outer(with_sum, with_sum) / with_sum.sum())

    @cached_property
    def total_variance(self) -> float:
        """The variance of the sum of all cells, for noise of variance 1."""
        if not self.knows_total:
            return math.inf
        return float((self.of_total**2).sum())

    @cached_property
    def of_total(self) -> Floats:
        """How much of each sum is added up for the sum of all cells, where that is known."""
        return np.ones(self.cells) if self.rows is None else np.asarray(self.inverse.sum(axis=0))

    @cached_property
    def by_width(self) -> Floats:
        """The mean variance of the ranges of each width, from 1 on, given the sum of all, for noise of variance 1."""
        n = self.cells
        if self.rows is None:
            widths = np.arange(1, n + 1)
            return np.asarray(widths * (1 - widths / n))
        return variances_by_width(self.covariance)

    @property
    def range_variance(self) -> float:
        """The mean of these, for noise as large as one record's change asks and a budget of 1."""
        return float(self.by_width.mean()) * self.change ** (2 if self.pure else 1)

    @property
    def _floats(self) -> Floats:
        return np.eye(self.cells) if self.rows is None else self.rows.astype(np.float64)


def variances_by_width(covariance: Floats) -> Floats:
    """Return the mean variance of the ranges of each width, from 1 on, given that of cells."""
    n = len(covariance)
    upto = np.zeros((n + 1, n + 1))
    upto[1:, 1:] = covariance.cumsum(axis=0).cumsum(axis=1)
    own = np.diag(upto)
    square = own[:, None] + own - 2 * upto  # the variance of the range between two ends
    return np.array([max(np.diagonal(square, w).mean(), 0.0) for w in range(1, n + 1)])


@lru_cache(maxsize=512)
def strategy(cells: int, *, ordered: bool, pure: bool, fine: int = FINE) -> Strategy:
    """Return the best strategy that is known for ranges of ordered cells, or for single cells of others."""
    if cells == 1 or cells > MAX_CELLS:
        return Strategy(cells, None, pure)
    if pure:
        return Strategy(cells, np.array([[1, -1]]) if cells == 2 else None, pure)
    asked = _circle_of_ranges(cells) if ordered else np.eye(1, cells)[0]
    return Strategy(cells, _circulant(asked, fine), pure=False)


# -- With rho ---------------------------------------------------------------------------------------


def _circle_of_ranges(cells: int) -> Floats:
    """Return the first column of the Gram matrix of ranges round a circle; all widths are alike likely.

    Two cells, d steps apart, are both within w - d of the n ranges of width w, and w - (n - d) reach round the other way.
    """
    width, apart = np.arange(1, cells + 1)[:, None], np.arange(cells)
    both = np.maximum(width - apart, 0) + np.maximum(width - (cells - apart), 0)
    return np.asarray(both.mean(axis=0) / cells)


def _circulant(asked: Floats, fine: int) -> Integers:
    """Return the root of the best X, in whole numbers, given the first column of a circulant Gram matrix."""
    cells = len(asked)
    values = np.maximum(np.fft.fft(asked).real, 0.0)
    values[0] = OWN_SUM * values[1:].mean()
    column = np.fft.ifft(values**0.25).real  # the root of the root: A'A = X, X X = G
    column = np.rint(fine * column / np.linalg.norm(column)).astype(np.int64)
    place = np.arange(cells)
    return np.asarray(column[(place[:, None] - place) % cells])
