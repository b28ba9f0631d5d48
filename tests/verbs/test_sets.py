"""A column of sets as rows of a person: whoever knows some items of a set finds k sets or none, by looking at all of them."""

from __future__ import annotations

import itertools
from collections import defaultdict

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sudare as sd

GROUPS = {"E10": "diabetes", "E11": "diabetes", "I10": "heart", "I21": "heart", "J45": "lungs"}
SCHEMA = sd.Schema.from_roles(
    person="patient",
    quasi=["sex", "code"],
    linked={"patient": True},
    hierarchies={"code": sd.Hierarchy.groups(GROUPS), "sex": sd.Hierarchy.suppress(["f", "m"])},
)
PATIENTS = st.lists(
    st.tuples(st.sampled_from("fm"), st.lists(st.sampled_from([*GROUPS]), min_size=1, max_size=4)),
    min_size=4,
    max_size=14,
)
Published = dict[int, list[tuple[str, str]]]


def exploded(patients: pl.DataFrame) -> pl.DataFrame:
    """Give each item a row, as the how-to says."""
    items = pl.col("diagnoses").str.replace_all(" ", "").str.split(";").list.unique()
    return patients.with_row_index("patient").with_columns(code=items).explode("code").drop("diagnoses")


def read(patients: list[tuple[str, list[str]]]) -> sd.Table:
    sets = [(sex, "; ".join(codes)) for sex, codes in patients]
    return sd.read(exploded(pl.DataFrame(sets, schema=["sex", "diagnoses"], orient="row")), SCHEMA)


def published_of(release: sd.Release) -> Published:
    found: Published = defaultdict(list)
    for patient, sex, code in release.frame().select("patient", "sex", "code").rows():
        found[patient].append((sex, code))
    return found


def may_have(known: tuple[str, ...], sex: str, rows: list[tuple[str, str]]) -> bool:
    """Tell whether published rows may be of somebody of whom these items are known, each of them another row."""
    if any(label not in (sex, "*") for label, _ in rows):
        return False
    return any(
        all(label in (code, GROUPS[code], "*") for code, (_, label) in zip(known, some, strict=True))
        for some in itertools.permutations(rows, len(known))
    )


@settings(max_examples=60, deadline=None)
@given(PATIENTS, st.integers(2, 3), st.sampled_from(["minimal", "mondrian"]))
def test_whoever_knows_m_items_finds_k_sets(
    patients: list[tuple[str, list[str]]], k: int, method: str
) -> None:
    suppress = {"suppress": 0.5} if method == "minimal" else {}
    try:
        release = sd.generalize(read(patients), sd.KAnonymity(k), method, **suppress)  # type: ignore[arg-type]
    except sd.RequirementError:  # too few have sets of some size
        return
    published = published_of(release)
    for m in (1, 2, 3, 4):
        for known in itertools.combinations(GROUPS, m):
            for sex in "fm":
                finds = sum(may_have(known, sex, rows) for rows in published.values())
                assert finds == 0 or finds >= k
    sizes = {len(rows) for rows in published.values()}
    for sex, codes in patients:  # and who is in it is found: no label is false
        if len(set(codes)) in sizes:
            assert any(may_have(tuple(set(codes)), sex, rows) for rows in published.values())


def test_the_check_sees_a_set_that_is_alone() -> None:
    alone = {1: [("f", "E10"), ("f", "I10")], 2: [("f", "E10")], 3: [("f", "E10")]}
    finds = [
        sum(may_have(known, "f", rows) for rows in alone.values()) for known in (("E10",), ("E10", "I10"))
    ]
    assert finds == [3, 1]


def test_items_that_stand_twice_are_one_and_a_set_without_any_keeps_its_row() -> None:
    frame = pl.DataFrame({"sex": ["f"] * 4, "diagnoses": ["E10;E10", "E10", None, None]})
    rows = exploded(frame)
    assert rows["code"].to_list() == ["E10", "E10", None, None]
    release = sd.generalize(sd.read(rows, SCHEMA), sd.KAnonymity(2))
    assert sorted(release.frame()["code"].to_list(), key=str) == ["E10", "E10", None, None]


def test_sizes_that_few_have_are_left_out_or_refused() -> None:
    patients = [("f", ["E10"])] * 10 + [("f", ["E10", "I10"])]
    with pytest.raises(sd.RequirementError, match="too few persons of some sizes"):
        sd.generalize(read(patients), sd.KAnonymity(2))
    release = sd.generalize(read(patients), sd.KAnonymity(2), suppress=0.2)
    assert release.frame().height == 10
