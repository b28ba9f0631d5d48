from __future__ import annotations

import math
from collections import Counter

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sudare as sd
from sudare.privacy.blocks import Blocks
from sudare.privacy.l_diversity import LDiversity
from tests.privacy import plain, strategies
from tests.privacy.plain import VALUES, Records, blocks_of, histograms


def inpatients(table: str) -> Blocks:
    """Count a table of Machanavajjhala et al. (2006), given as one word per block: heart, viral, cancer."""
    rows = [(block, illness) for block, word in enumerate(table.split()) for illness in word]
    frame = pl.DataFrame(rows, schema=["block", "illness"], orient="row")
    return Blocks.of(sd.read(frame).counts(["block", "illness"]), "illness")


def test_the_inpatients_of_the_paper() -> None:
    anonymous, diverse = inpatients("hhvv chvv cccc"), inpatients("hvcc chvv hvcc")  # Tables 2 and 3
    assert sd.KAnonymity(4).measure(anonymous).holds
    assert LDiversity(2).failing(anonymous).tolist() == [False, False, True]  # the homogeneity attack
    assert LDiversity(3).measure(diverse).value == 3
    assert LDiversity(2.8, "entropy").measure(diverse).value == pytest.approx(2**1.5)
    assert LDiversity(2, "recursive", c=2).measure(diverse).value == 2  # 2 < 2 (1 + 1), not 2 < 2 x 1


@given(records=strategies.records)
def test_distinct_measures_the_fewest_values(records: Records) -> None:
    measured = LDiversity(1).measure(blocks_of(records)).value
    assert measured == min(len(histogram) for histogram in histograms(records))
    assert isinstance(measured, int)


@given(records=strategies.records)
def test_entropy_measures_the_least_effective_number_of_values(records: Records) -> None:
    def entropy(histogram: Counter[int]) -> float:
        shares = [c / histogram.total() for c in histogram.values()]
        return -sum(p * math.log(p) for p in shares)

    measured = LDiversity(1, "entropy").measure(blocks_of(records)).value
    assert measured == pytest.approx(math.exp(min(entropy(histogram) for histogram in histograms(records))))


@given(records=strategies.records, c=strategies.cs)
def test_recursive_measures_the_largest_l(records: Records, c: float) -> None:
    measured = LDiversity(1, "recursive", c=c).measure(blocks_of(records)).value
    for l in range(1, VALUES + 2):
        everywhere = all(plain.is_recursive(histogram, c, l) for histogram in histograms(records))
        assert everywhere == (l <= measured)


@given(l=st.integers(1, 500), times=st.sampled_from([1, 3, 7, 10**6, 10**9 + 7]))
def test_l_equally_frequent_values_have_entropy_l(l: int, times: int) -> None:
    blocks = Blocks(
        sizes=np.array([l * times]),
        start=np.array([0, l]),
        value=np.arange(l, dtype=np.int32),
        count=np.full(l, times),
        values=l,
        shares=np.full(l, 1 / l),
        sensitive="s",
    )
    measure = LDiversity(l, "entropy").measure(blocks)
    assert measure.holds
    assert measure.value == l
    assert not LDiversity(l + 1e-6, "entropy").measure(blocks).holds


