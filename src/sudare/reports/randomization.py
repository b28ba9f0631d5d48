"""The report of a randomized table, for the holder."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
import polars as pl
from markupsafe import Markup

from sudare.attacks.pk_game import PkGame
from sudare.plans.law import LawForm
from sudare.privacy.certificate import Certificate
from sudare.randomization.areas import AreaChannel
from sudare.randomization.bits import BitChannel
from sudare.randomization.channel import MatrixChannel
from sudare.randomization.domains import Joint
from sudare.randomization.grids import Grid
from sudare.randomization.laplace import LaplaceChannel
from sudare.randomization.laws import Law
from sudare.randomization.plan import RandomizationPlan
from sudare.randomization.pram import Pram
from sudare.randomization.published import PublishedCounts
from sudare.randomization.weights import WeightsChannel
from sudare.reports import charts
from sudare.reports.page import render
from sudare.reports.randomization_histograms import (
    MAX_SHOWN,
    ComparedHistogram,
    TransitionMatrix,
    compared_histogram,
    transition_matrix,
)
from sudare.tables.runs import PublishedRows
from sudare.tables.table import Table
from sudare.tables.text import listed, text_of

MAX_LAWS = 100  # that are pictured, each with an estimate of its histogram
TELLS_NOTHING = 1e-6  # a spread with which the output tells next to nothing
MAX_EXPONENT = 700.0  # whose power of e is a number
TOLERANCE = 1e-9  # probabilities that differ by less are equal

Kind = Literal["tells nothing", "noise", "factor", "area", "bits", "matrix", "retention"]


def write_randomization_report(
    table: Table,
    left_out: Sequence[str],
    data: PublishedRows,
    plan: RandomizationPlan,
    certificate: Certificate,
    holder: Mapping[str, Any],
) -> str:
    """Tell the holder in pictures what was promised, what it did to every attribute, and what can be got back.

    >>> import sudare as sd
    >>> table = sd.read(pl.DataFrame({"ill": ["yes", "no", "no"] * 100}), sd.Schema.from_roles(
    ...     sensitive=["ill"], domains={"ill": ["yes", "no"]}))
    >>> "For the holder of the data only" in sd.randomize(table, sd.PkAnonymity(5)).report
    True
    """
    return render(
        "randomization",
        source=table.source.name,
        certificate=certificate,
        left_out=listed(list(left_out)),
        records=holder["records"],
        attacked=str(PkGame(**holder["attacks"]["output"]["pk_game"])),
        plan=plan,
        promise=promised(plan, certificate),
        budget_bars=_budget_bars(budget_parts(plan)),
        sections=[law_section(law, table, data, plan) for law in plan.laws[:MAX_LAWS]],
        strongest=max(plan.laws, key=lambda law: law.channel.spread).name,
    )


class Promised(NamedTuple):
    """What holds for a record."""

    k: float
    epsilon: float
    alike_epsilon: float | None
    """The epsilon that laws which treat all values alike would have for this k, if it is smaller."""


def promised(plan: RandomizationPlan, certificate: Certificate) -> Promised:
    """Take k and epsilon as they were measured; where only one was, the other follows from the plan."""
    k, epsilon = certificate.measured.get("pk", plan.k), certificate.measured.get("epsilon", plan.epsilon)
    alike = plan.rows * plan.spread / 2
    return Promised(k, epsilon, alike if epsilon > alike * (1 + 1e-6) + 1e-9 else None)


class BudgetPart(NamedTuple):
    """What one law, or one private estimate of a histogram, uses of the budget."""

    name: str
    epsilon: float
    share: float
    is_estimate: bool


def budget_parts(plan: RandomizationPlan) -> list[BudgetPart]:
    """Say what uses which share of the budget."""
    whole = plan.spread or 1.0
    laws = [
        BudgetPart(law.name, law.channel.epsilon, law.channel.spread / whole, is_estimate=False)
        for law in plan.laws
    ]
    estimates = [
        BudgetPart(f"for {name}", epsilon, 2 * epsilon / whole, is_estimate=True)
        for name, epsilon in plan.estimates.items()
    ]
    return laws + estimates


def _budget_bars(parts: Sequence[BudgetPart]) -> Markup:
    shares = [part.share for part in parts]
    return charts.share_bars(
        [f"{part.name} (ε {part.epsilon:.2f})" for part in parts],
        shares,
        [charts.AMBER if part.is_estimate else charts.AFTER for part in parts],
        top=max(shares, default=0.0) or 1.0,
    )


# -- One law -----------------------------------------------------------------------------------------


class Rounding(NamedTuple):
    """The grid to which numbers or dates are rounded first."""

    step: float
    unit: str
    low: str
    high: str


class LaplaceNoise(NamedTuple):
    """Laplace noise, in the unit of its attribute."""

    scale: float
    widths: float
    """The scale in widths of the bounds."""
    median: float
    """Half of the noise is larger, up or down."""

    @property
    def median_factor(self) -> float:
        """Of noise on logarithms: half of the factors are larger, or smaller than one over it."""
        return math.exp(min(self.median, MAX_EXPONENT))


class Retention(NamedTuple):
    """How often values are kept: some of them, or, if all are kept alike, that once."""

    labels: list[str]
    shares: list[float]
    values: int
    lowest: float
    highest: float

    @property
    def alike(self) -> bool:
        """Whether all values are kept equally often."""
        return self.highest - self.lowest < TOLERANCE


class LawSection(NamedTuple):
    """What is told of one law."""

    name: str
    law: Law
    kind: Kind
    joined: str
    """The attributes that it changes together, if it does."""
    rounding: Rounding | None
    noise: LaplaceNoise | None
    retention: Retention | None
    scales: list[str]
    """Of the noise along each axis of an area."""
    made_for: Literal["", "private estimate", "true histogram", "public histogram"]
    """The histogram that an optimal law distorts least."""
    transitions: TransitionMatrix
    histogram: ComparedHistogram


def law_section(law: Law, table: Table, data: PublishedRows, plan: RandomizationPlan) -> LawSection:
    """Compute what is told of one law."""
    published = PublishedCounts.of(data, {law.name: LawForm.of(law.name, law.to_json())})
    return LawSection(
        name=law.name,
        law=law,
        kind=_kind(law),
        joined=listed(law.attributes) if isinstance(law.domain, Joint) else "",
        rounding=_rounding(law.domain) if isinstance(law.domain, Grid) else None,
        noise=_noise(law),
        retention=_retention(law),
        scales=_scales(law),
        made_for=_made_for(law, plan),
        transitions=transition_matrix(law.domain, published.laws[0]),
        histogram=compared_histogram(law.domain, table, published),
    )


def _kind(law: Law) -> Kind:
    if law.channel.spread < TELLS_NOTHING:
        return "tells nothing"
    match law.channel:
        case LaplaceChannel():
            return "factor" if law.how == "factor" else "noise"
        case BitChannel():
            return "bits"
        case AreaChannel():
            return "area"
        case Pram():
            return "retention"
        case _:
            return "matrix"


def _rounding(grid: Grid) -> Rounding:
    low, high = (text_of(end) for end in grid.decode(np.array([0, grid.steps])).to_list())
    return Rounding(grid.step, _unit(grid), low, high)


def _unit(grid: Grid) -> str:
    return "" if not grid.dtype.is_temporal() else " days" if grid.dtype == pl.Date else " seconds"


def _noise(law: Law) -> LaplaceNoise | None:
    if not (isinstance(law.domain, Grid) and isinstance(law.channel, LaplaceChannel)):
        return None
    steps = float(law.channel.scale)
    scale = steps * law.domain.step
    return LaplaceNoise(scale, steps / law.domain.steps, math.log(2) * scale)


def _scales(law: Law) -> list[str]:
    if not isinstance(law.channel, AreaChannel):
        return []
    axes = zip(law.channel.area.parts, law.channel.scales, strict=True)
    return [f"{part.step * float(scale):.4g}{_unit(part)}" for part, scale in axes]


def _retention(law: Law) -> Retention | None:
    """Say how often each value is kept; of too many, some from the least to the most."""
    if not isinstance(law.channel, Pram | MatrixChannel | WeightsChannel):
        return None
    kept = np.diag(law.channel.matrix) if isinstance(law.channel, MatrixChannel) else law.channel.retention
    lowest, highest = float(kept.min()), float(kept.max())
    if highest - lowest < TOLERANCE:
        return Retention(["every value"], [lowest], len(kept), lowest, highest)
    chosen = np.arange(len(kept))
    if len(kept) > MAX_SHOWN:
        spaced = np.linspace(0, len(kept) - 1, MAX_SHOWN).astype(int)
        chosen = np.unique(np.argsort(kept, kind="stable")[spaced])
    labels = law.domain.labels()
    return Retention([labels[i] for i in chosen], kept[chosen].tolist(), len(kept), lowest, highest)


def _made_for(
    law: Law, plan: RandomizationPlan
) -> Literal["", "private estimate", "true histogram", "public histogram"]:
    if law.how != "optimal":
        return ""
    if law.name in plan.estimates:
        return "private estimate"
    return "true histogram" if law.name in plan.true_histograms else "public histogram"
