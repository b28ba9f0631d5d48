"""Tables of three attributes: that they find what no pair tells, and that a record changes their misfits by no more than pairs'."""

from __future__ import annotations

import numpy as np
import pytest

from sudare.noise.keystream import Keystream
from sudare.privacy.differential_privacy import DifferentialPrivacy
from sudare.pview.account import Account
from sudare.pview.emphasis import Emphasis
from sudare.pview.grouped_counts import GroupedCounts
from sudare.pview.grouped_tables import MISFIT_SENSITIVITY, misfit
from sudare.pview.pairs import learn_pairs
from tests.pview.counted import counted

SIZES = [2, 2, 2, 3, 3]


def tied(n: int) -> np.ndarray:
    """Rows whose third value says whether the first two are the same: no pair tells it. Others lean on these."""
    rng = np.random.default_rng(1)
    one, other = rng.integers(0, 2, (2, n))
    rows = np.stack([one, other, one ^ other, rng.integers(0, 3, n), rng.integers(0, 3, n)], axis=1)
    return rows.astype(np.int32)


def learned(rows: np.ndarray, delta: float, emphasis: Emphasis | None = None):
    account = Account(DifferentialPrivacy(3.0, delta), Keystream.unsafe(1))
    cloud = learn_pairs(counted(rows, SIZES), [False] * 5, account, emphasis=emphasis, points=20_000)
    assert account.remaining == 0
    return cloud, account


def test_a_triple_is_measured_where_all_pairs_are_and_tells_what_no_pair_does() -> None:
    rows = tied(60_000)
    cloud, account = learned(rows, 1e-9)
    sets = [set(share.attributes) for share in account.spent if share.kind == "set"]
    assert sets == [{"0", "1", "2"}]
    assert sum(share.kind == "pair" for share in account.spent) >= 9  # the last took the rest
    true = np.zeros((2, 2, 2))
    np.add.at(true, tuple(rows[:, :3].T), 1)
    table = np.zeros((2, 2, 2))
    np.add.at(table, tuple(cloud.points[:, :3].T), cloud.weights)
    assert abs(table - true).max() < 0.03 * len(rows)
    pure, _ = learned(rows, 0.0)
    assert pure.total == pytest.approx(len(rows), rel=0.01)


def test_nothing_goes_to_triples_where_pairs_were_declared() -> None:
    asked = np.eye(5)
    asked[0, 1] = asked[1, 0] = 1.0
    emphasis = Emphasis([False] * 5, np.ones(5), np.maximum(asked, 1 / 16), 0.5)
    _, account = learned(tied(60_000), 1e-9, emphasis)
    assert not any(share.kind == "set" for share in account.spent)


def test_a_record_changes_the_misfit_of_a_triple_by_no_more_than_is_claimed() -> None:
    rng = np.random.default_rng(1)
    groups = [np.arange(size, dtype=np.uint8) for size in SIZES]
    for _ in range(50):
        rows = np.stack([rng.integers(0, size, 30) for size in SIZES], axis=1).astype(np.int32)
        model = rng.exponential(rng.choice([0.01, 1.0, 1e6]), (1, 12))
        scores = [
            misfit(
                GroupedCounts.of(counted(some, SIZES), groups, any_pairs=True)
                .count([0, 1, 3])
                .reshape(1, -1),
                model,
            )[0]
            for some in (rows, rows[1:])
        ]
        assert abs(scores[0] - scores[1]) <= MISFIT_SENSITIVITY
