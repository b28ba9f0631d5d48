"""Rows drawn from points, against tables that are counted anew."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sudare.pview import drawing
from sudare.pview._drawing import exchange
from sudare.pview.drawing import drawn, evenly, winding
from sudare.pview.grouped_counts import all_pairs


def some_points(seed: int, n: int, sizes: tuple[int, ...]) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    points = np.stack([rng.integers(0, size, n) for size in sizes], axis=1).astype(np.int32)
    return points, rng.exponential(size=n) * (rng.random(n) < 0.7)


def off(points: np.ndarray, weights: np.ndarray, rows: np.ndarray, sizes: tuple[int, ...]) -> float:
    """The weighed squares by which tables of one and of two attributes are off, counted the slow way."""
    out, scale = 0.0, len(rows) / weights.sum()
    for axes in [(a,) for a in range(len(sizes))] + list(combinations(range(len(sizes)), 2)):
        want, have = np.zeros([sizes[a] for a in axes]), np.zeros([sizes[a] for a in axes])
        np.add.at(want, tuple(points[:, axes].T), weights * scale)
        np.add.at(have, tuple(points[rows][:, axes].T), 1)
        out += ((have - want) ** 2 / (want + 1)).sum()
    return out


@settings(max_examples=40)
@given(st.integers(0, 10_000))
def test_what_is_kept_of_the_rows_is_what_is_counted_anew_and_they_only_come_nearer(seed: int) -> None:
    sizes = (3, 2, 5, 4)
    points, weights = some_points(seed, 80, sizes)
    rng = np.random.default_rng(seed)
    chosen = rng.integers(0, 80, 50)
    scaled = weights * (50 / weights.sum())
    kept = drawing._kept(points, scaled, sizes, all_pairs(4), chosen)
    before = off(points, weights, chosen, sizes)
    weighed = (kept.ones**2 * kept.ones_weights).sum() + (kept.twos**2 * kept.twos_weights).sum()
    assert weighed == pytest.approx(before)
    for _ in range(5):
        exchange(kept, chosen, rng.integers(0, 80, 50))
        after = off(points, weights, chosen, sizes)
        weighed = (kept.ones**2 * kept.ones_weights).sum() + (kept.twos**2 * kept.twos_weights).sum()
        assert weighed == pytest.approx(after)
        assert after <= before + 1e-9
        before = after


@pytest.mark.parametrize("sizes", [(3, 2, 5, 4), (30, 2, 20)])
def test_rows_are_points_with_weight_and_their_tables_nearer_than_by_even_steps(
    sizes: tuple[int, ...],
) -> None:
    points, weights = some_points(1, 5000, sizes)
    order = winding(points, sizes)
    even, better = [], []
    for seed in range(3):
        rng = np.random.default_rng(seed)
        rows = drawn(points, weights, sizes, order, 700, rng)
        assert len(rows) == 700
        assert (weights[rows] > 0).all()
        better.append(off(points, weights, rows, sizes))
        even.append(off(points, weights, order[evenly(np.cumsum(weights[order]), 700, rng)], sizes))
    assert np.mean(better) < 0.7 * np.mean(even)


def test_one_attribute_one_row_and_too_many_pairs(monkeypatch: pytest.MonkeyPatch) -> None:
    points, weights = some_points(2, 300, (4,))
    assert len(drawn(points, weights, (4,), winding(points, (4,)), 1, np.random.default_rng(0))) == 1
    points, weights = some_points(2, 300, (4, 4, 4))
    monkeypatch.setattr(drawing, "MAX_COUNTED", 10)  # then by even steps alone
    rows = drawn(points, weights, (4, 4, 4), winding(points, (4, 4, 4)), 100, np.random.default_rng(0))
    share = np.bincount(points[rows, 0], minlength=4) / 100
    expected = np.bincount(points[:, 0], weights, minlength=4) / weights.sum()
    assert abs(share - expected).max() < 0.03
