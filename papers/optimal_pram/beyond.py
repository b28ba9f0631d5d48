"""Section 5.3: matrices beyond A-type, beside the mechanisms that others use, by every loss; on real histograms."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from typing import NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

import sudare as sd
from papers.optimal_pram.data import ages
from papers.optimal_pram.measure import EARLY, plain_em
from sudare.noise.keystream import Keystream
from sudare.noise.sampling import sample_matrix
from sudare.randomization.channel import MatrixChannel
from sudare.randomization.reconstructable import patterns

Floats = NDArray[np.float64]
K = 10


class Measured(NamedTuple):
    """A mechanism on a histogram, by every loss."""

    histogram: str
    mechanism: str
    epsilon: float
    changed: float
    """How often a record is published as another value."""
    moved: float
    """By how many places it moves on average."""
    worst: float
    """How often the value that is changed most is changed."""
    published: float
    """||P v - v||."""
    unbiased: float
    """The root of the expected squared error of the unbiased estimate; infinite if there is none."""
    likely: float
    """The mean error after some rounds of EM."""


@cache
def histograms() -> dict[str, Floats]:
    """Return histograms of Adult: the paper's ages, and two attributes that nothing was tuned on."""
    adult = sd.datasets.load("adult")
    return {
        "age": ages(),
        "hours-per-week": _counted(adult["hours-per-week"]),
        "education": _counted(adult["education"]),
    }


def _counted(values: pl.Series) -> Floats:
    return values.value_counts().sort(values.name)["count"].to_numpy().astype(np.float64)


# -- what others use -----------------------------------------------------------------------------------


def geometric(d: int, e: float) -> Floats:
    """Return two-sided geometric noise on the number of the value, what leaves the ends clipped; e between the ends."""
    a, i = e ** (-1 / (d - 1)), np.arange(d)
    matrix = (1 - a) / (1 + a) * a ** np.abs(i[:, None] - i)
    matrix[0], matrix[-1] = a**i / (1 + a), a ** (d - 1 - i) / (1 + a)
    return np.asarray(matrix)


def circle(d: int, e: float) -> Floats:
    """Return the subset mechanism with as many subsets as values: one subset of about d / (e + 1), shifted in a circle."""
    ones = 1 + (e - 1) * patterns(d, e)[-1]
    return np.asarray(ones / ones.sum(axis=0))


def subsets_error(v: Floats, e: float) -> float:
    """Return the root of the expected squared error of the subset mechanism itself, which publishes sets, not values.

    Of all sets of w values it draws those that hold the record's own e times as often. With p and g the chances that a set
    holds a record's own value or another given one, (count of j - N g) / (p - g) estimates the count of j.
    """
    d, records = len(v), v.sum()
    errors = []
    for w in range(1, d):
        p = w * e / (w * e + d - w)
        g = (w * e * (w - 1) + (d - w) * w) / ((d - 1) * (w * e + d - w))
        errors.append(float((v * p * (1 - p) + (records - v) * g * (1 - g)).sum()) / (p - g) ** 2)
    return math.sqrt(min(errors))


MECHANISMS: dict[str, Callable[[Floats, float, int], Floats]] = {
    "randomized response (conventional)": lambda v, e, k: (
        sd.pram.conventional_pram(len(v), epsilon=math.log(e)).matrix
    ),
    "geometric": lambda v, e, k: geometric(len(v), e),
    "subsets in a circle": lambda v, e, k: circle(len(v), e),
    "A-type, published": lambda v, e, k: sd.pram.optimal_pram(v, epsilon=math.log(e)).matrix,
    "A-type, record": lambda v, e, k: sd.pram.optimal(v, epsilon=math.log(e), family="A").matrix,
    "A-type, reconstruction": lambda v, e, k: (
        sd.pram.optimal(v, epsilon=math.log(e), family="A", loss="reconstruction").matrix
    ),
    "general, record, by ε": lambda v, e, k: sd.pram.optimal(v, epsilon=math.log(e)).matrix,
    "general, record, by k": lambda v, e, k: sd.pram.optimal(v, k=k).matrix,
    "general, order, by ε": lambda v, e, k: sd.pram.optimal(v, epsilon=math.log(e), distance="order").matrix,
    "general, order, by k": lambda v, e, k: sd.pram.optimal(v, k=k, distance="order").matrix,
    "general, worst case, by ε": lambda v, e, k: (
        sd.pram.optimal(v, epsilon=math.log(e), loss="worst case").matrix
    ),
    "general, reconstruction, by ε": lambda v, e, k: (
        sd.pram.optimal(v, epsilon=math.log(e), loss="reconstruction").matrix
    ),
    "general, reconstruction, by k": lambda v, e, k: sd.pram.optimal(v, k=k, loss="reconstruction").matrix,
}


def beyond(seeds: int, names: tuple[str, ...] | None = None) -> list[Measured]:
    """Measure all mechanisms on some histograms; all are held to k = 10, most of them by the epsilon that is enough for it."""
    return [
        measured(name, v, mechanism, seeds)
        for name, v in histograms().items()
        if names is None or name in names
        for mechanism in MECHANISMS
    ]


def measured(name: str, v: Floats, mechanism: str, seeds: int) -> Measured:
    """Measure one mechanism on one histogram."""
    e = math.sqrt((v.sum() - 1) / (K - 1))
    matrix = MECHANISMS[mechanism](v, e, K)
    channel, share, places = MatrixChannel(matrix), v / v.sum(), np.arange(len(v))
    assert 1 + (v.sum() - 1) * math.exp(-channel.spread) >= K * (1 - 1e-9), mechanism
    kept = matrix.diagonal()
    apart = np.abs(places[:, None] - places)
    return Measured(
        name,
        mechanism,
        channel.epsilon,
        float(1 - kept @ share),
        float((matrix * apart).sum(axis=0) @ share),
        float(1 - kept.min()),
        float(np.linalg.norm(matrix @ v - v)),
        _unbiased(matrix, v),
        float(np.mean([_after_em(channel, v, seed) for seed in range(seeds)])),
    )


def _unbiased(matrix: Floats, v: Floats) -> float:
    if np.linalg.matrix_rank(matrix) < len(v):
        return math.inf
    return math.sqrt(float((np.linalg.inv(matrix) ** 2 @ (matrix @ v)).sum() - v.sum()))


def _after_em(channel: MatrixChannel, v: Floats, seed: int) -> float:
    codes = np.repeat(np.arange(len(v), dtype=np.uint8), v.astype(np.int64))
    out = sample_matrix(codes, channel.matrix, Keystream.unsafe(seed))
    counts = np.bincount(out, minlength=len(v)).astype(np.float64)
    used = MatrixChannel(channel.matrix[channel.matrix.max(axis=1) > 0])
    return float(np.linalg.norm(plain_em(used, counts[channel.matrix.max(axis=1) > 0], EARLY) - v))
