"""MDAV beside a slow twin that looks at single records, and what its groups must have."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sudare as sd
from sudare.generalization.mdav import Space, mdav

POINTS = st.lists(st.tuples(st.integers(0, 300), st.integers(0, 300)), min_size=6, max_size=40, unique=True)


def plain_mdav(points: list[tuple[float, float]], k: int) -> list[int]:
    """Follow the paper's steps record by record; of equally far ones the first."""
    left, group_of, groups = list(range(len(points))), [-1] * len(points), 0

    def apart(a: Any, b: Any) -> float:
        return float((a[0] - b[0]) ** 2 + (a[1] - b[1]) ** 2)

    def middle() -> tuple[float, float]:
        return tuple(float(np.mean([points[i][a] for i in left])) for a in (0, 1))  # type: ignore[return-value]

    def take(r: int) -> None:
        nonlocal groups
        for i in sorted(left, key=lambda i: apart(points[i], points[r]))[:k]:
            group_of[i] = groups
            left.remove(i)
        groups += 1

    while len(left) >= 3 * k:
        r = max(left, key=lambda i: apart(points[i], middle()))
        s = max(left, key=lambda i: apart(points[i], points[r]))
        take(r)
        if s in left:
            take(s)
    if len(left) >= 2 * k:
        take(max(left, key=lambda i: apart(points[i], middle())))
    for i in left:
        group_of[i] = groups
    return group_of


def space_of(points: list[tuple[int, int]]) -> Space:
    own = np.array(points, dtype=np.float64)
    return Space(own, np.empty((len(own), 0), dtype=np.int32), [], np.empty(0))


@settings(max_examples=150)
@given(POINTS, st.integers(2, 5))
def test_groups_are_those_of_the_slow_twin(points: list[tuple[int, int]], k: int) -> None:
    found = mdav(space_of(points), np.ones(len(points), dtype=np.int64), k)
    assert found.tolist() == plain_mdav(points, k)  # type: ignore[arg-type]
    sizes = np.bincount(found)
    assert k <= sizes.min() or len(sizes) == 1
    assert sizes.max() < 2 * k or len(points) < 2 * k


@settings(max_examples=100)
@given(st.lists(st.tuples(st.integers(0, 9), st.integers(1, 6)), min_size=1, max_size=15), st.integers(2, 6))
def test_equal_records_stay_together_and_groups_have_k(tuples: list[tuple[int, int]], k: int) -> None:
    points = [(at, at % 7) for at, _ in enumerate(tuples)]
    weights = np.array([weight for _, weight in tuples], dtype=np.int64)
    found = mdav(space_of(points), weights, k)
    records = np.bincount(found, weights)
    assert found.min() == 0
    assert (records >= k).all() or len(records) == 1


def people(rows: int = 300) -> pl.DataFrame:
    rng = np.random.default_rng(4)
    income = pl.Series("income", rng.lognormal(10, 1, rows).round(0))
    frame = pl.DataFrame({"age": rng.integers(18, 90, rows), "sex": rng.choice(["f", "m"], rows)})
    return frame.with_columns(
        income=pl.select(
            pl.when(pl.Series(rng.random(rows)) < 0.03).then(None).otherwise(income)
        ).to_series(),
        ill=pl.Series(rng.choice(["a", "b", "c"], rows, p=[0.8, 0.1, 0.1])),
    )


def schema(**more: Any) -> sd.Schema:
    return sd.Schema.from_roles(
        quasi=["age", "sex", "income"], sensitive=["ill"],
        hierarchies={"age": sd.Hierarchy.intervals(range(121), width=5)}, **more,
    )  # fmt: skip


@pytest.mark.parametrize(
    "asked", [[sd.KAnonymity(5)], [sd.KAnonymity(3), sd.LDiversity(2)], [sd.TCloseness(0.5)]]
)
def test_what_was_asked_for_holds(asked: Any) -> None:
    frame = sd.generalize(sd.read(people(), schema()), asked, "mdav").frame()
    assert sd.verify(frame, asked, schema()).holds


def test_what_is_left_out_of_account_does_not_count() -> None:
    """Of a weight of 0 an attribute does not part anybody: groups are then those of ages alone."""
    frame = people().with_columns(sex=pl.lit("f")).drop_nulls()
    own = schema(weights={"income": 0.0, "sex": 0.0})
    out = sd.generalize(sd.read(frame, own), sd.KAnonymity(10), "mdav")
    located = out.plan.locate(sd.read(frame, own)).at_once("a test")
    ages = located.table["age"].values.gather(located.counts.column("age")).to_numpy()
    spans = [np.ptp(ages[located.block_of == block]) for block in range(int(located.block_of.max()) + 1)]
    assert max(spans) < 20


def test_groups_are_close_together() -> None:
    """Within groups of five in a plane, two in a hundred of the variance are left or fewer; in random groups it is most of it."""
    rng = np.random.default_rng(7)
    points = rng.normal(size=(1_000, 2))
    space = Space(points, np.empty((1_000, 0), dtype=np.int32), [], np.empty(0))

    def within(group_of: Any) -> float:
        means = np.stack([np.bincount(group_of, points[:, a]) for a in (0, 1)], axis=1)
        means /= np.bincount(group_of)[:, np.newaxis]
        return float(((points - means[group_of]) ** 2).sum() / ((points - points.mean(axis=0)) ** 2).sum())

    assert within(mdav(space, np.ones(1_000, dtype=np.int64), 5)) < 0.02
    assert within(rng.permutation(1_000) // 5) > 0.7
