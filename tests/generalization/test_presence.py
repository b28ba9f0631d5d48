"""delta-presence, learned: counted by hand among the people of the population."""

from __future__ import annotations

import json
import re
from collections import Counter
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sudare as sd
from sudare.privacy.requirement import BlockRequirement
from tests.generalization.test_mapped import ROWS, SCHEMA, covers, frame_of, population

METHODS = ["minimal", "mondrian", "full-domain", "mdav", "blind"]


def chances(published: pl.DataFrame, people: pl.DataFrame) -> tuple[Fraction | float, Fraction]:
    """The largest and the least chance of anybody; infinite where labels cover nobody."""
    own = Counter(published.select("age", "sex").rows())
    everybody = people.select("age", "sex").rows()
    by = {
        person: frozenset(
            label for label in own if covers(label[0], person[0]) and covers(label[1], person[1])
        )
        for person in set(everybody)
    }
    alike = Counter(by[person] for person in everybody)
    reached = Counter(label for person in everybody for label in by[person])
    if any(not reached[label] for label in own):
        return float("inf"), Fraction()
    most = max(Fraction(sum(own[label] for label in labels), n) for labels, n in alike.items())
    least = min(
        Fraction(sum(own[label] for label in labels if reached[label] == n), n) for labels, n in alike.items()
    )
    return most, least


