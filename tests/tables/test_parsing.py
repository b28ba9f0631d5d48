from __future__ import annotations

import datetime as dt
import math
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sudare as sd
from sudare.tables.parsing import date_forms, encode_text, infer_type, parse

moderate = settings(max_examples=100)


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        (["0", "-1", "17", "9223372036854775807", "-9223372036854775808"], "integer"),
        (["007", "12"], "text"),
        (["00", "1"], "text"),
        (["-007"], "text"),
        (["1 000"], "text"),
        (["1,000"], "text"),
        (["1_000"], "text"),
        (["0x1F"], "text"),
        (["1", "2.5"], "number"),
        (["-.5", "+3", "1.", "6.02e23", "1E-3"], "number"),
        (["1", "NaN"], "text"),
        (["1", "inf"], "text"),
        (["."], "text"),
        (["-"], "text"),
        (["+"], "text"),
        (["e5"], "text"),
        (["1e"], "text"),
        (["1", ""], "text"),
        (["1", " 2"], "text"),
        (["1", "2\n"], "text"),
        (["١"], "text"),
        (["2024-02-29", "1999-12-31"], "date"),
        (["2024/2/9"], "date"),
        (["2023-02-29"], "text"),
        (["2024-13-01"], "text"),
        (["20240131"], "integer"),
        (["31.01.2024"], "text"),
        (["2024-01-31 10:30", "2024-01-31T10:30:59.25"], "datetime"),
        (["2024-01-31 25:00"], "text"),
        (["2024-01-31", "2024-01-31 10:30"], "text"),
        (["true", "false"], "text"),
        ([], "text"),
        ([None], "text"),
        ([None, "5"], "integer"),
    ],
)
def test_the_type_that_texts_have(texts: list[str | None], expected: str) -> None:
    assert infer_type(pl.Series(texts, dtype=pl.String)) == expected


@pytest.mark.parametrize("number", [2**63, -(2**63) - 1, 10**19, 12345678901234567890])
def test_whole_numbers_beyond_64_bits_do_not_become_rounded_ones(number: int) -> None:
    texts = pl.Series([str(number), str(number + 1)])
    parsed = parse(texts, infer_type(texts))
    assert parsed.n_unique() == 2


@moderate
@given(st.lists(st.integers(-(2**63), 2**63 - 1), min_size=1))
def test_integers_are_parsed_as_python_does(numbers: list[int]) -> None:
    texts = pl.Series([str(number) for number in numbers])
    assert infer_type(texts) == "integer"
    assert parse(texts, "integer").to_list() == numbers


@moderate
@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1))
@pytest.mark.parametrize("decimal", [".", ","])
def test_numbers_are_parsed_as_python_does(decimal: str, numbers: list[float]) -> None:
    texts = pl.Series([repr(number).replace(".", decimal) for number in numbers])
    assert infer_type(texts, decimal) == "number"
    assert [*map(repr, parse(texts, "number", decimal))] == [*map(repr, numbers)]


@moderate
@given(st.text("0123456789+-.,eE", min_size=1, max_size=6))
def test_what_is_parsed_as_a_number_is_one_in_python(text: str) -> None:
    value = parse(pl.Series([text]), "number")[0]
    if value is not None:
        assert value == float(text)
    whole = parse(pl.Series([text]), "integer")[0]
    if whole is not None:
        assert str(whole) == text


@moderate
@given(st.lists(st.dates(), min_size=1))
@pytest.mark.parametrize("separator", ["-", "/"])
def test_dates_are_parsed(separator: str, days: list[dt.date]) -> None:
    texts = pl.Series([day.isoformat().replace("-", separator) for day in days])
    assert infer_type(texts) == "date"
    assert parse(texts, "date").to_list() == days


@moderate
@given(st.lists(st.datetimes(), min_size=1))
@pytest.mark.parametrize("separator", [" ", "T"])
def test_datetimes_are_parsed(separator: str, times: list[dt.datetime]) -> None:
    texts = pl.Series([time.isoformat(separator) for time in times])
    assert infer_type(texts) == "datetime"
    assert parse(texts, "datetime").to_list() == times


def test_a_decimal_comma_makes_a_point_text() -> None:
    assert parse(pl.Series(["1,5", "1.5", "1.234,5", "2"]), "number", ",").to_list() == [1.5, None, None, 2.0]


@pytest.mark.parametrize("type_", ["integer", "number", "text", "date", "datetime"])
def test_parsing_keeps_what_is_missing(type_: str) -> None:
    assert parse(pl.Series([None, None], dtype=pl.String), type_).null_count() == 2


