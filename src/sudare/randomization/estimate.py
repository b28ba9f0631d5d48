"""Getting the truth back out: how many records had which values before they were randomized."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any, Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sudare.errors import InputError, ParameterError
from sudare.privacy.requirement import one_of
from sudare.randomization.domains import number_of
from sudare.randomization.published import PublishedAttribute
from sudare.tables.text import listed, shown, text_of

Method = Literal["ml", "unbiased"]
ROUNDS = 1000
CLOSE = 1e-9

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Answer:
    """An estimated count, with an interval that covers the truth in 95 of 100 tables."""

    value: float
    stderr: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.value:,.0f} (95%: {self.low:,.0f} to {self.high:,.0f})"


@dataclass(frozen=True, eq=False)
class Estimate:
    """Estimated counts of the original table, one axis per attribute."""

    attributes: Sequence[PublishedAttribute]
    counts: Floats
    stderr: Floats
    method: Method
    published: Floats
    """How often each combination is published."""
    likely: Floats
    """The most likely counts."""
    expected: Floats
    """How often it would be on average, if the most likely counts were true; errors rest on it, since what is rare in the
    output may not be there at all."""

    def frame(self) -> pl.DataFrame:
        """Return one row per combination of values."""
        grid = np.meshgrid(*(np.arange(len(a.values)) for a in self.attributes), indexing="ij")
        columns: dict[str, Any] = {
            a.name: [a.values[code] for code in place.ravel()]
            for a, place in zip(self.attributes, grid, strict=True)
        }
        columns |= {
            "estimate": self.counts.ravel(),
            "stderr": self.stderr.ravel(),
        }
        return pl.DataFrame(columns)

    def count(self, **conditions: Any) -> Answer:
        """Estimate how many records had given values: one, a list of them, or for numbers a pair (low, high).

        The interval has the width of the unbiased estimate's, which the most likely one does not exceed in error.
        """
        wanted = [
            self._wanted(a, conditions.pop(a.name)) if a.name in conditions else np.ones(len(a.values))
            for a in self.attributes
        ]
        if conditions:
            raise InputError(
                f"'{next(iter(conditions))}' was not estimated. There are {listed([a.name for a in self.attributes])}."
            )
        weights = [a.channel.inverse_weights(w) for a, w in zip(self.attributes, wanted, strict=True)]
        unbiased = _along(self.published, weights)
        squares = _along(self.expected, [w**2 for w in weights])
        error = math.sqrt(max(squares - _along(self.likely, wanted), 0.0))
        value = unbiased if self.method == "unbiased" else _along(self.likely, wanted)
        reach = NormalDist().inv_cdf(0.975) * error
        return Answer(value, error, value - reach, value + reach)

    def _wanted(self, attribute: PublishedAttribute, condition: Any) -> Floats:
        if attribute.numeric:
            values, half = np.array(attribute.values), attribute.step / 2
            if isinstance(condition, tuple):
                low, high = (number_of(end, attribute.dtype) for end in condition)
                return np.asarray((values >= low - half) & (values <= high + half), dtype=np.float64)
            one_by_one = condition if isinstance(condition, list | set) else [condition]
            points = np.array([number_of(value, attribute.dtype) for value in one_by_one])
            near = np.abs(values[:, None] - points) <= half * (1 + 1e-9)
            return np.asarray(near.any(axis=1), dtype=np.float64)
        asked = condition if isinstance(condition, list | tuple | set) else [condition]
        texts = [attribute.missing if value is None else text_of(value) for value in asked]
        for text in texts:
            if text not in attribute.values:
                raise InputError(
                    f"'{attribute.name}' has no value {shown(text)}. There are {listed(attribute.values)}."
                )
        return np.asarray(np.isin(attribute.values, texts), dtype=np.float64)


def estimate(attributes: Sequence[PublishedAttribute], method: Method) -> Estimate:
    """Estimate the counts of one attribute, or of the combinations of several."""
    one_of(method, "method", "reconstruct", ("ml", "unbiased"))
    shape = tuple(a.channel.outputs for a in attributes)
    if math.prod(shape) > 2**24:
        raise ParameterError(
            f"{' x '.join(f'{size:,}' for size in shape)} combinations are too many to estimate at once. "
            "Ask for fewer attributes."
        )
    published = np.bincount(
        np.ravel_multi_index(tuple(a.codes for a in attributes), shape), minlength=math.prod(shape)
    ).reshape(shape).astype(np.float64)  # fmt: skip
    likely = most_likely(attributes, published)
    expected = _each(attributes, "expected", likely)
    counts = likely if method == "ml" else _each(attributes, "inverse", published)
    return Estimate(
        attributes, counts, _errors(attributes, expected, likely), method, published, likely, expected
    )


def most_likely(attributes: Sequence[PublishedAttribute], published: Floats) -> Floats:
    """Return the counts under which what is published is most likely (EM; also called iterative Bayes).

    v_j becomes v_j sum_i P[i, j] w_i / (P v)_i. Each second step is followed by one that goes on in its direction
    (SQUAREM) and is kept only if it makes the output more likely.
    """
    total = published.sum()
    shape = tuple(a.channel.inputs for a in attributes)
    found = np.full(shape, total / math.prod(shape))
    seen = published > 0

    def step(v: Floats) -> Floats:
        expected = _each(attributes, "expected", v)
        ratio = np.divide(published, expected, out=np.zeros_like(published), where=seen & (expected > 0))
        return np.asarray(v * _each(attributes, "likelihoods", ratio))

    def likelihood(v: Floats) -> float:
        expected = _each(attributes, "expected", v)[seen]
        return float(published[seen] @ np.log(np.maximum(expected, 1e-300)))

    for _ in range(ROUNDS):
        first = step(found)
        second = step(first)
        change, bend = first - found, second - 2 * first + found
        far = np.abs(second - found).max()
        size = -math.sqrt(float((change**2).sum()) / max(float((bend**2).sum()), 1e-300))
        leap = found - 2 * size * change + size**2 * bend
        leap = np.where(leap > 0, leap, second)  # what is 0 stays 0 for ever
        leap *= total / leap.sum()
        found = step(leap) if likelihood(leap) > likelihood(second) else second
        if far <= CLOSE * total:
            break
    return found


def _errors(attributes: Sequence[PublishedAttribute], expected: Floats, counts: Floats) -> Floats:
    """Return the standard errors of the unbiased estimate; without end where there is none.

    The variance of (G w)_i is sum_a G[i, a]^2 (P v)_a - v_i: each record's own part is multinomial, and G P is the
    identity. It is estimated with the most likely v.
    """
    try:
        squares = _each(attributes, "inverse_squares", expected)
    except ParameterError:
        return np.full(counts.shape, np.inf)
    return np.sqrt(np.maximum(squares - np.maximum(counts, 0.0), 0.0))


def _each(attributes: Sequence[PublishedAttribute], law: str, counts: Floats) -> Floats:
    """Send counts through every attribute's channel, axis by axis."""
    if len(attributes) == 1:
        return np.asarray(getattr(attributes[0].channel, law)(counts))
    for axis, attribute in enumerate(attributes):
        counts = np.moveaxis(np.tensordot(attribute.dense(law), counts, axes=(1, axis)), 0, axis)
    return counts


def _along(counts: Floats, weights: Sequence[Floats]) -> float:
    for weight in weights:
        counts = np.tensordot(weight, counts, axes=(0, 0))
    return float(counts)
