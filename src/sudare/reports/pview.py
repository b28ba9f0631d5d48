"""The report of a differentially private view: one HTML page, for the holder, that opens without a network."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from sudare.pview.boxes import Boxes
from sudare.pview.errors import WorkloadError, measure_errors, truth_of
from sudare.pview.pview import PView
from sudare.reports import charts, pview_charts
from sudare.reports.generalization import STYLE
from sudare.reports.pview_groups import Groups, dependence, one_way, strongest, two_way
from sudare.reports.pview_promise import method, promise, rows, spending
from sudare.reports.svg import plain as escape
from sudare.tables.table import Table

BARS = 40  # groups of values in a histogram
SHADES = 24  # and along each side of a two-way table
PAIRS = 6  # two-way tables that are drawn
PAIRED = 40  # attributes of which all pairs are looked at
RECORDS = (0.5, 2, 5, 10, 20, 50, 100, 1000)  # by which blocks are told apart

Floats = NDArray[np.float64]


def write_view_report(table: Table, view: PView) -> str:
    """Tell the holder in pictures what a view promises, where its budget went, and how near it is to the truth.

    >>> import polars as pl, sudare as sd
    >>> from sudare.verbs.materialize import materialize
    >>> table = sd.read(pl.DataFrame({"ill": ["yes", "no", "no"] * 100}), sd.Schema.from_roles(
    ...     sensitive=["ill"], domains={"ill": ["yes", "no"]}))
    >>> view = materialize(table, sd.DifferentialPrivacy(1.0), "independent")
    >>> "For the holder of the data only" in write_view_report(table, view)
    True
    """
    certificate = view.facts["certificate"]
    truth = truth_of(table, view)
    errors = measure_errors(truth, view)
    name = escape(table.source.name)
    parts = [
        f"<h1>View of {name}</h1><p>{escape(certificate['created'])}, Sudare {escape(certificate['versions']['sudare'])}</p>",
        '<p class="keep"><b>For the holder of the data only.</b> This page shows the original table, and its numbers are '
        "covered by no promise. Pass on the view's folder, and the analysts' page if you like; keep this one.</p>",
        "<h2>1. What was asked, and what is promised</h2>",
        _asked(view),
        promise(certificate),
        "<h2>2. Where the budget went</h2>",
        spending(view.facts["budget"]),
        "<h2>3. How large the view is</h2>",
        _size(table, view),
        _blocks(view.model.boxes),
        "<h2>4. How far answers are off</h2>",
        _errors(errors),
        "<h2>5. One attribute at a time</h2>",
        "<p>An interval without an end bar goes on beyond the picture.</p>",
        *(_attribute(place, truth, view) for place in range(len(view.domain.axes))),
        *_pairs(truth, view),
        f"<h2>{7 if len(view.domain.axes) > 1 else 6}. What can be concluded, and what cannot</h2>",
        _conclusions(errors),
    ]
    head = f'<meta charset="utf-8"><title>Sudare: view of {name}</title><style>{STYLE}</style>'
    return f'<!doctype html><html lang="en"><head>{head}</head><body>{"".join(parts)}</body></html>\n'


def _asked(view: PView) -> str:
    certificate = view.facts["certificate"]
    return rows(
        {
            "Asked for": escape(" and ".join(certificate["requirements"])),
            "Neighbours": "tables that differ in one record, added or removed",
            "Method": method(certificate),
            "Attributes": escape(", ".join(view.domain.names)),
            "Randomness": escape(certificate["randomness"]),
            "Input": f"<code>{escape(certificate['input']['sha256_salted'])}</code> (salted)",
        }
    )


# -- How large it is ---------------------------------------------------------------------------------


def _size(table: Table, view: PView) -> str:
    found = view.facts["certificate"]["utility"]
    numbers, cells = found["rows"] * found["columns"], found["cells_of_domain"]
    against = (
        f"one number for every {_large(cells / numbers)} combinations"
        if cells > numbers
        else "no fewer than combinations"
    )
    return rows(
        {
            "Domain": f"{_large(cells)} combinations of values, "
            + escape(" × ".join(str(size) for size in view.domain.sizes)),
            "The view": f"{found['rows']:,} rows of {found['columns']:,} numbers ({escape(found['model'])}): {against}",
            "Records": f"{len(table):,} in the original; the view says {view.total:,.0f}",
        }
    )


def _large(number: float) -> str:
    if number < 1e9:
        return f"{number:,.0f}"
    digits, power = f"{number:.1e}".split("e+")
    return f"{digits} × 10<sup>{int(power)}</sup>"


def _blocks(boxes: Boxes | None) -> str:
    """Draw how many blocks there are of which size, if there are blocks and not only points."""
    if boxes is None or boxes.points or not (boxes.low != boxes.high).any():
        return ""
    cells = (boxes.high.astype(np.float64) - boxes.low + 1).prod(axis=1)
    powers = np.floor(np.log10(cells) + 1e-9).astype(int)
    by_power = np.bincount(powers)
    labels = ["1 to 9", "10 to 99", *(f"10^{power}" for power in range(2, len(by_power)))][: len(by_power)]
    places = np.searchsorted(RECORDS, boxes.weights, side="right")
    by_records = np.bincount(places, minlength=len(RECORDS) + 1)
    names = ["none", "1", *(f"{a:g} to {b - 1:g}" for a, b in pairwise(RECORDS[1:]))]
    names.append(f"{RECORDS[-1]:,.0f}+")
    pictures = charts.bars(labels, by_power.tolist()), charts.bars(names, by_records.tolist())
    return (
        f"<p>There are <b>{len(cells):,} blocks</b>. Within a block all cells count alike: a large block with many records says "
        "little about where in it they are. At 10^2 stand the blocks of 100 to 999 cells, and so on.</p>"
        f'<div class="pair"><div><i>blocks by their cells</i><br>{pictures[0]}</div>'
        f"<div><i>blocks by the records in them, as the view counts</i><br>{pictures[1]}</div></div>"
    )


# -- How near it is to the truth ---------------------------------------------------------------------


def _errors(errors: Sequence[WorkloadError]) -> str:
    lines = "".join(
        f"<tr><td>{error.name}</td><td>{error.queries:,}</td><td>{error.rmse:,.1f}</td><td>{error.relative:.1%}</td>"
        f"<td>{error.covered:.1%}</td></tr>"
        for error in errors
    )
    head = "".join(
        f"<th>{title}</th>"
        for title in ("questions", "asked", "RMSE (records)", "relative error", "within the 95% interval")
    )
    return (
        "<p>Questions were drawn at random and asked of the view and of the original. The relative error is the mean of "
        "|answer - truth| / truth, where a truth below 0.1% of the records counts as that. Intervals should hold the truth "
        "in about 95 of 100 cases, or more: some methods can only say how far off an answer may be at worst.</p>"
        f"<table><tr>{head}</tr>{lines}</table>{_hopeless(errors)}"
    )


def _hopeless(errors: Sequence[WorkloadError]) -> str:
    """Say so if answers are off by more than what they count, and what to do."""
    names = [error.name for error in errors if error.relative > 1]
    if not names:
        return ""
    return (
        f"<p><b>Answers to {' and '.join(names)} are off by more than what they count.</b> A larger epsilon, fewer attributes, "
        "wider bins or another method may help; each further view of the same people costs its own budget.</p>"
    )


def _attribute(place: int, truth: Boxes, view: PView) -> str:
    groups = Groups.of(view, place, BARS)
    true = groups.sums(truth.table([place], {}))
    size = groups.axis.size
    which = "neighbours" if groups.axis.ordered else "the rarest"
    note = f"<p>{size:,} cells; {which} are taken together.</p>" if size > len(true) else ""
    picture = pview_charts.against(groups.labels, true.tolist(), one_way(view, groups))
    return f"<h3>{escape(groups.axis.name)}</h3>{note}{picture}"


def _pairs(truth: Boxes, view: PView) -> list[str]:
    attributes = len(view.domain.axes)
    groups = [Groups.of(view, place, SHADES) for place in range(min(attributes, PAIRED))]
    if len(groups) < 2:
        return []
    pairs = strongest(view, groups, PAIRS)
    every = len(groups) * (len(groups) - 1) // 2
    looked = f" of the first {PAIRED} attributes" if attributes > PAIRED else ""
    return [
        "<h2>6. Two attributes at a time</h2>",
        f"<p>The {len(pairs)} of {every:,} pairs{looked} that depend most on each other, as far as the view tells. The darker, the "
        "more records; both pictures of a pair have one scale. The numbers are bits of mutual information: how much the one "
        "attribute tells about the other, and 0 if nothing.</p>",
        *(_pair(a, b, truth, view) for a, b in pairs),
    ]


def _pair(a: Groups, b: Groups, truth: Boxes, view: PView) -> str:
    true, found = two_way(truth, a, b), two_way(view.model, a, b)
    top = float(max(true.max(), found.max()))
    sides = "".join(
        f"<div><i>{name}: {dependence(own):.3f} bits</i><br>{pview_charts.shades(own, a.labels, b.labels, top, colour)}</div>"
        for name, own, colour in (("original", true, charts.QUIET), ("view", found, charts.AFTER))
    )
    return f'<h3>{escape(a.axis.name)} (rows) and {escape(b.axis.name)} (columns)</h3><div class="pair">{sides}</div>'


# -- What it is good for -----------------------------------------------------------------------------


def _conclusions(errors: Sequence[WorkloadError]) -> str:
    low = [error.name for error in errors if error.covered < 0.9]
    can = [
        'Counts of many records, each with an interval: <code>sudare query FOLDER "SELECT COUNT(*) FROM view WHERE ..."</code>.',
        "That the promise holds whatever else somebody knows or does with the view, now or later, and however often it is asked.",
        "What synthetic rows drawn from the view show: they are as right and as wrong as the view itself.",
    ]
    cannot = [
        "Counts of few records: where the interval reaches 0, the view does not tell them from none.",
        "Dependences of three or more attributes, unless the interval says so: what the method did not measure, it fills in as if evenly spread or independent.",
        "Anything about one person from a synthetic row: no row is a person's.",
        "That nothing is learned about groups: what holds for many people can be learned, and may be guessed of each.",
        "The same promise for a second view of the same people: budgets add up. Keep a ledger.",
    ]
    if low:
        cannot.insert(
            0,
            f"The intervals of {escape(' and '.join(low))}, as they stand: above, too many missed the truth.",
        )
    return _list("It can be concluded:", can) + _list("It cannot be concluded:", cannot)


def _list(title: str, items: list[str]) -> str:
    return f"<p><b>{title}</b></p><ul>{''.join(f'<li>{item}</li>' for item in items)}</ul>"
