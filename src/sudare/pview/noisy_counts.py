"""What the simple methods learn: noisy counts of blocks, of all cells, or of every attribute by itself."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sudare.errors import InputError
from sudare.privacy.requirement import refused
from sudare.pview.p_identity import PIdentity
from sudare.tables.counts import Counts

Codes = NDArray[Any]
Floats = NDArray[np.float64]

MAX_CELLS = 10**7  # that may have a count each


@dataclass(frozen=True, eq=False)
class NoisyBlocks:
    """Boxes that cover every cell once, each with a noisy count that is thought to be spread evenly over its cells.

    >>> halves = NoisyBlocks(np.array([[0], [5]]), np.array([[4], [9]]), np.array([10.0, 30.0]), np.array([1.4, 1.4]))
    >>> len(halves)
    2
    """

    low: Codes
    """The first code of each block on each attribute."""
    high: Codes
    """The last one, which belongs to it."""
    counts: Floats
    """Noisy; one that is below 0 counts as it is."""
    deviations: Floats
    """The standard deviation of each count's noise."""

    def __len__(self) -> int:
        return len(self.counts)


@dataclass(frozen=True, eq=False)
class NoisyCells:
    """An estimate for every cell of a small domain.

    Cells of one bucket share one noisy count evenly; without buckets each has its own.

    >>> cells = NoisyCells(np.array([[4.0, 6.0], [0.0, 2.0]]), deviation=2.0)
    >>> cells.counts(np.array([[0, 0]]), np.array([[1, 0]])), cells.errors(np.array([[0, 0]]), np.array([[1, 1]]))
    (array([4.]), array([4.]))
    """

    table: Floats
    """One axis per attribute."""
    deviation: float
    """The standard deviation of the noise of each bucket's count."""
    bucket: NDArray[np.int32] | None = None
    """The bucket of every cell, in the shape of the table."""
    strategies: tuple[PIdentity, ...] | None = None
    """What was measured of each attribute, if it was not the cells alone: then the noise of cells is correlated."""

    def counts(self, low: Codes, high: Codes) -> Floats:
        """Return how many records lie in each of some boxes, both ends included."""
        return np.array([self.table[box].sum() for box in _slices(low, high)])

    def errors(self, low: Codes, high: Codes) -> Floats:
        """Return the standard deviations of these counts' noise. What even spreading gets wrong is not in it."""
        if self.strategies is not None:
            each = [own.variances(low[:, a], high[:, a]) for a, own in enumerate(self.strategies)]
            return np.asarray(self.deviation * np.sqrt(np.prod(each, axis=0)))
        return np.array([self.deviation * np.sqrt(self._squares(box)) for box in _slices(low, high)])

    def spread(self, low: Codes, high: Codes) -> Floats:
        """Return how far these counts may be off, as the records of a bucket that is taken in part may lie anywhere in it.

        A share f of w records errs on average by 2 f (1 - f) w, if all of them lie in one place.
        """
        if self.bucket is None:
            return np.zeros(len(low))
        sums = np.abs(np.bincount(self.bucket.ravel(), self.table.ravel()))
        shares = (self._shares(self.bucket[box]) for box in _slices(low, high))
        return np.array([(2 * share * (1 - share) * sums).sum() for share in shares])

    def _squares(self, box: tuple[slice, ...]) -> float:
        """Return the sum over all buckets of the squared share that lies in a box."""
        if self.bucket is None:
            return float(self.table[box].size)
        return float((self._shares(self.bucket[box]) ** 2).sum())

    def _shares(self, inside: NDArray[np.int32]) -> Floats:
        """Return which share of each bucket some cells are, given their buckets."""
        return np.asarray(np.bincount(inside.ravel(), minlength=len(self._sizes)) / self._sizes)

    @cached_property
    def _sizes(self) -> NDArray[np.int64]:
        assert self.bucket is not None  # only asked for then
        return np.bincount(self.bucket.ravel())

    def sample(self, n: int, rng: np.random.Generator) -> Codes:
        """Draw the cells of so many records, from the nearest table of the same total without cells below 0."""
        if n == 0:
            return np.empty((0, self.table.ndim), np.int32)
        sums = np.cumsum(project(self.table.ravel(), float(self.table.sum())))
        if not sums[-1] > 0:
            raise InputError("The p-view counts nobody; there is nothing to draw from.")
        places = np.searchsorted(sums, rng.random(n) * sums[-1], side="right")
        cells = np.unravel_index(np.minimum(places, sums.size - 1), self.table.shape)
        return np.stack(cells, axis=1).astype(np.int32)


