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
from sudare.verbs import ties
from sudare.verbs.agreement import _unlike_apart
from sudare.verbs.linkage import Linkage, codes_of
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
        numbers = np.random.default_rng(seed)
        frame = homes(numbers, 120, 0.0, 4)
        own = numbers.permutation(15 * frame.height).reshape(15, -1)  # numbers that are in one row only
        many = {f"n{at}": column % 5 if at % 3 else column for at, column in enumerate(own)}
        frame = frame.with_columns(**many)
        schema = sd.Schema.from_roles(**ROLES, other=["language", *many])
        refuse_ties(frame, schema, [KAnonymity(3)], frame.select("home", "age"))


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


def couples(numbers: np.random.Generator, count: int) -> pl.DataFrame:
    """Make couples who say, each in a column of its own, what the other one earns, how old it is, and what share of the work is theirs."""
    rows = []
    for home in range(count):
        age, income = numbers.integers(20, 80, 2), numbers.integers(10_000, 90_000, 2)
        share = round(numbers.random(), 6)
        place = numbers.random(2)
        for me in (0, 1):
            near = place + numbers.normal(0, 0.004, 2)
            own = (int(age[me]), int(income[me]), int(income[1 - me]), int(age[1 - me]), abs(me - share))
            rows.append((home, *own, *near.tolist(), "abc"[numbers.integers(3)]))
    names = ["home", "age", "income", "its_income", "its_age", "share", "lat", "lon", "ill"]
    return pl.DataFrame(rows, schema=names, orient="row")


def far_apart(one: dict[str, float], other: dict[str, float]) -> float:
    return math.hypot(one["lat"] - other["lat"], one["lon"] - other["lon"]) + (one is other)


def tied(kind: str, one: dict[str, float], other: dict[str, float], ages: tuple[int, int]) -> bool:
    """Say whether two rows of the output fit together, if the partners of both are of these ages."""
    if kind == "incomes":
        return one["income"] == other["its_income"] and other["income"] == one["its_income"]
    if kind == "ages":
        return (one["its_age"], other["its_age"]) == ages
    return round(one["share"] + other["share"], 6) == 1


def pairs_read(rows: pl.DataFrame, known: pl.DataFrame, kind: str) -> float:
    """Find couples in the output by what ties a pair of its rows, as somebody would who knows both ages; say how often that is right."""
    told: list[float] = []
    cells = {age: own.rows(named=True) for (age,), own in rows.group_by("age")}
    block = dict(zip(known["row"], rows.sort("row")["age"], strict=True))
    for (home,), two in known.group_by("home"):
        one, other = two.rows(named=True)
        pairs = itertools.product(cells[block[one["row"]]], cells[block[other["row"]]])
        if kind == "near":
            both = [
                min(
                    pairs,
                    key=lambda two: (
                        math.hypot(two[0]["lat"] - two[1]["lat"], two[0]["lon"] - two[1]["lon"])
                        + (two[0] is two[1])
                    ),
                )
            ]
        else:
            ages = other["age"], one["age"]
            both = [(a, b) for a, b in pairs if a is not b and tied(kind, a, b, ages)]
        told += [sum({a["home"], b["home"]} == {home} for a, b in both) / len(both)] if both else []
    return sum(told) / max(len(told), 1)


@pytest.mark.parametrize(
    ("kind", "names"),
    [
        ("incomes", ["income", "its_income"]),
        ("ages", ["its_age"]),
        ("shares", ["share"]),
        ("near", ["lat", "lon"]),
    ],
)
def test_what_ties_rows_across_columns_is_refused(
    kind: str, names: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ties, "_neighbours", lambda *_: 0)  # which sees some that are near by one column
    numbers = np.random.default_rng(5)
    people = couples(numbers, 250).with_row_index("row")
    published = people.with_columns(age=pl.col("age") // 2 * 2)
    schema = sd.Schema.from_roles(household="home", quasi=["age"], sensitive=["ill"], other=names)
    rows, known = published.select("home", "age", "ill", *names), people.select("home", "age")
    asked = [KAnonymity(3)]
    assert pairs_read(published, people, kind) > 0.6
    with pytest.raises(sd.RequirementError, match="guesses which rows are theirs"):
        refuse_ties(rows, schema, asked, known)
    # The same values, dealt to others.
    dealt = published.with_columns(published.select(names).sample(fraction=1, shuffle=True, seed=6))
    assert pairs_read(dealt, people, kind) < 1 / 3
    refuse_ties(dealt.select("home", "age", "ill", *names), schema, asked, known)


def test_a_release_that_tells_the_age_of_partners_is_refused() -> None:
    people = couples(np.random.default_rng(7), 200).select("home", "age", "its_age", "ill")
    schema = sd.Schema.from_roles(household="home", quasi=["age"], sensitive=["ill"], other=["its_age"])
    with pytest.raises(sd.RequirementError, match="agree in 'its_age' so often"):
        sd.generalize(sd.read(people, schema), sd.KAnonymity(3))


def test_pairs_that_are_unlike_are_counted_by_how_far_they_are_apart() -> None:
    numbers = np.random.default_rng(3)
    places = numbers.integers(0, 40, 60)
    apart = [abs(one - other) for one, other in itertools.combinations(places.tolist(), 2) if one != other]
    shares = [sum(2**at - 1 <= far <= 2 ** (at + 1) - 2 for far in apart) / len(apart) for at in range(6)]
    assert _unlike_apart(places) == pytest.approx(shares)


def test_guesses_are_as_sure_as_they_say() -> None:
    """Who takes the model's word for how sure a guess is, is right about as often: nothing else is refused by it."""
    frames = [homes(np.random.default_rng(seed), 300, 0.8, 12) for seed in range(2)]
    sure = list(itertools.chain.from_iterable(_guesses(frame) for frame in frames))
    for low, high in ((0.3, 0.5), (0.5, 0.75), (0.75, 1.0)):
        some = [right for confidence, right in sure if low < confidence <= high]
        assert len(some) > 20
        assert low - 0.2 < np.mean(some) < high + 0.15


def _guesses(frame: pl.DataFrame) -> list[tuple[float, bool]]:
    unit, block = (codes_of(frame, [name]) for name in ("home", "age"))
    found = Linkage(unit, block, frame.select("language")).guesses()
    return list(zip(found.confidence.tolist(), found.right.tolist(), strict=True))
