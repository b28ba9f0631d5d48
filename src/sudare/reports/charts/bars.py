"""Bars: vertical, horizontal, and in groups beside each other with estimates as dots."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from markupsafe import Markup

from sudare.reports.charts.axes import VerticalAxis, legend, whole
from sudare.reports.charts.svg import (
    AFTER,
    AMBER,
    FAINT,
    INK,
    bar,
    dot,
    labels_below,
    letter_count,
    line,
    picture,
    shortened,
    text,
)

FAR = 1.5  # times the tallest bar that must be seen: what is taller may leave the picture
LABEL = 18  # letters of a label below grouped bars


def vertical_bars(labels: Sequence[str], values: Sequence[float], *, colour: str = AFTER) -> Markup:
    """Draw vertical bars, with as many of their labels as there is room for."""
    width, height = 390, 150
    top = max(values, default=0) or 1
    step = width / max(len(values), 1)
    shapes = []
    for i, (label, value) in enumerate(zip(labels, values, strict=True)):
        tall = (height - 14) * value / top
        shapes.append(
            bar(i * step + step * 0.1, height - tall, step * 0.8, tall, colour, f"{label}: {whole(value)}")
        )
    below, foot = labels_below(labels, 0, step, height, 14)
    shapes += [*below, text(0, 9, whole(top), axis=True), line(0, height, width, height, INK)]
    return picture(width + 70, foot, shapes)


def share_bars(
    labels: Sequence[str],
    shares: Sequence[float],
    colours: Sequence[str] | None = None,
    *,
    top: float = 1.0,
    marks: Mapping[str, float] | None = None,
    form: str = ".1%",
) -> Markup:
    """Draw horizontal bars for shares from 0 to `top`, all in one colour or each in its own; `marks` are named shares."""
    texts = [format(share, form) for share in shares]
    return horizontal_bars(labels, shares, texts, colours=colours, top=top, marks=marks)


def horizontal_bars(
    labels: Sequence[str],
    values: Sequence[float],
    texts: Sequence[str],
    *,
    colours: Sequence[str] | None = None,
    top: float = 1.0,
    marks: Mapping[str, float] | None = None,
) -> Markup:
    """Draw horizontal bars up to `top`, with a text at the end of each; values below 0 go to the left of it.

    >>> str(horizontal_bars(["age", "sex"], [0.3, 0.1], ["+0.3", "+0.1"], top=0.3))[:25]
    '<svg viewBox="0 0 530 58"'
    """
    row, left, width, head = 24, 170, 300, 16 if marks else 0
    low = min(0.0, *values) if values else 0.0
    span = (top - low) or 1.0

    def at(value: float) -> float:
        return left + width * (min(value, top) - low) / span

    shapes = []
    each = zip(labels, values, texts, colours or [AFTER] * len(labels), strict=True)
    for i, (label, value, words, colour) in enumerate(each):
        y = head + i * row + 6
        start, end = sorted((at(0), at(value)))
        shapes += [
            text(left - 8, y + 12, shortened(label, 24), anchor="end"),
            bar(left, y, width, 16, FAINT),
            bar(start, y, end - start, 16, colour, f"{label}: {words}"),
            text(left + width + 8, y + 12, words),
        ]
    foot = head + len(labels) * row + 4
    if low < 0:
        shapes.append(line(at(0), head, at(0), foot, INK))
    if marks:
        shapes += _marks({name: at(value) for name, value in marks.items()}, head, foot)
    return picture(left + width + 60, foot + 6, shapes)


def _marks(places: Mapping[str, float], top: float, foot: float) -> list[Markup]:
    """Draw vertical dashed lines; a name that would run into the one before it is left out."""
    shapes, free = [], -math.inf
    for name, x in sorted(places.items(), key=lambda place: place[1]):
        shapes.append(line(x, top, x, foot, AMBER, dash="4 3", stroke=1.5))
        half = 3.5 * letter_count(name)
        if x - half >= free:
            shapes.append(text(x, top - 4, name, anchor="middle", axis=True))
            free = x + half
    return shapes


class Bars(NamedTuple):
    """Counts by label, drawn as bars of one colour."""

    name: str
    counts: Sequence[float]
    colour: str
    may_leave: bool = False
    """Whether a bar that is far taller than all others may be cut off, so that it does not press them down."""


class Interval(NamedTuple):
    """An estimate, and the 95% interval that it has."""

    value: float
    low: float
    high: float


class Dots(NamedTuple):
    """Estimates by label, drawn as dots with their intervals."""

    name: str
    intervals: Sequence[Interval]


def grouped_bars(
    labels: Sequence[str],
    series: Sequence[Bars],
    dots: Dots | None = None,
    *,
    x_name: str = "",
    room: float = 790,
    letters: int = LABEL,
) -> Markup:
    """Draw counts of one or several kinds beside each other at every label, and estimates of them as dots.

    All bars together take the `room` at most; labels are cut to so many `letters`.

    >>> original = Bars("original", [10, 20], AFTER)
    >>> estimated = Dots("estimated", [Interval(9, 5, 15), Interval(21, 18, 25)])
    >>> "no: 21 (18 to 25)" in grouped_bars(["yes", "no"], [original], estimated)
    True
    """
    left, head, height = 60, 34, 180
    step = min(50.0 + 30.0 * len(series), room / max(len(labels), 1))
    width, foot = step * len(labels), head + height
    axis = VerticalAxis.up_to(_highest(series, dots), head, foot)
    colours = {own.name: own.colour for own in series} | ({dots.name: AFTER} if dots else {})
    shapes = legend(colours, left, dots=[dots.name] if dots else [])
    shapes += axis.lines(left, width, whole)
    for i, label in enumerate(labels):
        x = left + i * step
        shapes += _group(x, step, [(own, own.counts[i]) for own in series], axis, label)
        if dots:
            shapes += _interval(x + step / 2, dots.intervals[i], axis, label)
    below, end = labels_below(labels, left, step, foot, letters)
    shapes += below
    if x_name:
        end += 14
        shapes.append(text(left + width, end - 2, x_name, anchor="end", axis=True))
    return picture(left + max(width, min(room, 360)) + 5.4 * letters, end, shapes)


def paired_bars(labels: Sequence[str], series: Sequence[Bars]) -> Markup:
    """Draw counts of several kinds below each other at every label, all on one scale, with their numbers.

    >>> "yes: 10" in paired_bars(["yes", "no"], [Bars("original", [10, 20], AFTER)])
    True
    """
    thick, left, width, head = 12, 130, 240, 20
    row = thick * len(series) + 6
    top = max([1.0, *(count for own in series for count in own.counts)])
    shapes = legend({own.name: own.colour for own in series}, left)
    for i, label in enumerate(labels):
        y = head + i * row
        shapes.append(text(left - 8, y + row / 2, shortened(label, 17), anchor="end"))
        for place, own in enumerate(series):
            long, at = width * own.counts[i] / top, y + place * thick
            words = f"{label}: {whole(own.counts[i])}"
            shapes.append(bar(left, at, long, thick - 1, own.colour, words))
            shapes.append(text(left + long + 5, at + thick - 1, whole(own.counts[i]), axis=True))
    foot = head + len(labels) * row
    return picture(left + width + 60, foot, [*shapes, line(left, head - 2, left, foot - 4, INK)])


def _highest(series: Sequence[Bars], dots: Dots | None) -> float:
    """Return what must fit: all that may not leave, and of the rest what is not far taller."""
    intervals = dots.intervals if dots else ()
    needed = [count for own in series if not own.may_leave for count in own.counts]
    highest = max([1.0, *needed, *(one.value for one in intervals)])
    others = [count for own in series if own.may_leave for count in own.counts]
    others += [one.high for one in intervals]
    return max([highest, *(value for value in others if value <= FAR * highest)])


def _group(
    x: float, step: float, bars: Sequence[tuple[Bars, float]], axis: VerticalAxis, label: str
) -> list[Markup]:
    """Draw the bars of one label; one that leaves the picture has its number above."""
    wide, shapes = 0.76 * step / len(bars), []
    for place, (own, count) in enumerate(bars):
        y, at = axis.at(count), x + 0.12 * step + place * wide
        shapes.append(bar(at, y, wide, axis.lower - y, own.colour, f"{label}: {whole(count)}"))
        if count > axis.top:
            shapes.append(text(at, axis.upper - 3, f"↑ {whole(count)}", axis=True))
    return shapes


def _interval(x: float, estimate: Interval, axis: VerticalAxis, label: str) -> list[Markup]:
    """Draw an estimate as a dot, with its interval; one without an end bar goes on beyond the picture."""
    ends = [end for end in (estimate.low, estimate.high) if end <= axis.top]
    words = f"{label}: {whole(estimate.value)} ({whole(max(estimate.low, 0.0))} to {whole(estimate.high)})"
    return [
        line(x, axis.at(estimate.low), x, axis.at(estimate.high), AFTER, stroke=1.5),
        *(line(x - 3, axis.at(end), x + 3, axis.at(end), AFTER, stroke=1.5) for end in ends),
        dot(x, axis.at(estimate.value), 3, AFTER, words),
    ]
