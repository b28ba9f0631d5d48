"""A logistic regression on the original table, estimated from a randomized one.

On the original, the coefficients b solve sum over the records of s(x, y; b) = 0, with s = (y - p) x and p = 1 / (1 + e^(-b x)).
That is a sum of counts: of every combination of values as often as it occurs. Unbiased estimates of the counts, G w, make
an unbiased estimate of the sum, and its solution is the estimate of b. A published row a has the part (s G)[a] in it, which
on average is that of the record it came from; so the variance of the sum is that of these parts around theirs,
sum_a w_a (s G)[a]^2 - sum_c (G w)_c s_c^2, and that of b follows from it by the slope of the sum.

The intervals are for what the same regression gives on the original table, not for a population that it is a sample of.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sudare.errors import InputError, ParameterError
from sudare.randomization.published import CodedAttribute, PublishedCounts, PublishedLaw
from sudare.tables.text import listed, shown, text_of
from sudare.utility.intervals import REACH

Floats = NDArray[np.float64]

MAX_NUMBERS = 2**24
"""Of the parts of all combinations of values in all pairs of coefficients."""
MAX_ROUNDS = 100
TOLERANCE = 1e-10
SINGULAR = 1e-9  # a slope of which one direction has so much less than another has none there
LARGEST_STEP = 2.0  # of a coefficient, each times how far its term spreads


@dataclass(frozen=True, eq=False)
class Regression:
    """Estimated coefficients, with intervals that cover those of the original table in 95 of 100 tables."""

    terms: list[str]
    coefficients: Floats
    stderr: Floats

    def frame(self) -> pl.DataFrame:
        """Return one row per coefficient."""
        reach = REACH * self.stderr
        return pl.DataFrame(
            {
                "term": self.terms,
                "estimate": self.coefficients,
                "stderr": self.stderr,
                "low": self.coefficients - reach,
                "high": self.coefficients + reach,
            }
        )


def logistic(output: PublishedCounts, outcome: str, value: Any, names: Sequence[str]) -> Regression:
    """Regress whether an attribute has a value on others: numbers as they are, categories against the first of their values."""
    design = _design(output.laws, outcome, value, names)
    size, width = design.terms.shape
    if size * width * width > MAX_NUMBERS:
        raise ParameterError(
            f"A regression on {width} terms over {size:,} combinations is too large. Name fewer attributes, or join values in bins."
        )
    counts = _each_axis([law.channel.inverse for law in output.laws], output.counts).ravel()
    units = _units(design.terms)
    terms = design.terms @ units  # so that it does not matter in which units numbers are
    b = _solved(terms, design.outcome, counts)
    back = np.linalg.inv(_slope(terms, b, counts))
    covariance = back @ _variance(output, _parts(terms, design.outcome, b), counts) @ back
    errors = np.sqrt(np.maximum(np.diag(units @ covariance @ units.T), 0.0))
    return Regression(design.names, units @ b, errors)


@dataclass(frozen=True, eq=False)
class _Design:
    """What is regressed: one row for each combination of values."""

    names: list[str]
    terms: Floats
    outcome: Floats


def _design(laws: Sequence[PublishedLaw], outcome: str, value: Any, names: Sequence[str]) -> _Design:
    attributes = [attribute for law in laws for attribute in law.attributes]
    places = np.indices([len(one.values) for one in attributes]).reshape(len(attributes), -1)
    place_of = {one.name: place for one, place in zip(attributes, places, strict=True)}
    columns, labels = [np.ones(places.shape[1])], ["intercept"]
    for one in attributes:
        if one.name in names and one.name != outcome:
            own = _terms(one, place_of[one.name])
            columns += own.values()
            labels += own
    (known,) = (one for one in attributes if one.name == outcome)
    true = np.isin(place_of[outcome], _places_of(known, value)).astype(np.float64)
    return _Design(labels, np.stack(columns, axis=1), true)


def _terms(attribute: CodedAttribute, place: NDArray[Any]) -> dict[str, Floats]:
    if attribute.numeric:
        return {attribute.name: np.asarray(attribute.values, dtype=np.float64)[place]}
    others = enumerate(attribute.values[1:], start=1)
    return {f"{attribute.name}: {text}": (place == code).astype(np.float64) for code, text in others}


def _places_of(attribute: CodedAttribute, value: Any) -> list[int]:
    texts = [attribute.missing if value is None else text_of(value)]
    if attribute.numeric or texts[0] not in attribute.values:
        there = "numbers" if attribute.numeric else listed(attribute.values)
        raise InputError(
            f"'{attribute.name}' has no value {shown(value)} that could be regressed. There are {there}."
        )
    return [attribute.values.index(texts[0])]


def _units(terms: Floats) -> Floats:
    """Return the matrix that puts the middle of every term but the first at 0, and its deviation at 1."""
    middles, spreads = terms.mean(axis=0), terms.std(axis=0)
    units = np.diag(np.append(1.0, 1 / np.maximum(spreads[1:], 1e-300)))
    units[0, 1:] = -middles[1:] * np.diag(units)[1:]
    return units


# -- The equations ------------------------------------------------------------------------------------------


def _solved(terms: Floats, outcome: Floats, counts: Floats) -> Floats:
    """Find the b at which the parts sum to 0 (Newton's method)."""
    b = np.zeros(terms.shape[1])
    for _ in range(MAX_ROUNDS):
        slope = _slope(terms, b, counts)
        least, most = np.linalg.eigvalsh(slope)[[0, -1]]
        if least <= SINGULAR * abs(most):
            break
        step = np.linalg.solve(slope, counts @ _parts(terms, outcome, b))
        b = b + step * min(1.0, LARGEST_STEP / max(float(np.abs(step).max()), 1e-300))
        if np.abs(step).max() < TOLERANCE:
            return b
    raise ParameterError(
        "The output is too noisy for this regression: no coefficients solve its equations. Name fewer attributes, or release "
        "the table with a larger epsilon."
    )


def _chances(terms: Floats, b: Floats) -> Floats:
    return np.asarray(1 / (1 + np.exp(-np.clip(terms @ b, -700, 700))))


def _parts(terms: Floats, outcome: Floats, b: Floats) -> Floats:
    return np.asarray((outcome - _chances(terms, b))[:, None] * terms)


def _slope(terms: Floats, b: Floats, counts: Floats) -> Floats:
    p = _chances(terms, b)
    return np.asarray((terms * (counts * p * (1 - p))[:, None]).T @ terms)


def _variance(output: PublishedCounts, parts: Floats, counts: Floats) -> Floats:
    """Return sum_a w_a (s G)[a] (s G)[a]^T - sum_c (G w)_c s_c s_c^T."""
    shape = [law.channel.inputs for law in output.laws]
    weights = [law.channel.inverse_weights for law in output.laws]
    of_output = np.stack([_each_axis(weights, own.reshape(shape)).ravel() for own in parts.T], axis=1)
    around = of_output.T @ (output.counts.reshape(-1, 1) * of_output)
    return np.asarray(around - parts.T @ (counts[:, None] * parts))


def _each_axis(functions: Sequence[Callable[[Floats], Floats]], cells: Floats) -> Floats:
    """Apply the function of each law along its axis."""
    for axis, function in enumerate(functions):
        cells = np.moveaxis(function(np.moveaxis(cells, axis, -1)), -1, axis)
    return cells
