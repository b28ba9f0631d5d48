"""What is published of those who stay has the same bytes, whoever was left out: also where their values made a column's type."""

import datetime as dt
import itertools
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import openpyxl
import polars as pl
import pytest

import sudare as sd

DAY = dt.datetime(2024, 1, 1)
WHOLE = [1.0, 2.0, 3.0, 1.0, 2.0, 3.0]
COLUMNS: dict[str, tuple[list[Any], Any]] = {
    "whole numbers, but for one": (WHOLE, 2.5),
    "whole numbers, but for a large one": (WHOLE, 1e30),
    "whole numbers, but for one that is none": (WHOLE, float("nan")),
    "whole numbers, but for -0": (WHOLE, -0.0),
    "half numbers": ([0.5, 2.0, 3.0, 0.5, 2.0, 3.0], 7.0),
    "days, but for an hour": ([DAY + dt.timedelta(days=one) for one in (1, 2, 3) * 2], DAY.replace(hour=5)),
    "texts that are numbers, but for one": (list("123123"), "x"),
    "texts that are whole, but for one": (["1.0", "2.0", "3.0"] * 2, "x"),
    "truth values": ([True, False, True] * 2, None),
}
TYPED: dict[str, tuple[pl.DataType, list[Any], Any]] = {
    "of one byte": (pl.Int8(), [1, 2, 3] * 2, 4),
    "of eight bytes and no sign": (pl.UInt64(), [1, 2, 3] * 2, 2**64 - 1),
    "of half precision": (pl.Float32(), WHOLE, 0.1),
    "decimal": (pl.Decimal(20, 4), [Decimal(one) for one in (1, 2, 3) * 2], Decimal("0.25")),
    "categories": (pl.Categorical(), ["a", "b", "c"] * 2, "d"),
    "an order of words": (pl.Enum(["small", "large", "huge"]), ["small", "large", "small"] * 2, "huge"),
}


