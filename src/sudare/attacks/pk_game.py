"""The Pk game: somebody who knows the whole original table guesses which published row is a given person's."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sudare.plans.law import LawForm
from sudare.utility.intervals import REACH

MAX_PERSONS = 10_000
"""On whom the holder's record plays the game."""
TOLERANCE = 1e-9  # between sums of logarithms that are equal but for rounding

Codes = NDArray[Any]
Floats = NDArray[np.float64]
Likelihoods = Callable[[int, Codes], Floats]


@dataclass(frozen=True)
class PkGame:
    """How often the guess was right, and how often it may be: 1/k for so many persons."""

    win_rate: float
    low: float
    """The ends of a 95% interval."""
    high: float
    limit: float
    targets: int
    persons: int
    """Among how many rows each was looked for."""

    def __str__(self) -> str:
        return (
            f"Somebody who knows the original finds a person's row among {self.persons:,} in {self.win_rate:.2%} of "
            f"{self.targets:,} tries (95%: {self.low:.2%} to {self.high:.2%}); among so many, {self.limit:.2%} are allowed."
        )


def pk_game(
    original: Mapping[str, Codes],
    randomized: Mapping[str, Codes],
    laws: Mapping[str, LawForm],
    *,
    limit: float,
    targets: int = 1000,
) -> PkGame:
    """Play the game for some persons, drawn at random, by maximum likelihood.

    Both tables are given as codes in the same order of persons, which the adversary does not know. For each person the
    adversary takes the row that is likeliest to come from the person's original values by the published law; of
    several, any one, so that a win among n counts 1/n.

    The holder's record plays it on a sample of the persons, whose values are drawn by the law once more for the game: it
    judges the law, not one draw by it, and who was published as what need not be remembered. Among n persons a row is
    found more easily than among all, so that the limit is 1/k for n records, k = 1 + (n - 1) e^-spread.

    >>> codes = {"ill": np.array([0, 1] * 50)}
    >>> form = {"how": "retain", "epsilon": 0.0, "spread": 0.0, "values": ["no", "yes"], "retention": [0.5, 0.5]}
    >>> print(pk_game(codes, codes, {"ill": LawForm.of("ill", form)}, limit=0.01))
    Somebody who knows the original finds a person's row among 100 in 1.00% of 100 tries (95%: 1.00% to 1.00%); among so many, 1.00% are allowed.
    """
    persons = len(next(iter(original.values())))
    rng = np.random.default_rng(0)  # it draws who is looked for, and protects nobody
    chosen = rng.permutation(persons)[:targets]
    likelihoods = {name: _log_likelihoods(law) for name, law in laws.items()}
    wins = np.array([_win(int(i), original, randomized, likelihoods) for i in chosen])
    rate = float(wins.mean())
    reach = REACH * float(wins.std(ddof=1)) / math.sqrt(len(wins)) if len(wins) > 1 else 0.0
    return PkGame(rate, max(0.0, rate - reach), min(1.0, rate + reach), limit, len(wins), persons)


def _win(
    i: int,
    original: Mapping[str, Codes],
    randomized: Mapping[str, Codes],
    likelihoods: Mapping[str, Likelihoods],
) -> float:
    """Return the chance to find row i."""
    whole = np.zeros(len(next(iter(randomized.values()))))
    for name, log_likelihoods in likelihoods.items():
        whole += log_likelihoods(int(original[name][i]), randomized[name])
    best = whole >= whole.max() - TOLERANCE
    return float(best[i] / best.sum())


def _log_likelihoods(law: LawForm) -> Likelihoods:
    """Return how to compute the logarithm of the probability of some outputs for one input, up to a constant.

    A law may have more outputs than could be listed: only those that were drawn are looked at.
    """
    if law.retention is not None:
        return partial(_kept, np.array(law.retention))
    if law.matrix is not None:
        with np.errstate(divide="ignore"):
            logs = np.log(np.array(law.matrix))
        return lambda code, outputs: logs[outputs, code]
    if law.flips is not None:
        log_odds = math.log(law.flips / (1 - law.flips))
        # What lies beyond the grid was put at its end, which is taken for its own bits.
        return lambda code, outputs: log_odds * np.bitwise_count(outputs.astype(np.int64) ^ code)
    return partial(_moved, law)


def _kept(retention: Floats, code: int, outputs: Codes) -> Floats:
    keep, others = retention[code], max(len(retention) - 1, 1)
    with np.errstate(divide="ignore"):
        kept, moved = np.log(keep), np.log((1 - keep) / others)
    return np.asarray(np.where(outputs == code, kept, moved))


def _moved(law: LawForm, code: int, outputs: Codes) -> Floats:
    rate, points = float(1 / Fraction(law.scale or 0)), outputs.astype(np.int64)
    likelihood = -rate * np.abs(points - code)
    if law.after == "clip":  # the ends also get all that lies beyond
        likelihood[(points == 0) | (points == law.steps)] -= math.log(-math.expm1(-rate))
    return np.asarray(likelihood)
