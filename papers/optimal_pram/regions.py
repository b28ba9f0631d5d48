"""Figs 1 and 2 and Lemma 3.5: the region of two q's that epsilon allows, its corners, and where the zero-error points lie in it."""

from __future__ import annotations

import math
from html import escape
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from sudare.reports.charts import AFTER, AMBER, FAINT, INK, STYLE

Floats = NDArray[np.float64]
SIDE, GAP = 300, 60
SAME = 1e-9


def inequalities(e: float, d: int) -> dict[str, tuple[float, float, float]]:
    """Return the six of Definition 3.4 as (a, b, c): a x + b y <= c."""
    n = d - 1
    return {
        "(1)": (-e, 1.0, 0.0),  # y <= e x
        "(2)": (1 / e, -1.0, 0.0),  # y >= x / e
        "(3)": (-n / e, -1.0, -n / e),  # y >= (d-1)(1-x) / e
        "(4)": (e * n, 1.0, e * n),  # y <= e (d-1)(1-x)
        "(5)": (-e / n, -1.0, -1.0),  # y >= 1 - e x / (d-1)
        "(6)": (1 / (e * n), 1.0, 1.0),  # y <= 1 - x / (e (d-1))
    }


def corners(e: float, d: int) -> list[tuple[float, float, str]]:
    """Return the corners of the region, around it, with the lines that meet in each."""
    lines = inequalities(e, d)
    found: dict[tuple[float, float], list[str]] = {}
    for (one, (a, b, c)), (other, (f, g, h)) in combinations(lines.items(), 2):
        if abs(a * g - b * f) < 1e-12:
            continue
        x, y = np.linalg.solve([[a, b], [f, g]], [c, h])
        if all(p * x + q * y <= r + SAME * max(abs(p), 1.0) for p, q, r in lines.values()):
            key = next((k for k in found if math.hypot(k[0] - x, k[1] - y) < 1e-7), (float(x), float(y)))
            found.setdefault(key, []).extend([one, other])
    middle = np.mean(list(found), axis=0)
    around = sorted(
        found.items(), key=lambda item: math.atan2(item[0][1] - middle[1], item[0][0] - middle[0])
    )
    return [(x, y, "-".join(sorted(set(names)))) for (x, y), names in around]


def figure_1() -> str:
    """Draw the region twice: with four corners, and with six."""
    return _picture([(math.exp(1.2), 8, []), (math.exp(1.2), 5, [])])


def figure_2(v: Floats, epsilon: float, t: float) -> str:
    """Draw all points (t v_d / v_i, t v_d / v_j), i < j, for a falling histogram, and the region they should be in."""
    shape = t * v[-1] / v
    points = [(shape[i], shape[j], "") for i, j in combinations(range(len(v)), 2)]
    outer = [(shape[0], shape[-1], "P1"), (shape[0], shape[1], "P2"), (shape[-2], shape[-1], "P3")]
    return _picture([(math.exp(epsilon), len(v), points + outer)])


def _picture(panels: list[tuple[float, int, list[tuple[float, float, str]]]]) -> str:
    shapes = [f'<style>{STYLE}</style><rect width="100%" height="100%" fill="white"/>']
    for place, (e, d, points) in enumerate(panels):
        shapes += _region(e, d, points, GAP + place * (SIDE + GAP), 30)
    width, height = GAP + len(panels) * (SIDE + GAP), SIDE + 70
    return (
        f'<svg viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        f'xmlns="http://www.w3.org/2000/svg" role="img">{"".join(shapes)}</svg>\n'
    )


def _region(e: float, d: int, points: list[tuple[float, float, str]], left: int, top: int) -> list[str]:
    def at(x: float, y: float) -> tuple[float, float]:
        return left + SIDE * x, top + SIDE * (1 - y)

    ends = corners(e, d)
    outline = " ".join(f"{x:.1f},{y:.1f}" for x, y in (at(x, y) for x, y, _ in ends))
    title = f"ε = {math.log(e):.2f}, d = {d}: {len(ends)} corners"
    shapes = [
        f'<text x="{left + SIDE / 2}" y="{top - 10}" text-anchor="middle">{escape(title)}</text>',
        f'<rect x="{left}" y="{top}" width="{SIDE}" height="{SIDE}" fill="none" stroke="{INK}"/>',
        f'<polygon points="{outline}" fill="{FAINT}" stroke="{INK}"/>',
        f'<text x="{left}" y="{top + SIDE + 15}" class="axis">0</text>',
        f'<text x="{left + SIDE}" y="{top + SIDE + 15}" text-anchor="end" class="axis">x = 1</text>',
    ]
    for x, y, names in ends if not points else []:
        px, py = at(x, y)
        shapes.append(f'<text x="{px:.1f}" y="{py:.1f}" class="axis">{escape(names)}</text>')
    for x, y, name in points:
        px, py = at(x, y)
        shapes.append(
            f'<circle cx="{px:.1f}" cy="{py:.1f}" r="{5 if name else 2}" fill="{AMBER if name else AFTER}"/>'
        )
        shapes += [f'<text x="{px + 6:.1f}" y="{py:.1f}">{name}</text>'] if name else []
    return shapes
