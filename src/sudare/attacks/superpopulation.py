"""How many people of a population are the only ones with their values, estimated from the blocks of a sample.

Each model says how the sizes F of a population's blocks are spread; the sizes f of the sample's blocks tell its parameters. With
n records of N people in u blocks, n_i of which have i records, and pi = n / N:

- Pitman (Hoshino 2001): blocks form as in Pitman's sampling formula, with theta and alpha of the largest likelihood. There are
  Gamma(theta + 1) / Gamma(theta + alpha) N^alpha uniques, for large N.
- Zayatz (1991): the population has blocks of each size in the shares that the sample has. A sample's unique is then one of the
  population with a probability by Bayes' rule, from the hypergeometric one that a block of i people shows just one.
- SNB (Chen and Keller-McNulty 1998), the slide negative binomial: F - 1 has a negative binomial distribution with alpha and beta,
  so that K beta^alpha of K blocks are uniques. K is Shlosser's estimate, as Haas and Stokes (1998) modified it; alpha and beta
  are those by which n_1 and n_2 are what they are expected to be.

Dankar and others (2012) say which to rely on: Pitman's where pi is at most 0.1, else the smaller one of the other two.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import scipy  # which loads its parts when they are first used
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Model = Literal["pitman", "zayatz", "snb"]
FEW = 0.1  # the largest sampling fraction for which Pitman's model is relied on
GRID = np.linspace(-25, 25, 501)  # where solutions are looked for: the logarithms of beta / (1 - beta)
TINY = 1e-9  # the smallest alpha, and 1 - the largest one


@dataclass(frozen=True)
class Uniques:
    """How many people of a population are alone with their values, by each model; None where it has no solution."""

    pitman: float | None
    zayatz: float
    snb: float | None
    rule: Model
    """Which of them Dankar's rule relies on."""

    @property
    def estimate(self) -> float:
        """The number by Dankar's rule."""
        chosen: float = getattr(self, self.rule)
        return chosen


@dataclass(frozen=True, eq=False)
class _Sample:
    """The blocks of a sample: so many (`counts`) of each size."""

    sizes: Floats
    counts: Floats
    people: float
    """N, of the population."""

    @property
    def records(self) -> float:
        return float(self.sizes @ self.counts)

    @property
    def blocks(self) -> float:
        return float(self.counts.sum())

    def of_size(self, size: int) -> float:
        return float(self.counts[self.sizes == size].sum())


def uniques(sizes: NDArray[Any], counts: NDArray[Any], people: float) -> Uniques:
    """Estimate how many of so many people are unique; `counts[i]` blocks of the sample have `sizes[i]` records.

    >>> found = uniques(np.array([1, 2, 3]), np.array([400, 150, 100]), people=10_000)
    >>> found.rule, round(found.estimate), round(found.zayatz)
    ('pitman', 804, 1752)
    """
    sample = _Sample(np.asarray(sizes, dtype=np.float64), np.asarray(counts, dtype=np.float64), people)
    alone, fraction = sample.of_size(1), sample.records / people
    if alone == 0 or fraction >= 1:  # nobody is, or the sample is the population
        return Uniques(alone, alone, alone, "zayatz")
    pitman, zayatz, snb = _pitman(sample), _zayatz(sample), _snb(sample, fraction)
    return Uniques(pitman, zayatz, snb, relied_on(fraction, pitman, zayatz, snb))


def relied_on(fraction: float, pitman: float | None, zayatz: float, snb: float | None) -> Model:
    """Choose a model by Dankar's rule; Zayatz's stands in for one that has no solution.

    >>> relied_on(0.1, 3.0, 2.0, None), relied_on(0.2, 3.0, 2.0, 1.0), relied_on(0.2, 3.0, 2.0, None)
    ('pitman', 'snb', 'zayatz')
    """
    if fraction <= FEW:
        return "zayatz" if pitman is None else "pitman"
    return "zayatz" if snb is None or zayatz < snb else "snb"


def _zayatz(sample: _Sample) -> float:
    i, n, people = sample.sizes, sample.records, sample.people
    possible = people - n - i + 1 > 0  # all others of the block can be left out of the sample
    size = i[possible]
    others = np.maximum(
        size - 1, 1e-300
    )  # that they are: a ratio of factorials, by logarithms that do not cancel
    left_out = np.where(
        size > 1,
        scipy.special.betaln(people - size + 1, others) - scipy.special.betaln(people - n - size + 2, others),
        0.0,
    )
    shows_one = float(sample.counts[possible] @ (size * n / people * np.exp(left_out)))
    alone = sample.of_size(1)
    return min(alone * alone / shows_one, people)


