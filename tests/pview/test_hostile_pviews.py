"""Saved p-views that somebody forged, hashes and all: refused before anything is made of them."""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import sudare as sd
from sudare.errors import InputError
from sudare.pview import files, saved
from sudare.pview.boxes import Boxes
from sudare.pview.cloud import Cloud
from sudare.pview.combined import Combined
from sudare.pview.domain import Axis, Domain
from sudare.pview.models import BlocksModel, CellsModel, ProductModel
from sudare.pview.noisy_counts import NoisyBlocks, NoisyCells, NoisyProduct
from sudare.pview.pview import Model, PView
from tests.pview.forged import forge

AXES = (
    Axis("age", pl.Int64(), None, 18, 96, 6, missing=True),
    Axis("sex", pl.String(), ("Female", "Male")),
    Axis("born", pl.Date(), (dt.date(2024, 1, 1), dt.date(2024, 2, 1))),
)
SIZES = Domain(AXES).sizes
FACTS = {
    "certificate": {"method": "made up"},
    "budget": {
        "unit": "epsilon",
        "whole": "1",
        "shares": [
            {"kind": "total", "attributes": [], "amount": "1/64"},
            {"kind": "pair", "attributes": ["age", "sex"], "amount": "63/64"},
        ],
        "remaining": "0",
    },
}
KINDS = ("cloud", "blocks", "cells", "buckets", "product", "combined")


def model(kind: str, seed: int = 1) -> Model:
    rng = np.random.default_rng(seed)
    if kind == "combined":
        both = [model("cloud"), model("cloud", 2)]
        return Combined.mean_of(both, np.array([0.25, 0.75]), "same rows", SIZES)
    if kind == "cloud":
        codes = rng.integers(0, SIZES, size=(50, 3)).astype(np.int32)
        boxes = Boxes.of(codes, codes, rng.random(50), SIZES)
        return Cloud(boxes, 25.0, 2.0, [np.ones(size) for size in boxes.sizes], np.full((3, 3), 0.1), 0.1)
    if kind == "blocks":
        low = np.array([[0, 0, 0], [3, 0, 0]], dtype=np.int32)
        high = np.array([[2, 1, 1], [6, 1, 1]], dtype=np.int32)
        return BlocksModel.of(NoisyBlocks(low, high, np.array([10.0, 30.0]), np.array([1.4, 1.4])), SIZES)
    if kind == "product":
        return ProductModel(NoisyProduct(tuple(np.full(size, 28.0 / size) for size in SIZES), 1.0))
    bucket = (np.arange(math.prod(SIZES), dtype=np.int32) // 4).reshape(SIZES) if kind == "buckets" else None
    return CellsModel(NoisyCells(2 + rng.normal(size=SIZES), 1.0, bucket))


@pytest.fixture(params=KINDS)
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def save(kind: str, folder: Path) -> Path:
    return PView(Domain(AXES), model(kind), FACTS).save(folder / "pview")


def ask(pview: PView) -> None:
    pview.count(sex="Female")
    pview.marginal(["age", "sex"])
    pview.sql("SELECT sex, COUNT(*) FROM view WHERE age > 30 GROUP BY sex")
    pview.sample(10, seed=1)


def test_a_pview_that_nobody_forged_is_opened_and_asked(kind: str, tmp_path: Path) -> None:
    pview = PView.open(forge(save(kind, tmp_path)))
    ask(pview)
    again = PView.open(pview.save(tmp_path / "again"))
    assert again.model.frame().equals(pview.model.frame())
    assert again.facts == FACTS


# -- The data -------------------------------------------------------------------------------------------


def test_codes_below_zero_or_of_another_type(tmp_path: Path) -> None:
    folder = save("cloud", tmp_path)
    frame = pl.read_parquet(folder / "pview.parquet")
    for change in (
        pl.col("0").cast(pl.Int8) * 0 - 1,
        pl.col("0").cast(pl.Int64),
        pl.col("0").cast(pl.Float64),
    ):
        with pytest.raises(InputError, match="The columns are of other types"):
            PView.open(forge(folder, data=frame.with_columns(change)))


def test_codes_beyond_the_domain(tmp_path: Path) -> None:
    for kind, column in (("cloud", "0"), ("blocks", "high_0")):
        folder = save(kind, tmp_path / kind)
        frame = pl.read_parquet(folder / "pview.parquet")
        beyond = frame.with_columns(pl.lit(SIZES[0], pl.UInt8).alias(column))
        with pytest.raises(InputError, match="A box reaches beyond the domain"):
            PView.open(forge(folder, data=beyond))


def test_boxes_that_end_before_they_begin(tmp_path: Path) -> None:
    folder = save("blocks", tmp_path)
    frame = pl.read_parquet(folder / "pview.parquet")
    with pytest.raises(InputError, match="A box reaches beyond the domain"):
        PView.open(
            forge(folder, data=frame.with_columns(low_0=pl.lit(5, pl.UInt8), high_0=pl.lit(2, pl.UInt8)))
        )


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, 1e300, None])
def test_numbers_that_cannot_be_counted_with(kind: str, value: float | None, tmp_path: Path) -> None:
    folder = save(kind, tmp_path)
    frame = pl.read_parquet(folder / "pview.parquet")
    column = frame.columns[-1] if kind != "buckets" else "count"
    harmed = pl.concat([pl.Series(column, [value], dtype=pl.Float64).to_frame(), frame.select(column)[1:]])
    with pytest.raises(InputError, match=r"not a p-view that can be opened: The column '.*' has"):
        PView.open(forge(folder, data=frame.with_columns(harmed[column])))


