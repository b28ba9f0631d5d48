"""What several pictures stand on: round steps, level lines, a legend."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from markupsafe import Markup

from sudare.reports.charts.svg import FAINT, INK, bar, dot, line, text


class VerticalAxis(NamedTuple):
    """A vertical axis from 0 to `top`, with a level line at every `step`, between two heights of a picture."""

    top: float
    step: float
    upper: float
    lower: float

    @classmethod
    def up_to(cls, highest: float, upper: float, lower: float) -> VerticalAxis:
        """Choose round steps, so that there are at most five."""
        step = round_step(highest)
        return cls(step * max(1, math.ceil(highest / step - 1e-9)), step, upper, lower)

    def at(self, value: float) -> float:
        """Return the height of a value; what lies beyond an end is drawn there."""
        share = min(max(value, 0.0), self.top) / self.top
        return self.lower - (self.lower - self.upper) * share

    def lines(self, left: float, width: float, write: Callable[[float], str]) -> list[Markup]:
        """Draw the level lines, with their numbers at the left."""
        shapes = []
        for i in range(round(self.top / self.step) + 1):
            y = self.at(i * self.step)
            shapes += [
                line(left, y, left + width, y, FAINT if i else INK),
                text(left - 6, y + 4, write(i * self.step), anchor="end", axis=True),
            ]
        return shapes


def round_step(highest: float) -> float:
    """Choose the distance of level lines so that there are at most five.

    >>> round_step(97.0), round_step(0.31)
    (20.0, 0.1)
    """
    if highest <= 0:
        return 1.0
    power = 10.0 ** math.floor(math.log10(highest))
    return next(f * power for f in (0.2, 0.5, 1.0, 2.0) if highest <= 5 * f * power * (1 + 1e-9))


def decimals(step: float) -> int:
    """Return how many decimals tell the multiples of a step apart."""
    return max(0, -math.floor(math.log10(step) + 1e-9))


def whole(value: float) -> str:
    """Write a count."""
    return f"{value:,.0f}"


def legend(colours: Mapping[str, str], x: float, *, dots: Sequence[str] = ()) -> list[Markup]:
    """Name colours by squares, or by dots, above a picture."""
    shapes = []
    for name, colour in colours.items():
        sign = dot(round(x) + 5, 6, 3.5, colour) if name in dots else bar(round(x), 1, 10, 10, colour)
        shapes += [sign, text(round(x) + 15, 10, name)]
        x += 32 + 6 * len(name)
    return shapes
