"""Values that may be known, and numbers that are close: parameters, words, refusals, and an example of each definition."""

from __future__ import annotations

import math

import numpy as np
import polars as pl
import pytest

import sudare as sd
from sudare.privacy.blocks import Blocks
from sudare.privacy.l_diversity import LDiversity
from sudare.privacy.values import window_groups, windows


def blocks(words: str, values: list[object]) -> Blocks:
    """Blocks as words, of which each letter is the place of a value."""
    rows = [(block, values["abcdefgh".index(x)]) for block, word in enumerate(words.split()) for x in word]
    frame = pl.DataFrame(rows, schema=["block", "s"], orient="row")
    return Blocks.of_table(sd.read(frame), ["block"], "s")


ILLNESSES: list[object] = ["well", "flu", "HIV", "gout", None]


def test_harmless_values_count_neither_for_diversity_nor_against_it() -> None:
    own = blocks("aaaa abc ab aabbcc bd", ILLNESSES)
    assert LDiversity(2).failing(own).tolist() == [True, False, False, False, False]
    assert LDiversity(2, harmless=["well"]).failing(own).tolist() == [False, False, True, False, False]
    entropy = LDiversity(2, "entropy", harmless=["well"])
    assert entropy.failing(own).tolist() == [False, False, True, False, False]
    assert entropy.measure(own).value == 1
    assert LDiversity(2, harmless=["well", "flu"]).measure(blocks("ab aab", ILLNESSES)).value == 2
    assert LDiversity(5, harmless=["well"]).measure(blocks("a aa", ILLNESSES)).holds


def test_missing_values_may_be_harmless() -> None:
    own = blocks("eee bc", ILLNESSES)
    assert LDiversity(2).failing(own).tolist() == [True, False]
    for name in (None, ""):
        assert not LDiversity(2, harmless=[name]).failing(own).any()


def test_values_are_named_by_any_spelling() -> None:
    own = blocks("aa bc", [1.0, 2.5, 4.0])
    for name in (1, 1.0, "1", "1.0"):
        assert LDiversity(2, harmless=[name]).failing(own).tolist() == [False, False]
    assert LDiversity(2, harmless=[1, "1.5", 1.5]) == LDiversity(2, harmless=["1.5", "1"])
    assert not LDiversity(2, harmless=[True]).failing(blocks("aa", [True])).any()


def test_what_proximity_asks_and_l_diversity_does_not() -> None:
    close, apart = blocks("abc", [1_000, 1_010, 1_020]), blocks("abc", [1_000, 1_100, 1_210])
    near = LDiversity(3, "proximity", within=0.05, relative=True)
    assert LDiversity(3).measure(close).holds
    assert near.measure(close).value == 1
    assert near.measure(apart).value == 3
    assert LDiversity(1, "proximity", within=10).measure(close).value == 1.5


def test_two_blocks_that_hold_do_so_together_as_those_around_values_do_not() -> None:
    """Of Li, Tao and Xiao's blocks, at most half lie within 10 of any value: 1 of 2, and 2 of 4. Together it is 4 of 6."""
    one, other = [50, 90], [41, 41, 59, 59]

    def around(values: list[int]) -> float:
        return max(sum(abs(x - y) <= 10 for y in values) for x in values) / len(values)

    assert around(one) <= 0.5
    assert around(other) <= 0.5
    assert around(one + other) > 0.5
    asked = LDiversity(2, "proximity", within=20)
    assert asked.failing(blocks("abbcc d", [50, 41, 59, 90])).any()
    assert asked.failing(blocks("aabb", [41, 59])).all()  # which looks at all intervals of 20 from the first


def test_windows() -> None:
    numbers = pl.Series([0.8, -1.0, 0.6, 0.0, math.inf, -1.1])
    order, end = windows(numbers, 7, 0.2, relative=False).tolist()
    assert order == [5, 1, 3, 2, 0, 4, 6]
    assert end == [2, 2, 3, 5, 5, 6, 7]  # 0.6 + 0.2 reaches 0.8; what is missing, or no number, is alone
    assert windows(numbers, 7, 0.1, relative=True)[1].tolist() == [2, 2, 3, 4, 5, 6, 7]
    assert window_groups(np.array([order, end])).tolist() == [2, 0, 2, 1, 3, 0, 4]


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"kind": "proximity"}, "'within' parameter of LDiversity must be a number of 0 or more"),
        ({"kind": "proximity", "within": -1}, "must be a number of 0 or more"),
        ({"kind": "proximity", "within": math.nan}, "must be a number of 0 or more"),
        (
            {"kind": "proximity", "within": 1, "relative": 1},
            "'relative' parameter of LDiversity must be true or false",
        ),
        ({"within": 1}, "'within' parameter of LDiversity must be left out for kind='distinct'"),
        ({"relative": True}, "'relative' parameter of LDiversity must be left out for kind='distinct'"),
        ({"kind": "proximity", "within": 1, "c": 2}, "'c' parameter of LDiversity must be left out"),
        ({"harmless": "flu"}, "'harmless' parameter of LDiversity must be a list of values"),
        ({"harmless": [["flu"]]}, "'harmless' parameter of LDiversity must be a list of values"),
    ],
    ids=str,
)
def test_wrong_parameters(parameters: dict[str, object], message: str) -> None:
    with pytest.raises(sd.ParameterError, match=message):
        LDiversity(2, **parameters)  # type: ignore[arg-type]


def test_words() -> None:
    many = LDiversity(2, "entropy", attribute="s", harmless=[*"gfedcba", None])
    assert str(many) == (
        "entropy 2-diversity of 's' (missing values, 'a', 'b', 'c', 'd' and 3 more harmless)"
    )
    assert str(LDiversity(2.5, "proximity", within=1_500)) == "proximity 2.5-diversity within 1500"
    assert str(LDiversity(2, "proximity", within=0.05, relative=True)) == "proximity 2-diversity within 5%"


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        (LDiversity(3, harmless=["well"]), "only 2 distinct values of 's' beside the harmless ones"),
        (
            LDiversity(1, harmless=["fine"]),
            "no record has 'fine' as its 's'. Name harmless values as they are",
        ),
        (LDiversity(1, harmless=[""]), "no record has a missing value as its 's'"),
        (LDiversity(2.1, "entropy", harmless=["well"]), "own entropy is log 2 beside the harmless ones"),
    ],
    ids=str,
)
def test_refusals(asked: LDiversity, message: str) -> None:
    with pytest.raises(sd.SudareError, match=message):
        asked.refuse_if_impossible(blocks("abcaaa", ILLNESSES))


def test_refusals_of_close_numbers() -> None:
    own = blocks("abbc", [1, 10, 11])
    with pytest.raises(
        sd.RequirementError, match="3 of the table's 4 records have values of 's' within 5 of each other"
    ):
        LDiversity(2, "proximity", within=5).refuse_if_impossible(own)
    LDiversity(2, "proximity", within=5).refuse_if_impossible(own, suppressing=True)
    with pytest.raises(sd.RequirementError, match="only 2 distinct values of 's', 5 apart,"):
        LDiversity(3, "proximity", within=5).refuse_if_impossible(own, suppressing=True)
    with pytest.raises(sd.InputError, match="is for numbers, and 's' has String"):
        LDiversity(2, "proximity", within=5).measure(blocks("ab", ["x", "y"]))
    with pytest.raises(sd.InputError, match="counted by codes alone"):
        LDiversity(2, harmless=["x"]).measure(Blocks.of(sd.read(pl.DataFrame({"s": [1]})).counts(["s"]), "s"))
