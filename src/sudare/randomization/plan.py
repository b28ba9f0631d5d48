"""The plan of a randomized table: a law for every attribute, within one budget."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Literal

import numpy as np
import polars as pl
from numpy.typing import ArrayLike, NDArray

from sudare.errors import InputError, ParameterError
from sudare.privacy.differential_privacy import DifferentialPrivacy
from sudare.privacy.pk_anonymity import PkAnonymity, k_of
from sudare.privacy.requirement import one_of
from sudare.randomization.budget import SPLITS, Share, Split, split_spread
from sudare.randomization.channel import Channel, MatrixChannel
from sudare.randomization.domains import Categories, Grid, binned, is_ordered
from sudare.randomization.keystream import Keystream
from sudare.randomization.laws import After, How, Law, channel_for, expected_error
from sudare.randomization.pram import conventional_pram, optimal_pram
from sudare.randomization.sampling import sample_discrete_laplace
from sudare.tables.schema import Role
from sudare.tables.table import Table
from sudare.tables.text import listed

HOWS = ("retain", "noise", "bins", "bits", "matrix", "optimal")
FINE = 2**20  # parts of an epsilon
ROUNDING = 1 - 1e-12  # sums of parts must not exceed the whole by their rounding
ESTIMATE = 0.01  # of an attribute's budget: spent on a private estimate of its histogram (measured on Adult)

Histogram = Literal["private estimate", "true histogram"]
"""From what an optimal PRAM is made, if no public histogram is given."""


@dataclass(frozen=True, eq=False)
class RandomizationPlan:
    """A law for every attribute that is published, and what they promise together."""

    laws: list[Law]
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

    def sample(self, source: Keystream) -> dict[str, NDArray[Any]]:
        """Draw an output code for every row and attribute, in the original's order of rows."""
        return {law.name: law.sample(source) for law in self.laws}

    def decode(self, codes: Mapping[str, NDArray[Any]]) -> pl.DataFrame:
        """Return the rows that output codes stand for."""
        return pl.DataFrame([law.domain.decode(codes[law.name]).alias(law.name) for law in self.laws])

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
    histogram: Histogram = "private estimate",
) -> RandomizationPlan:
    """Choose a law for every quasi and sensitive attribute, so that together they meet the requirement."""
    one_of(split, "split", "randomize", SPLITS)
    one_of(after, "after", "randomize", ("clip", "reflect"))
    one_of(histogram, "histogram", "randomize", ("private estimate", "true histogram"))
    names = table.names(Role.quasi) + table.names(Role.sensitive)
    if not names:
        raise InputError(f"{table.source.name}: the schema has no quasi or sensitive attribute to randomize.")
    given = {name: np.asarray(matrix, dtype=np.float64) for name, matrix in (matrices or {}).items()}
    chosen = _chosen(table, names, {**(how or {}), **dict.fromkeys(given, "matrix")}, priors or {}, given)
    domains = {name: _domain(table, name, chosen[name]) for name in names}
    fixed: dict[str, Channel] = {
        name: _checked(name, MatrixChannel(given[name]), domains[name]) for name in given
    }
    by_epsilon = isinstance(requirement, DifferentialPrivacy)
    used = sum(2 * channel.epsilon if by_epsilon else channel.spread for channel in fixed.values())
    whole = _spread(requirement, len(table)) - used
    if whole < 0:
        raise ParameterError(
            f"The given matrices alone use more than {requirement} allows: {-whole:.4g} too much of the spread."
        )
    free = [name for name in names if name not in fixed]
    shares = [_share(table, name, chosen[name], domains[name]) for name in free]
    parts = dict(zip(free, split_spread(whole, shares, split), strict=True)) if free else {}
    estimates: dict[str, float] = {}
    caveats = _caveats(domains)
    laws = []
    for name in names:
        channel = fixed.get(name)
        if channel is None and chosen[name] == "optimal":
            channel = _optimal(
                name,
                domains[name],
                parts[name],
                (priors or {}).get(name),
                histogram,
                source,
                estimates,
                caveats,
            )
        elif channel is None:
            channel = channel_for(chosen[name], len(domains[name]), parts[name])
        laws.append(Law(name, chosen[name], domains[name], channel, after))
    return RandomizationPlan(laws, len(table), split, estimates, caveats)


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


