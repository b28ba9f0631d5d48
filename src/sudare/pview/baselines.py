"""What every method must beat: a noisy count for every cell, and noisy histograms taken as independent."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from sudare.errors import ParameterError
from sudare.pview.account import Account
from sudare.pview.domain import Domain
from sudare.pview.method import Method
from sudare.pview.models import CellsModel, ProductModel
from sudare.pview.noisy_counts import (
    MAX_CELLS,
    Floats,
    NoisyCells,
    NoisyProduct,
    check_counts,
    histogram,
    project,
)
from sudare.tables.counts import Counts
from sudare.tables.typed import typed


@typed
@dataclass(frozen=True)
class Identity(Method):
    """A noisy count for every cell, for small domains."""

    name: ClassVar[str] = "identity"

    def learn(self, counts: Counts, domain: Domain, account: Account) -> CellsModel:
        """Count every cell with noise."""
        return CellsModel(learn_identity(counts, account))


@typed
@dataclass(frozen=True)
class Independent(Method):
    """A noisy histogram of every attribute, as if the attributes had nothing to do with each other."""

    name: ClassVar[str] = "independent"

    def learn(self, counts: Counts, domain: Domain, account: Account) -> ProductModel:
        """Count every attribute's values with noise."""
        return ProductModel(learn_independent(counts, account))


def learn_identity(counts: Counts, account: Account) -> NoisyCells:
    """Return a noisy count of every cell. It is not clipped, as the clipped ones' errors would add up in every sum.

    >>> from sudare.noise.keystream import Keystream
    >>> from sudare.privacy.differential_privacy import DifferentialPrivacy
    >>> account = Account(DifferentialPrivacy(1.0), Keystream.unsafe(1))
    >>> learn_identity(Counts(("a", "b"), np.array([[0, 0]]), np.array([100]), (2, 3)), account).table.shape
    (2, 3)
    """
    check_counts(counts, "learn_identity")
    table = dense(counts, MAX_CELLS, "A noisy count for every cell")
    part = account.spend("cells", Fraction(1))
    noisy = table + account.noise(table.size, part).reshape(counts.sizes)
    return NoisyCells(noisy.astype(np.float64), account.deviation(part))


def dense(counts: Counts, most: int, what: str) -> NDArray[np.int64]:
    """Return the counts of all cells, unless there are too many cells."""
    cells = math.prod(counts.sizes)
    if cells > most:
        raise ParameterError(
            f"{what} needs a domain of {most:,} cells at most, and this one has {cells:,}. Use fewer attributes or wider "
            "bins, or a method for large domains."
        )
    places = np.ravel_multi_index(tuple(counts.codes.T.astype(np.int64)), counts.sizes)
    sums = np.bincount(places, counts.weights, minlength=cells)
    return sums.astype(np.int64).reshape(counts.sizes)  # exact: no sum of records reaches 2^53


def learn_independent(counts: Counts, account: Account) -> NoisyProduct:
    """Return noisy histograms of all attributes, each with the same share of the budget.

    Their sums are estimates of the same total, the better the shorter the histogram, so their weighted mean is taken.

    >>> from sudare.noise.keystream import Keystream
    >>> from sudare.privacy.differential_privacy import DifferentialPrivacy
    >>> account = Account(DifferentialPrivacy(1.0), Keystream.unsafe(1))
    >>> model = learn_independent(Counts(("a", "b"), np.array([[0, 0]]), np.array([1000]), (2, 3)), account)
    >>> abs(model.total - 1000) < 50
    True
    """
    check_counts(counts, "learn_independent")
    noisy, deviation = noisy_histograms(counts, account)
    total = float(np.average([h.sum() for h in noisy], weights=[1 / size for size in counts.sizes]))
    return NoisyProduct(tuple(project(h, total) for h in noisy), deviation)


def noisy_histograms(counts: Counts, account: Account) -> tuple[list[Floats], float]:
    """Return a noisy histogram of each attribute, and the standard deviation of their noise."""
    histograms, share = [], Fraction(1, len(counts.sizes))
    for a, size in enumerate(counts.sizes):
        part = account.spend("table", share, counts.names[a])
        histograms.append((histogram(counts, a) + account.noise(size, part)).astype(np.float64))
    return histograms, account.deviation(share * account.whole)
