"""Small pictures as inline SVG, so that a report opens without a network."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

BEFORE, AFTER, INK, FAINT = "#8a9a8f", "#2f6f5e", "#22302b", "#d9dfda"


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
            f'height="{tall:.1f}" fill="{colour}"><title>{escape(label)}: {value:,.0f}</title></rect>'
        )
    for i in _labelled(len(labels), most):
        x = i * step + step / 2
        short = labels[i] if len(labels[i]) <= 14 else labels[i][:13] + "…"
        shapes.append(
            f'<text x="{x:.1f}" y="{height + 10}" transform="rotate(28 {x:.1f} {height + 10})">{escape(short)}</text>'
        )
    shapes.append(f'<text x="0" y="9" class="axis">{top:,.0f}</text>')
    shapes.append(
        f'<line x1="0" y1="{height}" x2="{width}" y2="{height}" stroke="{INK}" stroke-width="0.7"/>'
    )
    return _svg(width + 40, height + foot, shapes)


def _labelled(count: int, most: int) -> range:
    """Choose which bars get a label, so that labels do not run into each other."""
    return range(0, count, max(1, -(-count // min(most, 12))))


def shares(labels: Sequence[str], values: Sequence[float], colours: Sequence[str] | None = None) -> str:
    """Draw lying bars for shares from 0 to 1, all in one colour or each in its own."""
    row, left, width = 24, 150, 300
    shapes = []
    for i, (label, value, colour) in enumerate(
        zip(labels, values, colours or [AFTER] * len(labels), strict=True)
    ):
        y = i * row + 6
        shapes += [
            f'<text x="{left - 8}" y="{y + 12}" text-anchor="end">{escape(label)}</text>',
            f'<rect x="{left}" y="{y}" width="{width}" height="16" fill="{FAINT}"/>',
            f'<rect x="{left}" y="{y}" width="{width * min(value, 1):.1f}" height="16" fill="{colour}"/>',
            f'<text x="{left + width + 8}" y="{y + 12}">{value:.1%}</text>',
        ]
    return _svg(left + width + 60, len(labels) * row + 10, shapes)


def _svg(width: float, height: float, shapes: list[str]) -> str:
    return (
        f'<svg viewBox="0 0 {width:.0f} {height:.0f}" width="{width:.0f}" height="{height:.0f}" '
        f'xmlns="http://www.w3.org/2000/svg" role="img">{"".join(shapes)}</svg>'
    )
