from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sudare.errors import MissingExtraError, ParameterError
from sudare.similarity.pairs import Marks, accelerator_available, kth_likeness, likest_by_value
from tests.similarity import plain
from tests.similarity.cases import Case, cases, drawn


@pytest.mark.slow
@given(case=cases())
def test_likest_by_value_is_the_largest_over_all_pairs(case: Case) -> None:
    largest = likest_by_value(case.marks, case.value, case.values)
    assert largest.dtype == np.int32
    assert largest.tolist() == plain.likest_by_value(case.marks, case.value, case.values)


@given(case=cases(), ks=st.lists(st.integers(1, 70), max_size=4))
def test_kth_likeness_is_the_kth_of_all_records(case: Case, ks: list[int]) -> None:
    likeness = kth_likeness(case.marks, case.weights, ks)
    assert (likeness.dtype, likeness.shape) == (np.int32, (len(ks), len(case.marks)))
    assert likeness.tolist() == [plain.kth_likeness(case.marks, case.weights, k) for k in ks]
    for k, row in zip(ks, likeness, strict=True):
        assert kth_likeness(case.marks, case.weights, k).tolist() == row.tolist()


WIDTHS = [
    pytest.param([2, 3, 5, 9, 30] * 3, [1, 2, 5, 0, 1] * 3, id="8 bits"),
    pytest.param([2, 5, 9, 2000], [60, 12, 20, 15], id="16 bits"),
    pytest.param([2, 5, 9, 70_000], [90_000, 12, 20, 15], id="32 bits"),
]


@pytest.mark.parametrize(("sizes", "gains"), WIDTHS)
def test_many_bundles_agree_with_a_plain_matrix(sizes: list[int], gains: list[int]) -> None:
    case = drawn(1500, sizes, gains, values=5)
    codes = case.marks.codes
    likeness = sum(
        gain * (codes[:, None, d] == codes[None, :, d]).astype(np.int64) for d, gain in enumerate(gains)
    )
    expected = [
        likeness[:, case.value == s].max(axis=1, initial=-1) if (case.value == s).any() else np.full(1500, -1)
        for s in range(5)
    ]
    assert np.array_equal(likest_by_value(case.marks, case.value, 5), np.column_stack(expected))
    falling = -np.sort(-np.repeat(likeness, case.weights, axis=1), axis=1)
    ks = [1, 2, 7, 20]
    assert np.array_equal(kth_likeness(case.marks, case.weights, ks), falling.T[np.array(ks) - 1])


def test_no_tuple_and_one_tuple() -> None:
    none = Marks(np.empty((0, 3), dtype=np.int32), np.array([1, 2, 3]))
    assert likest_by_value(none, np.array([], dtype=np.int64), 2).shape == (0, 2)
    assert kth_likeness(none, np.array([], dtype=np.int64), [1, 5]).shape == (2, 0)
    one = Marks(np.array([[4, 0, 1]], dtype=np.int32), np.array([1, 2, 3]))
    assert likest_by_value(one, np.array([1]), 3).tolist() == [[-1, 6, -1]]
    assert kth_likeness(one, np.array([3]), [1, 3, 4]).tolist() == [[6], [6], [-1]]


def test_all_tuples_equal() -> None:
    equal = Marks(np.zeros((300, 2), dtype=np.int32), np.array([3, 4]))
    assert (likest_by_value(equal, np.arange(300) % 2, 2) == 7).all()
    assert (kth_likeness(equal, np.ones(300, dtype=np.int64), 300) == 7).all()


def test_what_does_not_fit_is_refused() -> None:
    codes = np.zeros((2, 2), dtype=np.int32)
    with pytest.raises(ParameterError, match="one column of codes per gain"):
        Marks(codes, np.array([1]))
    with pytest.raises(ParameterError, match=r"sum to less than 2\^31"):
        Marks(codes, np.array([2**30, 2**30]))
    with pytest.raises(ParameterError, match=r"codes of marks must not be negative\. Got -1"):
        Marks(codes - 1, np.array([1, 1]))
    marks = Marks(codes, np.array([1, 1]))
    with pytest.raises(ParameterError, match="2 tuples needs a value from 0 to 1"):
        likest_by_value(marks, np.array([0, 2]), 2)
    with pytest.raises(ParameterError, match="2 tuples needs a weight of at least 1"):
        kth_likeness(marks, np.array([1, 0]), 2)
    with pytest.raises(ParameterError, match=r"must be at least 1\. Got \[2, 0\] instead"):
        kth_likeness(marks, np.array([1, 1]), [2, 0])


def test_a_missing_accelerator_is_named() -> None:
    if accelerator_available():
        pytest.skip("there is one here")
    marks = Marks(np.zeros((2, 2), dtype=np.int32), np.array([1, 1]))
    with pytest.raises((MissingExtraError, ParameterError), match=r"sudare\[gpu\]|finds no NVIDIA GPU"):
        likest_by_value(marks, np.array([0, 0]), 1, device="gpu")
