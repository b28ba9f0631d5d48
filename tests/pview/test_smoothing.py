"""What values have of what groups have: a slow twin, and what must stay as it is."""

from __future__ import annotations

import numpy as np
import pytest

from sudare.pview.smoothing import MAX_VALUES, Between, Margin, given_shares


def slow(groups: list[int], table: list[float], of_groups: list[float]) -> list[float]:
    """Go through the values one by one, with middles found by going through the records."""
    places, before = [], 0.0
    for records in table:
        places.append(before + records / 2)
        before += records
    middle, several = {}, {}
    for g in set(groups):
        inside = [v for v in range(len(groups)) if groups[v] == g]
        middle[g] = sum(places[v] * table[v] for v in inside) / sum(table[v] for v in inside)
        several[g] = len(inside) > 1
    out = []
    for v, g in enumerate(groups):
        other = g + 1 if places[v] > middle[g] else g - 1
        if other not in middle or not several[g] or not several[other]:
            out.append(of_groups[g])
            continue
        way = (places[v] - middle[g]) / (middle[other] - middle[g])
        out.append(of_groups[g] + way * (of_groups[other] - of_groups[g]))
    return out


def test_values_go_over_from_group_to_group_as_in_the_slow_twin() -> None:
    rng = np.random.default_rng(1)
    for _ in range(50):
        sizes = rng.integers(1, 5, rng.integers(1, 8))
        groups = np.repeat(np.arange(len(sizes)), sizes).astype(np.uint8)
        table, of_groups = rng.integers(1, 90, len(groups)).astype(float), rng.random(len(sizes))
        found = Between.of(groups, table).of_values(of_groups[:, None])[:, 0]
        assert found == pytest.approx(slow(groups.tolist(), table.tolist(), of_groups.tolist()), abs=1e-4)


def test_groups_of_one_value_and_of_others_than_neighbours_stay_as_they_are() -> None:
    rng = np.random.default_rng(1)
    for groups in ([0, 1, 2, 3], [0, 1, 0, 2, 1, 1], [0, 0, 1, 2, 2]):
        codes, of_groups = np.array(groups, dtype=np.uint8), rng.random(4)[:, None]
        of_values = Between.of(codes, rng.random(len(codes)) + 1).of_values(of_groups)
        assert (of_values == of_groups[codes]).all()


def test_what_hangs_together_smoothly_is_found_nearer_than_by_steps() -> None:
    values = np.arange(30)
    true = 1 + 0.9 * np.outer(values - 14.5, values - 14.5) / 14.5**2
    groups = (values // 5).astype(np.uint8)
    table = np.add.reduceat(np.add.reduceat(true, values[::5], axis=0), values[::5], axis=1)
    margin = Margin(groups, true.sum(axis=1))
    rows, shares = given_shares(table, margin, margin)
    assert rows.tolist() == values.tolist()
    expected = true / true.sum(axis=1, keepdims=True)
    steps = (table / np.outer(margin.by_groups, margin.by_groups))[np.ix_(groups, groups)] * margin.table
    smooth, steps = (own / own.sum(axis=1, keepdims=True) for own in (shares, steps))
    assert np.abs(smooth - expected).sum() < 0.4 * np.abs(steps - expected).sum()


def test_of_too_many_values_groups_are_given() -> None:
    groups = (np.arange(MAX_VALUES + 1) // 64).astype(np.uint8)
    margin = Margin(groups, np.ones(len(groups)))
    rows, shares = given_shares(np.ones((4, 2)), margin, Margin(np.array([0, 1], dtype=np.uint8), np.ones(2)))
    assert rows is groups
    assert shares.shape == (4, 2)
