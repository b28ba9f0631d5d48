"""Randomness: our exact draws from ChaCha20 beside numpy's PCG64 with plain vectorised code, and OpenDP's noise.

`python -m benchmarks.sampling [--quick]`. numpy's draws are what one would write without a thought of attackers: its
generator can be foretold, and its probabilities are floats. OpenDP's noise is exact and secure, as ours.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import opendp.prelude as dp
from numba import config

from benchmarks.common import seconds, show
from sudare.noise.keystream import Keystream
from sudare.noise.sampling import (
    sample_below,
    sample_discrete_laplace,
    sample_matrix,
    sample_retention,
)

SIZES = (2, 3, 5, 8, 16, 30, 60, 100)
"""The numbers of codes of the attributes of a table."""
SCALES = (0.1, 1.0, 50.0, 1000 / 3)
FEWER = 100
"""OpenDP draws so many times fewer, or it would take minutes."""


@dataclass(frozen=True)
class Line:
    name: str
    draws: int
    ours: Callable[[], object]
    plain: Callable[[], object]
    opendp: Callable[[], object] | None = None

    def cells(self) -> list[str]:
        ours, plain = seconds(self.ours), seconds(self.plain)
        theirs = f"{seconds(self.opendp, repeats=1) * FEWER:.1f}" if self.opendp else ""
        rate = f"{self.draws / ours / 1e6:,.0f}"
        return [self.name, f"{self.draws:,}", f"{ours:.3f}", rate, f"{plain:.3f}", theirs]


def main(quick: bool = False) -> None:
    n = 20_000 if quick else 10_000_000
    source, rng = Keystream(), np.random.default_rng(1)
    lines = [_words(n, source, rng), _table(n, source, rng), _matrix(n, source, rng)]
    lines += [_noise(n, scale, source, rng) for scale in SCALES]
    headers = [
        "draws",
        "number",
        f"Sudare, s\n{config.NUMBA_NUM_THREADS} threads",
        "million\nper s",
        "numpy PCG64, s\n1 thread",
        f"OpenDP, s\n(from {n // FEWER:,} draws)",
    ]
    show("Randomness: exact draws from a cryptographic source", headers, [line.cells() for line in lines])


def _words(n: int, source: Keystream, rng: np.random.Generator) -> Line:
    return Line(
        "uniform below 1000", n, lambda: sample_below(n, 1000, source), lambda: rng.integers(1000, size=n)
    )


def _table(n: int, source: Keystream, rng: np.random.Generator) -> Line:
    """Every attribute of a table, half of its codes kept."""
    columns = [(sample_below(n, d, source).astype(np.uint8), np.full(d, 0.5)) for d in SIZES]

    def ours() -> None:
        for codes, leave in columns:
            sample_retention(codes, leave, source)

    def plain() -> None:
        for codes, leave in columns:
            moved = (codes + rng.integers(1, leave.size, size=n, dtype=np.uint16)) % leave.size
            np.where(rng.random(n) < leave[codes], moved, codes).astype(np.uint8)

    return Line(
        f"retention, {len(SIZES)} attributes of {SIZES[0]} to {SIZES[-1]}", n * len(SIZES), ours, plain
    )


def _matrix(n: int, source: Keystream, rng: np.random.Generator) -> Line:
    matrix = rng.random((30, 30)) + 10 * np.eye(30)
    matrix /= matrix.sum(axis=0)
    codes = sample_below(n, 30, source).astype(np.uint8)

    def plain() -> None:
        drawn, out = rng.random(n), np.empty_like(codes)
        for j, cumulated in enumerate(matrix.cumsum(axis=0).T):
            mine = codes == j
            out[mine] = np.searchsorted(cumulated[:-1], drawn[mine], side="right")

    return Line("any matrix, 30 x 30", n, lambda: sample_matrix(codes, matrix, source), plain)


def _noise(n: int, scale: float, source: Keystream, rng: np.random.Generator) -> Line:
    dp.enable_features("contrib")
    space = dp.vector_domain(dp.atom_domain(T=int)), dp.l1_distance(T=int)
    noisy, zeros = dp.m.make_laplace(*space, scale), [0] * (n // FEWER)
    p = -math.expm1(-1 / scale)
    return Line(
        f"discrete Laplace, scale {scale:.4g}",
        n,
        lambda: sample_discrete_laplace(n, scale, source),
        lambda: rng.geometric(p, n) - rng.geometric(p, n),
        lambda: noisy(zeros),
    )


if __name__ == "__main__":
    main(quick="--quick" in sys.argv)
