from __future__ import annotations

import itertools

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sudare as sd
from tests.conformance import SCHEMA, conform, people, smallest_block


def test_conforms() -> None:
    conform(lambda table, requirement: sd.generalize(table, requirement, method="full-domain"))


def brute_force(table: sd.Table, k: int, budget: int) -> float:
    """The least distortion over all choices of levels, from the labels alone."""
    hierarchies = [table[name].hierarchy for name in ("age", "town")]
    best = float("inf")
    for levels in itertools.product(*(range(h.height + 1) for h in hierarchies)):
        labels = pl.DataFrame(
            {
                name: h.publish(table[name].codes, level)
                for name, h, level in zip(("age", "town"), hierarchies, levels, strict=True)
            }
        )
        sizes = labels.group_by("age", "town").len()["len"]
        left_out = int(sizes.filter(sizes < k).sum())
        if left_out > budget or left_out == len(table):
            continue
        cost = sum(level / h.height for level, h in zip(levels, hierarchies, strict=True)) / 2
        best = min(best, cost + left_out / len(table) * (1 - cost))
    return best


@given(
    rows=st.lists(
        st.tuples(st.integers(0, 99), st.sampled_from(["Ayr", "Bath", "Cork", "Deal"])),
        min_size=1,
        max_size=25,
    ),
    k=st.integers(1, 6),
    share=st.sampled_from([0.0, 0.1, 0.3]),
)
def test_finds_the_least_distortion(rows: list[tuple[int, str]], k: int, share: float) -> None:
    frame = people(len(rows)).with_columns(
        age=pl.Series([age for age, _ in rows]), town=pl.Series([town for _, town in rows])
    )
    table = sd.read(frame, SCHEMA)
    if k > len(rows):
        with pytest.raises(sd.RequirementError):
            sd.generalize(table, sd.KAnonymity(k), suppress=share)
        return
    release = sd.generalize(table, sd.KAnonymity(k), suppress=share)
    assert smallest_block(release.frame()) >= k
    assert release.frame().height >= len(rows) - int(share * len(rows))
    expected = brute_force(table, k, int(share * len(rows)))
    assert release.certificate.utility["distortion"] == pytest.approx(expected)


def test_suppressed_records_are_those_of_small_blocks() -> None:
    frame = people(30).with_columns(age=pl.Series([25] * 29 + [99]), town=pl.lit("Ayr"))
    release = sd.generalize(sd.read(frame, SCHEMA), sd.KAnonymity(5), suppress=0.05)
    assert release.frame().height == 29
    assert release.frame()["age"].unique().to_list() == [25]
    assert release.certificate.records == {"read": 30, "published": 29, "suppressed": 1}
    assert release.plan.to_json()["suppressed"] == [["99", "Ayr"]]


def test_a_weight_spares_an_attribute() -> None:
    table = sd.read(people(200), SCHEMA)
    attributes = dict(SCHEMA.attributes)
    attributes["age"] = attributes["age"].model_copy(update={"weight": 50.0})
    precious = sd.read(people(200), SCHEMA.model_copy(update={"attributes": attributes}))
    plain, spared = (sd.generalize(t, sd.KAnonymity(15)).plan.to_json()["levels"] for t in (table, precious))
    assert spared["age"] < plain["age"]


def test_attribute_without_hierarchy_is_kept_or_suppressed() -> None:
    schema = sd.Schema.from_roles(quasi=["a", "b"])
    frame = pl.DataFrame({"a": ["x", "x", "y", "y"], "b": [1, 2, 3, 4]})
    release = sd.generalize(sd.read(frame, schema), sd.KAnonymity(2))
    assert sorted(release.frame().rows()) == [("x", "*"), ("x", "*"), ("y", "*"), ("y", "*")]
    assert release.certificate.utility["distortion_by_attribute"] == {"a": 0.0, "b": 1.0}


def test_too_many_choices_are_refused() -> None:
    names = [f"c{i}" for i in range(9)]
    deep = sd.Hierarchy.mask(["00000", "11111"])
    schema = sd.Schema.from_roles(quasi=names, hierarchies=dict.fromkeys(names, deep))
    table = sd.read(pl.DataFrame({name: ["00000", "11111"] for name in names}), schema)
    with pytest.raises(sd.ParameterError, match="coarser hierarchies"):
        sd.generalize(table, sd.KAnonymity(2))
