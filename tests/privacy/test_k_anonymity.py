from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sudare as sd
from sudare.privacy.blocks import Blocks
from sudare.tables.counts import count


@given(codes=st.lists(st.integers(0, 5), min_size=1, max_size=40), k=st.integers(1, 10))
def test_measures_the_smallest_block(codes: list[int], k: int) -> None:
    blocks = Blocks.of(count({"a": np.array(codes)}, sizes=[6]), None)
    measure = sd.KAnonymity(k).measure(blocks)
    assert measure.value == min(codes.count(code) for code in codes)
    assert measure.holds == (measure.value >= k)
    assert blocks.sizes[measure.worst] == measure.value
    assert sd.KAnonymity(k).failing(blocks).sum() == sum(codes.count(code) < k for code in set(codes))


@pytest.mark.parametrize("k", [0, -1, 2.0, "2", True, None])
def test_refuses_what_k_cannot_be(k: object) -> None:
    with pytest.raises(
        sd.ParameterError, match="The 'k' parameter of KAnonymity must be a whole number of 1 or more"
    ):
        sd.KAnonymity(k)  # type: ignore[arg-type]


def test_says_why_it_is_impossible() -> None:
    with pytest.raises(
        sd.RequirementError,
        match=r"^5-anonymity is impossible: there are only 3 records\. Ask for a smaller k\.$",
    ):
        sd.KAnonymity(5).refuse_if_impossible(Blocks.of_sizes(np.array([3])), suppressing=True)