@pytest.mark.parametrize(
    ("kind", "column"), [("cloud", "weight"), ("blocks", "variance"), ("product", "count")]
)
def test_what_cannot_be_below_zero(kind: str, column: str, tmp_path: Path) -> None:
    folder = save(kind, tmp_path)
    frame = pl.read_parquet(folder / "pview.parquet")
    with pytest.raises(InputError, match="has a number that is not from 0 to"):
        PView.open(forge(folder, data=frame.with_columns(-pl.col(column))))


def test_rows_and_columns_that_are_not_those_of_the_kind(kind: str, tmp_path: Path) -> None:
    folder = save(kind, tmp_path)
    frame = pl.read_parquet(folder / "pview.parquet")
    for wrong in (
        frame.drop(frame.columns[0]),
        frame.with_columns(more=1),
        frame.select(frame.columns[::-1]),
    ):
        if wrong.columns != frame.columns and wrong.columns != ["count"]:
            with pytest.raises(InputError, match="The columns are not those of this kind of p-view"):
                PView.open(forge(folder, data=wrong))
    if kind in ("cells", "buckets", "product"):
        for rows in (frame[1:], pl.concat([frame, frame[:1]]), frame[:0]):
            with pytest.raises(InputError, match="too many rows or too few"):
                PView.open(forge(folder, data=rows))


