"""The optimal A-type matrix, explicitly: piece by piece, each piece by a formula (the paper's open problem 5.2.1).

Let v fall, e = e^epsilon, d > 2, u = e (d - 1), and let q_1 = a be the q of the most frequent cell and c that of the one that stands
last (see `_optimal`). The six inequalities of a pair say of the others that lo(a) <= q_i <= hi(c), where

    lo(a) = max(a, a* + t (a* - a)),   a* = (d-1) / (e + d-1),   t = max(e / (d-1), (d-1) / e),
    hi(c) = min(c, c* - u (c - c*)),   c* = u / (1 + u),

because the three lines of either kind meet in one point, and on either side of it one of them is the strictest. Of a and c
alone they say lo(a) <= hi(c) and c <= e a. What is to be least is the sum of the squares of v_i q_i - s over all cells, s
included: the best s is the mean.

Given a, c and s, each other q_i is best at s / v_i, or at the nearer end: the frequent cells L at lo(a), the rare
ones H at hi(c), between them all v_i q_i = s. The cells between cost nothing, and so

    s = (v_1 a + v_last c + lo(a) sum_L v + hi(c) sum_H v) / (2 + |L| + |H| + the number of empty cells).

A piece is a choice of L, H and of one line of lo and of hi each. There, the sum of squares is a quadratic form in
(1, a, c, s), and its least value is where three linear equations hold; or, if that lies outside, on an edge of the piece,
a = a*, c = c*, c = e a or lo(a) = hi(c), where there are fewer unknowns; or where two edges meet. The sum of squares is
convex as a whole, so that what is least in the piece where the search ended is least of all.
"""

from __future__ import annotations

import math
from itertools import product
from typing import NamedTuple

import numpy as np

from sudare.randomization._optimal import ends_error
from sudare.randomization.channel import Floats


class Ends(NamedTuple):
    """The q of the first and of the last cell, the level s, and the sum of squares that they leave."""

    first: float
    last: float
    level: float
    squares: float


class Line(NamedTuple):
    """at + by x."""

    at: float
    by: float


def low_lines(d: int, e: float) -> tuple[float, Line, Line]:
    """Return a*, and the lines of lo from there on and before."""
    star = (d - 1) / (e + d - 1)
    steep = max(e / (d - 1), (d - 1) / e)
    return star, Line(0.0, 1.0), Line(star * (1 + steep), -steep)


def high_lines(d: int, e: float) -> tuple[float, Line, Line]:
    """Return c*, and the lines of hi up to there and beyond."""
    u = e * (d - 1)
    return u / (1 + u), Line(0.0, 1.0), Line(u, -u)


def exact_ends(v: Floats, empty: int, e: float, found: Ends) -> Ends:
    """Return the best of the piece in which a search over (a, c, s) ended; of more than two cells."""
    d = len(v) + empty
    a_star, *low = low_lines(d, e)
    c_star, *high = high_lines(d, e)
    sums = np.stack([np.append(0.0, np.cumsum(v)), np.append(0.0, np.cumsum(v * v))])
    tried = [found]
    for lo, hi in product(low, high):
        squares = _squares(v, sums, empty, lo, hi, found)
        tie = Line((lo.at - hi.at) / hi.by, lo.by / hi.by)  # c where lo(a) = hi(c)
        corners = (
            c_star / e,
            _meet(Line(0.0, e), tie),
            _meet(Line(c_star, 0.0), tie),
        )  # where two edges meet
        for a in (Line(0.0, 1.0), *(Line(x, 0.0) for x in (a_star, *corners))):
            for c in (None, Line(c_star, 0.0), Line(0.0, e), tie):
                first, last = _least(squares, a, c)
                if math.isfinite(first) and math.isfinite(last):
                    level, error = ends_error(v, sums[0], sums[1], empty, first, last, e)
                    tried.append(Ends(first, last, level, error))
    return min(tried, key=lambda ends: ends.squares)


def _meet(one: Line, other: Line) -> float:
    return (other.at - one.at) / (one.by - other.by) if one.by != other.by else math.nan


def _squares(v: Floats, sums: Floats, empty: int, lo: Line, hi: Line, found: Ends) -> Floats:
    """Return the quadratic form of the sum of squares in (1, a, c, s), in a piece."""
    m = len(v)
    bottom, top = lo.at + lo.by * found.first, hi.at + hi.by * found.last
    middle = v[1 : m - 1]
    n_low = int((middle * bottom > found.level).sum())
    n_high = min(int((middle * top < found.level).sum()), m - 2 - n_low)

    def cells(start: int, end: int, at: float, a: float, c: float) -> Floats:
        """Sum the squares of v (at + a x + c y) - s over some cells."""
        total, squared = sums[:, end] - sums[:, start]
        q, s = np.array([at, a, c, 0.0]), np.array([0.0, 0.0, 0.0, 1.0])
        both = np.outer(q, s)
        return np.asarray(squared * np.outer(q, q) - total * (both + both.T) + (end - start) * np.outer(s, s))

    form = cells(0, 1, 0.0, 1.0, 0.0) + cells(m - 1, m, 0.0, 0.0, 1.0)
    form += cells(1, 1 + n_low, lo.at, lo.by, 0.0) + cells(m - 1 - n_high, m - 1, hi.at, 0.0, hi.by)
    form[3, 3] += empty
    return form


def _least(squares: Floats, a: Line, c: Line | None) -> tuple[float, float]:
    """Return a and c where a quadratic form is least: a free or fixed, c free (None), fixed, or a line of a."""
    tied = c or Line(0.0, 0.0)
    # (1, a, c, s) = `from_free` (1, a, c, s), of which those that are not free are not used
    from_free = np.zeros((4, 4))
    from_free[0, 0] = from_free[3, 3] = 1.0
    from_free[1, :2] = a.at, a.by
    from_free[2] = tied.at + tied.by * a.at, tied.by * a.by, float(c is None), 0.0
    free = [place for place, is_free in ((1, a.by != 0), (2, c is None), (3, True)) if is_free]
    form = from_free.T @ squares @ from_free
    x = np.array([1.0, 0.0, 0.0, 0.0])
    x[free] = np.linalg.lstsq(form[np.ix_(free, free)], -form[free, 0], rcond=None)[0]
    point = from_free @ x
    return float(point[1]), float(point[2])