def frames(
    values: list[Any], last: Any, dtype: pl.DataType | None = None
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return those who stay, and all: the last one is alone with its quasi value."""
    column = pl.Series("o", [*values, last], dtype=dtype, strict=False)
    everybody = pl.DataFrame([pl.Series("age", [30] * 3 + [50] * 3 + [90]), column, column.alias("s")])
    return everybody.head(6), everybody


def sources(frame: pl.DataFrame, folder: Path) -> Iterator[tuple[str, Any, str]]:
    folder.mkdir()
    yield "a frame", frame, "memory"
    frame.write_parquet(folder / "data.parquet")
    yield "Parquet", folder / "data.parquet", "duckdb"
    if frame["o"].dtype in [dtype for dtype, _, _ in TYPED.values()]:
        return
    frame.write_csv(folder / "data.csv")
    yield "CSV", folder / "data.csv", "memory"
    book = openpyxl.Workbook()
    assert book.active is not None
    for row in (frame.columns, *frame.fill_nan("no number").rows()):
        book.active.append(row)
    book.save(folder / "data.xlsx")
    yield "a workbook", folder / "data.xlsx", "memory"


def published(source: Any, engine: str, folder: Path) -> dict[str, bytes]:
    schema = sd.Schema.from_roles(quasi=["age"], sensitive=["s"], other=["o"])
    table = sd.read(source, schema, engine=engine)  # type: ignore[arg-type]
    release = sd.generalize(table, sd.KAnonymity(3), "full-domain", suppress=0.3)
    release.write(folder, csv=True, formats=["json"])
    return {path.name: path.read_bytes() for path in (folder / "hand-over").glob("data.*")}


CASES = {**{name: (None, *own) for name, own in COLUMNS.items()}, **TYPED}


@pytest.mark.parametrize("kind", CASES)
def test_the_bytes_are_those_of_the_others_alone(kind: str, tmp_path: Path) -> None:
    dtype, values, last = CASES[kind]
    stay, everybody = frames(values, last, dtype)
    pairs = zip(sources(stay, tmp_path / "stay"), sources(everybody, tmp_path / "all"), strict=True)
    number = itertools.count()
    for (form, alone, engine), (_, together, _) in pairs:
        told = [
            _published_or_refused(source, engine, tmp_path / f"{next(number)}")
            for source in (alone, together)
        ]
        assert told[0] == told[1] or (form == "a workbook" and told[1] is None), (form, engine)


def _published_or_refused(source: Any, engine: str, folder: Path) -> dict[str, bytes] | None:
    """A type that must be declared tells nothing either: cells of several types are told apart in a workbook."""
    try:
        return published(source, engine, folder)
    except sd.InputError as error:
        return None if "Declare it" in str(error) else {"error": str(error).encode()}


@pytest.mark.parametrize("way", ["views", "apply"])
def test_views_and_plans_do_not_tell_either(way: str) -> None:
    stay, everybody = frames(WHOLE, 2.5)
    schema = sd.Schema.from_roles(quasi=["age"], sensitive=["s"], identifier=["o"])
    told = []
    plan = sd.generalize(sd.read(stay, schema), sd.KAnonymity(3)).plan
    for frame in (stay, everybody if way == "apply" else stay.with_columns(pl.col("s").cast(pl.Int8))):
        table = sd.read(frame, schema)
        if way == "apply":
            told.append(sd.apply(plan, table, unseen="suppress").frame())
        else:
            told.append(
                sd.generalize_views(table, {"ages": ["age"]}, sd.MultiViewDiversity(2)).frames()["ages"]
            )
    assert told[0].schema == told[1].schema
    assert told[0].equals(told[1])


@pytest.mark.parametrize("domain", [[1, 2, 3], [1, 2, 3, 2.5], ["1", "2", "3", "3.0"]])
@pytest.mark.parametrize("source", ["frame", "csv"])
def test_a_declared_domain_says_the_type_whatever_the_values_look_like(
    domain: list[Any], source: str, tmp_path: Path
) -> None:
    told = []
    for number, last in enumerate((None, "3.0")):
        stay = pl.DataFrame({"age": [30] * 3 + [50] * 3, "s": list("123123")})
        frame = stay if last is None else pl.concat([stay, pl.DataFrame({"age": [90], "s": [last]})])
        frame.write_csv(tmp_path / f"{number}.csv")
        schema = sd.Schema.from_roles(quasi=["age"], sensitive=["s"], domains={"s": domain})
        if source == "frame" and last is not None:
            frame = frame.with_columns(s=pl.when(pl.col("age") == 90).then(pl.lit("3")).otherwise("s"))
        table = sd.read(frame if source == "frame" else tmp_path / f"{number}.csv", schema)
        told.append(sd.generalize(table, sd.KAnonymity(3), "full-domain", suppress=0.3).frame())
        assert told[-1]["s"].dtype == pl.Series(domain, strict=False).dtype
    assert all(one.equals(told[0]) for one in told)


@pytest.mark.parametrize("engine", ["memory", "duckdb"])
def test_where_nobody_who_stays_has_a_value_it_is_not_told_what_was_left_out(
    engine: str, tmp_path: Path
) -> None:
    written = set()
    schema = sd.Schema.from_roles(quasi=["age"], other=["o"])
    six = pl.DataFrame({"age": [30] * 3 + [50] * 3, "o": [1] * 6})
    plan = sd.generalize(sd.read(six, schema), sd.KAnonymity(3), "mondrian").plan
    for at, last in enumerate([1, 1.5, "x", True, DAY, DAY.date(), Decimal("1.5")]):
        ages = pl.Series("age", [30] * 3 + [50] * 3 + [90])
        everybody = sd.read(pl.DataFrame([ages, pl.Series("o", [None] * 6 + [last])]), schema, engine=engine)  # type: ignore[arg-type]
        release = sd.apply(plan, everybody, unseen="suppress")
        release.write(tmp_path / str(at))
        written.add((tmp_path / str(at) / "hand-over" / "data.parquet").read_bytes())
    assert len(written) == 1
