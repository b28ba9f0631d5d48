"""Hierarchies fit what values are."""

from __future__ import annotations

import polars as pl
import pytest

from sudare.drafting.readings import bands_of
from sudare.drafting.trees import draft_hierarchy
from sudare.tables.dictionary import Dictionary
from sudare.tables.hierarchy import Hierarchy


def drafted(values: list, name: str = "x") -> object:
    return draft_hierarchy(Dictionary(pl.Series(name, sorted(set(values))), missing=False))


def paths(values: list, name: str = "x") -> dict[str, tuple]:
    tree = drafted(values, name)
    assert isinstance(tree, Hierarchy)
    return {path[0]: path[1:] for path in tree.rows()}


def test_bands_become_wider_bands() -> None:
    bands = paths(["0-9", "10-19", "20-29", "30-39", "40-49", "50+", "unknown"])
    assert bands["10-19"] == ("0-19", "0-39", "*")
    assert bands["50+"] == ("40+", "40+", "*")
    assert bands["unknown"] == ("unknown", "unknown", "*")


@pytest.mark.parametrize(
    "texts",
    [
        ["under 18", "18 to 29", "30 to 64", "65 and over"],
        ["<18", "18-29", "30-64", ">=65"],
        ["18歳未満", "18〜29歳", "30〜64歳", "65歳以上"],
        ["unter 18", "18 bis 29", "30 bis 64", "65 und älter"],
        ["moins de 18", "18 à 29", "30 à 64", "65 et plus"],
        ["menos de 18", "18 a 29", "30 a 64", "65 y más"],
    ],
)
def test_bands_are_read_in_all_languages(texts: list[str]) -> None:
    read = bands_of(texts)
    assert read is not None
    assert [str(read[text]) for text in texts] == ["<=17", "18-29", "30-64", "65+"]


@pytest.mark.parametrize(
    "texts", [["150-0001", "530-0002", "531-0003"], ["a", "b", "c"], ["1-5", "3-8", "7-9"]]
)
def test_what_is_no_band_is_none(texts: list[str]) -> None:
    assert bands_of(texts) is None


def test_numbers_with_a_unit_become_intervals_of_it() -> None:
    heights = paths([f"{height} cm" for height in range(150, 190)])
    assert heights["171 cm"][0] == "[170, 172) cm"


def test_icd_codes_climb_to_their_category_and_chapter() -> None:
    assert paths(["E11.9", "E10.1", "I10", "S72.0"])["S72.0"] == ("S72", "S00-T98", "*")


def test_british_post_codes_lose_their_parts() -> None:
    assert paths(["SW1A 1AA", "EC1A 1BB", "M1 1AE"])["SW1A 1AA"] == ("SW1A", "SW", "*")


def test_codes_are_masked_and_amounts_are_not() -> None:
    codes = list(range(1111, 9999, 37))
    assert drafted(codes, "occupation_code") == "mask"
    assert drafted(list(range(1, 53)), "industry code") == "suppress"
    assert drafted(codes, "distance") == {"kind": "intervals", "width": 500}


def test_skewed_numbers_are_cut_by_quantiles() -> None:
    assert drafted([int(1.4**i) for i in range(5, 60)]) == {"kind": "intervals", "quantiles": 16}
