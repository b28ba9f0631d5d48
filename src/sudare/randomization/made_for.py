"""The histogram that an optimal matrix is made for: a public one, a private estimate, or the true one, which is told."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike

from sudare.errors import ParameterError
from sudare.noise.keystream import Keystream
from sudare.noise.sampling import sample_discrete_laplace
from sudare.randomization.best import Family, best_within
from sudare.randomization.channel import Channel, Floats, as_numbers
from sudare.randomization.choices import LawChoice
from sudare.randomization.domains import domain_counts
from sudare.randomization.methods import Optimal
from sudare.randomization.respondents import Respondents
from sudare.tables.table import Table

PARTS_OF_EPSILON = 2**20
SHARES = (0.01, 0.02)
"""Between which the derived share is held: outside of these it was worse than at the nearer one (papers/optimal_pram)."""
BEYOND = 0.05
"""The chance that any count of an estimate is farther off than a matrix for the worst case is made for."""


def optimal_channel(
    choice: LawChoice,
    method: Optimal,
    table: Table | Respondents,
    epsilon: float,
    of_k: bool,
    source: Keystream,
) -> tuple[Channel, float]:
    """Return the best channel within epsilon (or a spread of twice that), and what of epsilon a private estimate took.

    A matrix made from the true histogram tells about it beyond any epsilon (section 5.2 of the paper).
    """
    if method.prior is not None:
        return _best(method, _public(choice, method.prior), epsilon, of_k, method.within), 0.0
    if isinstance(table, Respondents):
        raise ParameterError(
            f"An optimal law of '{choice.name}' is made for a histogram, which nobody has before people are asked. Give a public one as its prior."
        )
    if method.histogram == "true-histogram":
        counts = domain_counts(choice.domain, table).astype(np.float64)
        return _best(method, counts, epsilon, of_k, method.within), 0.0
    return _by_estimate(choice, method, table, epsilon, of_k, source)


def derived_share(d: int, records: int, epsilon: float) -> float:
    """Return which share of epsilon to spend on an estimate: it rests on the size of the table alone, which is published.

    Spending the share s leaves (1 - s) epsilon, and the error of the expected histogram, about q ||v - mean|| with
    q = 1 - p and p = e^epsilon / (e^epsilon + d - 1), grows by a factor of e^(s epsilon p), since d ln q = -p d epsilon. The noise of
    the estimate has the variance 8 / (s epsilon)^2 in every count, and enters the error times q. With ||v - mean|| =
    N / sqrt d, of a histogram whose counts vary as much as their mean, the sum of both squares,
    (q N)^2 / d (1 + 2 s epsilon p) + 8 d q^2 / (s epsilon)^2, is least for s = 2 (d / N)^(2/3) / (epsilon p^(1/3)).

    >>> round(derived_share(74, 32_561, 4.1), 4), derived_share(74, 1_000, 0.5)
    (0.011, 0.02)
    """
    if epsilon <= 0:
        return SHARES[1]
    kept = 1 / (1 + (d - 1) * math.exp(-epsilon))
    best = 2 * math.cbrt(d / max(records, 1)) ** 2 / (epsilon * math.cbrt(kept))
    return min(max(best, SHARES[0]), SHARES[1])


def _best(method: Optimal, v: Floats, epsilon: float, of_k: bool, within: ArrayLike | None) -> Channel:
    family: Family = "A" if method.loss == "published" else "general"
    return best_within(
        v, epsilon, of_k=of_k, family=family, loss=method.loss, distance=method.distance, within=within
    )


def _public(choice: LawChoice, prior: ArrayLike) -> Floats:
    """Return a histogram that was given as public."""
    histogram, size, shape = as_numbers(prior), len(choice.domain), choice.domain.shape
    if histogram.shape not in ((size,), shape):
        form = "one per value" if shape == (size,) else f"one per combination, in the shape {shape} or flat"
        raise ParameterError(
            f"The prior of '{choice.name}' must have {size} counts, {form}. Got the shape {histogram.shape} "
            f"instead.{of_missing(choice)}"
        )
    return histogram.ravel()


def of_missing(choice: LawChoice) -> str:
    """Remind of the place for missing values, which is easily forgotten."""
    if not any(part.missing for part in choice.domain.parts):
        return ""
    return ' The last value of an attribute is the missing one; where none is, the schema may say missing = "refuse".'


def _by_estimate(
    choice: LawChoice, method: Optimal, table: Table, epsilon: float, of_k: bool, source: Keystream
) -> tuple[Channel, float]:
    """Make the best channel from a private estimate, and return what of epsilon the estimate took.

    It adds noise of scale 2/e to every count, since one record's change moves two of them; e is then part of what the
    whole promises. For the worst case, all histograms count that are as near as the true one is with a chance of 95%.
    """
    size = len(choice.domain)
    share = (
        derived_share(size, len(table), epsilon) if method.estimate_share is None else method.estimate_share
    )
    own = Fraction(math.ceil(share * epsilon * PARTS_OF_EPSILON), PARTS_OF_EPSILON)
    if own >= epsilon:  # too little for both: take all values for equally frequent
        return _best(method, np.ones(size), epsilon, of_k, None), 0.0
    scale = 2 / own
    noisy = domain_counts(choice.domain, table) + sample_discrete_laplace(size, scale, source)
    within = float(scale) * math.log(size / BEYOND)
    return _best(method, np.maximum(noisy, 1), epsilon - float(own), of_k, within), float(own)
