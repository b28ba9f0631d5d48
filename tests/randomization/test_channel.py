"""What channels say of themselves, beside four nested loops and matrices built from the definitions."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from sudare.errors import ParameterError
from sudare.randomization.channel import Channel, MatrixChannel
from sudare.randomization.laplace import LaplaceChannel
from sudare.randomization.laws import BitChannel, reflecting
from sudare.randomization.pram import Pram, conventional_pram, optimal_pram


def log_ratio(a: float, b: float) -> float:
    if a == 0 and b == 0:
        return 0.0
    return math.inf if b == 0 else -math.inf if a == 0 else math.log(a) - math.log(b)


def plain_epsilon(matrix: np.ndarray) -> float:
    rows, columns = (range(n) for n in matrix.shape)
    return max(log_ratio(matrix[a, u], matrix[a, v]) for a in rows for u in columns for v in columns)


def plain_spread(matrix: np.ndarray) -> float:
    """The largest ln(P[a, u] P[b, v] / (P[a, v] P[b, u])), over outputs that either input can produce."""
    worst = 0.0
    rows, columns = (range(n) for n in matrix.shape)
    for u, v in product(columns, columns):
        for a, b in product(rows, rows):
            if matrix[a, u] > 0 and matrix[b, v] > 0:
                worst = max(
                    worst, log_ratio(matrix[a, u], matrix[a, v]) + log_ratio(matrix[b, v], matrix[b, u])
                )
    return worst


def laplace_matrix(steps: int, scale: float, *, fold: bool = False) -> np.ndarray:
    """Noise z with a probability proportional to e^(-|z| / scale), each z sent where it ends."""
    reach = int(45 * scale) + 2 * steps + 2
    z = np.arange(-reach, reach + 1)
    chance = np.exp(-abs(z) / scale)
    chance /= chance.sum()
    matrix = np.zeros((steps + 1, steps + 1))
    for j in range(steps + 1):
        to = j + z
        while fold and ((to < 0) | (to > steps)).any():
            to = np.where(to < 0, -to, np.where(to > steps, 2 * steps - to, to))
        np.add.at(matrix[:, j], np.clip(to, 0, steps), chance)
    return matrix


def bit_matrix(size: int, flip: float) -> np.ndarray:
    bits = max(1, math.ceil(math.log2(size)))
    matrix = np.zeros((size, size))
    for j in range(size):
        for flips in product((0, 1), repeat=bits):
            to = sum(((j >> bit & 1) ^ flipped) << bit for bit, flipped in enumerate(flips))
            matrix[min(to, size - 1), j] += math.prod(flip if flipped else 1 - flip for flipped in flips)
    return matrix


def keeping(leave: np.ndarray) -> np.ndarray:
    d = len(leave)
    return np.array([[1 - leave[j] if i == j else leave[j] / (d - 1) for j in range(d)] for i in range(d)])


def channels() -> Iterator[tuple[str, Channel, np.ndarray]]:
    rng = np.random.default_rng(0)
    for d in (2, 3, 6):
        leave = rng.uniform(0.05, 0.95, d)
        yield f"pram {d}", Pram(leave), keeping(leave)
        dense = rng.dirichlet(np.ones(d), d).T + np.eye(d)
        yield f"matrix {d}", MatrixChannel(dense / 2), dense / 2
    leave = rng.uniform(0.6, 1.0, 5)  # kept less often than any other
    yield "pram that moves", Pram(leave), keeping(leave)
    for steps, scale in ((1, Fraction(1)), (5, Fraction(7, 3)), (9, Fraction(1, 2)), (4, Fraction(20))):
        noise = LaplaceChannel(steps, scale)
        yield f"noise {steps} {scale}", noise, laplace_matrix(steps, float(scale))
        yield (
            f"reflected {steps} {scale}",
            reflecting(noise),
            laplace_matrix(steps, float(scale), fold=True),
        )
    for size, flip in ((2, 0.3), (3, 0.2), (8, 0.1), (11, 0.25)):
        yield f"bits {size}", BitChannel(size, flip), bit_matrix(size, flip)


ALL = {name: (channel, matrix) for name, channel, matrix in channels()}


@pytest.mark.parametrize("name", ALL)
def test_every_channel_is_its_matrix(name: str) -> None:
    channel, matrix = ALL[name]
    rng = np.random.default_rng(1)
    assert (channel.outputs, channel.inputs) == matrix.shape
    assert matrix.sum(axis=0) == pytest.approx(1, abs=1e-12)
    v, w = rng.integers(0, 100, channel.inputs), rng.random(channel.outputs)
    back = np.linalg.inv(matrix)
    size = abs(back).max()
    assert channel.expected(v) == pytest.approx(matrix @ v, rel=1e-9, abs=1e-9)
    assert channel.likelihoods(w) == pytest.approx(w @ matrix, rel=1e-9, abs=1e-12)
    assert channel.inverse(w) == pytest.approx(back @ w, rel=1e-7, abs=1e-9 * size)
    assert channel.inverse_squares(w) == pytest.approx(back**2 @ w, rel=1e-7, abs=1e-9 * size**2)
    assert channel.inverse_weights(w) == pytest.approx(w @ back, rel=1e-7, abs=1e-9 * size)


@pytest.mark.parametrize("name", ALL)
def test_epsilon_and_spread_are_those_of_four_loops(name: str) -> None:
    channel, matrix = ALL[name]
    assert channel.epsilon == pytest.approx(plain_epsilon(matrix), rel=1e-9)
    if (
        name == "bits 3"
    ):  # of two points with all bits turned, one is not on the grid: what is promised is less than holds
        assert channel.spread > plain_spread(matrix)
    else:
        assert channel.spread == pytest.approx(plain_spread(matrix), rel=1e-9)
    assert channel.spread <= 2 * channel.epsilon * (1 + 1e-12)


def test_any_matrix() -> None:
    rng = np.random.default_rng(2)
    for _ in range(60):
        shape = rng.integers(1, 7, 2)
        matrix = rng.dirichlet(np.full(shape[0], 0.5), shape[1]).T
        if rng.random() < 0.5:
            matrix = np.where(rng.random(matrix.shape) < 0.3, 0.0, matrix)
            matrix[0] += matrix.sum(axis=0) == 0
            matrix /= matrix.sum(axis=0)
        channel = MatrixChannel(matrix)
        assert channel.epsilon == pytest.approx(plain_epsilon(matrix), abs=1e-12)
        assert channel.spread == pytest.approx(plain_spread(matrix), abs=1e-12)


def test_prams_of_all_kinds() -> None:
    rng = np.random.default_rng(3)
    for _ in range(80):
        d = int(rng.integers(2, 8))
        leave = rng.random(d) ** rng.choice([0.2, 1, 5])
        if rng.random() < 0.2:
            leave[rng.integers(d)] = rng.choice([0.0, 1.0])
        matrix = keeping(leave)
        assert Pram(leave).matrix == pytest.approx(matrix, abs=1e-15)
        assert Pram(leave).epsilon == pytest.approx(plain_epsilon(matrix), abs=1e-9)
        assert Pram(leave).spread == pytest.approx(plain_spread(matrix), abs=1e-9)


def test_of_attributes_on_their_own_epsilon_and_spread_add_up() -> None:
    rng = np.random.default_rng(4)
    for _ in range(10):
        one, other = rng.dirichlet(np.ones(3), 3).T, rng.dirichlet(np.ones(2), 2).T
        both = np.kron(one, other)
        parts = MatrixChannel(one), MatrixChannel(other)
        assert plain_epsilon(both) == pytest.approx(sum(part.epsilon for part in parts))
        assert plain_spread(both) == pytest.approx(sum(part.spread for part in parts))


def test_an_optimal_pram_never_has_less_k_than_its_epsilon_gives() -> None:
    rng = np.random.default_rng(5)
    for _ in range(40):
        v = rng.integers(0, 100, int(rng.integers(2, 12))) + 1
        pram = optimal_pram(v, epsilon=float(rng.uniform(0.05, 4)))
        assert pram.k(500) >= (1 + 499 * math.exp(-2 * pram.epsilon)) * (1 - 1e-9)


def test_what_cannot_be_told_apart_cannot_be_inverted() -> None:
    for channel in (
        MatrixChannel([[0.5, 0.5], [0.5, 0.5]]),
        conventional_pram(4, epsilon=0.0),
        MatrixChannel([[1.0, 0.5, 0.0], [0.0, 0.5, 1.0]]),
    ):
        with pytest.raises(ParameterError, match="cannot be told apart"):
            channel.inverse(np.ones(channel.outputs))


@pytest.mark.parametrize(
    "wrong", [[[0.5, 0.5]], [[1.2], [-0.2]], [[math.nan], [1.0]], [], [0.5, 0.5], [[0.6, 0.5], [0.5, 0.5]]]
)
def test_refuses_what_is_no_matrix(wrong: list[list[float]]) -> None:
    with pytest.raises(ParameterError, match="'matrix' parameter of MatrixChannel"):
        MatrixChannel(wrong)


def test_more_outputs_than_inputs() -> None:
    matrix = np.array([[0.6, 0.1], [0.2, 0.3], [0.2, 0.6]])
    channel = MatrixChannel(matrix)
    assert channel.inverse(matrix @ [30, 70]) == pytest.approx([30, 70])
    assert channel.inverse_weights([1.0, 0.0]) @ matrix == pytest.approx([1, 0])
