"""Weights: what is published of them, and what is checked."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest

import sudare as sd
from sudare.tables.recipes import DigitsRecipe

ROUNDED = DigitsRecipe(kind="digits", root=50)


def sample(rows: int, seed: int = 1) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    region = rng.integers(0, 4, rows)
    weight = (20 + 20 * region) * rng.uniform(0.9, 1.1, rows)
    frame = pl.DataFrame({"age": rng.integers(20, 60, rows), "region": region, "w": weight.round(2)})
    return frame.with_columns(ill=pl.Series(rng.choice(["flu", "cold"], rows)))


def schema(**more: Any) -> sd.Schema:
    return sd.Schema.from_roles(quasi=["age", "region"], weight=["w"], sensitive=["ill"], **more)


def published(release: sd.Release) -> pl.DataFrame:
    return release.frame()


@pytest.mark.parametrize("method", ["minimal", "mondrian", "full-domain"])
def test_a_published_weight_stays_a_number(method: str) -> None:
    table = sd.read(sample(300), schema(hierarchies={"w": ROUNDED}))
    release = sd.generalize(table, sd.KAnonymity(5), method)
    frame = published(release)
    weights = frame["w"].cast(pl.Float64)  # refuses what is none
    assert abs(weights.sum() / table.frame()["w"].sum() - 1) < 0.15
    assert frame.group_by("age", "region", "w").len()["len"].min() >= 5  # type: ignore[operator]
    assert sd.verify(frame, sd.KAnonymity(5), table.schema).holds


def test_a_weight_without_a_hierarchy_has_fewer_digits_or_is_not_told() -> None:
    frame = published(sd.generalize(sd.read(sample(300), schema()), sd.KAnonymity(5)))
    told = frame["w"].filter(frame["w"] != "*").cast(pl.Float64)
    assert len(told) > 100


def test_a_weight_that_nobody_knows_is_passed_on() -> None:
    table = sd.read(sample(300), schema(known={"w": False}))
    frame = published(sd.generalize(table, sd.KAnonymity(5)))
    assert sorted(frame["w"].to_list()) == sorted(table.frame()["w"].to_list())


@pytest.mark.parametrize("recipe", [ROUNDED, None])
def test_labels_of_weights_are_true_of_other_people(recipe: DigitsRecipe | None) -> None:
    """What a number is rounded to depends on no other: a plan fits newer rows, and people can be looked up."""
    declared = schema(hierarchies={"w": recipe} if recipe else {})
    release = sd.generalize(sd.read(sample(400), declared), sd.KAnonymity(5), "mondrian")
    newer = sd.read(sample(4000, seed=2), declared)
    applied = sd.apply(release.plan, newer, unseen="suppress")
    assert applied.certificate.records["published"] > 400
    some = sample(400).head(40)  # who are in the release
    looked_up = sd.attack({"data": published(release)}, declared, kind="intersection", known=some)
    assert looked_up.unmatched == 0
