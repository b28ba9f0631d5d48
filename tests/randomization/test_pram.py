from __future__ import annotations

import math

import numpy as np
import pytest

import sudare as sd
from sudare.randomization.pram import Pram


@pytest.mark.parametrize("d", [2, 3, 16, 74])
@pytest.mark.parametrize("epsilon", [0.01, 0.5, 2.0, 10.0])
def test_the_conventional_one(d: int, epsilon: float) -> None:
    pram = sd.pram.conventional_pram(d, epsilon=epsilon)
    keep = math.exp(epsilon) / (math.exp(epsilon) + d - 1)
    assert pram.retention == pytest.approx(np.full(d, keep))
    assert keep >= 1 / d
    assert pram.epsilon == pytest.approx(epsilon)
    assert pram.k(1000) == pytest.approx(1 + 999 * math.exp(-2 * epsilon))


@pytest.mark.parametrize("d", [2, 5, 40])
@pytest.mark.parametrize("k", [1.5, 2, 10, 999, 1000])
def test_k_and_epsilon_convert(d: int, k: float) -> None:
    pram = sd.pram.conventional_pram(d, k=k, records=1000)
    assert pram.k(1000) == pytest.approx(k)
    assert pram.epsilon == pytest.approx(0.5 * math.log(999 / (k - 1)), abs=1e-12)
    # Retention rho with replacement by any value, its own included: ((1 - rho) / (1 + (d - 1) rho))^2.
    rho = (pram.retention[0] - 1 / d) / (1 - 1 / d)
    assert pram.k(1000) == pytest.approx(1 + 999 * ((1 - rho) / (1 + (d - 1) * rho)) ** 2)


def test_optimal_ones_of_real_shape_convert() -> None:
    v = np.round(1000 / np.arange(1, 30))
    for k in (2, 10, 100):
        pram = sd.pram.optimal_pram(v, k=k)
        n = int(v.sum())
        assert pram.k(n) >= k * (1 - 1e-9)
        assert pram.k(n) >= (1 + (n - 1) * math.exp(-2 * pram.epsilon)) * (1 - 1e-9)


def test_one_value_stays() -> None:
    for pram in (
        sd.pram.conventional_pram(1, epsilon=1.0),
        sd.pram.optimal_pram([9], epsilon=1.0),
        Pram(np.array([0.5])),
    ):
        assert pram.leave.tolist() == [0.0]
        assert pram.matrix.tolist() == [[1.0]]
        assert (pram.epsilon, pram.spread, pram.k(10)) == (0.0, 0.0, 10.0)


def test_k_of_1_keeps_all_and_k_of_n_nothing() -> None:
    assert sd.pram.conventional_pram(5, k=1, records=100).retention.tolist() == [1.0] * 5
    assert sd.pram.conventional_pram(5, k=100, records=100).retention == pytest.approx([0.2] * 5)


def test_its_probabilities_are_its_own() -> None:
    given = np.array([0.1, 0.2])
    pram = Pram(given)
    given[0] = 0.9
    assert pram.leave.tolist() == [0.1, 0.2]
    with pytest.raises(ValueError, match="read-only"):
        pram.leave[0] = 0.5


@pytest.mark.parametrize("wrong", [[], [0.5, 1.5], [-0.1], [math.nan], [[0.1]]])
def test_refuses_what_is_no_probability(wrong: list[float]) -> None:
    with pytest.raises(sd.ParameterError, match="'leave' parameter of Pram"):
        Pram(np.array(wrong))


def test_refuses_a_histogram_of_another_length() -> None:
    with pytest.raises(sd.ParameterError, match=r"must have 3 cells\. Got 2"):
        Pram(np.full(3, 0.5)).expected([1, 2])


def test_refuses_k_without_records_and_k_above_them() -> None:
    with pytest.raises(sd.ParameterError, match="needs the number of records"):
        sd.pram.conventional_pram(3, k=2)
    with pytest.raises(sd.RequirementError, match="k = 11 is impossible for 10 records"):
        sd.pram.conventional_pram(3, k=11, records=10)


def test_a_matrix_too_large_to_write_out_is_refused() -> None:
    with pytest.raises(sd.ParameterError, match="would be too large"):
        _ = sd.pram.conventional_pram(20_000, epsilon=1.0).matrix
