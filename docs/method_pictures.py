"""A picture for each method, of what `docs.measured` found."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from typing import Any

from docs.drawing import Frame, arrow, dot, joined, legend, line, picture, text
from docs.measured import FILE

WIDTH = 760


def _found(name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(FILE.read_text(encoding="utf-8"))[name]
    return found


def _panel(place: int, words: str, steps: list[float], *, top: float) -> tuple[Frame, list[str]]:
    """Return one of three charts beside each other, with its title; the first one has the axis of all."""
    frame = Frame(left=60 + place * 235, right=270 + place * 235, high=78, low=240, top=top)
    axis = frame.axis(steps, "{:,}") if place == 0 else [line(frame.left, frame.low, frame.right, frame.low)]
    return frame, [text(frame.left, frame.high - 16, words, "small"), *axis]


def _ends(frame: Frame, first: str, last: str) -> list[str]:
    """Write what the ends of the axis below a chart are."""
    return [
        text(frame.left, frame.low + 18, first, "quiet small"),
        text(frame.right, frame.low + 18, last, "quiet small", "end"),
    ]


def suitability() -> str:
    """Draw what l-diversity must cost, and what it costs."""
    found = _found("suitability")
    frame = Frame(left=70, right=520, high=60, low=300, top=0.3)
    xs = [frame.across(i, len(found["l"])) for i in range(len(found["l"]))]
    parts = [
        text(
            18,
            30,
            f"Adult, {found['rows']:,} people: the distortion of distinct l-diversity of the occupation",
            "head",
        ),
        *frame.axis([0, 0.1, 0.2, 0.3]),
        *(text(x, 320, f"l = {l}", "quiet small", "middle") for x, l in zip(xs, found["l"], strict=True)),
    ]
    low = [(x, frame.up(y)) for x, y in zip(xs, found["least"], strict=True)]
    shade = " ".join(f"{x:.1f},{y:.1f}" for x, y in [*low, (xs[-1], frame.low), (xs[0], frame.low)])
    parts.append(f'<polygon class="w" points="{shade}"/>')
    for name, kind in (("mondrian", "b"), ("minimal", "a"), ("least", "c")):
        points = [(x, frame.up(y)) for x, y in zip(xs, found[name], strict=True)]
        parts += [joined(points, f"s{kind} thick"), *(dot(x, y, kind, 4) for x, y in points)]
    parts += legend(
        548, 110, [("b", "mondrian reaches"), ("a", "minimal reaches"), ("c", "no method goes below")]
    )
    return picture(WIDTH, 340, "The distortion of l-diversity, with its lower bound", parts)


def pk() -> str:
    """Draw a histogram of ages as it is, as it is published, and as it is estimated back."""
    found = _found("pk")
    parts = [
        text(
            18,
            30,
            f"Ages of {found['rows']:,} people, in bins of five years, randomized for k = {found['k']}",
            "head",
        )
    ]
    panels = [
        ("as they are", "true", "d"),
        ("published", "published", "b"),
        ("estimated from what is published", "estimated", "a"),
    ]
    for i, (words, name, kind) in enumerate(panels):
        frame, shapes = _panel(i, words, [0, 2000, 4000], top=5000)
        parts += [
            *shapes,
            *frame.bars(found[name], kind),
            *_ends(frame, "15", "95"),
        ]
        if name == "estimated":
            for place, ends in enumerate(zip(found["low"], found["high"], found["true"], strict=True)):
                x = frame.across(place, len(found[name]))
                parts += [
                    line(x, frame.up(ends[0]), x, frame.up(ends[1]), "ink"),
                    dot(x, frame.up(ends[2]), "c", 2.4),
                ]
    parts += [
        text(
            60,
            292,
            "Lines: 95% intervals. Dots: the truth, of which the estimate knows nothing.",
            "quiet small",
        ),
    ]
    return picture(WIDTH, 308, "Ages, published ages, and ages estimated from them", parts)


def pram() -> str:
    """Draw what three laws make of a histogram on average, and how many records each keeps."""
    found = _found("pram")
    parts = [
        text(
            18,
            30,
            f"Ages of {found['rows']:,} people: the histogram that is published on average, k = {found['k']}",
            "head",
        )
    ]
    panels = [
        ("conventional", "every age kept alike", "d"),
        ("optimal", "least ‖Pv - v‖ (A-type)", "b"),
        ("reconstruction", "best to reconstruct from", "a"),
    ]
    for i, (name, words, kind) in enumerate(panels):
        frame, shapes = _panel(i, words, [0, 500, 1000], top=1000)
        own = found[name]
        places = len(found["true"])
        parts += [
            *shapes,
            *frame.bars(own["published"], kind, share=0.95),
            joined(
                [(frame.across(j, places), frame.up(count)) for j, count in enumerate(found["true"])], "ink"
            ),
            *_ends(frame, "17", "90"),
            text(frame.left, 282, f"off by {own['off']:,.0f} records; {own['kept']:.0%} kept", "small"),
            text(
                frame.left,
                300,
                f"of the rarest {own['least kept']:.0%}"
                if own["least kept"] >= 0.005
                else "of the rarest hardly any",
                "small",
            ),
        ]
    parts.append(
        text(
            60, 322, "Line: the true histogram. “Off by” is before anything is reconstructed.", "quiet small"
        )
    )
    return picture(WIDTH, 338, "What three laws make of a histogram", parts)


def views() -> str:
    """Draw to how many people how many occupations are left."""
    found = _found("views")
    parts = [
        text(
            18,
            30,
            f"How many occupations two views of {found['rows']:,} people leave to those who are looked up",
            "head",
        )
    ]
    panels = [("as they are", "b"), ("each made alone", "d"), ("made together", "a")]
    for i, (name, kind) in enumerate(panels):
        counts = found[name]
        words = {
            "as they are": "as they are",
            "each made alone": f"each {found['l']}-diverse, made alone",
            "made together": f"made together, l = {found['l']}",
        }[name]
        frame, shapes = _panel(i, words, [0, 2000, 4000, 6000], top=6000)
        parts += [
            *shapes,
            *frame.bars(counts, kind),
            *(
                text(frame.across(v - 1, len(counts)), 258, str(v), "quiet small", "middle")
                for v in (1, 4, 8, 12)
            ),
            text(frame.left, 282, f"{counts[0]:,} given away", "small"),
        ]
        if counts[0]:
            x = frame.across(0, len(counts))
            parts.append(arrow(x, frame.up(counts[0]) - 26, x, frame.up(counts[0]) - 6))
    parts.append(
        text(
            60,
            306,
            "People, by the number of occupations that are left to them. One left: given away.",
            "quiet small",
        )
    )
    return picture(WIDTH, 322, "What the intersection attack leaves", parts)


def pview() -> str:
    """Draw answers of a p-view against the truth, with their intervals."""
    found = _found("pview")
    low, high = 10, 50_000
    left, right, top, foot = 80, 500, 56, 330

    def place(value: float, start: float, end: float) -> float:
        share = (math.log(max(value, low)) - math.log(low)) / (math.log(high) - math.log(low))
        return start + (end - start) * min(share, 1)

    parts = [
        text(
            18,
            30,
            f"{len(found['asked'])} questions to a p-view of {found['rows']:,} people, epsilon = {found['epsilon']:g}",
            "head",
        )
    ]
    for tick in (10, 100, 1000, 10_000):
        x, y = place(tick, left, right), place(tick, foot, top)
        parts += [
            line(left, y, right, y),
            text(left - 8, y + 4, f"{tick:,}", "quiet small", "end"),
            text(x, foot + 18, f"{tick:,}", "quiet small", "middle"),
        ]
    parts.append(line(left, foot, right, top, "ink dash"))
    for true, value, least, most in found["asked"]:
        x = place(true, left, right)
        holds = least <= true <= most
        parts += [
            line(x, place(least, foot, top), x, place(most, foot, top), "sd" if holds else "sb"),
            dot(x, place(value, foot, top), "a" if holds else "b"),
        ]
    held = sum(least <= true <= most for true, _, least, most in found["asked"])
    parts += [
        text((left + right) / 2, foot + 38, "people, in truth", "small", "middle"),
        text(left, 48, "answered", "small"),
        *legend(524, 120, [("a", "answer; line: 95% interval"), ("b", "the truth is not in it")]),
        text(524, 178, f"{held} of {len(found['asked'])} intervals hold it.", "small"),
        text(524, 200, "How many people have an age,", "quiet small"),
        text(524, 218, "a schooling and working hours", "quiet small"),
        text(524, 236, "between random ends.", "quiet small"),
    ]
    return picture(WIDTH, 388, "Answers of a p-view beside the truth", parts)


METHOD_PICTURES: dict[str, Callable[[], str]] = {
    "suitability.svg": suitability,
    "pk.svg": pk,
    "pram.svg": pram,
    "views.svg": views,
    "pview.svg": pview,
}
