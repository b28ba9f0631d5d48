"""Where the k of a Pk-anonymous release lies between nothing promised and nothing told."""

from __future__ import annotations

import math

from markupsafe import Markup

from sudare.reports.charts.svg import AFTER, AMBER, FAINT, QUIET, bar, element, line, picture, text
from sudare.reports.words import figure


def k_scale(k: float, records: int) -> Markup:
    """Draw where k lies between 1, which promises nothing, and the number of records, which tells nothing.

    Each tenfold k takes the same room; below it stands the epsilon that goes with it, 0.5 ln((N - 1)/(k - 1)).
    """
    width, left, y = 760, 60, 52
    decades = math.log10(max(records, 2))

    def at(k: float) -> float:
        return left + width * min(max(math.log10(k) / decades, 0.0), 1.0)

    whole = [10.0**i for i in range(math.ceil(decades)) if at(10.0**i) < left + width - 60]
    stops = [element("stop", offset=str(end), stop_color=colour) for end, colour in enumerate((FAINT, AFTER))]
    shapes = [
        element("defs", element("linearGradient", *stops, id="k-scale")),
        bar(left, y, width, 14, "url(#k-scale)"),
        text(left - 10, y + 30, "k", anchor="end", axis=True),
        text(left - 10, y + 47, "epsilon", anchor="end", axis=True),
    ]
    for tick in dict.fromkeys([*whole, float(max(records, 2))]):
        epsilon = "∞" if tick == 1 else f"{abs(math.log(max(records - 1, 1) / (tick - 1)) / 2):.2f}"
        shapes += [
            line(at(tick), y, at(tick), y + 18, QUIET),
            text(at(tick), y + 30, f"{tick:,.0f}", anchor="middle", axis=True),
            text(at(tick), y + 47, epsilon, anchor="middle", axis=True),
        ]
    x = at(k)
    shapes += [
        text(left, y - 32, "nothing is promised", axis=True),
        text(left + width, y - 32, "nothing is told", anchor="end", axis=True),
        element("path", d=f"M{x:.1f},{y + 2} l-8,-13 h16 z", fill=AMBER),
        line(x, y, x, y + 14, AMBER, stroke=2),
        text(x, y - 16, element("tspan", f"k = {figure(k)}", font_weight="bold"), anchor="middle"),
    ]
    return picture(left + width + 40, y + 56, shapes)
