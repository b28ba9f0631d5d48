from __future__ import annotations

import datetime as dt
import json
import math
from collections import Counter
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pytest

import sudare as sd
from sudare import Hierarchy, InputError, Schema
from tests import by_row

PEOPLE = pl.DataFrame(
    {
        "name": ["Ann", "Bob", "Eve"],
        "age": [30, None, 41],
        "height": [1.5, 1.75, None],
        "born": [dt.date(1994, 1, 31), None, dt.date(1983, 2, 1)],
    }
)


def roles(*names: str, **details: Any) -> Schema:
    return Schema.from_roles(other=names, **details)


def refused(source: Any, schema: Any = None) -> str:
    with pytest.raises(InputError) as error:
        sd.read(source, schema)
    return str(error.value)


def values_or_fault(source: Any, schema: Schema | None = None) -> tuple[pl.Series, str]:
    """The values of the only column, or why it was refused."""
    try:
        return sd.read(source, schema).frame().to_series(), ""
    except InputError as error:
        return pl.Series(), str(error)


# -- polars ----------------------------------------------------------------------------------------


def test_a_polars_frame() -> None:
    table = sd.read(PEOPLE)
    assert table.frame().equals(PEOPLE)
    assert table.source.name == "DataFrame"
    assert table.names("other") == PEOPLE.columns


def test_a_lazy_polars_frame() -> None:
    lazy = PEOPLE.lazy().filter(pl.col("age") >= 30)
    assert sd.read(lazy).frame().rows() == [PEOPLE.rows()[0], PEOPLE.rows()[2]]


def test_a_frame_is_left_as_it_was() -> None:
    frame = PEOPLE.clone()
    table = sd.read(frame)
    by_row.codes(table, "age")[:] = 0
    assert frame.equals(PEOPLE)


@pytest.mark.parametrize("dtype", ["int64", "float64", "datetime64[ns]", "bool"])
@pytest.mark.parametrize("role", ["identifier", "quasi", "other"])
def test_a_table_stays_what_it_was_when_the_frame_is_written_to(dtype: str, role: str) -> None:
    """Columns of some roles are coded when they are first needed; what they hold then must not depend on when."""
    kinds: list[Callable[[np.ndarray], Any]] = [
        lambda values: pd.DataFrame({"x": values}, copy=False),
        lambda values: pl.DataFrame({"x": values}),
    ]
    if dtype != "bool":
        kinds.append(lambda values: pa.table({"x": pa.array(values)}))
    for kind in kinds:
        values = np.array([0, 1, 1, 0]).astype(dtype)
        table = sd.read(kind(values), Schema.from_roles(**{role: ["x"]}))
        before = pl.Series("x", values.copy())
        values[:] = values[::-1].copy()
        values[0] = values[1]
        assert table.frame()["x"].equals(before)


@pytest.mark.parametrize(
    "values",
    [
        [[1], [2]],
        [{"a": 1}, {"a": 2}],
        [b"a", b"b"],
        [object(), object()],
    ],
    ids=["lists", "structs", "bytes", "objects"],
)
def test_cells_that_hold_no_single_value(values: list) -> None:
    frame = pl.DataFrame({"id": [1, 2], "x": pl.Series(values)})
    assert refused(frame).startswith("DataFrame, column 'x': a cell holds ")


@pytest.mark.parametrize(
    "frame", [pl.DataFrame(), pl.DataFrame({"x": []}), pd.DataFrame({"x": []}), pd.DataFrame()]
)
def test_an_empty_frame(frame: Any) -> None:
    assert refused(frame) == "DataFrame: the table is empty."


@pytest.mark.parametrize("dtype", [pl.Date, pl.Datetime("ms"), pl.Datetime("us"), pl.Datetime("us", "UTC")])
@pytest.mark.parametrize("time", [dt.datetime.min, dt.datetime.max])
def test_dates_end_with_the_years_1_and_9999(dtype: pl.DataType, time: dt.datetime) -> None:
    inside = pl.Series("x", [None, time]).dt.cast_time_unit("us").cast(dtype)
    assert sd.read(inside.to_frame()).frame()["x"].equals(inside)
    step = 1 if time == dt.datetime.max else -1
    outside = (inside.to_physical() + step).cast(dtype)
    assert refused(outside.to_frame()).startswith(
        "DataFrame, row 2, column 'x': the date is not in the years 1"
    )


