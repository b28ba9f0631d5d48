"""How likely people of a population are to be in the table: counted by looking at everybody, and at every table that could be."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction
from itertools import combinations
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import sudare as sd
from sudare.attacks import presence as presence_module
from sudare.attacks.attack import attack
from tests.attacks.test_k_map import AGES, SCHEMA, TOWNS, outputs, people

Label = tuple[str, str]
Person = tuple[Any, str]


def covers(label: Label, person: Person) -> bool:
    return person[0] in AGES[label[0]] and person[1] in TOWNS[label[1]]


def chances(records: list[Label], everybody: list[Person]) -> list[tuple[Fraction, Fraction]]:
    """The least and the largest chance of everybody, from the definition: by whom the same labels cover."""
    own = Counter(records)
    by = [frozenset(label for label in own if covers(label, person)) for person in everybody]
    alike = Counter(by)
    reached = {label: sum(label in labels for labels in by) for label in own}
    found = []
    for labels in by:
        alone = [label for label in labels if reached[label] == alike[labels]]
        least = Fraction(sum(own[label] for label in alone), alike[labels])
        found.append((least, Fraction(sum(own[label] for label in labels), alike[labels])))
    return found


def frames(records: list[Label], everybody: list[Person]) -> tuple[pl.DataFrame, pl.DataFrame]:
    schema = {"age": pl.Int64, "town": pl.String}
    output = pl.DataFrame(records, schema=["age", "town"], orient="row")
    return output, pl.DataFrame(everybody, schema=schema, orient="row")


@settings(max_examples=150, deadline=None)
@given(outputs, people)
def test_chances_by_looking_at_everybody(records: list[Label], register: list[Person]) -> None:
    everybody = [*register, *((age, town) for age in (20, 25, 30) for town in ("Ayr", "Bath", "Cork"))]
    output, population = frames(records, everybody)
    found = attack(output, SCHEMA, kind="presence", population=population)
    known = chances(records, everybody)
    assert found.most == pytest.approx(float(max(most for _, most in known)))
    assert found.least == pytest.approx(float(min(least for least, _ in known)))
    assert found.certain == sum(least >= 1 for least, _ in known)
    assert found.absent == sum(most == 0 for _, most in known)
    assert (found.records, found.population) == (len(records), len(everybody))
    worst = max(range(len(known)), key=lambda i: known[i][1])
    of_worst = tuple(found.worst.values())
    assert any(
        most == known[worst][1] and covers(of_worst, person)  # type: ignore[arg-type]
        for (_, most), person in zip(known, everybody, strict=True)
    )


few = st.lists(
    st.tuples(st.sampled_from([20, 25, 30]), st.sampled_from(["Ayr", "Bath"])), min_size=2, max_size=7
)
labels = st.lists(
    st.tuples(st.sampled_from(list(AGES)), st.sampled_from(["Ayr", "Bath", "*"])), min_size=1, max_size=3
)


@settings(max_examples=150, deadline=None)
@given(labels, few)
def test_no_table_that_could_be_has_more_of_people_who_are_alike_nor_fewer(
    records: list[Label], everybody: list[Person]
) -> None:
    """Every choice of people whose values could have become these labels: what is said of chances holds of each of them."""
    known = chances(records, everybody)
    by = [frozenset(label for label in records if covers(label, person)) for person in everybody]
    possible = [
        some for some in combinations(range(len(everybody)), len(records)) if _could_be(some, records, by)
    ]
    assume(possible)
    output, population = frames(records, everybody)
    found = attack(output, SCHEMA, kind="presence", population=population)
    for labels_of in set(by):
        alike = [i for i, own in enumerate(by) if own == labels_of]
        for some in possible:
            there = Fraction(len(set(alike) & set(some)), len(alike))
            least, most = known[alike[0]]
            assert least <= there <= most
            assert found.least - 1e-9 <= there <= found.most + 1e-9


def _could_be(some: tuple[int, ...], records: list[Label], by: list[frozenset[Label]]) -> bool:
    """Tell whether people can be given one record each, of labels that cover them."""
    if not some:
        return not records
    first, *rest = some
    return any(
        _could_be(tuple(rest), [*records[:i], *records[i + 1 :]], by)
        for i, label in enumerate(records)
        if label in by[first]
    )


def test_overlapping_labels_tell_who_is_there() -> None:
    """Of the two whom [20, 30) covers one is in the table: it is that of 20, for the record of 25 is the other."""
    output, population = frames([("[20, 30)", "Ayr"), ("25", "Ayr")], [(20, "Ayr"), (25, "Ayr")])
    found = attack(output, SCHEMA, kind="presence", population=population)
    assert found.most > 1 / 2
    assert not sd.verify(output, sd.DeltaPresence(0.99, population=population), SCHEMA).holds


def test_records_of_nobody_in_the_population() -> None:
    output, population = frames([("30", "Ayr")], [(20, "Ayr"), (25, "Bath")])
    found = attack(output, SCHEMA, kind="presence", population=population)
    assert (found.most, found.unmatched, found.worst) == (math.inf, 1, {"age": "30", "town": "Ayr"})
    assert "no register of everybody" in str(found)
    assert found.summary()["most"] is None
    verified = sd.verify(output, sd.DeltaPresence(1, population=population), SCHEMA)
    assert not verified.holds


def test_who_is_covered_by_no_block_is_not_there() -> None:
    output, population = frames([("20", "Ayr")], [(20, "Ayr"), (20, "Ayr"), (25, "Bath")])
    assert sd.verify(output, sd.DeltaPresence(0.5, population=population), SCHEMA).value == 0.5
    missed = sd.verify(output, sd.DeltaPresence(0.5, 0.1, population=population), SCHEMA)
    assert (missed.holds, missed.value) == (False, 0)
    assert missed.findings[0].note == "1 people are covered by no block"


def test_its_summary_names_nobody(tmp_path: Path) -> None:
    output, population = frames([("[20, 30)", "Ayr")], [(20, "Ayr"), (25, "Ayr")])
    found = attack(output, SCHEMA, kind="presence", population=population)
    assert found.summary() == {
        "most": 0.5, "least": 0.5, "records": 1, "population": 2, "certain": 0, "absent": 0, "unmatched": 0
    }  # fmt: skip
    assert "a chance from 50.0% to 50.0%" in str(found)
    with pytest.raises(sd.InputError, match="has no column 'town'"):
        attack(output, SCHEMA, kind="presence", population=population.drop("town"))


def test_many_blocks_are_looked_at_some_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    ages = range(300)
    output = pl.DataFrame({"age": [str(age) for age in ages for _ in range(age % 3 + 1)]})
    population = pl.DataFrame({"age": [age for age in ages for _ in range(4)]})
    schema = sd.Schema.from_roles(quasi=["age"], types={"age": "integer"})
    at_once = attack(output, schema, kind="presence", population=population)
    monkeypatch.setattr(presence_module, "MAX_BITS", 1)
    monkeypatch.setattr(presence_module, "AT_A_TIME", 7)
    assert attack(output, schema, kind="presence", population=population) == at_once
    assert (at_once.most, at_once.least) == (0.75, 0.25)
