from __future__ import annotations

import datetime as dt
import math
from decimal import Decimal
from itertools import pairwise
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sudare as sd
from sudare.tables.column import Column, smallest

moderate = settings(max_examples=40)

TEXT = st.one_of(
    st.text(st.characters(exclude_categories=["Cs"]), max_size=12),
    st.sampled_from(["", " ", ",", ";", '"', "'", "\n", "\r\n", "\x00", "a\x00b", "😀", "é", "NA", "null"]),
)
ALL_TIMES = st.integers(-(2**63), 2**63 - 1)  # the physical value of any time, even out of Python's range
SOME_TIMES = st.integers(-(2**54), 2**54)
INTEGERS = {
    pl.Int8: 7, pl.Int16: 15, pl.Int32: 31, pl.Int64: 63, pl.Int128: 127,
}  # fmt: skip
UNSIGNED = {pl.UInt8: 8, pl.UInt16: 16, pl.UInt32: 32, pl.UInt64: 64}


def near_and_far(low: int, high: int) -> st.SearchStrategy[int]:
    """Any number, with many at the ends and many close together."""
    return st.one_of(
        st.integers(low, high),
        st.integers(max(low, -100), min(high, 100)),
        st.sampled_from([low, low + 1, high - 1, high]),
    )


KINDS: dict[str, tuple[pl.DataType | type[pl.DataType], st.SearchStrategy[object]]] = {
    "text": (pl.String, TEXT),
    "categorical": (pl.Categorical, TEXT),
    "enum": (pl.Enum(["z", "a", "", "🙂"]), st.sampled_from(["z", "a", "", "🙂"])),
    "bool": (pl.Boolean, st.booleans()),
    "float": (pl.Float64, st.floats() | st.sampled_from([-0.0, 0.0, math.nan, math.inf, -math.inf])),
    "float32": (pl.Float32, st.floats(width=32) | st.sampled_from([-0.0, 0.0, math.nan])),
    "date": (pl.Date, st.dates()),
    "datetime": (pl.Datetime("us"), st.datetimes()),
    "milliseconds": (pl.Datetime("ms"), st.datetimes()),
    "nanoseconds": (pl.Datetime("ns"), ALL_TIMES),
    "time zone": (pl.Datetime("us", "Asia/Tokyo"), SOME_TIMES),
    "time": (pl.Time, st.integers(0, 86_400 * 10**9 - 1)),
    "duration": (pl.Duration("us"), ALL_TIMES),
    "decimal": (pl.Decimal(38, 4), st.decimals(-(10**30), 10**30, places=4)),
    "null": (pl.Null, st.none()),
    **{str(dtype()): (dtype, near_and_far(-(2**bits), 2**bits - 1)) for dtype, bits in INTEGERS.items()},
    **{str(dtype()): (dtype, near_and_far(0, 2**bits - 1)) for dtype, bits in UNSIGNED.items()},
}


@st.composite
def series(draw: st.DrawFn, kind: str) -> pl.Series:
    dtype, values = KINDS[kind]
    items = draw(st.lists(st.none() | values, max_size=30))
    physical = pl.Int64 if isinstance(next((v for v in items if v is not None), None), int) else dtype
    if kind.startswith(("Int", "UInt")):
        physical = dtype
    return pl.Series("x", items, dtype=physical).cast(dtype)


def identical(a: pl.Series, b: pl.Series) -> bool:
    """Equal in name, type and every value; NaN equals NaN, nothing equals missing, -0.0 is not 0.0."""
    same = a.name == b.name and a.dtype == b.dtype and a.equals(b, null_equal=True)
    return same and (not a.dtype.is_float() or [*map(bits, a)] == [*map(bits, b)])


def bits(number: float | None) -> str:
    return repr(number)  # tells -0.0, nan and None from everything else


def order(values: pl.Series) -> list[Any]:
    """Keys whose order is the values' natural one."""
    if values.dtype.is_float():  # -0.0 before 0.0, NaN last
        return [(math.isnan(v), 0 if math.isnan(v) else v, math.copysign(1, v)) for v in values]
    if values.dtype in (pl.String, pl.Categorical):
        return [text.encode() for text in values]  # the order of UTF-8 is that of the code points
    return values.to_list() if values.dtype == pl.Decimal else values.to_physical().to_list()


def check(original: pl.Series) -> None:
    """Encode and decode, and check everything that a Column promises."""
    column = Column.encode(original)
    assert identical(column.decode(), original)
    assert column.missing == (original.null_count() > 0)
    assert column.dictionary.size == len(column.values) + column.missing
    assert column.values.null_count() == 0
    assert (column.codes == len(column.values)).tolist() == original.is_null().to_list()
    assert set(column.codes.tolist()) == set(range(column.dictionary.size))
    assert column.codes.dtype == smallest(len(column.values) + 1)
    assert all(a < b for a, b in pairwise(order(column.values)))


@pytest.mark.parametrize("kind", KINDS)
@moderate
@given(data=st.data())
def test_decoding_gives_back_what_was_encoded(kind: str, data: st.DataObject) -> None:
    check(data.draw(series(kind)))


@pytest.mark.parametrize("kind", KINDS)
def test_an_empty_column(kind: str) -> None:
    check(pl.Series("x", [], dtype=KINDS[kind][0]))


