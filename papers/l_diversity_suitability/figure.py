"""Fig. 3: bounds and what is reached, as multiples of the lower bound of k-anonymity, on a logarithmic scale."""

from __future__ import annotations

import math
from collections.abc import Sequence

from papers.l_diversity_suitability.measure import Row
from papers.l_diversity_suitability.paper import PAPER

INK, FAINT = "#22302b", "#d9dfda"
LEFT, WIDTH, BAR, GAP, HEAD = 90, 520, 9, 10, 46
TICKS = (1, 2, 5, 10, 20, 50, 100, 200)


def figure(rows: Sequence[Row]) -> str:
    """Return the picture as SVG; every row's bars are those of the legend, from top to bottom."""
    groups = [(f"{row.name}, l = {row.l}", _bars(row)) for row in rows if row.bound_k > 0]
    most = max(value for _, bars in groups for _, value, _ in bars)

    def across(value: float) -> float:
        return WIDTH * math.log(max(value, 1.0)) / math.log(most)

    shapes, y = [], HEAD
    for label, bars in groups:
        shapes.append(f'<text x="{LEFT - 8}" y="{y + BAR + 8}" text-anchor="end">{label}</text>')
        for words, value, colour in bars:
            title = f"<title>{label}, {words}: {value:.2f}</title>"
            wide = max(across(value), 1)
            shapes.append(
                f'<rect x="{LEFT}" y="{y}" width="{wide:.1f}" height="{BAR - 1}" fill="{colour}">{title}</rect>'
            )
            y += BAR
        y += GAP
    grid = [
        f'<line x1="{LEFT + across(tick):.1f}" y1="{HEAD - 6}" x2="{LEFT + across(tick):.1f}" y2="{y}" stroke="{FAINT}"/>'
        f'<text x="{LEFT + across(tick):.1f}" y="{HEAD - 10}" text-anchor="middle">{tick}</text>'
        for tick in TICKS
        if tick <= most
    ]
    legend = [
        f'<rect x="{LEFT + 150 * i}" y="8" width="10" height="10" fill="{colour}"/>'
        f'<text x="{LEFT + 150 * i + 15}" y="17">{words}</text>'
        for i, (words, colour) in enumerate(COLOURS.items())
    ]
    style = f"<style>text {{ font: 11px sans-serif; fill: {INK}; }}</style>"
    ground = '<rect width="100%" height="100%" fill="white"/>'
    width, height = LEFT + WIDTH + 40, y + 6
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        f'role="img">{style}{ground}{"".join([*grid, *legend, *shapes])}</svg>\n'
    )


COLOURS = {
    "l, lower bound": "#8a9a8f",
    "k, reached": "#d39b00",
    "l, reached": "#2f6f5e",
    "l, the paper's": "#b9c4bd",
}


def _bars(row: Row) -> list[tuple[str, float, str]]:
    values = [row.bound_l, row.reached_k, row.entropy, PAPER[row.name][row.l].reached_l]
    return [
        (words, value / row.bound_k, colour)
        for (words, colour), value in zip(COLOURS.items(), values, strict=True)
        if value is not None
    ]
