"""What a receiver can tell apart is apart, for every type of column."""

from __future__ import annotations

import datetime as dt
import struct
from decimal import Decimal
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sudare as sd
from sudare.tables.exact import exact, texts

NANS = [struct.unpack("<d", struct.pack("<Q", bits))[0] for bits in (0x7FF8 << 48, (0x7FF8 << 48) + 1)]
FEW: dict[str, tuple[pl.DataType, st.SearchStrategy[Any]]] = {
    "int8": (pl.Int8(), st.integers(-2, 2)),
    "uint64": (pl.UInt64(), st.sampled_from([0, 1, 2**63, 2**64 - 1])),
    "int128": (pl.Int128(), st.sampled_from([0, 2**100, 2**100 + 1])),
    "float64": (pl.Float64(), st.sampled_from([0.0, -0.0, 0.1, 0.1 + 2**-55, float("inf"), *NANS])),
    "float32": (pl.Float32(), st.sampled_from([0.0, -0.0, 0.5, float("nan")])),
    "text": (pl.String(), st.sampled_from(["", " ", "a", "A", "0", "\x00"])),
    "enum": (pl.Enum(["a", "b", "c"]), st.sampled_from(["a", "b", "c"])),
    "categorical": (pl.Categorical(), st.sampled_from(["a", "b", "c"])),
    "boolean": (pl.Boolean(), st.booleans()),
    "binary": (pl.Binary(), st.sampled_from([b"", b"a", b"\xff"])),
    "date": (pl.Date(), st.dates(dt.date(1969, 12, 31), dt.date(1970, 1, 2))),
    "time": (pl.Time(), st.sampled_from([dt.time(9), dt.time(9, 0, 0, 1), dt.time(9, 0, 1)])),
    "datetime": (
        pl.Datetime("us"),
        st.sampled_from([dt.datetime(1970, 1, 1), dt.datetime(1970, 1, 1, 0, 0, 0, 1)]),
    ),
    "nanoseconds": (pl.Datetime("ns"), st.sampled_from([0, 1, 1000])),
    "zoned": (pl.Datetime("ms", "Asia/Tokyo"), st.sampled_from([0, 1, 1000])),
    "duration": (pl.Duration("us"), st.sampled_from([dt.timedelta(0), dt.timedelta(microseconds=1)])),
    "decimal": (pl.Decimal(20, 3), st.sampled_from([Decimal("1.200"), Decimal("1.201"), Decimal("-1.2")])),
    "nothing": (pl.Null(), st.none()),
}


def series_of(kind: str, values: list[Any]) -> pl.Series:
    dtype = FEW[kind][0]
    if kind in ("nanoseconds", "zoned"):
        return pl.Series("q", values, dtype=pl.Int64).cast(dtype)
    return pl.Series("q", values, dtype=dtype)


def told_apart(value: Any) -> Any:
    """What Python itself can tell apart, the slow and obvious way."""
    return struct.pack("<d", value) if isinstance(value, float) else value


@pytest.mark.parametrize("kind", FEW)
@settings(max_examples=40)
@given(data=st.data())
def test_keys_are_alike_just_if_the_values_are(kind: str, data: st.DataObject) -> None:
    values = data.draw(st.lists(st.one_of(FEW[kind][1], st.none()), min_size=1, max_size=30))
    keys = exact(series_of(kind, values)).to_list()
    for one, key in zip(values, keys, strict=True):
        assert (key is None) == (one is None)
        for other, its in zip(values, keys, strict=True):
            assert (key == its) == (told_apart(one) == told_apart(other))


@pytest.mark.parametrize("kind", FEW)
@settings(max_examples=40)
@given(data=st.data())
def test_the_smallest_block_is_that_of_brute_force(kind: str, data: st.DataObject) -> None:
    values = data.draw(st.lists(st.one_of(FEW[kind][1], st.none()), min_size=1, max_size=30))
    frame = series_of(kind, values).to_frame()
    schema = sd.Schema.from_roles(quasi=["q"])
    plain = [told_apart(value) for value in values]
    least = min(plain.count(value) for value in plain)
    assert sd.verify(frame, sd.KAnonymity(2), schema).value == least
    attacked = sd.attack(frame, schema, kind="reidentification")
    assert attacked.prosecutor.largest == 1 / least


@pytest.mark.parametrize("kind", FEW)
@settings(max_examples=40)
@given(data=st.data())
def test_sensitive_values_are_counted_as_equal_where_they_are(kind: str, data: st.DataObject) -> None:
    """Values that only their bits tell apart make nobody's block more diverse: 0.0 is -0.0, and NaN is NaN."""
    values = data.draw(st.lists(st.one_of(FEW[kind][1], st.none()), min_size=1, max_size=30))
    plain = {"NaN" if value != value else value for value in values}
    frame = series_of(kind, values).alias("s").to_frame()
    assert sd.verify(frame, sd.LDiversity(1), sd.Schema.from_roles(sensitive=["s"])).value == len(plain)


@pytest.mark.parametrize(
    "column",
    [pl.Series("q", [[1]]), pl.Series("q", [{"a": 1}]), pl.Series("q", [[1]], dtype=pl.Array(pl.Int8, 1)),
     pl.Series("q", [object()], dtype=pl.Object)],
    ids=lambda column: str(column.dtype),
)  # fmt: skip
def test_what_cannot_be_compared_is_refused(column: pl.Series) -> None:
    schema = sd.Schema.from_roles(quasi=["q"])
    with pytest.raises(sd.InputError, match=r"Column 'q' is of the type .* cannot be compared"):
        sd.verify(column.to_frame(), sd.KAnonymity(1), schema)
    with pytest.raises(sd.InputError, match="cannot be compared"):
        sd.attack(column.to_frame(), schema, kind="reidentification")


@pytest.mark.parametrize("kind", [kind for kind in FEW if kind not in ("float64", "float32")])
@settings(max_examples=20)
@given(data=st.data())
def test_texts_cut_nothing_off(kind: str, data: st.DataObject) -> None:
    values = data.draw(st.lists(FEW[kind][1], min_size=1, max_size=30))
    assert len(set(texts(series_of(kind, values)).to_list())) == len(set(values))
