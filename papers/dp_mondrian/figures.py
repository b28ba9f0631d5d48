"""Figs 3 to 6."""

from __future__ import annotations

from collections.abc import Sequence

from papers.dp_mondrian.measure import Row, Timed
from papers.dp_mondrian.paper import EXPECTED, METHODS, OURS, PAPERS
from sudare.reports.charts import AFTER, AMBER, BEFORE, LIGHT, Line, horizontal_bars, lines, standalone

COLOURS = dict.fromkeys((*METHODS, *EXPECTED), LIGHT) | {OURS: AFTER, PAPERS: AMBER, "independent": BEFORE}
AT = "random 3D"


def figures(
    rows: Sequence[Row],
    budgets: dict[float, list[Row]],
    domains: Sequence[Timed],
    fillings: Sequence[Timed],
    records: dict[str, int],
) -> dict[str, str]:
    """Return the pictures, by the name of the file."""
    shares = [row.error(AT) / records[row.data] for row in rows]
    times = [min(row.seconds) for row in rows]
    return {
        "figure-3.svg": standalone(
            _bars(rows, shares, [f"{share:.2%}" for share in shares]),
            "Fig. 3: RMSE of random 3D ranges, as a share of the records, ε = 1",
        ),
        "figure-4.svg": standalone(
            _over_budget(budgets), "Fig. 4: RMSE of random 3D ranges, Numerical-adult"
        ),
        "figure-5.svg": standalone(
            lines(_times(domains, lambda one: one.cells), "cells of the domain"), "Fig. 5, left: seconds"
        ),
        "figure-5-filled.svg": standalone(
            lines(
                _times(fillings, lambda one: one.occupied / one.cells), "share of the cells that is occupied"
            ),
            "Fig. 5, right: seconds",
        ),
        "figure-6.svg": standalone(
            _bars(rows, times, [f"{one:.2f} s" for one in times]), "Fig. 6: seconds for a p-view, ε = 1"
        ),
    }


def _bars(rows: Sequence[Row], values: list[float], texts: list[str]) -> str:
    labels = [f"{row.data}, {row.method}" for row in rows]
    return horizontal_bars(
        labels, values, texts, colours=[COLOURS[row.method] for row in rows], top=max(values)
    )


def _over_budget(budgets: dict[float, list[Row]]) -> str:
    drawn = [
        Line(method, {e: row.error(AT) for e, rows in budgets.items() for row in rows if row.method == method}, COLOURS[method])
        for method in METHODS
        if any(row.method == method for rows in budgets.values() for row in rows)
    ]  # fmt: skip
    return lines(drawn, "ε")


def _times(timings: Sequence[Timed], place: object) -> list[Line]:
    several = dict.fromkeys(one.method for one in timings)
    return [
        Line(method, {place(one): one.seconds for one in timings if one.method == method}, COLOURS[method])  # type: ignore[operator]
        for method in several
    ]
