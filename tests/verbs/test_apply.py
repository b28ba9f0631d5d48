"""The verb `apply`: what it takes, what it refuses, and what it says."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

import sudare as sd

FRAME = pl.DataFrame({"age": [20, 21, 22, 23, 40, 41, 42, 43], "sex": ["f", "m"] * 4, "ill": ["a", "b"] * 4})
SCHEMA = sd.Schema.from_roles(quasi=["age", "sex"], sensitive=["ill"])


def table(frame: pl.DataFrame = FRAME, schema: sd.Schema = SCHEMA) -> sd.Table:
    return sd.read(frame, schema)


def plan(method: str = "minimal") -> sd.Plan:
    return sd.generalize(table(), sd.KAnonymity(4), method=method).plan


def views() -> sd.Plan:
    return sd.generalize_views(table(), {"ages": ["age"], "sexes": ["sex"]}, sd.MultiViewDiversity(2)).plan


@pytest.mark.parametrize("wrong", [None, "plan", {}, FRAME])
def test_what_is_no_plan_is_refused_at_once(wrong: Any) -> None:
    with pytest.raises(sd.ParameterError, match="apply needs a plan"):
        sd.apply(wrong, table())


@pytest.mark.parametrize("wrong", [None, FRAME, "people.csv"])
def test_what_is_no_table_is_refused_at_once(wrong: Any) -> None:
    with pytest.raises(sd.SudareError, match="apply"):
        sd.apply(plan(), wrong)


@pytest.mark.parametrize("wrong", ["ignore", None, True, ""])
def test_what_becomes_of_the_unseen_is_one_of_two(wrong: Any) -> None:
    with pytest.raises(sd.ParameterError, match="'unseen' parameter of apply"):
        sd.apply(plan(), table(), unseen=wrong)


@pytest.mark.parametrize("made", [plan, views])
def test_unseen_records_are_named(made: Any) -> None:
    more = pl.concat([FRAME, pl.DataFrame({"age": [90, None], "sex": ["x", "f"], "ill": ["a", "b"]})])
    with pytest.raises(
        sd.InputError, match=r"does not cover 2 of 10 records; the first has age .*unseen=\"suppress\""
    ):
        sd.apply(made(), table(more))
    left = sd.apply(made(), table(more), unseen="suppress")
    assert {frame.height for frame in left.frames().values()} == {8}
    assert left.holder["records"] == {"read": 10, "published": 8, "suppressed": 2}
    assert left.certificate.records == {"published": 8}


@pytest.mark.parametrize("unseen", ["refuse", "suppress"])
def test_a_table_of_which_nothing_is_covered_is_refused(unseen: Any) -> None:
    others = FRAME.with_columns(age=pl.col("age") + 1000)
    with pytest.raises(
        sd.InputError,
        match=r"covers none of its records.* Of 'age' the plan has seen none of these values\. A column that",
    ):
        sd.apply(plan(), table(others), unseen=unseen)


def test_where_most_are_not_covered_it_says_which_plans_cover_others() -> None:
    others = pl.concat([FRAME.head(1), FRAME.with_columns(age=pl.col("age") + 1000)])
    with pytest.raises(sd.InputError, match=r"records; the first has .* one of 'mondrian' also others\.\)$"):
        sd.apply(plan(), table(others))
    with pytest.raises(sd.InputError, match=r"learn a plan from these records\.$"):
        sd.apply(plan(), table(pl.concat([FRAME, others.tail(1)])))


def test_mondrian_has_a_block_for_unseen_tuples() -> None:
    swapped = FRAME.with_columns(sex=pl.col("sex").reverse())  # every value was seen, no tuple was
    assert sd.apply(plan("mondrian"), table(swapped)).certificate.measured["k"] >= 4
    with pytest.raises(sd.InputError, match="covers none"):
        sd.apply(plan("minimal"), table(swapped))


def test_levels_cover_what_becomes_one_of_the_published_groups() -> None:
    ages = sd.Hierarchy.intervals(range(100), width=10)
    schema = sd.Schema.from_roles(quasi=["age", "sex"], sensitive=["ill"], hierarchies={"age": ages})
    learned = sd.generalize(table(schema=schema), sd.KAnonymity(2), method="full-domain").plan
    swapped = FRAME.with_columns(sex=pl.col("sex").reverse())  # every value was seen, no tuple was
    again = sd.apply(learned, table(swapped, schema))
    assert set(again.frame()["age"]) == {"[20, 30)", "[40, 50)"}
    fresh = pl.DataFrame({"age": [29, 41, 35], "sex": ["f", "m", "f"], "ill": ["a", "b", "a"]})
    with pytest.raises(sd.InputError, match="does not cover 1 of 11 records; the first has age 35"):
        sd.apply(learned, table(pl.concat([FRAME, fresh]), schema))
    left = sd.apply(learned, table(pl.concat([FRAME, fresh]), schema), unseen="suppress")
    assert left.holder["records"] == {"read": 11, "published": 10, "suppressed": 1}
    with pytest.raises(sd.RequirementError, match="do not suit these records"):
        sd.apply(learned, table(FRAME.head(3), schema))


def test_a_broken_requirement_is_refused() -> None:
    with pytest.raises(sd.RequirementError):
        sd.apply(plan(), table(FRAME.head(3)))


def test_the_quasi_attributes_are_those_of_the_plan() -> None:
    for roles in ({"quasi": ["age"], "other": ["sex"]}, {"quasi": ["age"], "identifier": ["sex"]}):
        other = sd.Schema.from_roles(sensitive=["ill"], **roles)
        with pytest.raises(sd.InputError, match="quasi"):
            sd.apply(plan(), table(schema=other))
        with pytest.raises(sd.InputError, match="does not call quasi"):
            sd.apply(views(), table(schema=other))


def test_labels_are_true_by_the_schema_of_the_table() -> None:
    """A hierarchy that the schema does not have any more is not believed from the plan."""
    frame = pl.DataFrame({"n": [1, 3, 5, 7], "ill": ["a", "b", "a", "b"]})
    parity = sd.Hierarchy.groups({n: "odd" if n % 2 else "even" for n in range(9)})
    declared = sd.Schema.from_roles(quasi=["n"], sensitive=["ill"], hierarchies={"n": parity})
    learned = sd.generalize(table(frame, declared), sd.KAnonymity(4), method="mondrian").plan
    assert sd.apply(learned, table(frame, declared)).frame()["n"].unique().to_list() == ["odd"]
    more = pl.concat([frame, pl.DataFrame({"n": [2], "ill": ["a"]})])
    with pytest.raises(sd.InputError, match="does not cover 1 of 5"):
        sd.apply(learned, table(more, declared))
    with pytest.raises(sd.InputError, match="not true by the schema"):
        sd.apply(learned, table(more, sd.Schema.from_roles(quasi=["n"], sensitive=["ill"])))


def test_labels_of_other_peoples_values_are_said_to_be_so() -> None:
    schema = sd.Schema.from_roles(quasi=["age"], sensitive=["ill"])
    ages = [20, 21, 22, 23, 24, 25, 26, 97]
    first = pl.DataFrame({"age": ages, "ill": list("xyxyxyxy")})
    second = pl.DataFrame({"age": [*ages[:-1], 26] * 5, "ill": list("xyxyxyxy") * 5})
    plan = sd.generalize(sd.read(first, schema), sd.KAnonymity(4)).plan
    assert any(
        "other records" in text for text in sd.apply(plan, sd.read(second, schema)).certificate.caveats
    )
    declared = sd.Schema.from_roles(
        quasi=["age"], sensitive=["ill"], hierarchies={"age": sd.Hierarchy.intervals(range(100), width=10)}
    )
    plan = sd.generalize(sd.read(first, declared), sd.KAnonymity(4)).plan
    again = sd.apply(plan, sd.read(first, declared))
    assert not any("other records" in text for text in again.certificate.caveats)
