"""The report of a generalized table: what a guess wins, columns before and after on one scale, and people before and after."""

from __future__ import annotations

import datetime as dt
import re
from collections import Counter
from html import unescape
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sudare as sd
from sudare.reports.compared_columns import ANY, MAX_BINS, MAX_VALUES, ComparedColumn, compared
from sudare.reports.samples import samples_of
from sudare.tables.runs import Runs
from tests.reports.pages import BROWSER, opened, pictures, stage


def column_of(values: list[Any], published: list[Any] | None = None, **schema: Any) -> ComparedColumn:
    """Compare one column with itself, or with other values."""
    table = sd.read(pl.DataFrame({"x": values}, strict=False), sd.Schema.from_roles(quasi=["x"], **schema))
    after = table.frame() if published is None else pl.DataFrame({"x": published}, strict=False)
    return compared(table, "x", Runs.of(after))


# -- Columns on one scale --------------------------------------------------------------------------


@settings(max_examples=80, deadline=None)
@given(
    st.one_of(
        st.lists(st.integers(-(2**62), 2**62), min_size=17, max_size=60, unique=True),
        st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=17, max_size=60, unique=True),
        st.lists(st.dates(), min_size=17, max_size=60, unique=True),
        st.lists(
            st.datetimes(dt.datetime(1, 1, 2), dt.datetime(9999, 1, 1)), min_size=17, max_size=60, unique=True
        ),
    )
)
def test_no_record_is_lost_on_either_side_and_what_did_not_change_looks_the_same(values: list[Any]) -> None:
    column = column_of(values)
    assert sum(column.original) == pytest.approx(len(values))
    assert column.original == pytest.approx(column.published)
    assert len(column.labels) == len(set(column.labels)) <= MAX_BINS + 3
    assert column.distinct == (len(values), len(values))


def test_numbers_are_in_bins_with_round_ends() -> None:
    column = column_of(list(range(18, 96)) * 3)
    assert column.binned
    assert column.labels[:3] == ["15", "20", "25"]
    assert column.original[1] == 15  # 20 to 24, three times


def test_a_few_numbers_far_away_do_not_press_the_others_into_one_bin() -> None:
    column = column_of([*range(1000), 10**9])
    assert max(column.original) < 100
    assert column.labels[-1].startswith("≥ ")


@pytest.mark.parametrize(
    ("days", "first"),
    [
        (20, "2024-01-01"),
        (100, "2024-01-01"),
        (400, "2024-01"),
        (1500, "2024-Q1"),
        (5000, "2024"),
        (40_000, "2020s"),
    ],
)
def test_dates_stand_on_a_time_axis(days: int, first: str) -> None:
    start = dt.date(2024, 1, 1)
    column = column_of([start + dt.timedelta(days=i) for i in range(days)])
    assert column.labels[0] == first
    assert len(column.labels) <= MAX_BINS


def test_a_label_counts_for_all_values_that_it_stands_for_and_the_root_for_none() -> None:
    tree = {"x": sd.Hierarchy.intervals(range(100), width=10, fanout=2)}
    column = column_of(list(range(100)), ["[0, 10)"] * 50 + ["*"] * 40 + ["99"] * 10, hierarchies=tree)
    assert column.labels[:2] == ["0", "5"]
    assert column.published[:2] == [25, 25]
    assert dict(zip(column.labels, column.published, strict=True))["95"] == 10
    assert (column.labels[-1], column.published[-1], column.for_any) == (ANY, 40, 40)
    assert column.spread


def test_few_values_have_a_bar_each_and_labels_stand_beside_them() -> None:
    tree = {"x": sd.Hierarchy.from_tree({"Europe": ["France", "Norway"], "Asia": ["Japan"]})}
    column = column_of(["France", "Norway", "Japan", "France"], ["Europe"] * 3 + ["Japan"], hierarchies=tree)
    assert column.labels == ["France", "Japan", "Norway", "Europe"]
    assert column.original == [2, 1, 1, 0]
    assert column.published == [0, 1, 0, 3]


def test_many_texts_are_counted_by_a_level_of_their_hierarchy_or_the_rarest_together() -> None:
    codes = [f"{i:03}" for i in range(0, 400, 2)]
    column = column_of(
        codes, codes[:100] + ["1**"] * 50 + ["***"] * 50, hierarchies={"x": sd.Hierarchy.mask(codes)}
    )
    assert column.labels == ["0**", "1**", "2**", "3**", "***"]
    assert column.original == [50, 50, 50, 50, 0]
    assert column.published == [50, 100, 0, 0, 50]
    column = column_of([*codes, *["000"] * 9])
    assert len(column.labels) == MAX_VALUES
    assert column.labels[-1] == "185 others"
    assert sum(column.original) == len(codes) + 9


def test_what_is_missing_has_a_bar_of_its_own() -> None:
    column = column_of([None, None, *range(50)])
    assert column.labels[-1] == "(missing)"
    assert column.original[-1] == column.published[-1] == 2


# -- The page --------------------------------------------------------------------------------------


def people() -> pl.DataFrame:
    return pl.DataFrame(
        {
            "who": [f"Ann {i}" for i in range(200)],
            "age": [20 + i % 40 for i in range(200)],
            "ill": ["HIV" if i % 40 < 4 or i % 9 == 0 else "flu" for i in range(200)],
            "cost": [float(i) for i in range(200)],
        }
    )


