"""The Pk game: no pair of a person and a row is right more often than was promised, beside all matchings one by one."""

from __future__ import annotations

import datetime as dt
import itertools
import json
import math
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from numpy.typing import NDArray

import sudare as sd
from sudare.attacks.chances import Chances
from sudare.attacks.matching import can_match, matched
from sudare.attacks.pk_game import MAX_PERSONS, SETS, best_pair, pk_game, table_bound
from sudare.plans.law import LawForm
from sudare.randomization.bits import BitChannel
from sudare.randomization.laplace import LaplaceChannel
from sudare.randomization.laws import reflecting

Floats = NDArray[np.float64]


def form(**law: Any) -> LawForm:
    if "steps" not in law:
        (rows,) = law.values()
        law["values"] = [str(i) for i in range(len(rows))]
    return LawForm.of("x", {"how": "retain", "epsilon": 1.0, "spread": 2.0, **law})


def grid(size: int, **law: Any) -> LawForm:
    return form(low=0.0, step=1.0, steps=size - 1, **law)


def random_law(rng: np.random.Generator, size: int) -> tuple[LawForm, Floats]:
    """A law of some kind, and its whole matrix, one column for each input, by other code."""
    kind = rng.integers(5)
    scale = Fraction(int(rng.integers(1, 30)), 3)
    if kind == 0:
        keep = rng.uniform(0.05, 0.95, size)
        matrix = np.tile((1 - keep) / (size - 1), (size, 1))
        np.fill_diagonal(matrix, keep)
        return form(retention=keep.tolist()), matrix
    if kind == 1:
        matrix = rng.dirichlet(np.ones(size), size).T
        return form(matrix=matrix.tolist()), matrix
    if kind == 2:
        flip = float(rng.uniform(0.05, 0.6))
        return grid(size, flips=flip), BitChannel(size, flip).expected(np.eye(size)).T
    channel = LaplaceChannel(size - 1, scale)
    if kind == 3:
        return grid(size, scale=str(scale), after="clip"), channel.expected(np.eye(size)).T
    return grid(size, scale=str(scale), after="reflect"), reflecting(channel).matrix


def spread_of(matrix: Floats) -> float:
    """The largest logarithm of A[u, a] A[v, b] / (A[v, a] A[u, b])."""
    logs = np.log(matrix)
    return max(
        float(np.ptp(logs[:, u] - logs[:, v])) for u, v in itertools.product(range(len(matrix)), repeat=2)
    )


def by_all_matchings(chances: Floats) -> Floats:
    """The probability of every pair, from all permutations."""
    n, posterior = len(chances), np.zeros(chances.shape)
    for matching in itertools.permutations(range(n)):
        posterior[range(n), matching] += math.prod(chances[i, j] for i, j in enumerate(matching))
    return posterior / posterior[0].sum()


def tables(count: int, most: int, seed: int) -> None:
    """On random tables, laws and outputs: the best pair is that of all matchings, and never above 1/k."""
    rng = np.random.default_rng(seed)
    tight = 0.0
    for _ in range(count):
        size, n = int(rng.integers(2, 6)), int(rng.integers(2, most + 1))
        law, matrix = random_law(rng, size)
        people, rows = {"x": rng.integers(size, size=n)}, {"x": rng.integers(size, size=n)}
        chances = {"x": Chances.of(law)}
        best = best_pair(people, rows, chances, SETS)
        assert best is not None
        assert best == pytest.approx(by_all_matchings(matrix[rows["x"]][:, people["x"]].T).max())
        k = 1 + (n - 1) * math.exp(-spread_of(matrix))
        bound = table_bound(people, chances)
        assert best <= bound * (1 + 1e-9)
        # The bound is no more than 1/k, but for clipped bits and folded noise, whose spread is taken for a little more.
        assert best <= 1 / k * (1 + 1e-9)
        tight = max(tight, best * k)
    assert tight > 0.95  # some pair all but reaches the limit: the adversary plays well


def test_the_best_pair_of_random_tables_is_never_above_one_in_k() -> None:
    tables(200, most=4, seed=0)


@pytest.mark.slow
def test_the_best_pair_of_thousands_of_random_tables_is_never_above_one_in_k() -> None:
    tables(3000, most=6, seed=1)


def test_chances_are_those_of_the_whole_matrix() -> None:
    rng = np.random.default_rng(4)
    for _ in range(100):
        size = int(rng.integers(2, 12))
        law, matrix = random_law(rng, size)
        codes, chances = np.arange(size), Chances.of(law)
        likely = np.exp(chances.likelihood(codes[:, None], codes))
        assert likely / likely.sum(axis=1, keepdims=True) == pytest.approx(matrix.T)
        logs = np.log(matrix)
        apart = [[np.ptp(logs[:, u] - logs[:, v]) for v in codes] for u in codes]
        spread = chances.spread(codes[:, None], codes)
        assert (spread >= np.array(apart) - 1e-9).all()
        if law.flips is None and law.after != "reflect":
            assert spread == pytest.approx(np.array(apart))


