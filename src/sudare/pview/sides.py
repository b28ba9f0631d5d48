"""The sides of a measured table: how each attribute's groups are measured, and how much of what was measured is believed.

A table of several attributes is measured by the product of their strategies: A x B' for two. The noise of all sums is alike
and independent, and stays so if sums are turned by orthonormal matrices. On ordered sides these are cosines, slow ones first,
so that what is smooth shows in few numbers, and what is left of the others is mostly noise. How much of each band of them
rises above the noise says how much of it is believed (James & Stein 1961, band by band). What the cells tell, each by itself, is
believed where waves tell little: all of it, if no side is ordered.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache, reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.fft import dct

from sudare.pview.shrinking import shrunk
from sudare.pview.strategies import ROUGH, Strategy, strategy

Floats = NDArray[np.float64]

HIDDEN = 0.5
"""So much of the noise's variance something may have that is not believed, because noise hides it."""


@dataclass(frozen=True, eq=False)
class Side:
    """One attribute's side of a table, by groups of its values."""

    strategy: Strategy
    ordered: bool

    @cached_property
    def waves(self) -> Floats:
        """The orthonormal matrix by which sums are turned, waves x sums."""
        return np.asarray(dct(np.eye(self.strategy.sums), norm="ortho", axis=0))

    @cached_property
    def bands(self) -> NDArray[np.int64]:
        """The band of every wave; 0 is the sum of all, which is known better from tables of fewer attributes."""
        if not self.strategy.knows_total:
            return np.ones(self.strategy.sums, dtype=np.int64)
        place = np.arange(self.strategy.sums)
        return np.where(place == 0, 0, np.frexp(place)[1] if self.ordered else 1).astype(np.int64)

    @cached_property
    def upto(self) -> Floats:
        """What a wave adds to the groups up to each but the last: prefixes x waves. The sum of all adds nothing."""
        cells = self.strategy.solve(self.waves.T) * (self.bands > 0)
        return np.asarray(np.cumsum(cells, axis=0)[:-1])

    @property
    def smooth(self) -> bool:
        """Whether there are slow waves and fast ones."""
        return bool((self.bands > 1).any())

    @cached_property
    def cell_deviation(self) -> float:
        """The deviation of a cell of this side, given the sum of all, for noise of deviation 1."""
        return math.sqrt(float(np.diag(self.strategy.covariance).mean()))


@lru_cache(maxsize=512)
def side(groups: int, *, ordered: bool, pure: bool) -> Side:
    """Return how so many groups are measured."""
    return Side(strategy(groups, ordered=ordered, pure=pure, fine=ROUGH), ordered)


@lru_cache(maxsize=512)
def plain_side(groups: int, *, ordered: bool, pure: bool) -> Side:
    """Return the side whose groups are measured each by itself, for budgets so small that no other noise is drawn."""
    return Side(Strategy(groups, None, pure), ordered)


def change_of(sides: Sequence[Side]) -> int:
    """Return by how much one record changes the sums: both kinds of size of a product are products."""
    return math.prod(own.strategy.change for own in sides)


def measured(sides: Sequence[Side], table: NDArray[Any]) -> NDArray[Any]:
    """Return the sums of a table, one axis per side."""
    return _along(table, [own.strategy.measure for own in sides])


def solved(sides: Sequence[Side], sums: Floats) -> Floats:
    """Return the table that fits such sums best."""
    return np.asarray(_along(sums, [own.strategy.solve for own in sides]))


def _turned(sides: Sequence[Side], sums: NDArray[Any]) -> Floats:
    """Return the waves of such sums."""
    return np.asarray(_along(sums, [own.waves.__matmul__ for own in sides]))


def _along(table: NDArray[Any], functions: Sequence[Any]) -> NDArray[Any]:
    """Apply a function along each axis."""
    for axis, function in enumerate(functions):
        moved = np.moveaxis(table, axis, 0)
        out = function(moved.reshape(len(moved), -1))
        table = np.moveaxis(out.reshape(len(out), *moved.shape[1:]), 0, axis)
    return table


@dataclass(frozen=True, eq=False)
class Belief:
    """What of a noisy difference of sums is believed."""

    sides: Sequence[Side]
    expected: Floats
    """The cells that it is the difference from."""
    turned: Floats
    """The difference, turned into waves."""
    variance: float
    """Of the noise of each."""

    @classmethod
    def of(cls, sides: Sequence[Side], expected: Floats, sums: NDArray[Any], variance: float) -> Belief:
        """Look at noisy sums, and what cells were expected."""
        off = sums - measured(sides, expected)
        return cls(sides, expected, _turned(sides, off), variance)

    @cached_property
    def together(self) -> NDArray[np.bool_]:
        """Which waves tell how attributes hang together, rather than of one alone."""
        return reduce(np.add.outer, [(own.bands > 0).astype(np.int64) for own in self.sides]) >= 2

    @cached_property
    def trust(self) -> Floats:
        """How much of every wave is believed: what of the squares of its band the noise does not explain."""
        keys = reduce(lambda a, b: a[..., None] * 16 + b, [own.bands for own in self.sides])
        _, place = np.unique(keys, return_inverse=True)
        place = place.ravel()
        squares, size = np.bincount(place, (self.turned**2).ravel()), np.bincount(place)
        believed = np.maximum(1 - self.variance * size / np.maximum(squares, 1e-300), 0.0)
        return np.asarray(believed[place].reshape(self.turned.shape) * self.together)

    @property
    def difference(self) -> Floats:
        """The difference of the cells that is believed."""
        noise = self.variance * math.prod(own.cell_deviation**2 for own in self.sides)
        by_cells = shrunk(self._cells(self.together * self.turned), self.expected, noise)
        if not any(own.smooth for own in self.sides):
            return by_cells
        others = (1 - self.trust) * self.together * _turned(self.sides, measured(self.sides, by_cells))
        return self._cells(self.trust**2 * self.turned + others)

    def _cells(self, waves: Floats) -> Floats:
        return solved(self.sides, _along(waves, [own.waves.T.__matmul__ for own in self.sides]))

    def miss(self, one: int, other: int) -> tuple[float, float]:
        """Return how far two sides' table was off for the boxes from the first groups on, squared and added up.

        First as it was expected, less what the noise explains; then, about, as it is believed now.
        """
        others = [a for a in range(len(self.sides)) if a not in (one, other)]
        at = tuple(0 if a in others else slice(None) for a in range(len(self.sides)))
        # The sums over other sides are their first waves, times the root of how many groups they have.
        times = math.prod(self.sides[a].strategy.cells for a in others)
        variance, rows, columns = self.variance * times, self.sides[one].upto, self.sides[other].upto
        boxes = rows @ (self.turned[at] * math.sqrt(times)) @ columns.T
        reach = np.outer((rows**2).sum(axis=0), (columns**2).sum(axis=0))
        seen = float((boxes**2).sum() - variance * reach.sum())
        return max(seen, 0.0), float(variance * (np.maximum(self.trust[at], HIDDEN) * reach).sum())
