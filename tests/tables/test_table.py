from __future__ import annotations

import datetime as dt

import polars as pl
import pytest

import sudare as sd
from sudare import InputError, Role, Schema

PEOPLE = pl.DataFrame({"name": ["a", "b", "c"], "age": [30, None, 30], "sex": ["f", "m", "f"]})


def test_counts_of_some_columns_with_missing_as_a_value_of_its_own() -> None:
    counts = sd.read(PEOPLE).counts(["age", "sex"])
    assert counts.codes.tolist() == [[0, 0], [1, 1]]
    assert counts.weights.tolist() == [2, 1]
    assert counts.sizes == (2, 2)


def test_counts_index_points_from_rows_to_tuples() -> None:
    counts, index = sd.read(PEOPLE).counts_index(["sex", "age"])
    assert counts.names == ("sex", "age")
    assert index.tolist() == [0, 1, 0]


def test_one_column_may_be_named_by_a_string() -> None:
    assert sd.read(PEOPLE).counts("sex").weights.tolist() == [2, 1]


@pytest.mark.parametrize(
    ("names", "message"),
    [
        ([], "at least one column"),
        (["age", "age"], "named twice among 'age', 'age'"),
        (["aeg"], "no column 'aeg'. There are 'name', 'age', 'sex'"),
    ],
)
def test_columns_that_cannot_be_counted(names: list[str], message: str) -> None:
    with pytest.raises(InputError, match=message):
        sd.read(PEOPLE).counts(names)


def test_names_by_role_in_the_order_of_the_table() -> None:
    schema = Schema.from_roles(quasi=["sex", "age"], identifier=["name"])
    table = sd.read(PEOPLE, schema)
    assert table.names("quasi") == ["age", "sex"]
    assert table.names(Role.identifier) == ["name"]
    assert table.names(Role.sensitive) == []


def test_length_and_repr() -> None:
    table = sd.read(PEOPLE)
    assert len(table) == 3
    assert repr(table) == "Table(DataFrame: 3 rows x 3 columns)"


def test_where_a_row_stands() -> None:
    assert sd.read(PEOPLE).source.where(0) == "DataFrame, row 1"


def test_the_digest_does_not_depend_on_the_source(tmp_path) -> None:
    PEOPLE.write_parquet(tmp_path / "people.parquet")
    PEOPLE.write_csv(tmp_path / "people.csv")
    digests = {
        sd.read(source).digest()
        for source in (PEOPLE, tmp_path / "people.parquet", tmp_path / "people.csv", PEOPLE.to_pandas())
    }
    assert len(digests) == 2  # pandas has made floats of the ages
    assert sd.read(PEOPLE).digest() == sd.read(tmp_path / "people.csv").digest()


def nanoseconds(number: int, dtype: type[pl.Datetime] | type[pl.Duration]) -> pl.Series:
    return pl.Series([number]).cast(dtype("ns"))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ([1, 2], [2, 1]),
        ([1, 2], [1, 3]),
        ([1, 2], [1, 2, 2]),
        ([1, 2], [1, None, 2]),
        ([1, 2], ["1", "2"]),
        ([1, 2], [1.0, 2.0]),
        ([0.0], [-0.0]),
        (["a,b"], ["a", "b"]),
        (["\ud7ff"], ["?"]),
        ([dt.date(2024, 1, 1)], [dt.datetime(2024, 1, 1)]),
        (nanoseconds(1, pl.Datetime), nanoseconds(2, pl.Datetime)),
        (nanoseconds(1, pl.Duration), nanoseconds(2, pl.Duration)),
    ],
)
def test_the_digest_tells_tables_apart(one: list, other: list) -> None:
    assert sd.read(pl.DataFrame({"x": one})).digest() != sd.read(pl.DataFrame({"x": other})).digest()


def test_the_digest_sees_names() -> None:
    assert sd.read(PEOPLE).digest() != sd.read(PEOPLE.rename({"sex": "gender"})).digest()
