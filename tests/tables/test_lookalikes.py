"""Texts that people take for one another."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sudare.tables.lookalikes import lookalikes, skeleton


@pytest.mark.parametrize(
    "other",
    ["Name", "name ", " name", "na\u200bme", "na\u00a0me", "ｎａｍｅ", "n\u0430me", "nam\u0435", "nα\u2060me", "na\tme",
     "na\u034fme", "name\ufe0f", "\ufeffname", "NΑΜΕ", "na\x00me"],
    ids=ascii,
)  # fmt: skip
def test_twins(other: str) -> None:
    assert skeleton(other) == skeleton("name")
    assert lookalikes(["age", "name", other]) == [("name", other)]


@pytest.mark.parametrize("other", ["names", "nam", "name_2", "naem", "näme"])
def test_other_names_are_no_twins(other: str) -> None:
    assert lookalikes(["name", other]) == []


def test_accents_are_put_on_after_what_hides_between() -> None:
    assert skeleton("a\u200b\u0301") == skeleton("\u0430\u0301") == skeleton("\u00e1")


def test_the_same_text_twice_is_no_twin() -> None:
    assert lookalikes(["a", "a"]) == []


@given(st.text())
def test_a_skeleton_is_its_own(text: str) -> None:
    assert skeleton(skeleton(text)) == skeleton(text)
    assert skeleton(f" {text}\u200b") == skeleton(text)
