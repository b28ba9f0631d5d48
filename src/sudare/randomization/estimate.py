"""Getting the truth back out: how many records had which values before they were randomized."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sudare.errors import InputError, ParameterError
from sudare.privacy.requirement import one_of
from sudare.randomization.channel import Channel
from sudare.randomization.published import CodedAttribute, PublishedCounts, PublishedLaw
from sudare.randomization.regression import Regression, logistic
from sudare.tables.numbers import number_of
from sudare.tables.text import listed, shown, text_of
from sudare.utility.intervals import REACH

Method = Literal["ml", "unbiased"]
MAX_ROUNDS = 1000  # of EM
TOLERANCE = 1e-9  # of all records: a step that moves fewer is the last
MAX_MATRIX = 256  # values of a channel whose matrix is written out

Floats = NDArray[np.float64]
Applied = Callable[[Floats], Floats]


@dataclass(frozen=True)
class CountEstimate:
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

    attributes: Sequence[CodedAttribute]
    counts: Floats
    stderr: Floats
    low: Floats
    """The ends of 95% intervals, as `count` has them."""
    high: Floats
    method: Method
    published: Floats
    """How often each combination is published."""
    laws: Sequence[PublishedLaw]
    """The laws of these attributes. What follows has one axis per law, with the combinations of what it joins."""
    outputs: Floats
    """How often each is published."""
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
            "low": self.low.ravel(),
            "high": self.high.ravel(),
        }
        return pl.DataFrame(columns)

    def count(self, **conditions: Any) -> CountEstimate:
        """Estimate how many records had given values: one, a list of them, or for numbers a pair (low, high).

        The standard error is that of the unbiased estimate, and the interval is laid around it. Around the most likely
        count it would miss the truth too often, since that one is pushed away from the edges of what is possible. But
        the interval of the most likely count holds it, and nothing that is impossible.
        """
        known = {a.name: a for a in self.attributes}
        if unknown := [name for name in conditions if name not in known]:
            raise InputError(f"'{unknown[0]}' was not estimated. There are {listed(list(known))}.")
        asked = {name: self._wanted(known[name], condition) for name, condition in conditions.items()}
        wanted = [_combined(law, asked) for law in self.laws]
        likely = _along(self.likely, wanted)
        try:
            weights = [law.channel.inverse_weights(w) for law, w in zip(self.laws, wanted, strict=True)]
        except ParameterError:
            if self.method == "unbiased":
                raise
            return CountEstimate(likely, math.inf, 0.0, float(self.outputs.sum()))
        unbiased = _along(self.outputs, weights)
        squares = _along(self.expected, [w**2 for w in weights])
        error = math.sqrt(max(squares - likely, 0.0))
        if self.method == "unbiased":
            return CountEstimate(unbiased, error, unbiased - REACH * error, unbiased + REACH * error)
        low, high = _possible(unbiased, error, likely, self.outputs.sum())
        return CountEstimate(likely, error, float(low), float(high))

    def logistic(self, **outcome: Any) -> Regression:
        """Estimate a logistic regression on the original: of whether one attribute has a value, on all the others here.

        Numbers are terms as they are, and categories have a term for each value but the first. The intervals are for what the
        same regression gives on the original table.

        >>> import polars as pl, sudare as sd
        >>> people = pl.DataFrame({"sex": ["f", "m"] * 500, "ill": (["no", "no"] * 3 + ["yes", "no"]) * 125})
        >>> schema = sd.Schema.from_roles(
        ...     quasi=["sex"], sensitive=["ill"], domains={"sex": ["m", "f"], "ill": ["no", "yes"]}, missing="refuse")
        >>> noisy = sd.randomize(sd.read(people, schema), sd.DifferentialPrivacy(9, per="record"), unsafe_seed=1)
        >>> sd.reconstruct(noisy, ["sex", "ill"]).logistic(ill="yes").frame()["term"].to_list()
        ['intercept', 'sex: f']
        """
        if len(outcome) != 1:
            raise ParameterError("A regression has one outcome, such as logistic(ill='yes').")
        ((name, value),) = outcome.items()
        names = [a.name for a in self.attributes]
        if name not in names or len(names) < 2:
            raise InputError(
                f"A regression of '{name}' needs it and others to be estimated together. There are {listed(names)}."
            )
        return logistic(PublishedCounts(tuple(self.laws), self.outputs), name, value, names)

    def _wanted(self, attribute: CodedAttribute, condition: Any) -> Floats:
        if attribute.numeric:
            values, half = attribute.axis, attribute.step / 2
            if isinstance(condition, tuple):
                low, high = (attribute.along(number_of(end, attribute.dtype)) for end in condition)
                return np.asarray((values >= low - half) & (values <= high + half), dtype=np.float64)
            one_by_one = condition if isinstance(condition, list | set) else [condition]
            points = attribute.along([number_of(value, attribute.dtype) for value in one_by_one])
            near = np.abs(values[:, None] - points) <= half * (1 + 1e-9)
            return np.asarray(near.any(axis=1), dtype=np.float64)
        asked = condition if isinstance(condition, list | tuple | set) else [condition]
        texts = [attribute.missing if value is None else text_of(value) for value in asked]
        for text in texts:
            if text not in attribute.values:
                what = "missing values" if text is None else f"value {shown(text)}"
                raise InputError(f"'{attribute.name}' has no {what}. There are {listed(attribute.values)}.")
        return np.asarray([value in texts for value in attribute.values], dtype=np.float64)


def estimate(output: PublishedCounts, method: Method, names: Sequence[str] | None = None) -> Estimate:
    """Estimate the counts of attributes, or of the combinations of several: of all that the laws have, or of the named.

    Where a law has more attributes than are named, all of them are estimated, and the others summed out.
    """
    one_of(method, "method", "reconstruct", ("ml", "unbiased"))
    laws, outputs = output.laws, output.counts
    likely = most_likely(laws, outputs)
    expected = _each(laws, lambda law: law.channel.expected, likely)
    every = {a.name: a for law in laws for a in law.attributes}
    names = list(every) if names is None else names
    counts, published = (_by_attribute(laws, names, one) for one in (likely, outputs))
    try:
        unbiased = _by_attribute(laws, names, _each(laws, lambda law: law.channel.inverse, outputs))
        stderr = _errors(laws, names, expected, counts)
    except ParameterError:
        if method == "unbiased":
            raise
        unbiased, stderr = counts, np.full(counts.shape, np.inf)
    if method == "unbiased":
        counts, low, high = unbiased, unbiased - REACH * stderr, unbiased + REACH * stderr
    else:
        low, high = _possible(unbiased, stderr, counts, outputs.sum())
    attributes = [every[name] for name in names]
    return Estimate(attributes, counts, stderr, low, high, method, published, laws, outputs, likely, expected)


def _possible(unbiased: Any, error: Any, likely: Any, total: float) -> tuple[Floats, Floats]:
    """Return the interval around the unbiased estimate, or what of it is possible, widened to hold the most likely count.

    An estimate below 0 is taken for 0 first, which brings it nearer to the truth, wherever that is.
    """
    middle, reach = np.clip(unbiased, 0.0, total), REACH * error
    low = np.minimum(np.maximum(middle - reach, 0.0), likely)
    return low, np.maximum(np.minimum(middle + reach, total), likely)


def most_likely(laws: Sequence[PublishedLaw], published: Floats) -> Floats:
    """Return the counts under which what is published is most likely (EM; also called iterative Bayes).

    v_j becomes v_j sum_i P[i, j] w_i / (P v)_i. Each second step is followed by one that goes on in its direction
    (SQUAREM) and is kept only if it makes the output more likely.
    """
    total = published.sum()
    shape = tuple(law.channel.inputs for law in laws)
    v = np.full(shape, total / math.prod(shape))
    seen = published > 0
    forth, back = zip(*(_applied(law.channel) for law in laws), strict=True)

    said = published[seen]

    def step(v: Floats, expected: Floats) -> Floats:
        ratio = np.divide(published, expected, out=np.zeros_like(published), where=seen & (expected > 0))
        return np.asarray(v * _along_axes(back, ratio))

    def likelihood(expected: Floats) -> float:
        return float(said @ np.log(np.maximum(expected[seen], 1e-300)))

    expected = _along_axes(forth, v)
    for _ in range(MAX_ROUNDS):
        first = step(v, expected)
        second = step(first, _along_axes(forth, first))
        change, bend = first - v, second - 2 * first + v
        far = np.abs(second - v).max()
        size = -math.sqrt(float((change**2).sum()) / max(float((bend**2).sum()), 1e-300))
        leap = v - 2 * size * change + size**2 * bend
        leap = np.where(leap > 0, leap, second)  # what is 0 stays 0 for ever
        leap *= total / leap.sum()
        v, expected = second, _along_axes(forth, second)
        beyond = _along_axes(forth, leap)
        if likelihood(beyond) > likelihood(expected):
            v = step(leap, beyond)
            expected = _along_axes(forth, v)
        if far <= TOLERANCE * total:
            break
    return v


def _errors(laws: Sequence[PublishedLaw], names: Sequence[str], expected: Floats, counts: Floats) -> Floats:
    """Return the standard errors of the unbiased estimate.

    The variance of c G w is sum_a (c G)[a]^2 (P v)_a - c v, where c is 1 for what is counted: each record's own part
    is multinomial, and G P is the identity. It is estimated with the most likely v.
    """
    squares = _each(laws, lambda law: lambda outputs: law.squares(outputs, names), expected)
    kept = [a for law in laws for a in law.attributes if a.name in names]
    return np.sqrt(np.maximum(_in_order(kept, names, squares) - counts, 0.0))


def _applied(channel: Channel) -> tuple[Applied, Applied]:
    """Return P v and w P as functions: by the whole matrix where that is small, as they are asked for thousands of times."""
    if max(channel.inputs, channel.outputs) > MAX_MATRIX:
        return channel.expected, channel.likelihoods
    matrix = channel.expected(np.eye(channel.inputs))
    return (lambda v: v @ matrix), (lambda w: w @ matrix.T)


def _each(laws: Sequence[PublishedLaw], apply: Callable[[PublishedLaw], Applied], counts: Floats) -> Floats:
    """Send counts through every law's channel."""
    return _along_axes([apply(law) for law in laws], counts)