@pytest.mark.parametrize("kind", KINDS)
def test_a_column_with_nothing_but_missing_values(kind: str) -> None:
    original = pl.Series("x", [None] * 5, dtype=KINDS[kind][0])
    check(original)
    assert Column.encode(original).codes.tolist() == [0] * 5


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "null"])
@settings(max_examples=15)
@given(data=st.data())
def test_whole_frames_survive_reading(kind: str, data: st.DataObject) -> None:
    original = data.draw(series(kind).filter(lambda column: column.null_count() < len(column)))
    frame = pl.DataFrame({"n": range(len(original)), "x": original})
    back = sd.read(frame).frame()
    assert back.columns == frame.columns
    assert all(identical(back[name].cast(frame[name].dtype), frame[name]) for name in frame.columns)


def test_nan_is_a_value_and_not_missing() -> None:
    column = Column.encode(pl.Series([math.nan, None, 1.0, -math.nan]))
    assert column.codes.tolist() == [1, 2, 0, 1]
    assert column.missing


def test_floats_in_their_order() -> None:
    numbers = [-math.inf, -1e300, -1.0, -5e-324, -0.0, 0.0, 5e-324, 1.0, 1e300, math.inf, math.nan]
    shuffled = pl.Series(numbers[::-1])
    assert repr(Column.encode(shuffled).values.to_list()) == repr(numbers)


def test_an_enum_keeps_its_own_order() -> None:
    sizes = pl.Enum(["small", "large", "huge"])
    column = Column.encode(pl.Series(["huge", "small", "large"], dtype=sizes))
    assert column.values.to_list() == ["small", "large", "huge"]
    assert column.codes.tolist() == [2, 0, 1]


def test_categories_are_in_the_order_of_their_texts() -> None:
    column = Column.encode(pl.Series(["pear", "apple", "fig"], dtype=pl.Categorical))
    assert column.values.to_list() == ["apple", "fig", "pear"]


def test_a_very_long_text() -> None:
    check(pl.Series("x", ["a" * 10**6, "a" * (10**6 - 1) + "b", None, ""]))


@pytest.mark.parametrize("dtype", [pl.Int8, pl.Int16, pl.UInt8, pl.UInt16])
def test_every_value_of_a_narrow_integer(dtype: type[pl.DataType]) -> None:
    limits = np.iinfo(str(dtype()).lower())
    check(pl.Series("x", np.arange(limits.min, limits.max, dtype=limits.dtype)[::-1]))


@pytest.mark.parametrize(
    "numbers",
    [
        range(-100, 101, 5),
        range(-60, 100, 1),
        range(-20_000, 20_001, 250),
        [2**63 - 3, 2**63 - 1, None],
        [-(2**63), -(2**63) + 2, None],
        [-(2**63), 2**63 - 1],
    ],
)
def test_integers_close_together_and_far_apart(numbers: list[int]) -> None:
    for dtype in (pl.Int8, pl.Int16, pl.Int64):
        limits = np.iinfo(str(dtype()).lower())
        if all(v is None or limits.min <= v <= limits.max for v in numbers):
            check(pl.Series("x", list(numbers), dtype=dtype))


def test_unsigned_64_bit_ends() -> None:
    check(pl.Series("x", [0, 2**64 - 1, 2**64 - 2, None], dtype=pl.UInt64))
    check(pl.Series("x", [2**64 - 1, 2**64 - 2, None], dtype=pl.UInt64))


@pytest.mark.parametrize("distinct", [1, 2, 254, 255, 256, 257, 65_535, 65_536])
@pytest.mark.parametrize("missing", [False, True])
def test_the_code_type_always_has_room_for_missing(distinct: int, missing: bool) -> None:
    texts = [f"v{i}" for i in range(distinct)] + [None] * missing
    check(pl.Series("x", texts))


def test_a_series_in_several_chunks() -> None:
    chunks = pl.concat([pl.Series("x", [3, None]), pl.Series("x", [1, 3])], rechunk=False)
    assert chunks.n_chunks() == 2
    check(chunks)


def test_decoding_other_codes() -> None:
    column = Column.encode(pl.Series("x", ["b", None, "a"]))
    assert column.dictionary.decode(np.array([0, 0, 2, 1])).to_list() == ["a", "a", None, "b"]


def test_rows_with() -> None:
    column = Column.encode(pl.Series("x", ["b", None, "a", "b"]))
    assert column.rows_with([1]).tolist() == [0, 3]
    assert column.rows_with([0, 2]).tolist() == [1, 2]
    assert column.rows_with([]).tolist() == []


@moderate
@given(st.lists(st.none() | st.integers(0, 6), min_size=1), st.data())
def test_take_is_encoding_the_taken_rows_anew(items: list[int | None], data: st.DataObject) -> None:
    column = Column.encode(pl.Series("x", items, dtype=pl.Int64))
    rows = data.draw(st.lists(st.integers(0, len(items) - 1)))
    taken = column.take(column.codes[rows], name="y")
    anew = Column.encode(pl.Series("y", [items[row] for row in rows], dtype=pl.Int64))
    assert identical(taken.values, anew.values)
    assert taken.codes.tolist() == anew.codes.tolist()
    assert taken.missing == anew.missing


def test_times_beyond_the_years_that_python_has() -> None:
    check(pl.Series("x", [-(2**62), 2**62, None]).cast(pl.Datetime("ms")))
    check(pl.Series("x", [-(2**31), 2**31 - 1, None], dtype=pl.Int32).cast(pl.Date))


def test_decimals_keep_their_scale() -> None:
    original = pl.Series("x", [Decimal("1.50"), None, Decimal("-0.01")], dtype=pl.Decimal(10, 2))
    check(original)
    assert Column.encode(original).values.to_list() == [Decimal("-0.01"), Decimal("1.50")]


def test_times_of_day_and_durations() -> None:
    check(pl.Series("x", [dt.time(23, 59, 59, 999_999), dt.time(0), None]))
    check(pl.Series("x", [dt.timedelta(days=-1), dt.timedelta(0), None]))
