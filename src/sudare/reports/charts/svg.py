"""The parts of a picture as inline SVG. This is the only place where text becomes markup, and it escapes what it is given."""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Iterable, Sequence

from markupsafe import Markup, escape

from sudare.reports.words import printable

BEFORE, AFTER, INK, FAINT, AMBER = "#8a9a8f", "#2f6f5e", "#22302b", "#d9dfda", "#d39b00"
QUIET, LIGHT = "#6b7a72", "#e3b94d"
DARK = {
    BEFORE: "#8d9c94",
    AFTER: "#3fa287",
    INK: "#dfe7e2",
    FAINT: "#3a4641",
    AMBER: "#d9a520",
    QUIET: "#9aa8a0",
    LIGHT: "#a8873a",
}
"""What a page that is read in the dark draws instead of each colour."""
SLANT = 28  # degrees by which labels below a picture lean
ROOM = 34  # pixels from one slanted label to the next
LETTER = 6  # pixels that a letter takes, about


def element(tag: str, *content: str, **attributes: str | float) -> Markup:
    """Write an element: what is not markup already is escaped; `fill_opacity` means fill-opacity, `class_` class.

    >>> print(element("text", "a < b", element("title", "c"), x=1.25, class_="axis"))
    <text x="1.2" class="axis">a &lt; b<title>c</title></text>
    """
    named = "".join(
        f' {name.rstrip("_").replace("_", "-")}="{_written(value)}"' for name, value in attributes.items()
    )
    inner = "".join(_written(part) for part in content)
    return Markup(f"<{tag}{named}>{inner}</{tag}>" if content else f"<{tag}{named}/>")


def _written(value: str | float) -> str:
    if isinstance(value, float):
        return f"{value:.1f}"
    if isinstance(value, Markup):
        return value
    return escape(printable(str(value)))


def picture(width: float, height: float, shapes: Iterable[Markup]) -> Markup:
    """Put shapes into a frame."""
    return element(
        "svg",
        *shapes,
        viewBox=f"0 0 {width:.0f} {height:.0f}",
        width=f"{width:.0f}",
        height=f"{height:.0f}",
        xmlns="http://www.w3.org/2000/svg",
        role="img",
    )


def line(
    x1: float, y1: float, x2: float, y2: float, colour: str, *, dash: str = "none", stroke: float = 0.7
) -> Markup:
    """Draw a straight line."""
    return element(
        "line", x1=x1, y1=y1, x2=x2, y2=y2, stroke=colour, stroke_width=stroke, stroke_dasharray=dash
    )


def bar(x: float, y: float, width: float, height: float, colour: str, title: str = "") -> Markup:
    """Draw a filled rectangle; `title` is what it says under the mouse."""
    titles = [element("title", title)] if title else []
    return element("rect", *titles, x=x, y=y, width=width, height=height, fill=colour)


def dot(x: float, y: float, radius: float, colour: str, title: str = "") -> Markup:
    """Draw a filled circle; `title` is what it says under the mouse."""
    titles = [element("title", title)] if title else []
    return element("circle", *titles, cx=x, cy=y, r=radius, fill=colour)


def text(x: float, y: float, words: str, *, anchor: str = "start", axis: bool = False) -> Markup:
    """Write words at a place: from it on, around it ("middle") or up to it ("end"); those of an axis are fainter."""
    ends = {} if anchor == "start" else {"text_anchor": anchor}
    return element("text", words, x=x, y=y, **ends, **({"class_": "axis"} if axis else {}))


def labels_below(
    labels: Sequence[str], left: float, step: float, y: float, letters: int
) -> tuple[list[Markup], float]:
    """Write labels below places that are `step` apart, cut to so many letters; return also how far they reach down.

    They are level where all fit, and else lean, with some left out where they would run into each other.
    """
    longest = max((min(letter_count(label), letters) for label in labels), default=0)
    if LETTER * (longest + 1) <= step:
        level = [
            text(left + (i + 0.5) * step, y + 14, shortened(label, letters), anchor="middle")
            for i, label in enumerate(labels)
        ]
        return level, y + 18
    leaning = []
    for i in labelled(len(labels), step, ROOM):
        x = left + (i + 0.4) * step
        turn = f"rotate({SLANT} {x:.1f} {y + 12:.1f})"
        leaning.append(element("text", shortened(labels[i], letters), x=x, y=y + 12, transform=turn))
    return leaning, y + 18 + LETTER * longest * math.sin(math.radians(SLANT))


def labelled(count: int, step: float, room: float) -> range:
    """Choose which of some places, `step` apart, get a label that needs so much room."""
    return range(0, count, max(1, math.ceil(room / step)))


def shortened(words: str, letters: int) -> str:
    """Cut a label that would be wider than so many letters.

    >>> shortened("Coronary heart disease", 10)
    'Coronary …'
    """
    if letter_count(words) <= letters:
        return words
    kept = words[: letters - 1]
    while letter_count(kept) > letters - 1:
        kept = kept[:-1]
    return f"{kept}…"


def letter_count(words: str) -> int:
    """Count letters; a Chinese or Japanese one is two wide."""
    return sum(2 if unicodedata.east_asian_width(letter) in "WF" else 1 for letter in words)
