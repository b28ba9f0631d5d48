"""Pl-diversity: what is believed about one person's value, beside all matchings and all values one by one."""

from __future__ import annotations

import itertools
import math

import numpy as np
import polars as pl
import pytest

import sudare as sd
from sudare.attacks.chances import Chances
from sudare.attacks.pl_game import believed
from sudare.attacks.randomized import by_law
from sudare.plans.law import LawForm
from sudare.privacy.pl_diversity import l_of


def retained(keep: list[float]) -> tuple[LawForm, np.ndarray]:
    d = len(keep)
    matrix = np.tile((1 - np.array(keep)) / (d - 1), (d, 1))
    np.fill_diagonal(matrix, keep)
    form = {
        "how": "retain",
        "epsilon": 1.0,
        "spread": 2.0,
        "values": list(map(str, range(d))),
        "retention": keep,
    }
    return LawForm.of("x", form), matrix


def by_hand(
    person: int,
    quasi: np.ndarray,
    ill: np.ndarray,
    rows: np.ndarray,
    laws: list[np.ndarray],
    prior: np.ndarray,
) -> np.ndarray:
    """The probability of every value of one person: of all tables with it, of all matchings."""
    n, told = len(ill), np.zeros(len(prior))
    for value in range(len(prior)):
        own = ill.copy()
        own[person] = value
        for matching in itertools.permutations(range(n)):
            ways = (
                laws[0][rows[0][j], quasi[i]] * laws[1][rows[1][j], own[i]] for i, j in enumerate(matching)
            )
            told[value] += prior[value] * math.prod(ways)
    return told / told.sum()


def tables(count: int, seed: int) -> None:
    rng, tight = np.random.default_rng(seed), 0.0
    for _ in range(count):
        n, d = int(rng.integers(1, 5)), int(rng.integers(2, 4))
        (of_quasi, first), (of_ill, second) = (
            retained(rng.uniform(0.1, 0.9, size).tolist()) for size in (3, d)
        )
        quasi, ill = rng.integers(3, size=n), rng.integers(d, size=n)
        rows = np.stack([rng.integers(3, size=n), rng.integers(d, size=n)])
        prior = rng.dirichlet(np.ones(d))
        chances = {"q": Chances.of(of_quasi), "ill": Chances.of(of_ill)}
        told = believed({"q": quasi, "ill": ill}, {"q": rows[0], "ill": rows[1]}, chances, "ill", prior)
        kinds = np.unique(np.stack([quasi, ill]), axis=1).T
        for kind, own in zip(kinds, told, strict=True):
            person = int(np.flatnonzero((quasi == kind[0]) & (ill == kind[1]))[0])
            assert own == pytest.approx(by_hand(person, quasi, ill, rows, [first, second], prior))
        logs = np.log(second)
        l = l_of(float(np.ptp(logs, axis=1).max()), float(prior.max()))
        assert told.max() <= 1 / l * (1 + 1e-9)
        tight = max(tight, float(told.max()) * l)
    assert tight > 0.9


def test_nobody_is_believed_more_than_one_in_l() -> None:
    tables(60, seed=0)


@pytest.mark.slow
def test_nobody_is_believed_more_than_one_in_l_in_thousands_of_tables() -> None:
    tables(2000, seed=1)


@pytest.mark.parametrize("how", ["retain", "noise", "bits", "matrix"])
def test_l_is_measured_from_the_law(how: str) -> None:
    """Never less than the theorem says for equally likely values."""
    rng = np.random.default_rng(0)
    schema = (
        sd.Schema.from_roles(sensitive=["x"], domains={"x": list(range(9))}, missing="refuse")
        if how in ("retain", "matrix")
        else sd.Schema.from_roles(sensitive=["x"], bounds={"x": (0, 8)}, missing="refuse")
    )
    table = sd.read(pl.DataFrame({"x": rng.integers(0, 9, 200)}), schema)
    given = rng.dirichlet(np.full(9, 5.0), 9).T
    options = {"matrices": {"x": given}} if how == "matrix" else {"how": {"x": how}}
    release = sd.randomize(table, sd.PkAnonymity(1.001), **options)
    sure = by_law(release.frame(), law=release.plan.to_json()).by_attribute["x"]
    assert sure.pl >= l_of(release.plan["x"].channel.epsilon, 1 / 9) * (1 - 1e-9)
    channel = release.plan["x"].channel
    matrix = channel.expected(np.eye(9)).T
    assert 1 / sure.pl == pytest.approx((matrix.max(axis=1) / matrix.sum(axis=1)).max())
    if how == "retain":
        assert sure.pl == pytest.approx(1 + 8 * math.exp(-channel.epsilon))


def test_no_l_without_a_probability() -> None:
    with pytest.raises(sd.ParameterError, match="probability above 0"):
        l_of(1.0, 0.0)
    with pytest.raises(sd.ParameterError, match="0 or more"):
        l_of(-1.0, 0.5)
