"""Parts of a picture as inline SVG: its frame, lines, and texts that are safe in it."""

from __future__ import annotations

import unicodedata
from html import escape


def picture(width: float, height: float, shapes: list[str]) -> str:
    """Put shapes into a frame."""
    return (
        f'<svg viewBox="0 0 {width:.0f} {height:.0f}" width="{width:.0f}" height="{height:.0f}" '
        f'xmlns="http://www.w3.org/2000/svg" role="img">{"".join(shapes)}</svg>'
    )


def line(
    x1: float, y1: float, x2: float, y2: float, colour: str, *, dash: str = "none", stroke: float = 0.7
) -> str:
    """Draw a straight line."""
    return (
        f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{colour}" '
        f'stroke-width="{stroke}" stroke-dasharray="{dash}"/>'
    )


def plain(text: str) -> str:
    """Escape a text; what XML does not allow, such as a control character in the data, becomes a dot."""
    return escape("".join(character if character.isprintable() else "·" for character in text))


def short(text: str, most: int) -> str:
    """Cut a label that would be wider than so many letters; a Chinese or Japanese one is two wide."""
    if wide(text) <= most:
        return plain(text)
    kept = text[: most - 1]
    while wide(kept) > most - 1:
        kept = kept[:-1]
    return plain(kept) + "…"


def wide(text: str) -> int:
    """Count letters; a Chinese or Japanese one is two wide."""
    return sum(2 if unicodedata.east_asian_width(character) in "WF" else 1 for character in text)


def labelled(count: int, most: int) -> range:
    """Choose which bars get a label, so that labels do not run into each other."""
    return range(0, count, max(1, -(-count // min(most, 12))))
