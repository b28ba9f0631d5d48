"""Figs 3 to 5, and one more: what the labels leave open."""

from __future__ import annotations

from collections.abc import Sequence

from papers.multi_view.measure import METHODS, Row
from papers.multi_view.paper import ALL, DRAWS, FIRST, OURS, PAPER, PAPERS, ROWS, SECOND, STOP, TIGHT, Printed
from sudare.reports.charts import AFTER, AMBER, BEFORE, LIGHT, Line, horizontal_bars, lines, standalone

SHORT = {OURS: "ours", PAPERS: "paper's score", ALL: "all-attributes", TIGHT: "all, tight labels", FIRST: "T1 first", SECOND: "T2 first"}  # fmt: skip
SHORT |= {method + STOP: SHORT[method] + STOP for method in (ALL, FIRST, SECOND)}
LINES = {
    OURS: (AFTER, "none"),
    PAPERS: (AFTER, "5 4"),
    ALL: (BEFORE, "none"),
    TIGHT: (BEFORE, "5 4"),
    FIRST: (AMBER, "none"),
    SECOND: (LIGHT, "none"),
    ALL + STOP: (BEFORE, "2 3"),
    FIRST + STOP: (AMBER, "2 3"),
    SECOND + STOP: (LIGHT, "2 3"),
}
OF = f"mean of {DRAWS} samples of {ROWS} rows"


def figures(rows: Sequence[Row], at: int) -> dict[str, str]:
    """Return the pictures, by the name of the file; Fig. 3 at one l."""
    row_of = {(row.method, row.l): row for row in rows}
    ls = sorted({row.l for row in rows})

    def over(i: int) -> str:
        series = [
            Line(method, {l: float(row_of[method, l].dm[:, i].mean()) for l in ls}, *LINES[method])
            for method in METHODS
        ]
        return lines(series, "l")

    left = [
        Line(method, {l: float(row_of[method, l].open.mean()) for l in ls}, *LINES[method])
        for method in METHODS
    ]
    return {
        "figure-3.svg": standalone(_bars(row_of, at), f"Fig. 3: DM of both views, l = {at}, {OF}"),
        "figure-4.svg": standalone(over(0), f"Fig. 4: DM of T1*, {OF}"),
        "figure-5.svg": standalone(over(1), f"Fig. 5: DM of T2*, {OF}"),
        "open.svg": standalone(lines(left, "l"), "Share of the values left open, mean of both views"),
    }


def _brief(said: Printed) -> str:
    return str(said) if said.low == said.high else f"{said.low / 1000:g}-{said.high / 1000:g} k"


def _bars(row_of: dict[tuple[str, int], Row], at: int) -> str:
    labels, values, texts, colours = [], [], [], []
    for method in METHODS:
        for i, view in enumerate(("T1*", "T2*")):
            labels.append(f"{SHORT[method]}, {view}")
            values.append(float(row_of[method, at].dm[:, i].mean()))
            texts.append(f"{values[-1]:,.0f}")
            colours.append((AFTER, AMBER)[i])
            if method in PAPER:
                labels.append("in the paper")
                values.append(PAPER[method][i].middle)
                texts.append(_brief(PAPER[method][i]))
                colours.append(BEFORE)
    return horizontal_bars(labels, values, texts, colours=colours, top=max(values))
