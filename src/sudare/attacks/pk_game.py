"""The Pk game: somebody who knows the whole original table guesses which published row is a given person's."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sudare.utility.intervals import REACH

Codes = NDArray[Any]


@dataclass(frozen=True)
class PkGame:
    """How often the guess was right, and how often it may be: 1/k."""

    win_rate: float
    low: float
    """The ends of a 95% interval."""
    high: float
    limit: float
    targets: int

    def __str__(self) -> str:
        return (
            f"Somebody who knows the original finds a person's row in {self.win_rate:.2%} of {self.targets:,} tries "
            f"(95%: {self.low:.2%} to {self.high:.2%}); at most {self.limit:.2%} were promised."
        )


def pk_game(
    original: Mapping[str, Codes],
    randomized: Mapping[str, Codes],
    laws: Mapping[str, Mapping[str, Any]],
    *,
    limit: float,
    targets: int = 1000,
) -> PkGame:
    """Play the game for some persons, drawn at random, by maximum likelihood.

    Both tables are given as codes in the same order of rows, which the adversary does not know. For each person the
    adversary takes the row that is likeliest to come from the person's original values by the published law; of
    several, any one, so that a win among n counts 1/n.

    >>> codes = {"ill": np.array([0, 1] * 50)}
    >>> print(pk_game(codes, codes, {"ill": {"retention": [0.5, 0.5]}}, limit=0.01))
    Somebody who knows the original finds a person's row in 1.00% of 100 tries (95%: 1.00% to 1.00%); at most 1.00% were promised.
    """
    records = len(next(iter(original.values())))
    rng = np.random.default_rng(0)  # it draws who is looked for, and protects nobody
    chosen = rng.permutation(records)[:targets]
    ready = {
        name: {**law, "matrix": np.array(law["matrix"])} if "matrix" in law else law
        for name, law in laws.items()
    }
    wins = np.array([_win(int(i), original, randomized, ready) for i in chosen])
    rate = float(wins.mean())
    reach = REACH * float(wins.std(ddof=1)) / math.sqrt(len(wins)) if len(wins) > 1 else 0.0
    return PkGame(rate, max(0.0, rate - reach), min(1.0, rate + reach), limit, len(wins))


def _win(
    i: int,
    original: Mapping[str, Codes],
    randomized: Mapping[str, Codes],
    laws: Mapping[str, Mapping[str, Any]],
) -> float:
    """Return the chance to find row i."""
    likelihood = np.zeros(len(next(iter(randomized.values()))))
    for name, law in laws.items():
        likelihood += _log_likelihoods(int(original[name][i]), randomized[name], law)
    best = likelihood >= likelihood.max() - 1e-9
    return float(best[i] / best.sum())


def _log_likelihoods(code: int, outputs: Codes, law: Mapping[str, Any]) -> NDArray[np.float64]:
    """Return the logarithm of the probability of each of some outputs for one input, up to a constant.

    A law may have more outputs than could be listed: only those that were published are looked at.
    """
    with np.errstate(divide="ignore"):
        if "retention" in law:
            others, keep = max(len(law["retention"]) - 1, 1), law["retention"][code]
            return np.asarray(np.log(np.where(outputs == code, keep, (1 - keep) / others)))
        if "scale" in law:
            return _noise(code, outputs.astype(np.int64), law)
        if "flips" in law:
            flipped = np.bitwise_count(
                outputs.astype(np.int64) ^ code
            )  # the clipped end is as good as its own bits
            return np.asarray(flipped * math.log(law["flips"] / (1 - law["flips"])))
        return np.asarray(np.log(law["matrix"][:, code])[outputs])


def _noise(code: int, outputs: NDArray[np.int64], law: Mapping[str, Any]) -> NDArray[np.float64]:
    rate = float(1 / Fraction(law["scale"]))
    found = -rate * np.abs(outputs - code)
    if law["after"] == "clip":  # the ends also get all that lies beyond
        found[(outputs == 0) | (outputs == law["steps"])] -= math.log(-math.expm1(-rate))
    return np.asarray(found)
