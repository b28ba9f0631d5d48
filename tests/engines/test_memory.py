"""The memory engine against plain twins that go through the rows one by one."""

from __future__ import annotations

import datetime as dt
import math
from collections import Counter
from decimal import Decimal
from itertools import product
from random import Random
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sudare as sd
from sudare.engines.memory import Memory
from sudare.engines.rewriting import Labels, Rewriting
from sudare.tables import excerpt
from sudare.tables.column import Column
from sudare.tables.published import as_published, in_order
from tests import by_row

randoms = st.randoms(use_true_random=False)
KINDS: dict[str, tuple[Any, list[Any]]] = {
    "number": (pl.Int64, [-3, 0, 7, 10, 2]),
    "float": (pl.Float64, [0.0, -0.0, math.nan, 1.5, -2.0, math.inf]),
    "short float": (pl.Float32, [0.0, -0.0, 0.5]),
    "text": (pl.String, ["b", "a", "", "B", "é", "*", "10", "9"]),
    "category": (pl.Categorical, ["pear", "apple", "fig"]),
    "enum": (pl.Enum(["z", "a", "m"]), ["z", "a", "m"]),
    "truth": (pl.Boolean, [True, False]),
    "date": (pl.Date, [dt.date(2024, 1, 31), dt.date(1999, 12, 31)]),
    "decimal": (pl.Decimal(10, 2), [Decimal("1.50"), Decimal("-0.01"), Decimal("10.00")]),
}
LABELS = ["*", "[1, 2]", "b", "a", None, "10", "9"]
Row = tuple[Any, ...]


def random_series(r: Random, name: str, rows: int) -> pl.Series:
    dtype, values = KINDS[r.choice(list(KINDS))]
    few = r.sample(values, r.randint(1, len(values)))
    missing = r.random() < 0.4
    own = [None if missing and r.random() < 0.3 else r.choice(few) for _ in range(rows)]
    return pl.Series(name, own, dtype=dtype)


def random_frame(r: Random, most: int = 20) -> pl.DataFrame:
    rows = r.randint(1, most)
    return pl.DataFrame([random_series(r, f"c{a}", rows) for a in range(r.randint(1, 4))])


def memory(frame: pl.DataFrame) -> Memory:
    return Memory({column.name: Column.encode(column) for column in frame}, frame.height)


def plain_order(row: Row) -> tuple[Any, ...]:
    """By all values from the first, NaN after numbers, and missing last; only then 0.0 before -0.0."""
    keys = []
    for value in row:
        nan = isinstance(value, float) and math.isnan(value)
        own = value.encode() if isinstance(value, str) else value
        keys.append((value is None, nan, 0 if value is None or nan else own))
    return *keys, *(isinstance(v, float) and v == 0 and math.copysign(1, v) < 0 for v in row)


def shown(rows: list[Row]) -> list[str]:
    return [repr(row) for row in rows]  # tells -0.0 from 0.0, and NaN is NaN


# -- counting --------------------------------------------------------------------------------------


@given(randoms)
def test_counts_are_those_of_the_rows(r: Random) -> None:
    frame = random_frame(r)
    engine = memory(frame)
    names = r.sample(frame.columns, r.randint(1, frame.width))
    counts = engine.counts(names)
    assert counts.names == tuple(names)
    assert counts.sizes == tuple(engine.dictionary(name).size for name in names)
    decoded = [engine.dictionary(name).decode(counts.column(name)).to_list() for name in names]
    tuples = list(zip(*decoded, strict=True))
    expected = Counter(shown(frame.select(names).rows()))
    assert dict(zip(shown(tuples), counts.weights.tolist(), strict=True)) == expected
    assert counts.codes.tolist() == sorted(counts.codes.tolist())
    assert counts.total == len(engine) == frame.height


