"""The report of several views: one HTML page, for the holder, that opens without a network."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sudare.generalization.views import View, ViewsPlan
from sudare.reports import charts
from sudare.reports.generalization import STYLE
from sudare.reports.svg import plain as escape
from sudare.tables.table import Table
from sudare.tables.text import listed, text_of
from sudare.verification.certificate import Certificate

Record = Mapping[str, Any]
"""The holder's record."""

EXAMPLES = 5  # blocks that are shown of each view
MOST = 6  # sensitive values that are named of a block
EACH = 20  # so many numbers of values have a bar each
SIZES = (1, 2, 3, 4, 5, 10, 20, 50, 100, 250)  # else they are taken together from these on
METHODS = {
    "simultaneous": "simultaneous: all views were cut at once, as long as the promise held",
    "sequential": "sequential: the views were finished one after the other, each as fine as those before it let it be",
    "all-attributes": "all-attributes: the whole table was cut once, and each view got its part of that",
}


def write_views_report(
    table: Table,
    frames: Mapping[str, pl.DataFrame],
    plan: ViewsPlan,
    certificate: Certificate,
    holder: Record,
) -> str:
    """Tell the holder in pictures what the views promise together, and what each of them still shows.

    >>> import sudare as sd
    >>> people = pl.DataFrame({"age": [20, 21, 22, 23], "sex": ["f", "m", "f", "m"], "ill": ["flu", "flu", "HIV", "HIV"]})
    >>> table = sd.read(people, sd.Schema.from_roles(quasi=["age", "sex"], sensitive=["ill"]))
    >>> release = sd.generalize_views(table, {"ages": ["age"], "sexes": ["sex"]}, sd.MultiViewDiversity(2))
    >>> "For the holder of the data only" in release.report
    True
    """
    name = escape(table.source.name)
    parts = [
        f"<h1>Views of {name}</h1><p>{certificate.created}, Sudare {certificate.versions['sudare']}</p>",
        _keep(),
        "<h2>1. What was asked, and what holds</h2>",
        _asked(plan, certificate, holder),
        _meaning(plan, holder),
        _caveats([*certificate.caveats, *holder["notes"]]),
        "<h2>2. What an outsider reaches who combines the views</h2>",
        _combined(table, plan, holder),
        _nearest(table, plan, holder),
        "<h2>3. What it cost every view</h2>",
        _costs(holder),
        "<h2>4. The views, one by one</h2>",
        *(_view(view, frames[view.name], plan, holder) for view in plan.views),
        "<h2>5. What can be concluded, and what cannot</h2>",
        _conclusions(plan, holder),
    ]
    head = f'<meta charset="utf-8"><title>Sudare: {name}</title><style>{STYLE}</style>'
    return f'<!doctype html><html lang="en"><head>{head}</head><body>{"".join(parts)}</body></html>\n'


def _keep() -> str:
    return (
        '<p class="keep"><b>For the holder of the data only.</b> This page shows the original table. Hand over the '
        "folder <code>hand-over</code>, with all views or some of them, and keep this one.</p>"
    )


# -- What is promised --------------------------------------------------------------------------------


def _asked(plan: ViewsPlan, certificate: Certificate, holder: Record) -> str:
    name, value = _measured(holder)
    views = "<br>".join(
        f"<b>{escape(view.name)}</b>: {escape(', '.join(view.attributes))}" for view in plan.views
    )
    rows = {
        "Asked for": escape(" and ".join(certificate.requirements)),
        "Measured on the output": f'<span class="good">{name} = {value:.4g}</span>, by code that shares nothing with '
        "the method",
        "Views": f"{views}<br>each with <b>{escape(plan.problem.sensitive)}</b>",
        "Method": METHODS[certificate.method],
        "Records": f"{certificate.records['published']:,} in every view, all that were read",
        "Randomness": escape(certificate.randomness),
        "Input": f"<code>{certificate.input.sha256_salted}</code> (salted; the ledger has the salt)",
    }
    lines = (f"<tr><th>{title}</th><td>{text}</td></tr>" for title, text in rows.items())
    return f"<table>{''.join(lines)}</table>"


def _measured(holder: Record) -> tuple[str, float]:
    (measured,) = holder["measured"].items()
    return measured  # type: ignore[no-any-return]


