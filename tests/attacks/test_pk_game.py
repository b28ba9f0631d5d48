"""The Pk game: nobody wins more often than was promised."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest

import sudare as sd
from sudare.attacks.pk_game import MAX_PERSONS, pk_game
from sudare.plans.law import LawForm


def form(**probabilities: list[Any]) -> LawForm:
    (rows,) = probabilities.values()
    values = [str(i) for i in range(len(rows))]
    return LawForm.of(
        "x", {"how": "retain", "epsilon": 1.0, "spread": 2.0, "values": values, **probabilities}
    )


def played(table: sd.Table, k: float, seed: int, **options: object) -> dict[str, float]:
    release = sd.randomize(table, sd.PkAnonymity(k), unsafe_seed=seed, **options)
    game = release.holder["attacks"]["output"]["pk_game"]
    assert game["limit"] <= 1 / k * (1 + 1e-9)
    return game


@pytest.mark.parametrize(
    ("how", "k"),
    [
        ("noise", 5),
        ("bits", 2),
        ("retain", 2),
        *(
            pytest.param(how, k, marks=pytest.mark.slow)
            for how, k in (("noise", 2), ("bits", 5), ("retain", 5))
        ),
    ],
)
def test_it_is_won_no_more_often_than_one_in_k(how: str, k: float) -> None:
    """Twenty people, all different: who is looked for is easiest to find there."""
    schema = sd.Schema.from_roles(quasi=["age"], bounds={"age": (0, 19)})
    table = sd.read(pl.DataFrame({"age": range(20)}), schema)
    rates = [played(table, k, seed, how={"age": how})["win_rate"] for seed in range(60)]
    mean, error = np.mean(rates), np.std(rates, ddof=1) / np.sqrt(len(rates))
    assert mean <= 1 / k + 3 * error
    assert mean > 1 / 20  # more than guessing: the adversary does use the law


def test_without_protection_it_is_won() -> None:
    codes = {"x": np.arange(10)}
    game = pk_game(codes, codes, {"x": form(retention=[1.0] * 10)}, limit=1.0)
    assert (game.win_rate, game.low, game.high) == (1.0, 1.0, 1.0)


def test_a_guess_among_many_counts_as_such() -> None:
    codes = {"x": np.zeros(8, dtype=int)}
    game = pk_game(codes, codes, {"x": form(retention=[0.9, 0.9])}, limit=1.0)
    assert game.win_rate == pytest.approx(1 / 8)
    assert "12.50% of 8 tries" in str(game)


def test_the_row_taken_is_the_likeliest_by_the_definition() -> None:
    """Beside a plain search over all rows."""
    rng = np.random.default_rng(5)
    matrix = rng.dirichlet(np.ones(4), size=4).T
    original, randomized = rng.integers(4, size=6), rng.integers(4, size=6)
    game = pk_game({"x": original}, {"x": randomized}, {"x": form(matrix=matrix.tolist())}, limit=1.0)
    wins = []
    for i in range(6):
        likelihood = [matrix[randomized[j], original[i]] for j in range(6)]
        best = [j for j in range(6) if likelihood[j] >= max(likelihood) - 1e-12]
        wins.append((i in best) / len(best))
    assert game.win_rate == pytest.approx(np.mean(wins))


# -- Who is looked for ----------------------------------------------------------------------------------


def test_a_large_table_is_played_on_a_sample_with_the_limit_for_so_many() -> None:
    records = 4 * MAX_PERSONS
    schema = sd.Schema.from_roles(quasi=["age"], bounds={"age": (0, 999)}, missing="refuse")
    ages = np.random.default_rng(0).integers(0, 1000, records)
    release = sd.randomize(sd.read(pl.DataFrame({"age": ages}), schema), sd.PkAnonymity(50), unsafe_seed=1)
    game = release.holder["attacks"]["output"]["pk_game"]
    assert game["persons"] == MAX_PERSONS
    k = 1 + (MAX_PERSONS - 1) * np.exp(-release.plan.spread)
    assert game["limit"] == pytest.approx(1 / k)
    assert game["low"] <= game["limit"]


def test_an_unsafe_seed_plays_the_same_game_again() -> None:
    schema = sd.Schema.from_roles(quasi=["age"], bounds={"age": (0, 19)})
    table = sd.read(pl.DataFrame({"age": range(20)}), schema)
    games = [played(table, 3, seed) for seed in (1, 1, 2)]
    assert games[0] == games[1] != games[2]