@given(randoms)
def test_rows_with_some_codes(r: Random) -> None:
    frame = random_frame(r)
    engine = memory(frame)
    name = r.choice(frame.columns)
    size = engine.dictionary(name).size
    codes = r.sample(range(size), r.randint(0, size))
    wanted = shown([(value,) for value in engine.dictionary(name).decode(np.array(codes, dtype=np.int64))])
    expected = [row for row, value in enumerate(frame[name].to_list()) if repr((value,)) in wanted]
    assert engine.rows_with(name, codes).tolist() == expected


@given(randoms)
def test_content_goes_by_the_names_that_are_given_and_not_by_the_order_of_rows(r: Random) -> None:
    frame = random_frame(r)
    shuffled = frame[r.sample(range(frame.height), frame.height)]
    one, other = memory(frame), memory(shuffled.rename({"c0": "own"}))
    names = {name: name for name in frame.columns}
    assert one.content(names) == other.content({**names, "c0": "own"})
    assert one.content({"": "c0"}).digest() == other.content({"": "own"}).digest()
    assert one.content({"c0": "c0"}).digest() != one.content({"": "c0"}).digest()


@given(randoms)
def test_the_frame_is_what_was_read(r: Random) -> None:
    frame = random_frame(r)
    assert shown(memory(frame).frame().rows()) == shown(frame.rows())
    assert memory(frame).frame().schema == frame.schema
    assert memory(frame).names == tuple(frame.columns)


# -- rewriting -------------------------------------------------------------------------------------


def random_rewriting(r: Random, engine: Memory) -> Rewriting:
    """Labels for some columns, for some of the tuples that occur, and for some that do not."""
    names = list(engine.names)
    keys = r.sample(names, r.randint(1, len(names)))
    sizes = [engine.dictionary(name).size for name in keys]
    every = list(product(*map(range, sizes))) if math.prod(sizes) <= 200 else []
    present = [tuple(codes) for codes in engine.counts(keys).codes.tolist()]
    share = r.choice([0.0, 0.5, 1.0])
    chosen = {one for one in present if r.random() < share or share == 1}
    chosen |= set(r.sample(every, min(len(every), r.choice([0, 0, 3]))))
    tuples = np.array(sorted(chosen), dtype=np.int32).reshape(-1, len(keys))
    published: dict[str, Labels | None] = {}
    for name in r.sample(names, r.randint(1, len(names))):
        if r.random() < 0.5:
            published[name] = None
            continue
        values = r.sample(LABELS, r.randint(1, len(LABELS)))
        of_tuple = np.array([r.randrange(len(values)) for _ in tuples], dtype=np.int64)
        published[name] = Labels(pl.Series(values, dtype=pl.String), of_tuple)
    return Rewriting(tuple(keys), tuples, published)


def plain_rewrite(engine: Memory, rewriting: Rewriting) -> list[Row]:
    place = {tuple(codes): i for i, codes in enumerate(rewriting.tuples.tolist())}
    frame, rows = engine.frame(), []
    for row in range(len(engine)):
        key = tuple(int(engine.column(name).codes[row]) for name in rewriting.keys)
        if key in place:
            rows.append(
                tuple(
                    frame[name][row] if labels is None else labels.values[int(labels.of_tuple[place[key]])]
                    for name, labels in rewriting.published.items()
                )
            )
    return sorted(rows, key=plain_order)


@given(randoms)
@settings(max_examples=300)
def test_rows_are_published_with_the_labels_of_their_tuples_in_the_order_of_what_is_published(
    r: Random,
) -> None:
    frame = random_frame(r)
    engine = memory(frame)
    rewriting = random_rewriting(r, engine)
    output = engine.rewrite(rewriting).frame()
    assert shown(output.rows()) == shown(plain_rewrite(engine, rewriting))
    assert output.columns == list(rewriting.published)
    for name, labels in rewriting.published.items():
        listed = isinstance(frame[name].dtype, pl.Categorical | pl.Enum)
        assert output[name].dtype == (pl.String if labels or listed else frame[name].dtype)
    assert shown(as_published(output.reverse()).rows()) == shown(output.rows())


