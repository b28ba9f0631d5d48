"""What tables of several attributes tell of each one, against the equations written out."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.linalg import null_space

from sudare.pview.margins import Told, refined, told_by
from sudare.pview.one_ways import OneWays
from sudare.pview.sides import measured, plain_side, side
from sudare.pview.strategies import strategy


@settings(max_examples=40)
@given(st.integers(0, 10_000), st.booleans(), st.integers(2, 3))
def test_a_table_tells_its_sums_over_the_others(seed: int, pure: bool, axes: int) -> None:
    """Without noise the true sums; with noise in one sum after the other, what the variance says."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(2, 6, axes)
    make = plain_side if axes > 2 else side
    sides = [make(int(n), ordered=bool(rng.integers(2)), pure=pure) for n in sizes]
    table = rng.integers(0, 100, sizes)
    groups = [np.arange(n, dtype=np.uint8) for n in sizes]
    exact = measured(sides, table)
    told = list(told_by(sides, range(axes), groups, exact, 4.0))
    knowing = [own.strategy.knows_total for own in sides]
    assert [own.attribute for own in told] == [
        a for a in range(axes) if all(knowing[x] for x in range(axes) if x != a)
    ]
    for own in told:
        others = tuple(x for x in range(axes) if x != own.attribute)
        assert own.sums == pytest.approx(own.strategy.measure(table.sum(axis=others)), abs=1e-6)
        squares = np.zeros(len(own.sums))
        for place in np.ndindex(exact.shape):
            one = np.zeros(exact.shape)
            one[place] = 1.0
            (moved,) = (
                x for x in told_by(sides, range(axes), groups, one, 4.0) if x.attribute == own.attribute
            )
            squares += moved.sums**2
        assert own.variance == pytest.approx(4.0 * squares)


def one_way(cells: np.ndarray, variance: float, total: float, pure: bool) -> OneWays:
    own = strategy(len(cells), ordered=True, pure=pure)
    measured_cells = own.solve(own.measure(cells))
    return OneWays(total, 1.0, [cells], [own.by_width * variance], [own], [variance], [measured_cells])


@settings(max_examples=40)
@given(st.integers(0, 10_000), st.booleans())
def test_all_that_is_told_is_solved_by_least_squares(seed: int, pure: bool) -> None:
    rng = np.random.default_rng(seed)
    n, total = 12, 50_000.0
    groups = np.sort(rng.integers(0, 4, n)).astype(np.uint8)
    groups = np.unique(groups, return_inverse=True)[1].astype(np.uint8)
    ones = one_way(rng.normal(4000, 50, n), 900.0, total, pure)
    coarse = strategy(int(groups.max()) + 1, ordered=True, pure=pure)
    sums = coarse.measure(np.bincount(groups) * 4200)
    told = [Told(0, groups, coarse, sums + rng.normal(0, v**0.5, len(sums)), v) for v in (500.0, 8000.0)]
    found = refined(ones, told)
    # Every equation in a row, divided by its deviation, for what is left if the sum of all is exact.
    own, gather = ones.strategies[0], np.eye(coarse.cells)[:, groups]
    rows, right = [own.measure(np.eye(n)) / 30], [own.measure(ones.cells[0]) / 30]
    for one in told:
        rows.append(coarse.measure(gather) / one.variance**0.5)
        right.append(one.sums / one.variance**0.5)
    free = null_space(np.ones((1, n)))
    matrix, wanted = np.vstack(rows), np.concatenate(right)
    inner = np.linalg.lstsq(matrix @ free, wanted - matrix @ np.full(n, total / n), rcond=None)[0]
    assert found.tables[0] == pytest.approx(total / n + free @ inner, rel=1e-6)
    covariance = free @ np.linalg.inv((matrix @ free).T @ (matrix @ free)) @ free.T
    assert found.covariances()[0] == pytest.approx(covariance, abs=1e-6 * covariance.max())
    assert (found.by_width[0][:-1] < ones.by_width[0][:-1]).all()


def test_nothing_told_changes_nothing() -> None:
    ones = one_way(np.array([5.0, 3.0, 2.0]), 1.0, 10.0, True)
    found = refined(ones, [])
    assert found.tables == ones.tables
    assert found.covariances()[0] == pytest.approx(ones.covariances()[0])
