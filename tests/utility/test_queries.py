from __future__ import annotations

import datetime as dt
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sudare as sd
from sudare.utility import queries
from sudare.utility.outcome import Outcome
from sudare.utility.queries import query_error
from tests import by_row
from tests.utility.generalized import Generalized, generalized, leaves_of, table_of, under

NAMES = ("age", "town", "sex")


@given(generalized())
def test_unchanged_table_has_no_error(case: Generalized) -> None:
    assert query_error(Outcome.of(case.table, [0, 0, 0]), queries=20).mean == pytest.approx(0, abs=1e-12)


@given(generalized(), st.integers(0, 99))
def test_same_as_cell_by_cell(case: Generalized, seed: int) -> None:
    """The queries that were drawn, answered again one cell at a time."""
    asked = recorded(case, seed)
    table, rows = case.table, len(case.table)
    values = {name: by_row.values(table, name) for name in NAMES}
    errors = []
    for query in asked:
        true = sum(all(values[name][row] in inside for name, inside in query.items()) for row in range(rows))
        estimate = 0.0
        for row in np.flatnonzero(case.kept):
            share = 1.0
            for name, inside in query.items():
                node = under(table, name, values[name][row], int(case.levels[row, NAMES.index(name)]))
                share *= len(node & inside) / len(node)
            estimate += share
        errors.append(abs(estimate - true) / max(true, 0.001 * rows))
    error = query_error(case.outcome, queries=10, seed=seed)
    assert error.queries == len(asked) == 10
    assert (error.mean, error.median) == pytest.approx((np.mean(errors), np.median(errors)))


def recorded(case: Generalized, seed: int) -> list[dict[str, set[object]]]:
    """The queries that a run asks, as sets of values."""
    conditions: list[dict[str, set[object]]] = []
    real = queries._drawn

    def spy(attributes: list[queries._Attribute], *drawing: Any) -> list[queries._Asked]:
        drawn = real(attributes, *drawing)
        for together in drawn:
            names = [attributes[place].name for place in together.places]
            conditions.extend(
                {
                    # The leaves of `sex` are the column's values; of the others, the hierarchy's.
                    name: {leaves_of(case.table, name)[i] for i in np.flatnonzero(mask)}
                    for name, mask in zip(names, masks, strict=True)
                }
                for masks in zip(*together.queries, strict=True)
            )
        return drawn

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(queries, "_drawn", spy)
        query_error(case.outcome, queries=10, seed=seed)
    assert all(None not in inside for query in conditions for inside in query.values())
    return conditions


def attribute_of(outcome: Outcome, asked: str) -> queries._Attribute:
    table, codes = outcome.table, outcome.counts.column(asked)
    return next(
        queries._Attribute.of(table[name], table.schema[name], tree, codes, climbed, outcome.kept)
        for name, tree, climbed in outcome.climbs()
        if name == asked
    )


def test_by_hand() -> None:
    """One record, Bath, published as south (Bath, Deal): half of it is Bath."""
    table = table_of([(0, "Bath", "f")])
    town = attribute_of(Outcome.of(table, [0, 1, 0]), "town")
    queries = [
        [False, True, False, False, False],
        [False] * 4 + [True],
    ]  # Bath, Wick, of Ayr, Bath, Cork, Deal, Wick
    assert town.shares(np.array(queries))[:, town.nodes[0]].tolist() == [0.5, 0.0]


@given(generalized(), st.integers(0, 99))
def test_queries_answered_at_once_are_answered_as_one_by_one(case: Generalized, seed: int) -> None:
    together = query_error(case.outcome, queries=10, seed=seed)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(queries, "MAX_CELLS", 1)
        assert query_error(case.outcome, queries=10, seed=seed) == together


def test_all_suppressed_answers_zero() -> None:
    """Every count is answered 0: off by 100%, or by nothing where the true count is 0."""
    table = table_of([(1, "Ayr", "f"), (2, "Bath", "m")])
    error = query_error(Outcome.of(table, [0, 0, 0], [False, False]), queries=200)
    assert error.median in (0, 1)
    assert 0 < error.mean < 1


def test_same_seed_same_queries() -> None:
    table = table_of([(i % 12, "Ayr", "fm"[i % 2]) for i in range(30)])
    one, same, other = (
        query_error(Outcome.of(table, [3, 1, 1]), queries=50, seed=seed) for seed in (1, 1, 2)
    )
    assert one == same != other


def test_intervals_follow_the_values_not_their_text() -> None:
    """As text, 10 stands before 2; the query from 2 to 9 must not include 10."""
    ages = list(range(1, 13))
    hierarchy = sd.Hierarchy.intervals([*reversed(ages)], width=6)
    schema = sd.Schema.from_roles(quasi=["age"], hierarchies={"age": hierarchy})
    table = sd.read(pl.DataFrame({"age": ages[::2]}), schema)
    attribute = attribute_of(Outcome.of(table, [0]), "age")
    assert attribute.ordered
    assert [hierarchy.leaves[leaf] for leaf in attribute.values] == [str(age) for age in ages]


def test_dates_and_their_missing_values() -> None:
    days = [dt.date(2024, 1, 1) + dt.timedelta(days=17 * i) for i in range(20)]
    schema = sd.Schema.from_roles(quasi=["born"], hierarchies={"born": sd.Hierarchy.dates(days)})
    table = sd.read(pl.DataFrame({"born": [*days[:10], None]}), schema)
    assert query_error(Outcome.of(table, [0]), queries=50).mean == 0
    assert query_error(Outcome.of(table, [5]), queries=50).mean > 0


def test_a_declared_order_is_not_the_order_of_numbers() -> None:
    schema = sd.Schema.from_roles(quasi=["rooms"], domains={"rooms": [3, 1, 2]})
    table = sd.read(pl.DataFrame({"rooms": [1, 2]}), schema)
    rooms = attribute_of(Outcome.of(table, [0]), "rooms")
    assert rooms.values.tolist() == [1, 2, 0]


def test_times_are_ordered() -> None:
    times = [dt.datetime(2024, 1, 1, hour) for hour in range(4)]
    schema = sd.Schema.from_roles(quasi=["at"], hierarchies={"at": sd.Hierarchy.dates(times)})
    table = sd.read(pl.DataFrame({"at": times}), schema)
    assert query_error(Outcome.of(table, [1]), queries=50).mean == 0


def test_leaves_without_a_place_in_the_order_are_left_aside() -> None:
    hierarchy = sd.Hierarchy.from_rows([["1", "*"], ["2", "*"], ["unknown", "*"]])
    schema = sd.Schema.from_roles(quasi=["age"], hierarchies={"age": hierarchy})
    table = sd.read(pl.DataFrame({"age": [1, 2]}), schema)
    assert query_error(Outcome.of(table, [1]), queries=50).mean == 0  # each of the two is as likely


def test_no_quasi_attribute_is_refused() -> None:
    with pytest.raises(sd.InputError, match="no quasi attribute"):
        query_error(by_row.outcome(sd.read(pl.DataFrame({"age": [1]})), np.empty((1, 0), dtype=int)))
    with pytest.raises(sd.ParameterError, match="'queries' parameter"):
        query_error(Outcome.of(table_of([(0, "Ayr", "f")]), [0, 0, 0]), queries=0)
