"""The GPU agrees with the CPU to the last bit. (Skipped where there is no GPU; the CPU's twins are in test_pairs.)"""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sudare.errors import ParameterError
from sudare.similarity.pairs import Marks, accelerator_available, kth_likeness, likest_by_value
from tests.similarity.cases import Case, cases, drawn

pytestmark = pytest.mark.skipif(not accelerator_available(), reason="no GPU")


def agree(case: Case, ks: list[int]) -> None:
    for actual, expected in (
        (
            likest_by_value(case.marks, case.value, case.values, device="gpu"),
            likest_by_value(case.marks, case.value, case.values),
        ),
        (
            kth_likeness(case.marks, case.weights, ks, device="gpu"),
            kth_likeness(case.marks, case.weights, ks),
        ),
    ):
        assert actual.dtype == expected.dtype
        assert np.array_equal(actual, expected)


@settings(max_examples=200)
@given(case=cases(), ks=st.lists(st.integers(1, 32), min_size=1, max_size=3))
def test_random_tuples(case: Case, ks: list[int]) -> None:
    agree(case, ks)


MARKS = [
    pytest.param([2, 3, 5, 9] * 3, [1, 2, 5, 1] * 3, id="a few columns"),
    pytest.param([2, 3, 5, 9] * 40, [1, 2, 5, 1] * 40, id="many columns"),
    pytest.param([2, 3, 90, 5000], [300, 16_000, 17, 7], id="two digits, and marks compared"),
    pytest.param([2, 3, 5], [90_000, 16_500, 7_000_001], id="gains beyond two digits"),
    pytest.param([40] * 16, [1] * 16, id="five parts"),
    pytest.param([60] * 14, [100] * 14, id="seven parts"),
    pytest.param([50] * 30, [1] * 30, id="more than fit"),
    pytest.param([1, 1], [3, 4], id="nothing that differs"),
    pytest.param([7, 7], [0, 0], id="nothing to gain"),
]


@pytest.mark.parametrize(("sizes", "gains"), MARKS)
@pytest.mark.parametrize("values", [2, 40])
def test_whole_tiles(sizes: list[int], gains: list[int], values: int) -> None:
    agree(drawn(3000, sizes, gains, values), [1, 2, 5, 17])


def test_levels_of_one_attribute_are_one_factor() -> None:
    leaf = np.random.default_rng(3).integers(0, 60, 2000)
    levels = np.column_stack([leaf, leaf // 3, leaf // 12, leaf // 30]).astype(np.int32)
    both = Marks(np.hstack([levels, levels[::-1, ::-1]]), np.array([1, 2, 3, 4, 60, 50, 40, 30]))
    case = drawn(2000, [2], [1], 6)
    agree(Case(both, case.weights, case.value, 6), [5])


def test_more_than_a_tile_keeps_is_refused() -> None:
    case = drawn(100, [3], [1], 2)
    with pytest.raises(
        ParameterError, match=r"must be at most 32 on a GPU\. Got 33 instead: use device='cpu'"
    ):
        kth_likeness(case.marks, case.weights, 33, device="gpu")
