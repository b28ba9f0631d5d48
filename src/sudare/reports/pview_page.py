"""The page of a differentially private view: one HTML file, for analysts, that opens without a network.

It is made from the view alone, and so it may go wherever the view may.
"""

from __future__ import annotations

import json
import math
from importlib import resources
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sudare.pview.domain import Axis
from sudare.pview.pview import PView
from sudare.reports.generalization import STYLE
from sudare.reports.pview_groups import Groups, ends, errors_of, is_half_open, one_way, two_way
from sudare.reports.pview_promise import method, promise, rows
from sudare.reports.svg import plain as escape
from sudare.tables.text import text_of
from sudare.utility.intervals import REACH

BARS = 100  # groups of values in a histogram
SIDE = 40  # and at most along each side of a two-way table
MOST_CELLS = 400_000  # of all two-way tables, so that the page stays small
MOST_PAIRED = 30  # attributes that have two-way tables
FULLEST = 3  # cells of a two-way table whose intervals are looked at

OWN_STYLE = """
select { font: inherit; max-width: 20em; } fieldset { display: inline-block; border: 1px solid #d9dfda; margin: 0 1em .6em 0; vertical-align: top; }
label { margin-right: 1em; } #answer { font-size: 120%; font-weight: 600; } pre { background: #f2f5f2; padding: .6em 1em; overflow-x: auto; white-space: pre-wrap; }
"""
FORM = """
<p><label>Attribute <select id="first"></select></label><label>and <select id="second"></select></label></p>
<noscript><p>The pictures need JavaScript. All questions can also be asked as told below.</p></noscript>
<div id="picture"></div><p id="note"></p>
<h2>How many have these values?</h2>
<form id="asked"></form><p id="answer" aria-live="polite"></p>
<p>The same question, for the view itself, which is finer than this page and tells the interval:</p><pre id="sql"></pre>
"""


def write_view_page(view: PView) -> str:
    """Show analysts what a view says of any one or two attributes; nothing here comes from the original table.

    >>> import polars as pl, sudare as sd
    >>> from sudare.verbs.materialize import materialize
    >>> table = sd.read(pl.DataFrame({"ill": ["yes", "no", "no"] * 100}), sd.Schema.from_roles(
    ...     sensitive=["ill"], domains={"ill": ["yes", "no"]}))
    >>> page = write_view_page(materialize(table, sd.DifferentialPrivacy(1.0), "independent"))
    >>> "epsilon = 1" in page
    True
    """
    certificate = view.facts["certificate"]
    name = escape(certificate["input"]["source"])
    script = resources.files(__package__).joinpath("pview_page.js").read_text("utf-8")
    parts = [
        f"<h1>What the view of {name} says</h1>",
        f"<p>About {view.total:,.0f} records. Every number here has noise, so that nobody in the table is given away; "
        "the intervals say how much.</p>",
        FORM,
        _paired_note(view),
        "<h2>What is promised to the people in the table</h2>",
        rows(
            {
                "Promised": escape(" and ".join(certificate["requirements"])),
                "Method": method(certificate),
                "Randomness": escape(certificate["randomness"]),
                "Made": f"{escape(certificate['created'])}, Sudare {escape(certificate['versions']['sudare'])}",
            }
        ),
        promise(certificate),
        "<h2>How to ask more</h2>",
        _asking(view),
        f'<script type="application/json" id="tables">{_safe(tables(view))}</script><script>{script}</script>',
    ]
    head = f'<meta charset="utf-8"><title>Sudare: view of {name}</title><style>{STYLE}{OWN_STYLE}</style>'
    return f'<!doctype html><html lang="en"><head>{head}</head><body>{"".join(parts)}</body></html>\n'


def _paired_note(view: PView) -> str:
    names = view.domain.names
    if len(names) <= MOST_PAIRED:
        return ""
    return f"<p>Pairs of the first {MOST_PAIRED} of {len(names):,} attributes are in this page; ask the view for others.</p>"