@given(randoms)
@settings(max_examples=60)
def test_the_order_of_the_rows_leaves_no_trace(r: Random) -> None:
    frame = random_frame(r)
    rewriting = random_rewriting(r, memory(frame))
    shuffled = frame[r.sample(range(frame.height), frame.height)]
    one, other = (memory(own).rewrite(rewriting).frame() for own in (frame, shuffled))
    assert shown(one.rows()) == shown(other.rows())
    assert one.schema == other.schema


@given(randoms)
@settings(max_examples=100)
def test_frames_are_sorted_as_the_plain_twin_does(r: Random) -> None:
    frame = as_published(random_frame(r))
    assert shown(in_order(frame.reverse()).rows()) == shown(sorted(frame.rows(), key=plain_order))


def test_the_two_zeros_stand_apart_only_after_all_other_columns() -> None:
    engine = memory(pl.DataFrame({"x": [-0.0, 0.0, -0.0, None, math.nan], "y": ["a", "b", "b", "c", "c"]}))
    counts = engine.counts(["y"])
    output = engine.rewrite(Rewriting(("y",), counts.codes, {"x": None, "y": None})).frame()
    assert shown(output.rows()) == shown([(-0.0, "a"), (0.0, "b"), (-0.0, "b"), (math.nan, "c"), (None, "c")])


def test_a_declared_order_of_values_is_not_the_order_of_publication() -> None:
    schema = sd.Schema.from_roles(quasi=["x", "size"], domains={"x": [30, 10, 20], "size": ["S", "M", "L"]})
    table = sd.read(pl.DataFrame({"x": [30, 20, 10, 20], "size": ["L", "M", "M", "S"]}), schema)
    assert table["x"].values.to_list() == [30, 10, 20]
    rewriting = Rewriting(("x",), table.counts(["x"]).codes, {"size": None, "x": None})
    assert table.rows.rewrite(rewriting).frame().rows() == [("L", 30), ("M", 10), ("M", 20), ("S", 20)]


def test_nothing_is_published_of_tuples_that_are_not_listed() -> None:
    frame = pl.DataFrame({"x": [1, 2], "c": pl.Series(["a", None], dtype=pl.Categorical)})
    labels = Labels(pl.Series(["*"]), np.empty(0, dtype=np.int64))
    rewriting = Rewriting(("x",), np.empty((0, 1), dtype=np.int32), {"c": None, "x": labels})
    output = memory(frame).rewrite(rewriting).frame()
    assert output.schema == {"c": pl.String, "x": pl.String}
    assert output.height == 0


def test_many_values_in_many_columns() -> None:
    """More possible tuples than are counted in a plain array, and than fit into 64 bits."""
    rng = np.random.default_rng(3)
    frame = pl.DataFrame({f"c{a}": rng.integers(0, 400, 900) for a in range(9)})
    frame = pl.concat([frame, frame[:200]])
    engine = memory(frame)
    counts = engine.counts(frame.columns)
    assert sorted(counts.weights.tolist()) == [1] * 700 + [2] * 200
    left_out = counts.codes[::3]
    labels = Labels(pl.Series(["odd", "even"]), np.arange(len(left_out)) % 2)
    published: dict[str, Labels | None] = dict.fromkeys(frame.columns) | {"c4": labels}
    rewriting = Rewriting(tuple(frame.columns), left_out, published)
    assert engine.rewrite(rewriting).frame().rows() == plain_rewrite(engine, rewriting)


# -- excerpts --------------------------------------------------------------------------------------


