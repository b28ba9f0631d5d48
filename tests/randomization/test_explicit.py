"""The explicit solution beside the search that it starts from, and beside the lines as the paper has them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from sudare.randomization import _optimal
from sudare.randomization.explicit import Ends, exact_ends, high_lines, low_lines
from tests.tries import Tries

Array = np.ndarray[Any, Any]


@pytest.mark.parametrize("d", [3, 4, 10, 74])
@pytest.mark.parametrize("epsilon", [0.05, 1.0, math.log(9), 4.0])
def test_the_three_lines_of_either_kind_are_two(d: int, epsilon: float) -> None:
    e = math.exp(epsilon)
    a_star, *low = low_lines(d, e)
    c_star, *high = high_lines(d, e)
    for x in np.linspace(0.01, 1, 60):
        after, before = (line.at + line.by * x for line in low)
        assert max(after, before) == pytest.approx(_optimal.low(x, d, e), rel=1e-12)
        assert (after >= before) == (x >= a_star)
        up_to, beyond = (line.at + line.by * x for line in high)
        assert min(up_to, beyond) == pytest.approx(_optimal.high(x, d, e), rel=1e-12, abs=1e-12)
        assert (up_to <= beyond) == (x <= c_star)


def histogram(rng: np.random.Generator, d: int) -> Array:
    v = np.sort(np.round(100 * rng.pareto(1.0, d)) + 1)[::-1]
    return np.asarray(v / v[0])


def sums(v: Array) -> Array:
    return np.stack([np.append(0.0, np.cumsum(v)), np.append(0.0, np.cumsum(v * v))])


def squares(ends: Ends) -> float:
    return ends.squares


def test_it_is_never_above_the_search_and_below_it_in_the_last_digits(tries: Tries) -> None:
    rng = np.random.default_rng(1)
    better = 0
    for _ in tries(400):
        d, empty = int(rng.integers(3, 40)), int(rng.integers(0, 3))
        v, e = histogram(rng, d), math.exp(rng.uniform(0.05, 6))
        found = min((Ends(*_optimal.search(v, empty, e, beyond)) for beyond in (False, True)), key=squares)
        exact = exact_ends(v, empty, e, found)
        assert exact.squares <= found.squares
        assert exact.squares == pytest.approx(found.squares, rel=1e-6, abs=1e-14)
        better += exact.squares < found.squares
    assert better > len(tries(400)) / 8


def test_it_finds_the_piece_from_a_rough_start() -> None:
    """From a search that was stopped early, it comes to where the whole search does."""
    rng = np.random.default_rng(2)
    for _ in range(40):
        v, e = histogram(rng, 12), math.exp(rng.uniform(0.5, 4))
        found = min((Ends(*_optimal.search(v, 0, e, beyond)) for beyond in (False, True)), key=squares)
        rough = Ends(found.first * (1 + 1e-5), found.last, found.level, math.inf)
        assert exact_ends(v, 0, e, rough).squares <= found.squares * (1 + 1e-9)


def test_ends_that_cannot_be_are_worth_nothing() -> None:
    v = np.array([1.0, 0.5, 0.25])
    for a, c in ((0.0, 0.5), (1.5, 0.5), (0.1, 0.9), (0.6, 1.2)):
        assert _optimal.ends_error(v, *sums(v), 0, a, c, 2.0)[1] == math.inf
