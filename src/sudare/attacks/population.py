"""The population behind a sample: who is found by an outsider who does not know whether a person is in the sample.

A record whose values f records share could be of any of the F people who have them. F is not known; the weights of the f records,
which say how many people each stands for, sum to an estimate of it.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import ArrayLike, NDArray

from sudare.attacks.published import Output, Published
from sudare.attacks.reidentification import Risk
from sudare.attacks.superpopulation import Uniques, uniques
from sudare.errors import InputError, ParameterError
from sudare.privacy.requirement import number
from sudare.tables.attribute import MAX_WEIGHT, Role
from sudare.tables.notebook import ShownFigures
from sudare.tables.schema import LEAST_SHARE, Schema
from sudare.tables.text import shown

Floats = NDArray[np.float64]
TERMS = 60  # of the series; it is summed only where the next ones no longer count
LARGE = 30  # the smallest f for which they do not, whatever p is
NAMES = {"pitman": "Pitman's model", "zayatz": "Zayatz's model", "snb": "the slide negative binomial model"}


@dataclass(frozen=True, repr=False)
class PopulationRisk(ShownFigures):
    """The risk of a sample's records among the people that it was drawn from."""

    records: int
    people: float
    """How many people the records stand for."""
    sampling_fraction: float
    weights_told: float | None
    """The share of records whose weight is told; None where there are no weights."""
    per_record: float
    """How many people a record stands for whose weight is not told."""
    threshold: float
    individual: Risk
    """Of one record, by Benedetti and Franconi's estimate, as in mu-Argus and sdcMicro."""
    expected: float
    """How many records an outsider can expect to name rightly: the sum of their risks, sdcMicro's global risk."""
    alone: int
    """Records that are the only ones with their quasi values."""
    uniques: Uniques
    """How many people are the only ones in the population, by ARX's models."""

    def summary(self) -> dict[str, Any]:
        """Return the numbers as plain data."""
        return asdict(self) | {"estimated_uniques": self.uniques.estimate}

    def __str__(self) -> str:
        told = (
            ""
            if self.weights_told in (None, 1)
            else f" The weight of {self.weights_told:.1%} of them is told; the others are taken to stand for {self.per_record:,.1f} "
            "people each."
        )
        return (
            f"The {self.records:,} records stand for about {self.people:,.0f} people, a sampling fraction of "
            f"{self.sampling_fraction:.3%}.{told} Who does not know whether a person is among them finds their record with "
            f"probability {self.individual.largest:.2%} at most, {self.individual.mean:.3%} on average: {self.expected:,.2f} "
            f"re-identifications are expected; {self.individual.at_risk:,} records are above {self.threshold:.0%}. {self._alone()}"
        )

    def _alone(self) -> str:
        if self.alone == 0:
            return "No record is the only one with its quasi values."
        found = {name: getattr(self.uniques, name) for name in NAMES}
        written = {name: "no solution" if own is None else f"{own:,.0f}" for name, own in found.items()}
        others = ", ".join(
            f"{NAMES[name]} has {own}" for name, own in written.items() if name != self.uniques.rule
        )
        return (
            f"{self.alone:,} records are the only ones with their quasi values; in the population about "
            f"{written[self.uniques.rule]} people are, by {NAMES[self.uniques.rule]} ({others})."
        )


class NoWeightToldError(InputError):
    """No published weight is a number any more, so that nobody can count the population by them."""


def is_sample(schema: Schema) -> bool:
    """Tell whether it is known how many people a table's records stand for, who have one record each: by weights, or by the share
    of them that was drawn."""
    known = bool(schema.names(Role.weight)) or schema.sampling_fraction is not None
    return known and not schema.names(Role.person)


def population(
    output: Output, schema: Schema, *, sampling_fraction: float | None = None, threshold: float = 0.2
) -> PopulationRisk:
    """Estimate the risk of a sample's records in the population behind it.

    The first weight of the schema says how many people each record stands for. Where it is not told, or there is none, that is
    1 / `sampling_fraction`, which the schema may also say, or else the mean of the weights that are told. A weight that outsiders know is a quasi attribute here
    as elsewhere. The models of population uniques take a sample to be drawn with equal chances.

    >>> import sudare as sd
    >>> frame = pl.DataFrame({"zip": ["13053", "13053", "14850"], "w": [60, 50, 17]})
    >>> risk = population(frame, sd.Schema.from_roles(quasi=["zip"], weight=["w"], known={"w": False}))
    >>> risk.people, round(risk.individual.largest, 4), round(risk.expected, 4)
    (127.0, 0.1771, 0.2114)
    """
    number(threshold, "threshold", "the population attack", "a number from 0 to 1", low=0, high=1)
    if persons := schema.names(Role.person):
        raise InputError(
            f"The population attack takes every record for a person, and by '{persons[0]}' a person may have several. Give it "
            "one record of each, and a schema without that role."
        )
    weights = _Weights.of(output, schema, sampling_fraction)
    blocks: Counter[int] = Counter()  # by their size
    people: list[float] = []
    risks: list[float] = []
    largest, at_risk = 0.0, 0
    for piece in Published.pieces(output, weights.schema):
        sizes = piece.sizes.to_numpy()
        stood_for = np.maximum(weights.people_in(piece), sizes)  # a record stands at least for itself
        own = individual_risk(sizes, stood_for)
        blocks.update(sizes.tolist())
        people.append(math.fsum(stood_for))
        risks.append(math.fsum(sizes * own))
        largest, at_risk = max(largest, float(own.max())), at_risk + int(sizes[own > threshold].sum())
    sizes, counts = np.array(sorted(blocks.items())).T
    records, everybody, expected = int(sizes @ counts), math.fsum(people), math.fsum(risks)
    return PopulationRisk(
        records,
        everybody,
        records / everybody,
        weights.told,
        weights.per_record,
        threshold,
        Risk(largest, expected / records, at_risk, at_risk / records),
        expected,
        blocks[1],
        uniques(sizes, counts, everybody),
    )


