from __future__ import annotations

import datetime as dt
import math
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sudare as sd
from sudare import Hierarchy, InputError, Schema, Table
from tests import by_row


def read(values: Any, **attribute: Any) -> Table:
    """Read one column that has these values, with what is said of it."""
    missing = attribute.pop("missing", "own value")
    schema = Schema.from_dict({"attributes": {"x": {"role": "quasi", **attribute}}, "missing": missing})
    return sd.read(pl.DataFrame({"x": values}), schema)


def refused(values: Any, **attribute: Any) -> str:
    with pytest.raises(InputError) as error:
        read(values, **attribute)
    return str(error.value)


def fault_of(reading: Callable[[], Table]) -> str:
    try:
        reading()
    except InputError as error:
        return str(error)
    return ""


# -- domains ---------------------------------------------------------------------------------------


def test_the_declared_order_of_a_domain_gives_the_codes() -> None:
    column = by_row.column(read(["low", None, "high"], domain=["low", "middle", "high"]), "x")
    assert column.values.to_list() == ["low", "middle", "high"]
    assert column.codes.tolist() == [0, 3, 2]
    assert column.dictionary.size == 4
    assert column.decode().to_list() == ["low", None, "high"]


@settings(max_examples=60)
@given(st.data())
def test_a_domain_changes_codes_and_not_values(data: st.DataObject) -> None:
    domain = data.draw(st.lists(st.integers(0, 400), min_size=1, unique=True))
    values = data.draw(st.lists(st.none() | st.sampled_from(domain), min_size=1).filter(any_value))
    column = by_row.column(read(pl.Series(values, dtype=pl.Int64), domain=domain), "x")
    assert column.decode().to_list() == values
    assert column.values.to_list() == domain
    assert column.dictionary.size == len(domain) + (None in values)
    assert [domain[code] if code < len(domain) else None for code in column.codes] == values


def any_value(values: list) -> bool:
    return any(value is not None for value in values)


@pytest.mark.parametrize(
    ("values", "domain"),
    [
        ([2.0, 1.0], [1, 2]),
        ([2, 1], [1.0, 2.0]),
        (["2", "1"], [1, 2]),
        ([True, None], [False, True]),
        (["a", "b"], ["b", "a", "c"]),
        ([dt.date(2024, 1, 1)], [dt.date(2023, 1, 1), dt.date(2024, 1, 1)]),
        ([dt.datetime(2024, 1, 1, 5)], [dt.datetime(2024, 1, 1, 5)]),
        (pl.Series(["a", "b"], dtype=pl.Categorical), ["b", "a"]),
        (pl.Series(["a", "b"], dtype=pl.Enum(["a", "b", "c"])), ["c", "b", "a"]),
        (pl.Series([1, 2], dtype=pl.UInt8), [2, 1]),
    ],
)
def test_domains_of_every_kind(values: Any, domain: list) -> None:
    column = by_row.column(read(values, domain=domain), "x")
    assert list(map(str, column.values.to_list())) == list(map(str, domain))
    assert column.decode().dtype == pl.Series(domain).dtype  # whatever the source's is
    texts = pl.Series(values).cast(pl.String).str.strip_suffix(".0")
    assert column.decode().cast(pl.String).str.strip_suffix(".0").to_list() == texts.to_list()


def test_values_outside_the_domain_are_named_with_their_rows() -> None:
    message = refused(["a", "b", "c", None, "b"], domain=["a"])
    assert message.splitlines() == [
        "DataFrame, row 2, column 'x': 'b' is not in the declared domain.",
        "DataFrame, row 3, column 'x': 'c' is not in the declared domain.",
        "DataFrame, row 5, column 'x': 'b' is not in the declared domain.",
    ]


@pytest.mark.parametrize("domain", [[1.5, 1, 2], [1, 2, 1.5]])
def test_a_domain_that_the_type_of_the_values_does_not_have(domain: list) -> None:
    column = by_row.column(read([1, 2], domain=domain), "x")
    assert (column.decode().to_list(), column.decode().dtype) == ([1.0, 2.0], pl.Float64)


def test_a_domain_of_numbers_for_texts_that_are_none() -> None:
    assert "'a' is not in the declared domain" in refused(["a", "1"], domain=[1, 2])