def _meaning(plan: ViewsPlan, holder: Record) -> str:
    """Say in words what was measured, by the kind of diversity that was asked for."""
    name, value = _measured(holder)
    sensitive = escape(plan.problem.sensitive)
    meaning = {
        "l_multiview": f"<b>at least {value:g} values of {sensitive}</b> occur in all of these blocks",
        "l_multiview_entropy": f"the values of {sensitive} that are left are as spread as <b>{value:.4g} equally likely "
        "ones</b>, or more",
        "l_multiview_posterior": f"<b>no value of {sensitive} is likelier than {1 / value:.1%}</b>, as far as the views tell",
    }[name]
    return f"<p>Whoever knows in which block of every view a person is, and combines what the blocks show: {meaning}.</p>"


def _caveats(caveats: Sequence[str]) -> str:
    items = "".join(f"<li>{escape(text)}</li>" for text in caveats)
    return f'<div class="keep"><b>What the promise does not cover:</b><ul>{items}</ul></div>'


# -- What an outsider reaches ------------------------------------------------------------------------


def _combined(table: Table, plan: ViewsPlan, holder: Record) -> str:
    """Compare what the raw views would give away with what the published ones do."""
    before, after = _found(plan, holder)
    sensitive = plan.problem.sensitive
    raw, now = (_distribution(found) for found in (before, after))
    totals = np.bincount(table[sensitive].codes)
    text = (
        f"<p>An outsider who knows somebody's quasi values looks them up in every view, and keeps the values of "
        f"{escape(sensitive)} that occur in all of them. In the raw views <b>{raw.get(1, 0):,} of {len(table):,} people</b> "
        f"would have one value left: their own. In what is published <b>{_people(now.get(1, 0))}</b>.</p>"
        "<p>How many people are left with how many values:</p>"
    )
    belief = (
        "<p>Values that are left need not be equally likely. If blocks are weighed by how often each value occurs in them, "
        "somebody's likeliest value has the probability (the dashed line: the most frequent value of the whole table, "
        "which anybody may guess):</p>"
    )
    posteriors = charts.shares(
        ["original", "published"],
        [before["posterior"], after["posterior"]],
        [charts.BEFORE, charts.AFTER],
        marks={"whole table": float(totals.max() / totals.sum())},
    )
    return text + charts.beside(*_by_number(raw, now), "values left") + belief + posteriors + _earlier(plan)


def _people(number: int) -> str:
    return "nobody has" if number == 0 else "one has" if number == 1 else f"{number:,} have"


def _found(plan: ViewsPlan, holder: Record) -> tuple[dict[str, Any], dict[str, Any]]:
    before, after = (holder["attacks"][side]["intersection"] for side in ("input", "output"))
    return before, after["by_attribute"][plan.problem.sensitive]


def _distribution(found: Mapping[str, Any]) -> dict[int, int]:
    return {int(size): people for size, people in found["candidates"].items()}


def _by_number(before: dict[int, int], after: dict[int, int]) -> tuple[list[str], list[float], list[float]]:
    """Return how many people are left with which number of values; numbers are taken together if there are many."""
    top = max(*before, *after)
    starts = [*range(1, top + 1)] if top <= EACH else [start for start in SIZES if start <= top]
    cells = list(zip(starts, [*(start - 1 for start in starts[1:]), top], strict=True))

    def people(found: dict[int, int]) -> list[float]:
        return [float(sum(n for size, n in found.items() if a <= size <= b)) for a, b in cells]

    return [str(a) if a == b else f"{a}-{b}" for a, b in cells], people(before), people(after)


def _earlier(plan: ViewsPlan) -> str:
    """Say so if the promise also counts what the pictures do not show."""
    if not (~plan.problem.people.fixed).any():
        return ""
    return (
        "<p>These are the views of this release alone. What was measured in stage 1 also counts the earlier releases "
        "that the caveats name.</p>"
    )


