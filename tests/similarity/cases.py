"""Random tuples with their marks, small enough for the plain twins, or large enough to fill bundles and tiles."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from hypothesis import strategies as st

from sudare.similarity.pairs import Marks


@dataclass(frozen=True)
class Case:
    marks: Marks
    weights: np.ndarray
    value: np.ndarray
    values: int


@st.composite
def cases(draw: st.DrawFn) -> Case:
    n, d = draw(st.integers(1, 12)), draw(st.integers(0, 7))
    codes = st.integers(0, draw(st.sampled_from([0, 1, 3, 300, 70_000])))
    gains = st.integers(0, draw(st.sampled_from([0, 1, 60, 300, 2**27])))
    values = draw(st.integers(1, 4))

    def numbers(of: st.SearchStrategy[int], count: int) -> list[int]:
        return draw(st.lists(of, min_size=count, max_size=count))

    return Case(
        Marks(
            np.array(numbers(codes, n * d), dtype=np.int32).reshape(n, d),
            np.array(numbers(gains, d), np.int64),
        ),
        np.array(numbers(st.integers(1, 5), n)),
        np.array(numbers(st.integers(0, values - 1), n)),
        values,
    )


def drawn(n: int, sizes: list[int], gains: list[int], values: int, seed: int = 0) -> Case:
    """Marks of skewed codes, so that some tuples are much alike; the value `values - 1` never occurs."""
    rng = np.random.default_rng(seed)
    codes = np.column_stack([(rng.random(n) ** 3 * size).astype(np.int32) for size in sizes])
    marks = Marks(codes, np.array(gains, dtype=np.int64))
    return Case(marks, rng.integers(1, 4, n), (rng.random(n) ** 2 * (values - 1)).astype(np.int64), values)
