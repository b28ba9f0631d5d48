from __future__ import annotations

import math
from collections import Counter
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sudare as sd
from sudare.privacy.blocks import Blocks
from sudare.privacy.requirement import Measure
from sudare.privacy.t_closeness import DISTANCES, TCloseness
from tests.privacy import plain, strategies
from tests.privacy.plain import Records, blocks_of, histograms

# The salaries of Li, Li and Venkatasubramanian (2007), in the groups of their Tables 4 and 5, and diseases like theirs.
SALARY = [3, 4, 5, 6, 11, 8, 7, 9, 10]
DISEASE = [
    "gastric ulcer",
    "gastritis",
    "stomach cancer",
    "gastritis",
    "flu",
    "bronchitis",
    "bronchitis",
    "pneumonia",
    "stomach cancer",
]
DISEASES = sd.Hierarchy.from_tree(
    {
        "respiratory system": {
            "respiratory infection": ["flu", "pneumonia", "bronchitis"],
            "vascular lung": ["pulmonary edema", "pulmonary embolism"],
        },
        "digestive system": {
            "stomach": ["gastric ulcer", "stomach cancer", "gastritis"],
            "colon": ["colitis", "colon cancer"],
        },
    }
)
FIRST_GROUPING = [0, 0, 0, 1, 1, 1, 2, 2, 2]
BETTER_GROUPING = [0, 2, 0, 1, 1, 1, 2, 0, 2]


def patients(groups: list[int], sensitive: str) -> Blocks:
    frame = pl.DataFrame({"group": groups, "salary": SALARY, "disease": DISEASE})
    schema = sd.Schema.from_roles(
        quasi=["group"], sensitive=["salary", "disease"], hierarchies={"disease": DISEASES}
    )
    return Blocks.of_table(sd.read(frame, schema), ["group"], sensitive)


def test_the_salaries_of_the_paper() -> None:
    """Section 5: {3, 4, 5} is 0.375 from all salaries, {6, 8, 11} only 0.167."""
    blocks = patients(FIRST_GROUPING, "salary")
    assert TCloseness(0.375, "ordered").measure(blocks) == Measure("t", 0.375, True, 0)
    assert TCloseness(0.17, "ordered").failing(blocks).tolist()[:2] == [True, False]
    better = TCloseness(0.167, "ordered").measure(patients(BETTER_GROUPING, "salary"))
    assert better.value == pytest.approx(1 / 6)
    assert better.holds


def test_diseases_worked_by_hand() -> None:
    """{gastritis, flu, bronchitis}: 2/9 must cross the root, 1/9 moves within lungs and 1/9 within stomach."""
    measure = TCloseness(0.3, "hierarchical").measure(patients(BETTER_GROUPING, "disease"))
    assert (measure.worst, measure.holds) == (1, True)
    assert measure.value == pytest.approx(2 / 9 + (1 / 9 + 1 / 9) / 3)


@pytest.mark.parametrize("distance", DISTANCES)
@given(records=strategies.records)
def test_measures_the_least_work_of_moving_earth(distance: str, records: Records) -> None:
    measured = TCloseness(1, distance).measure(blocks_of(records)).value  # type: ignore[arg-type]
    table = Counter(value for _, value in records)
    work = [
        plain.earth_movers_distance(histogram, table, plain.GROUND[distance])
        for histogram in histograms(records)
    ]
    assert measured == pytest.approx(max(work), abs=1e-8)


@pytest.mark.parametrize("distance", DISTANCES)
@given(records=strategies.records, times=st.integers(1, 7))
def test_a_block_like_the_table_is_at_distance_0(distance: str, records: Records, times: int) -> None:
    values = [value for _, value in records]
    copies = [(block, value) for block in range(3) for value in values * (times if block else 1)]
    assert TCloseness(0, distance).measure(blocks_of(copies)).value == 0  # type: ignore[arg-type]


@pytest.mark.parametrize("distance", DISTANCES)
def test_one_value_is_everywhere_the_same(distance: str) -> None:
    counts = sd.read(pl.DataFrame({"q": [1, 1, 2], "s": ["x"] * 3})).counts(["q", "s"])
    blocks = Blocks.of(counts, "s", sd.Hierarchy.suppress(["x"]))
    assert TCloseness(0, distance).measure(blocks).value == 0  # type: ignore[arg-type]


def test_a_hierarchy_cut_down_to_the_values_that_occur() -> None:
    tree = sd.Hierarchy.groups({"a": "x", "b": "x", "c": "y", "d": "z"})
    blocks = blocks_of([(0, 0), (0, 2), (1, 1), (1, 2)])
    cut = replace(blocks, shares=np.array([0.25, 0.25, 0.5]), values=3, hierarchy=tree.take([1, 0, 2]))
    assert TCloseness(1, "hierarchical").measure(cut).value == pytest.approx(0.25 / 2)


def test_missing_values_are_met_at_the_root() -> None:
    frame = pl.DataFrame({"q": [0, 0, 1, 1], "s": ["a", "b", None, None]})
    tree = sd.Hierarchy.groups({"a": "x", "b": "x"})
    schema = sd.Schema.from_roles(quasi=["q"], sensitive=["s"], hierarchies={"s": tree})
    blocks = Blocks.of_table(sd.read(frame, schema), ["q"], "s")
    assert TCloseness(1, "hierarchical").measure(blocks).value == pytest.approx(0.5)


def test_can_be_compared_with_another_table() -> None:
    blocks = blocks_of([(0, 0), (0, 1)])
    assert TCloseness(0).measure(blocks).holds
    other = replace(blocks, shares=np.array([1.0, 0, 0, 0, 0, 0]))
    assert TCloseness(0.5).measure(other).value == 0.5


def test_a_tie_holds() -> None:
    """Distances of exactly 0.1, 0.3 and so on are no larger, however they are rounded."""
    blocks = blocks_of([(0, 0)] * 6 + [(0, 1)] * 4 + [(1, 0)] * 4 + [(1, 1)] * 6)
    assert TCloseness(0.1).measure(blocks).holds
    assert not TCloseness(0.0999999).measure(blocks).holds


@pytest.mark.parametrize("t", [-0.1, 1.1, math.nan, math.inf, "0.1", None, True])
def test_refuses_what_t_cannot_be(t: object) -> None:
    with pytest.raises(
        sd.ParameterError, match="The 't' parameter of TCloseness must be a number from 0 to 1"
    ):
        TCloseness(t)  # type: ignore[arg-type]


def test_refuses_what_is_no_distance() -> None:
    with pytest.raises(
        sd.ParameterError, match=r"must be one of 'equal', 'ordered', 'hierarchical'\. Got 'l2' instead"
    ):
        TCloseness(0.1, "l2")  # type: ignore[arg-type]
    with pytest.raises(sd.ParameterError, match="The 'attribute' parameter of TCloseness"):
        TCloseness(0.1, attribute=1)  # type: ignore[arg-type]


def test_a_hierarchical_distance_needs_a_hierarchy() -> None:
    blocks = replace(blocks_of([(0, 0)]), hierarchy=None)
    asked = TCloseness(0.1, "hierarchical")
    for use in (asked.measure, asked.failing, asked.refuse_if_impossible):
        with pytest.raises(sd.InputError, match="needs a hierarchy of 's'"):
            use(blocks)


def test_names_and_words() -> None:
    assert TCloseness(0.2).name == "t"
    assert str(TCloseness(0.2)) == "0.2-closeness (equal distance)"
    assert str(TCloseness(0.2, "ordered", "pay")) == "0.2-closeness (ordered distance) of 'pay'"