@given(randoms)
@settings(max_examples=150)
def test_rows_of_some_tuples_are_left_out(r: Random) -> None:
    frame = random_frame(r)
    engine = memory(frame)
    names = r.sample(frame.columns, r.randint(1, frame.width))
    counts = engine.counts(names)
    out = r.sample(range(len(counts)), r.randint(0, len(counts)))
    strange = np.array([counts.sizes], dtype=np.int32)  # no row has it
    rest = engine.without(names, np.concatenate([counts.codes[out], strange]))
    gone = {tuple(codes) for codes in counts.codes[out].tolist()}
    own = list(zip(*(engine.column(name).codes.tolist() for name in names), strict=True))
    kept = [row for row, codes in enumerate(own) if codes not in gone]
    assert len(rest) == len(kept)
    assert shown(rest.frame().rows()) == shown(frame[kept].rows())
    assert rest.names == engine.names
    for name in engine.names:
        assert shown([tuple(rest.dictionary(name).values)]) == shown([tuple(engine.dictionary(name).values)])
        assert rest.dictionary(name).missing == (frame[name][kept].null_count() > 0)
    assert shown(engine.frame().rows()) == shown(frame.rows())  # it is left as it was


@given(randoms)
def test_columns_are_retyped_by_the_values_that_are_left(r: Random) -> None:
    frame = random_frame(r)
    name = r.choice(frame.columns)
    seen: list[list[Any]] = []

    def as_text(values: pl.Series) -> pl.Series:
        seen.append(values.to_list())
        return values.cast(pl.String)

    engine = memory(frame)
    rest = engine.without([name], engine.counts([name]).codes[:1])
    retyped = rest.retyped({name: as_text})
    assert not seen  # until somebody asks
    expected = rest.frame().with_columns(pl.col(name).cast(pl.String))
    assert shown(retyped.frame().rows()) == shown(expected.rows())
    assert retyped.frame().schema == expected.schema
    present = rest.frame()[name].drop_nulls()
    assert len(seen) == 1
    assert sorted(map(repr, seen[0])) == sorted({repr(value) for value in present})
    assert retyped.dictionary(name).values.to_list() == sorted(
        set(expected[name].drop_nulls()), key=lambda text: text.encode()
    )
    others = [other for other in frame.columns if other != name]
    assert all((retyped.column(other).codes == rest.column(other).codes).all() for other in others)


def test_an_excerpt_is_as_if_the_others_had_never_been_there() -> None:
    schema = sd.Schema.from_roles(
        identifier=["name"], quasi=["height", "town", "size"], sensitive=["ill"],
        domains={"size": ["S", "M", "L"]},
    )  # fmt: skip
    frame = pl.DataFrame(
        {
            "name": ["a", "b", "c"],
            "height": [1.0, 2.5, 3.0],
            "town": pl.Series(["Ayr", "Bath", None], dtype=pl.Enum(["Wick", "Bath", "Ayr"])),
            "size": ["L", "S", "M"],
            "ill": ["x", "y", "x"],
        }
    )
    table = sd.read(frame, schema)
    rest = excerpt.without(table, ["height"], np.array([[1]], dtype=np.int32))
    assert (
        rest.frame()
        .drop("name")
        .equals(
            pl.DataFrame({"height": [1, 3], "town": ["Ayr", None], "size": ["L", "M"], "ill": ["x", "x"]})
        )
    )
    assert rest["height"].values.to_list() == [1, 3]
    assert rest["town"].values.to_list() == ["Ayr"]
    assert rest["size"].values.to_list() == ["S", "M", "L"]  # it was declared, and tells of nobody
    assert rest["ill"].values.to_list() == ["x"]
    alone = sd.read(rest.frame(), schema)
    assert rest.digest() == alone.digest()
    assert rest.counts(["height", "ill"]).codes.tolist() == alone.counts(["height", "ill"]).codes.tolist()


# -- columns that nobody counts --------------------------------------------------------------------


def coded(table: sd.Table) -> list[str]:
    assert isinstance(table.rows, Memory)
    return [name for name, column in table.rows._columns.items() if isinstance(column, Column)]