@pytest.mark.parametrize("buckets", [[-1, 0], [2**31 - 1, 0], [5, 5], [0, 2]])
def test_buckets_that_are_not_numbered(buckets: list[int], tmp_path: Path) -> None:
    folder = save("buckets", tmp_path)
    frame = pl.read_parquet(folder / "pview.parquet")
    wrong = pl.Series("bucket", buckets * (frame.height // 2), dtype=pl.Int32)
    with pytest.raises(InputError, match="The buckets are not numbered"):
        PView.open(forge(folder, data=frame.with_columns(wrong)))


def test_histograms_of_different_people(tmp_path: Path) -> None:
    folder = save("product", tmp_path)
    frame = pl.read_parquet(folder / "pview.parquet")
    zero = frame.with_columns(count=pl.when(pl.col("axis") == 1).then(0.0).otherwise("count"))
    with pytest.raises(InputError, match="do not count the same records"):
        PView.open(forge(folder, data=zero))
    with pytest.raises(InputError, match="not in the order of the attributes"):
        PView.open(forge(folder, data=frame.with_columns(cell=pl.lit(-(10**12)))))


def test_a_pview_that_counts_nobody(tmp_path: Path) -> None:
    folder = save("cloud", tmp_path)
    frame = pl.read_parquet(folder / "pview.parquet")
    pview = PView.open(forge(folder, data=frame[:0]))
    assert pview.total == 0
    assert pview.count(sex="Male").value == 0
    with pytest.raises(InputError, match="counts nobody"):
        pview.sample(1)


def test_a_small_file_with_very_many_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = save("cloud", tmp_path)
    columns = {name: pl.repeat(0, saved.MAX_ROWS + 1, dtype=pl.UInt8, eager=True) for name in ("0", "1", "2")}
    bomb = pl.DataFrame(columns).with_columns(weight=pl.lit(1.0))
    forge(folder, data=bomb)
    assert (folder / "pview.parquet").stat().st_size < 100_000
    monkeypatch.setattr(pl, "read_parquet", lambda *a, **k: pytest.fail("the data were read"))
    with pytest.raises(InputError, match=r"too many rows .* 4,194,305 rows, where .* 0 to 4,194,304"):
        PView.open(folder)


@pytest.mark.parametrize("content", [b"", b"PAR1PAR1", b"PAR1" + b"\xff" * 100 + b"PAR1", b"x" * 1000])
def test_data_that_are_no_parquet(content: bytes, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"view\.parquet: the file cannot be read"):
        PView.open(forge(save("cloud", tmp_path), data=content))


# -- The manifest ---------------------------------------------------------------------------------------


def set_at(*path: Any, value: Any) -> Callable[[dict[str, Any]], None]:
    def change(about: dict[str, Any]) -> None:
        node: Any = about
        for step in path[:-1]:
            node = node[step]
        node[path[-1]] = value

    return change


DEEP: Any = []
for _ in range(200):
    DEEP = [DEEP]
BROKEN: list[Any] = [None, True, -1, 0.5, 10**40, "x", [], {}, [[1]], {"a": 1}]
WRONG: list[tuple[tuple[Any, ...], Any]] = [
    *((("domain",), value) for value in BROKEN),
    *((("domain", 0), value) for value in BROKEN),
    *((("domain", 0, "name"), value) for value in BROKEN if not isinstance(value, str)),
    *((("domain", 0, "type"), value) for value in [*BROKEN, "Int128", "Decimal", "Categorical", "Datetime"]),
    *((("domain", 0, "missing"), value) for value in BROKEN if value is not True),
    *((("domain", 0, "low"), value) for value in [*BROKEN, 96, 97, 18.5, -(2.0**60), 1e308] if value != -1),
    *((("domain", 0, "high"), value) for value in [*BROKEN, 18, 17, 2.0**60, 1e308]),
    *((("domain", 0, "bins"), value) for value in [*BROKEN, 0, 2**20 + 1, 79, 6.0]),
    *((("domain", 0, "values"), value) for value in BROKEN if value is not None),
    *((("domain", 1, "values"), value) for value in [*BROKEN, ["a", "a"], ["a", 1], [None], [["a"]]]),
    *((("domain", 2, "values"), value) for value in [["2024-01-01", "no day"], [1, 2], ["2024-01-01"] * 2]),
    *((("domain", 1, "name"), value) for value in ["age", "x" * 1001]),
    *((("domain", 1, "extra"), value) for value in [1]),
    *((("extras",), value) for value in [*BROKEN, {"total": 1.0}]),
    *((("extras", "total"), value) for value in BROKEN if not isinstance(value, float) and value != -1),
    *((("extras", "total_variance"), value) for value in BROKEN if value != 0.5),
    *(
        (("extras", "by_width"), value)
        for value in [*BROKEN, [[1.0]], [[1.0]] * 3, [[-1.0] * 78, [1.0] * 2, [1.0] * 2], [1.0] * 3]
    ),
    *((("extras", "higher"), value) for value in BROKEN if value != 0.5),
    *(
        (("extras", "leftover"), value)
        for value in [*BROKEN, [[1.0] * 3] * 2, [[1.0] * 2] * 3, [[-1.0] * 3] * 3]
    ),
    *((("facts",), value) for value in BROKEN if value not in ({}, {"a": 1})),
    *((("facts", "certificate"), value) for value in BROKEN if not isinstance(value, dict)),
    *((("facts", "budget"), value) for value in BROKEN),
    *((("facts", "budget", "unit"), value) for value in BROKEN),
    *((("facts", "budget", "shares"), value) for value in BROKEN),
    *((("facts", "budget", "whole"), value) for value in [*BROKEN, "0", "-1"]),
    *((("facts", "budget", "shares", 0), value) for value in BROKEN),
    *(
        (("facts", "budget", "shares", 0, "amount"), value)
        for value in [*BROKEN, "1/0", "-1", "1e9", "9" * 301, "10000000"]
    ),
    *((("facts", "budget", "shares", 0, "kind"), value) for value in [*BROKEN, "Alice", "table"]),
    *((("facts", "budget", "shares", 0, "more"), value) for value in ["Alice"]),
    *(
        (("facts", "budget", "shares", 1, "attributes"), value)
        for value in [*BROKEN, ["age"], ["age", "Alice"], ["age", "sex", "born"], ["age", 1]]
    ),
    *(
        (("facts", "budget", "shares"), value)
        for value in [[{"kind": "total", "attributes": [], "amount": f"1/{2**i + 1}"} for i in range(200)]]
    ),
    *((("kind",), value) for value in BROKEN),
    *((("version",), value) for value in [*BROKEN, 1, 3]),
    *((("format",), value) for value in [*BROKEN, "sudare view"]),
    *((("data_sha256",), value) for value in BROKEN),
    *((("more",), value) for value in [1]),
    *(
        (("facts", "certificate"), value)
        for value in [{"deep": DEEP}, {"long": "x" * files.MAX_FACTS_LENGTH}]
    ),
]


@pytest.mark.parametrize(("place", "value"), WRONG, ids=lambda given: repr(given)[:40])
def test_a_forged_manifest_is_refused_in_words(place: tuple[Any, ...], value: Any, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"p-view|manifest"):
        PView.open(forge(save("cloud", tmp_path), set_at(*place, value=value)))


WRONG_PARTS: list[tuple[tuple[Any, ...], Any]] = [
    *((("extras", key), value) for key in ("kind", "of", "weights", "spread", "parts") for value in BROKEN),
    *((("extras", "kind"), value) for value in ["blocks", "combined"]),
    *((("extras", "weights"), value) for value in [[1.0], [0.5, 0.6], [2.0, -1.0], [0.0, 1.0], [0.5, None]]),
    *((("extras", "spread"), value) for value in [[1.0], [1.0] * 4, [1.0, -1.0, 1.0]]),
    *((("extras", "parts", 1), value) for value in [*BROKEN, {"total": 1.0}]),
    (("extras", "more"), 1),
    *((("facts", "parts"), value) for value in BROKEN if value != []),
    *((("facts", "parts"), [{"budget": value}]) for value in BROKEN),
    *((("facts", "parts"), [{"certificate": value}]) for value in BROKEN if not isinstance(value, dict)),
]


@pytest.mark.parametrize(("place", "value"), WRONG_PARTS, ids=lambda given: repr(given)[:40])
def test_a_forged_manifest_of_parts_is_refused_in_words(
    place: tuple[Any, ...], value: Any, tmp_path: Path
) -> None:
    with pytest.raises(InputError, match=r"p-view|manifest"):
        PView.open(forge(save("combined", tmp_path), set_at(*place, value=value)))


@pytest.mark.parametrize("change", [pl.lit(2, pl.UInt8), pl.col("part").reverse()])
def test_parts_that_do_not_stand_one_after_the_other(change: pl.Expr, tmp_path: Path) -> None:
    folder = save("combined", tmp_path)
    frame = pl.read_parquet(folder / "pview.parquet")
    with pytest.raises(InputError, match="do not stand one after the other"):
        PView.open(forge(folder, data=frame.with_columns(change.alias("part"))))


@pytest.mark.parametrize("number", ["NaN", "Infinity", "1e999", "9" * 301, "1" * 5000])
def test_numbers_that_json_should_not_have(number: str, tmp_path: Path) -> None:
    path = save("cells", tmp_path) / "manifest.json"
    path.write_text(path.read_text().replace('"deviation": 1.0', f'"deviation": {number}'))
    with pytest.raises(InputError, match=r"manifest\.json is damaged.*not a valid JSON file"):
        PView.open(path.parent)


def test_a_key_that_stands_twice(tmp_path: Path) -> None:
    path = save("cells", tmp_path) / "manifest.json"
    path.write_text(path.read_text().replace('"kind": "cells"', '"kind": "cloud", "kind": "cells"'))
    with pytest.raises(InputError, match="the key 'kind' stands twice"):
        PView.open(path.parent)


def test_many_attributes_of_many_bins_are_refused_before_they_are_laid_out(tmp_path: Path) -> None:
    axis = {"type": "Float64", "missing": False, "low": 0.0, "high": 1.0, "bins": 2**20}
    many = [axis | {"name": str(i)} for i in range(400)]
    with pytest.raises(InputError, match=r"419,430,400 cells together; 1,048,576 are the most"):
        PView.open(forge(save("cloud", tmp_path), set_at("domain", value=many)))


def test_cells_of_a_domain_that_has_too_many(tmp_path: Path) -> None:
    axis = {"type": "Float64", "missing": False, "low": 0.0, "high": 1.0, "bins": 10_000}
    many = [axis | {"name": str(i)} for i in range(3)]
    with pytest.raises(InputError, match="too many for a count of each"):
        PView.open(forge(save("cells", tmp_path), set_at("domain", value=many)))


def test_what_could_not_be_opened_is_not_saved(tmp_path: Path) -> None:
    axis = Axis("x", pl.Int8(), (1, 2))
    with pytest.raises(InputError, match="no known type: 'Int8'"):
        PView(Domain((axis,)), ProductModel(NoisyProduct((np.ones(2),), 1.0))).save(tmp_path / "pview")
    assert not (tmp_path / "pview").exists()


def test_a_budget_is_checked_before_it_is_added_up(tmp_path: Path) -> None:
    folder = forge(save("cloud", tmp_path), lambda about: about["facts"].pop("budget"))
    with pytest.raises(InputError, match="budget"):
        sd.verify(folder, sd.DifferentialPrivacy(1.0))
