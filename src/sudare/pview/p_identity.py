"""P-Identity strategies for one attribute (McKenna, Miklau, Hay & Machanavajjhala 2018, PVLDB 11(10), section 5).

Every cell is measured, and p sums of cells beside them: A = [I; Theta] D, where D scales the columns so that one record changes
A x by 1. Of all Theta that are not below 0, the best for a workload with the Gram matrix G has the least trace((A'A)^-1 G),
which is found by gradients (their equation 5). With M = (I + Theta'Theta)^-1 and c = 1/D, that is sum M c c' G, cell by cell; and M is
I - Theta' K Theta with K = (I + Theta Theta')^-1, so that nothing larger than p x p is inverted.

Pure: a column's length is the sum of its absolute values; with rho, the root of its squares.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Asked = Literal["cells", "prefixes", "ranges", "random ranges", "total"]

MAX_CELLS = 1024
"""For more than that the search would take too long."""
SPARSE = 16
"""One sum for so many cells: p = n/16, as in the paper."""
STEPS = 100


@dataclass(frozen=True, eq=False)
class PIdentity:
    """Cells, each with a weight, and weighted sums of them, in whole numbers.

    >>> both = PIdentity(np.array([1, 1]), np.array([[1, 1]]))
    >>> both.change(pure=True), both.solve(np.array([3, 1, 4])).round(9).tolist()
    (2, [3.0, 1.0])
    """

    own: Integers
    """What each cell weighs by itself: 1 or more."""
    sums: Integers
    """What each cell weighs in every sum, sums x cells: 0 or more."""

    @cached_property
    def rows(self) -> Integers:
        """A: what is measured, a row for each."""
        return np.vstack([np.diag(self.own), self.sums])

    def change(self, *, pure: bool) -> int:
        """Return by how much one record changes what is measured: the largest sum of a column, or of its squares."""
        each = self.rows if pure else self.rows**2
        return int(each.sum(axis=0).max())

    def solve(self, measured: NDArray[Any]) -> Floats:
        """Return the cells that fit best, by least squares; of a table, along its first axis."""
        return np.asarray(self.covariance @ (self.rows.T.astype(np.float64) @ measured))

    @cached_property
    def covariance(self) -> Floats:
        """(A'A)^-1: the covariance of the cells, for noise of variance 1."""
        rows = self.rows.astype(np.float64)
        return np.asarray(np.linalg.inv(rows.T @ rows))

    @cached_property
    def _corners(self) -> Floats:
        """Sums of the covariance over all pairs of cells before two places."""
        return np.pad(self.covariance.cumsum(axis=0).cumsum(axis=1), ((1, 0), (1, 0)))

    def variances(self, low: NDArray[Any], high: NDArray[Any]) -> Floats:
        """Return the variances of ranges of cells, both ends included, for noise of variance 1."""
        first, last = low.astype(np.int64), high.astype(np.int64) + 1
        upto = self._corners
        return np.asarray(upto[last, last] + upto[first, first] - 2 * upto[first, last])

    def to_json(self) -> dict[str, Any]:
        """Return the weights as plain data."""
        return {"own": self.own.tolist(), "sums": self.sums.tolist()}


@lru_cache(maxsize=256)
def gram(asked: Asked, cells: int) -> Floats:
    """Return how many queries of a kind hold both of two cells; of random ranges, their share.

    >>> gram("ranges", 2).tolist(), gram("prefixes", 2).tolist()
    ([[2.0, 1.0], [1.0, 2.0]], [[2.0, 1.0], [1.0, 1.0]])
    """
    place = np.arange(cells)
    low, high = np.minimum.outer(place, place), np.maximum.outer(place, place)
    if asked == "cells":
        return np.eye(cells)
    if asked == "total":
        return np.ones((cells, cells))
    if asked == "prefixes":
        return np.asarray(cells - high, dtype=np.float64)
    if asked == "ranges":
        return np.asarray((low + 1.0) * (cells - high))
    both = np.zeros((cells, cells))  # random ranges: any width alike, then any place where it fits
    for width in range(1, cells + 1):
        first = np.minimum(low, cells - width)  # the last beginning that holds both
        both += np.maximum(first - np.maximum(high - width + 1, 0) + 1, 0) / (cells - width + 1)
    return both / cells


def queries(asked: Asked, cells: int) -> float:
    """Return how many queries of a kind there are; of random ranges, one is asked."""
    return {"cells": cells, "prefixes": cells, "ranges": cells * (cells + 1) / 2}.get(asked, 1.0)


def best_sums(wanted: Floats, *, pure: bool, begin: Floats | None = None) -> Floats:
    """Return the Theta that is best for a Gram matrix; if none is better than the cells alone, all of it is 0.

    The search begins with a given Theta, or anywhere: the workload is public, and so is the place.

    >>> alone, total = best_sums(np.eye(8), pure=True), best_sums(np.ones((8, 8)), pure=True)
    >>> bool(error(alone, np.eye(8), pure=True) <= 8), bool(error(total, np.ones((8, 8)), pure=True) < 3)
    (True, True)
    """
    n = len(wanted)
    none = np.zeros((max(n // SPARSE, 1), n))
    if n == 1:
        return none
    scaled = wanted / np.trace(wanted)
    start = np.random.default_rng(0).random(none.shape) if begin is None or not begin.any() else begin

    def value(flat: Floats) -> tuple[float, Floats]:
        now, slope = _error_and_slope(flat.reshape(none.shape), scaled, pure)
        return now, slope.ravel()

    bounds, most = [(0.0, None)] * none.size, {"maxiter": STEPS}
    done = minimize(value, start.ravel(), jac=True, method="L-BFGS-B", bounds=bounds, options=most)
    found = [none, np.maximum(done.x, 0.0).reshape(none.shape)]
    return min(found, key=lambda theta: error(theta, scaled, pure=pure))


def error(theta: Floats, wanted: Floats, *, pure: bool) -> float:
    """Return trace((A'A)^-1 G): the variance of all queries together, if one record changes what is measured by 1."""
    return _error_and_slope(theta, wanted, pure)[0]


def _error_and_slope(theta: Floats, wanted: Floats, pure: bool) -> tuple[float, Floats]:
    c = 1 + theta.sum(axis=0) if pure else np.sqrt(1 + (theta**2).sum(axis=0))
    # By einsum, which has no threads: on a busy machine, those of small products would wait for each other for seconds.
    inner = np.eye(len(theta)) + np.einsum("kj,lj->kl", theta, theta)
    t = np.einsum("kl,lj->kj", np.linalg.inv(inner), theta)  # K Theta = Theta M
    m = np.eye(theta.shape[1]) - np.einsum("ki,kj->ij", theta, t)
    h = wanted * c
    by_c = (m * h).sum(axis=1)
    th = np.einsum("ki,ij->kj", t * c, h)
    by_theta = -2 * (th - np.einsum("kl,lj->kj", np.einsum("ki,li->kl", th, theta), t))
    by_scale = 2 * by_c if pure else 2 * by_c * theta / c
    return float(by_c @ c), np.asarray(by_theta + by_scale)


def in_whole_numbers(theta: Floats, wanted: Floats, most: int, *, pure: bool) -> PIdentity:
    """Return the best of A rounded to 1, 2, 3, ... parts, whose change is at most so much: often it is the cells alone."""
    n = theta.shape[1]
    found = [PIdentity(np.ones(n, dtype=np.int64), np.zeros((0, n), dtype=np.int64))]
    shares = theta / (1 + theta.sum(axis=0) if pure else np.sqrt(1 + (theta**2).sum(axis=0)))
    root = most if pure else int(np.sqrt(most))
    for parts in sorted({*range(2, min(root, 8) + 1), *np.geomspace(2, max(root, 2), 12).astype(int)}):
        sums = np.rint(parts * shares).astype(np.int64)
        sums = sums[sums.any(axis=1)]
        held = sums.sum(axis=0) if pure else (sums**2).sum(axis=0)
        # What the fullest column changes all may change, so the others' cells weigh the more.
        full = max(int(held.max(initial=0)) + 1, parts if pure else parts**2)
        own = full - held if pure else np.sqrt(full - held).astype(np.int64)
        rounded = PIdentity(np.maximum(own, 1), sums)
        if len(sums) and rounded.change(pure=pure) <= most:
            found.append(rounded)
    return min(found, key=lambda one: float((one.covariance * wanted).sum()) * noise_of(one, pure=pure))


def noise_of(strategy: PIdentity, *, pure: bool) -> int:
    """Return the variance of the noise, against that of cells alone."""
    return strategy.change(pure=pure) ** (2 if pure else 1)