def release(method: str = "minimal", k: int = 5) -> sd.Release:
    tree = {"age": sd.Hierarchy.intervals(range(100), width=10)}
    roles = {"identifier": ["who"], "quasi": ["age"], "sensitive": ["ill"], "other": ["cost"]}
    return sd.generalize(
        sd.read(people(), sd.Schema.from_roles(hierarchies=tree, **roles)), sd.KAnonymity(k), method
    )


def guessed(frame: pl.DataFrame) -> tuple[float, int]:
    """How many are guessed rightly, as a share, and how many are in blocks where one value has over 90%."""
    blocks: dict[str, Counter[str]] = {}
    for age, ill in frame.select("age", "ill").rows():
        blocks.setdefault(str(age), Counter())[ill] += 1
    sure = [block.total() for block in blocks.values() if max(block.values()) > 0.9 * block.total()]
    return sum(max(block.values()) for block in blocks.values()) / frame.height, sum(sure)


def test_the_report_says_what_a_guess_wins_and_who_is_nearly_known() -> None:
    made = release(k=20)
    (before, sure_before), (after, sure_after) = guessed(people()), guessed(made.frame())
    assert sure_before > 0
    assert before > after
    base = people()["ill"].value_counts()["count"].max() / 200  # type: ignore[operator]
    cells = [f"{base:.1%}", f"{before:.1%}", f"<b>{after:.1%}</b>", f"{sure_before}", f"<b>{sure_after}</b>"]
    assert f"<td>ill</td>{''.join(f'<td>{cell}</td>' for cell in cells)}" in stage(made.report, 3)


def test_of_two_values_nobody_says_what_ruling_out_one_leaves() -> None:
    assert "background knowledge" not in release().report
    three = people().with_columns(ill=pl.Series(["flu", "HIV", "gout", "flu"] * 50))
    table = sd.read(three, sd.Schema.from_roles(quasi=["age"], sensitive=["ill"], other=["cost", "who"]))
    assert "background knowledge" in sd.generalize(table, sd.KAnonymity(5)).report


def test_every_published_column_is_drawn_once_and_no_other() -> None:
    page = unescape(release().report)
    drawn = re.findall(r"<h4>(.*?)</h4>", stage(page, 6))
    assert drawn == ["age", "ill", "cost"]
    assert "Ann " not in page


def test_a_picture_has_one_scale_for_both_sides() -> None:
    (ages,) = [one for one in pictures(stage(release().report, 6)) if "20: " in "".join(one.itertext())][:1]
    heights: dict[str, set[float]] = {}
    for bar in ages.iter("{http://www.w3.org/2000/svg}rect"):
        if (title := bar.find("{http://www.w3.org/2000/svg}title")) is not None and title.text:
            heights.setdefault(title.text.split(": ")[1], set()).add(float(bar.get("height", 0)))
    assert all(max(same) - min(same) < 0.2 for same in heights.values())  # as many people, as tall a bar


@pytest.mark.parametrize("method", ["minimal", "mondrian"])
def test_sample_people_are_in_the_table_and_what_became_of_them_is_published(method: str) -> None:
    made = release(method)
    whole = made.plan.locate(made.kept.table)
    samples = samples_of(whole)  # type: ignore[arg-type]
    assert samples.columns == ["age", "ill", "cost"]
    assert len(samples.people) == 4
    before = {tuple(map(str, row)) for row in made.kept.table.frame().select("age", "ill", "cost").rows()}
    after = {tuple(map(str, row)) for row in made.frame().select("age", "ill", "cost").rows()}
    for one in samples.people:
        assert tuple(one.original) in before
        assert tuple(one.published) in after


def test_who_was_left_out_is_said_to_be() -> None:
    rows = pl.DataFrame({"age": [20] * 30 + list(range(30, 60))})
    table = sd.read(rows, sd.Schema.from_roles(quasi=["age"]))
    made = sd.generalize(table, sd.KAnonymity(10), "full-domain", suppress=1.0)
    assert made.holder["records"]["suppressed"] == 30
    samples = samples_of(made.plan.locate(table))  # type: ignore[arg-type]
    assert [one.published for one in samples.people] == [["20"], ["20"], ["(left out)"], ["(left out)"]][
        -len(samples.people) :
    ]


@pytest.mark.skipif(BROWSER is None, reason="There is no Chromium or Chrome.")
@pytest.mark.parametrize("width", [500, 800, 1600])
def test_forty_columns_do_not_run_off_the_page(width: int, tmp_path: Path) -> None:
    wide = pl.DataFrame(
        {f"a_rather_long_name_of_a_column_{i}": [j % (i + 2) for j in range(60)] for i in range(40)}
    )
    roles = sd.Schema.from_roles(
        quasi=wide.columns[:12], sensitive=wide.columns[12:14], other=wide.columns[14:]
    )
    page = sd.generalize(sd.read(wide, roles), sd.KAnonymity(5), "mondrian").report
    measure = "const all = document.documentElement; all.dataset.off = all.scrollWidth - all.clientWidth"
    bare = re.sub(r'<meta http-equiv="Content-Security-Policy"[^>]*>', "", page)
    assert 'data-off="0"' in opened(bare, tmp_path, then=measure, width=width)
