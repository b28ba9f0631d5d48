"""Tables of numbers as shades: transition matrices and two-way tables."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from markupsafe import Markup
from numpy.typing import NDArray

from sudare.reports.charts.svg import (
    AFTER,
    FAINT,
    LETTER,
    element,
    labelled,
    labels_below,
    picture,
    shortened,
    text,
)

LEVELS = 24  # shades that are told apart; equal neighbours are drawn as one
MAX_WRITTEN = 8  # values whose probabilities can be written in
LINE = 14  # pixels from one level label to the next

Floats = NDArray[np.float64]


def transition_shades(matrix: Floats, labels: Sequence[str]) -> Markup:
    """Draw how likely each value becomes which: inputs are columns, outputs rows. Few have their numbers written in."""
    count, left, head = len(labels), 150, 24
    size = 46.0 if count <= MAX_WRITTEN else max(9.0, 360 / count)
    top = float(matrix.max()) or 1.0
    # Among many values, what is faint shall still be seen.
    levels = matrix / top if count <= MAX_WRITTEN else np.sqrt(matrix / top)
    shapes = [text(left, 10, f"columns: original, rows: published; darkest: {top:.1%}", axis=True)]
    shapes += _cells(levels, left, head, size, size, AFTER)
    if count <= MAX_WRITTEN:
        shapes += _numbers(matrix, top, left, head, size)
    around, foot = _labels(labels, labels, left, head, size, size)
    return picture(left + max(count * size, 260) + 60, foot, shapes + around)


def _numbers(matrix: Floats, top: float, left: float, head: float, size: float) -> list[Markup]:
    shapes = []
    for (i, j), p in np.ndenumerate(matrix):
        white = {"style": "fill: white"} if p > 0.6 * top else {}
        x, y = left + (j + 0.5) * size, head + (i + 0.5) * size + 4
        shapes.append(element("text", f"{p:.1%}", x=x, y=y, text_anchor="middle", **white))
    return shapes


def two_way_shades(
    table: Floats, rows: Sequence[str], columns: Sequence[str], top: float, colour: str = AFTER
) -> Markup:
    """Draw a table of counts by two attributes: the darkest is `top`, and half as dark a quarter of it."""
    left, side = 110, 270
    wide, tall = side / max(len(columns), 1), side / max(len(rows), 1)
    shapes = _cells(np.sqrt(np.clip(table / (top or 1.0), 0, 1)), left, 0, wide, tall, colour)
    around, foot = _labels(rows, columns, left, 0, wide, tall)
    return picture(left + side + 90, foot, shapes + around)


def _cells(levels: Floats, left: float, head: float, wide: float, tall: float, colour: str) -> list[Markup]:
    """Draw levels from 0 to 1, the darker the higher."""
    return [
        element(
            "rect",
            x=left + start * wide,
            y=head + i * tall,
            width=(end - start) * wide + 0.3,
            height=tall + 0.3,
            fill=colour,
            fill_opacity=f"{level:.3f}",
        )
        for i, row in enumerate(np.round(LEVELS * levels) / LEVELS)
        for start, end, level in _runs(row.tolist())
    ]


def _runs(values: Sequence[float]) -> list[tuple[int, int, float]]:
    """Return where equal values start and end, but for zeros."""
    ends = [i for i in range(1, len(values) + 1) if i == len(values) or values[i] != values[i - 1]]
    starts = [0, *ends[:-1]]
    return [(a, b, values[a]) for a, b in zip(starts, ends, strict=True) if values[a]]


def _labels(
    rows: Sequence[str], columns: Sequence[str], left: float, head: float, wide: float, tall: float
) -> tuple[list[Markup], float]:
    """Draw the frame, the names of rows at its left, and those of columns below it; return also where these end."""
    width, height = len(columns) * wide, len(rows) * tall
    frame = element("rect", x=left, y=head, width=width, height=height, fill="none", stroke=FAINT)
    letters = int(left - 10) // LETTER
    beside = [
        text(left - 6, head + (i + 0.5) * tall + 4, shortened(rows[i], letters), anchor="end")
        for i in labelled(len(rows), tall, LINE)
    ]
    below, foot = labels_below(columns, left, wide, head + height, 14)
    return [frame, *beside, *below], foot
