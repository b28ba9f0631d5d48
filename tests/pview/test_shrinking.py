"""Noisy differences, cell by cell: noise is not believed, and what is expected to be large may be far off."""

from __future__ import annotations

import numpy as np
import pytest

from sudare.pview.shrinking import shrunk


@pytest.mark.parametrize("power", [0, 1, 2])
def test_differences_are_nearer_to_the_true_ones_than_noise_lets_them_be(power: int) -> None:
    rng = np.random.default_rng(power)
    errors = []
    for _ in range(30):
        expected = rng.permutation(np.geomspace(1, 3000, 60))
        spread = expected**power
        true = rng.normal(0, 1, 60) * np.sqrt(spread / spread.mean()) * 40
        noisy = true + rng.normal(0, 40, 60)
        even = (
            max(1 - 60 * 40**2 / (noisy**2).sum(), 0.0) * noisy
        )  # James & Stein: all cells are believed alike
        best = noisy / (1 + spread.mean() / spread)  # as if power and factor were known
        errors.append([((own - true) ** 2).mean() for own in (shrunk(noisy, expected, 40.0**2), even, best)])
    own, alike, best = np.mean(errors, axis=0)
    assert own < 1.25 * best
    if power == 2:
        assert own < 0.7 * alike


def test_noise_is_hardly_believed_and_without_noise_all_is() -> None:
    rng = np.random.default_rng(1)
    noise = rng.normal(0, 10, (20, 9))
    expected = rng.exponential(100, (20, 9))
    assert (shrunk(noise, expected, 100.0) ** 2).mean() < 0.1 * (noise**2).mean()
    assert np.array_equal(shrunk(noise, expected, 0.0), noise)


def test_nothing_appears_where_nobody_was_expected_if_others_are_off_by_their_size() -> None:
    rng = np.random.default_rng(2)
    expected = np.where(np.arange(100) < 30, 1000.0, 0.0)
    noisy = np.where(expected > 0, rng.normal(0, 300, 100), 0.0) + rng.normal(0, 30, 100)
    believed = shrunk(noisy, expected, 900.0)
    assert np.abs(believed[30:]).max() < 1
    assert believed[:30] == pytest.approx(noisy[:30], abs=20)
