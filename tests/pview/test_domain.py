"""Domains: declared cells, how data and conditions fall into them."""

from __future__ import annotations

import datetime as dt
import math
from collections import Counter
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sudare as sd
from sudare.pview.domain import Axis, Domain
from sudare.pview.saved_axes import axis_to_json
from tests.pview.counted import cells_of, rows_of

DAY = dt.date(2024, 3, 1)


def axis_of(values: list[Any], *, missing: bool = False, **attribute: Any) -> tuple[Axis, sd.Table]:
    schema = sd.Schema(
        attributes={"x": sd.Attribute(role="quasi", **attribute)},
        missing="own value" if missing else "refuse",
    )
    table = sd.read(pl.DataFrame({"x": values}), schema)
    return Domain.of(schema).axes[0], table


class TestCells:
    def test_whole_numbers_are_cells_of_their_own(self) -> None:
        axis, table = axis_of([20, 22, 20], bounds=(18, 25))
        assert (axis.size, axis.labels()[:2]) == (8, ["18", "19"])
        assert cells_of(axis, table) == [2, 4, 2]

    def test_declared_bins_are_equally_wide(self) -> None:
        axis, table = axis_of([0, 9, 10, 99], bounds=(0, 99), bins=10)
        assert cells_of(axis, table) == [0, 0, 1, 9]
        assert axis.labels()[0] == "[0, 10)"

    def test_numbers_have_bins_and_the_upper_bound_is_in_the_last(self) -> None:
        axis, table = axis_of([0.0, 0.049, 0.05, 5.0], bounds=(0.0, 5.0))
        assert axis.size == 100
        assert cells_of(axis, table) == [0, 0, 1, 99]

    def test_days_and_times(self) -> None:
        days, table = axis_of([DAY, DAY + dt.timedelta(30)], bounds=(DAY, DAY + dt.timedelta(60)))
        assert (days.size, cells_of(days, table)) == (61, [0, 30])
        start = dt.datetime(2024, 1, 1)
        times, table = axis_of(
            [start, start + dt.timedelta(hours=12)], bounds=(start, dt.datetime(2024, 1, 2)), bins=4
        )
        assert cells_of(times, table) == [0, 2]

    def test_values_keep_the_declared_order(self) -> None:
        axis, table = axis_of(["b", "a"], domain=("c", "b", "a"))
        assert cells_of(axis, table) == [1, 2]

    def test_missing_values_have_the_last_cell_whether_there_are_any_or_not(self) -> None:
        with_some, table = axis_of(["a", None], domain=("a", "b"), missing=True)
        assert (with_some.size, cells_of(with_some, table)) == (3, [0, 2])
        without, table = axis_of(["a", "b"], domain=("a", "b"), missing=True)
        assert (without.size, cells_of(without, table)) == (3, [0, 1])
        in_bins, table = axis_of([5, None], bounds=(0, 9), missing=True)
        assert (in_bins.size, cells_of(in_bins, table)) == (11, [5, 10])

    def test_nothing_is_read_off_the_data(self) -> None:
        with pytest.raises(sd.InputError, match="'x': no domain is declared"):
            axis_of([1, 2, 3])
        with pytest.raises(sd.InputError, match="outside the declared bounds"):
            axis_of([1, 200], bounds=(0, 100))

    def test_what_is_outside_is_clipped_only_if_the_schema_says_so(self) -> None:
        axis, table = axis_of([-5, 3, 200], bounds=(0, 9), outside="clip")
        assert cells_of(axis, table) == [0, 3, 9]

    def test_identifiers_are_left_out(self) -> None:
        schema = sd.Schema.from_roles(quasi=["x"], identifier=["name"], bounds={"x": (0, 3)})
        table = sd.read(pl.DataFrame({"name": ["a", "b"], "x": [1, 2]}), schema)
        assert Domain.of(schema).names == ["x"]
        assert Domain.of(schema).counts(table).names == ("x",)
        with pytest.raises(sd.InputError, match=r"The p-view has no attribute 'name'\. There are 'x'"):
            Domain.of(schema).place("name")


