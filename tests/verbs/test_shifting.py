"""Calendar shifts: every date of a person is off by as much, by days that nobody can tell, and anew in every release."""

from __future__ import annotations

import datetime as dt
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import sudare as sd

FIRST = dt.date(2023, 1, 1)


def stays(people: int = 300, each: int = 1, seed: int = 1) -> pl.DataFrame:
    """Stays in a hospital; `note` tells the tests whose row is whose, as nothing that is published should."""
    rng = np.random.default_rng(seed)
    rows = people * each
    begun = [FIRST + dt.timedelta(int(days)) for days in rng.integers(0, 400, rows)]
    ended = [day + dt.timedelta(int(days)) for day, days in zip(begun, rng.integers(0, 9, rows), strict=True)]
    frame = pl.DataFrame(
        {"pid": np.repeat(np.arange(people), each), "age": np.repeat(rng.integers(20, 60, people), each)}
    )
    return frame.with_columns(
        pl.Series("begun", begun),
        pl.Series("ended", [None if rng.random() < 0.1 else day for day in ended]),
        pl.int_range(rows).alias("note"),
    )


def schema(days: int = 30, **more: Any) -> sd.Schema:
    return sd.Schema.from_roles(
        person="pid",
        quasi=["age"],
        other=["begun", "ended", "note"],
        shifts={"begun": days, "ended": days},
        hierarchies={"age": sd.Hierarchy.intervals(range(100), width=5)},
        **more,
    )


def moved(release: sd.Release, original: pl.DataFrame) -> pl.DataFrame:
    """Return by how many days each row's dates were moved."""
    both = release.frame().join(original, on="note", suffix="_true")
    return both.select(
        "note",
        *((pl.col(name) - pl.col(f"{name}_true")).dt.total_days() for name in ("begun", "ended")),
        is_there=pl.col("ended_true").is_not_null(),
    )


@pytest.mark.parametrize("engine", ["memory", "duckdb"])
def test_all_dates_of_a_person_are_moved_by_as_many_days(engine: Any) -> None:
    original = stays()
    release = sd.generalize(sd.read(original, schema(), engine=engine), sd.KAnonymity(4))
    days = moved(release, original)
    there = days.filter("is_there")
    assert days.height == original.height
    assert (there["begun"] == there["ended"]).all()
    assert days.filter(~pl.col("is_there"))["ended"].null_count() == days.height - there.height
    assert days["begun"].is_between(-30, 30).all()
    assert release.frame()["begun"].dtype == pl.Date


def test_every_number_of_days_is_as_likely() -> None:
    """Each of 2 x 2 + 1 is drawn about as often: a chi-square far beyond what chance does."""
    original = stays(4_000)
    days = moved(sd.generalize(sd.read(original, schema(2)), sd.KAnonymity(4), "mondrian"), original)["begun"]
    seen = Counter(days.to_list())
    assert set(seen) == {-2, -1, 0, 1, 2}
    assert sum((n - 800) ** 2 / 800 for n in seen.values()) < 40


def test_releases_do_not_agree_in_what_dates_were_moved_by() -> None:
    original = stays()
    table = sd.read(original, schema())
    first, second = (
        moved(sd.generalize(table, sd.KAnonymity(4), "mondrian"), original).sort("note")["begun"]
        for _ in "12"
    )
    assert (first == second).mean() < 0.1  # type: ignore[operator]


def test_linked_persons_keep_what_lies_between_their_visits() -> None:
    original = stays(80, each=3).with_columns(age=pl.lit(40))
    release = sd.generalize(sd.read(original, schema(linked={"pid": True})), sd.KAnonymity(4))
    days = moved(release, original).with_columns(pid=pl.col("note") // 3)
    assert days.group_by("pid").agg(pl.n_unique("begun"))["begun"].max() == 1
    assert days["begun"].n_unique() > 10
    assert "80 of 80 persons have dates with intervals" in release.holder["warnings"][-1]


def test_intervals_are_counted_by_hand() -> None:
    """Two persons have a stay of three days, one of four, and one has a single date, which no interval follows from."""
    day = FIRST
    frame = pl.DataFrame(
        {
            "pid": [1, 2, 3, 4],
            "age": [30] * 4,
            "begun": [day, day + dt.timedelta(9), day, day],
            "ended": [day + dt.timedelta(3), day + dt.timedelta(12), day + dt.timedelta(4), None],
            "note": [1, 2, 3, 4],
        }
    )
    release = sd.generalize(sd.read(frame, schema()), sd.KAnonymity(4))
    assert "1 of 4 persons have dates" in release.holder["warnings"][-1]


@pytest.mark.usefixtures("reports")
def test_what_is_written_says_so_and_is_verified(tmp_path: Path) -> None:
    release = sd.generalize(sd.read(stays(), schema()), sd.KAnonymity(4))
    release.write(tmp_path / "out", formats=("xlsx",))
    assert sd.verify(tmp_path / "out").holds
    assert "off by up to 30 days" in release.certificate.caveats[-1]
    assert release.certificate.randomness.startswith(
        "dates were moved by days from ChaCha20 keyed by the operating system"
    )
    assert "(moved)" in release.report
    again = sd.apply(release.plan, sd.read(stays(), schema()))
    assert not again.frame().equals(release.frame())


def test_times_of_the_day_stay() -> None:
    original = stays().with_columns(
        pl.col("begun", "ended").cast(pl.Datetime) + pl.duration(hours=pl.col("note") % 24)
    )
    frame = sd.generalize(sd.read(original, schema()), sd.KAnonymity(4)).frame()
    assert sorted(frame["begun"].dt.hour()) == sorted(original["begun"].dt.hour())


@pytest.mark.parametrize(
    ("roles", "shift", "message"),
    [
        ({"quasi": ["seen"]}, 30, "only dates that are passed on can be moved"),
        ({"sensitive": ["seen"]}, 30, "only dates that are passed on can be moved"),
        ({"other": ["seen"], "types": {"seen": "text"}}, 30, "is of type 'text'"),
        ({"other": ["seen"]}, 0, "greater than or equal to 1"),
    ],
)
def test_what_cannot_be_moved_is_refused(roles: Any, shift: int, message: str) -> None:
    with pytest.raises(sd.InputError, match=message):
        sd.Schema.from_roles(**roles, shifts={"seen": shift})


def test_dates_of_nobody_and_what_is_no_date_are_refused() -> None:
    own = schema()
    without = {name: one for name, one in own.attributes.items() if name != "pid"}
    with pytest.raises(sd.InputError, match="Give a column the role person"):
        sd.generalize(sd.read(stays().drop("pid"), sd.Schema(attributes=without)), sd.KAnonymity(4))
    texts = stays().with_columns(pl.col("begun").cast(pl.String))
    with pytest.raises(sd.InputError, match="'begun' has no dates"):
        sd.generalize(sd.read(texts, own), sd.KAnonymity(4))


def test_the_schema_reads_what_it_writes(tmp_path: Path) -> None:
    (tmp_path / "sudare.toml").write_text(schema().to_toml())
    assert sd.Schema.from_toml(tmp_path / "sudare.toml") == schema()
