"""Rows that are counted, cut and grouped: against plain lists of them."""

from __future__ import annotations

from collections import Counter

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sudare.tables import parts
from sudare.tables.parts import in_parts, part_names
from sudare.tables.runs import PublishedRows, Runs

VALUES = st.sampled_from([0.0, -0.0, 1.5, None])
ROWS = st.lists(st.tuples(VALUES, st.sampled_from("ab")), max_size=30)
TYPES = {"x": pl.Float64, "y": pl.String}


def runs_of(rows: list[tuple[float | None, str]]) -> Runs:
    return Runs.of(pl.DataFrame(rows, schema=TYPES, orient="row"))


def told(runs: PublishedRows) -> list[str]:
    """What can be told of all rows: -0.0 is not 0.0."""
    return list(map(str, runs.frame().rows()))


@given(ROWS, st.integers(0, 40))
def test_a_split_has_all_rows_once(rows: list[tuple[float | None, str]], at: int) -> None:
    first, rest = runs_of(rows).split(at)
    assert told(first) == list(map(str, rows[:at]))
    assert told(rest) == list(map(str, rows[at:]))
    assert min([1, *first.lengths, *rest.lengths]) == 1  # no run without rows


@given(ROWS)
def test_equal_rows_are_grouped_wherever_they_stand(rows: list[tuple[float | None, str]]) -> None:
    grouped = runs_of(rows).grouped()
    counted = dict(zip(map(str, grouped.rows.rows()), grouped.lengths, strict=True))
    assert counted == Counter(map(str, rows))
    assert len(counted) == grouped.rows.height


class Some(Runs):
    """Rows that come some at a time, as a database gives them."""

    def parts(self):  # type: ignore[no-untyped-def]
        for start in range(0, max(self.height, 1), 3):
            yield Runs.of(self.frame()[start : start + 3])


@given(ROWS, st.integers(1, 12))
def test_parts_are_full_but_for_the_last(rows: list[tuple[float | None, str]], size: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(parts, "PART_ROWS", size)
        whole = runs_of(rows)
        cut = list(in_parts(whole))
        assert [row for part in cut for row in told(part)] == told(whole)
        assert len(cut) == len(part_names("data", len(rows)))
        assert all(part.height == size for part in cut[:-1])
        assert (cut[-1].height > 0) == (len(rows) > 0)
        for part, same in zip(cut, in_parts(Some(whole.rows, whole.lengths)), strict=True):
            assert part.rows.equals(same.rows)
            assert part.lengths.equals(same.lengths)


def test_a_column_is_counted_by_its_name_whatever_that_means_elsewhere() -> None:
    frame = pl.DataFrame({"a": [1], "^a$": [2], "*": [3]})
    assert Runs.of(frame).counted(["^a$"]).rows.to_dict(as_series=False) == {"^a$": [2]}
    assert Runs.of(frame).counted(["*", "a"]).rows.rows() == [(3, 1)]
