from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sudare.tables import counts as module
from sudare.tables.counts import Counts, count, count_index

Columns = dict[str, np.ndarray]


def check(columns: Columns, sizes: list[int]) -> Counts:
    """Compare with a dictionary from tuples to how often they occur."""
    rows = [tuple(int(code) for code in row) for row in zip(*columns.values(), strict=True)]
    expected = sorted(Counter(rows).items())
    counts, index = count_index(columns, sizes)
    assert [tuple(row) for row in counts.codes.tolist()] == [row for row, _ in expected]
    assert counts.weights.tolist() == [weight for _, weight in expected]
    assert [tuple(counts.codes[place].tolist()) for place in index] == rows
    assert counts.total == len(rows)
    assert len(counts) == len(expected)
    assert counts.names == tuple(columns)
    assert counts.sizes == tuple(sizes)
    without_index = count(columns, sizes)
    assert np.array_equal(without_index.codes, counts.codes)
    assert np.array_equal(without_index.weights, counts.weights)
    return counts


# Up to eight columns of up to 2**31 codes: from one small array to keys of 248 bits.
SIZES = st.lists(st.sampled_from([1, 2, 3, 255, 256, 2**16, 2**22, 2**31]), min_size=1, max_size=8)


@st.composite
def coded(draw: st.DrawFn) -> tuple[Columns, list[int]]:
    sizes = draw(SIZES)
    rows = draw(st.integers(1, 60))
    few = draw(st.booleans())  # few distinct codes, so that tuples repeat
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    columns = {}
    for i, size in enumerate(sizes):
        codes = rng.integers(0, size, rows)
        columns[f"c{i}"] = np.where(codes % 2, size - 1, 0) if few else codes
    return columns, sizes


@settings(max_examples=200)
@given(coded())
def test_counts_equal_those_of_a_dictionary(case: tuple[Columns, list[int]]) -> None:
    check(*case)


@settings(max_examples=60)
@given(coded(), st.sampled_from([1, 2, 7]))
def test_counting_in_small_chunks(case: tuple[Columns, list[int]], chunk: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "CHUNK", chunk)
        check(*case)


@settings(max_examples=60)
@given(coded())
def test_the_dense_and_the_sorted_way_agree(case: tuple[Columns, list[int]]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "DENSE", 0)
        check(*case)


@pytest.mark.parametrize("possible", [2**22 - 1, 2**22, 2**22 + 1])
def test_on_both_sides_of_the_dense_limit(possible: int) -> None:
    check({"a": np.array([0, possible - 1, 0, possible // 2])}, [possible])


@pytest.mark.parametrize(
    "sizes",
    [
        [2**32, 2**32],  # exactly 2**64 possible tuples
        [2**32, 2**32, 2],
        [2**31, 2**31, 3],
        [3, 2**31, 2**31, 2**31, 2**31],
        [1] * 5 + [2**31] * 3 + [1],
        [2] * 200,
        [2**31] * 20,
    ],
)
def test_key_spaces_at_and_beyond_64_bits(sizes: list[int]) -> None:
    rng = np.random.default_rng(7)
    largest = [min(size, 2**31) for size in sizes]  # tuples are given as signed 32-bit numbers
    distinct = np.column_stack([rng.integers(0, size, 40) for size in largest])
    distinct[0], distinct[1] = 0, np.array(largest) - 1
    rows = distinct[rng.integers(0, 40, 300)]
    columns = {f"c{i}": rows[:, i] for i in range(len(sizes))}
    assert len(check(columns, sizes)) > 30 or max(sizes) < 3


def test_tuples_that_differ_only_in_the_last_of_many_columns() -> None:
    columns = {f"c{i}": np.array([5, 5, 5], dtype=np.uint32) for i in range(9)}
    columns["c9"] = np.array([1, 0, 1], dtype=np.uint32)
    counts = check(columns, [2**31] * 10)
    assert counts.weights.tolist() == [1, 2]


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.uint32, np.int64])
def test_codes_of_any_width(dtype: type[np.integer]) -> None:
    codes = np.array([255, 0, 254, 255], dtype=dtype)
    check({"a": codes, "b": codes[::-1], "c": codes}, [256, 256, 256])


def test_a_single_row() -> None:
    counts = check({"a": np.array([3]), "b": np.array([0])}, [4, 1])
    assert counts.codes.tolist() == [[3, 0]]


def test_a_single_column() -> None:
    counts = check({"a": np.array([2, 0, 2])}, [3])
    assert counts.codes.tolist() == [[0], [2]]


def test_more_rows_than_a_chunk() -> None:
    rng = np.random.default_rng(1)
    columns = {name: rng.integers(0, 40, 150_000).astype(np.uint8) for name in "abc"}
    check(columns, [40, 40, 40])


def test_many_rows_beyond_the_dense_limit() -> None:
    rng = np.random.default_rng(2)
    columns = {name: rng.integers(0, 7, 100_000) * 1000 for name in "abc"}
    check(columns, [7000, 7000, 7000])
