"""A published law as an adversary uses it: how likely an output is for an input, and how well a law tells two inputs apart.

Written from the law's form alone; nothing comes from `randomization`. Inputs and outputs are codes: places in the list of
values, or points of a grid.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sudare.plans.law import LawForm

Codes = NDArray[np.int64]
Floats = NDArray[np.float64]

FAR = 2.0**60  # steps: farther than any grid reaches


@dataclass(frozen=True)
class Chances:
    """What one law does to codes; arrays are broadcast against each other."""

    likelihood: Callable[[Codes, Codes], Floats]
    """The logarithm of the probability that an input comes out as an output, up to a constant of the law."""
    spread: Callable[[Codes, Codes], Floats]
    """The largest sum of two log ratios, there and back, of two inputs; never less than it is."""
    draw: Callable[[Codes, np.random.Generator], Codes]
    """Draws an output for each input. (It protects nobody: games are played with it.)"""

    @classmethod
    def of(cls, law: LawForm) -> Chances:
        """Read a law.

        >>> form = {"how": "retain", "epsilon": 1.1, "spread": 2.2, "values": ["no", "yes"], "retention": [0.75, 0.75]}
        >>> chances = Chances.of(LawForm.of("ill", form))
        >>> zero, one = np.array([0]), np.array([1])
        >>> float(np.exp(chances.likelihood(zero, one))[0]), round(float(np.exp(chances.spread(zero, one))[0]), 6)
        (0.25, 9.0)
        """
        if law.axes is not None:
            return _of_area(law)
        if law.retention is not None:
            keep = np.array(law.retention)
            return cls(partial(_kept, keep), partial(_kept_apart, keep), partial(_keep, keep))
        if law.matrix is not None:
            matrix = np.array(law.matrix)
            with np.errstate(divide="ignore"):
                logs = np.log(matrix)
            return cls(
                lambda codes, outputs: logs[outputs, codes],
                partial(_columns_apart, logs),
                partial(_from_columns, matrix),
            )
        if law.weights is not None:
            weights, ratio = np.array(law.weights), law.ratio or 1.0
            return cls(
                partial(_weighed, weights, ratio),
                partial(_weighed_apart, weights, ratio),
                partial(_by_weights, weights, ratio),
            )
        if law.flips is not None:
            odds = abs(_odds(law.flips))
            return cls(
                partial(_flipped, law.flips, law.size),
                lambda one, other: 2 * odds * np.bitwise_count(one ^ other),
                partial(_flip, law.flips, law.size),
            )
        rate = float(1 / Fraction(law.scale or 0))
        fold = law.after == "reflect"
        return cls(
            partial(_folded if fold else _clipped, rate, law.size - 1),
            lambda one, other: 2 * rate * np.abs(one - other),
            partial(_add_noise, rate, law.size - 1, fold),
        )


def _log(probabilities: Any) -> Floats:
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(probabilities))


def _range(*logs: Floats) -> Floats:
    """Return how far logarithms of ratios are apart; what neither input can come out as (0/0) counts for nothing."""
    known = [np.nan_to_num(one, nan=0.0, posinf=np.inf, neginf=-np.inf) for one in logs]
    return np.asarray(np.maximum.reduce(known) - np.minimum.reduce(known))


# -- Kept, or any other -----------------------------------------------------------------------------------


def _kept(keep: Floats, codes: Codes, outputs: Codes) -> Floats:
    kept, moved = _kept_or_moved(keep, codes)
    return np.asarray(np.where(codes == outputs, kept, moved))


def _kept_or_moved(keep: Floats, codes: Codes) -> tuple[Floats, Floats]:
    """Return the logarithms of the probabilities to be kept, and to become one given other value."""
    return _log(keep[codes]), _log((1 - keep[codes]) / max(len(keep) - 1, 1))


def _kept_apart(keep: Floats, one: Codes, other: Codes) -> Floats:
    """Compare the outputs that are one of the two, or any third if there is one."""
    (kept, moved), (other_kept, other_moved) = (_kept_or_moved(keep, codes) for codes in (one, other))
    with np.errstate(invalid="ignore"):
        third = [moved - other_moved] if len(keep) > 2 else []
        apart = _range(kept - other_moved, moved - other_kept, *third)
    return np.asarray(np.where(one == other, 0.0, apart))


def _keep(keep: Floats, codes: Codes, rng: np.random.Generator) -> Codes:
    moved = (codes + rng.integers(1, max(len(keep), 2), codes.shape)) % len(keep)
    return np.asarray(np.where(rng.random(codes.shape) < keep[codes], codes, moved))


# -- A matrix ---------------------------------------------------------------------------------------------


def _columns_apart(logs: Floats, one: Codes, other: Codes) -> Floats:
    """Compare the columns of all pairs that occur, each once."""
    u, v = np.broadcast_arrays(one, other)
    pairs, place = np.unique(np.stack([u.ravel(), v.ravel()]), axis=1, return_inverse=True)
    with np.errstate(invalid="ignore"):
        apart = [float(_range(*(logs[:, a] - logs[:, b]))) for a, b in pairs.T]
    return np.asarray(np.array(apart)[place.ravel()].reshape(u.shape))


def _from_columns(matrix: Floats, codes: Codes, rng: np.random.Generator) -> Codes:
    sums = np.cumsum(matrix, axis=0)
    sums[-1] = 1.0
    return np.asarray((sums[:, codes] <= rng.random(codes.shape)).sum(axis=0))


# -- Weights ----------------------------------------------------------------------------------------------


def _weighed(weights: Floats, ratio: float, codes: Codes, outputs: Codes) -> Floats:
    sums = weights.sum() + (ratio - 1) * weights
    return np.asarray(
        _log(weights[outputs]) + np.where(codes == outputs, math.log(ratio), 0.0) - np.log(sums[codes])
    )


def _weighed_apart(weights: Floats, ratio: float, one: Codes, other: Codes) -> Floats:
    """The own outputs of the two tell them apart, as far as these come out; one of them does beside any third."""
    alive = (weights > 0).astype(np.int64)
    each = alive[one] + alive[other]
    most = 2 if alive.sum() > 1 else 0
    return np.asarray(np.where(one == other, 0.0, math.log(ratio) * np.minimum(each, most)))


def _by_weights(weights: Floats, ratio: float, codes: Codes, rng: np.random.Generator) -> Codes:
    sums = weights.sum() + (ratio - 1) * weights
    drawn = rng.choice(len(weights), codes.shape, p=weights / weights.sum())
    return np.asarray(np.where(rng.random(codes.shape) < ((ratio - 1) * weights / sums)[codes], codes, drawn))


# -- Bits -------------------------------------------------------------------------------------------------


def _odds(flip: float) -> float:
    return math.log(flip / (1 - flip))


def _flipped(flip: float, size: int, codes: Codes, outputs: Codes) -> Floats:
    bits = max(1, (size - 1).bit_length())
    flips = np.bitwise_count(codes ^ outputs)
    likely = _odds(flip) * flips + bits * math.log1p(-flip)
    return np.asarray(np.where(outputs == size - 1, _log(_at_end(flip, size, codes)), likely))


def _at_end(flip: float, size: int, codes: Codes) -> Floats:
    """Return how likely codes come out as the last point or beyond it: bit by bit, from the highest.

    So far bits are those of the last point; where it has a 0, a 1 leads beyond it, whatever follows.
    """
    end, beyond, so_far = size - 1, np.zeros(codes.shape), np.ones(codes.shape)
    for bit in reversed(range(max(1, end.bit_length()))):
        one = np.where((codes >> bit) & 1, 1 - flip, flip)
        if (end >> bit) & 1:
            so_far = so_far * one
        else:
            beyond, so_far = beyond + so_far * one, so_far * (1 - one)
    return np.asarray(beyond + so_far)


def _flip(flip: float, size: int, codes: Codes, rng: np.random.Generator) -> Codes:
    for bit in range(max(1, (size - 1).bit_length())):
        codes = codes ^ ((rng.random(codes.shape) < flip).astype(np.int64) << bit)
    return np.minimum(codes, size - 1)


# -- Noise ------------------------------------------------------------------------------------------------


def _clipped(rate: float, steps: int, codes: Codes, outputs: Codes) -> Floats:
    """Every step is e^-rate times as likely; the ends also get all that lies beyond."""
    beyond = -math.log(-math.expm1(-rate))
    return np.asarray(
        -rate * np.abs(outputs - codes) + np.where((outputs == 0) | (outputs == steps), beyond, 0)
    )


def _folded(rate: float, steps: int, codes: Codes, outputs: Codes) -> Floats:
    """What came out at i went to i or -i, and any number of times twice the width further; the ends are met once."""
    near, far = np.abs(outputs - codes), outputs + codes
    ways = (np.exp(-rate * (way - near)) for way in (far, 2 * steps - near, 2 * steps - far))
    ends = np.where((outputs == 0) | (outputs == steps), math.log(2), 0.0)
    return np.asarray(-rate * near + np.log1p(sum(ways)) - ends)


def _add_noise(rate: float, steps: int, fold: bool, codes: Codes, rng: np.random.Generator) -> Codes:
    """The difference of two geometric numbers, which are exponential ones rounded down, has the two-sided law."""
    one, other = (np.floor(rng.standard_exponential(codes.shape) / rate) for _ in range(2))
    noisy = codes + np.clip(one - other, -FAR, FAR).astype(np.int64)
    if fold:
        noisy = np.mod(noisy, 2 * steps)
        noisy = np.minimum(noisy, 2 * steps - noisy)
    return np.asarray(np.clip(noisy, 0, steps))


# -- An area ----------------------------------------------------------------------------------------------


def _of_area(law: LawForm) -> Chances:
    """Noise along each axis: likelihoods and spreads add up."""
    axes = list((law.axes or {}).values())
    shape = tuple(axis.steps + 1 for axis in axes)
    rates = [float(1 / Fraction(axis.scale)) for axis in axes]

    def likelihood(codes: Codes, outputs: Codes) -> Floats:
        places = zip(np.unravel_index(codes, shape), np.unravel_index(outputs, shape), strict=True)
        along = zip(rates, axes, places, strict=True)
        return np.asarray(sum(_clipped(rate, axis.steps, *both) for rate, axis, both in along))

    def spread(one: Codes, other: Codes) -> Floats:
        places = zip(np.unravel_index(one, shape), np.unravel_index(other, shape), strict=True)
        return np.asarray(sum(2 * rate * np.abs(u - v) for rate, (u, v) in zip(rates, places, strict=True)))

    def draw(codes: Codes, rng: np.random.Generator) -> Codes:
        along = zip(rates, axes, np.unravel_index(codes, shape), strict=True)
        return np.ravel_multi_index(
            tuple(_add_noise(rate, axis.steps, False, place, rng) for rate, axis, place in along), shape
        )

    return Chances(likelihood, spread, draw)
