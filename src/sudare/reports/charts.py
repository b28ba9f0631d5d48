"""Small pictures as inline SVG, so that a report opens without a network; and the same as files of their own."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from html import escape
from typing import NamedTuple
from xml.etree import ElementTree

from sudare.errors import MissingExtraError
from sudare.reports import svg

BEFORE, AFTER, INK, FAINT, AMBER = "#8a9a8f", "#2f6f5e", "#22302b", "#d9dfda", "#d39b00"
QUIET, LIGHT = "#6b7a72", "#e3b94d"
# What draws PNGs takes sans-serif for Arial alone, and leaves out all text where that is not installed.
FONTS = "Arial, Helvetica, 'Liberation Sans', 'DejaVu Sans', 'Noto Sans', sans-serif"
# A page brings its own style; a picture in a file of its own needs this one.
STYLE = (
    f"text {{ font-family: {FONTS}; font-size: 11px; fill: {INK}; }} "
    f"text.axis {{ fill: {QUIET}; }} text.title {{ font-size: 13px; font-weight: bold; }}"
)
SCALE = 2  # pixels of a PNG per pixel of its picture: sharp in print and on fine screens


def bars(labels: Sequence[str], values: Sequence[float], *, colour: str = AFTER, most: int = 40) -> str:
    """Draw upright bars; more than `most` are drawn without their labels."""
    width, height, foot = 420, 150, 46
    top = max(values, default=0) or 1
    step = width / max(len(values), 1)
    shapes = []
    for i, (label, value) in enumerate(zip(labels, values, strict=True)):
        tall = (height - 14) * value / top
        shapes.append(
            f'<rect x="{i * step + step * 0.1:.1f}" y="{height - tall:.1f}" width="{step * 0.8:.1f}" '
            f'height="{tall:.1f}" fill="{colour}"><title>{svg.plain(label)}: {value:,.0f}</title></rect>'
        )
    for i in svg.labelled(len(labels), most):
        x = i * step + step / 2
        shapes.append(
            f'<text x="{x:.1f}" y="{height + 10}" transform="rotate(28 {x:.1f} {height + 10})">{svg.short(labels[i], 14)}</text>'
        )
    shapes.append(f'<text x="0" y="9" class="axis">{top:,.0f}</text>')
    shapes.append(svg.line(0, height, width, height, INK))
    return svg.picture(width + 40, height + foot, shapes)


def shares(
    labels: Sequence[str],
    values: Sequence[float],
    colours: Sequence[str] | None = None,
    *,
    top: float = 1.0,
    marks: Mapping[str, float] | None = None,
) -> str:
    """Draw lying bars for shares from 0 to `top`, all in one colour or each in its own; `marks` are named shares."""
    texts = [f"{value:.1%}" for value in values]
    return lying(labels, values, texts, colours=colours, top=top, marks=marks)


def lying(
    labels: Sequence[str],
    values: Sequence[float],
    texts: Sequence[str],
    *,
    colours: Sequence[str] | None = None,
    top: float = 1.0,
    marks: Mapping[str, float] | None = None,
) -> str:
    """Draw lying bars up to `top`, with a text at the end of each; values below 0 go to the left of it."""
    row, left, width, head = 24, 170, 300, 16 if marks else 0
    low = min(0.0, *values) if values else 0.0
    span = (top - low) or 1.0

    def at(value: float) -> float:
        return left + width * (min(value, top) - low) / span

    shapes = []
    for i, (label, value, text, colour) in enumerate(
        zip(labels, values, texts, colours or [AFTER] * len(labels), strict=True)
    ):
        y = head + i * row + 6
        start, end = sorted((at(0), at(value)))
        shapes += [
            f'<text x="{left - 8}" y="{y + 12}" text-anchor="end">{svg.short(label, 24)}</text>',
            f'<rect x="{left}" y="{y}" width="{width}" height="16" fill="{FAINT}"/>',
            f'<rect x="{start:.1f}" y="{y}" width="{end - start:.1f}" height="16" fill="{colour}">'
            f"<title>{svg.plain(label)}: {escape(text)}</title></rect>",
            f'<text x="{left + width + 8}" y="{y + 12}">{escape(text)}</text>',
        ]
    foot = head + len(labels) * row + 4
    if low < 0:
        shapes.append(svg.line(at(0), head, at(0), foot, INK))
    if marks:
        shapes += _marks({name: at(value) for name, value in marks.items()}, head, foot)
    return svg.picture(left + width + 60, foot + 6, shapes)


def _marks(places: Mapping[str, float], top: float, foot: float) -> list[str]:
    """Draw upright dashed lines; a name that would run into the one before it is left out."""
    shapes, free = [], -math.inf
    for name, x in sorted(places.items(), key=lambda place: place[1]):
        shapes.append(svg.line(x, top, x, foot, AMBER, dash="4 3", stroke=1.5))
        half = 3.5 * svg.wide(name)
        if x - half >= free:
            shapes.append(
                f'<text x="{x:.1f}" y="{top - 4}" text-anchor="middle" class="axis">{svg.plain(name)}</text>'
            )
            free = x + half
    return shapes


class Line(NamedTuple):
    """Points to be joined, by their place on the x axis, and what they mean."""

    name: str
    points: Mapping[float, float]
    colour: str = AFTER
    dash: str = "none"


def lines(series: Sequence[Line], x_name: str) -> str:
    """Draw values from 0 on, against numbers of 1 or more; each doubling of x takes the same room."""
    width, height, left, top = 400, 190, 48, 12
    xs = sorted({x for line in series for x in line.points})
    highest = max((y for line in series for y in line.points.values()), default=0.0)
    step = round_step(highest)
    most = step * max(1, math.ceil(highest / step - 1e-9))

    def across(x: float) -> float:
        low, high = math.log(xs[0]), math.log(xs[-1])
        return left + 20 + (width - 40) * ((math.log(x) - low) / (high - low) if high > low else 0.5)

    def up(y: float) -> float:
        return top + height * (1 - y / most)

    shapes = grid(left, width, up, step, most, f".{_places(step)}f")
    free = -math.inf
    for x in xs:
        if across(x) >= free:
            shapes.append(
                f'<text x="{across(x):.1f}" y="{top + height + 15}" text-anchor="middle" class="axis">{x:g}</text>'
            )
            free = across(x) + 7 * len(f"{x:g}") + 6
    shapes.append(
        f'<text x="{left + width}" y="{top + height + 30}" text-anchor="end" class="axis">{svg.plain(x_name)}</text>'
    )
    for i, line in enumerate(series):
        shapes += _drawn(line, [(across(x), up(y), x, y) for x, y in sorted(line.points.items())])
        y = top + height + 48 + 17 * i
        shapes += [
            svg.line(left, y - 4, left + 26, y - 4, line.colour, dash=line.dash, stroke=2),
            f'<circle cx="{left + 13}" cy="{y - 4}" r="3.5" fill="{line.colour}"/>',
            f'<text x="{left + 34}" y="{y}">{svg.plain(line.name)}</text>',
        ]
    return svg.picture(left + width + 20, top + height + 44 + 17 * len(series), shapes)


def _drawn(line: Line, points: Sequence[tuple[float, float, float, float]]) -> list[str]:
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y, *_ in points)
    return [
        f'<polyline points="{path}" fill="none" stroke="{line.colour}" stroke-width="2" stroke-dasharray="{line.dash}"/>',
        *(
            f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3.5" fill="{line.colour}">'
            f"<title>{svg.plain(line.name)}, {at:g}: {value:.4f}</title></circle>"
            for x, y, at, value in points
        ),
    ]


def grid(
    left: float, width: float, up: Callable[[float], float], step: float, most: float, form: str
) -> list[str]:
    """Draw level lines from 0 to `most`, with their numbers, written by `form`, at the left."""
    shapes = []
    for tick in (i * step for i in range(round(most / step) + 1)):
        y = up(tick)
        shapes += [
            svg.line(left, y, left + width, y, FAINT if tick else INK),
            f'<text x="{left - 6}" y="{y + 4:.1f}" text-anchor="end" class="axis">{tick:{form}}</text>',
        ]
    return shapes


def round_step(highest: float) -> float:
    """Choose the distance of grid lines so that there are at most five."""
    if highest <= 0:
        return 1.0
    power = 10.0 ** math.floor(math.log10(highest))
    return next(f * power for f in (0.2, 0.5, 1.0, 2.0) if highest <= 5 * f * power * (1 + 1e-9))


def _places(step: float) -> int:
    return max(0, -math.floor(math.log10(step) + 1e-9))


def beside(labels: Sequence[str], before: Sequence[float], after: Sequence[float], x_name: str) -> str:
    """Draw a bar of the original and one of the output beside each other at every label."""
    left, height, head = 60, 170, 34
    step = min(90.0, 780 / max(len(labels), 1))
    width = max(step * len(labels), 360)
    highest = max([1.0, *before, *after])
    tick = round_step(highest)
    most = tick * math.ceil(highest / tick - 1e-9)

    def up(value: float) -> float:
        return head + height * (1 - value / most)

    shapes = legend({"original": BEFORE, "published": AFTER}, left)
    shapes += grid(left, width, up, tick, most, ",.0f")
    for i, label in enumerate(labels):
        for value, colour, place in ((before[i], BEFORE, 0.12), (after[i], AFTER, 0.5)):
            shapes.append(
                f'<rect x="{left + (i + place) * step:.1f}" y="{up(value):.1f}" width="{0.36 * step:.1f}" '
                f'height="{head + height - up(value):.1f}" fill="{colour}"><title>{svg.plain(label)}: {value:,.0f}</title></rect>'
            )
        shapes.append(
            f'<text x="{left + (i + 0.5) * step:.1f}" y="{head + height + 15}" text-anchor="middle">{svg.short(label, 12)}</text>'
        )
    shapes.append(
        f'<text x="{left + width}" y="{head + height + 32}" text-anchor="end" class="axis">{svg.plain(x_name)}</text>'
    )
    return svg.picture(left + width + 20, head + height + 40, shapes)


def legend(names: Mapping[str, str], x: float, *, dots: Sequence[str] = ()) -> list[str]:
    """Name colours by squares, or by dots, above a picture."""
    shapes = []
    for name, colour in names.items():
        mark = (
            f'<circle cx="{x + 5:.0f}" cy="6" r="3.5" fill="{colour}"/>'
            if name in dots
            else f'<rect x="{x:.0f}" y="1" width="10" height="10" fill="{colour}"/>'
        )
        shapes.append(f'{mark}<text x="{x + 15:.0f}" y="10">{name}</text>')
        x += 32 + 6 * len(name)
    return shapes


def standalone(picture: str, title: str) -> str:
    """Return a picture as a file of its own: with a title, a white ground and its own style."""
    drawn = ElementTree.fromstring(picture)
    width, height = (float(drawn.get(side, 0)) for side in ("width", "height"))
    shapes = [
        f'<style>{STYLE}</style><rect width="100%" height="100%" fill="white"/>',
        f'<text x="16" y="26" class="title">{svg.plain(title)}</text>',
        picture.replace("<svg ", '<svg x="16" y="40" ', 1),
    ]
    return svg.picture(width + 32, height + 52, shapes)


def png_renderer() -> Callable[[str], bytes]:
    """Return what turns a standalone picture into a PNG."""
    try:
        from resvg_py import svg_to_bytes
    except ImportError:
        raise MissingExtraError("A picture as PNG", "plots") from None
    return lambda picture: svg_to_bytes(svg_string=picture, zoom=SCALE)
