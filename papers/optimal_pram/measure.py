"""Ours: Table 1, and what comes back from a randomized table when it is reconstructed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

import sudare as sd
from papers.optimal_pram.data import CELLS, Case, age_table, ages, other_ages
from papers.optimal_pram.paper import Pair, Printed
from sudare.noise.keystream import Keystream
from sudare.noise.sampling import sample_discrete_laplace, sample_retention
from sudare.randomization.channel import Channel
from sudare.randomization.estimate import most_likely
from sudare.randomization.made_for import derived_share
from sudare.randomization.pram import Pram

Floats = NDArray[np.float64]
BAND = 10  # years
EARLY = 300  # rounds of EM
SHARES = (0.005, 0.01, 0.02, 0.05, 0.1)
"""Of the budget, for a private estimate of the histogram; the last column is what `randomize` takes."""

# -- Table 1 -------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Row:
    """A case and a k, measured as the paper does."""

    case: int
    k: int
    errors: Printed
    mean: tuple[Floats, Floats]
    """The mean histogram of all runs, conventional and optimal."""
    one: tuple[Floats, Floats]
    """The histogram of the first run."""


def row(case: Case, k: int, runs: int) -> Row:
    """Randomize a histogram so many times with either PRAM."""
    prams = sd.pram.conventional_pram(CELLS, k=k, records=case.records), sd.pram.optimal_pram(case.v, k=k)
    drawn = [np.stack([histogram(case, pram, seed) for seed in range(runs)]) for pram in prams]
    off = [np.linalg.norm(each - case.v, axis=1) for each in drawn]
    return Row(
        case.number,
        k,
        Printed(
            _pair(np.linalg.norm(each.mean(axis=0) - case.v) for each in drawn),
            _pair(pram.bias(case.v) for pram in prams),
            _pair(each.min() for each in off),
            _pair(each.max() for each in off),
        ),
        (drawn[0].mean(axis=0), drawn[1].mean(axis=0)),
        (drawn[0][0], drawn[1][0]),
    )


def histogram(case: Case, pram: Pram, seed: int) -> Floats:
    """Randomize every record, and count."""
    out = sample_retention(case.codes(), pram.leave, Keystream.unsafe(seed))
    return np.bincount(out, minlength=len(case.v)).astype(np.float64)


def _pair(values: Iterator[Any]) -> Pair:
    return Pair(*(float(value) for value in values))


# -- reconstruction ------------------------------------------------------------------------------------

ARMS: dict[str, dict[str, Any]] = {
    "conventional": {"how": {"age": "retain"}},
    "optimal, true histogram": {"how": {"age": "optimal"}, "histogram": "true-histogram"},
    "optimal, private estimate": {"how": {"age": "optimal"}, "histogram": "private-estimate"},
    "optimal, adult.test": {"how": {"age": "optimal"}},  # and a prior
    "general, private estimate": {"how": {"age": "optimal"}, "loss": "reconstruction"},
    "general, adult.test": {"how": {"age": "optimal"}, "loss": "reconstruction"},  # and a prior
}
CONVENTIONAL, TRUE, PRIVATE, PUBLIC, GENERAL, GENERAL_PUBLIC = ARMS
SLOW_SEEDS = 3
"""Of the general matrices, each of which is searched for anew."""


@dataclass(frozen=True)
class Back:
    """How far off the raw histogram and the reconstructed ones are, over all seeds."""

    arm: str
    k: int
    pk: float
    """The k that the certificate measured."""
    raw: Floats
    ml: Floats
    early: Floats
    """The same as ml, but stopped after some rounds of EM."""
    unbiased: Floats
    raw_bands: Floats
    """The mean error of the counts of ten-year bands."""
    ml_bands: Floats
    kept: tuple[float, float]
    """The least and the largest retention."""


def back(arm: str, k: int, seeds: int) -> Back:
    """Randomize Adult's ages with the library, reconstruct them with it, and compare with the truth."""
    v, options = ages(), dict(ARMS[arm])
    if arm in (PUBLIC, GENERAL_PUBLIC):
        options["priors"] = {"age": other_ages()}
    errors = []
    for seed in range(min(seeds, SLOW_SEEDS) if "loss" in options else seeds):
        release = sd.randomize(age_table(), sd.PkAnonymity(k), unsafe_seed=seed, **options)
        unbiased = sd.reconstruct(release, "age", method="unbiased")
        raw, channel = unbiased.published, release.plan["age"].channel
        # what reconstruct(method="ml") returns, without its bootstrap for the standard errors
        ml = most_likely(unbiased.laws, raw)
        early = plain_em(channel, raw, EARLY)
        errors.append(
            [
                *(float(np.linalg.norm(histogram - v)) for histogram in (raw, ml, early, unbiased.counts)),
                *(float(np.abs(bands(histogram) - bands(v)).mean()) for histogram in (raw, ml)),
            ]
        )
    retention = channel.matrix.diagonal()
    kept = float(retention.min()), float(retention.max())
    return Back(arm, k, release.certificate.measured["pk"], *np.array(errors).T, kept)


