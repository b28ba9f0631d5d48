"""What the pictures of the site are drawn with: a ground of their own, so that they are legible on any page, and colours by class."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import NamedTuple

LIGHT = {"ground": "#ffffff", "ink": "#1f2a26", "quiet": "#56645d", "rule": "#c9d2cc"}
DARK = {"ground": "#20262b", "ink": "#e4ebe7", "quiet": "#a5b2ab", "rule": "#46514b"}
FILLS = {  # by class: by day, in the dark
    "a": ("#2a7f79", "#4fb3aa"),
    "b": ("#c47a00", "#e0a33a"),
    "c": ("#8a5a9e", "#c294d6"),
    "d": ("#8a9a8f", "#7f8f86"),
    "q": ("#e6f2f1", "#17403d"),
    "v": ("#fff3d0", "#4a3c10"),
    "w": ("#f1e7f5", "#402c4a"),
}


def _colours(ground: dict[str, str], dark: bool) -> str:
    parts = [
        f".ground{{fill:{ground['ground']}}}text{{fill:{ground['ink']}}}.quiet{{fill:{ground['quiet']}}}",
        f".rule{{stroke:{ground['rule']}}}.ink{{stroke:{ground['ink']}}}",
    ]
    for name, both in FILLS.items():
        parts.append(f".{name}{{fill:{both[dark]}}}.s{name}{{stroke:{both[dark]};fill:none}}")
    return "".join(parts)


STYLE = (
    "<style>text{font:14px Arial,Helvetica,'Liberation Sans','DejaVu Sans','Noto Sans',sans-serif}.small{font-size:12px}.head{font-weight:bold}"
    "line,path,polyline{stroke-width:1.4;fill:none}.thick{stroke-width:2.4}.dash{stroke-dasharray:6 4}"
    + _colours(LIGHT, dark=False)
    + "@media(prefers-color-scheme:dark){"
    + _colours(DARK, dark=True)
    + "}</style>"
)


def picture(width: float, height: float, title: str, shapes: Iterable[str]) -> str:
    """Put shapes on a ground, with a title for who cannot see them."""
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" width="{width:g}" height="{height:g}" role="img">',
            f"<title>{escape(title)}</title>",
            STYLE,
            f'<rect class="ground" width="{width:g}" height="{height:g}" rx="10"/>',
            *shapes,
            "</svg>\n",
        ]
    )


def text(x: float, y: float, words: str, kind: str = "", anchor: str = "start") -> str:
    """Write words."""
    named = f' class="{kind}"' if kind else ""
    return f'<text{named} x="{x:g}" y="{y:g}" text-anchor="{anchor}">{escape(words)}</text>'


def line(x: float, y: float, right: float, bottom: float, kind: str = "rule") -> str:
    """Draw a line."""
    return f'<line class="{kind}" x1="{x:g}" y1="{y:g}" x2="{right:g}" y2="{bottom:g}"/>'


def rect(x: float, y: float, width: float, height: float, kind: str, round_by: float = 0) -> str:
    """Draw a rectangle."""
    return f'<rect class="{kind}" x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" rx="{round_by:g}"/>'


def joined(points: Sequence[tuple[float, float]], kind: str) -> str:
    """Draw a line through points."""
    return f'<polyline class="{kind}" points="{" ".join(f"{x:.1f},{y:.1f}" for x, y in points)}"/>'


def dot(x: float, y: float, kind: str, radius: float = 3) -> str:
    """Draw a dot."""
    return f'<circle class="{kind}" cx="{x:.1f}" cy="{y:.1f}" r="{radius:g}"/>'


def arrow(x: float, y: float, right: float, bottom: float) -> str:
    """Draw an arrow that goes right or down."""
    if y == bottom:
        head = f"M{right - 8:g} {bottom - 5:g}L{right:g} {bottom:g}L{right - 8:g} {bottom + 5:g}"
    else:
        head = f"M{right - 5:g} {bottom - 8:g}L{right:g} {bottom:g}L{right + 5:g} {bottom - 8:g}"
    return line(x, y, right, bottom, "ink") + f'<path class="ink" d="{head}"/>'


def box(x: float, y: float, width: float, height: float, kind: str, words: Sequence[str]) -> str:
    """Draw a box with lines of words in its middle, the first of them in bold if there are several."""
    first = y + height / 2 + 5 - 9 * (len(words) - 1)
    lines = [
        text(x + width / 2, first + 18 * i, each, "head" if i == 0 and len(words) > 1 else "small", "middle")
        for i, each in enumerate(words)
    ]
    return rect(x, y, width, height, kind, 8) + "".join(lines)


class Frame(NamedTuple):
    """Where a chart is on its picture: values from 0 to `top` go up between `low` and `high`."""

    left: float
    right: float
    high: float
    low: float
    top: float

    def up(self, value: float) -> float:
        """Return how high a value is."""
        return self.low - (self.low - self.high) * min(value, self.top) / self.top

    def across(self, place: float, places: int) -> float:
        """Return where the middle of one of so many places is."""
        return self.left + (self.right - self.left) * (place + 0.5) / places

    def axis(self, steps: Sequence[float], words: str = "{:g}") -> list[str]:
        """Draw lines at some values, with the values beside them."""
        return [
            shape
            for value in steps
            for shape in (
                line(self.left, self.up(value), self.right, self.up(value)),
                text(self.left - 8, self.up(value) + 4, words.format(value), "quiet small", "end"),
            )
        ]

    def bars(self, values: Sequence[float], kind: str, share: float = 0.8, shift: float = 0) -> list[str]:
        """Draw a bar for each value; `share` of its place is taken, `shift` moves it by so much of the place."""
        room = (self.right - self.left) / len(values)
        return [
            rect(
                self.left + room * (i + (1 - share) / 2 + shift),
                self.up(value),
                room * share,
                self.low - self.up(value),
                kind,
            )
            for i, value in enumerate(values)
        ]


def legend(x: float, y: float, names: Sequence[tuple[str, str]]) -> list[str]:
    """Say which colour is what, one below the other."""
    return [
        shape
        for i, (kind, words) in enumerate(names)
        for shape in (rect(x, y + 20 * i - 10, 14, 12, kind, 2), text(x + 22, y + 20 * i, words, "small"))
    ]
