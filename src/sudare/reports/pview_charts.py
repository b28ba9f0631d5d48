"""Pictures of a view: counts with intervals against the truth, and two-way tables as shades."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from sudare.reports import svg
from sudare.reports.charts import AFTER, BEFORE, FAINT, grid, legend, round_step
from sudare.reports.randomization_charts import Whisker, runs, whisker

FOUND = "the view, with 95% interval"


def against(labels: Sequence[str], truth: Sequence[float], found: Sequence[Whisker]) -> str:
    """Draw true counts as bars, and the view's as dots with their intervals; what is far too long leaves the picture."""
    left, height, head, width = 60, 170, 34, 820
    step = min(60.0, width / max(len(labels), 1))
    highest = max([1.0, *truth, *(dot.value for dot in found)])
    highest = max(highest, *(dot.high for dot in found if dot.high <= 1.4 * highest), 0.0)
    tick = round_step(highest)
    most = tick * math.ceil(highest / tick - 1e-9)

    def up(value: float) -> float:
        return head + height * (1 - min(max(value, 0.0), most) / most)

    shapes = legend({"original": BEFORE, FOUND: AFTER}, left, dots=[FOUND])
    shapes += grid(left, step * len(labels), up, tick, most, ",.0f")
    for i, (label, true, dot) in enumerate(zip(labels, truth, found, strict=True)):
        x = left + i * step
        shapes.append(
            f'<rect x="{x + 0.1 * step:.1f}" y="{up(true):.1f}" width="{0.8 * step:.1f}" '
            f'height="{head + height - up(true):.1f}" fill="{BEFORE}"><title>{svg.plain(label)}: {true:,.0f}</title></rect>'
        )
        shapes += whisker(x + step / 2, dot, up, most, label)
    for i in svg.labelled(len(labels), 40):
        x, foot = left + (i + 0.3) * step, head + height + 13
        shapes.append(
            f'<text x="{x:.1f}" y="{foot}" transform="rotate(28 {x:.1f} {foot})">{svg.short(labels[i], 18)}</text>'
        )
    return svg.picture(left + max(step * len(labels), 360) + 100, head + height + 64, shapes)


def shades(
    table: NDArray[np.float64], rows: Sequence[str], columns: Sequence[str], top: float, colour: str = AFTER
) -> str:
    """Draw a two-way table as shades: the darkest is `top`, and half as dark a quarter of it."""
    left, side = 110, 270
    tall, wide = side / max(len(rows), 1), side / max(len(columns), 1)
    shapes = []
    for i, row in enumerate(np.round(24 * np.sqrt(np.clip(table / (top or 1.0), 0, 1))) / 24):
        shapes += [
            f'<rect x="{left + start * wide:.1f}" y="{i * tall:.1f}" width="{(end - start) * wide + 0.3:.1f}" '
            f'height="{tall + 0.3:.1f}" fill="{colour}" fill-opacity="{shade:.3f}"/>'
            for start, end, shade in runs(row.tolist())
        ]
    shapes.append(f'<rect x="{left}" y="0" width="{side}" height="{side}" fill="none" stroke="{FAINT}"/>')
    shapes += [
        f'<text x="{left - 6}" y="{(i + 0.5) * tall + 4:.1f}" text-anchor="end">{svg.short(rows[i], 16)}</text>'
        for i in svg.labelled(len(rows), 40)
    ]
    for i in svg.labelled(len(columns), 40):
        x, foot = left + (i + 0.3) * wide, side + 12
        shapes.append(
            f'<text x="{x:.1f}" y="{foot}" transform="rotate(28 {x:.1f} {foot})">{svg.short(columns[i], 14)}</text>'
        )
    return svg.picture(left + side + 90, side + 56, shapes)
