"""The report of a randomized table: one HTML page, for the holder, that opens without a network."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sudare.attacks.pk_game import PkGame
from sudare.plans.law import LawForm
from sudare.randomization.bits import BitChannel
from sudare.randomization.channel import Channel, MatrixChannel
from sudare.randomization.domains import Domain, Grid, Joint
from sudare.randomization.estimate import estimate
from sudare.randomization.laplace import LaplaceChannel
from sudare.randomization.laws import Law
from sudare.randomization.plan import RandomizationPlan
from sudare.randomization.pram import Pram
from sudare.randomization.published import PublishedAttribute, PublishedLaw
from sudare.reports import charts, randomization_charts
from sudare.reports.generalization import STYLE
from sudare.reports.svg import plain as escape
from sudare.tables.schema import Role
from sudare.tables.table import Table
from sudare.tables.text import listed, text_of
from sudare.verification.certificate import Certificate

MOST = 40  # values that a picture shows one by one
FEW = 10  # bins of a number or date: noise leaves no finer ones
MOST_ESTIMATED = 500  # categories that are estimated for a picture
NOTHING = 1e-6  # a spread with which the output tells next to nothing
SPLITS = {
    "equal": "in equal parts, or by the weights that the schema gives",
    "least-error": "so that the expected errors of all together are least, which may give up some for others",
    "tie": "by one parameter that ties how often categories are kept to how strong the noise is",
    "paper-tie": "by the paper's tie of how often categories are kept to how strong the noise is",
}
Floats = NDArray[np.float64]


MOST_PICTURED = 100  # attributes, each with an estimate of its histogram


def write_randomization_report(
    table: Table,
    data: pl.DataFrame,
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
    name = escape(table.source.name)
    parts = [
        f"<h1>Randomized release of {name}</h1><p>{certificate.created}, Sudare {certificate.versions['sudare']}</p>",
        '<p class="keep"><b>For the holder of the data only.</b> This page shows the original table. Hand '
        "over the folder <code>hand-over</code>, whose <code>law.json</code> has the law that estimates need, and keep "
        "this one.</p>",
        "<h2>1. What was asked, and what holds</h2>",
        _asked(table, certificate, holder),
        _meaning(plan, certificate),
        _caveats(certificate),
        "<h2>2. How the budget was split</h2>",
        _budget(plan),
        "<h2>3. What was done to each attribute, and what can be got back</h2>",
        *(_attribute(law, table, data, plan) for law in plan.laws[:MOST_PICTURED]),
        _not_pictured(len(plan.laws) - MOST_PICTURED),
        "<h2>4. What can be concluded, and what cannot</h2>",
        _conclusions(plan),
    ]
    head = f'<meta charset="utf-8"><title>Sudare: {name}</title><style>{STYLE}</style>'
    return f'<!doctype html><html lang="en"><head>{head}</head><body>{"".join(parts)}</body></html>\n'


# -- What is promised --------------------------------------------------------------------------------


def _asked(table: Table, certificate: Certificate, holder: Mapping[str, Any]) -> str:
    measured = ", ".join(f"{name} = {value:.4g}" for name, value in certificate.measured.items())
    left_out = table.names(Role.identifier) + table.names(Role.other)
    rows = {
        "Asked for": escape(" and ".join(certificate.requirements)),
        "Holds": f'<span class="good">{escape(measured)}</span>, found from the published law by code that shares '
        "nothing with the method",
        "Records": f"{certificate.records['published']:,}, all that were read; each was changed on its own",
        **({"Not published": escape(listed(left_out))} if left_out else {}),
        "Attacked": escape(str(PkGame(**holder["attacks"]["output"]["pk_game"]))),
        "Randomness": escape(certificate.randomness),
        "Input": f"<code>{certificate.input.sha256_salted}</code> (salted; the ledger has the salt)",
    }
    lines = (f"<tr><th>{name}</th><td>{text}</td></tr>" for name, text in rows.items())
    return f"<table>{''.join(lines)}</table>"


def _meaning(plan: RandomizationPlan, certificate: Certificate) -> str:
    """Say in words what k and epsilon mean, and show where they lie between nothing promised and nothing told."""
    k, epsilon = certificate.measured.get("pk", plan.k), certificate.measured.get("epsilon", plan.epsilon)
    half = plan.spread / 2
    note = ""
    if epsilon > half * (1 + 1e-6) + 1e-9:
        note = (
            f" The scale has the epsilon of laws that treat all values alike; for the same k that would be {half:.2f}, while "
            f"the laws here, which do not, have {epsilon:.2f}."
        )
    found = f"finds it with a probability of <b>1/{randomization_charts.figure(k)}</b> at most"
    if k < 1.01:
        found = (
            "may find it: at this epsilon <b>k is hardly above 1</b>, and nothing is promised against that"
        )
    return (
        "<p>Somebody who knows the whole original table, and looks for one person's record among the "
        f"{plan.records:,} published ones, {found} (Pk-anonymity). "
        f"Whatever is published is at most e<sup>{epsilon:.2f}</sup> = {_times(epsilon)} times as likely with one "
        f"record's values as with any other values in their place (<b>epsilon = {epsilon:.2f}</b>).</p>"
        f"{randomization_charts.dial(k, plan.records)}<p>Each tenfold k takes the same room. The amber mark is this release.{note}</p>"
    )


def _times(epsilon: float) -> str:
    if epsilon >= 20:
        return "very many"
    return randomization_charts.figure(math.exp(epsilon))


def _caveats(certificate: Certificate) -> str:
    if not certificate.caveats:
        return "<p>The promise covers all that is published; there are no caveats.</p>"
    items = "".join(f"<li>{escape(text)}</li>" for text in certificate.caveats)
    return f'<div class="keep"><b>What the promise does not cover:</b><ul>{items}</ul></div>'


def _budget(plan: RandomizationPlan) -> str:
    used = {law.name: (law.channel.spread, law.channel.epsilon) for law in plan.laws}
    used |= {f"for {name}": (2 * own, own) for name, own in plan.estimates.items()}
    whole = plan.spread or 1.0
    shares = [spread / whole for spread, _ in used.values()]
    labels = [f"{name} (ε {epsilon:.2f})" for name, (_, epsilon) in used.items()]
    colours = [charts.AFTER if name in {law.name for law in plan.laws} else charts.AMBER for name in used]
    text = (
        f"<p>All attributes together share one budget, epsilon = {plan.epsilon:.2f}. It was split {SPLITS[plan.split]}. "
        "What gets more is changed less.</p>"
    )
    if plan.estimates:
        text += "<p>Amber: spent on private estimates of histograms, for which the law was made.</p>"
    top = max(shares, default=0.0) or 1.0
    return text + charts.shares(labels, shares, colours, top=top)


# -- One attribute -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Cells:
    """The values of an attribute as a picture shows them: one by one, or neighbours together."""

    starts: NDArray[np.int64]
    """The first code of each cell."""
    labels: list[str]

    @classmethod
    def of(cls, domain: Domain, most: int = MOST) -> _Cells:
        size = len(domain)
        width = -(-size // most)
        starts = np.arange(0, size, width)
        ends = np.minimum(starts + width, size) - 1
        if isinstance(domain, Grid):
            first, last = (
                [text_of(value) for value in domain.decode(codes).to_list()] for codes in (starts, ends)
            )
        else:
            names = domain.labels()
            first, last = [names[i] for i in starts], [names[i] for i in ends]
        return cls(
            starts,
            first
            if width == 1
            else [a if a == b else f"{a} .. {b}" for a, b in zip(first, last, strict=True)],
        )

    def sums(self, counts: Floats) -> Floats:
        return np.asarray(np.add.reduceat(counts, self.starts))

    def matrix(self, channel: Channel) -> Floats:
        """Return with which probability an input cell, all its values alike, comes out in each cell."""
        columns = []
        for start, end in zip(self.starts, [*self.starts[1:], channel.inputs], strict=True):
            alike = np.zeros(channel.inputs)
            alike[start:end] = 1 / (end - start)
            columns.append(self.sums(channel.expected(alike)))
        return np.stack(columns, axis=1)


def _attribute(law: Law, table: Table, data: pl.DataFrame, plan: RandomizationPlan) -> str:
    start = f"<h3>{escape(law.name)}</h3><p>{_together(law)}{_in_words(law, plan)}</p>{_kept(law)}"
    published = PublishedLaw.of(data, law.name, LawForm.of(law.name, law.to_json()))
    cells = _Cells.of(_as_estimated(law.domain, published))
    heat = randomization_charts.heat(cells.matrix(published.channel).tolist(), cells.labels)
    return f"{start}<p>How likely each value becomes which:</p>{heat}{_histograms(law, table, published)}"


def _not_pictured(left: int) -> str:
    return (
        f"<p>{left:,} attributes more are not shown here; they were randomized alike.</p>" if left > 0 else ""
    )


def _together(law: Law) -> str:
    """Say so if several attributes have one law."""
    if not isinstance(law.domain, Joint):
        return ""
    sizes = " × ".join(str(size) for size in law.domain.shape)
    return (
        f"<b>{escape(listed(law.attributes))} are randomized together</b>: each of their {sizes} combinations is taken for "
        "one value, so that a record which is kept keeps all of them. "
    )


def _in_words(law: Law, plan: RandomizationPlan) -> str:
    """Say by which law the values are changed."""
    channel, size = law.channel, len(law.domain)
    bounds = _bounds(law.domain) if isinstance(law.domain, Grid) else ""
    if channel.spread < NOTHING:
        return f"{bounds}The output has any of the {size:,} values, all alike, whatever the original: it tells nothing."
    if isinstance(channel, LaplaceChannel):
        return bounds + _noise(law, channel)
    if isinstance(channel, BitChannel):
        return (
            f"{bounds}The grid points are numbered, and each of the {channel.bits} bits of the number is flipped with "
            f"probability {channel.flip:.1%}. A number beyond the last is replaced by it."
        )
    binned = f"The values are put into {size:,} bins first. " if law.how == "bins" else ""
    if not isinstance(channel, Pram):
        return f"Each of the {size:,} values is replaced as your transition matrix says."
    low, high = float(channel.retention.min()), float(channel.retention.max())
    if high - low < 1e-9:
        kept = f"Each of the {size:,} values is kept with probability {low:.1%}"
    else:
        kept = (
            f"Each of the {size:,} values is kept with a probability of its own, from {low:.1%} to {high:.1%}"
        )
    made = _made_for(law.name, plan) if law.how == "optimal" else ""
    return f"{binned}{kept}, and else replaced by one of the others, all alike.{made}"


def _bounds(grid: Grid) -> str:
    low, high = (text_of(end) for end in grid.decode(np.array([0, grid.steps])).to_list())
    return f"The values are rounded to steps of {grid.step:g}{_unit(grid)} from {low} to {high}. "


def _unit(grid: Grid) -> str:
    return "" if not grid.dtype.is_temporal() else " days" if grid.dtype == pl.Date else " seconds"


def _noise(law: Law, channel: LaplaceChannel) -> str:
    assert isinstance(law.domain, Grid)
    scale, unit = float(channel.scale) * law.domain.step, _unit(law.domain)
    width = law.domain.step * law.domain.steps
    after = "clipped to the nearer bound" if law.after == "clip" else "reflected back inside"
    return (
        f"Then Laplace noise of scale <b>{scale:.4g}{unit}</b> is added, {scale / width:.2g} times the width of the "
        f"bounds: half of it is larger than {math.log(2) * scale:.4g}{unit}, up or down. What leaves the bounds is {after}."
    )


def _made_for(name: str, plan: RandomizationPlan) -> str:
    """Say for which histogram an optimal PRAM was made."""
    aim = " Of all such laws it distorts the histogram least"
    if name in plan.estimates:
        return f"{aim}, as far as a private estimate tells it, which took epsilon {plan.estimates[name]:.3f}."
    true = any(f"'{name}'" in text and "true histogram" in text for text in plan.caveats)
    return f"{aim}{', the true one: see the caveats' if true else ' that was given as public'}."


def _kept(law: Law) -> str:
    """Draw how often each value is kept, the least first where there are too many."""
    channel = law.channel
    if not isinstance(channel, Pram | MatrixChannel):
        return ""
    kept = channel.retention if isinstance(channel, Pram) else np.diag(channel.matrix)
    if np.ptp(kept) < 1e-9:
        return "<p>How often values are kept:</p>" + charts.shares(["every value"], [float(kept[0])])
    labels, order, note = law.domain.labels(), np.arange(len(kept)), ""
    if len(kept) > MOST:
        order = np.unique(np.argsort(kept, kind="stable")[np.linspace(0, len(kept) - 1, MOST).astype(int)])
        note = f" ({MOST} of the {len(kept):,} values)"
    bars = charts.shares([labels[i] for i in order], [float(kept[i]) for i in order])
    return f"<p>How often each value is kept{note}:</p>{bars}"


def _as_estimated(domain: Domain, published: PublishedLaw) -> Domain:
    """Return the coarser grid on which a fine one is estimated."""
    if isinstance(domain, Grid) and published.channel.inputs < len(domain):
        return replace(domain, step=published.attributes[0].step, steps=published.channel.inputs - 1)
    return domain


def _histograms(law: Law, table: Table, published: PublishedLaw) -> str:
    """Compare the original, the output, and what can be estimated from it; neighbouring grid points together."""
    domain = _as_estimated(law.domain, published)
    before, after = np.bincount(domain.codes(table), minlength=len(domain)), published.histogram()
    title, note = "How many records have which values", ""
    if isinstance(domain, Grid):
        cells = _Cells.of(domain, FEW)
        found = _estimated(_coarse(published, cells))
        shown = (
            cells.labels,
            cells.sums(before.astype(np.float64)).tolist(),
            cells.sums(after).tolist(),
            found,
        )
    else:
        most = np.sort(np.argsort(-before, kind="stable")[:MOST])
        if len(before) > MOST:
            note = f"; the {MOST} most frequent of {len(before):,}"
        every = _estimated(published) if len(before) <= MOST_ESTIMATED else None
        found = None if every is None else [every[i] for i in most]
        labels = domain.labels()
        shown = [labels[i] for i in most], before[most].tolist(), after[most].tolist(), found
    return f"<p>{title}{note}:</p>{randomization_charts.compared(*shown)}{_judged(law, found, len(published.codes))}"


def _judged(law: Law, found: list[randomization_charts.Whisker] | None, records: int) -> str:
    """Say so if hardly anything can be got back, and what to do."""
    if found is None:
        return "<p>Nothing is estimated here: the law cannot be undone, or there are too many values for a picture.</p>"
    if float(np.median([dot.high - dot.low for dot in found])) < records / 2:
        return ""
    advice = " or randomize it in bins, of which more can be got back" if law.how in ("noise", "bits") else ""
    return (
        "<p><b>Hardly anything of this histogram can be got back.</b> Give the attribute more of the budget (its weight, "
        f"or fewer other attributes){advice}.</p>"
    )


def _coarse(published: PublishedLaw, cells: _Cells) -> PublishedLaw:
    """Return the law with neighbouring values as one, as if they were equally frequent."""
    if len(cells.labels) == published.channel.inputs:
        return published
    codes = np.searchsorted(cells.starts, published.codes, side="right") - 1
    channel = MatrixChannel(cells.matrix(published.channel))
    attribute = PublishedAttribute(published.attributes[0].name, cells.starts.tolist(), numeric=True)
    return PublishedLaw((attribute,), codes, channel)


def _estimated(published: PublishedLaw) -> list[randomization_charts.Whisker] | None:
    """Return the most likely counts with their intervals; None if the law cannot be undone."""
    found = estimate([published], "ml")
    if not np.isfinite(found.stderr).all():
        return None
    dots = zip(
        found.counts.ravel().tolist(), found.low.ravel().tolist(), found.high.ravel().tolist(), strict=True
    )
    return [randomization_charts.Whisker(*dot) for dot in dots]


# -- What it is good for -----------------------------------------------------------------------------


def _conclusions(plan: RandomizationPlan) -> str:
    most = max(plan.laws, key=lambda law: law.channel.spread)
    can = [
        "How many records had which values of an attribute, or of several together, with an interval: "
        "<code>sudare reconstruct FOLDER ATTRIBUTE</code>. The more records a count has, the smaller its relative error.",
        "That the promise holds whatever else somebody knows or does with the output, now or later: it rests on the "
        "law and on the randomness, not on who knows what.",
    ]
    cannot = [
        "Anything from one published record: it may have any values, whatever the person's own are.",
        "Counts, means or correlations taken from the output as they stand: they are biased. Reconstruct them first.",
        "Counts of few records: where the interval reaches 0, the output does not tell them from none.",
        "That nothing is learned about groups: what holds for many people can be learned, and may be guessed of each.",
        f"The same promise for a second release of the same people: budgets add up. The strongest trace is left by "
        f"{escape(most.name)}, which uses most of this one.",
    ]
    return _list("It can be concluded:", can) + _list("It cannot be concluded:", cannot)


def _list(title: str, items: list[str]) -> str:
    return f"<p><b>{title}</b></p><ul>{''.join(f'<li>{item}</li>' for item in items)}</ul>"