@pytest.mark.parametrize("source", ["frame", "csv", "parquet"])
def test_identifiers_are_not_coded_unless_somebody_asks(source: str, tmp_path: Any) -> None:
    frame = pl.DataFrame(
        {"name": [f"person {i}" for i in range(8)], "age": [30, 40] * 4, "note": list("abcdefgh")}
    )
    frame.write_csv(tmp_path / "people.csv")
    frame.write_parquet(tmp_path / "people.parquet")
    schema = sd.Schema.from_roles(identifier=["name"], quasi=["age"], other=["note"])
    table = sd.read(frame if source == "frame" else tmp_path / f"people.{source}", schema)
    assert coded(table) == ["age"]
    release = sd.generalize(table, sd.KAnonymity(4))
    assert release.frame().columns == ["age", "note"]
    assert release.holder["records"]["published"] == 8
    assert "name" not in coded(table)
    assert table["name"].size == 8
    assert "name" in coded(table)
    assert table.frame()["name"].to_list() == frame["name"].to_list()


def test_a_column_is_coded_once() -> None:
    asked: list[str] = []

    def later(name: str) -> Column:
        asked.append(name)
        return Column.encode(pl.Series(name, [3, 1, 3]))

    engine = Memory({"x": lambda: later("x"), "y": lambda: later("y")}, 3)
    assert (engine.names, len(engine), asked) == (("x", "y"), 3, [])
    assert engine.counts(["x"]).weights.tolist() == [1, 2]
    rest = engine.without(["x"], np.array([[0]], dtype=np.int32))
    assert asked == ["x"]
    assert rest.dictionary("y").values.to_list() == [1, 3]
    assert engine.frame().rows() == [(3, 3), (1, 1), (3, 3)]
    assert asked == ["x", "y"]


def test_what_is_declared_is_checked_though_nobody_counts_it() -> None:
    frame = pl.DataFrame({"name": ["a", "b"], "age": ["x", "3"]})
    schema = sd.Schema.from_roles(quasi=["name"], other=["age"], types={"age": "integer"})
    with pytest.raises(sd.InputError, match="row 1, column 'age'"):
        sd.read(frame, schema)
    with pytest.raises(sd.InputError, match="'age'"):
        sd.read(
            frame.with_columns(age=pl.lit(None, dtype=pl.Int64)), sd.Schema.from_roles(other=["name", "age"])
        )


def test_rows_stand_where_the_source_has_them() -> None:
    table = sd.read(pl.DataFrame({"x": ["b", "a", "b"]}))
    assert by_row.codes(table, "x").tolist() == [1, 0, 1]
    assert table.rows.rows_with("x", [1]).tolist() == [0, 2]


@settings(max_examples=30)
@given(st.integers(0, 10**6), st.integers(0, 1100), st.integers(0, 100))
def test_a_sample_has_different_rows_in_the_order_of_their_codes(seed: int, rows: int, data: int) -> None:
    rng = np.random.default_rng(data)
    frame = pl.DataFrame({"x": rng.integers(0, 7, 1000), "y": rng.integers(0, 5, 1000)})
    table = sd.read(frame)
    sample = table.rows.sample(["y", "x"], rows, seed)
    assert len(sample) == min(rows, 1000)
    assert sample.tolist() == sorted(sample.tolist())
    counts = table.counts(["y", "x"])
    held = dict(zip(map(tuple, counts.codes.tolist()), counts.weights.tolist(), strict=True))
    drawn = Counter(map(tuple, sample.tolist()))
    assert all(drawn[key] <= held[key] for key in drawn)
    if rows >= 1000:
        assert drawn == held
    assert np.array_equal(sample, table.rows.sample(["y", "x"], rows, seed))


def test_every_row_is_as_likely_to_be_drawn() -> None:
    table = sd.read(pl.DataFrame({"x": range(20)}))
    drawn = np.concatenate([table.rows.sample(["x"], 5, seed).ravel() for seed in range(2000)])
    assert np.bincount(drawn, minlength=20) == pytest.approx(np.full(20, 500), abs=100)
