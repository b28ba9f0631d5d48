from __future__ import annotations

import datetime as dt
import math
import tracemalloc
from typing import Any

import numpy as np
import polars as pl
import pytest

import sudare as sd
from sudare.noise.keystream import Keystream
from sudare.randomization.domains import domain_counts
from sudare.randomization.learn import learn_plan
from sudare.randomization.plan import RandomizationPlan
from tests.randomization.drawing import drawn_rows, original_codes

ALMOST_ALL = sd.DifferentialPrivacy(300.0, per="record")
"""So large an epsilon that hardly anything moves."""


def read(series: pl.Series, bounds: Any, **details: Any) -> sd.Table:
    named = {key: {"x": value} for key, value in details.items()}
    schema = sd.Schema.from_roles(quasi=["x"], bounds={"x": bounds}, missing="refuse", **named)
    return sd.read(series.alias("x").to_frame(), schema)


def plan_of(table: sd.Table, how: str = "noise", asked: Any = ALMOST_ALL) -> RandomizationPlan:
    return learn_plan(table, asked, Keystream.unsafe(0), how={"x": how})


def drawn(table: sd.Table, plan: RandomizationPlan | None = None, **options: Any) -> pl.Series:
    plan = plan or plan_of(table, **options)
    return drawn_rows(plan, table, Keystream.unsafe(1))["x"]


@pytest.mark.parametrize(
    "bounds", [(0, 1), (0.0, math.pi), (-5.5, 3.25), (1 / 3, 2 / 3), (0.123456789, 1), (-1e9, 1e9), (0, 1e-7)]
)
def test_noise_on_numbers_stays_within_the_bounds(bounds: tuple[float, float]) -> None:
    low, high = bounds
    series = pl.Series(np.linspace(low, high, 400))
    out = drawn(read(series, bounds, types="number"), asked=sd.PkAnonymity(50))
    assert out.dtype == pl.Float64
    assert low <= out.min()
    assert out.max() <= high
    assert out.n_unique() > 100


@pytest.mark.parametrize("bounds", [(0, 1), (-5.5, 3.25), (0, 1000)])
def test_numbers_are_rounded_to_a_fine_grid(bounds: tuple[float, float]) -> None:
    low, high = bounds
    series = pl.Series(np.random.default_rng(0).uniform(low, high, 100))
    out = drawn(read(series, bounds, types="number"), asked=sd.DifferentialPrivacy(1e6, per="record"))
    assert out.to_numpy() == pytest.approx(series.to_numpy(), abs=(high - low) / 10_000)


@pytest.mark.parametrize("dtype", [pl.Int8, pl.UInt16, pl.Int32, pl.Int64, pl.Float32])
def test_the_type_is_the_schemas(dtype: Any) -> None:
    series = pl.Series([1, 2, 3] * 10, dtype=dtype)
    assert drawn(read(series, (0, 10))).dtype == pl.Int64
    assert drawn(read(series, (0, 10.0))).dtype == pl.Float64


@pytest.mark.parametrize("unit", ["ms", "us", "ns"])
def test_times_are_in_microseconds(unit: Any) -> None:
    series = pl.Series([dt.datetime(2020, 1, i) for i in (1, 2, 3)] * 10, dtype=pl.Datetime(unit))
    bounds = (dt.datetime(2020, 1, 1), dt.datetime(2020, 1, 5))
    assert drawn(read(series, bounds)).dtype == pl.Datetime("us")


def test_whole_numbers_between_bounds_that_are_not_whole() -> None:
    series = pl.Series(list(range(1, 11)) * 20)
    out = drawn(read(series, (0.5, 10.2), types="integer"))
    assert out.is_between(1, 10).all()
    assert out.n_unique() == 10


def test_days_stay_days() -> None:
    days = [dt.date(1899, 12, 31) + dt.timedelta(days=i) for i in range(100)]
    out = drawn(read(pl.Series(days), (days[0], days[-1])))
    assert out.dtype == pl.Date
    assert out.is_between(days[0], days[-1]).all()
    assert abs((out - pl.Series(days)).dt.total_days()).max() <= 30


def test_times_between_days() -> None:
    """Days may be the bounds of times, if these are declared: a time on the last day is within them."""
    times = [dt.datetime(2020, 1, 1) + dt.timedelta(hours=i) for i in range(24 * 31)]
    out = drawn(read(pl.Series(times), (dt.date(2020, 1, 1), dt.date(2020, 1, 31)), types="datetime"))
    assert out.is_between(dt.datetime(2020, 1, 1), dt.datetime(2020, 2, 1), closed="left").all()
    assert out.n_unique() > 100


