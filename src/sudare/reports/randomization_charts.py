"""Pictures of randomized tables: how much is promised, the law of an attribute, and what can be got back."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

from sudare.reports import svg
from sudare.reports.charts import AFTER, AMBER, BEFORE, FAINT, LIGHT, QUIET, grid, legend, round_step


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
        shapes.append(svg.line(at(tick), y, at(tick), y + 18, QUIET))
        for text, place in ((f"{tick:,.0f}", y + 30), (epsilon, y + 47)):
            shapes.append(
                f'<text x="{at(tick):.1f}" y="{place}" text-anchor="middle" class="axis">{text}</text>'
            )
    x = at(k)
    shapes += [
        f'<text x="{left}" y="{y - 32}" class="axis">nothing is promised</text>',
        f'<text x="{left + width}" y="{y - 32}" text-anchor="end" class="axis">nothing is told</text>',
        f'<path d="M{x:.1f},{y + 2} l-8,-13 h16 z" fill="{AMBER}"/>'
        + svg.line(x, y, x, y + 14, AMBER, stroke=2),
        f'<text x="{x:.1f}" y="{y - 16}" text-anchor="middle"><tspan font-weight="bold">k = {figure(k)}</tspan></text>',
    ]
    return svg.picture(left + width + 40, y + 56, shapes)


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
        for start, end, shade in runs([round(24 * (p / top) ** power) / 24 for p in row]):
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
    for i in svg.labelled(count, 40):
        middle = (i + 0.5) * size
        x, foot = left + middle, head + side + 12
        shapes += [
            f'<text x="{left - 6}" y="{head + middle + 4:.1f}" text-anchor="end">{svg.short(labels[i], 20)}</text>',
            f'<text x="{x:.1f}" y="{foot:.1f}" transform="rotate(28 {x:.1f} {foot:.1f})">{svg.short(labels[i], 14)}</text>',
        ]
    return svg.picture(left + max(side, 260) + 60, head + side + 52, shapes)


def runs(values: Sequence[float]) -> list[tuple[int, int, float]]:
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
    tick = round_step(highest)
    most = tick * math.ceil(highest / tick - 1e-9)

    def up(value: float) -> float:
        return head + height * (1 - min(max(value, 0.0), most) / most)

    estimated = "reconstructed, with 95% interval"
    names = {"original": BEFORE, "published": LIGHT} | ({estimated: AFTER} if found else {})
    shapes = legend(names, left, dots=[estimated])
    shapes += grid(left, step * len(labels), up, tick, most, ",.0f")
    for i, label in enumerate(labels):
        x = left + i * step
        for value, colour, place in ((before[i], BEFORE, 0.12), (after[i], LIGHT, 0.5)):
            shapes.append(
                f'<rect x="{x + place * step:.1f}" y="{up(value):.1f}" width="{0.36 * step:.1f}" '
                f'height="{head + height - up(value):.1f}" fill="{colour}"><title>{svg.plain(label)}: {value:,.0f}</title></rect>'
            )
        if after[i] > most:  # it would press all others down
            shapes.append(
                f'<text x="{x + 0.5 * step:.1f}" y="{head - 3}" class="axis">↑ {after[i]:,.0f}</text>'
            )
        if found:
            shapes += whisker(x + step / 2, found[i], up, most, label)
    for i in svg.labelled(len(labels), 40):
        x, foot = left + (i + 0.3) * step, head + height + 13
        shapes.append(
            f'<text x="{x:.1f}" y="{foot}" transform="rotate(28 {x:.1f} {foot})">{svg.short(labels[i], 18)}</text>'
        )
    return svg.picture(left + max(step * len(labels), 360) + 70, head + height + 64, shapes)


def whisker(x: float, dot: Whisker, up: Callable[[float], float], most: float, label: str) -> list[str]:
    """Draw an estimate as a dot, with its interval; what lies beyond `most` leaves the picture."""
    return [
        svg.line(x, up(dot.low), x, up(dot.high), AFTER, stroke=1.5),
        *(
            svg.line(x - 3, up(end), x + 3, up(end), AFTER, stroke=1.5)
            for end in (dot.low, dot.high)
            if end <= most  # else it goes on beyond the picture
        ),
        f'<circle cx="{x:.1f}" cy="{up(dot.value):.1f}" r="3" fill="{AFTER}"><title>{svg.plain(label)}: '
        f"{dot.value:,.0f} ({max(dot.low, 0.0):,.0f} to {dot.high:,.0f})</title></circle>",
    ]


def figure(value: float) -> str:
    """Write a number with four digits, or whole."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.4g}"
