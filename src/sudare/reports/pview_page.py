"""The analysts' page of a p-view.

It is made from the p-view alone, and so it may go wherever the p-view may.
"""

from __future__ import annotations

import math
import shlex
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sudare.pview.domain import Axis
from sudare.pview.pview import PView
from sudare.reports.page import Script, render
from sudare.reports.pview_groups import Groups, ends, errors_of, is_half_open, one_way, two_way
from sudare.reports.pview_promise import promise
from sudare.tables.text import text_of
from sudare.utility.intervals import REACH

MAX_BARS = 100  # groups of values in a histogram
MAX_SIDE = 40  # and at most along each side of a two-way table
MAX_CELLS = 400_000  # of all two-way tables, so that the page stays small
MAX_PAIRED = 30  # attributes that have two-way tables
FULLEST = 3  # cells of a two-way table whose intervals are looked at


def write_pview_page(pview: PView) -> str:
    """Show analysts what a p-view says of any one or two attributes; nothing here comes from the original table.

    >>> import polars as pl, sudare as sd
    >>> from sudare.verbs.materialize import materialize
    >>> table = sd.read(pl.DataFrame({"ill": ["yes", "no", "no"] * 100}), sd.Schema.from_roles(
    ...     sensitive=["ill"], domains={"ill": ["yes", "no"]}))
    >>> page = write_pview_page(materialize(table, sd.DifferentialPrivacy(1.0), "independent"))
    >>> "epsilon = 1" in page
    True
    """
    certificate = pview.facts["certificate"]
    first = pview.domain.names[0]
    column = '"' + first.replace('"', '""') + '"'
    return render(
        "pview_page",
        source=certificate["input"]["source"],
        certificate=certificate,
        promise=promise(certificate),
        total=pview.total,
        attributes=len(pview.domain.names),
        max_paired=MAX_PAIRED,
        question=shlex.quote(f"SELECT {column}, COUNT(*) FROM view GROUP BY {column}"),
        first=repr(first),
        tables=tables(pview),
        script=Script("pview_page.js"),
    )


# -- The tables in the page --------------------------------------------------------------------------


def tables(pview: PView) -> dict[str, Any]:
    """Return all one-way tables with intervals, and the two-way tables, by groups of values."""
    places = range(len(pview.domain.axes))
    paired = min(len(places), MAX_PAIRED)
    side = min(MAX_SIDE, math.isqrt(MAX_CELLS // max(math.comb(paired, 2), 1)))
    bars = [Groups.of(pview, place, MAX_BARS) for place in places]
    cells = [Groups.of(pview, place, side) for place in range(paired)]
    digits = _digits(pview.total)
    attributes = [_attribute(pview, own, digits) for own in bars]
    for attribute, own in zip(attributes, cells, strict=False):
        attribute["cells"] = {"labels": own.labels, "values": _values(own)}
    return {
        "total": round(pview.total, digits),
        "paired": paired,
        "attributes": attributes,
        "pairs": {f"{a.place} {b.place}": _pair(pview, a, b, digits) for a, b in combinations(cells, 2)},
    }


def _digits(total: float) -> int:
    """Return how many decimals counts need, so that no more than a millionth of all records is rounded away."""
    return min(max(6 - math.floor(math.log10(max(total, 1.0))), 0), 6)


def _attribute(pview: PView, groups: Groups, digits: int) -> dict[str, Any]:
    columns = zip(*one_way(pview, groups), strict=True)
    counts, lows, highs = (np.round(own, digits).tolist() for own in columns)
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


def _pair(pview: PView, a: Groups, b: Groups, digits: int) -> dict[str, Any]:
    table = two_way(pview.model, a, b)
    return {"counts": _plain(np.round(table, digits)), "off": round(_off(pview, a, b, table), 1)}


def _plain(table: NDArray[np.float64]) -> list[list[float]]:
    """Write whole numbers as such: most are 0."""
    return [[int(count) if count == int(count) else count for count in row] for row in table.tolist()]


def _off(pview: PView, a: Groups, b: Groups, table: NDArray[np.float64]) -> float:
    """Return how far the 95% interval reaches to either side: the median of the fullest cells."""
    rows, columns = np.unravel_index(np.argsort(-table, axis=None, kind="stable")[:FULLEST], table.shape)
    pairs = zip(a.matrix[rows], b.matrix[columns], strict=True)
    fullest = [{a.place: own, b.place: other} for own, other in pairs]
    return REACH * float(np.median(errors_of(pview, fullest)))


def _values(groups: Groups) -> list[list[str] | None]:
    """Return every group's values as SQL writes them: the ends of a range, or each; None for missing ones."""
    axis = groups.axis
    first, last = ends(axis)
    values: list[list[str] | None] = []
    for group in range(len(groups.labels)):
        cells = np.flatnonzero(groups.of_cell == group)
        if axis.missing and cells[0] == axis.size - 1:
            values.append(None)
        elif axis.ordered:
            values.append([_literal(first[cells[0]], axis), _literal(last[cells[-1]], axis)])
        else:
            values.append([_literal(first[cell], axis) for cell in cells])
    return values


def _literal(value: Any, axis: Axis) -> str:
    text = text_of(value)
    plain = axis.dtype.is_numeric() or isinstance(value, bool)
    return text if plain else "'" + text.replace("'", "''") + "'"