def _nearest(table: Table, plan: ViewsPlan, holder: Record) -> str:
    """Show the person who comes nearest to being given away: the blocks, and what is left."""
    seen, people, sensitive = plan.seen(), plan.problem.people, plan.problem.sensitive
    by_number = _measured(holder)[0] == "l_multiview"
    worst = int(
        np.lexsort((-seen.posterior, seen.candidates) if by_number else (seen.candidates, -seen.posterior))[0]
    )
    texts = [_shown(value) for value in table[sensitive].decode(np.arange(table[sensitive].size)).to_list()]
    totals = np.bincount(people.sensitive, people.weights, minlength=len(texts))
    rows = []
    for view in plan.views:
        block = view.block_of[worst]
        inside = view.block_of == block
        counts = np.bincount(people.sensitive[inside], people.weights[inside], len(texts)).astype(np.int64)
        label = ", ".join(_shown(column[block]) for column in view.labels)
        rows.append((escape(view.name), escape(label), f"{counts.sum():,}", escape(_named(texts, counts))))
    likely = np.zeros(len(texts))
    likely[: seen.weighed.shape[1]] = totals[: seen.weighed.shape[1]] * seen.weighed[worst]
    left = _named(texts, likely / likely.sum(), ".1%")
    rows.append(("", "", "", f"<b>left: {escape(left)}</b>"))
    head = ("view", "published as", "records", f"their {escape(sensitive)}")
    return "<p>The person who comes nearest to being given away:</p>" + _table(head, rows)


def _named(texts: Sequence[str], counts: NDArray[Any], form: str = ",") -> str:
    """Name values with their counts, the most frequent first; a long list is cut."""
    order = [i for i in np.argsort(-counts, kind="stable").tolist() if counts[i] > 0]
    head = ", ".join(f"{texts[i]} {counts[i]:{form}}" for i in order[:MOST])
    return head if len(order) <= MOST else f"{head} and {len(order) - MOST:,} more"


def _shown(value: object) -> str:
    return "(missing)" if value is None else text_of(value)


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = ["".join(f"<th>{cell}</th>" for cell in head)]
    lines += ["".join(f"<td>{cell}</td>" for cell in row) for row in rows]
    return f"<table>{''.join(f'<tr>{line}</tr>' for line in lines)}</table>"


# -- What it cost ------------------------------------------------------------------------------------


def _costs(holder: Record) -> str:
    """Put the views' costs beside each other, in numbers and as a picture."""
    utility = holder["utility"]
    lines = {
        "Blocks": [f"{found['blocks']:,}" for found in utility.values()],
        "Average block": [f"{found['average_block']:,.1f} records" for found in utility.values()],
        "Discernibility (DM: the squared sizes of all blocks)": [
            f"{found['discernibility']:,}" for found in utility.values()
        ],
        "Distortion (DIS: 0 = as it was, 1 = all suppressed)": [
            f"{found['distortion']:.4f}" for found in utility.values()
        ],
        "Left open (0% = exact values, 100% = any value)": [
            f"{found['open']:.2%}" for found in utility.values()
        ],
    }
    head = ("", *(escape(view) for view in utility))
    rows = [(f"<b>{title}</b>", *cells) for title, cells in lines.items()]
    note = (
        "<p>Distortion counts by how many levels of its hierarchy a value climbs. What is left open is measured on the "
        "labels themselves, which may be narrower: a range, or a list of values.</p>"
    )
    return _table(head, rows) + note + _balance(utility)


def _balance(utility: Mapping[str, Mapping[str, Any]]) -> str:
    """Draw which view pays more for the promise."""
    if len(utility) < 2:
        return ""
    views = list(utility)
    opens = [found["open"] for found in utility.values()]
    alike = [
        found["discernibility"] / (found["blocks"] * found["average_block"]) ** 2
        for found in utility.values()
    ]
    return (
        "<p>The balance between the views. Any of them gets finer, at the cost of the others, with more weight "
        "(<code>--weight NAME=2</code>), or if it is finished first (<code>--method sequential --order NAME,...</code>).</p>"
        f"<p>How much of the values is left open{_times(views, opens)}:</p>{_bars(views, opens)}"
        f"<p>How often two records are in one block{_times(views, alike)} (DM over the square of the records):</p>"
        f"{_bars(views, alike)}"
    )


