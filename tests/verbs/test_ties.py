"""Ties between the rows of a household, looked for here as somebody would who knows all members and has the output alone."""

from __future__ import annotations

import itertools
import math
from collections import defaultdict
from collections.abc import Sequence

import numpy as np
import polars as pl
import pytest

import sudare as sd
from sudare.privacy.k_anonymity import KAnonymity
from sudare.verbs.ties import Ties, refuse_ties

ROLES = {"household": "home", "quasi": ["age"], "sensitive": ["ill"]}


def homes(numbers: np.random.Generator, count: int, agree: float, values: int) -> pl.DataFrame:
    """Make households of two to four, of which such a share of members have the household's language."""
    rows = []
    for home in range(count):
        own = numbers.integers(values)
        for _ in range(numbers.integers(2, 5)):
            language = own if numbers.random() < agree else numbers.integers(values)
            rows.append((home, int(numbers.integers(count // 2)), "abc"[numbers.integers(3)], int(language)))
    return pl.DataFrame(rows, schema=["home", "age", "ill", "language"], orient="row")


def readings(rows: pl.DataFrame, column: str) -> list[tuple[float, float]]:
    """Read every household by one column: of the values that all its blocks have, the likeliest one; how sure, and how often right."""
    cells: dict[tuple[int, int], list[int]] = defaultdict(list)
    values: dict[int, set[int]] = defaultdict(set)
    for home, age, value in rows.select("home", "age", column).iter_rows():
        cells[age, value].append(home)
        values[age].add(value)
    told = []
    for (home,), own in rows.group_by("home"):
        ages = own["age"].to_list()
        ways = {
            value: math.prod(len(cells[age, value]) for age in ages)
            for value in set.intersection(*(values[age] for age in ages))
        }
        if ways:
            value = max(ways, key=lambda one: ways[one])
            found = cells[ages[0], value]
            told.append((ways[value] / sum(ways.values()) / len(found), found.count(home) / len(found)))
    return told


def won(rows: pl.DataFrame, column: str, k: int) -> tuple[int, float]:
    """Return how many guesses are surer than promised, and how many of these are right."""
    sure = [right for confidence, right in readings(rows, column) if confidence > 1 / k]
    return len(sure), sum(sure) / max(len(sure), 1)


@pytest.mark.parametrize(("agree", "refused"), [(0.0, False), (0.9, True), (0.7, True)])
def test_a_column_by_which_readers_win_more_than_was_promised_is_refused(agree: float, refused: bool) -> None:
    numbers = np.random.default_rng(1)
    frame = homes(numbers, 300, agree, 12)
    schema = sd.Schema.from_roles(**ROLES, other=["language"])
    table = sd.read(frame, schema)
    guesses, right = won(frame, "language", 3)  # blocks of one age, as the plan leaves them
    if refused:
        assert guesses > 100
        assert right > 1 / 2.5
        with pytest.raises(sd.RequirementError, match="agree in 'language'"):
            sd.generalize(table, sd.KAnonymity(3))
    else:
        assert right < 1 / 2.5
        assert sd.generalize(table, sd.KAnonymity(3)).certificate.measured == {"k": 3}


def test_what_chance_ties_together_is_not_refused() -> None:
    """Of many tables without any tie, none is refused."""
    for seed in range(12):
        frame = homes(np.random.default_rng(seed), 120, 0.0, 4)
        schema = sd.Schema.from_roles(**ROLES, other=["language"])
        refuse_ties(frame, schema, [KAnonymity(3)])


def shared_by_two(income: Sequence[float]) -> pl.DataFrame:
    numbers = np.random.default_rng(2)
    frame = homes(numbers, 120, 0.0, 4).with_columns(income=pl.lit(0.0))
    own = numbers.permutation(frame.height) + 0.25
    tied = dict(enumerate(income))
    values = [tied.get(home, value) for home, value in zip(frame["home"], own, strict=True)]
    return frame.with_columns(income=pl.Series(values))


@pytest.mark.parametrize("role", ["sensitive", "other"])
def test_a_rare_value_that_members_share_leaves_their_household_out(role: str, reports: None) -> None:
    frame = shared_by_two([10_000.5, 20_000.5, 30_000.5])
    roles = {"household": "home", "quasi": ["age"], role: ["income"]}
    schema = sd.Schema.from_roles(**roles, identifier=["ill", "language"])
    table = sd.read(frame, schema)
    with pytest.raises(sd.RequirementError, match=r"3 of 120 have there.* with suppress=0\.0\d+ or more"):
        sd.generalize(table, sd.KAnonymity(3))
    with pytest.raises(sd.RequirementError, match="with suppress="):
        sd.generalize(table, sd.KAnonymity(3), suppress=0.001)
    release = sd.generalize(table, sd.KAnonymity(3), suppress=0.05)
    assert not set(release.frame()["income"]) & {10_000.5, 20_000.5, 30_000.5}
    rows = frame.filter(pl.col("home") < 3).height
    assert release.holder["records"]["suppressed"] >= rows
    assert release.certificate.records["published"] == frame.height - release.holder["records"]["suppressed"]
    # As if these households had never been there.
    rest = sd.read(frame.filter(pl.col("home") >= 3), schema)
    left = (0.05 * frame.height - rows) / (frame.height - rows)
    assert sd.generalize(rest, sd.KAnonymity(3), suppress=left).frame().equals(release.frame())
    assert f"{release.holder['records']['suppressed']:,} left out" in release.report


def test_values_that_k_households_share_tie_nobody() -> None:
    frame = shared_by_two([10_000.5] * 3)
    schema = sd.Schema.from_roles(
        household="home", quasi=["age"], other=["income"], identifier=["ill", "language"]
    )
    assert Ties(frame.drop("ill", "language"), schema, [KAnonymity(3)]).tied() is None
    tied = Ties(frame.drop("ill", "language"), schema, [KAnonymity(4)]).tied()
    assert tied is not None
    assert sorted(tied.units) == [0, 1, 2]


def test_guesses_are_as_sure_as_they_say() -> None:
    """Who takes the model's word for how sure a guess is, is right about as often: nothing else is refused by it."""
    from sudare.verbs.ties import _Linkage

    frames = [homes(np.random.default_rng(seed), 300, 0.8, 12) for seed in range(2)]
    sure = list(itertools.chain.from_iterable(_guesses(_Linkage, frame) for frame in frames))
    for low, high in ((0.3, 0.5), (0.5, 0.75), (0.75, 1.0)):
        some = [right for confidence, right in sure if low < confidence <= high]
        assert len(some) > 20
        assert low - 0.2 < np.mean(some) < high + 0.15


def _guesses(linkage: type, frame: pl.DataFrame) -> list[tuple[float, bool]]:
    codes = {name: frame[name].rank("dense").to_numpy().astype(np.int64) - 1 for name in frame.columns}
    found = linkage(codes["home"], codes["age"], {"language": codes["language"]}).guesses()
    return list(zip(found.confidence.tolist(), found.right.tolist(), strict=True))