def encoded(
    texts: list[str | None], type_=None, missing=("",), trim=False, decimal="."
) -> tuple[list, list[int]]:
    column, wrong = encode_text(pl.Series("x", texts), type_, decimal, missing, trim)
    return column.decode().to_list(), wrong.tolist()


def test_several_texts_of_one_value_are_one_value() -> None:
    column, _ = encode_text(pl.Series("x", ["1.0", "1.00", "2", "1e0"]), None, ".", (), False)
    assert column.values.to_list() == [1.0, 2.0]
    assert column.codes.tolist() == [0, 0, 1, 0]
    assert column.name == "x"


def test_negative_zero_stays_apart() -> None:
    column, _ = encode_text(pl.Series("x", ["0.0", "-0.0"]), "number", ".", (), False)
    assert [math.copysign(1, value) for value in column.values] == [-1, 1]


@pytest.mark.parametrize(
    ("texts", "options", "values", "wrong"),
    [
        (["5", "", "NA"], {"missing": ("", "NA")}, [5, None, None], []),
        (["5", "", None], {"missing": ()}, ["5", "", None], []),
        (["5", None], {"missing": ()}, [5, None], []),
        ([" 5", "6\t", " "], {"trim": True}, [5, 6, None], []),
        ([" 5", "6"], {}, [" 5", "6"], []),
        (["5", "x", "7.5", ""], {"type_": "integer"}, [5, None, None, None], [1, 2]),
        (["007", "7"], {"type_": "integer"}, [None, 7], [0]),
        (["5", "x"], {"type_": "number"}, [5.0, None], [1]),
        (["5", ""], {"type_": "text"}, ["5", None], []),
        (["2024-01-05", "yesterday"], {"type_": "date"}, [dt.date(2024, 1, 5), None], [1]),
        (["2024-01-05"], {"type_": "datetime"}, [None], [0]),
        (["1,5", "2"], {"decimal": ","}, [1.5, 2.0], []),
        (["", ""], {}, [None, None], []),
    ],
)
def test_texts_become_typed_values(texts: list, options: dict, values: list, wrong: list[int]) -> None:
    assert encoded(texts, **options) == (values, wrong)


def test_rows_of_a_wrong_type_are_named_once_each() -> None:
    assert encoded(["x", "1", "x", "y"], type_="integer")[1] == [0, 2, 3]


@pytest.mark.parametrize(
    ("form", "text"),
    [
        ("%m/%d/%Y", "1/22/2020"),
        ("%d.%m.%Y", "22.01.2020"),
        ("%d %b %Y", "22 Jan 2020"),
        ("%Y%m%d", "20200122"),
    ],
)
@pytest.mark.parametrize("engine", ["memory", "duckdb"])
def test_dates_are_read_in_the_form_that_is_declared(
    tmp_path: Path, form: str, text: str, engine: Any
) -> None:
    (tmp_path / "people.csv").write_text(f"day,ill\n{text},a\n{text},b\n")
    schema = sd.Schema.from_dict(
        {
            "attributes": {
                "day": {"role": "quasi", "type": "date", "format": form},
                "ill": {"role": "sensitive"},
            }
        }
    )
    table = sd.read(tmp_path / "people.csv", schema, engine=engine)
    assert table["day"].values.to_list() == [dt.date(2020, 1, 22)]
    assert sd.Schema.from_dict({"attributes": {"day": schema["day"]}})["day"].format == form


def test_a_date_in_another_form_is_refused_with_its_line(tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_text("day\n22/01/2020\n1/22/2020\n")
    schema = sd.Schema.from_dict(
        {"attributes": {"day": {"role": "quasi", "type": "date", "format": "%d/%m/%Y"}}}
    )
    with pytest.raises(sd.InputError, match="line 3, column 'day': '1/22/2020' is not a date"):
        sd.read(tmp_path / "people.csv", schema)


@pytest.mark.parametrize("form", ["%Y", "%d/%m", "d/m/Y", "%q", ""])
def test_a_form_that_is_no_date_is_refused(form: str) -> None:
    with pytest.raises(sd.InputError, match="must say day, month and year"):
        sd.Schema.from_dict({"attributes": {"day": {"role": "quasi", "type": "date", "format": form}}})
    with pytest.raises(sd.InputError, match="is not of type 'date'"):
        sd.Schema.from_dict({"attributes": {"day": {"role": "quasi", "format": "%d/%m/%Y"}}})


def test_what_tells_day_from_month_is_told() -> None:
    assert date_forms(pl.Series(["13/1/2020", "1/2/2020"])) == ["%d/%m/%Y"]
    assert date_forms(pl.Series(["13/1/2020", "1/13/2020"])) == []
    assert date_forms(pl.Series(["12345678"])) == []
    assert date_forms(pl.Series(["20200122"])) == ["%Y%m%d"]