def test_tables_are_drawn_by_the_law() -> None:
    rng = np.random.default_rng(8)
    for _ in range(12):
        law, matrix = random_law(rng, 5)
        drawn = Chances.of(law).draw(np.full(20_000, 2), rng)
        shares = np.bincount(drawn, minlength=5) / 20_000
        assert np.abs(shares - matrix[:, 2]).max() < 5 * math.sqrt(0.25 / 20_000)


def test_the_winning_rate_of_a_large_table_is_that_of_all_matchings() -> None:
    """The pair is picked, and its chance estimated, without looking at all matchings; both are checked by these."""
    rng = np.random.default_rng(3)
    law = grid(9, scale="4", after="clip")
    people = {"x": np.arange(9)}
    from sudare.attacks import pk_game as game

    chances = {"x": Chances.of(law)}
    exact, estimated = [], []
    for _ in range(150):
        rows = {"x": chances["x"].draw(people["x"], rng)}
        person, row = game._picked(people, rows, chances, rng)
        weights = np.exp(chances["x"].likelihood(people["x"][:, None], rows["x"]))
        exact.append(matched(weights, np.ones(9, int), np.ones(9, int))[person, row])
        estimated.append(game._chance(person, row, people, rows, chances))
    difference = np.array(estimated) - exact
    assert abs(difference.mean()) < 4 * difference.std(ddof=1) / math.sqrt(len(difference))
    assert difference.std() < 0.3  # far less than that of right or wrong
    assert np.mean(exact) > 1.5 / 9  # and the pair is a good one


def test_without_protection_it_is_won() -> None:
    game = pk_game({"x": np.arange(10)}, {"x": form(retention=[1.0] * 10)}, limit=1.0)
    assert (game.win_rate, game.low, game.high, game.bound) == (1.0, 1.0, 1.0, 1.0)


def test_who_is_like_all_others_is_not_found() -> None:
    game = pk_game({"x": np.zeros(8, dtype=int)}, {"x": form(retention=[0.9, 0.9])}, limit=1.0)
    assert game.win_rate == pytest.approx(1 / 8)
    assert game.bound == pytest.approx(1 / 8)
    assert "12.50% of all tables" in str(game)


def test_a_matching_that_cannot_be() -> None:
    one = np.array([1, 1])
    assert matched(np.array([[1.0, 0.0], [1.0, 0.0]]), one, one) is None
    assert not can_match(np.full(40, 1), np.full(40, 1))
    assert can_match(np.full(40, 1), np.array([20, 20]))


def test_the_bound_of_many_is_no_smaller_than_that_of_all_pairs() -> None:
    rng = np.random.default_rng(2)
    codes = rng.integers(0, 2**15, 3000)
    chances = {"x": Chances.of(grid(2**15, scale=str(2**13), after="clip"))}
    sums = np.exp(-2 * np.abs(codes[:, None] - codes) / 2**13).sum(axis=1)
    bound = table_bound({"x": codes}, chances)
    assert 1 / sums.min() <= bound < 5 / sums.min()


# -- In the holder's record ---------------------------------------------------------------------------------


def played(table: sd.Table, k: float, **options: object) -> dict[str, float]:
    release = sd.randomize(table, sd.PkAnonymity(k), unsafe_seed=1, **options)
    game: dict[str, float] = release.holder["attacks"]["output"]["pk_game"]
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
    """Twelve people, all different: who is looked for is easiest to find there."""
    schema = sd.Schema.from_roles(quasi=["age"], bounds={"age": (0, 11)})
    game = played(sd.read(pl.DataFrame({"age": range(12)}), schema), k, how={"age": how})
    assert game["exact"]
    assert 1 / 12 < game["low"] <= game["largest"] <= 1 / k * (1 + 1e-9)
    assert game["largest"] <= game["bound"] * (1 + 1e-9)
    assert game["bound"] <= 1 / k * (1 + 1e-9)


def test_the_pair_is_picked_and_not_drawn() -> None:
    """Among forty people of whom few stand out, a random person is hardly found, and the one who stands out is."""
    ages = [30] * 36 + [0, 60, 15, 45]
    schema = sd.Schema.from_roles(quasi=["age"], bounds={"age": (0, 60)})
    game = played(sd.read(pl.DataFrame({"age": ages}), schema), 5)
    assert 1.5 / 40 < game["win_rate"] <= 1 / 5


def test_a_large_table_is_played_on_a_sample_with_the_limit_for_so_many() -> None:
    records = 4 * MAX_PERSONS
    schema = sd.Schema.from_roles(quasi=["age"], bounds={"age": (0, 999)}, missing="refuse")
    ages = np.random.default_rng(0).integers(0, 1000, records)
    release = sd.randomize(sd.read(pl.DataFrame({"age": ages}), schema), sd.PkAnonymity(50), unsafe_seed=1)
    game = release.holder["attacks"]["output"]["pk_game"]
    assert game["persons"] == MAX_PERSONS
    assert not game["exact"]
    k = 1 + (MAX_PERSONS - 1) * np.exp(-release.plan.spread)
    assert game["limit"] == pytest.approx(1 / k)
    assert game["largest"] <= game["bound"] <= game["limit"]


