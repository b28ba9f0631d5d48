from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest

from sudare.errors import RequirementError
from sudare.randomization.budget import SPLITS, SplitAttribute, split_spread
from sudare.randomization.laws import expected_error
from tests.randomization.test_channel import laplace_matrix


def number(name: str, weight: float = 1.0, size: int = 101) -> SplitAttribute:
    return SplitAttribute(name, weight, lambda spread: expected_error("noise", size, spread), None)


def category(name: str, size: int, weight: float = 1.0) -> SplitAttribute:
    return SplitAttribute(name, weight, lambda spread: expected_error("retain", size, spread), size)


SHARES = [number("age"), category("sex", 2), category("town", 30, 3.0), number("pay", 0.5)]


@pytest.mark.parametrize("split", SPLITS)
@pytest.mark.parametrize("spread", [0.01, 1.0, 7.0, 20.0])
def test_never_more_than_the_whole(split: str, spread: float) -> None:
    if split == "paper-tie" and spread < 4:
        with pytest.raises(RequirementError, match=r"2 numeric attributes its spread is at least 4"):
            split_spread(spread, SHARES, split)
        return
    parts = split_spread(spread, SHARES, split)
    assert len(parts) == len(SHARES)
    assert all(part >= 0 for part in parts)
    assert sum(parts) <= spread * (1 + 1e-12)
    if split != "least-error":
        assert sum(parts) == pytest.approx(spread, rel=1e-6)


def test_equal_goes_by_weight() -> None:
    assert split_spread(5.5, SHARES, "equal") == pytest.approx([1, 1, 3, 0.5])


@pytest.mark.parametrize(("split", "reach"), [("tie", 2), ("paper-tie", 1)])
def test_ties_hold(split: str, reach: int) -> None:
    """One rho for all categories, one sigma for all numbers, and sigma = tan(reach pi/4 (1 - rho))."""
    age, sex, town, pay = split_spread(9.0, SHARES, split)
    sigma = 2 / age
    assert pay == pytest.approx(age)
    rho = 1 - math.atan(sigma) * 4 / math.pi / reach
    for part, size in ((sex, 2), (town, 30)):
        assert part == pytest.approx(-2 * math.log((1 - rho) / (1 + (size - 1) * rho)), rel=1e-6)


def test_the_papers_tie_stops_where_it_is_said_to() -> None:
    """sigma <= 1, so n numbers use a spread of 2 n at least: k up to 1 + (N - 1) e^(-2 n)."""
    for n in (1, 2, 3):
        attributes = [number(str(i)) for i in range(n)]
        assert sum(split_spread(2 * n + 0.01, attributes, "paper-tie")) == pytest.approx(2 * n + 0.01)
        with pytest.raises(RequirementError, match="Use split='tie', which reaches every k"):
            split_spread(2 * n - 0.01, attributes, "paper-tie")


def test_the_other_tie_reaches_every_k() -> None:
    for spread in (1e-3, 1e-6, 1e-9, 0.0):  # 0 is k = N
        assert sum(split_spread(spread, SHARES, "tie")) <= spread * (1 + 1e-9)


def test_least_error_is_least_among_all_splits_in_parts() -> None:
    attributes = [number("age"), category("sex", 2), category("town", 30)]
    for spread in (2.0, 6.0, 15.0):
        parts = split_spread(spread, attributes, "least-error")
        least = sum(share.weight * share.error(part) for share, part in zip(attributes, parts, strict=True))
        for i, j in product(range(41), repeat=2):
            if i + j <= 40:
                tried = [spread * i / 40, spread * j / 40, spread * (40 - i - j) / 40]
                other = sum(share.weight * share.error(p) for share, p in zip(attributes, tried, strict=True))
                assert least <= other + 1e-12


def test_expected_error_of_noise_is_that_of_a_value_anywhere() -> None:
    for spread in (0.5, 3.0, 10.0):
        steps = 200
        matrix = laplace_matrix(steps, 2 * steps / spread)
        moved = abs(np.arange(steps + 1)[:, None] - np.arange(steps + 1)) / steps
        assert expected_error("noise", steps + 1, spread) == pytest.approx(
            (moved * matrix).sum(axis=0).mean(), rel=0.02
        )
    assert expected_error("noise", 11, 0.0) == 0.5


def test_expected_error_of_a_category() -> None:
    assert expected_error("retain", 10, 0.0) == pytest.approx(0.9)
    assert expected_error("retain", 10, 2 * math.log(9)) == pytest.approx(0.5)


def test_weights_of_zero_are_refused_or_split_evenly_but_not_lost() -> None:
    parts = split_spread(3.0, [number("a", 0.0), number("b", 0.0)], "equal")
    assert all(math.isfinite(part) for part in parts)