# -- bounds ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("values", "bounds"),
    [
        ([0, 120, None], (0, 120)),
        ([0.5], (0, 1)),
        ([1], (0.5, 1.5)),
        ([Decimal("0.50")], (0, 1)),
        ([-math.inf, math.inf], (-math.inf, math.inf)),
        ([dt.date(2024, 1, 1), dt.date(2024, 12, 31)], (dt.date(2024, 1, 1), dt.date(2024, 12, 31))),
        ([dt.datetime(2024, 1, 1)], (dt.datetime(2024, 1, 1), dt.datetime(2024, 1, 2))),
    ],
)
def test_values_within_bounds_ends_included(values: list, bounds: tuple) -> None:
    assert read(values, bounds=bounds).frame()["x"].to_list() == values


@pytest.mark.parametrize(
    ("values", "bounds", "message"),
    [
        ([30, 121], (0, 120), r"row 2, column 'x': 121 is outside the declared bounds [0, 120]."),
        ([-1], (0, 120), "row 1, column 'x': -1 is outside the declared bounds [0, 120]."),
        ([0.0, math.nan], (0, 1), "row 2, column 'x': nan is outside the declared bounds [0, 1]."),
        ([math.inf], (0, 1e308), "row 1, column 'x': inf is outside the declared bounds [0, 1e+308]."),
        (
            [dt.date(2025, 1, 1)],
            (dt.date(2024, 1, 1), dt.date(2024, 12, 31)),
            "row 1, column 'x': 2025-01-01 is outside the declared bounds [2024-01-01, 2024-12-31].",
        ),
    ],
)
def test_values_outside_bounds_are_named(values: list, bounds: tuple, message: str) -> None:
    assert refused(values, bounds=bounds) == f"DataFrame, {message}"


def test_a_time_on_a_day_within_the_bounds_is_not_called_outside_them() -> None:
    bounds = (dt.date(2024, 1, 1), dt.date(2024, 12, 31))
    fault = fault_of(lambda: read([dt.datetime(2024, 5, 1, 10)], bounds=bounds))
    assert "outside" not in fault  # read or refused for another reason


@pytest.mark.parametrize("values", [["30"], [True], [dt.date(2024, 1, 1)]])
def test_values_that_cannot_be_compared_with_the_bounds(values: list) -> None:
    message = refused(values, bounds=(0, 120))
    assert "column 'x'" in message
    assert "outside" not in message


# -- hierarchies -----------------------------------------------------------------------------------

CITIES = Hierarchy.from_rows([["Paris", "France", "*"], ["Lyon", "France", "*"], ["Oslo", "Norway", "*"]])


def published(table: Table, level: int) -> list[str | None]:
    hierarchy = table["x"].hierarchy
    assert hierarchy is not None
    return hierarchy.publish(by_row.codes(table, "x"), level=level)


def test_the_leaves_of_the_hierarchy_are_the_codes_of_the_column() -> None:
    table = read(["Oslo", "Lyon", "Oslo"], hierarchy=CITIES)
    assert table["x"].values.to_list() == ["Lyon", "Oslo"]
    assert table["x"].hierarchy.leaves == ("Lyon", "Oslo")
    assert published(table, level=1) == ["Norway", "France", "Norway"]
    assert table["x"].hierarchy.height == 2


def test_missing_values_have_a_leaf_of_their_own() -> None:
    table = read(["Oslo", None, "Lyon"], hierarchy=CITIES)
    assert table["x"].hierarchy.leaves == ("Lyon", "Oslo", None)
    assert published(table, level=1) == ["Norway", None, "France"]
    assert table["x"].hierarchy.meet(2, [0, 1]).tolist() == [2, 2]


def test_a_domain_and_a_hierarchy_have_the_same_codes() -> None:
    table = read(["Lyon", None], domain=["Oslo", "Lyon", "Paris"], hierarchy=CITIES)
    assert table["x"].hierarchy.leaves == ("Oslo", "Lyon", "Paris", None)
    assert published(table, level=0) == ["Lyon", None]


def test_values_that_the_hierarchy_does_not_have_are_named() -> None:
    assert refused(["Oslo", "Rome", None, "Rome"], hierarchy=CITIES).splitlines() == [
        "DataFrame, row 2, column 'x': 'Rome' is not in the hierarchy.",
        "DataFrame, row 4, column 'x': 'Rome' is not in the hierarchy.",
    ]


def test_a_value_of_the_domain_that_no_row_has_and_the_hierarchy_does_not_have() -> None:
    message = refused(["Oslo"], domain=["Oslo", "Rome"], hierarchy=CITIES)
    assert "column 'x'" in message
    assert "'Rome'" in message


