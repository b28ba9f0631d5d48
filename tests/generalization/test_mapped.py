"""k-map as a requirement: whoever is published could be any of k people of a population, counted by hand here."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sudare as sd
from sudare.privacy.requirement import BlockRequirement

ROWS = st.lists(st.tuples(st.integers(0, 19), st.sampled_from(["f", "m"])), min_size=3, max_size=30)
SCHEMA = sd.Schema.from_roles(
    quasi=["age", "sex"],
    sensitive=["ill"],
    hierarchies={"age": sd.Hierarchy.intervals(range(20), width=5), "sex": sd.Hierarchy.suppress(["f", "m"])},
)


def frame_of(rows: list[tuple[int, str]]) -> pl.DataFrame:
    return pl.DataFrame(rows, schema=["age", "sex"], orient="row").with_columns(
        ill=pl.Series(["a", "b", "c"] * len(rows))[: len(rows)]
    )


def covers(label: Any, value: Any) -> bool:
    """Tell whether a label stands for a value."""
    if label == "*" or str(label) == str(value):
        return True
    if not str(label).startswith("["):
        return False
    low, high = map(int, str(label).strip("[)").split(", "))
    return low <= value < high


def fewest(published: pl.DataFrame, people: pl.DataFrame) -> int:
    """Return how few people the labels of a record cover."""
    everybody = people.select("age", "sex").rows()
    return min(
        sum(covers(age, a) and covers(sex, s) for a, s in everybody)
        for age, sex in published.select("age", "sex").unique().rows()
    )


@settings(max_examples=80)
@given(ROWS, ROWS, st.integers(2, 8), st.sampled_from(["minimal", "mondrian", "full-domain"]))
def test_labels_cover_k_people(
    rows: list[tuple[int, str]], others: list[tuple[int, str]], k: int, method: str
) -> None:
    """The population may lack people of the table, and have values that nobody of it has."""
    sample, people = frame_of(rows), frame_of([*rows[: len(rows) // 2], *others])
    table, asked = sd.read(sample, SCHEMA), sd.KMap(k, population=people)
    if k > people.height:
        with pytest.raises(sd.RequirementError, match="there are only"):
            sd.generalize(table, asked, method)
        return
    try:
        release = sd.generalize(table, asked, method)
    except sd.RequirementError:  # not even what all have in common is had by so many people
        one_block = sd.generalize(table, sd.KAnonymity(sample.height), "mondrian")
        assert fewest(one_block.frame(), people) < k
        return
    assert fewest(release.frame(), people) >= k
    assert release.certificate.measured == {"k_map": k}
    assert release.verification.measured["k_map"] == fewest(release.frame(), people)


def population(size: int = 6_000) -> pl.DataFrame:
    rng = np.random.default_rng(1)
    return pl.DataFrame({"age": rng.integers(0, 20, size), "sex": rng.choice(["f", "m"], size, p=[0.9, 0.1])})


def test_it_costs_less_than_k_anonymity_and_keeps_what_else_is_asked() -> None:
    people = population()
    table = sd.read(people.sample(150, seed=1).with_columns(ill=pl.Series(["a", "b", "c"] * 50)), SCHEMA)
    mapped = sd.generalize(table, [sd.KMap(40, population=people), sd.LDiversity(2)])
    assert fewest(mapped.frame(), people) >= 40
    assert mapped.frame().group_by("age", "sex").agg(pl.n_unique("ill"))["ill"].min() >= 2  # type: ignore[operator]
    anonymous = sd.generalize(table, [sd.KAnonymity(40), sd.LDiversity(2)])
    assert mapped.holder["utility"]["distortion"] < anonymous.holder["utility"]["distortion"]


@pytest.mark.parametrize("method", ["mondrian", "full-domain", "mdav", "minimal"])
@pytest.mark.parametrize("other", [sd.LDiversity(2), sd.TCloseness(0.5), sd.KAnonymity(3)], ids=str)
def test_every_method_keeps_what_else_is_asked(method: str, other: BlockRequirement) -> None:
    people = population()
    table = sd.read(people.sample(150, seed=1).with_columns(ill=pl.Series(["a", "b", "c"] * 50)), SCHEMA)
    released = sd.generalize(table, [sd.KMap(40, population=people), other], method=method)
    assert fewest(released.frame(), people) >= 40
    assert sd.verify(released.frame(), other, SCHEMA).holds


@settings(max_examples=80)
@given(ROWS, ROWS, st.integers(2, 8), st.integers(0, 2), st.integers(0, 1))
def test_levels_that_are_given_are_published_or_refused(
    rows: list[tuple[int, str]], others: list[tuple[int, str]], k: int, age: int, sex: int
) -> None:
    """No block is joined with another, which would have other levels than were asked for."""
    people = frame_of([*rows, *others])
    k = min(k, people.height)
    table, levels = sd.read(frame_of(rows), SCHEMA), {"age": age, "sex": sex}
    there = sd.generalize(table, sd.KAnonymity(1), "full-domain", levels=levels)
    if fewest(there.frame(), people) < k:
        with pytest.raises(sd.RequirementError, match=f"At these levels .* {k}-map"):
            sd.generalize(table, sd.KMap(k, population=people), "full-domain", levels=levels)
        return
    given_ = sd.generalize(table, sd.KMap(k, population=people), "full-domain", levels=levels)
    assert given_.frame().equals(there.frame())


def test_values_that_nobody_of_the_population_has_are_covered_by_wider_labels() -> None:
    people = frame_of([(1, "f")] * 5 + [(2, "f")] * 5)
    release = sd.generalize(sd.read(frame_of([(3, "f"), (17, "m")]), SCHEMA), sd.KMap(10, population=people))
    assert fewest(release.frame(), people) == 10


def test_a_register_has_no_weights() -> None:
    rng = np.random.default_rng(2)
    own = sd.Schema.from_roles(quasi=["age"], weight=["w"], hierarchies={"age": SCHEMA["age"].hierarchy})  # type: ignore[dict-item]
    sample = pl.DataFrame({"age": rng.integers(0, 20, 60), "w": rng.uniform(5, 50, 60).round(1)})
    people = population(100).drop("sex")
    release = sd.generalize(sd.read(sample, own), sd.KMap(15, population=people))
    with_sex = release.frame().with_columns(sex=pl.lit("*"))
    assert fewest(with_sex, people.with_columns(sex=pl.lit("f"))) >= 15


def test_what_is_written_is_counted_again_by_who_has_the_population(tmp_path: Path) -> None:
    people = population()
    table = sd.read(people.sample(150, seed=1).with_columns(ill=pl.lit("a")), SCHEMA)
    release = sd.generalize(table, sd.KMap(40, population=people))
    release.write(tmp_path / "out")
    believed = sd.verify(tmp_path / "out")
    assert believed.holds
    assert "give the population" in believed.findings[0].note
    assert sd.verify(tmp_path / "out", sd.KMap(40, population=people), SCHEMA).findings[0].note == ""
    assert not sd.verify(tmp_path / "out", sd.KMap(40, population=people[:500]), SCHEMA).holds
    assert sd.evidence(tmp_path / "out", by="A. Holder")
    promised = json.loads((tmp_path / "out/hand-over/certificate.json").read_text())["promises"]
    assert promised == [{"requirement": "KMap", "k": 40}]
    assert "who does not know whether somebody is in the table" in " ".join(release.certificate.caveats)


def test_a_plan_is_counted_in_a_population_again(tmp_path: Path) -> None:
    people = population()
    table = sd.read(people.sample(150, seed=1).with_columns(ill=pl.lit("a")), SCHEMA)
    release = sd.generalize(table, sd.KMap(40, population=people))
    release.plan.save(tmp_path / "plan")
    plan = sd.Plan.open(tmp_path / "plan")
    with pytest.raises(sd.InputError, match="Give one: population="):
        sd.apply(plan, table)
    assert sd.apply(plan, table, population=people).frame().equals(release.frame())
    with pytest.raises(sd.RequirementError, match="does not have 40-map"):
        sd.apply(plan, table, population=people[:500])
    other = sd.generalize(table, sd.KAnonymity(3)).plan
    with pytest.raises(sd.ParameterError, match="only where the plan was asked for k-map"):
        sd.apply(other, table, population=people)


def test_a_promise_that_names_a_population_is_refused(tmp_path: Path) -> None:
    """A certificate that named a file would have it read by whoever verifies."""
    from sudare.privacy.promises import promise_from_json

    with pytest.raises(sd.InputError, match="has other parameters"):
        promise_from_json({"requirement": "KMap", "k": 5, "population": str(tmp_path / "secret.csv")})


def test_what_cannot_be_counted_is_refused() -> None:
    table = sd.read(frame_of([(1, "f"), (2, "m")]), SCHEMA)
    with pytest.raises(sd.InputError, match="none was given"):
        sd.generalize(table, sd.KMap(2))
    with pytest.raises(sd.InputError, match="has no column 'sex'"):
        sd.generalize(table, sd.KMap(2, population=pl.DataFrame({"age": [1, 2]})))
    with pytest.raises(sd.ParameterError, match="give one KMap"):
        sd.generalize(table, [sd.KMap(2), sd.KMap(3)])
    people = frame_of([(1, "f"), (1, "f"), (2, "m"), (2, "m")]).with_columns(pid=pl.Series([1, 1, 2, 2]))
    own = sd.Schema(attributes={**SCHEMA.attributes, "pid": sd.Attribute(role="person")})
    with pytest.raises(sd.InputError, match="Ask for k-anonymity"):
        sd.generalize(sd.read(people, own), sd.KMap(2, population=people))
