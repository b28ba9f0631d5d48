"""The plan of a randomized table: a law for every attribute, or for several together, within one budget."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Literal

import numpy as np
import polars as pl
from numpy.typing import ArrayLike, NDArray

from sudare.errors import InputError, ParameterError
from sudare.noise.keystream import Keystream
from sudare.noise.sampling import sample_discrete_laplace
from sudare.privacy.differential_privacy import DifferentialPrivacy
from sudare.privacy.pk_anonymity import PkAnonymity, k_of
from sudare.privacy.requirement import one_of
from sudare.randomization.budget import SPLITS, Share, Split, split_spread
from sudare.randomization.channel import Channel, MatrixChannel
from sudare.randomization.choices import Choice, Groups, choose, published, undeclared
from sudare.randomization.domains import Grid
from sudare.randomization.laws import After, How, Law, channel_for, expected_error
from sudare.randomization.pram import conventional_pram, optimal_pram
from sudare.tables.table import Table
from sudare.tables.text import listed
from sudare.tables.undeclared import refuse_undeclared

FINE = 2**20  # parts of an epsilon
ROUNDING = 1 - 1e-12  # sums of parts must not exceed the whole by their rounding
ESTIMATE = 0.01  # of an attribute's budget: spent on a private estimate of its histogram (measured on Adult)

Histogram = Literal["private-estimate", "true-histogram"]
"""From what an optimal PRAM is made, if no public histogram is given."""


@dataclass(frozen=True, eq=False)
class RandomizationPlan:
    """A law for every attribute that is published, or for several together, and what they promise in all."""

    laws: list[Law]
    attributes: list[str]
    """All that is published, in order."""
    records: int
    split: Split
    estimates: dict[str, float] = field(default_factory=dict)
    """The epsilon spent on private estimates of histograms, by attribute."""
    caveats: list[str] = field(default_factory=list)
    """What the promise does not cover, in words."""

    @property
    def epsilon(self) -> float:
        """The epsilon of one record: those of its attributes and of the estimates together."""
        return sum(law.channel.epsilon for law in self.laws) + sum(self.estimates.values())

    @property
    def spread(self) -> float:
        """The spread of a record. An estimate of epsilon e adds 2 e: two records are exchanged."""
        return sum(law.channel.spread for law in self.laws) + 2 * sum(self.estimates.values())

    @property
    def k(self) -> float:
        """The k of Pk-anonymity."""
        return k_of(self.spread, self.records)

    def __getitem__(self, name: str) -> Law:
        for law in self.laws:
            if law.name == name:
                return law
        raise InputError(f"'{name}' was not randomized. There are {listed([law.name for law in self.laws])}.")

    def codes(self, table: Table) -> dict[str, NDArray[Any]]:
        """Return the code of every row of a table, for every law."""
        return {law.name: law.domain.codes(table) for law in self.laws}

    def sample(self, codes: Mapping[str, NDArray[Any]], source: Keystream) -> dict[str, NDArray[Any]]:
        """Draw an output code for every input code, in their order."""
        return {law.name: law.sample(codes[law.name], source) for law in self.laws}

    def decode(self, codes: Mapping[str, NDArray[Any]]) -> pl.DataFrame:
        """Return the rows that output codes stand for."""
        columns = {found.name: found for law in self.laws for found in law.decode(codes[law.name])}
        return pl.DataFrame([columns[name] for name in self.attributes])

    def to_json(self) -> dict[str, Any]:
        """Return the plan as plain data. It is made to be published: estimating the truth needs it."""
        return {
            "method": "randomize",
            "records": self.records,
            "epsilon": self.epsilon,
            "pk": self.k,
            "split": self.split,
            "estimates": self.estimates,
            "caveats": self.caveats,
            "attributes": {law.name: law.to_json() for law in self.laws},
        }


def learn_plan(
    table: Table,
    requirement: PkAnonymity | DifferentialPrivacy,
    source: Keystream,
    *,
    how: Mapping[str, How] | None = None,
    split: Split = "equal",
    after: After = "clip",
    priors: Mapping[str, ArrayLike] | None = None,
    matrices: Mapping[str, ArrayLike] | None = None,
    histogram: Histogram = "private-estimate",
    joint: Groups | None = None,
) -> RandomizationPlan:
    """Choose a law for every quasi and sensitive attribute, so that together they meet the requirement."""
    one_of(split, "split", "randomize", SPLITS)
    one_of(after, "after", "randomize", ("clip", "reflect"))
    one_of(histogram, "histogram", "randomize", ("private-estimate", "true-histogram"))
    given = {name: np.asarray(matrix, dtype=np.float64) for name, matrix in (matrices or {}).items()}
    refuse_undeclared(table, undeclared(table.schema, how or {}))
    choices = choose(table.schema, how or {}, priors or {}, given, joint or {})
    channels: dict[str, Channel] = {
        choice.name: _checked(choice, MatrixChannel(given[choice.name]))
        for choice in choices
        if choice.name in given
    }
    free = [choice for choice in choices if choice.name not in given]
    left = _left(requirement, len(table), list(channels.values()))
    parts = split_spread(left, [_share(choice) for choice in free], split) if free else []
    estimates: dict[str, float] = {}
    caveats: list[str] = []
    for choice, part in zip(free, parts, strict=True):
        if choice.how != "optimal":
            channels[choice.name] = channel_for(choice.how, len(choice.domain), part)
        elif priors and choice.name in priors:
            channels[choice.name] = optimal_pram(_public(choice, priors[choice.name]), epsilon=part / 2)
        elif histogram == "true-histogram":
            channels[choice.name] = optimal_pram(_true(choice, table), epsilon=part / 2)
            caveats.append(
                f"The matrix of '{choice.name}' was made from the true histogram: epsilon and k cover the randomization of "
                "the records only, not what the matrix itself tells about the histogram."
            )
        else:
            channels[choice.name], spent = _estimated(choice, table, part / 2, source)
            estimates |= {choice.name: spent} if spent else {}
    laws = [Law(choice.name, choice.how, choice.domain, channels[choice.name], after) for choice in choices]
    return RandomizationPlan(laws, published(table.schema), len(table), split, estimates, caveats)


def _left(requirement: PkAnonymity | DifferentialPrivacy, records: int, fixed: Sequence[Channel]) -> float:
    """Return the spread that given matrices leave to the others."""
    by_epsilon = isinstance(requirement, DifferentialPrivacy)
    used = sum(2 * channel.epsilon if by_epsilon else channel.spread for channel in fixed)
    left = _spread(requirement, records) - used
    if left < 0:
        raise ParameterError(
            f"The given matrices alone use more than {requirement} allows: {-left:.4g} too much of the spread."
        )
    return left


def _spread(requirement: PkAnonymity | DifferentialPrivacy, records: int) -> float:
    """Return the spread that may be used in all."""
    if isinstance(requirement, PkAnonymity):
        if requirement.k <= 1:
            raise ParameterError("Pk-anonymity with k = 1 promises nothing. Ask for a k above 1.")
        return requirement.spread(records) * ROUNDING
    if requirement.per != "record" or requirement.delta:
        raise ParameterError(
            "randomize changes every record on its own: ask for DifferentialPrivacy(epsilon, per='record'), without delta."
        )
    return 2 * requirement.epsilon * ROUNDING


def _share(choice: Choice) -> Share:
    size = len(choice.domain)
    return Share(
        choice.name,
        choice.weight,
        lambda spread: expected_error(choice.how, size, spread),
        None if choice.how == "noise" else size,
    )


def _checked(choice: Choice, channel: MatrixChannel) -> MatrixChannel:
    size = len(choice.domain)
    if channel.inputs != size or channel.outputs != size:
        raise ParameterError(
            f"The matrix of '{choice.name}' must have a row and a column for each of its {size} values. "
            f"Got {channel.outputs} x {channel.inputs} instead.{_of_missing(choice)}"
        )
    return channel


def _of_missing(choice: Choice) -> str:
    """Remind of the place for missing values, which is easily forgotten."""
    if isinstance(choice.domain, Grid) or not any(part.missing for part in choice.domain.parts):
        return ""
    return ' The last value of an attribute is the missing one; where none is, the schema may say missing = "refuse".'


# -- The histogram that an optimal PRAM is made for ---------------------------------------------------


def _public(choice: Choice, prior: ArrayLike) -> NDArray[np.float64]:
    """Return a histogram that was given as public."""
    found, size = np.asarray(prior, dtype=np.float64), len(choice.domain)
    shape = (size,) if isinstance(choice.domain, Grid) else choice.domain.shape
    if found.shape not in ((size,), shape):
        form = "one per value" if shape == (size,) else f"one per combination, in the shape {shape} or flat"
        raise ParameterError(
            f"The prior of '{choice.name}' must have {size} counts, {form}. Got the shape {found.shape} "
            f"instead.{_of_missing(choice)}"
        )
    return found


def _true(choice: Choice, table: Table) -> NDArray[np.int64]:
    """Return the true histogram. A matrix made from it tells about it beyond any epsilon (section 5.2 of the paper)."""
    return np.bincount(choice.domain.codes(table), minlength=len(choice.domain))


def _estimated(choice: Choice, table: Table, epsilon: float, source: Keystream) -> tuple[Channel, float]:
    """Make the optimal PRAM from a private estimate, and return what of epsilon the estimate took.

    It adds noise of scale 2/e to every count, since one record's change moves two of them; e is then part of what the
    whole promises.
    """
    own = Fraction(math.ceil(ESTIMATE * epsilon * FINE), FINE)
    if own >= epsilon:  # too little for both: take all values for equally frequent
        return conventional_pram(len(choice.domain), epsilon=epsilon), 0.0
    true = _true(choice, table)
    noise = sample_discrete_laplace(len(true), 2 / own, source)
    noisy: NDArray[np.int64] = np.maximum(true + noise, 1)
    return optimal_pram(noisy, epsilon=epsilon - float(own)), float(own)