def test_numbers_find_their_leaves_in_any_spelling() -> None:
    groups = Hierarchy.groups({"1": "low", "2": "low", "3": "high"})
    for values in ([1, 3], [1.0, 3.0], ["1", "3"]):
        table = read(values, hierarchy=groups)
        assert published(table, level=1) == ["low", "high"]


def test_a_recipe_that_cannot_be_built_names_the_column() -> None:
    message = refused(["a"], hierarchy={"kind": "intervals", "width": 5})
    assert message.startswith("DataFrame, column 'x': Hierarchy.intervals needs numbers")
    message = refused([1], hierarchy={"kind": "intervals", "width": -5})
    assert message.startswith("DataFrame, column 'x': The 'width' parameter")
    message = refused([1], hierarchy="no.csv")
    assert message.startswith("DataFrame, column 'x': no.csv: the hierarchy cannot be opened")


# -- missing values --------------------------------------------------------------------------------


def test_missing_values_can_be_refused() -> None:
    assert refused([1, None, None], missing="refuse") == (
        "DataFrame, row 2, column 'x': the value is missing, and the schema says missing = \"refuse\"."
    )
    assert len(read([1, 2], missing="refuse")) == 2


@pytest.mark.parametrize("dtype", [pl.Int64, pl.String, pl.Float64, pl.Date, pl.Null])
@pytest.mark.parametrize(
    "attribute",
    [
        {},
        {"missing": "refuse"},
        {"bounds": [0, 1]},
        {"domain": [1, 2]},
        {"hierarchy": "suppress"},
        {"type": "number"},
    ],
)
def test_a_column_without_any_value_is_refused(dtype: pl.DataType, attribute: dict) -> None:
    message = refused(pl.Series([None, None], dtype=dtype), **attribute)
    assert message.startswith("DataFrame, column 'x': every value is missing.")


# -- all at once -----------------------------------------------------------------------------------


def test_only_the_first_faulty_rows_are_named_one_by_one() -> None:
    lines = refused(list(range(100)), bounds=(0, 9)).splitlines()
    assert len(lines) == 6
    assert lines[4] == "DataFrame, row 15, column 'x': 14 is outside the declared bounds [0, 9]."
    assert lines[5] == "DataFrame, column 'x': 85 more such rows."


def test_faults_of_all_columns_are_named_at_once(tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    path.write_text('age,note,sex,day\n30,"two\nlines",f,2024-01-31\nold,x,q,soon\n200,y,,2024-02-31\n')
    schema = Schema.from_roles(
        quasi=["age", "sex", "day"],
        other=["note"],
        types={"age": "integer", "day": "date"},
        bounds={"age": (0, 120)},
        domains={"sex": ["f", "m"]},
        missing="refuse",
    )
    with pytest.raises(InputError) as error:
        sd.read(path, schema)
    assert sorted(str(error.value).splitlines()) == sorted(
        [
            "people.csv, line 4, column 'age': 'old' is not a whole number, as the schema says.",
            "people.csv, line 5, column 'age': 200 is outside the declared bounds [0, 120].",
            "people.csv, line 4, column 'sex': 'q' is not in the declared domain.",
            "people.csv, line 5, column 'sex': the value is missing, and the schema says missing = \"refuse\".",
            "people.csv, line 4, column 'day': 'soon' is not a date (YYYY-MM-DD), as the schema says.",
            "people.csv, line 5, column 'day': '2024-02-31' is not a date (YYYY-MM-DD), as the schema says.",
        ]
    )


def test_a_very_long_value_is_cut_in_the_message() -> None:
    message = refused(["x" * 10_000], domain=["a"])
    assert len(message) < 250
    assert "(10,002 characters)" in message


@pytest.mark.parametrize("known", [True, False])
@pytest.mark.parametrize("wrong", [-0.5, 1e13, math.inf, math.nan])
def test_what_is_no_weight_is_refused_with_its_row(wrong: float, *, known: bool) -> None:
    message = refused([1.5, wrong], role="weight", known=known)
    assert message.endswith(f"row 2, column 'x': {wrong} is no weight, which is from 0 to 1,000,000,000,000.")


@pytest.mark.parametrize("known", [True, False])
def test_weights_are_numbers(*, known: bool) -> None:
    message = refused(["1.5", "many"], role="weight", known=known)
    assert message == "DataFrame, column 'x': weights are numbers, and these values are String."