def test_days_between_times() -> None:
    days = [dt.date(2020, 1, 1) + dt.timedelta(days=i) for i in range(31)]
    bounds = (dt.datetime(2020, 1, 1), dt.datetime(2020, 1, 31))
    for type_, steps, dtype in (("date", 30, pl.Date), (None, 2**16, pl.Datetime("us"))):
        table = read(pl.Series(days), bounds, types=type_)
        plan = plan_of(table)
        assert plan.to_json()["attributes"]["x"]["steps"] == steps
        assert drawn(table, plan).dtype == dtype


def test_whole_numbers_of_a_wide_range_do_not_wrap() -> None:
    series = pl.Series([0, 2**32 + 5, 2**33] * 10)
    out = drawn(read(series, (0, 2**33)), asked=sd.DifferentialPrivacy(1e6, per="record"))
    assert abs(out - series).max() < 10**6


def test_a_wide_range_needs_no_memory_for_every_number_in_it() -> None:
    plan = plan_of(read(pl.Series([1, 2, 3] * 10), (0, 20_000_000)))
    tracemalloc.start()
    plan["x"].expected_change()
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert most < 10_000_000


# -- Bins -------------------------------------------------------------------------------------------


def contains(label: str, value: float) -> bool:
    low, high = (float(end) for end in label[1:-1].split(", "))
    return low <= value < high or (label.endswith("]") and value == high)


@pytest.mark.parametrize("bounds", [(0, 100), (17, 90), (0, 5), (-3, 28), (0, 9)])
def test_a_bin_is_labelled_by_what_lies_in_it(bounds: tuple[int, int]) -> None:
    values = list(range(bounds[0], bounds[1] + 1))
    plan = plan_of(table := read(pl.Series(values), bounds), how="bins")
    labels = plan["x"].domain.labels()
    assert len(set(labels)) == len(labels)
    wrong = [
        (value, labels[code])
        for value, code in zip(values, original_codes(plan, table)["x"], strict=True)
        if not contains(labels[code], value)
    ]
    assert not wrong


def test_bins_of_numbers_that_are_not_whole() -> None:
    values = np.random.default_rng(0).uniform(-1, 1, 500)
    plan = plan_of(table := read(pl.Series(values), (-1.0, 1)), how="bins")
    for value, code in zip(values, original_codes(plan, table)["x"], strict=True):
        assert contains(plan["x"].domain.labels()[code], value)


def test_bins_are_the_first_level_of_a_hierarchy() -> None:
    schema = sd.Schema.from_roles(
        quasi=["x"],
        hierarchies={"x": sd.Hierarchy.intervals(range(100), width=25, fanout=2)},
        missing="refuse",
    )
    table = sd.read(pl.DataFrame({"x": list(range(100))}), schema)
    plan = learn_plan(table, sd.PkAnonymity(2), Keystream.unsafe(0), how={"x": "bins"})
    assert len(plan["x"].domain) == 4
    assert domain_counts(plan["x"].domain, table).tolist() == [25] * 4


def test_missing_values_are_a_bin_of_their_own_and_come_out_as_missing() -> None:
    for hierarchy in (None, sd.Hierarchy.intervals(range(100), width=25, fanout=2)):
        schema = sd.Schema.from_roles(
            quasi=["x"],
            **({"hierarchies": {"x": hierarchy}} if hierarchy else {"bounds": {"x": (0, 100)}}),
        )
        table = sd.read(pl.DataFrame({"x": [*range(50), *[None] * 50]}), schema)
        plan = learn_plan(table, ALMOST_ALL, Keystream.unsafe(0), how={"x": "bins"})
        assert drawn(table, plan).null_count() == 50


def test_a_text_that_looks_like_missing_is_told_apart_from_it() -> None:
    table = sd.read(
        pl.DataFrame({"x": ["(missing)"] * 300 + [None] * 100}),
        sd.Schema.from_roles(quasi=["x"], domains={"x": ["(missing)"]}),
    )
    labels = learn_plan(table, sd.PkAnonymity(2), Keystream.unsafe(0))["x"].domain.labels()
    assert len(set(labels)) == 2


def test_as_many_values_as_a_byte_has_are_decoded() -> None:
    schema = sd.Schema.from_roles(quasi=["x"], bounds={"x": (0, 255)})
    table = sd.read(pl.DataFrame({"x": [0, 255, 17]}), schema.model_copy(update={"missing": "refuse"}))
    assert sd.randomize(table, sd.PkAnonymity(2), how={"x": "retain"}).frame().height == 3