def test_nothing_of_it_is_handed_over(tmp_path: Path) -> None:
    schema = sd.Schema.from_roles(quasi=["age"], bounds={"age": (0, 11)})
    release = sd.randomize(sd.read(pl.DataFrame({"age": range(12)}), schema), sd.PkAnonymity(3))
    out = release.write(tmp_path / "out")
    assert "pk_game" in json.loads((out / "keep" / "holder.json").read_text())["attacks"]["output"]
    for file in (out / "hand-over").iterdir():
        assert b"pk_game" not in file.read_bytes()


# -- On a folder --------------------------------------------------------------------------------------------

MIXED = sd.Schema.from_roles(
    quasi=["age", "born", "town"],
    sensitive=["ill"],
    bounds={"age": (0, 90), "born": (dt.date(1930, 1, 1), dt.date(2020, 12, 31))},
    domains={"town": ["Ayr", "Bath"], "ill": ["yes", "no"]},
)


@pytest.fixture
def mixed() -> pl.DataFrame:
    rng = np.random.default_rng(1)
    return pl.DataFrame(
        {
            "age": rng.integers(0, 91, 6),
            "born": [dt.date(1931 + 15 * i, 1, 1 + i) for i in range(6)],
            "town": [*rng.choice(["Ayr", "Bath"], 5), None],
            "ill": rng.choice(["yes", "no"], 6),
        }
    )


def test_it_is_played_on_a_folder(mixed: pl.DataFrame, tmp_path: Path) -> None:
    release = sd.randomize(sd.read(mixed, MIXED), sd.PkAnonymity(3), joint={"who": ["town", "ill"]})
    out = release.write(tmp_path / "out")
    stand_in = sd.attack(out, MIXED, kind="pk_game")
    assert (stand_in.persons, stand_in.exact, stand_in.here) == (6, True, None)
    assert stand_in.largest <= stand_in.bound <= stand_in.limit == pytest.approx(1 / 3)
    known = sd.attack(out, MIXED, kind="pk_game", known=mixed)
    recorded = release.holder["attacks"]["output"]["pk_game"]
    for figure in ("bound", "limit"):
        assert known.summary()[figure] == pytest.approx(recorded[figure])
    assert "In the output itself" in str(known)
    assert known.here == pytest.approx(_by_hand(release, mixed))
    elsewhere = sd.attack(out, MIXED, kind="pk_game", known=sd.read(mixed, MIXED, engine="duckdb"))
    assert elsewhere.summary() == known.summary()


def _by_hand(release: sd.Release, people: pl.DataFrame) -> float:
    """All matchings of the published rows, by the channels of the plan."""
    plan, rows = release.plan, release.frame()
    chances = np.ones((6, 6))
    for law in plan.laws:
        codes = []
        for frame in (people, rows):
            table = sd.read(frame.select(plan.attributes), plan.schema)
            places = plan.places(table)
            columns = [places[name][table.rows.column(name).codes] for name in law.attributes]
            codes.append(law.domain.combined(columns).astype(int))
        for person, code in enumerate(codes[0]):
            one = np.zeros(len(law.domain))
            one[code] = 1.0
            chances[person] *= law.channel.expected(one)[codes[1]]
    return float(by_all_matchings(chances).max())


def test_what_cannot_be_played(mixed: pl.DataFrame, tmp_path: Path) -> None:
    out = sd.randomize(sd.read(mixed, MIXED), sd.PkAnonymity(3), how={"age": "bins"}).write(tmp_path / "out")
    with pytest.raises(sd.InputError, match=r"'age', which its law does not know\..*What was put into bins"):
        sd.attack(out, MIXED, kind="pk_game", known=mixed)
    with pytest.raises(sd.InputError, match="no column 'born', of which a law is published"):
        sd.attack(out, MIXED, kind="pk_game", known=mixed.drop("born"))
    with pytest.raises(sd.ParameterError, match="needs the schema"):
        sd.attack(out, kind="pk_game", known=mixed)
    with pytest.raises(sd.InputError, match="law of a randomized table is missing"):
        sd.attack(mixed, MIXED, kind="pk_game")
    law = json.loads((out / "hand-over" / "law.json").read_text())
    law["attributes"]["x"] = law["attributes"].pop("ill")
    with pytest.raises(sd.InputError, match="'x', which the output does not have"):
        sd.attack(pl.read_parquet(out / "hand-over" / "data.parquet"), kind="pk_game", law=law)


def test_a_large_output_is_sampled(tmp_path: Path) -> None:
    schema = sd.Schema.from_roles(quasi=["age"], bounds={"age": (0, 99)}, missing="refuse")
    ages = np.random.default_rng(0).integers(0, 100, MAX_PERSONS + 500)
    out = sd.randomize(sd.read(pl.DataFrame({"age": ages}), schema), sd.PkAnonymity(50)).write(
        tmp_path / "out"
    )
    game = sd.attack(out, kind="pk_game")
    assert (game.persons, game.here) == (MAX_PERSONS, None)
    assert game.largest <= game.bound <= game.limit