# -- pandas ----------------------------------------------------------------------------------------


def test_a_pandas_frame() -> None:
    frame = pd.DataFrame(
        {"name": ["Ann", None], "age": [30, 41], "height": [1.5, np.nan], "ok": [True, False]}
    )
    assert sd.read(frame).frame().rows() == [("Ann", 30, 1.5, True), (None, 41, None, False)]


def test_nan_of_pandas_is_missing() -> None:
    column = sd.read(pd.DataFrame({"x": [1.0, np.nan]}))["x"]
    assert column.missing
    assert column.values.to_list() == [1.0]


def test_nullable_types_of_pandas() -> None:
    frame = pd.DataFrame(
        {
            "i": pd.array([1, pd.NA], dtype="Int64"),
            "u": pd.array([pd.NA, 255], dtype="UInt8"),
            "f": pd.array([1.5, pd.NA], dtype="Float64"),
            "b": pd.array([True, pd.NA], dtype="boolean"),
            "s": pd.array(["x", pd.NA], dtype="string"),
            "d": pd.to_datetime(pd.Series(["2024-01-31", None])),
            "c": pd.Categorical(["x", None]),
        }
    )
    read = sd.read(frame).frame()
    assert read.rows() == [
        (1, None, 1.5, True, "x", dt.datetime(2024, 1, 31), "x"),
        (None, 255, None, None, None, None, None),
    ]
    assert read.schema["i"] == pl.Int64
    assert read.schema["u"] == pl.Int64


@pytest.mark.parametrize("index", [[2, 0, 1], [5, 5, 5], ["x", "y", "z"], pd.date_range("2024", periods=3)])
def test_the_index_of_pandas_is_ignored(index: Any) -> None:
    frame = pd.DataFrame({"x": [10, 20, 30]}, index=index)
    table = sd.read(frame)
    assert table.frame().columns == ["x"]
    assert by_row.values(table, "x") == [10, 20, 30]
    assert "row 3, column 'x': 30" in refused(frame, roles("x", bounds={"x": (0, 20)}))


def test_two_columns_of_one_name() -> None:
    frame = pd.DataFrame([[1, 2, 3]], columns=["a", "b", "a"])
    assert refused(frame) == "DataFrame: two columns are named 'a'. Rename one."
    assert "'1'" in refused(pd.DataFrame([[1, 2]], columns=[1, "1"]))


def test_numbers_as_names_of_columns() -> None:
    assert sd.read(pd.DataFrame([[5, 6]])).frame().columns == ["0", "1"]


def test_a_pandas_column_of_mixed_values_is_refused_by_name() -> None:
    message = refused(pd.DataFrame({"id": [1, 2], "x": pd.Series([1, "a"], dtype=object)}))
    assert "'x'" in message


# -- pyarrow ---------------------------------------------------------------------------------------


def test_an_arrow_table() -> None:
    table = sd.read(PEOPLE.to_arrow())
    assert table.frame().equals(PEOPLE)
    assert table.source.name == "Table"


def test_an_arrow_table_with_two_equal_columns() -> None:
    frame = sd.read(pa.table({"a": [1, 2], "b": [1, 2]})).frame()
    assert frame.to_dict(as_series=False) == {"a": [1, 2], "b": [1, 2]}


def test_an_arrow_table_with_two_columns_of_one_name() -> None:
    table = pa.Table.from_arrays([pa.array([1]), pa.array([2])], names=["a", "a"])
    assert refused(table) == "Table: two columns are named 'a'. Rename one."


# -- files -----------------------------------------------------------------------------------------


def write_json_lines(frame: pl.DataFrame, path: Path) -> None:
    rows = [{k: str(v) if isinstance(v, dt.date) else v for k, v in row.items()} for row in frame.to_dicts()]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))


