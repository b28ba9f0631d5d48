"""Lines through points, against numbers of 1 or more."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from markupsafe import Markup

from sudare.reports.charts.axes import VerticalAxis, decimals
from sudare.reports.charts.svg import AFTER, dot, element, line, picture, text


class Line(NamedTuple):
    """Points to be joined, by their place on the x axis, and what they mean."""

    name: str
    points: Mapping[float, float]
    colour: str = AFTER
    dash: str = "none"


def lines(series: Sequence[Line], x_name: str) -> Markup:
    """Draw values from 0 on, against numbers of 1 or more; each doubling of x takes the same room."""
    width, height, left, top = 400, 190, 48, 12
    foot = top + height
    xs = sorted({x for one in series for x in one.points})
    axis = VerticalAxis.up_to(max((y for one in series for y in one.points.values()), default=0.0), top, foot)

    def across(x: float) -> float:
        low, high = math.log(xs[0]), math.log(xs[-1])
        return left + 20 + (width - 40) * ((math.log(x) - low) / (high - low) if high > low else 0.5)

    shapes = axis.lines(left, width, lambda value: f"{value:.{decimals(axis.step)}f}")
    shapes += _ticks({x: across(x) for x in xs}, foot + 15)
    shapes.append(text(left + width, foot + 30, x_name, anchor="end", axis=True))
    for i, one in enumerate(series):
        places = {(across(x), axis.at(y)): (x, y) for x, y in sorted(one.points.items())}
        shapes += _joined(one, places) + _name(one, left, foot + 48 + 17 * i)
    return picture(left + width + 20, foot + 44 + 17 * len(series), shapes)


def _ticks(places: Mapping[float, float], y: float) -> list[Markup]:
    """Write numbers below an axis; one that would run into the one before it is left out."""
    shapes, free = [], -math.inf
    for value, x in places.items():
        if x >= free:
            shapes.append(text(x, y, f"{value:g}", anchor="middle", axis=True))
            free = x + 7 * len(f"{value:g}") + 6
    return shapes


def _joined(one: Line, places: Mapping[tuple[float, float], tuple[float, float]]) -> list[Markup]:
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
    return [
        element(
            "polyline",
            points=path,
            fill="none",
            stroke=one.colour,
            stroke_width=2,
            stroke_dasharray=one.dash,
        ),
        *(
            dot(x, y, 3.5, one.colour, f"{one.name}, {at:g}: {value:.4f}")
            for (x, y), (at, value) in places.items()
        ),
    ]


def _name(one: Line, left: float, y: float) -> list[Markup]:
    return [
        line(left, y - 4, left + 26, y - 4, one.colour, dash=one.dash, stroke=2),
        dot(left + 13, y - 4, 3.5, one.colour),
        text(left + 34, y, one.name),
    ]
