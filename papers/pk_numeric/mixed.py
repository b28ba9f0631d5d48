"""A whole mixed table of Adult: pairs of attributes and a regression, got back from one release.

What there is to choose (the weights, what is regressed on what) was chosen on `adult.data`. What is shown was measured on
`adult.test`, on which nothing was.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import product

import numpy as np
import polars as pl
from numpy.typing import NDArray

import sudare as sd
from papers.page import Grid
from papers.pk_numeric.measure import COLUMNS, RECORDS
from sudare.errors import ParameterError
from sudare.noise.keystream import Keystream
from sudare.plans.law import LawForm, TableLaw
from sudare.randomization.estimate import Estimate, Method, estimate
from sudare.randomization.learn import learn_plan
from sudare.randomization.published import PublishedCounts
from sudare.verbs.randomize import apply_law

Floats = NDArray[np.float64]
Told = tuple[Floats, Floats, Floats]
"""Estimates, and the ends of their intervals."""

METHODS: tuple[Method, ...] = ("ml", "unbiased")
K = 2.0
OUTCOME, RICH = "income", ">50K"
REGRESSED = ("sex", "age")
WEIGHTY, LIGHT = 6.0, 0.25
"""The weights of what is regressed, and of the rest."""
PAIRS = (("sex", OUTCOME), ("marital-status", OUTCOME), ("sex", "race"))
YOUNG = 40


@cache
def people() -> pl.DataFrame:
    """Return the people of adult.test; a missing value is a value of its own."""
    frame = sd.datasets.load("adult").slice(RECORDS)
    return frame.drop("fnlwgt", "education-num", "capital-gain", "capital-loss").with_columns(
        pl.col(pl.String).fill_null("?")
    )


def schema() -> sd.Schema:
    """Return the schema: bounds for numbers, and for the others all values of the whole data set."""
    whole = sd.datasets.load("adult").with_columns(pl.col(pl.String).fill_null("?"))
    numbers = {numeric.name: (numeric.low, numeric.high) for numeric in COLUMNS}
    names = people().columns
    texts = {name: sorted(whole[name].unique()) for name in names if name not in numbers}
    heavy = (*REGRESSED, OUTCOME)
    return sd.Schema.from_roles(
        quasi=[name for name in names if name != OUTCOME],
        sensitive=[OUTCOME],
        bounds=numbers,
        domains=texts,
        weights={name: WEIGHTY if name in heavy else LIGHT for name in names},
        missing="refuse",
    )


@dataclass(frozen=True)
class Asked:
    """A count or a coefficient: what it is on the original, and what was got back from each release."""

    what: str
    truth: Floats
    """One number, or one for each cell of a table."""
    estimates: Floats
    """One row for each release."""
    low: Floats
    high: Floats

    @property
    def covered(self) -> float:
        """How often the interval has the truth in it."""
        return float(((self.low <= self.truth) & (self.truth <= self.high)).mean())

    @property
    def error(self) -> float:
        """How far estimates are off, as the root of the mean square."""
        return float(np.sqrt(((self.estimates - self.truth) ** 2).mean()))

    @property
    def reach(self) -> float:
        """How far intervals reach to either side: half of them less, half of them more."""
        return float(np.median(self.high - self.low) / 2)

    @property
    def endless(self) -> float:
        """How many intervals have no end."""
        return float(np.isinf(self.high - self.low).mean())


@dataclass(frozen=True)
class Mixed:
    """What was got back from several releases of the same table."""

    k: float
    epsilon: float
    records: int
    attributes: int
    counts: list[Asked]
    """With the most likely counts."""
    unbiased: list[Asked]
    coefficients: list[Asked]
    refused: int
    """Releases that were too noisy for the regression."""
    releases: int


def measured(releases: int) -> Mixed:
    """Release the table so many times, and compare what is got back with the original."""
    table = sd.read(people(), schema())
    plan = learn_plan(table, sd.PkAnonymity(K), Keystream.unsafe(0))
    laws = TableLaw.of(plan.to_json()).attributes
    pairs: dict[Method, list[list[Told]]] = {method: [] for method in METHODS}
    found: list[Told] = []
    for seed in range(releases):
        rows, _ = apply_law(plan, table, Keystream.unsafe(seed))
        for method in METHODS:
            pairs[method].append(_told(rows, laws, method))
        try:
            regression = _estimated(rows, laws, (*REGRESSED, OUTCOME), "ml").logistic(**{OUTCOME: RICH})
        except ParameterError:
            continue
        found.append((regression.coefficients, regression.low, regression.high))
    truths = [*(_true_counts(laws, names) for names in PAIRS), np.array([_young_women()])]
    words = [*(f"{a} × {b}" for a, b in PAIRS), f"women up to {YOUNG}, of age × sex"]
    counts = {
        method: [
            Asked(word, truth, *map(np.array, zip(*own, strict=True)))
            for word, truth, own in zip(words, truths, zip(*pairs[method], strict=True), strict=True)
        ]
        for method in METHODS
    }
    truth = on_the_original(people())
    terms = ["intercept", "sex: Male", "age"]
    each = [np.array(one) for one in zip(*found, strict=True)] if found else []
    coefficients = (
        [Asked(term, truth[i], *(one[:, i] for one in each)) for i, term in enumerate(terms)] if each else []
    )
    return Mixed(
        plan.k,
        plan.epsilon,
        len(table),
        len(plan.attributes),
        counts["ml"],
        counts["unbiased"],
        coefficients,
        releases - len(found),
        releases,
    )


def _told(rows: pl.DataFrame, laws: dict[str, LawForm], method: Method) -> list[Told]:
    """Return the estimates of all pairs, with their intervals."""
    told: list[Told] = []
    for names in PAIRS:
        one = _estimated(rows, laws, names, method)
        told.append((one.counts.ravel(), one.low.ravel(), one.high.ravel()))
    young = _estimated(rows, laws, ("sex", "age"), method).count(sex="Female", age=(COLUMNS[0].low, YOUNG))
    told.append((np.array([young.value]), np.array([young.low]), np.array([young.high])))
    return told


def _estimated(
    rows: pl.DataFrame, laws: dict[str, LawForm], names: Sequence[str], method: Method
) -> Estimate:
    return estimate(PublishedCounts.of(rows, {name: laws[name] for name in names}), method, list(names))


def _true_counts(laws: dict[str, LawForm], names: Sequence[str]) -> Floats:
    counted = {tuple(cell): count for *cell, count in people().group_by(names).len().rows()}
    cells = product(*(laws[name].values or () for name in names))
    return np.array([float(counted.get(cell, 0)) for cell in cells])


def _young_women() -> float:
    return float(people().filter((pl.col("sex") == "Female") & (pl.col("age") <= YOUNG)).height)


def on_the_original(frame: pl.DataFrame) -> Floats:
    """Return the coefficients of the regression on the original, by Newton's method on its rows."""
    x = np.column_stack(
        [np.ones(frame.height), (frame["sex"] == "Male").to_numpy(), frame["age"].to_numpy()]
    ).astype(np.float64)
    y, b = (frame[OUTCOME] == RICH).to_numpy().astype(np.float64), np.zeros(3)
    for _ in range(50):
        p = 1 / (1 + np.exp(-x @ b))
        b = b + np.linalg.solve((x * (p * (1 - p))[:, None]).T @ x, x.T @ (y - p))
    return b


