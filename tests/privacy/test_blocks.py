from __future__ import annotations

import polars as pl
import pytest
from hypothesis import given

import sudare as sd
from sudare.privacy.blocks import Blocks
from sudare.privacy.l_diversity import LDiversity
from sudare.tables.counts import count
from tests.privacy import strategies
from tests.privacy.plain import VALUES, Records, blocks_of, histograms


@given(records=strategies.records)
def test_blocks_are_the_records_grouped(records: Records) -> None:
    blocks = blocks_of(records)
    expected = histograms(records)
    assert len(blocks) == len(expected)
    assert blocks.sizes.tolist() == [histogram.total() for histogram in expected]
    for b, histogram in enumerate(expected):
        part = slice(blocks.start[b], blocks.start[b + 1])
        pairs = zip(blocks.value[part].tolist(), blocks.count[part].tolist(), strict=True)
        assert list(pairs) == sorted(histogram.items())
    whole = blocks.whole
    values = [value for _, value in records]
    assert whole.sizes.tolist() == [len(records)]
    assert dict(zip(whole.value.tolist(), whole.count.tolist(), strict=True)) == {
        value: values.count(value) for value in values
    }
    assert blocks.shares.tolist() == [values.count(value) / len(values) for value in range(VALUES)]


def test_without_a_sensitive_attribute_only_sizes_count() -> None:
    frame = pl.DataFrame({"age": [30, 30, 40], "illness": ["flu", "cold", "flu"]})
    table = sd.read(frame, sd.Schema.from_roles(quasi=["age"], sensitive=["illness"]))
    blocks = Blocks.of_table(table, ["age"], None)
    assert (blocks.sizes.tolist(), blocks.values, blocks.whole.sizes.tolist()) == ([2, 1], 0, [3])
    assert Blocks.of_table(table, [], None).sizes.tolist() == [3]
    assert Blocks.of_table(table, [], "illness").count.tolist() == [1, 2]
    assert Blocks.of_table(table, ["age"], "illness").start.tolist() == [0, 2, 3]


def test_a_missing_value_is_a_value_of_its_own() -> None:
    table = sd.read(pl.DataFrame({"age": [30, 30], "illness": ["flu", None]}))
    blocks = Blocks.of(table.counts(["age", "illness"]), "illness")
    assert blocks.values == 2
    assert LDiversity(2).measure(blocks).holds


def test_the_sensitive_column_comes_last() -> None:
    counts = count({"s": blocks_of([(0, 0)]).value, "age": blocks_of([(0, 0)]).value}, sizes=[1, 1])
    with pytest.raises(sd.InputError, match="'s' must be the last column counted, not 'age'"):
        Blocks.of(counts, "s")
