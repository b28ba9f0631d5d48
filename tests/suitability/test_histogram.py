from __future__ import annotations

from collections import Counter
from fractions import Fraction
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sudare as sd
from sudare.errors import InputError, ParameterError
from sudare.suitability.histogram import max_blocks, min_block_distinct, min_block_entropy
from tests.privacy.plain import has_distinct, has_entropy
from tests.suitability.plain import partitions

counts = st.lists(st.one_of(st.integers(0, 3), st.integers(0, 60)), min_size=1, max_size=9).filter(any)


def most_blocks(counts: list[int], l: int) -> int:
    """The largest B with sum_i min(N_i, B) >= l B."""
    return max(B for B in range(sum(counts) + 1) if sum(min(N, B) for N in counts) >= l * B)


def reaches(counts: list[int], a: int, l: Fraction) -> bool:
    """f(a) >= log l, the paper's f, both sides times S_0 and with the logarithms undone: in whole numbers."""
    falling = sorted((N for N in counts if N), reverse=True)
    total = sum(falling)
    first = next((i for i, N in enumerate(falling) if N * a <= total), len(falling))
    left = Fraction(a) ** sum(falling[first:])
    for N in falling[:first]:
        left *= Fraction(total, N) ** N
    return left >= l**total


@given(counts, st.integers(1, 10))
@settings(max_examples=300)
def test_max_blocks_is_the_largest_number_that_the_counts_allow(counts: list[int], l: int) -> None:
    expected = most_blocks(counts, l)
    assert max_blocks(counts, l) == sd.bounds.max_blocks(counts, l) == expected
    assert min_block_distinct(counts, l) == (-(-sum(counts) // expected) if expected else None)


@given(counts, st.sampled_from(["1", "1.5", "2", "2.5", "3", "3.25", "4", "7"]))
@settings(max_examples=300)
def test_min_block_entropy_is_the_first_that_reaches_log_l(counts: list[int], l: str) -> None:
    exact = Fraction(l)
    sizes = range(1, sum(counts) + 1)
    expected = next((a for a in sizes if reaches(counts, a, exact)), None)
    asked = int(exact) if exact.denominator == 1 else float(exact)
    assert min_block_entropy(counts, asked) == sd.bounds.min_block_entropy(counts, asked) == expected


def test_the_worked_examples() -> None:
    assert max_blocks([10, 8, 7, 3, 2], l=3) == 10
    assert min_block_entropy([10, 8, 7, 3, 2], l=3) == 3
    assert max_blocks([50, 25, 15, 7, 3], l=3) == 25
    assert min_block_distinct([50, 25, 15, 7, 3], l=3) == 4
    assert min_block_entropy([50, 25, 15, 7, 3], l=3) == 6


@pytest.mark.parametrize("l", [2, 3, 4, 5, 7, 10, 12])
@pytest.mark.parametrize("each", [1, 2, 3, 7, 1000, 10**6])
def test_equally_frequent_values_are_just_enough(l: int, each: int) -> None:
    """The tie f(a) = log l must not be lost to rounding."""
    assert min_block_entropy([each] * l, l) == l
    assert max_blocks([each] * l, l) == each
    assert min_block_distinct([each] * l, l) == l
    assert min_block_entropy([each] * l, l + 1) is None


def test_large_counts() -> None:
    counts = np.array([10**9, 10**9 - 1, 5, 4])
    assert max_blocks(counts, 2) == 10**9 + 4
    assert max_blocks(counts, 3) == 9
    assert min_block_distinct(counts, 3) == -(-int(counts.sum()) // 9)
    assert min_block_entropy(counts, 2) == 2


# -- what the numbers mean -------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(12))
def test_no_partition_has_more_blocks_or_only_smaller_ones(seed: int) -> None:
    """All partitions of a small multiset of sensitive values are tried."""
    r = Random(seed)
    items = sorted(r.choices("abcd", r.choice([(1, 1, 1, 1), (6, 3, 1, 1)]), k=r.randint(4, 8)))
    own = list(Counter(items).values())
    most = dict.fromkeys((2, 3, 4), 0)
    for partition in partitions(items):
        blocks = [Counter(block) for block in partition]
        largest = max(block.total() for block in blocks)
        for l in (2, 3, 4):
            if all(has_distinct(block, l) for block in blocks):
                most[l] = max(most[l], len(blocks))
                assert largest >= (min_block_distinct(own, l) or 0)
        for l in ("1.5", "2", "2.5", "3", "4"):
            if all(has_entropy(block, Fraction(l)) for block in blocks):
                size = min_block_entropy(own, float(l))
                assert size is not None
                assert largest >= size
    assert most == {l: max_blocks(own, l) for l in (2, 3, 4)}


# -- what is refused -------------------------------------------------------------------------------


@pytest.mark.parametrize("counts", [[], [0, 0], [-1, 2], [1.5, 2], [[1, 2]], ["a"], [True, True], 5])
def test_counts_that_are_none_are_refused(counts: object) -> None:
    for ask in (max_blocks, min_block_distinct, min_block_entropy):
        with pytest.raises(InputError, match="must be whole numbers, not all 0"):
            ask(counts, 2)  # type: ignore[arg-type]


@pytest.mark.parametrize("l", [0, -1, 2.5, "2", None, True, float("nan")])
def test_an_l_that_is_none_is_refused(l: object) -> None:
    for ask in (max_blocks, min_block_distinct):
        with pytest.raises(ParameterError, match=r"The 'l' parameter of \w+ must be .* Got .* instead"):
            ask([3, 2], l)  # type: ignore[arg-type]
    if l != 2.5:
        with pytest.raises(ParameterError, match="The 'l' parameter of min_block_entropy must be"):
            min_block_entropy([3, 2], l)  # type: ignore[arg-type]
