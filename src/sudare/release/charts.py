"""Small pictures as inline SVG, so that a report opens without a network; and the same as files of their own."""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from html import escape
from typing import NamedTuple
from xml.etree import ElementTree

from sudare.errors import MissingExtraError

BEFORE, AFTER, INK, FAINT, AMBER = "#8a9a8f", "#2f6f5e", "#22302b", "#d9dfda", "#d39b00"
QUIET, LIGHT = "#6b7a72", "#e3b94d"
# A page brings its own style; a picture in a file of its own needs this one.
STYLE = (
    f"text {{ font-family: sans-serif; font-size: 11px; fill: {INK}; }} "
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
            f'height="{tall:.1f}" fill="{colour}"><title>{_plain(label)}: {value:,.0f}</title></rect>'
        )
    for i in _labelled(len(labels), most):
        x = i * step + step / 2
        shapes.append(
            f'<text x="{x:.1f}" y="{height + 10}" transform="rotate(28 {x:.1f} {height + 10})">{_short(labels[i], 14)}</text>'
        )
    shapes.append(f'<text x="0" y="9" class="axis">{top:,.0f}</text>')
    shapes.append(_line(0, height, width, height, INK))
    return _svg(width + 40, height + foot, shapes)


def _labelled(count: int, most: int) -> range:
    """Choose which bars get a label, so that labels do not run into each other."""
    return range(0, count, max(1, -(-count // min(most, 12))))


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
            f'<text x="{left - 8}" y="{y + 12}" text-anchor="end">{_short(label, 24)}</text>',
            f'<rect x="{left}" y="{y}" width="{width}" height="16" fill="{FAINT}"/>',
            f'<rect x="{start:.1f}" y="{y}" width="{end - start:.1f}" height="16" fill="{colour}">'
            f"<title>{_plain(label)}: {escape(text)}</title></rect>",
            f'<text x="{left + width + 8}" y="{y + 12}">{escape(text)}</text>',
        ]
    foot = head + len(labels) * row + 4
    if low < 0:
        shapes.append(_line(at(0), head, at(0), foot, INK))
    if marks:
        shapes += _marks({name: at(value) for name, value in marks.items()}, head, foot)
    return _svg(left + width + 60, foot + 6, shapes)


def _marks(places: Mapping[str, float], top: float, foot: float) -> list[str]:
    """Draw upright dashed lines; a name that would run into the one before it is left out."""
    shapes, free = [], -math.inf
    for name, x in sorted(places.items(), key=lambda place: place[1]):
        shapes.append(_line(x, top, x, foot, AMBER, dash="4 3", stroke=1.5))
        half = 3.5 * _wide(name)
        if x - half >= free:
            shapes.append(
                f'<text x="{x:.1f}" y="{top - 4}" text-anchor="middle" class="axis">{_plain(name)}</text>'
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
    step = _step(highest)
    most = step * max(1, math.ceil(highest / step - 1e-9))

    def across(x: float) -> float:
        low, high = math.log(xs[0]), math.log(xs[-1])
        return left + 20 + (width - 40) * ((math.log(x) - low) / (high - low) if high > low else 0.5)

    def up(y: float) -> float:
        return top + height * (1 - y / most)

    shapes = []
    for tick in (i * step for i in range(round(most / step) + 1)):
        shapes.append(_line(left, up(tick), left + width, up(tick), FAINT if tick else INK))
        shapes.append(
            f'<text x="{left - 6}" y="{up(tick) + 4:.1f}" text-anchor="end" class="axis">{tick:.{_places(step)}f}</text>'
        )
    free = -math.inf
    for x in xs:
        if across(x) >= free:
            shapes.append(
                f'<text x="{across(x):.1f}" y="{top + height + 15}" text-anchor="middle" class="axis">{x:g}</text>'
            )
            free = across(x) + 7 * len(f"{x:g}") + 6
    shapes.append(
        f'<text x="{left + width}" y="{top + height + 30}" text-anchor="end" class="axis">{_plain(x_name)}</text>'
    )
    for i, line in enumerate(series):
        shapes += _drawn(line, [(across(x), up(y), x, y) for x, y in sorted(line.points.items())])
        y = top + height + 48 + 17 * i
        shapes += [
            _line(left, y - 4, left + 26, y - 4, line.colour, dash=line.dash, stroke=2),
            f'<circle cx="{left + 13}" cy="{y - 4}" r="3.5" fill="{line.colour}"/>',
            f'<text x="{left + 34}" y="{y}">{_plain(line.name)}</text>',
        ]
    return _svg(left + width + 20, top + height + 44 + 17 * len(series), shapes)


def _drawn(line: Line, points: Sequence[tuple[float, float, float, float]]) -> list[str]:
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y, *_ in points)
    return [
        f'<polyline points="{path}" fill="none" stroke="{line.colour}" stroke-width="2" stroke-dasharray="{line.dash}"/>',
        *(
            f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3.5" fill="{line.colour}">'
            f"<title>{_plain(line.name)}, {at:g}: {value:.4f}</title></circle>"
            for x, y, at, value in points
        ),
    ]


def _step(highest: float) -> float:
    """Choose the distance of grid lines so that there are at most five."""
    if highest <= 0:
        return 1.0
    power = 10.0 ** math.floor(math.log10(highest))
    return next(f * power for f in (0.2, 0.5, 1.0, 2.0) if highest <= 5 * f * power * (1 + 1e-9))


def _places(step: float) -> int:
    return max(0, -math.floor(math.log10(step) + 1e-9))


def standalone(picture: str, title: str) -> str:
    """Return a picture as a file of its own: with a title, a white ground and its own style."""
    drawn = ElementTree.fromstring(picture)
    width, height = (float(drawn.get(side, 0)) for side in ("width", "height"))
    shapes = [
        f'<style>{STYLE}</style><rect width="100%" height="100%" fill="white"/>',
        f'<text x="16" y="26" class="title">{_plain(title)}</text>',
        picture.replace("<svg ", '<svg x="16" y="40" ', 1),
    ]
    return _svg(width + 32, height + 52, shapes)


def png_renderer() -> Callable[[str], bytes]:
    """Return what turns a standalone picture into a PNG."""
    try:
        from resvg_py import svg_to_bytes
    except ImportError:
        raise MissingExtraError("A picture as PNG", "plots") from None
    return lambda picture: svg_to_bytes(svg_string=picture, zoom=SCALE)


def _svg(width: float, height: float, shapes: list[str]) -> str:
    return (
        f'<svg viewBox="0 0 {width:.0f} {height:.0f}" width="{width:.0f}" height="{height:.0f}" '
        f'xmlns="http://www.w3.org/2000/svg" role="img">{"".join(shapes)}</svg>'
    )


def _line(
    x1: float, y1: float, x2: float, y2: float, colour: str, *, dash: str = "none", stroke: float = 0.7
) -> str:
    return (
        f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{colour}" '
        f'stroke-width="{stroke}" stroke-dasharray="{dash}"/>'
    )


def _plain(text: str) -> str:
    """Escape a text; what XML does not allow, such as a control character in the data, becomes a dot."""
    return escape("".join(character if character.isprintable() else "·" for character in text))


def _short(text: str, most: int) -> str:
    """Cut a label that would be wider than so many letters; a Chinese or Japanese one is two wide."""
    if _wide(text) <= most:
        return _plain(text)
    kept = text[: most - 1]
    while _wide(kept) > most - 1:
        kept = kept[:-1]
    return _plain(kept) + "…"


def _wide(text: str) -> int:
    return sum(2 if unicodedata.east_asian_width(character) in "WF" else 1 for character in text)


# -- Randomized tables -------------------------------------------------------------------------------


def dial(k: float, records: int) -> str:
    """Draw where k lies between 1, which promises nothing, and the number of records, which tells nothing.

    Each tenfold k takes the same room; below it stands the epsilon that goes with it, 0.5 ln((N - 1)/(k - 1)).
    """
    width, left, y = 760, 60, 52
    decades = math.log10(max(records, 2))

    def at(k: float) -> float:
        return left + width * min(max(math.log10(k) / decades, 0.0), 1.0)

    whole = [10.0**i for i in range(math.ceil(decades)) if at(10.0**i) < left + width - 60]
    shapes = [
        f'<defs><linearGradient id="dial"><stop offset="0" stop-color="{FAINT}"/><stop offset="1" stop-color="{AFTER}"/>'
        f'</linearGradient></defs><rect x="{left}" y="{y}" width="{width}" height="14" fill="url(#dial)"/>',
        *(
            f'<text x="{left - 10}" y="{place}" text-anchor="end" class="axis">{name}</text>'
            for name, place in (("k", y + 30), ("epsilon", y + 47))
        ),
    ]
    for tick in dict.fromkeys([*whole, float(max(records, 2))]):
        epsilon = "∞" if tick == 1 else f"{abs(math.log(max(records - 1, 1) / (tick - 1)) / 2):.2f}"
        shapes.append(_line(at(tick), y, at(tick), y + 18, QUIET))
        for text, place in ((f"{tick:,.0f}", y + 30), (epsilon, y + 47)):
            shapes.append(
                f'<text x="{at(tick):.1f}" y="{place}" text-anchor="middle" class="axis">{text}</text>'
            )
    x = at(k)
    shapes += [
        f'<text x="{left}" y="{y - 32}" class="axis">nothing is promised</text>',
        f'<text x="{left + width}" y="{y - 32}" text-anchor="end" class="axis">nothing is told</text>',
        f'<path d="M{x:.1f},{y + 2} l-8,-13 h16 z" fill="{AMBER}"/>'
        + _line(x, y, x, y + 14, AMBER, stroke=2),
        f'<text x="{x:.1f}" y="{y - 16}" text-anchor="middle"><tspan font-weight="bold">k = {figure(k)}</tspan></text>',
    ]
    return _svg(left + width + 40, y + 56, shapes)


def heat(matrix: Sequence[Sequence[float]], labels: Sequence[str]) -> str:
    """Draw probabilities as shades: inputs are columns, outputs rows. Few values have their numbers written in."""
    count, left, head = len(labels), 150, 24
    size = 46 if count <= 8 else max(9.0, 360 / count)
    power = 1.0 if count <= 8 else 0.5  # among many, what is faint shall still be seen
    top = max(max(row) for row in matrix) or 1.0
    side = count * size
    shapes = [
        f'<text x="{left}" y="10" class="axis">columns: original, rows: published; darkest: {top:.1%}</text>'
    ]
    for i, row in enumerate(matrix):
        y = head + i * size
        for start, end, shade in _runs([round(24 * (p / top) ** power) / 24 for p in row]):
            shapes.append(
                f'<rect x="{left + start * size:.1f}" y="{y:.1f}" width="{(end - start) * size + 0.3:.1f}" '
                f'height="{size + 0.3:.1f}" fill="{AFTER}" fill-opacity="{shade:.3f}"/>'
            )
        for j, p in enumerate(row if count <= 8 else ()):
            style = ' style="fill: white"' if p > 0.6 * top else ""
            x = left + (j + 0.5) * size
            shapes.append(
                f'<text x="{x:.1f}" y="{y + size / 2 + 4:.1f}" text-anchor="middle"{style}>{p:.1%}</text>'
            )
    shapes.append(
        f'<rect x="{left}" y="{head}" width="{side:.1f}" height="{side:.1f}" fill="none" stroke="{FAINT}"/>'
    )
    for i in _labelled(count, 40):
        middle = (i + 0.5) * size
        x, foot = left + middle, head + side + 12
        shapes += [
            f'<text x="{left - 6}" y="{head + middle + 4:.1f}" text-anchor="end">{_short(labels[i], 20)}</text>',
            f'<text x="{x:.1f}" y="{foot:.1f}" transform="rotate(28 {x:.1f} {foot:.1f})">{_short(labels[i], 14)}</text>',
        ]
    return _svg(left + max(side, 260) + 60, head + side + 52, shapes)


def _runs(values: Sequence[float]) -> list[tuple[int, int, float]]:
    """Return where equal values start and end, but for zeros."""
    ends = [i for i in range(1, len(values) + 1) if i == len(values) or values[i] != values[i - 1]]
    starts = [0, *ends[:-1]]
    return [(a, b, values[a]) for a, b in zip(starts, ends, strict=True) if values[a]]


class Whisker(NamedTuple):
    """An estimate, and the interval that it has."""

    value: float
    low: float
    high: float


def compared(
    labels: Sequence[str],
    before: Sequence[float],
    after: Sequence[float],
    found: Sequence[Whisker] | None = None,
) -> str:
    """Draw counts of the original and of the output beside each other, and estimates as dots with their intervals."""
    left, height, head = 60, 190, 34
    step = min(110.0, 840 / max(len(labels), 1))
    highest = max([1.0, *before, *(dot.value for dot in found or ())])
    others = (*after, *(dot.high for dot in found or ()))
    highest = max(highest, *(value for value in others if value <= 1.6 * highest))
    tick = _step(highest)
    most = tick * math.ceil(highest / tick - 1e-9)

    def up(value: float) -> float:
        return head + height * (1 - min(max(value, 0.0), most) / most)

    shapes = _legend(["original", "published", "reconstructed, with 95% interval"][: 3 if found else 2], left)
    for i in range(round(most / tick) + 1):
        y = up(i * tick)
        shapes.append(_line(left, y, left + step * len(labels), y, FAINT if i else INK))
        shapes.append(
            f'<text x="{left - 6}" y="{y + 4:.1f}" text-anchor="end" class="axis">{i * tick:,.0f}</text>'
        )
    for i, label in enumerate(labels):
        x = left + i * step
        for value, colour, place in ((before[i], BEFORE, 0.12), (after[i], LIGHT, 0.5)):
            shapes.append(
                f'<rect x="{x + place * step:.1f}" y="{up(value):.1f}" width="{0.36 * step:.1f}" '
                f'height="{head + height - up(value):.1f}" fill="{colour}"><title>{_plain(label)}: {value:,.0f}</title></rect>'
            )
        if after[i] > most:  # it would press all others down
            shapes.append(
                f'<text x="{x + 0.5 * step:.1f}" y="{head - 3}" class="axis">↑ {after[i]:,.0f}</text>'
            )
        if found:
            shapes += _whisker(x + step / 2, found[i], up, most, label)
    for i in _labelled(len(labels), 40):
        x, foot = left + (i + 0.3) * step, head + height + 13
        shapes.append(
            f'<text x="{x:.1f}" y="{foot}" transform="rotate(28 {x:.1f} {foot})">{_short(labels[i], 18)}</text>'
        )
    return _svg(left + max(step * len(labels), 360) + 70, head + height + 64, shapes)


def _whisker(x: float, dot: Whisker, up: Callable[[float], float], most: float, label: str) -> list[str]:
    return [
        _line(x, up(dot.low), x, up(dot.high), AFTER, stroke=1.5),
        *(
            _line(x - 3, up(end), x + 3, up(end), AFTER, stroke=1.5)
            for end in (dot.low, dot.high)
            if end <= most  # else it goes on beyond the picture
        ),
        f'<circle cx="{x:.1f}" cy="{up(dot.value):.1f}" r="3" fill="{AFTER}"><title>{_plain(label)}: '
        f"{dot.value:,.0f} ({max(dot.low, 0.0):,.0f} to {dot.high:,.0f})</title></circle>",
    ]


def _legend(names: Sequence[str], x: float) -> list[str]:
    shapes = []
    for name, colour in zip(names, (BEFORE, LIGHT, AFTER), strict=False):
        mark = (
            f'<circle cx="{x + 5:.0f}" cy="6" r="3.5" fill="{colour}"/>'
            if colour == AFTER
            else f'<rect x="{x:.0f}" y="1" width="10" height="10" fill="{colour}"/>'
        )
        shapes.append(f'{mark}<text x="{x + 15:.0f}" y="10">{name}</text>')
        x += 32 + 6 * len(name)
    return shapes


def figure(value: float) -> str:
    """Write a number with four digits, or whole."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.4g}"
