"""Pictures of the theorems, and of the errors."""

from __future__ import annotations

from collections.abc import Sequence

from papers.pk_numeric.measure import BITS, CONVENTIONAL, NOISE, TEN, Row
from papers.pk_numeric.theorems import (
    REACHES,
    SCALES,
    WIDTHS,
    N,
    cauchy,
    counted_k,
    laplace,
    laplace_k,
    normal,
    uniform,
)
from sudare.reports.charts import AFTER, AMBER, BEFORE, INK, Line, lines, standalone

COLOURS = {CONVENTIONAL: BEFORE, TEN: AFTER, BITS: INK, NOISE: AMBER}


def figures(rows: Sequence[Row]) -> dict[str, str]:
    """Return the pictures, by the name of the file."""
    return theorems() | errors(rows)


def theorems() -> dict[str, str]:
    """Draw 1/k, the best chance of an adversary to point at somebody's record."""
    chance = f"of {N:,} records"
    grows = [
        Line("Theorem 6.1", {s: 1 / laplace_k(s, 1) for s in SCALES}),
        Line("counted, all pairs tried", {s: 1 / counted_k(laplace(s), 1, 5) for s in SCALES}, AMBER, "2 5"),
    ]
    tails = [
        Line("Laplace, scale 4", {r: 1 / counted_k(laplace(4), 1, 4 * r) for r in REACHES}),
        Line("normal, σ = 4", {r: 1 / counted_k(normal(4), 1, 4 * r) for r in REACHES}, AMBER),
        Line("uniform, from -4 to 4", {r: 1 / counted_k(uniform(4), 1, 4 * r) for r in REACHES}, BEFORE),
    ]
    wide = [
        Line("Laplace, scale 1", {w: 1 / counted_k(laplace(1), w, 5) for w in WIDTHS}),
        Line("Cauchy, scale 1", {w: 1 / counted_k(cauchy(1), w, 5 + w) for w in WIDTHS}, AMBER),
    ]
    return {
        "figure-1.svg": standalone(
            lines(grows, "scale σ of Laplace noise, in widths of the attribute"),
            f"1/k for Laplace noise, {chance}",
        ),
        "figure-2.svg": standalone(
            lines(tails, "how far beyond the bounds an output may lie, in σ"),
            f"1/k for three noises, {chance}",
        ),
        "figure-3.svg": standalone(
            lines(wide, "width of the attribute, in scales of the noise"),
            f"1/k as the attribute widens, {chance}",
        ),
    }


def errors(rows: Sequence[Row]) -> dict[str, str]:
    """Draw the errors against k, by column."""
    pictures = {}
    for i, name in enumerate(dict.fromkeys(row.column for row in rows)):
        series = [
            Line(
                f"{mechanism}, {words}",
                {
                    row.k: float(getattr(row, what).mean())
                    for row in rows
                    if (row.column, row.mechanism) == (name, mechanism)
                },
                colour,
                dash,
            )
            for mechanism, colour in COLOURS.items()
            for what, words, dash in (("raw", "raw", "4 3"), ("ml", "reconstructed", "none"))
        ]
        pictures[f"figure-{4 + i}.svg"] = standalone(
            lines(series, "k"), f"{name}: share of records counted in a wrong bin of ten"
        )
    return pictures