def individual_risk(sizes: ArrayLike, people: ArrayLike) -> Floats:
    """Return the risk of each record of blocks with f = `sizes` records, which about F = `people` people share.

    F given f is taken to be negative binomial with p = f / F. The mean of 1 / F is then (p / f) 2F1(1, 1; f + 1; 1 - p), which
    is p / (1 - p) log(1 / p) for f = 1. It is exact for every f: the series converges fast for a large f or p, and else the
    integral I_f of s^(f - 1) / (p + (1 - p) s) from 0 to 1, p I_f being the risk, follows from I_(f - 1) without loss.

    >>> individual_risk([1, 2, 2, 1], [17, 110, 84.5, 1]).round(5).tolist()  # francdat, an example of sdcMicro
    [0.17708, 0.01714, 0.02204, 1.0]
    """
    f, whole = np.broadcast_arrays(np.asarray(sizes, dtype=np.float64), np.asarray(people, dtype=np.float64))
    p = np.minimum(f / whole, 1.0)
    series = (f >= LARGE) | (p >= 0.5)
    risk: Floats = np.empty_like(p)
    risk[series] = _by_series(f[series], p[series])
    risk[~series] = _by_steps(f[~series], p[~series])
    return risk


def _by_series(f: Floats, p: Floats) -> Floats:
    total = term = np.ones_like(p)
    for k in range(TERMS):
        term = term * (k + 1) * (1 - p) / (f + 1 + k)
        total = total + term
    return p / f * total


def _by_steps(f: Floats, p: Floats) -> Floats:
    risk = np.empty_like(p)
    integral = -np.log(p) / (1 - p)
    for step in range(1, LARGE):
        risk = np.where(f == step, p * integral, risk)
        integral = (1 / step - p * integral) / (1 - p)
    return risk


@dataclass(frozen=True, eq=False)
class _Weights:
    """How many people records stand for."""

    schema: Schema
    """By which blocks are read: a weight that outsiders do not know is counted in them."""
    name: str | None
    """The attribute that says it."""
    per_record: float
    """How many people a record stands for whose weight is not told."""
    told: float | None

    @classmethod
    def of(cls, output: Output, schema: Schema, sampling_fraction: float | None) -> _Weights:
        quasi, names = schema.names(Role.quasi), schema.names(Role.weight)
        sampling_fraction = schema.sampling_fraction if sampling_fraction is None else sampling_fraction
        if sampling_fraction is not None:
            owner, must_be = "the population attack", "a number above 0, and at most 1"
            number(sampling_fraction, "sampling_fraction", owner, must_be, low=LEAST_SHARE, high=1)
        if not names and sampling_fraction is None:
            raise ParameterError(
                "The population attack needs an attribute with the role weight, or the option 'sampling_fraction'."
            )
        if not names:
            return cls(Schema.from_roles(quasi=quasi), None, 1 / (sampling_fraction or 1), None)
        name = names[0]
        overall = Published.open(output, Schema.from_roles(sensitive=[name])).overall[name]
        weights, counts = _numbers(overall["value"], name), overall["overall"].to_numpy()
        told = ~np.isnan(weights)
        if sampling_fraction is not None:
            per_record = 1 / sampling_fraction
        elif told.any():
            per_record = float(np.average(weights[told], weights=counts[told]))
        else:
            raise NoWeightToldError(
                f"Column '{name}': no weight is told. Say how large a share of the population the sample is: "
                "sampling_fraction=0.01 (--sampling-fraction 0.01 on the command line)."
            )
        read = Schema.from_roles(quasi=quasi, sensitive=[] if name in quasi else [name])
        return cls(read, name, per_record, float(counts[told].sum() / counts.sum()))

    def people_in(self, piece: Published) -> Floats:
        """Return how many people the records of each block stand for."""
        sizes = piece.sizes.to_numpy().astype(np.float64)
        if self.name is None:
            return sizes * self.per_record
        if self.name in piece.quasi:
            column = piece.keyed()[f"q{piece.quasi.index(self.name)}"]
            return sizes * self._filled(_numbers(column, self.name))
        counted = piece.counted(self.name)
        each = self._filled(_numbers(counted["value"], self.name)) * counted["count"].to_numpy()
        return np.bincount(counted["block"].to_numpy(), each, minlength=len(piece)).astype(np.float64)

    def _filled(self, weights: Floats) -> Floats:
        return np.where(np.isnan(weights), self.per_record, weights)


def _numbers(texts: pl.Series, name: str) -> Floats:
    """Return published weights as numbers; NaN where a label is none, and so does not tell the weight."""
    numbers = texts.cast(pl.Float64, strict=False)
    wrong = ~numbers.is_between(0, MAX_WEIGHT).fill_null(True)
    if wrong.any():
        value = shown(texts.filter(wrong)[0])
        raise InputError(f"Column '{name}': {value} is no weight, which is from 0 to {MAX_WEIGHT:,}.")
    return numbers.fill_null(math.nan).to_numpy()
