from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from sudare.errors import ParameterError
from sudare.noise.keystream import Keystream
from sudare.noise.sampling import sample_discrete_laplace
from sudare.randomization.laplace import LaplaceChannel
from sudare.randomization.laws import reflected, reflecting
from tests.randomization.test_channel import laplace_matrix


def test_columns_are_distributions_at_any_scale() -> None:
    for scale in (Fraction(1, 65536), Fraction(1, 10), Fraction(3), Fraction(10**7)):
        channel = LaplaceChannel(20, scale)
        columns = np.stack([channel.expected(column) for column in np.eye(21)], axis=1)
        assert columns.sum(axis=0) == pytest.approx(1)
        assert (columns >= 0).all()
        assert channel.epsilon == float(20 / scale)
        if scale >= 1:
            logs = np.log(columns)
            assert (logs.max(axis=1) - logs.min(axis=1)).max() == pytest.approx(channel.epsilon, rel=1e-6)


def test_a_long_grid_and_its_inverse() -> None:
    rng = np.random.default_rng(0)
    channel = LaplaceChannel(100_000, Fraction(500))
    v = rng.integers(0, 50, channel.inputs).astype(float)
    out = channel.expected(v)
    assert out.sum() == pytest.approx(v.sum())
    assert channel.inverse(out) == pytest.approx(v, abs=1e-4)
    # <w, P v> is the same from either side
    w = rng.random(channel.inputs)
    assert channel.likelihoods(w) @ v == pytest.approx(w @ out)
    assert channel.inverse_weights(w) @ out == pytest.approx(w @ v, rel=1e-6)


@pytest.mark.parametrize("steps", [1, 2, 7])
def test_folding_goes_back_and_forth(steps: int) -> None:
    for code in range(-40, 41):
        way = 1 if code > 0 else -1
        position = 0
        for _ in range(abs(code)):  # walk, and turn round at the ends
            if not 0 <= position + way <= steps:
                way = -way
            position += way
        assert reflected(np.array([code]), steps)[0] == position


def test_what_is_drawn_and_folded_has_the_reflecting_matrix() -> None:
    steps, scale, n = 6, Fraction(9, 2), 200_000
    noise = sample_discrete_laplace(n, scale, Keystream.unsafe(1))
    for start in (0, 2, 6):
        seen = np.bincount(reflected(start + noise, steps), minlength=steps + 1)
        expected = n * laplace_matrix(steps, float(scale), fold=True)[:, start]
        assert ((seen - expected) ** 2 / expected).sum() < 40  # chi-square, 6 degrees of freedom
        assert reflecting(LaplaceChannel(steps, scale)).matrix[:, start] * n == pytest.approx(expected)


def test_refusals() -> None:
    for steps, scale in ((0, Fraction(1)), (3, Fraction(0)), (3, Fraction(-1))):
        with pytest.raises(ParameterError, match="needs 1 step or more and a scale above 0"):
            LaplaceChannel(steps, scale)
    with pytest.raises(ParameterError, match=r"must have 4 cells\. Got 3"):
        LaplaceChannel(3, Fraction(1)).expected([1, 2, 3])


def test_epsilon_is_the_width_over_the_scale() -> None:
    channel = LaplaceChannel(100, Fraction(25))
    assert (channel.epsilon, channel.spread) == (4.0, 8.0)
    assert 1 + 999 * math.exp(-channel.spread) == pytest.approx(1 + 999 * math.exp(-2 * 100 / 25))