class TestConditions:
    def test_a_range_takes_both_ends(self) -> None:
        axis, _ = axis_of([1], bounds=(0, 9))
        assert np.flatnonzero(axis.wanted((2, 4))).tolist() == [2, 3, 4]
        assert np.flatnonzero(axis.wanted((None, 1))).tolist() == [0, 1]
        assert np.flatnonzero(axis.wanted([1, 5])).tolist() == [1, 5]

    def test_a_bin_is_taken_in_part(self) -> None:
        axis, _ = axis_of([1], bounds=(0, 9), bins=2)
        assert axis.wanted((3, 6)).tolist() == [2 / 5, 2 / 5]
        numbers, _ = axis_of([1.0], bounds=(0, 10), bins=2, type="number")
        assert numbers.wanted((4, 7.5)).tolist() == [1 / 5, 1 / 2]

    def test_missing_is_in_no_range(self) -> None:
        axis, _ = axis_of([1, None], bounds=(0, 3), missing=True)
        assert axis.wanted((0, 3)).tolist() == [1, 1, 1, 1, 0]
        assert axis.wanted(None).tolist() == [0, 0, 0, 0, 1]

    @pytest.mark.parametrize(
        ("condition", "message"),
        [
            ((7, 3), "the wrong way round"),
            ((20, 30), "20 is outside its domain, 0 to 9"),
            ((-9, -3), "-3 is outside its domain, 0 to 9"),
            (99, "outside its domain"),
            (("a", "b"), "not of its type"),
            ((1, 2, 3), r"a range is a pair \(low, high\)"),
            (None, "has no missing values"),
        ],
    )
    def test_bad_conditions_on_numbers(self, condition: Any, message: str) -> None:
        axis, _ = axis_of([1], bounds=(0, 9))
        with pytest.raises(sd.InputError, match=message):
            axis.wanted(condition)

    def test_bad_conditions_on_texts(self) -> None:
        axis, _ = axis_of(["a"], domain=("a", "b"))
        with pytest.raises(sd.InputError, match=r"'x' has no value 'c'\. There are 'a', 'b'"):
            axis.wanted("c")
        with pytest.raises(sd.InputError, match="has no order"):
            axis.wanted(("a", "b"))

    @given(st.integers(1, 30), st.integers(1, 40), st.data())
    def test_shares_of_bins_are_shares_of_whole_numbers(
        self, width: int, bins: int, data: st.DataObject
    ) -> None:
        axis, table = axis_of(list(range(width)), bounds=(0, width - 1), bins=bins)
        codes = np.array(cells_of(axis, table))
        low = data.draw(st.integers(0, width - 1))
        high = data.draw(st.integers(low, width - 1))
        if bins < width and width % bins:
            return  # uneven bins hold parts of whole numbers; then only the sum below is right
        wanted = axis.wanted((low, high))
        for cell in range(axis.size):
            inside = np.flatnonzero(codes == cell)
            share = np.mean([low <= x <= high for x in inside]) if len(inside) else 0
            assert wanted[cell] == pytest.approx(share)


class TestRows:
    @pytest.mark.parametrize(
        ("values", "attribute"),
        [
            ([1, 5, 9], {"bounds": (0, 9)}),
            ([1, 55, 99], {"bounds": (0, 99), "bins": 7}),
            ([0.5, 2.25], {"bounds": (0, 3.0)}),
            ([1, 2], {"bounds": (0, 3), "type": "number"}),
            ([DAY, DAY + dt.timedelta(400)], {"bounds": (DAY, DAY + dt.timedelta(2000))}),
            ([dt.datetime(2024, 1, 1, 5)], {"bounds": (dt.datetime(2024, 1, 1), dt.datetime(2024, 2, 1))}),
            (["a", "b"], {"domain": ("a", "b", "c")}),
            ([True, False], {"domain": (True, False)}),
        ],
    )
    def test_a_drawn_value_lies_in_its_cell_and_has_the_type(self, values: list[Any], attribute: Any) -> None:
        axis, table = axis_of([*values, None], missing=True, **attribute)
        cells = np.arange(axis.size).repeat(20)
        drawn = axis.decode(cells, np.random.default_rng(0))
        assert drawn.dtype == table["x"].values.dtype
        again, read = axis_of(drawn.to_list(), missing=True, **attribute)
        assert cells_of(again, read) == cells.tolist()

    @pytest.mark.parametrize(
        ("values", "attribute"),
        [
            ([1], {"bounds": (0, 9)}),
            ([0.5], {"bounds": (0.0, 3)}),
            ([DAY], {"domain": (DAY, DAY + dt.timedelta(1))}),
            ([DAY], {"bounds": (DAY, DAY + dt.timedelta(20))}),
            (["a"], {"domain": ("a", "b")}),
            ([2], {"domain": (3, 2)}),
            ([True], {"domain": (True, False)}),
        ],
    )
    def test_it_reads_back_as_it_was_written(self, values: list[Any], attribute: Any) -> None:
        axis, _ = axis_of(values, missing=True, **attribute)
        (again,) = Domain.from_json([axis_to_json(axis)]).axes
        assert axis_to_json(again) == axis_to_json(axis)
        assert (again.values, again.dtype, again.size) == (axis.values, axis.dtype, axis.size)


