"""k-map against a population that is given."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sudare as sd
from sudare.attacks.attack import attack

AGES = {
    "20": {20},
    "25": {25},
    "[20, 30)": {20, 25},
    "[25, 31]": {25, 30},
    "*": {20, 25, 30, None},
    "{20, 30}": {20, 30},
}
TOWNS = {"Ayr": {"Ayr"}, "Bath": {"Bath"}, "{Ayr, Cork}": {"Ayr", "Cork"}, "*": {"Ayr", "Bath", "Cork"}}
SCHEMA = sd.Schema.from_roles(quasi=["age", "town"], types={"age": "integer"})
outputs = st.lists(
    st.tuples(st.sampled_from(list(AGES)), st.sampled_from(list(TOWNS))), min_size=1, max_size=90
)
people = st.lists(
    st.tuples(st.sampled_from([20, 25, 30, None]), st.sampled_from(["Ayr", "Bath", "Cork"])),
    min_size=1,
    max_size=40,
)


@given(outputs, people)
def test_k_map_by_looking_at_everybody(
    records: list[tuple[str, str]], register: list[tuple[Any, str]]
) -> None:
    everybody = [*register, *((age, town) for age in (20, 25, 30) for town in ("Ayr", "Bath", "Cork"))]
    output = pl.DataFrame(records, schema=["age", "town"], orient="row")
    population = pl.DataFrame(everybody, schema={"age": pl.Int64, "town": pl.String}, orient="row")
    mapped = attack(output, SCHEMA, kind="k_map", population=population, threshold=0.25)
    covered = {
        (age, town): sum(a in AGES[age] and t in TOWNS[town] for a, t in everybody) for age, town in records
    }
    assert mapped.k == min(covered.values())
    assert covered[tuple(mapped.worst.values())] == mapped.k  # type: ignore[index]
    assert mapped.at_risk == sum(covered[record] < 4 for record in records)
    assert mapped.unmatched == sum(covered[record] < records.count(record) for record in records)
    assert (mapped.records, mapped.population) == (len(records), len(everybody))


def sample_and_population() -> tuple[pl.DataFrame, pl.DataFrame]:
    rng = np.random.default_rng(0)
    population = pl.DataFrame({"age": rng.integers(20, 70, 3000), "zip": rng.integers(0, 9, 3000)})
    return population.sample(400, seed=1), population


@pytest.mark.parametrize("method", ["minimal", "mondrian", "full-domain"])
def test_a_release_of_a_sample_is_k_anonymous_in_the_population_too(method: str) -> None:
    """With more people than the sample has of them; who was drawn is covered by the labels of their block."""
    sample, population = sample_and_population()
    schema = sd.Schema.from_roles(quasi=["age", "zip"], weight=["w"])
    table = sd.read(sample.with_columns(w=pl.lit(7.5)), schema)
    release = sd.generalize(table, sd.KAnonymity(3), method)
    mapped = attack(release.frame(), schema, kind="k_map", population=population)
    assert mapped.k > 3
    assert mapped.unmatched == 0
    assert f"({mapped.k}-map)" in str(mapped)
    of_itself = attack(release.frame(), schema, kind="k_map", population=sample)
    assert of_itself.k >= 3


def test_k_map_is_the_journalists_risk_where_labels_do_not_overlap() -> None:
    sample, population = sample_and_population()
    schema = sd.Schema.from_roles(
        quasi=["age", "zip"], hierarchies={"age": sd.Hierarchy.intervals(range(100), width=10)}
    )
    recoded = [
        frame.with_columns(
            age=(pl.col("age") // 10 * 10).map_elements(lambda a: f"[{a}, {a + 10})", pl.String)
        )
        for frame in (sample, population)
    ]
    risk = attack(recoded[0], schema, kind="reidentification", population=recoded[1])
    mapped = attack(recoded[0], schema, kind="k_map", population=population)
    assert risk.journalist.largest == 1 / mapped.k
    assert risk.journalist.at_risk == mapped.at_risk


def test_a_population_must_have_what_outsiders_know() -> None:
    with pytest.raises(
        sd.InputError, match="The population has no column 'town', which the schema calls quasi"
    ):
        attack(
            pl.DataFrame({"age": ["20"], "town": ["Ayr"]}),
            SCHEMA,
            kind="k_map",
            population=pl.DataFrame({"age": [20]}),
        )


def test_a_population_without_the_people_of_the_output_is_told() -> None:
    output = pl.DataFrame({"age": ["20", "20"], "town": ["Ayr", "Ayr"]})
    register = pl.DataFrame({"age": [25, 20], "town": ["Ayr", "Ayr"]})
    mapped = attack(output, SCHEMA, kind="k_map", population=register)
    assert (mapped.k, mapped.unmatched) == (1, 2)
    assert "it is no register of everybody" in str(mapped)
