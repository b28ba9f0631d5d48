"""What holds of every requirement: it does what its definition says, and so does its compiled form."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import replace
from itertools import pairwise

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sudare as sd
from sudare.privacy.blocks import Blocks
from sudare.privacy.l_diversity import LDiversity
from sudare.privacy.limits import Limits, block_meets
from sudare.privacy.requirement import BlockRequirement, sensitive_attribute
from sudare.privacy.t_closeness import TCloseness
from tests.privacy import plain, strategies
from tests.privacy.plain import NUMBERS, VALUES, Records, blocks_of, histograms


def dense(histogram: Counter[int]) -> np.ndarray:
    return np.array([histogram[v] for v in range(VALUES)])


@given(records=strategies.records, requirement=strategies.requirements_of_numbers)
def test_fails_where_the_definition_says(records: Records, requirement: BlockRequirement) -> None:
    blocks = blocks_of(records)
    table = Counter(value for _, value in records)
    expected = [not plain.holds(requirement, histogram, table) for histogram in histograms(records)]
    assert requirement.failing(blocks).tolist() == expected
    measure = requirement.measure(blocks)
    assert measure.name == requirement.name
    assert measure.holds == (not any(expected))
    if not measure.holds:
        assert expected[measure.worst]


@given(records=strategies.records, requirement=strategies.requirements_of_numbers)
def test_the_worst_block_alone_measures_the_same(records: Records, requirement: BlockRequirement) -> None:
    blocks = blocks_of(records)
    measure = requirement.measure(blocks)
    names = sorted({block for block, _ in records})
    values = []
    for name in names:
        own = [record for record in records if record[0] == name]
        measured = requirement.measure(_compared_with(blocks_of(own), blocks)).value
        values.append(math.inf if all_harmless(own, requirement) else measured)
    worst = max(values) if requirement.name in ("t", "beta", "disclosure") else min(values)
    if worst == math.inf and isinstance(requirement, LDiversity):
        assert measure.value == requirement.l
        assert measure.holds
        return
    assert measure.value == worst
    assert measure.worst == values.index(worst)


def _compared_with(blocks: Blocks, table: Blocks) -> Blocks:
    fields = {name: getattr(blocks, name) for name in ("sizes", "start", "value", "count", "values")}
    return Blocks(
        **fields,
        shares=table.shares,
        sensitive=table.sensitive,
        hierarchy=table.hierarchy,
        known=table.known,
    )


def all_harmless(records: Records, requirement: BlockRequirement) -> bool:
    names = requirement.harmless if isinstance(requirement, LDiversity) else ()
    return all(f"{NUMBERS[value]:g}" in names for _, value in records)


@given(
    records=strategies.records,
    mix=st.lists(strategies.requirements_of_numbers, max_size=5),
    harmless=strategies.harmless,
)
def test_the_compiled_form_decides_the_same(
    records: Records, mix: list[BlockRequirement], harmless: list[str]
) -> None:
    blocks = blocks_of(records)
    mix = [replace(one, harmless=harmless) if isinstance(one, LDiversity) else one for one in mix]
    limits = Limits.of(mix, blocks)
    failing = np.zeros(len(blocks), dtype=bool)
    for requirement in mix:
        failing |= requirement.failing(blocks)
    met = [block_meets(dense(histogram), histogram.total(), limits) for histogram in histograms(records)]
    assert met == (~failing).tolist()


@given(records=strategies.records, requirement=strategies.requirements_of_numbers)
def test_two_blocks_that_hold_hold_together(records: Records, requirement: BlockRequirement) -> None:
    blocks = blocks_of(records)
    good = np.flatnonzero(~requirement.failing(blocks)).tolist()
    names = sorted({block for block, _ in records})
    for a, b in pairwise(good):
        merged = [(names[a] if block == names[b] else block, value) for block, value in records]
        place = sorted({block for block, _ in merged}).index(names[a])
        assert not requirement.failing(blocks_of(merged))[place]


@given(records=strategies.records, requirement=strategies.requirements_of_numbers)
def test_what_is_refused_as_impossible_holds_of_no_grouping(
    records: Records, requirement: BlockRequirement
) -> None:
    """And what is not refused holds at least of the whole table, where no record may be left out."""
    blocks = blocks_of(records)
    if isinstance(requirement, LDiversity):
        there = {f"{NUMBERS[value]:g}" for _, value in records}
        requirement = replace(requirement, harmless=there.intersection(requirement.harmless))
    try:
        requirement.refuse_if_impossible(blocks.whole)
    except sd.RequirementError:
        assert not requirement.measure(blocks).holds
        assert not requirement.measure(blocks.whole).holds
    else:
        assert requirement.measure(blocks.whole).holds
    try:
        requirement.refuse_if_impossible(blocks.whole, suppressing=True)
    except sd.RequirementError:
        assert requirement.failing(blocks).all()


def test_requirements_call_the_same_values_harmless() -> None:
    blocks = blocks_of([(0, value) for value in range(VALUES)])
    with pytest.raises(sd.ParameterError, match="call different values harmless"):
        Limits.of([LDiversity(2), LDiversity(3, "entropy", harmless=["1"])], blocks)
    limits = Limits.of([sd.KAnonymity(2), LDiversity(3, "entropy", harmless=[1, -3])], blocks)
    assert limits.harmless.tolist() == [1, 2]


def test_leaving_records_out_can_make_the_impossible_possible() -> None:
    blocks = blocks_of([(0, 0)] * 9 + [(0, 1)])
    for requirement in (LDiversity(2, "entropy"), LDiversity(2, "recursive", c=2)):
        with pytest.raises(sd.RequirementError):
            requirement.refuse_if_impossible(blocks)
        requirement.refuse_if_impossible(blocks, suppressing=True)


def test_the_strictest_of_each_kind_counts() -> None:
    blocks = blocks_of([(0, value) for value in range(VALUES)])
    asked = [sd.KAnonymity(2), sd.KAnonymity(5), LDiversity(3), LDiversity(2), LDiversity(2.5, "entropy")]
    asked += [LDiversity(2, "entropy"), TCloseness(0.3), TCloseness(0.2), TCloseness(0.4, "ordered")]
    asked += [LDiversity(2, "recursive", c=3), LDiversity(3, "recursive", c=4)]
    limits = Limits.of(asked, blocks)
    assert (limits.k, limits.distinct) == (5, 3)
    assert limits.more
    assert limits.log_l == math.log(2.5)
    assert limits.t == (0.2, 0.4, 1)
    assert limits.recursive.tolist() == [[3, 2], [4, 3]]


def test_only_k_needs_no_histogram() -> None:
    limits = Limits.of([sd.KAnonymity(3)], Blocks.of_sizes(np.array([3, 2])))
    assert (limits.k, limits.distinct, limits.more) == (3, 0, False)
    none = np.empty(0, dtype=np.int64)
    assert block_meets(none, 3, limits)
    assert not block_meets(none, 2, limits)


def test_limits_speak_of_one_attribute() -> None:
    blocks = blocks_of([(0, 0), (0, 1)])
    with pytest.raises(sd.ParameterError, match="several sensitive attributes: 'a', 's'"):
        Limits.of([LDiversity(2), TCloseness(0.1, attribute="a")], blocks)
    with pytest.raises(sd.InputError, match="needs the sensitive attribute"):
        Limits.of([LDiversity(2)], Blocks.of_sizes(np.array([3])))


def test_an_unknown_requirement_is_not_passed_over() -> None:
    class Other(sd.KAnonymity):
        pass

    class Foreign:
        attribute = None

        def check(self, blocks: Blocks) -> None:
            pass

        def __str__(self) -> str:
            return "something else"

    blocks = Blocks.of_sizes(np.array([3]))
    assert Limits.of([Other(2)], blocks).k == 2
    with pytest.raises(sd.ParameterError, match="something else cannot be checked block by block"):
        Limits.of([Foreign()], blocks)  # type: ignore[list-item]


def table(**roles: list[str]) -> sd.Table:
    frame = pl.DataFrame({"age": [30, 40], "illness": ["flu", "cold"], "salary": [1, 2]})
    rest = [name for name in frame.columns if not any(name in names for names in roles.values())]
    return sd.read(frame, sd.Schema.from_roles(**roles, other=rest))


class TestSensitiveAttribute:
    def test_the_only_one_is_meant(self) -> None:
        both = table(quasi=["age"], sensitive=["illness"])
        assert sensitive_attribute([LDiversity(2), sd.KAnonymity(2)], both) == "illness"
        assert sensitive_attribute(sd.KAnonymity(2), both) is None

    def test_of_several_one_must_be_named(self) -> None:
        both = table(quasi=["age"], sensitive=["illness", "salary"])
        with pytest.raises(sd.InputError, match=r"'illness', 'salary'. Name one: attribute='illness' "):
            sensitive_attribute(TCloseness(0.1), both)
        assert sensitive_attribute(TCloseness(0.1, attribute="salary"), both) == "salary"
        with pytest.raises(sd.ParameterError, match="several sensitive attributes: 'illness', 'salary'"):
            sensitive_attribute(
                [LDiversity(2, attribute="illness"), TCloseness(0.1, attribute="salary")], both
            )

    def test_there_must_be_one(self) -> None:
        none = table(quasi=["age"])
        with pytest.raises(sd.InputError, match="distinct 2-diversity needs a sensitive attribute"):
            sensitive_attribute(LDiversity(2), none)
        with pytest.raises(sd.InputError, match="the schema calls 'illness' other"):
            sensitive_attribute(LDiversity(2, attribute="illness"), none)
        with pytest.raises(sd.InputError, match="there is no column 'shoe'"):
            sensitive_attribute(LDiversity(2, attribute="shoe"), none)


@pytest.mark.parametrize("requirement", [sd.KAnonymity(1), LDiversity(1), TCloseness(1)], ids=str)
def test_no_blocks_have_no_measure(requirement: BlockRequirement) -> None:
    nothing = np.empty(0, dtype=np.int64)
    blocks = Blocks(nothing, np.array([0]), nothing.astype(np.int32), nothing, 1, np.ones(1), "s")
    with pytest.raises(sd.InputError, match="no blocks"):
        requirement.measure(blocks)