def mixed_grids(mixed: Mixed) -> list[Grid]:
    """Show what was got back."""
    title = f"A whole mixed table: {mixed.attributes} attributes of Adult, {mixed.records:,} records, k = {mixed.k:.3g}, {mixed.releases} releases"
    counts = [
        [
            one.what,
            f"{one.truth.size:,}",
            f"{one.truth.mean():,.0f}",
            f"{one.error:,.0f}",
            f"± {one.reach:,.0f}",
            f"{one.covered:.1%}",
            f"± {other.reach:,.0f}",
            f"{other.covered:.1%}",
        ]
        for one, other in zip(mixed.counts, mixed.unbiased, strict=True)
    ]
    coefficients = [
        [
            one.what,
            f"{float(one.truth):.3f}",
            f"{one.estimates.mean():.3f}",
            f"{one.error:.3f}",
            f"± {one.reach:.3f}",
            f"{one.covered:.1%}",
        ]
        for one in mixed.coefficients
    ]
    return [
        Grid(
            f"{title}: counts",
            ["pair", "cells", "true, mean", "error, ml", "95%, ml", "covered", "95%, unbiased", "covered"],
            counts,
        ),
        Grid(
            f"The same: a logistic regression of {OUTCOME} {RICH} on {' and '.join(REGRESSED)}",
            ["term", "on the original", "mean estimate", "error", "95% interval", "covered"],
            coefficients,
        ),
    ]


def mixed_answers(mixed: Mixed) -> list[str]:
    """Say what it comes to."""
    sizes = [one.truth.size for one in mixed.counts]
    within, around = (
        float(np.average([one.covered for one in asked], weights=sizes))
        for asked in (mixed.counts, mixed.unbiased)
    )
    terms = float(np.mean([one.covered for one in mixed.coefficients]))
    men, light = mixed.coefficients[1], mixed.counts[1]
    endless = float(np.mean([one.endless for one in mixed.coefficients]))
    refused = f" {mixed.refused} releases were too noisy for it, and it was refused." if mixed.refused else ""
    return [
        f"**A whole table can be used again, within its intervals.** All {mixed.attributes} attributes of a mixed table (epsilon {mixed.epsilon:.3g} in all) were "
        f"randomized for k = {mixed.k:.3g}, with a weight of {WEIGHTY:g} for {', '.join(REGRESSED)} and {OUTCOME}, and of {LIGHT:g} for the others. Over "
        f"{mixed.releases} releases, {around:.1%} of the true counts of pairs are in the 95% intervals of unbiased estimates, and {within:.1%} in those of the most likely "
        f"counts, which are kept within what is possible; and {terms:.1%} of the coefficients of a logistic regression (of whose intervals {endless:.0%} have no end: noise leaves too little to speak against larger values).{refused} The choices were made on adult.data, the figures are of "
        "adult.test.",
        f"The intervals say what is worth something. That men earn more is beyond doubt in {(men.low > 0).mean():.0%} of the releases (the coefficient is {float(men.truth):.2f}, its interval ± {men.reach:.2f}). But of "
        f"{light.what}, of which one had little weight, intervals reach {light.reach:,.0f} to either side of counts that are {light.truth.mean():,.0f} on average: nothing is left of it. One "
        f"budget for {mixed.attributes} attributes is little for each.",
    ]
