"""Convex areas given by inequalities, within a box of grid points: their corners and their width, exactly.

A face (a_1, ..., a_n, b) says that a_1 x_1 + ... + a_n x_n is b at most. Points are rounded to a grid, so that every face is moved
outwards by half a step of each axis: what was inside before it was rounded is inside after. (And by a thousandth of that, so
that nobody who computes with floats whether a point is inside lets one in that is not.)
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations, product
from typing import NamedTuple

Point = tuple[Fraction, ...]
Face = tuple[float, ...]

OUTWARD = 1 + Fraction(1, 2**10)
MAX_CHOICES = 5_000
"""Of faces that may meet in a corner."""


class Axis(NamedTuple):
    """The grid points of one axis: from `low` on, `steps` of them, each `step` wide."""

    low: float
    step: float
    steps: int


def choices(faces: int, axes: int) -> int:
    """Return how many choices there are of as many faces as axes, those of the box included."""
    return math.comb(faces + 2 * axes, axes)


def corners(faces: Sequence[Face], axes: Sequence[Axis]) -> list[Point]:
    """Return the corners of an area, in steps along each axis; none, if no point of the box is in it.

    >>> [[round(float(x), 2) for x in point] for point in sorted(corners([(1.0, 1.0, 3.5)], [Axis(0, 1, 4)] * 2))[-2:]]
    [[4.0, 0.0], [4.0, 0.5]]
    """
    sides = [_in_steps(face, axes) for face in faces]
    for i, axis in enumerate(axes):
        unit = [Fraction(int(i == j)) for j in range(len(axes))]
        sides += [(*unit, Fraction(axis.steps)), (*(-one for one in unit), Fraction(0))]
    found = {point for chosen in combinations(sides, len(axes)) if (point := _meet(chosen)) is not None}
    return [point for point in found if all(_at(side, point) <= side[-1] for side in sides)]


def width(points: Sequence[Point], scales: Sequence[Fraction]) -> Fraction:
    """Return how far two of some points are apart at most, each axis in its scale: the sum of the distances along them.

    >>> width([(Fraction(0), Fraction(0)), (Fraction(4), Fraction(2))], [Fraction(2), Fraction(1)])
    Fraction(4, 1)
    """
    widest = Fraction(0)
    for signs in product((1, -1), repeat=len(scales) - 1):
        weights = [sign / scale for sign, scale in zip((1, *signs), scales, strict=True)]
        along = [_at((*weights, Fraction(0)), point) for point in points]
        widest = max(widest, max(along) - min(along))
    return widest


def _in_steps(face: Face, axes: Sequence[Axis]) -> Point:
    """Return a face over steps instead of numbers, moved outwards by half a step along each axis."""
    *slopes, most = map(Fraction, face)
    own = [slope * Fraction(axis.step) for slope, axis in zip(slopes, axes, strict=True)]
    start = _at(tuple(map(Fraction, face)), tuple(Fraction(axis.low) for axis in axes))
    return (*own, most - start + sum(map(abs, own), Fraction(0)) / 2 * OUTWARD)


def _at(side: Point, point: Point) -> Fraction:
    return sum((a * x for a, x in zip(side[:-1], point, strict=True)), Fraction(0))


def _meet(sides: Sequence[Point]) -> Point | None:
    """Return the point where as many sides as axes meet; None if it is not one point (elimination, exactly)."""
    rows = [list(side) for side in sides]
    size = len(rows)
    for i in range(size):
        pivot = next((r for r in range(i, size) if rows[r][i]), None)
        if pivot is None:
            return None
        rows[i], rows[pivot] = rows[pivot], rows[i]
        rows[i] = [x / rows[i][i] for x in rows[i]]
        for r in range(size):
            if r != i and rows[r][i]:
                rows[r] = [x - rows[r][i] * y for x, y in zip(rows[r], rows[i], strict=True)]
    return tuple(row[-1] for row in rows)