def test_boxes_are_checked() -> None:
    axis, _ = axis_of([1], bounds=(0, 9))
    domain = Domain((axis, axis))
    low, high = domain.boxes([0, 1], [3, 9])
    assert low.shape == high.shape == (1, 2)
    for wrong, message in (
        (([0], [3]), "a column for each of the 2 attributes"),
        (([0.5, 1], [3, 9]), "whole numbers"),
        (([0, -1], [3, 9]), "beyond the domain"),
        (([0, 1], [3, 10]), "beyond the domain"),
        (([5, 1], [3, 9]), "an end before its beginning"),
    ):
        with pytest.raises(sd.InputError, match=message):
            domain.boxes(*wrong)
    assert domain.cells == 100
    assert math.prod(domain.sizes) == 100


class TestCounts:
    """Rows are counted by their values first, and then by the cells that these fall into."""

    @given(st.integers(0, 2**32), st.integers(1, 4), st.booleans())
    def test_cells_hold_the_records_that_fall_into_them(
        self, seed: int, attributes: int, missing: bool
    ) -> None:
        rng, columns, declared = np.random.default_rng(seed), {}, {}
        for a in range(attributes):
            if rng.random() < 0.5:  # categories, declared in another order than that of the values
                values = [f"v{i}" for i in range(rng.integers(1, 5))]
                declared[f"x{a}"] = {"domain": tuple(rng.permutation(values).tolist())}
            else:
                values = list(range(rng.integers(1, 12)))
                declared[f"x{a}"] = {"bounds": (0, len(values) - 1), "bins": int(rng.integers(1, 8))}
            column = rng.choice(np.array(values, dtype=object), 40).tolist()
            columns[f"x{a}"] = [None if missing and i == 7 else value for i, value in enumerate(column)]
        attributes_of = {name: sd.Attribute(role="quasi", **own) for name, own in declared.items()}
        schema = sd.Schema(attributes=attributes_of, missing="own value" if missing else "refuse")
        table = sd.read(pl.DataFrame(columns), schema)
        domain = Domain.of(schema)
        counts = domain.counts(table)
        rows = Counter(map(tuple, rows_of(domain, table).tolist()))
        assert {
            tuple(c): w for c, w in zip(counts.codes.tolist(), counts.weights.tolist(), strict=True)
        } == rows
        assert counts.codes.tolist() == sorted(counts.codes.tolist())
        assert (counts.names, counts.sizes) == (tuple(domain.names), domain.sizes)

    def test_more_attributes_than_a_key_has_bits(self) -> None:
        names = [f"x{a}" for a in range(120)]
        codes = np.random.default_rng(0).integers(0, 9, (300, 120))
        codes[150:] = codes[:150]
        schema = sd.Schema.from_roles(
            quasi=names, bounds=dict.fromkeys(names, (0, 8)), bins={"x7": 3}, missing="refuse"
        )
        counts = Domain.of(schema).counts(sd.read(pl.DataFrame(codes, schema=names), schema))
        assert counts.weights.tolist() == [2] * 150
        assert sorted(counts.codes[:, 7].tolist()) == sorted((codes[:150, 7] // 3).tolist())

    def test_narrow_floats_at_the_bounds_are_inside(self) -> None:
        table = sd.read(
            pl.DataFrame({"x": pl.Series([0.1, 0.3], dtype=pl.Float32)}),
            schema := sd.Schema.from_roles(quasi=["x"], bounds={"x": (0.1, 0.3)}, bins={"x": 2}),
        )
        assert Domain.of(schema).counts(table).codes.tolist() == [[0], [1]]

    def test_what_is_outside_the_bounds_is_not_put_into_the_next_bin(self) -> None:
        narrow = sd.Schema.from_roles(quasi=["x"], bounds={"x": (0, 9)}, missing="refuse")
        for value in (-1, 10):
            table = sd.read(pl.DataFrame({"x": [value]}), sd.Schema.from_roles(quasi=["x"]))
            with pytest.raises(sd.InputError, match=f"column 'x': '{value}' is outside the bounds"):
                Domain.of(narrow).counts(table)