def _times(views: Sequence[str], costs: Sequence[float]) -> str:
    """Say how much more the dearest view pays than the cheapest."""
    dear, cheap = int(np.argmax(costs)), int(np.argmin(costs))
    if costs[dear] < 1.05 * costs[cheap]:
        return ", nearly the same in all"
    if not costs[cheap]:
        return f", most in {escape(views[dear])}"
    return f", in {escape(views[dear])} {costs[dear] / costs[cheap]:.1f} times that of {escape(views[cheap])}"


def _bars(labels: Sequence[str], shares: Sequence[float], top: float = 0.0) -> str:
    """Draw shares that may all be small, the longest bar in full."""
    return charts.lying(labels, shares, [f"{share:.2%}" for share in shares], top=top or max(shares))


# -- One view ----------------------------------------------------------------------------------------


def _view(view: View, frame: pl.DataFrame, plan: ViewsPlan, holder: Record) -> str:
    found = holder["utility"][view.name]["open_by_attribute"]
    top = max(max(one["open_by_attribute"].values()) for one in holder["utility"].values())
    return (
        f"<h3>{escape(view.name)}</h3><p>How much of each attribute is left open: the share of all other values that "
        "a published label covers beside the true one, on average. The longest bar of all views is drawn in full.</p>"
        f"{_bars(list(found), list(found.values()), top)}"
        f"{_examples(view, frame, plan.problem.sensitive)}"
    )


def _examples(view: View, frame: pl.DataFrame, sensitive: str) -> str:
    """Show some published blocks, from the smallest to the largest."""
    blocks = (
        frame.group_by(view.attributes)
        .agg(pl.len().alias("_records"), pl.col(sensitive).alias("_values"))
        .sort("_records", *view.attributes)
    )
    chosen = np.unique(np.linspace(0, blocks.height - 1, EXAMPLES).round().astype(np.int64))
    rows = []
    for *labels, records, values in blocks[chosen].rows():
        counted = pl.Series("value", values).value_counts(name="count", sort=True)
        counted = counted.sort(pl.col("count"), pl.col("value"), descending=[True, False])
        texts = [_shown(value) for value in counted["value"].to_list()]
        held = _named(texts, counted["count"].to_numpy())
        rows.append([*(escape(_shown(label)) for label in labels), f"{records:,}", escape(held)])
    head = [*(escape(name) for name in view.attributes), "records", f"their {escape(sensitive)}"]
    which = "All" if len(chosen) == blocks.height else f"{len(chosen)} of the {blocks.height:,}"
    return f"<p>{which} blocks, from the smallest to the largest:</p>{_table(head, rows)}"


# -- What it is good for -----------------------------------------------------------------------------


def _conclusions(plan: ViewsPlan, holder: Record) -> str:
    name, value = _measured(holder)
    sensitive = escape(plan.problem.sensitive)
    _, after = _found(plan, holder)
    can = [
        f"From every view: how its attributes go together with {sensitive}, as finely as its labels tell. Every record is "
        "there, and every label is true.",
        f"That one receiver may have all of these views ({escape(listed([view.name for view in plan.views]))}), or several "
        "may put them together: the promise is about all of them at once.",
    ]
    cannot = [
        "How attributes of different views go together, beyond what the labels of a block tell: the rows of each view "
        "stand in an order of their own.",
        _not_guessed(name, value, after["posterior"], sensitive),
        f"That what is known beside the views is covered: other people's {sensitive}, or attributes that the schema does "
        "not call quasi, may rule out more.",
        "The same promise together with a further release of these people. Record this one in a ledger, and make the next "
        "against it: <code>sudare views ... --ledger FILE</code>.",
    ]
    return _list("It can be concluded:", can) + _list("It cannot be concluded:", cannot)


def _not_guessed(name: str, value: float, posterior: float, sensitive: str) -> str:
    if name == "l_multiview":
        return (
            f"That nobody's {sensitive} can be guessed: {value:g} values are left to everybody, but one of them may be far "
            f"likelier, up to {posterior:.1%} here. Ask for <code>--kind posterior</code> to bound that."
        )
    return (
        f"That a guess is no better than blind: the likeliest value of somebody has {posterior:.1%}. What holds is that "
        "this is bounded, and not that it is the same for all."
    )


def _list(title: str, items: list[str]) -> str:
    return f"<p><b>{title}</b></p><ul>{''.join(f'<li>{item}</li>' for item in items)}</ul>"