def test_a_tie_is_not_below() -> None:
    """0.1 is a little more than a tenth in binary; 0.1 x 30 must not exceed 3 for that."""
    blocks = blocks_of([(0, 0)] * 3 + [(0, 1)] * 27)
    assert LDiversity(1, "recursive", c=0.9).failing(blocks).tolist() == [True]  # 27 < 0.9 x 30 is false
    assert LDiversity(1, "recursive", c=0.901).failing(blocks).tolist() == [False]


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"l": 0}, "The 'l' parameter of LDiversity must be a whole number of 1 or more. Got 0 instead."),
        ({"l": 2.5}, "The 'l' parameter of LDiversity must be a whole number of 1 or more. Got 2.5 instead."),
        ({"l": 2.5, "kind": "recursive", "c": 1}, "The 'l' parameter of LDiversity must be a whole number"),
        ({"l": 0.9, "kind": "entropy"}, "The 'l' parameter of LDiversity must be a number of 1 or more"),
        ({"l": math.nan, "kind": "entropy"}, "must be a number of 1 or more. Got nan instead."),
        ({"l": math.inf, "kind": "entropy"}, "must be a number of 1 or more. Got inf instead."),
        ({"l": True, "kind": "entropy"}, "must be a number of 1 or more. Got True instead."),
        ({"l": "2"}, "must be a whole number of 1 or more. Got '2' instead."),
        (
            {"l": 2, "kind": "shannon"},
            "The 'kind' parameter of LDiversity must be one of 'distinct', 'entropy', 'recursive', "
            "'proximity'. Got 'shannon' instead.",
        ),
        (
            {"l": 2, "kind": "recursive"},
            "must be a number above 0 for kind='recursive'. Got None instead.",
        ),
        ({"l": 2, "kind": "recursive", "c": 0}, "must be a number above 0"),
        ({"l": 2, "kind": "recursive", "c": -1.0}, "must be a number above 0"),
        ({"l": 2, "c": 3}, "The 'c' parameter of LDiversity must be left out for kind='distinct'. Got 3"),
        ({"l": 2, "kind": "entropy", "c": 3}, "must be left out for kind='entropy'"),
        ({"l": 2, "attribute": 7}, "The 'attribute' parameter of LDiversity must be the name"),
    ],
)
def test_refuses_what_parameters_cannot_be(parameters: dict[str, object], message: str) -> None:
    with pytest.raises(sd.ParameterError) as caught:
        LDiversity(**parameters)  # type: ignore[arg-type]
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("requirement", "message"),
    [
        (LDiversity(9), "distinct 9-diversity is impossible: the table has only 4 distinct values of 's'."),
        (LDiversity(4, "entropy"), "entropy 4-diversity is impossible: the table's own entropy is log 3.28."),
        (
            LDiversity(3, "recursive", c=1.5),
            "recursive (1.5, 3)-diversity is impossible: in the whole table the most frequent value of 's' has 52 "
            "records, not fewer than 1.5 times the 24 records of the values from number 3 on.",
        ),
        (
            LDiversity(5, "recursive", c=9),
            "recursive (9, 5)-diversity is impossible: the table has only 4 distinct values of 's'.",
        ),
    ],
)
def test_says_why_it_is_impossible(requirement: LDiversity, message: str) -> None:
    counted = {0: 52, 1: 24, 2: 14, 3: 10}
    blocks = blocks_of([(0, value) for value, times in counted.items() for _ in range(times)])
    with pytest.raises(sd.RequirementError) as caught:
        requirement.refuse_if_impossible(blocks)
    assert str(caught.value).startswith(message)


def test_one_value_is_not_values() -> None:
    with pytest.raises(sd.RequirementError, match="only 1 distinct value of 's'"):
        LDiversity(2).refuse_if_impossible(blocks_of([(0, 0), (1, 0)]))


def test_names_and_words() -> None:
    asked = [LDiversity(3), LDiversity(2.5, "entropy", attribute="job"), LDiversity(2, "recursive", c=3)]
    assert [requirement.name for requirement in asked] == ["l_distinct", "l_entropy", "l_recursive"]
    assert [str(requirement) for requirement in asked] == [
        "distinct 3-diversity",
        "entropy 2.5-diversity of 'job'",
        "recursive (3, 2)-diversity",
    ]
    assert str(LDiversity(4.0, "entropy")) == "entropy 4-diversity"


def test_the_blocks_must_be_counted_by_its_attribute() -> None:
    with pytest.raises(sd.InputError, match="counted without one"):
        LDiversity(2).measure(Blocks.of_sizes(np.array([2])))
    with pytest.raises(sd.InputError, match="of 'job': the blocks were counted by 's' instead"):
        LDiversity(2, attribute="job").failing(blocks_of([(0, 0)]))