def _along_axes(functions: Sequence[Applied], counts: Floats) -> Floats:
    """Apply one function along each axis."""
    if len(functions) == 1:
        return functions[0](counts)
    for axis, function in enumerate(functions):
        counts = np.moveaxis(function(np.moveaxis(counts, axis, -1)), -1, axis)
    return counts


def _by_attribute(laws: Sequence[PublishedLaw], names: Sequence[str], counts: Floats) -> Floats:
    """Give every named attribute an axis of its own, and sum over the others."""
    every = [a for law in laws for a in law.attributes]
    apart = counts.reshape([len(a.values) for a in every])
    others = tuple(axis for axis, a in enumerate(every) if a.name not in names)
    return _in_order([a for a in every if a.name in names], names, apart.sum(axis=others))


def _in_order(kept: Sequence[CodedAttribute], names: Sequence[str], counts: Floats) -> Floats:
    """Give every attribute that was kept an axis, in the order of the names."""
    places = [a.name for a in kept]
    apart = counts.reshape([len(a.values) for a in kept])
    return apart.transpose([places.index(name) for name in names])


def _combined(law: PublishedLaw, wanted: Mapping[str, Floats]) -> Floats:
    """Return 1 for each combination of a law's attributes that is wanted; all values are of those not named."""
    weights = np.ones(1)
    for a in law.attributes:
        weights = np.multiply.outer(weights, wanted.get(a.name, np.ones(len(a.values)))).ravel()
    return weights


def _along(counts: Floats, weights: Sequence[Floats]) -> float:
    for weight in weights:
        counts = np.tensordot(weight, counts, axes=(0, 0))
    return float(counts)