@dataclass(frozen=True, eq=False)
class NoisyProduct:
    """Histograms of single attributes, as if the attributes were independent.

    >>> model = NoisyProduct((np.array([30.0, 10.0]), np.array([20.0, 20.0])), deviation=2.0)
    >>> model.counts(np.array([[0, 1]]), np.array([[0, 1]]))
    array([15.])
    """

    marginals: tuple[Floats, ...]
    """The histogram of each attribute. All have the same sum, and nothing is below 0."""
    deviation: float
    """The standard deviation of the noise of each count."""

    @property
    def total(self) -> float:
        """How many records there are thought to be."""
        return float(self.marginals[0].sum())

    def counts(self, low: Codes, high: Codes) -> Floats:
        """Return how many records lie in each of some boxes, both ends included."""
        return np.asarray(self.total * np.prod(self._shares(low, high), axis=0))

    def errors(self, low: Codes, high: Codes) -> Floats:
        """Return the standard deviations of these counts' noise, to first order.

        What independence gets wrong is not in it. The noise of a range of w of n values is that of w counts, less
        what the known total tells: w (1 - w/n).
        """
        shares = self._shares(low, high)
        sizes = np.array([len(m) for m in self.marginals])
        square = np.prod(shares, axis=0) ** 2 / (1 / sizes).sum()  # of the total
        for a, n in enumerate(sizes):
            width = high[:, a] - low[:, a] + 1
            square += np.prod(np.delete(shares, a, axis=0), axis=0) ** 2 * width * (1 - width / n)
        return np.asarray(self.deviation * np.sqrt(square))

    def _shares(self, low: Codes, high: Codes) -> Floats:
        """Return the share of each attribute's range; if nobody was found, as if they were spread evenly."""
        if not self.total > 0:
            return np.array([(high[:, a] - low[:, a] + 1) / len(m) for a, m in enumerate(self.marginals)])
        sums = [np.append(0.0, np.cumsum(m)) / max(self.total, 1e-300) for m in self.marginals]
        return np.array([s[high[:, a] + 1] - s[low[:, a]] for a, s in enumerate(sums)])

    def sample(self, n: int, rng: np.random.Generator) -> Codes:
        """Draw the cells of so many records."""
        if n == 0:
            return np.empty((0, len(self.marginals)), np.int32)
        if not all(m.sum() > 0 for m in self.marginals):
            raise InputError("The p-view counts nobody; there is nothing to draw from.")
        columns = [rng.choice(len(m), size=n, p=m / m.sum()) for m in self.marginals]
        return np.stack(columns, axis=1).astype(np.int32)


def _slices(low: Codes, high: Codes) -> list[tuple[slice, ...]]:
    return [
        tuple(slice(int(a), int(b) + 1) for a, b in zip(*ends, strict=True))
        for ends in zip(low, high, strict=True)
    ]


def project(counts: Floats, total: float) -> Floats:
    """Return the nearest counts that are not below 0 and sum to a total: those less one number, clipped at 0.

    Clipping alone would raise the sum of many small noisy counts: that of Adult's blocks is doubled by it.

    >>> project(np.array([5.0, 1.0, -2.0]), 4.0).tolist()
    [4.0, 0.0, 0.0]
    """
    if total <= 0:
        return np.zeros(len(counts))
    falling = np.sort(counts)[::-1]
    excess = (np.cumsum(falling) - total) / np.arange(1, len(counts) + 1)
    kept = np.flatnonzero(falling >= excess)[-1]  # a tiny total may be lost beside a large count
    return np.asarray(np.maximum(counts - excess[kept], 0))


def check_counts(counts: Counts, owner: str) -> None:
    """Refuse counts whose codes do not fit the sizes of their attributes, or whose weights are no numbers of records."""
    codes, weights, sizes = counts.codes, counts.weights, counts.sizes
    if not sizes or min(sizes) < 1:
        raise refused(sizes, "sizes", owner, "a size of 1 or more for each attribute")
    if codes.ndim != 2 or codes.shape[1] != len(sizes) or codes.dtype.kind not in "iu":
        raise refused(codes.shape, "codes", owner, f"whole numbers, a row per tuple and {len(sizes)} columns")
    if codes.size and (codes.min() < 0 or (codes.max(axis=0) >= np.array(sizes)).any()):
        raise refused(codes.max(axis=0).tolist(), "codes", owner, f"from 0 to below the sizes {sizes}")
    if weights.shape != (len(codes),) or weights.dtype.kind not in "iu" or (weights < 1).any():
        raise refused(weights.shape, "weights", owner, "a whole number of records, 1 or more, for each tuple")


def histogram(counts: Counts, attribute: int) -> NDArray[np.int64]:
    """Count the records of every cell of one attribute, given by its place."""
    sums = np.bincount(counts.codes[:, attribute], counts.weights, minlength=counts.sizes[attribute])
    return sums.astype(np.int64)  # exact: no sum of records reaches 2^53