def _chosen(
    table: Table,
    names: list[str],
    how: Mapping[str, How],
    priors: Mapping[str, ArrayLike],
    matrices: Mapping[str, ArrayLike],
) -> dict[str, How]:
    for name in (*how, *priors):
        if name not in names:
            table[name]  # refused if there is none
            raise ParameterError(
                f"The 'how' parameter of randomize speaks of '{name}', which is {table.schema[name].role} and not published."
            )
    for name, kind in how.items():
        one_of(kind, f"how['{name}']", "randomize", HOWS)
        if kind in ("noise", "bits") and not is_ordered(table[name]):
            raise ParameterError(f"'{name}' has no numbers or dates to add noise to. Use 'retain'.")
    for name, kind in how.items():
        if kind == "matrix" and name not in matrices:
            raise ParameterError(
                f"how['{name}'] is 'matrix', but no matrix of it is given: matrices={{'{name}': ...}}."
            )
    for name in priors:
        if how.get(name, "optimal") != "optimal":
            raise ParameterError(
                f"A prior of '{name}' is given, but not used: how['{name}'] must be 'optimal'."
            )
    usual: dict[str, How] = {name: "optimal" if name in priors else _usual(table, name) for name in names}
    return usual | dict(how)


def _usual(table: Table, name: str) -> How:
    """Return what a person would expect: noise for numbers and dates that are not declared as a list of values.

    No noise can be added to a missing value, but it can be a bin of its own.
    """
    if not is_ordered(table[name]) or table.schema[name].domain is not None:
        return "retain"
    return "bins" if table[name].missing else "noise"


def _domain(table: Table, name: str, how: How) -> Categories | Grid:
    column, attribute = table[name], table.schema[name]
    if how in ("noise", "bits"):
        return Grid.of(column, attribute)
    if how == "bins":
        return binned(column, attribute)
    return Categories(column, declared=attribute.domain is not None)


def _share(table: Table, name: str, how: How, domain: Categories | Grid) -> Share:
    size = len(domain)
    return Share(
        name,
        table.schema[name].weight,
        lambda spread: expected_error(how, size, spread),
        None if how == "noise" else size,
    )


def _checked(name: str, channel: MatrixChannel, domain: Categories | Grid) -> MatrixChannel:
    if channel.inputs != len(domain) or channel.outputs != len(domain):
        raise ParameterError(
            f"The matrix of '{name}' must have a row and a column for each of its {len(domain)} values. "
            f"Got {channel.outputs} x {channel.inputs} instead."
        )
    return channel


def _optimal(
    name: str,
    domain: Categories | Grid,
    spread: float,
    prior: ArrayLike | None,
    histogram: Histogram,
    source: Keystream,
    estimates: dict[str, float],
    caveats: list[str],
) -> Channel:
    """Make the optimal PRAM from a public histogram, from a private estimate, or from the true one.

    The estimate adds noise of scale 2/e to every count, since one record's change moves two of them; e is then part of
    what the whole promises. A matrix from the true histogram tells about it beyond any epsilon (section 5.2 of the paper).
    """
    epsilon = spread / 2
    if prior is not None:
        public = np.asarray(prior, dtype=np.float64)
        if public.shape != (len(domain),):
            raise ParameterError(
                f"The prior of '{name}' must have {len(domain)} counts, one per value. Got {public.size} instead."
            )
        return optimal_pram(public, epsilon=epsilon)
    true = np.bincount(domain.codes(), minlength=len(domain))
    if histogram == "true histogram":
        caveats.append(
            f"The matrix of '{name}' was made from the true histogram: epsilon and k cover the randomization of the records "
            "only, not what the matrix itself tells about the histogram."
        )
        return optimal_pram(true, epsilon=epsilon)
    own = Fraction(math.ceil(ESTIMATE * epsilon * FINE), FINE)
    if own >= epsilon:  # too little for both: take all values for equally frequent
        return conventional_pram(len(domain), epsilon=epsilon)
    estimates[name] = float(own)
    noise = sample_discrete_laplace(len(true), 2 / own, source)
    noisy: NDArray[np.int64] = np.maximum(true + noise, 1)
    return optimal_pram(noisy, epsilon=epsilon - estimates[name])


def _caveats(domains: Mapping[str, Categories | Grid]) -> list[str]:
    categories = {name: domain for name, domain in domains.items() if isinstance(domain, Categories)}
    read = [name for name, domain in categories.items() if not domain.declared]
    missing = [name for name, domain in categories.items() if domain.declared and domain.column.missing]
    found = []
    if read:
        found.append(
            f"The values of {listed(read)} were read off the data, because the schema declares none: which values occur "
            "is told, and neither epsilon nor k covers it."
        )
    if missing:
        found.append(f"That some values of {listed(missing)} are missing is told, and not covered.")
    return found