WRITERS: dict[str, Callable[[pl.DataFrame, Path], Any]] = {
    "p.parquet": lambda frame, path: frame.write_parquet(path),
    "p.PQ": lambda frame, path: pa.parquet.write_table(frame.to_arrow(), path),
    "p.feather": lambda frame, path: pa.feather.write_feather(frame.to_arrow(), path),
    "zstd.feather": lambda frame, path: pa.feather.write_feather(frame.to_arrow(), path, compression="zstd"),
    "p.arrow": lambda frame, path: frame.write_ipc(path),
    "p.ipc": lambda frame, path: frame.write_ipc(path, compression="lz4"),
    "p.jsonl": write_json_lines,
    "p.ndjson": write_json_lines,
    "two words.parquet": lambda frame, path: frame.write_parquet(path),
    "p[1].parquet": lambda frame, path: frame.write_parquet(path),
    "p*.parquet": lambda frame, path: frame.write_parquet(path),
    "p[1].arrow": lambda frame, path: frame.write_ipc(path),
    "p*.arrow": lambda frame, path: frame.write_ipc(path),
    "p[1].jsonl": write_json_lines,
    "p*.jsonl": write_json_lines,
}


@pytest.mark.parametrize("name", WRITERS)
@pytest.mark.parametrize("as_text", [True, False], ids=["str", "Path"])
def test_files_of_frames(tmp_path: Path, name: str, as_text: bool) -> None:
    path = tmp_path / name
    WRITERS[name](PEOPLE.reverse(), tmp_path / f"p1{path.suffix}")  # what p*, p? and p[1] would match
    WRITERS[name](PEOPLE, path)
    table = sd.read(str(path) if as_text else path, roles(*PEOPLE.columns, types={"born": "date"}))
    assert table.frame().equals(PEOPLE)
    assert table.source.name == name


@pytest.mark.parametrize("name", ["p.csv", "p[1].csv", "p*.csv"])
def test_csv_files_with_signs_in_their_names(tmp_path: Path, name: str) -> None:
    PEOPLE.write_csv(tmp_path / "plain.csv")
    PEOPLE.reverse().write_csv(tmp_path / "p1.csv")
    path = (tmp_path / "plain.csv").rename(tmp_path / name)
    assert sd.read(path).frame().equals(PEOPLE)


def test_a_folder_that_looks_like_a_partition_adds_no_column(tmp_path: Path) -> None:
    folder = tmp_path / "year=2024"
    folder.mkdir()
    PEOPLE.write_parquet(folder / "p.parquet")
    assert sd.read(folder / "p.parquet").frame().columns == PEOPLE.columns


def test_json_lines_with_a_key_that_comes_late(tmp_path: Path) -> None:
    path = tmp_path / "p.jsonl"
    path.write_text('{"a": 1}\n' * 500 + '{"a": 1, "b": "x"}\n')
    frame = sd.read(path).frame()
    assert frame.columns == ["a", "b"]
    assert frame["b"].to_list() == [None] * 500 + ["x"]


@pytest.mark.parametrize("late", ['"x"', "1.5", "[1]", "true"])
def test_json_lines_whose_type_changes_late(tmp_path: Path, late: str) -> None:
    path = tmp_path / "p.jsonl"
    path.write_text('{"a": 1}\n' * 500 + f'{{"a": {late}}}\n')
    values, fault = values_or_fault(path)
    assert "p.jsonl" in fault or values[-1] == json.loads(late)


@pytest.mark.parametrize("name", ["p.parquet", "p.feather", "p.arrow", "p.jsonl"])
@pytest.mark.parametrize("content", [b"", b"garbage " * 50, b"{", b"PAR1" * 10])
def test_a_damaged_file_is_refused_by_name(tmp_path: Path, name: str, content: bytes) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    assert name in refused(path)