def plain_em(channel: Channel, published: Floats, rounds: int) -> Floats:
    """Return what EM has after so many rounds: v_j becomes v_j sum_i P[i, j] w_i / (P v)_i."""
    v = np.full(channel.inputs, published.sum() / channel.inputs)
    for _ in range(rounds):
        v = v * channel.likelihoods(published / channel.expected(v))
    return np.asarray(v)


def bands(v: Floats) -> Floats:
    """Add up ten years at a time."""
    return np.add.reduceat(v, np.arange(0, len(v), BAND))


def expected_unbiased(pram: Pram, v: Floats) -> float:
    """Return the root of the expected ||P^-1 w - v||^2, from the variances and no draw."""
    return float(np.sqrt((pram.inverse_squares(pram.expected(v)) - v).sum()))


@dataclass(frozen=True)
class Estimated:
    """||P v - v|| for the optimal PRAM from private estimates, by the share of the budget that they cost."""

    histogram: str
    k: int
    conventional: float
    true: float
    by_share: dict[float, float]
    derived: float
    """The share that `randomize` takes by default."""
    by_derived: float


def estimated(name: str, v: Floats, k: int, seeds: int) -> Estimated:
    """Make optimal PRAMs for a histogram from private estimates, as `randomize` does, with other shares too."""
    epsilon = sd.PkAnonymity(k).epsilon(int(v.sum()))
    derived = derived_share(len(v), int(v.sum()), epsilon)

    def bias(share: float) -> float:
        return float(np.mean([from_estimate(v, epsilon, share, seed).bias(v) for seed in range(seeds)]))

    return Estimated(
        name,
        k,
        sd.pram.conventional_pram(len(v), epsilon=epsilon).bias(v),
        sd.pram.optimal_pram(v, epsilon=epsilon).bias(v),
        {share: bias(share) for share in SHARES},
        derived,
        bias(derived),
    )


def from_estimate(v: Floats, epsilon: float, share: float, seed: int) -> Pram:
    """Return the optimal PRAM for a private estimate of v; both together cost epsilon."""
    noise = sample_discrete_laplace(len(v), Fraction(2 / (share * epsilon)), Keystream.unsafe(10**6 + seed))
    return sd.pram.optimal_pram(np.maximum(v + noise, 1), epsilon=(1 - share) * epsilon)


KINDS = ("conventional", "optimal, true histogram", "optimal, private estimate")


@dataclass(frozen=True)
class Elsewhere:
    """The mean error on any case: raw, after some rounds of EM, and unbiased."""

    case: int
    k: int
    kind: str
    raw: float
    early: float
    unbiased: float

    @property
    def best(self) -> float:
        return min(self.raw, self.early, self.unbiased)


def elsewhere(case: Case, k: int, kind: str, seeds: int) -> Elsewhere:
    """Randomize and reconstruct the histogram of a case."""
    epsilon = sd.PkAnonymity(k).epsilon(case.records)
    errors = []
    for seed in range(seeds):
        if kind == KINDS[0]:
            pram = sd.pram.conventional_pram(CELLS, epsilon=epsilon)
        elif kind == KINDS[1]:
            pram = sd.pram.optimal_pram(case.v, epsilon=epsilon)
        else:
            pram = from_estimate(case.v, epsilon, derived_share(CELLS, case.records, epsilon), seed)
        w = histogram(case, pram, seed)
        estimates = (w, plain_em(pram, w, EARLY), pram.inverse(w))
        errors.append([float(np.linalg.norm(estimate - case.v)) for estimate in estimates])
    return Elsewhere(case.number, k, kind, *np.mean(errors, axis=0).tolist())
