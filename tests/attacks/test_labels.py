from __future__ import annotations

import datetime as dt
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sudare as sd
from sudare.attacks.labels import LabelReader
from sudare.generalization.labels import listing
from sudare.tables.column import Column
from sudare.tables.dictionary import Dictionary

DAYS = [dt.date(2024, 1, 1), dt.date(2024, 1, 15), dt.date(2024, 2, 1)]
TIMES = [dt.datetime(2024, 1, 1, 8), dt.datetime(2024, 1, 1, 9, 30)]
TREE = sd.Hierarchy.from_rows(
    [["Paris", "France", "*"], ["Lyon", "France", "*"], ["Oslo", "Norway", "*"], ["Ayr", "Scotland", "*"]]
)
ROUGH = sd.Hierarchy.groups({1: "1", 2: "1", 3: "[2, 3]", 4: "*"})  # labels that look like others


def column_of(values: list[Any], hierarchy: sd.Hierarchy | None = None, dtype: Any = None) -> Dictionary:
    schema = sd.Schema.from_roles(quasi=["x"], hierarchies={"x": hierarchy} if hierarchy else None)
    return sd.read(pl.DataFrame({"x": pl.Series(values, dtype=dtype)}), schema)["x"]


def covered(column: Dictionary, label: str | None) -> list[Any] | None:
    codes = LabelReader(column).covered(label)
    return None if codes is None else [([*column.values.to_list(), None])[code] for code in codes]


NUMBERS = column_of([20, 25, 30, 41, None])
FRACTIONS = column_of([-0.0, 0.0, 0.1, 0.3, 1e16, float("nan"), float("inf")])
TOWNS = column_of(["Paris", "Lyon", "Oslo", None], TREE)


@pytest.mark.parametrize(
    ("label", "values"),
    [
        ("25", [25]),
        ("25.0", [25]),
        ("+25.00", [25]),
        ("26", []),
        ("[20, 30]", [20, 25, 30]),
        ("[20, 30)", [20, 25]),
        ("(20, 30]", [25, 30]),
        ("(20, 30)", [25]),
        ("[19.5, 20.5]", [20]),
        ("[-inf, 25]", [20, 25]),
        ("[26, 29]", []),
        ("< 25", [20]),
        (">= 25", [25, 30, 41]),
        ("*", [20, 25, 30, 41, None]),
        (None, [None]),
        ("{20, (missing)}", [20, None]),
        ('{"[20, 30]", (missing)}', [20, 25, 30, None]),
        ('{41, "{20, 25}"}', [20, 25, 41]),
        ("{20, *}", [20, 25, 30, 41, None]),
        ("(missing)", None),
        ("[30, 20]", None),
        ("[20; 30]", None),
        ("[20, old]", None),
        ("twenty", None),
        ("{20, twenty}", None),
        ("{20,25}", None),
        ('{"\\x", 20}', None),
        ("{20", None),
        ("", None),
        ("snan", None),
    ],
)
def test_labels_of_numbers(label: str | None, values: list[Any] | None) -> None:
    assert covered(NUMBERS, label) == values


@pytest.mark.parametrize(
    ("label", "values"),
    [
        ("0", "[-0.0, 0.0]"),
        ("0.30", "[0.3]"),
        ("[0.1, 0.3]", "[0.1, 0.3]"),
        ("1e+16", "[1e+16]"),
        ("1e16", "[1e+16]"),
        ("[0.3, inf]", "[0.3, 1e+16, inf]"),
        ("nan", "[nan]"),
        ("[inf, nan]", "[inf, nan]"),
    ],
)
def test_labels_of_fractions(label: str, values: str) -> None:
    assert str(covered(FRACTIONS, label)) == values


def test_fractions_of_32_bits() -> None:
    column = column_of([0.1, 0.7], dtype=pl.Float32)
    assert len(covered(column, "0.1") or []) == 1
    assert len(covered(column, "[0.1, 0.7]") or []) == 2


@pytest.mark.parametrize(
    ("label", "values"),
    [
        ("2024-01-15", DAYS[1:2]),
        ("[2024-01-01, 2024-02-01)", DAYS[:2]),
        ("[2024-01-02, 2024-12-31]", DAYS[1:]),
        ("2024-03-01", []),
        ("2024-13-01", None),
        ("2024", None),
    ],
)
def test_labels_of_dates(label: str, values: list[Any] | None) -> None:
    assert covered(column_of(DAYS), label) == values


def test_labels_of_times() -> None:
    column = column_of(TIMES)
    for text in ("2024-01-01T08:00:00", "2024-01-01 08:00:00.000000", "[2024-01-01, 2024-01-01T09:00:00]"):
        assert covered(column, text) == TIMES[:1]
    assert covered(column, "2024-01-01T08:00:00+00:00") is None  # of a zone, which these are not
    clock = column_of([dt.time(8), dt.time(9)])
    assert covered(clock, "[08:30:00, 09:00:00]") == [dt.time(9)]


@pytest.mark.parametrize(
    ("label", "values"),
    [
        ("Paris", ["Paris"]),
        ("France", ["Lyon", "Paris"]),
        ("Scotland", []),  # nobody known lives there
        ("Ayr", []),
        ("{Norway, Lyon}", ["Lyon", "Oslo"]),
        ("{France, (missing)}", ["Lyon", "Paris", None]),
        (None, [None]),
        ("Italy", None),
        ("[Lyon, Paris]", None),
    ],
)
def test_labels_of_a_hierarchy(label: str | None, values: list[Any] | None) -> None:
    assert covered(TOWNS, label) == values


def test_a_declared_domain_is_known() -> None:
    schema = sd.Schema.from_roles(quasi=["x"], domains={"x": [3, 1, 2]})
    column = sd.read(pl.DataFrame({"x": [1, 1]}), schema)["x"]
    assert covered(column, "[2, 3]") == [3, 2]  # in the declared order


def test_truth_values() -> None:
    column = column_of([True, False, None])
    assert covered(column, "true") == covered(column, "True") == [True]
    assert covered(column, "{false, (missing)}") == [False, None]


def test_what_has_several_readings_covers_all_of_them() -> None:
    column = column_of([1, 2, 3, 4], ROUGH)
    assert covered(column, "1") == [1, 2]
    assert covered(column, "[2, 3]") == [2, 3]
    assert covered(column, "*") == [1, 2, 3, 4, None]
    texts = column_of(["a", "b", "{a, b}", "[1, 2]", "(missing)", None])
    assert covered(texts, "{a, b}") == ["a", "b", "{a, b}"]
    assert covered(texts, "[1, 2]") == ["[1, 2]"]
    assert covered(texts, "(missing)") == ["(missing)"]
    assert covered(texts, "{a, (missing)}") == ["(missing)", "a", None]


@given(st.lists(st.one_of(st.none(), st.text('ab{},"[]()* \\\n', max_size=4)), min_size=2, unique=True))
def test_any_text_can_be_listed(values: list[str | None]) -> None:
    column = Column.encode(pl.Series("x", values, dtype=pl.String))
    codes = covered(column.dictionary, listing(values[:-1]))
    assert codes is not None
    assert set(values[:-1]) <= set(codes)