@pytest.mark.parametrize("name", ["p.parquet", "p.feather", "p.jsonl"])
def test_a_file_that_was_cut_off_is_refused(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    WRITERS[name](PEOPLE, path)
    path.write_bytes(path.read_bytes()[: path.stat().st_size - 7])
    assert f"{name}: the file cannot be read" in refused(path)


@pytest.mark.parametrize("name", ["p.xls", "p", "p.docx", "p.parquet.gz", "p.dat"])
def test_endings_that_are_not_known(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(b"x")
    message = refused(tmp_path / name)
    assert f"{name}: the ending '{Path(name).suffix}' is not known. Known are .csv, .tsv" in message
    assert ".parquet" in message


@pytest.mark.parametrize("name", ["no.csv", "no.parquet", "no.csv.gz", "no"])
def test_a_file_that_is_not_there(tmp_path: Path, name: str) -> None:
    assert refused(tmp_path / name) == f"{tmp_path / name}: there is no such file."


@pytest.mark.parametrize("name", ["folder", "folder.csv", "folder.parquet"])
def test_a_folder_that_is_empty(tmp_path: Path, name: str) -> None:
    (tmp_path / name).mkdir()
    assert f"{tmp_path / name}: the folder has no files in it. Name a file" in refused(str(tmp_path / name))


@pytest.mark.parametrize("source", [None, 5, [1, 2], {"a": [1]}, pl.Series([1]), np.zeros((2, 2)), b"p.csv"])
def test_what_is_no_table(source: Any) -> None:
    message = refused(source)
    assert message.startswith(f"A table cannot be read from {type(source).__name__}.")
    assert "pandas, polars or pyarrow frame" in message


# -- schemas ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("as_text", [True, False], ids=["str", "Path"])
def test_a_schema_by_its_path(tmp_path: Path, as_text: bool) -> None:
    path = tmp_path / "schema.toml"
    path.write_text(roles(*PEOPLE.columns).to_toml())
    assert sd.read(PEOPLE, str(path) if as_text else path).schema == roles(*PEOPLE.columns)


def test_a_schema_that_is_not_there(tmp_path: Path) -> None:
    assert "no.toml: the schema cannot be opened" in refused(PEOPLE, str(tmp_path / "no.toml"))


def test_columns_that_the_table_does_not_have(tmp_path: Path) -> None:
    expected = "the schema has 'weight', but the table does not. It has 'name', 'age', 'height', 'born'."
    assert refused(PEOPLE, roles(*PEOPLE.columns, "weight")) == f"DataFrame: {expected}"
    PEOPLE.write_csv(tmp_path / "p.csv")
    assert refused(tmp_path / "p.csv", roles(*PEOPLE.columns, "weight")) == f"p.csv: {expected}"


def test_columns_that_the_schema_does_not_mention() -> None:
    assert refused(PEOPLE, roles("name", "age")) == (
        "DataFrame: the schema does not mention 'height', 'born'. "
        "Give every column a role: identifier, quasi, sensitive or other."
    )


def test_names_of_columns_are_matched_exactly() -> None:
    assert "the schema has 'Age'" in refused(PEOPLE, roles("name", "Age", "height", "born"))


# -- declared and detected types ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("values", "type_", "read"),
    [
        ([1, None], "integer", [1, None]),
        ([1.0, None], "integer", [1, None]),
        (["1", None], "integer", [1, None]),
        ([1, 2], "number", [1.0, 2.0]),
        ([Decimal("1.50"), None], "number", [1.5, None]),
        (pl.Series([1.5], dtype=pl.Float32), "number", [1.5]),
        (pl.Series([2**70, 1], dtype=pl.Int128), "number", [2.0**70, 1.0]),
        (pl.Series([7], dtype=pl.UInt8), "integer", [7]),
        ([Decimal("7.00"), None], "integer", [7, None]),
        (pl.Series(["7"], dtype=pl.Categorical), "integer", [7]),
        ([1.5], "number", [1.5]),
        (["1.5", "2"], "number", [1.5, 2.0]),
        ([1, None], "text", ["1", None]),
        ([1.0, 0.5, None], "text", ["1", "0.5", None]),
        ([Decimal("1.00"), Decimal("0.50")], "text", ["1", "0.5"]),
        ([True], "text", ["true"]),
        ([dt.date(2024, 1, 31)], "text", ["2024-01-31"]),
        (["007"], "text", ["007"]),
        ([dt.date(2024, 1, 31)], "date", [dt.date(2024, 1, 31)]),
        ([dt.datetime(2024, 1, 31)], "date", [dt.date(2024, 1, 31)]),
        (["2024-01-31"], "date", [dt.date(2024, 1, 31)]),
        ([dt.date(2024, 1, 31)], "datetime", [dt.datetime(2024, 1, 31)]),
        (["2024-01-31 10:30"], "datetime", [dt.datetime(2024, 1, 31, 10, 30)]),
        (pl.Series([0]).cast(pl.Datetime("ns")), "datetime", [dt.datetime(1970, 1, 1)]),
    ],
)
def test_values_are_read_as_the_declared_type(values: list, type_: str, read: list) -> None:
    values_read = sd.read(pl.DataFrame({"x": values}), roles("x", types={"x": type_})).frame()["x"].to_list()
    assert values_read == read
    assert [type(value) for value in values_read] == [type(value) for value in read]


@pytest.mark.parametrize(
    ("values", "type_", "message"),
    [
        ([1.0, 1.5], "integer", "row 2, column 'x': 1.5 is not a whole number, as the schema says."),
        ([math.nan], "integer", "row 1, column 'x': nan is not a whole number"),
        ([1e300], "integer", "row 1, column 'x': 1e+300 is beyond the whole numbers of 64 bits"),
        ([2**63], "integer", "row 1, column 'x': 9223372036854775808 is beyond the whole numbers of 64 bits"),
        (["1" + "0" * 30], "integer", f"row 1, column 'x': '1{'0' * 30}' is beyond the whole numbers of 64"),
        ([Decimal("1.5")], "integer", "row 1, column 'x': 1.5 is not a whole number"),
        ([True], "integer", "column 'x': the schema says a whole number, but the values are Boolean"),
        ([True], "number", "column 'x': the schema says a number, but the values are Boolean"),
        ([dt.date(2024, 1, 1)], "number", "column 'x': the schema says a number, but the values are Date"),
        ([20240101], "date", "column 'x': the schema says a date"),
        ([5], "datetime", "column 'x': the schema says a date and time"),
        ([dt.datetime(2024, 1, 31, 10, 30)], "date", "row 1, column 'x': 2024-01-31T10:30:00 is not a date"),
        (
            pl.Series([10**9 + 1]).cast(pl.Datetime("ns")),
            "datetime",
            "row 1, column 'x': 1970-01-01T00:00:01 has a part of a microsecond",
        ),
        (
            pl.Series([0]).cast(pl.Datetime("us", "Asia/Tokyo")),
            "datetime",
            "column 'x': the values have a time zone, but the schema none.",
        ),
    ],
)
def test_values_that_the_declared_type_would_change_are_refused(
    values: list, type_: str, message: str
) -> None:
    error = refused(pl.DataFrame({"x": values}), roles("x", types={"x": type_}))
    assert error.startswith(f"DataFrame, {message}")


HUGE = "1" + "0" * 30


@pytest.mark.parametrize("as_csv", [False, True])
@pytest.mark.parametrize(
    "values",
    [
        pl.Series([2**63, 5], dtype=pl.UInt64),
        pl.Series([10**30, 5], dtype=pl.Int128),
        pl.Series([1e30, 5.0]),
        pl.Series([math.inf, 5.0]),
        pl.Series([Decimal(HUGE), Decimal(5)]),
        pl.Series([HUGE, "5"]),
    ],
    ids=str,
)
def test_numbers_of_any_size_are_clipped_and_the_type_stays(
    values: pl.Series, as_csv: bool, tmp_path: Path
) -> None:
    schema = roles("x", types={"x": "integer"}, bounds={"x": (0, 99)}, outside={"x": "clip"})
    frame = pl.DataFrame({"x": values})
    if as_csv:
        if not values.dtype.is_integer() and values.dtype != pl.String:
            return  # 5.0 is no whole number in a text
        frame.write_csv(tmp_path / "x.csv")
    column = sd.read(tmp_path / "x.csv" if as_csv else frame, schema).frame()["x"]
    assert column.dtype == pl.Int64
    assert column.to_list() == [99, 5]
    low = pl.DataFrame({"x": ["-" + HUGE, "5"]})
    assert sd.read(low, schema).frame()["x"].to_list() == [0, 5]


@pytest.mark.parametrize("values", [[1, 10**30, None], [Decimal("1.5"), 2.5, None], [1, "2", None]])
def test_objects_of_several_types_are_read_by_a_declared_type(values: list) -> None:
    frame = pd.DataFrame({"x": pd.Series(values, dtype=object)})
    column = sd.read(frame, roles("x", types={"x": "number"})).frame()["x"]
    assert column.to_list() == [None if value is None else float(value) for value in values]
    assert "Convert them first, or give the attribute a type" in refused(frame, roles("x"))


@pytest.mark.parametrize("text", ["2024-01-31T10:30:00Z", "2024-01-31 12:30+02:00"])
@pytest.mark.parametrize("kind", ["frame of texts", "frame", "csv"])
def test_times_with_a_zone_are_kept_in_utc_where_the_schema_has_one(
    text: str, kind: str, tmp_path: Path
) -> None:
    start, time = dt.datetime(2024, 1, 1, tzinfo=dt.UTC), dt.datetime.fromisoformat(text)
    schema = roles("x", types={"x": "datetime"}, bounds={"x": (start, start.replace(month=2))})
    source: Any = pl.DataFrame({"x": [time if kind == "frame" else text]})
    if kind == "csv":
        source.write_csv(tmp_path / "x.csv")
        source = tmp_path / "x.csv"
    column = sd.read(source, schema).frame()["x"]
    assert column.dtype == pl.Datetime("us", "UTC")
    assert column[0] == time
    naive = refused(pl.DataFrame({"x": ["2024-01-31 10:30:00"]}), schema)
    assert "is not a date and time" in naive


def test_texts_that_are_not_of_the_declared_type_are_named() -> None:
    frame = pl.DataFrame({"x": ["1", "one", None, "2.5"]})
    assert refused(frame, roles("x", types={"x": "integer"})).splitlines() == [
        "DataFrame, row 2, column 'x': 'one' is not a whole number, as the schema says.",
        "DataFrame, row 4, column 'x': '2.5' is not a whole number, as the schema says.",
    ]


def test_texts_of_a_frame_stay_texts_unless_a_type_is_declared() -> None:
    frame = pl.DataFrame({"x": ["1", "", None]})
    assert sd.read(frame).frame().equals(frame)


def test_missing_values_are_found_in_the_texts_of_a_frame() -> None:
    frame = pl.DataFrame({"x": ["1", "NA", ""], "n": [1, 2, 3]})
    table = sd.read(frame, roles("x", "n", missing_values=["NA", "3"]))
    assert table.frame().rows() == [("1", 1), (None, 2), ("", 3)]


# -- real data -------------------------------------------------------------------------------------

QUASI = ["sex", "age", "race", "marital-status", "education", "native-country", "workclass"]


@pytest.fixture(scope="module")
def adult(data_folder: Path) -> sd.Table:
    folder = data_folder / "arx_hierarchies"
    names = [*QUASI, "occupation", "salary-class"]
    schema = Schema.from_roles(
        quasi=QUASI,
        sensitive=["occupation"],
        other=["salary-class"],
        hierarchies={name: Hierarchy.from_csv(folder / f"adult_hierarchy_{name}.csv") for name in names},
    )
    return sd.read(folder / "adult.csv", schema)


def test_adult_has_11_089_distinct_tuples(adult: sd.Table, data_folder: Path) -> None:
    raw = pl.read_csv(data_folder / "arx_hierarchies" / "adult.csv", separator=";")
    groups = raw.group_by(QUASI).len()
    counts = adult.counts(QUASI)
    assert len(adult) == raw.height == 30_162
    assert len(counts) == groups.height == 11_089
    assert counts.total == 30_162
    assert Counter(counts.weights.tolist()) == Counter(groups["len"].to_list())


def test_adult_is_read_as_it_is_written(adult: sd.Table, data_folder: Path) -> None:
    raw = pl.read_csv(data_folder / "arx_hierarchies" / "adult.csv", separator=";")
    assert adult.frame().equals(raw)
    assert adult.frame().schema["age"] == pl.Int64


def test_the_hierarchies_of_adult_fit_its_codes(adult: sd.Table) -> None:
    for name in adult.columns:
        hierarchy, codes = adult[name].hierarchy, by_row.codes(adult, name)
        assert hierarchy is not None
        leaves = hierarchy.publish(codes, level=0)
        assert leaves == [str(value) for value in by_row.values(adult, name)], name
        assert set(hierarchy.publish(codes, hierarchy.height)) == {"*"}


def test_adult_as_its_makers_publish_it(data_folder: Path, tmp_path: Path) -> None:
    """Blanks after the commas, question marks for missing values, a blank line at the end."""
    names = [f"c{i}" for i in range(15)]
    path = tmp_path / "adult.csv"
    original = (data_folder / "adult" / "adult.data").read_text()
    path.write_text(", ".join(names) + "\n" + original)
    table = sd.read(path, roles(*names, missing_values=["?"]))
    rows = [line.split(", ") for line in original.splitlines() if line]
    assert len(table) == len(rows) == 32_561
    for i, name in enumerate(names):
        texts = [None if row[i] == "?" else row[i] for row in rows]
        assert [v if v is None else str(v) for v in by_row.values(table, name)] == texts
    assert table["c0"].values.dtype == pl.Int64
