"""The theorems in numbers: k by Theorem 4.1, with all pairs of inputs and outputs tried on a grid.

Nothing here uses the library: a noise is its density, an attribute is a row of inputs, and k is counted.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

N = 1000  # records, in all of these
INPUTS = 21
OUTPUTS = 4001

Floats = NDArray[np.float64]
Density = Callable[[Floats], Floats]


def laplace(scale: float) -> Density:
    return lambda x: np.exp(-np.abs(x) / scale) / (2 * scale)


def normal(scale: float) -> Density:
    return lambda x: np.exp(-(x**2) / (2 * scale**2)) / (math.sqrt(2 * math.pi) * scale)


def uniform(scale: float) -> Density:
    return lambda x: (np.abs(x) < scale) / (2 * scale)


def cauchy(scale: float) -> Density:
    return lambda x: scale / (math.pi * (scale**2 + x**2))


def counted_k(density: Density, width: float, reach: float, records: int = N) -> float:
    """Return k for noise on [0, width], of which outputs up to `reach` beyond either end are looked at."""
    inputs = np.linspace(0, width, INPUTS)
    outputs = np.linspace(-reach, width + reach, OUTPUTS)
    return 1 + (records - 1) * factor(density(outputs[None, :] - inputs[:, None]))


def factor(law: Floats) -> float:
    """Return the infimum of Theorem 4.1 for a law with one row per input: A[v,u'] A[u,v'] / (A[u,u'] A[v,v']).

    For two inputs u, v it falls apart into the least A[v,u'] / A[u,u'] and the least A[u,v'] / A[v,v'], each over
    the outputs that its denominator allows.
    """
    least = 1.0
    for u in range(len(law)):
        for v in range(u):
            there = (law[v][law[u] > 0] / law[u][law[u] > 0]).min()
            back = (law[u][law[v] > 0] / law[v][law[v] > 0]).min()
            least = min(least, float(there * back))
    return least


def laplace_k(scale: float, width: float, records: int = N) -> float:
    """Return the k of Theorem 6.1."""
    return 1 + (records - 1) * math.exp(-2 * width / scale)


def normal_k(scale: float, width: float, reach: float, records: int = N) -> float:
    """Return what the proof of Theorem 5.3 has before its limit."""
    return 1 + (records - 1) * math.exp(-(width**2 + 2 * reach * width) / scale**2)


class Line(NamedTuple):
    """One row of the table: what was changed, what the theorem says, and what was counted."""

    theorem: str
    words: str
    said: float
    counted: float


def lines() -> list[Line]:
    """Return all that is tabulated."""
    return [*_laplace(), *_uniform(), *_normal(), *_wide()]


SCALES = (0.125, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0)
REACHES = (0.125, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0)
WIDTHS = (0.125, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0)


def _laplace() -> list[Line]:
    return [
        Line("6.1: Laplace noise, width 1", f"σ = {s:g}", laplace_k(s, 1), counted_k(laplace(s), 1, 5))
        for s in SCALES
    ]


def _uniform() -> list[Line]:
    return [
        Line("5.2: uniform noise, width 1", f"from -{h:g} to {h:g}", 1.0, counted_k(uniform(h), 1, h))
        for h in (1.0, 10.0, 100.0)
    ]


def _normal() -> list[Line]:
    return [
        Line(
            "5.3: normal noise of σ = 4, width 1",
            f"outputs up to {r:g} beyond the ends",
            normal_k(4, 1, r),
            counted_k(normal(4), 1, r),
        )
        for r in (1.0, 4.0, 16.0, 64.0, 128.0)
    ]


def _wide() -> list[Line]:
    laplace_lines = [
        Line(
            "5.1: growing width, Laplace noise of σ = 1",
            f"width {w:g}",
            laplace_k(1, w),
            counted_k(laplace(1), w, 5),
        )
        for w in (1.0, 2.0, 4.0, 8.0)
    ]
    # ln of the largest ratio of two Cauchy densities that lie w apart is 2 arsinh(w / 2)
    return laplace_lines + [
        Line(
            "5.1: growing width, Cauchy noise of scale 1",
            f"width {w:g}",
            1 + (N - 1) * math.exp(-4 * math.asinh(w / 2)),
            counted_k(cauchy(1), w, 5),
        )
        for w in (1.0, 4.0, 16.0, 64.0)
    ]
