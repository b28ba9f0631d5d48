from __future__ import annotations

import datetime as dt
from itertools import pairwise
from random import Random
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sudare as sd
from sudare.generalization.labels import LabelWriter, flat, listing, rising, side_by_side
from sudare.tables.dictionary import Dictionary
from sudare.tables.hierarchy import Hierarchy
from tests.generalization.cases import random_tree
from tests.generalization.plain_views import covers, random_table

randoms = st.randoms(use_true_random=False)
TOWNS = Hierarchy.from_tree(
    {
        "France": {"north": ["Lille", "Paris"], "south": ["Lyon", "Nice"]},
        "Norway": {"all": ["Oslo", "Bergen"]},
    }
)


def labels_of(values: list[Any], hierarchy: Hierarchy | None = None, domain: Any = None) -> LabelWriter:
    """The labels of a column that is read; places are in the order of values that the labels choose."""
    schema = sd.Schema.from_roles(
        quasi=["x"],
        hierarchies={"x": hierarchy} if hierarchy else None,
        domains={"x": domain} if domain else None,
    )
    return labels_for(sd.read(pl.DataFrame({"x": values}), schema)["x"])


def labels_for(column: Dictionary) -> LabelWriter:
    tree = column.hierarchy or flat(column)
    return LabelWriter(column, tree, side_by_side(tree, rising(column)))


def label(labels: LabelWriter, *texts: str | None) -> str | None:
    return labels.label(tuple(sorted(labels.texts.index(text) for text in texts)))


def test_numbers_become_ranges() -> None:
    ages = labels_of([20, 25, 30, 41])
    assert label(ages, "25") == "25"
    assert label(ages, "20", "25") == label(ages, "25", "20") == "[20, 25]"
    assert label(ages, "20", "30") == "[20, 30]"  # what lies between is left open, too
    assert label(ages, "20", "41") == "[20, 41]"
    assert label(ages, "20", "25", "30", "41") == "*"


def test_dates_become_ranges() -> None:
    days = labels_of([dt.date(2024, 1, 31), dt.date(2024, 2, 1), dt.date(2023, 5, 6)])
    assert label(days, "2023-05-06", "2024-01-31") == "[2023-05-06, 2024-01-31]"


def test_a_missing_value_is_listed_beside_a_range() -> None:
    ages = labels_of([20, 25, 30, None])
    assert label(ages, None) is None
    assert label(ages, "20", None) == "{20, (missing)}"
    assert label(ages, "20", "25", None) == '{"[20, 25]", (missing)}'
    assert label(ages, "20", "25", "30") == "[20, 30]"
    assert label(ages, "20", "25", "30", None) == "*"


def test_categories_become_lists() -> None:
    names = labels_of(["b", "a", "c", None])
    assert label(names, "a") == "a"
    assert label(names, "c", "a") == "{a, c}"
    assert label(names, "c", None) == "{c, (missing)}"
    assert label(names, "a", "b", "c", None) == "*"


def test_whole_nodes_have_their_name() -> None:
    towns = labels_of([*TOWNS.leaves, None], TOWNS)
    assert label(towns, "Lille", "Paris") == "north"
    assert label(towns, "Lille", "Nice") == "France"  # all its children are there
    assert label(towns, "Lille", "Oslo") == "{Norway, France}"  # Bergen comes first; none is missing
    assert label(towns, "Lille", "Oslo", None) == "*"
    assert label(towns, "Oslo", None) == "{Norway, (missing)}"


def test_a_range_may_be_narrower_than_its_node() -> None:
    ages = labels_of(list(range(10)), Hierarchy.intervals(range(10), width=5))
    assert label(ages, "1", "3") == "[1, 3]"
    assert label(ages, *map(str, range(5))) == "[0, 5)"
    assert label(ages, "3", "6") == "[3, 6]"


def test_numbers_in_a_declared_order_still_rise() -> None:
    ages = labels_of([10, 20, 30], domain=[30, 10, 20])
    assert ages.texts == ["10", "20", "30"]
    assert label(ages, "10", "30") == "[10, 30]"


def test_numbers_whose_nodes_are_no_ranges_are_listed() -> None:
    """Odd and even: from 3 to 2, as they stand side by side, is no range."""
    numbers = labels_of([1, 2, 3, 4], Hierarchy.groups({1: "odd", 2: "even", 3: "odd", 4: "even"}))
    assert numbers.texts == ["1", "3", "2", "4"]
    assert label(numbers, "1", "3") == "odd"
    assert label(numbers, "3", "2") == "*"


@pytest.mark.parametrize(
    ("parts", "expected"),
    [
        (["a", "b"], "{a, b}"),
        (["a, b", "c"], '{"a, b", c}'),
        (["{a", 'b"'], '{"{a", "b\\""}'),
        (["(missing)", None], '{"(missing)", (missing)}'),
        (["東京, 港区", "大阪"], '{"東京, 港区", 大阪}'),
    ],
)
def test_what_could_be_misread_is_quoted(parts: list[str | None], expected: str) -> None:
    assert listing(parts) == expected


@given(r=randoms)
@settings(max_examples=200)
def test_labels_cover_their_values_and_say_how_much_they_leave_open(r: Random) -> None:
    column = random_table(r, r.randint(1, 20))["q0"]
    labels, size = labels_for(column), column.size
    values = column.decode(side_by_side(column.hierarchy or flat(column), rising(column))).to_list()
    places = tuple(sorted(r.sample(range(size), r.randint(1, size))))
    text = labels.label(places)
    assert all(covers(text, values[place], column) for place in places)
    share = labels.covered(places)
    assert 0 <= share <= 1
    assert (share == 0) == (len(places) == 1)
    if len(places) == size > 1:
        assert share == 1


@given(r=randoms)
@settings(max_examples=200)
def test_the_leaves_of_every_node_stand_side_by_side(r: Random) -> None:
    tree = random_tree(r, r.randint(1, 4), r.randint(1, 12))
    start = np.array(r.sample(range(len(tree.leaves)), len(tree.leaves)))
    tree = tree.take(start)
    order = side_by_side(tree).tolist()
    assert sorted(order) == list(range(len(tree.leaves)))
    paths = [tree.rows()[leaf] for leaf in order]
    for level in range(tree.height + 1):
        nodes = [path[level:] for path in paths]
        runs = [node for i, node in enumerate(nodes) if i == 0 or node != nodes[i - 1]]
        assert len(runs) == len(set(runs))  # no node comes back
        first = {path[level:]: leaf for leaf, path in reversed(list(enumerate(tree.rows())))}
        for one, next_one in pairwise(runs):
            if one[1:] == next_one[1:]:  # siblings stand in the order of their first leaves
                assert first[one] < first[next_one]


def test_side_by_side_keeps_what_is_already_so() -> None:
    assert side_by_side(TOWNS).tolist() == list(range(6))
    assert side_by_side(TOWNS, np.arange(6)[::-1]).tolist() == [5, 4, 3, 2, 1, 0]