@settings(max_examples=80, deadline=None)
@given(
    ROWS,
    ROWS,
    st.sampled_from([(0.2, 0), (0.4, 0), (0.6, 0.1), (0.7, 0.4), (1, 0.2)]),
    st.sampled_from(METHODS),
    st.booleans(),
)
def test_chances_lie_where_they_were_asked_to(
    rows: list[tuple[int, str]],
    others: list[tuple[int, str]],
    ends: tuple[float, float],
    method: str,
    complete: bool,
) -> None:
    """The population may lack people of the table, which is no register of everybody then."""
    people = frame_of([*rows[: None if complete else len(rows) // 2], *others])
    asked = sd.DeltaPresence(*ends, population=people)
    try:
        release = sd.generalize(sd.read(frame_of(rows), SCHEMA), asked, method)
    except sd.RequirementError as error:
        mean = Fraction(len(rows), people.height)
        if "is impossible" in str(error):
            assert mean > Fraction(str(ends[0])) or mean < Fraction(str(ends[1]))
        return
    most, least = chances(release.frame(), people)
    assert most <= Fraction(str(ends[0]))
    assert least >= Fraction(str(ends[1]))
    assert release.frame().height == len(rows)
    assert release.certificate.measured == {"presence": ends[0]}
    assert release.verification.measured["presence"] == pytest.approx(float(most))


@settings(max_examples=150, deadline=None)
@given(ROWS, ROWS, st.sampled_from([1, 4, 5, 10, 20]), st.sampled_from([(0.5, 0), (0.5, 0.2), (1, 0.5)]))
def test_the_recount_says_what_the_definition_says(
    rows: list[tuple[int, str]], others: list[tuple[int, str]], width: int, ends: tuple[float, float]
) -> None:
    """Of any output, most of them broken."""
    people = frame_of([*rows, *others])
    low = pl.col("age") // width * width
    label = pl.format("[{}, {})", low, low + width) if width > 1 else pl.col("age").cast(pl.String)
    output = frame_of(rows).with_columns(label.alias("age"))
    most, least = chances(output, people)
    holds = most <= Fraction(str(ends[0])) and least >= Fraction(str(ends[1]))
    assert sd.verify(output, sd.DeltaPresence(*ends, population=people), SCHEMA).holds == holds


def drawn(people: pl.DataFrame, n: int = 150) -> sd.Table:
    ill = pl.Series(["a", "b", "c"] * n)[:n]
    return sd.read(people.sample(n, seed=1).with_columns(ill=ill), SCHEMA)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(
    "other", [sd.LDiversity(2), sd.TCloseness(0.5), sd.KAnonymity(3), sd.BetaLikeness(2)], ids=str
)
def test_every_method_keeps_what_else_is_asked(method: str, other: BlockRequirement) -> None:
    people = population(400)
    released = sd.generalize(
        drawn(people, 60), [sd.DeltaPresence(0.4, population=people), other], method=method
    )
    assert chances(released.frame(), people)[0] <= 0.4
    assert sd.verify(released.frame(), other, SCHEMA).holds


@pytest.mark.parametrize("levels", [(0, 0), (0, 1), (1, 0), (1, 1), (2, 1)])
@pytest.mark.parametrize("most", [0.2, 0.4, 0.9])
def test_levels_that_are_given_are_published_or_refused(levels: tuple[int, int], most: float) -> None:
    people = population(400)
    table, asked = drawn(people, 60), dict(zip(("age", "sex"), levels, strict=True))
    presence = sd.DeltaPresence(most, population=people)
    there = sd.generalize(table, sd.KAnonymity(1), "full-domain", levels=asked).frame()
    if chances(there, people)[0] <= most:
        assert sd.generalize(table, presence, "full-domain", levels=asked).frame().equals(there)
        return
    with pytest.raises(sd.RequirementError, match="At these levels"):
        sd.generalize(table, presence, "full-domain", levels=asked)


def test_at_levels_that_are_given_some_may_be_left_out() -> None:
    people, levels = population(400), {"age": 1, "sex": 0}
    table, presence = drawn(people, 60), sd.DeltaPresence(0.2, population=people)
    with pytest.raises(sd.RequirementError, match="At these levels"):
        sd.generalize(table, presence, "full-domain", levels=levels)
    method = sd.methods.FullDomain(0.2, levels=levels)
    found = sd.generalize(table, presence, method).frame()
    assert 48 <= found.height < 60
    assert chances(found, people)[0] <= 0.2
    there = sd.generalize(table, sd.KAnonymity(1), "full-domain", levels=levels).frame()
    assert set(found.select("age", "sex").rows()) < set(there.select("age", "sex").rows())


def test_a_population_that_is_large_enough_costs_little() -> None:
    """And `minimal`, whose labels overlap wherever that costs least, takes codings whose labels do not."""
    people = population()
    found = sd.generalize(drawn(people), sd.DeltaPresence(0.2, population=people))
    taken = found.certificate.method
    assert taken in ("full-domain", "mondrian")
    assert found.holder["method"]["text"] == f"minimal gave way to {taken}, whose labels hardly overlap."
    cruder = sd.generalize(drawn(people), sd.DeltaPresence(0.04, population=people))
    assert found.holder["utility"]["distortion"] < cruder.holder["utility"]["distortion"] < 1
    assert chances(cruder.frame(), people)[0] <= 0.04


def test_what_is_written_is_counted_again_by_who_has_the_population(tmp_path: Path) -> None:
    people = population()
    release = sd.generalize(drawn(people), sd.DeltaPresence(0.3, population=people))
    release.write(tmp_path / "out")
    believed = sd.verify(tmp_path / "out")
    assert believed.holds
    assert "it is counted: DeltaPresence(" in believed.findings[0].note
    assert (
        sd.verify(tmp_path / "out", sd.DeltaPresence(0.3, population=people), SCHEMA).findings[0].note == ""
    )
    assert not sd.verify(tmp_path / "out", sd.DeltaPresence(0.3, population=people[:300]), SCHEMA).holds
    handed_over = (tmp_path / "out/hand-over/certificate.json").read_text()
    promised = json.loads(handed_over)["promises"]
    assert promised == [{"requirement": "DeltaPresence", "d_max": 0.3, "d_min": 0.0}]
    assert "6000" not in handed_over
    assert "believes of anybody in it" in " ".join(release.certificate.caveats)


def test_a_plan_is_counted_in_a_population_again(tmp_path: Path) -> None:
    people = population()
    table = drawn(people)
    release = sd.generalize(table, sd.DeltaPresence(0.3, population=people))
    release.plan.save(tmp_path / "plan")
    plan = sd.Plan.open(tmp_path / "plan")
    with pytest.raises(sd.InputError, match="Give one: population="):
        sd.apply(plan, table)
    assert sd.apply(plan, table, population=people).frame().equals(release.frame())
    with pytest.raises(sd.RequirementError, match=r"does not have \(0, 0.3\)-presence"):
        sd.apply(plan, table, population=people[:300])


@pytest.mark.parametrize(
    ("ends", "said"), [((0.3, 0), "is impossible: 60 records are of 120"), ((1, 0.6), "is impossible")]
)
def test_what_no_labels_can_have_is_refused(ends: tuple[float, float], said: str) -> None:
    people = population(120)
    with pytest.raises(sd.RequirementError, match=said):
        sd.generalize(drawn(people, 60), sd.DeltaPresence(*ends, population=people))


def test_what_cannot_be_counted_is_refused() -> None:
    table = sd.read(frame_of([(1, "f"), (2, "m")]), SCHEMA)
    with pytest.raises(sd.InputError, match="none was given"):
        sd.generalize(table, sd.DeltaPresence(0.5))
    people: Any = frame_of([(1, "f"), (2, "m")])
    with pytest.raises(sd.ParameterError, match="give one KMap or DeltaPresence"):
        sd.generalize(table, [sd.KMap(2, population=people), sd.DeltaPresence(0.5, population=people)])
    with pytest.raises(sd.ParameterError, match="above 0, and no less than d_min"):
        sd.DeltaPresence(0.2, 0.3)
    rows = people.with_columns(pid=pl.Series([1, 1]))
    own = sd.Schema(attributes={**SCHEMA.attributes, "pid": sd.Attribute(role="person")})
    with pytest.raises(sd.InputError, match="Ask for k-anonymity"):
        sd.generalize(sd.read(rows, own), sd.DeltaPresence(0.5, population=people))


def test_some_may_be_left_out() -> None:
    """Fewer are published then, so that a mean above d_max need not be too much."""
    people = population(120)
    release = sd.generalize(
        drawn(people, 60), sd.DeltaPresence(0.6, population=people), "full-domain", suppress=0.2
    )
    assert chances(release.frame(), people)[0] <= 0.6
    assert 48 <= release.frame().height < 60


def test_it_is_what_counting_everybody_gives_for_any_levels() -> None:
    """The method's own count, which it learns by, is that of the definition."""
    rng = np.random.default_rng(5)
    people = population(300)
    for method in METHODS:
        k = int(rng.integers(1, 20))
        output = sd.generalize(drawn(people, 80), sd.KAnonymity(k), method).frame()
        most, least = chances(output, people)
        found = sd.attack(output, SCHEMA, kind="presence", population=people)
        assert (found.most, found.least) == (pytest.approx(float(most)), pytest.approx(float(least)))


def test_ranges_end_at_values_of_the_population_not_of_the_table() -> None:
    """Where everybody has a value of their own, an end of a range at one of the table's would name who is in it."""
    ends, inside = 0, 0
    for seed in range(12):
        rng = np.random.default_rng(seed)
        register = pl.DataFrame({"income": rng.choice(80_000, 300, replace=False)})
        sample = register.sample(90, seed=seed)
        table = sd.read(sample, sd.Schema.from_roles(quasi=["income"]))
        release = sd.generalize(table, sd.DeltaPresence(0.6, population=register), "mondrian")
        named = {int(end) for label in release.frame()["income"] for end in re.findall(r"\d+", str(label))}
        ends, inside = ends + len(named), inside + len(named & set(sample["income"]))
    assert ends > 100
    assert (
        inside / ends < 0.5
    )  # 0.3 of the register are in the sample; of ends that the table had, all would be


@pytest.mark.parametrize("other", [pl.String, pl.Date, pl.Boolean])
def test_a_population_of_another_type_is_refused_in_words(other: Any) -> None:
    table = sd.read(pl.DataFrame({"age": list(range(20, 60)) * 2}), sd.Schema.from_roles(quasi=["age"]))
    people = pl.DataFrame({"age": list(range(10, 90)) * 3}).select(pl.col("age").cast(other))
    with pytest.raises(
        sd.InputError, match=r"'age' is of the type .* in the population, and integer in the table"
    ):
        sd.generalize(table, sd.DeltaPresence(0.6, population=people), "mondrian")


def test_a_population_may_have_halves_where_the_table_has_whole_numbers() -> None:
    table = sd.read(pl.DataFrame({"age": list(range(20, 60)) * 2}), sd.Schema.from_roles(quasi=["age"]))
    people = pl.DataFrame({"age": [x / 2 for x in range(20, 180)] * 2})
    promise = sd.DeltaPresence(0.6, population=people)
    release = sd.generalize(table, promise, "mondrian")
    assert sd.attack(release.frame(), table.schema, kind="presence", population=people).most <= 0.6