def _asking(view: PView) -> str:
    first = view.domain.names[0]
    name = '"' + first.replace('"', '""') + '"'
    return (
        "<p>The view answers any range count, with its interval, and at no cost to anybody's privacy:</p>"
        f"<pre>sudare query FOLDER '{escape(f'SELECT {name}, COUNT(*) FROM view GROUP BY {name}')}'</pre>"
        "<p>And in Python, where it also draws synthetic rows:</p>"
        "<pre>import sudare as sd\n"
        'view = sd.PView.open("FOLDER")\n'
        f"view.marginal({escape(repr(first))})\n"
        'view.sql("SELECT COUNT(*) FROM view WHERE ...")\n'
        "view.sample(1000)</pre>"
        "<p>Counts of few records cannot be told from none where the interval reaches 0. No synthetic row is a person's.</p>"
    )


# -- The tables in the page --------------------------------------------------------------------------


def tables(view: PView) -> dict[str, Any]:
    """Return all one-way tables with intervals, and the two-way tables, by groups of values."""
    places = range(len(view.domain.axes))
    paired = min(len(places), MOST_PAIRED)
    side = min(SIDE, math.isqrt(MOST_CELLS // max(math.comb(paired, 2), 1)))
    bars = [Groups.of(view, place, BARS) for place in places]
    cells = [Groups.of(view, place, side) for place in range(paired)]
    digits = _digits(view.total)
    attributes = [_attribute(view, own, digits) for own in bars]
    for attribute, own in zip(attributes, cells, strict=False):
        attribute["cells"] = {"labels": own.labels, "values": _values(own)}
    return {
        "total": round(view.total, digits),
        "paired": paired,
        "attributes": attributes,
        "pairs": {f"{a.place} {b.place}": _pair(view, a, b, digits) for a, b in combinations(cells, 2)},
    }


def _digits(total: float) -> int:
    """Return how many decimals counts need, so that no more than a millionth of all records is rounded away."""
    return min(max(6 - math.floor(math.log10(max(total, 1.0))), 0), 6)


def _attribute(view: PView, groups: Groups, digits: int) -> dict[str, Any]:
    counts, lows, highs = (np.round(own, digits).tolist() for own in zip(*one_way(view, groups), strict=True))
    return {
        "name": groups.axis.name,
        "ordered": groups.axis.ordered,
        "half_open": is_half_open(groups.axis),
        "bars": {
            "labels": groups.labels,
            "values": _values(groups),
            "counts": counts,
            "lows": lows,
            "highs": highs,
        },
    }


def _pair(view: PView, a: Groups, b: Groups, digits: int) -> dict[str, Any]:
    table = two_way(view.model, a, b)
    return {"counts": _plain(np.round(table, digits)), "off": round(_off(view, a, b, table), 1)}


def _plain(table: NDArray[np.float64]) -> list[list[float]]:
    """Write whole numbers as such: most are 0."""
    return [[int(count) if count == int(count) else count for count in row] for row in table.tolist()]


def _off(view: PView, a: Groups, b: Groups, table: NDArray[np.float64]) -> float:
    """Return how far the 95% interval reaches to either side: the median of the fullest cells."""
    rows, columns = np.unravel_index(np.argsort(-table, axis=None, kind="stable")[:FULLEST], table.shape)
    pairs = zip(a.matrix[rows], b.matrix[columns], strict=True)
    fullest = [{a.place: own, b.place: other} for own, other in pairs]
    return REACH * float(np.median(errors_of(view, fullest)))


def _values(groups: Groups) -> list[list[str] | None]:
    """Return every group's values as SQL writes them: the ends of a range, or each; None for missing ones."""
    axis = groups.axis
    first, last = ends(axis)
    found: list[list[str] | None] = []
    for group in range(len(groups.labels)):
        cells = np.flatnonzero(groups.of_cell == group)
        if axis.missing and cells[0] == axis.size - 1:
            found.append(None)
        elif axis.ordered:
            found.append([_literal(first[cells[0]], axis), _literal(last[cells[-1]], axis)])
        else:
            found.append([_literal(first[cell], axis) for cell in cells])
    return found


def _literal(value: Any, axis: Axis) -> str:
    text = text_of(value)
    plain = axis.dtype.is_numeric() or isinstance(value, bool)
    return text if plain else "'" + text.replace("'", "''") + "'"


def _safe(data: Any) -> str:
    """Write JSON that cannot end the script it stands in."""
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text
