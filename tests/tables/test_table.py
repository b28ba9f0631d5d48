from __future__ import annotations

import datetime as dt
from decimal import Decimal
from random import Random

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sudare as sd
from sudare import InputError, Role, Schema
from sudare.tables import content
from sudare.tables.column import Column
from sudare.tables.content import Content
from tests import by_row

PEOPLE = pl.DataFrame({"name": ["a", "b", "c"], "age": [30, None, 30], "sex": ["f", "m", "f"]})


def test_counts_of_some_columns_with_missing_as_a_value_of_its_own() -> None:
    counts = sd.read(PEOPLE).counts(["age", "sex"])
    assert counts.codes.tolist() == [[0, 0], [1, 1]]
    assert counts.weights.tolist() == [2, 1]
    assert counts.sizes == (2, 2)


def test_columns_are_counted_in_the_order_in_which_they_are_named() -> None:
    counts = sd.read(PEOPLE).counts(["sex", "age"])
    assert counts.names == ("sex", "age")
    assert by_row.tuple_of(sd.read(PEOPLE), counts).tolist() == [0, 1, 0]


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


def test_a_table_is_called_as_the_schema_says_or_else_as_its_source() -> None:
    roles = {"quasi": ["age", "sex"], "identifier": ["name"]}
    assert sd.read(PEOPLE, Schema.from_roles(**roles)).name == "DataFrame"
    named = sd.read(PEOPLE, Schema.from_roles(**roles, source="patients"))
    assert named.name == "patients"
    assert named.source.where(0) == "DataFrame, row 1", "errors still point at the file"


# -- The digest ------------------------------------------------------------------------------------


def test_the_digest_does_not_depend_on_the_source(tmp_path) -> None:
    PEOPLE.write_parquet(tmp_path / "people.parquet")
    PEOPLE.write_csv(tmp_path / "people.csv")
    PEOPLE.write_ndjson(tmp_path / "people.jsonl")
    files = [tmp_path / f"people.{ending}" for ending in ("parquet", "csv", "jsonl")]
    others = [PEOPLE.to_pandas(), PEOPLE.to_arrow(), PEOPLE.reverse(), PEOPLE.select("sex", "name", "age")]
    assert {sd.read(source).digest() for source in (PEOPLE, *files, *others)} == {sd.read(PEOPLE).digest()}


def nanoseconds(number: int, dtype: type[pl.Datetime] | type[pl.Duration]) -> pl.Series:
    return pl.Series([number]).cast(dtype("ns"))


def digest(values: list | pl.Series) -> str:
    return sd.read(pl.DataFrame({"x": values})).digest()


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ([1, 2], [1, 3]),
        ([1, 2], [1, 2, 2]),
        ([1, 2], [1, None, 2]),
        ([1, 2], [1, 2, None]),
        ([0, 1], [None, 1]),
        ([2**53], [2**53 + 1]),
        (["a,b"], ["a", "b"]),
        (["\ud7ff"], ["?"]),
        (["7"], ["007"]),
        (["a"], ["A"]),
        (["a"], ["a "]),
        (["NaN"], ["x"]),
        ([dt.date(2024, 1, 1)], [dt.datetime(2024, 1, 1, 0, 0, 1)]),
        ([dt.time(10, 30)], [dt.time(10, 30, 0, 1)]),
        (nanoseconds(1, pl.Datetime), nanoseconds(2, pl.Datetime)),
        (nanoseconds(1, pl.Duration), nanoseconds(2, pl.Duration)),
    ],
)
def test_the_digest_tells_tables_apart(one: list, other: list) -> None:
    assert digest(one) != digest(other)


UTC = dt.datetime(2024, 1, 31, 1, 30, tzinfo=dt.UTC)


@pytest.mark.parametrize(
    "same",
    [
        [[1, 2], [2, 1], [1.0, 2.0], ["1", "2"], ["1.0", "2e0"], [Decimal("1.00"), Decimal("2.00")]],
        [[0.0], [-0.0], [0], ["-0"], ["0.00"], [False], ["false"]],
        [[0.1, 7], ["0.10", "7"], [Decimal("0.1"), Decimal(7)], pl.Series([0.1, 7], dtype=pl.Float32)],
        [[float("nan"), 1], [None, 1], ["", "1"]],
        [[True, False], [1, 0], ["true", "False"]],
        [["a", "b"], pl.Series(["a", "b"], dtype=pl.Categorical), pl.Series(["a", "b"], dtype=pl.Enum(["b", "a"]))],
        [[dt.date(2024, 1, 31)], [dt.datetime(2024, 1, 31)], ["2024-01-31"], ["2024/1/31"], ["2024-01-31 00:00"]],
        [
            [UTC],
            [UTC.replace(tzinfo=None)],
            pl.Series([UTC]).dt.convert_time_zone("Asia/Tokyo"),
            ["2024-01-31T01:30:00"],
            ["2024-01-31 10:30:00+09:00"],
            ["2024-01-31T01:30:00.000000+0000"],
        ],
        [pl.Series([UTC]).dt.cast_time_unit(unit) for unit in ("ms", "us", "ns")],
        [[dt.time(10, 30)], ["10:30:00"]],
        [[str(10**30)], [Decimal(10**30)]],
    ],
)  # fmt: skip
def test_the_digest_sees_values_and_not_how_they_are_stored(same: list) -> None:
    assert len({digest(values) for values in same}) == 1


def test_the_digest_sees_names_and_which_values_stand_in_one_row() -> None:
    assert sd.read(PEOPLE).digest() != sd.read(PEOPLE.rename({"sex": "gender"})).digest()
    one, other = pl.DataFrame({"a": [1, 2], "b": [1, 2]}), pl.DataFrame({"a": [1, 2], "b": [2, 1]})
    assert sd.read(one).digest() != sd.read(other).digest()
    swapped = one.rename({"a": "b", "b": "a"})
    assert (
        sd.read(one.with_columns(b=pl.lit(1))).digest() != sd.read(swapped.with_columns(a=pl.lit(1))).digest()
    )


ROWS = st.lists(
    st.tuples(st.none() | st.integers(-5, 5), st.sampled_from(["x", "y", "1", None])), min_size=2, max_size=20
)


@given(ROWS, st.randoms(use_true_random=False), st.integers(1, 19))
def test_the_digest_is_the_multiset_of_rows_and_adds_up_over_parts(
    rows: list, random: Random, cut: int
) -> None:
    def columns(some: list) -> dict[str, Column]:
        texts = pl.Series("t", [text for _, text in some], dtype=pl.String)
        return {
            "n": Column.encode(pl.Series("n", [n for n, _ in some], dtype=pl.Int8)),
            "t": Column.encode(texts),
        }

    shuffled = random.sample(rows, len(rows))
    whole = Content.of(columns(rows))
    assert Content.of(columns(shuffled)) == whole
    cut = min(cut, len(rows) - 1)
    assert Content.of(columns(shuffled[:cut])) + Content.of(columns(shuffled[cut:])) == whole
    other = [*rows[:-1], (99, "x")]
    assert Content.of(columns(other)).digest() != whole.digest()


def test_rows_are_hashed_in_portions(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = sd.read(PEOPLE).digest()
    monkeypatch.setattr(content, "CHUNK", 2)
    assert sd.read(PEOPLE).digest() == whole