def _pitman(sample: _Sample) -> float | None:
    """Solve the likelihood's equations for theta, given alpha, and for alpha."""
    u, n, sizes, counts = sample.blocks, sample.records, sample.sizes, sample.counts
    if u in (1.0, n):  # one block, or only uniques: the likelihood has no maximum
        return None

    def of_theta(theta: float, alpha: float) -> float:
        of_blocks = scipy.special.digamma(theta / alpha + u) - scipy.special.digamma(theta / alpha + 1)
        return float(
            of_blocks / alpha - (scipy.special.digamma(theta + n) - scipy.special.digamma(theta + 1))
        )

    def best_theta(alpha: float) -> float:
        high = 1.0
        while of_theta(high, alpha) > 0:
            high *= 4
        return _root(lambda theta: of_theta(theta, alpha), -alpha * (1 - TINY), high)

    def of_alpha(alpha: float) -> float:
        theta = best_theta(alpha)
        of_blocks = (u - 1) / alpha - theta / alpha**2 * (
            scipy.special.digamma(theta / alpha + u) - scipy.special.digamma(theta / alpha + 1)
        )
        return float(
            of_blocks - counts @ (scipy.special.digamma(sizes - alpha) - scipy.special.digamma(1 - alpha))
        )

    low = 1e-4  # below it the difference of two large terms is mostly rounding
    alpha = low if of_alpha(low) <= 0 else _root(of_alpha, low, 1 - TINY)
    theta = best_theta(alpha)
    logarithm = (
        scipy.special.gammaln(theta + 1)
        - scipy.special.gammaln(theta + alpha)
        + alpha * math.log(sample.people)
    )
    return float(min(math.exp(logarithm), sample.people))


def _snb(sample: _Sample, pi: float) -> float | None:
    """Solve for beta the equation that is left when alpha is what n_2 / n_1 says it must be with that beta."""
    n1, n2 = sample.of_size(1), sample.of_size(2)
    if n2 == 0:
        return None
    blocks = _blocks_of_the_population(sample, pi)
    betas = 1 / (1 + np.exp(-GRID))

    def excess(beta: Any) -> Any:
        alpha = _alpha(beta, pi, n2 / n1)
        q = (1 - pi) * (1 - beta)
        return blocks * pi * (beta / (1 - q)) ** alpha * (1 + alpha * q / (1 - q)) - n1

    at = excess(betas)
    turns = np.flatnonzero(np.sign(at[:-1]) * np.sign(at[1:]) < 0)
    solutions = [_root(lambda beta: float(excess(beta)), betas[i], betas[i + 1]) for i in turns]
    # Of several solutions the one with the most uniques: risks are rather overstated.
    return max((float(blocks * beta ** _alpha(beta, pi, n2 / n1)) for beta in solutions), default=None)


def _alpha(beta: Any, pi: float, ratio: float) -> Any:
    """Return the alpha with which blocks of two are to blocks of one as `ratio` says: the positive root of a quadratic."""
    q = (1 - pi) * (1 - beta)
    a = pi * (1 - beta) * q
    b = pi * (1 - beta) * (2 - q) - 2 * ratio * (1 - q) * q
    c = 2 * ratio * (1 - q) ** 2
    root = np.sqrt(b * b + 4 * a * c)
    return np.where(b > 0, 2 * c / (b + root), (root - b) / (2 * a))


def _blocks_of_the_population(sample: _Sample, pi: float) -> float:
    """Return Shlosser's estimate of K, with the factor of Haas and Stokes against its bias."""
    i, counts = sample.sizes, sample.counts
    unseen = counts @ (1 - pi) ** i
    seen_once = counts @ (i * pi * (1 - pi) ** (i - 1))
    once = counts @ (i * pi**2 * (1 - pi**2) ** (i - 1))
    lost = counts @ ((1 - pi**2) ** i - (1 - pi) ** i)  # (1 - pi)^i ((1 + pi)^i - 1)
    return float(sample.blocks + sample.of_size(1) * once / lost * (unseen / seen_once) ** 2)


def _root(function: Callable[[float], float], low: float, high: float) -> float:
    return float(scipy.optimize.brentq(function, low, high, xtol=1e-12, rtol=1e-13))
