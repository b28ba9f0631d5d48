"""Verification of harmless values and of proximity: by code of its own, against the definitions and against the methods'."""

from __future__ import annotations

import json
import math
from collections import Counter
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sudare as sd
from sudare.privacy.blocks import Blocks
from sudare.privacy.promises import promise_from_json, promise_to_json
from tests.privacy import plain
from tests.privacy.plain import NUMBERS, Records
from tests.privacy.strategies import diversities, proximities, records

SCHEMA = sd.Schema.from_roles(quasi=["block"], sensitive=["s"])


def published(given: Records) -> pl.DataFrame:
    return pl.DataFrame({"block": [f"b{block}" for block, _ in given], "s": [NUMBERS[v] for _, v in given]})


@given(given=records, requirement=st.one_of(diversities, proximities))
def test_by_the_definition_and_as_the_methods_measure(given: Records, requirement: sd.LDiversity) -> None:
    table = Counter(value for _, value in given)
    expected = all(plain.holds(requirement, own, table) for own in plain.histograms(given))
    frame = published(given)
    (finding,) = sd.verify(frame, requirement, SCHEMA).findings
    assert finding.holds == expected
    measure = requirement.measure(Blocks.of_table(sd.read(frame, SCHEMA), ["block"], "s"))
    assert (finding.name, finding.requirement) == (measure.name, str(requirement))
    assert finding.value == pytest.approx(measure.value)


@given(st.lists(st.one_of(st.integers(-40, 40), st.just(None)), min_size=1, max_size=12), st.integers(0, 9))
def test_exact_decimals_and_missing_values(tenths: list[int | None], width: int) -> None:
    """0.8 - 0.6 is a little more than 0.2 in binary; written, it is 0.2."""
    tenths = [*tenths, 3]
    numbers = [None if x is None else x / 10 for x in tenths]
    frame = pl.DataFrame({"block": ["b"] * len(numbers), "s": pl.Series(numbers, dtype=pl.Float64)})
    asked = sd.LDiversity(1, "proximity", within=width / 10)
    most = max(
        tenths.count(None), *(sum(y is not None and x <= y <= x + width for y in tenths) for x in tenths if x is not None), 0
    )  # fmt: skip
    assert sd.verify(frame, asked, SCHEMA).value == pytest.approx(len(numbers) / most)
    assert asked.measure(Blocks.of_table(sd.read(frame, SCHEMA), ["block"], "s")).value == pytest.approx(
        len(numbers) / most
    )


def test_a_csv_file_is_read_as_numbers(tmp_path: Path) -> None:
    frame = pl.DataFrame({"block": ["b"] * 4, "s": [100, 101, 200, 300]})
    frame.write_csv(tmp_path / "data.csv")
    asked = sd.LDiversity(2, "proximity", within=0.01, relative=True)
    assert sd.verify(tmp_path / "data.csv", asked, SCHEMA).value == 2
    with pytest.raises(sd.InputError, match="has 'a', which is no number"):
        sd.verify(frame.with_columns(s=pl.Series(list("abcd"))), asked, SCHEMA)


def test_missing_values_may_be_harmless() -> None:
    frame = pl.DataFrame({"block": list("aabb"), "s": [None, None, "flu", "gout"]})
    assert not sd.verify(frame, sd.LDiversity(2), SCHEMA).holds
    assert sd.verify(frame, sd.LDiversity(2, harmless=[None]), SCHEMA).value == 2
    every = sd.LDiversity(7, harmless=["", "flu", "gout"])
    assert sd.verify(frame, every, SCHEMA).findings[0].value == 7


def test_findings_are_told_apart_by_what_they_differ_in() -> None:
    frame = pl.DataFrame({"block": list("aabb"), "s": [1, 2, 1, 3]})
    near = [sd.LDiversity(2, "proximity", within=w, relative=w < 1) for w in (0.5, 1)]
    measured = sd.verify(frame, [*near, sd.LDiversity(2), sd.LDiversity(1, harmless=[1])], SCHEMA).measured
    assert measured == {
        "l_proximity:within=0.5 relative": 2,
        "l_proximity:within=1": 1,
        "l_distinct:harmless=": 2,
        "l_distinct:harmless=1": 1,
    }


@pytest.mark.parametrize(
    "promise",
    [
        sd.LDiversity(3, "entropy", harmless=["No finding", None]),
        sd.LDiversity(2.5, "proximity", within=0.05, relative=True, attribute="income"),
    ],
    ids=str,
)
def test_promises_are_plain_data(promise: sd.LDiversity) -> None:
    data = json.loads(json.dumps(promise_to_json(promise)))
    assert promise_from_json(data) == promise
    for name in ("harmless", "within", "relative"):
        for wrong in (7j, [[]], "x", math.nan):
            with pytest.raises(sd.InputError):
                promise_from_json({**data, name: wrong})
    with pytest.raises(sd.InputError, match="other parameters"):
        promise_from_json({**data, "anything": 1})


def test_what_older_certificates_promise_is_still_read() -> None:
    old = {"requirement": "LDiversity", "l": 3, "kind": "distinct", "c": None, "attribute": None}
    assert promise_to_json(sd.LDiversity(3)) == old
    assert promise_from_json(old) == sd.LDiversity(3)
    with pytest.raises(sd.InputError, match="is not written as Sudare writes it"):
        promise_from_json({**old, "harmless": []})
    with pytest.raises(sd.InputError, match="is not written as Sudare writes it"):
        promise_from_json({**old, "harmless": ["b", "a"]})


def test_fractions_decide() -> None:
    """A third of the records is not more than one in three, however 1/3 is rounded."""
    frame = pl.DataFrame({"block": ["b"] * 3, "s": [0.1, 0.2, 0.3]})
    assert sd.verify(frame, sd.LDiversity(3, "proximity", within=0.05), SCHEMA).holds
    assert not sd.verify(frame, sd.LDiversity(2, "proximity", within=0.1), SCHEMA).holds
