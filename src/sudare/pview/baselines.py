"""What every method must beat: a noisy count for every cell, and noisy histograms taken as independent."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from sudare.errors import InputError, ParameterError
from sudare.pview.account import Account
from sudare.pview.blocks import Cells, Codes, Floats, check_codes, project

MOST_CELLS = 10**7


def learn_identity(codes: Codes, sizes: Sequence[int], account: Account) -> Cells:
    """Return a noisy count of every cell. It is not clipped, as the clipped ones' errors would add up in every sum.

    >>> from sudare.noise.keystream import Keystream
    >>> from sudare.privacy.differential_privacy import DifferentialPrivacy
    >>> account = Account(DifferentialPrivacy(1.0), Keystream.unsafe(1))
    >>> learn_identity(np.zeros((100, 2), dtype=np.int32), (2, 3), account).table.shape
    (2, 3)
    """
    sizes = check_codes(codes, sizes, "learn_identity")
    table = dense(codes, sizes, MOST_CELLS, "A noisy count for every cell")
    part = account.spend("cells", Fraction(1))
    noisy = table + account.noise(table.size, part).reshape(sizes)
    return Cells(noisy.astype(np.float64), account.deviation(part))


def dense(codes: Codes, sizes: Sequence[int], most: int, what: str) -> NDArray[np.int64]:
    """Count the records of every cell, unless there are too many cells."""
    cells = math.prod(sizes)
    if cells > most:
        raise ParameterError(
            f"{what} needs a domain of {most:,} cells at most, and this one has {cells:,}. Use fewer attributes or wider "
            "bins, or a method for large domains."
        )
    places = np.ravel_multi_index(tuple(codes.T.astype(np.int64)), tuple(sizes))
    return np.bincount(places, minlength=cells).astype(np.int64).reshape(sizes)


@dataclass(frozen=True, eq=False)
class Product:
    """Histograms of single attributes, as if the attributes were independent.

    >>> model = Product((np.array([30.0, 10.0]), np.array([20.0, 20.0])), deviation=2.0)
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
            raise InputError("The view counts nobody; there is nothing to draw from.")
        columns = [rng.choice(len(m), size=n, p=m / m.sum()) for m in self.marginals]
        return np.stack(columns, axis=1).astype(np.int32)


def learn_independent(codes: Codes, sizes: Sequence[int], account: Account) -> Product:
    """Return noisy histograms of all attributes, each with the same share of the budget.

    Their sums are estimates of the same total, the better the shorter the histogram, so their weighted mean is taken.

    >>> from sudare.noise.keystream import Keystream
    >>> from sudare.privacy.differential_privacy import DifferentialPrivacy
    >>> account = Account(DifferentialPrivacy(1.0), Keystream.unsafe(1))
    >>> model = learn_independent(np.zeros((1000, 2), dtype=np.int32), (2, 3), account)
    >>> abs(model.total - 1000) < 50
    True
    """
    sizes = check_codes(codes, sizes, "learn_independent")
    noisy, deviation = noisy_histograms(codes, sizes, account)
    total = float(np.average([h.sum() for h in noisy], weights=[1 / size for size in sizes]))
    return Product(tuple(project(h, total) for h in noisy), deviation)


def noisy_histograms(codes: Codes, sizes: Sequence[int], account: Account) -> tuple[list[Floats], float]:
    """Return a noisy histogram of each attribute, and the standard deviation of their noise."""
    found = []
    part = account.whole / len(sizes)
    for a, size in enumerate(sizes):
        account.spend(f"histogram {a + 1}", Fraction(1, len(sizes)))
        found.append(
            (np.bincount(codes[:, a], minlength=size) + account.noise(size, part)).astype(np.float64)
        )
    return found, account.deviation(part)
