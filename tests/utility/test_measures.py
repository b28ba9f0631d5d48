from __future__ import annotations

import math
from collections import Counter
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given

import sudare as sd
from sudare.plans.tuples import TuplePlan
from sudare.utility.blocks import average_block, discernibility
from sudare.utility.cells import cells_of
from sudare.utility.distortion import distortion, distortion_by_attribute
from sudare.utility.loss import granularity, ncp, non_uniform_entropy
from sudare.utility.measures import utility_of
from sudare.utility.outcome import Outcome
from tests import by_row
from tests.utility.generalized import (
    SCHEMA,
    TOPS,
    WEIGHTS,
    Generalized,
    generalized,
    heights,
    leaves_of,
    table_of,
    under,
)

NAMES = ("age", "town", "sex")


def twin(case: Generalized) -> dict[str, float]:
    """Every measure by its definition, cell by cell."""
    table, rows = case.table, len(case.table)
    loss = {"distortion": 0.0, "ncp": 0.0, "granularity": 0.0}
    lost = most = 0.0
    for i, name in enumerate(NAMES):
        values, leaves = by_row.values(table, name), leaves_of(table, name)
        for row, value in enumerate(values):
            level = int(case.levels[row, i]) if case.kept[row] else TOPS[i]
            share = WEIGHTS[name] / sum(WEIGHTS.values()) / rows
            node = under(table, name, value, level)
            loss["distortion"] += share * level / TOPS[i]
            loss["ncp"] += share * ((len(node) - 1) / (len(leaves) - 1) if len(leaves) > 1 else 0)
            loss["granularity"] += share * len(node) / len(leaves)
            own = values.count(value)
            lost -= WEIGHTS[name] * math.log2(own / sum(other in node for other in values))
            most -= WEIGHTS[name] * math.log2(own / rows)
    return loss | {"non_uniform_entropy": lost / most if most else 0.0}


def measures(case: Generalized) -> dict[str, float]:
    utility = utility_of(case.outcome, np.array([int(case.kept.sum())]))
    return {name: utility[name] for name in ("distortion", "ncp", "granularity", "non_uniform_entropy")}


def test_tops_are_the_heights() -> None:
    assert heights(table_of([(0, "Ayr", "f")])) == TOPS


@given(generalized())
def test_same_as_cell_by_cell(case: Generalized) -> None:
    assert measures(case) == pytest.approx(twin(case), abs=1e-12)


@given(generalized())
def test_one_by_one_and_all_at_once_are_the_same(case: Generalized) -> None:
    assert measures(case) == {
        "distortion": distortion(case.outcome),
        "ncp": ncp(case.outcome),
        "granularity": granularity(case.outcome),
        "non_uniform_entropy": non_uniform_entropy(case.outcome),
    }


@given(generalized())
def test_tuples_with_weights_are_the_same_as_their_rows(case: Generalized) -> None:
    counts = case.table.counts(list(NAMES))
    own = by_row.tuple_of(case.table, counts)
    levels, kept = case.levels[: len(counts)], case.kept[: len(counts)]
    one, other = Outcome.of(case.table, levels, kept), by_row.outcome(case.table, levels[own], kept[own])
    sizes = np.array([int(kept[own].sum())])
    assert (one.records, one.published) == (other.records, other.published)
    assert utility_of(one, sizes) == utility_of(other, sizes)


@given(generalized())
def test_nothing_changed_costs_nothing(case: Generalized) -> None:
    measured = measures(Generalized(case.table, 0 * case.levels, np.ones_like(case.kept)))
    domains = {name: len(leaves_of(case.table, name)) for name in NAMES}
    assert measured.pop("granularity") == pytest.approx(sum(WEIGHTS[n] / domains[n] for n in NAMES) / 4)
    assert set(measured.values()) == {0.0}


@given(generalized())
def test_all_suppressed_costs_one(case: Generalized) -> None:
    """Whether by leaving all records out, or by publishing the root for every cell."""
    out = measures(Generalized(case.table, case.levels, np.zeros_like(case.kept)))
    roots = measures(Generalized(case.table, 0 * case.levels + np.array(TOPS), np.ones_like(case.kept)))
    assert out == roots
    assert (out["distortion"], out["granularity"]) == (1.0, 1.0)
    single = [name for name in NAMES if len(leaves_of(case.table, name)) == 1]
    assert out["ncp"] == pytest.approx(1 - sum(WEIGHTS[name] for name in single) / 4)
    equal = all(len(set(by_row.codes(case.table, name).tolist())) == 1 for name in NAMES)
    assert out["non_uniform_entropy"] == (0.0 if equal else 1.0)


@given(generalized(), generalized())
def test_climbing_never_costs_less(case: Generalized, other: Generalized) -> None:
    rows = len(case.table)
    higher = np.maximum(case.levels, np.resize(other.levels, case.levels.shape))
    fewer = case.kept & np.resize(other.kept, rows)
    low, high = measures(case), measures(Generalized(case.table, higher, fewer))
    assert all(low[name] <= high[name] + 1e-12 for name in low)


@given(generalized())
def test_one_level_for_a_whole_attribute_is_a_special_case(case: Generalized) -> None:
    levels = case.levels[0]
    share = float((~case.kept).mean())
    costs = {name: level / top for name, level, top in zip(NAMES, levels.tolist(), TOPS, strict=True)}
    expected = {name: cost + share * (1 - cost) for name, cost in costs.items()}
    assert distortion_by_attribute(by_row.outcome(case.table, levels, case.kept)) == pytest.approx(expected)


def test_leaves_that_no_row_has_count() -> None:
    """[0, 3) stands for 3 of 12 ages, and north for 2 of 5 towns, though one of each is in the data."""
    table = table_of([(0, "Ayr", "f")])
    by_name = {cells.name: cells for cells in cells_of(Outcome.of(table, [1, 1, 0]))}
    assert by_name["age"].ncp() == 2 / 11
    assert by_name["age"].granularity() == 3 / 12
    assert by_name["town"].ncp() == 1 / 4
    assert by_name["sex"].ncp() == 0  # the only value there is


def test_leaves_of_a_recipe_are_the_values() -> None:
    groups = {"kind": "groups", "groups": {"Ayr": "north", "Wick": "north", "Bath": "south"}}
    schema = sd.Schema.from_dict({"attributes": {"town": {"role": "quasi", "hierarchy": groups}}})
    table = sd.read(pl.DataFrame({"town": ["Ayr", "Bath"]}), schema)
    assert ncp(Outcome.of(table, [1])) == 0.0


def test_a_declared_domain_without_hierarchy_has_its_leaves() -> None:
    schema = sd.Schema.from_roles(quasi=["size"], domains={"size": ["S", "M", "L", "XL"]})
    table = sd.read(pl.DataFrame({"size": ["S", "M"]}), schema)
    assert granularity(Outcome.of(table, [0])) == 0.25


def test_entropy_by_hand() -> None:
    """6 Ayr, 2 Wick: publishing "north" loses log2(8/6) bits for an Ayr, 2 bits for a Wick."""
    schema = sd.Schema.from_roles(quasi=["town"], hierarchies={"town": sd.Hierarchy.groups(TOWNS_OF_FOUR)})
    table = sd.read(pl.DataFrame({"town": ["Ayr"] * 6 + ["Wick"] * 2 + ["Bath"] * 8}), schema)
    lost = 6 * math.log2(8 / 6) + 2 * 2  # Bath alone is south: nothing lost
    most = 6 * math.log2(16 / 6) + 2 * 3 + 8 * 1
    assert non_uniform_entropy(Outcome.of(table, [1])) == pytest.approx(lost / most)


TOWNS_OF_FOUR = {"Ayr": "north", "Wick": "north", "Bath": "south"}


def test_blocks() -> None:
    assert average_block(np.array([4, 6])) == 5
    assert average_block(np.array([4, 6]), k=5) == 1
    assert average_block(np.array([], dtype=np.int64)) == 0
    with pytest.raises(sd.ParameterError, match="'k' parameter of average_block must be 1 or more"):
        average_block(np.array([4]), k=0)


def test_nothing_published() -> None:
    table = table_of([(0, "Ayr", "f"), (1, "Bath", "m")])
    nothing = Outcome.of(table, [0, 0, 0], np.zeros(2, dtype=bool))
    utility = utility_of(nothing, np.array([], dtype=np.int64))
    assert (utility["distortion"], utility["blocks"], utility["average_block"]) == (1.0, 0, 0.0)
    assert utility["discernibility"] == 4
    with pytest.raises(sd.ParameterError, match="must add up to the 2 records kept"):
        utility_of(Outcome.of(table, [0, 0, 0]), np.array([1]))


@pytest.mark.parametrize(
    ("levels", "kept", "message"),
    [
        (
            [[0, 0]],
            None,
            r"must have 1 tuples x 3 quasi attributes, or one level per attribute. Got 1 x 2 instead",
        ),
        ([0.0, 0.0, 0.0], None, "must be whole numbers. Got float64"),
        ([0, 3, 0], None, "must be from 0 to 2 for 'town'. Got 3 to 3 instead"),
        ([-1, 0, 0], None, "must be from 0 to 3 for 'age'"),
        ([0, 0, 0], [1], "must be 1 truth values, one per tuple. Got int64"),
        ([0, 0, 0], [True, False], "must be 1 truth values"),
    ],
)
def test_wrong_levels_are_refused(levels: object, kept: object, message: str) -> None:
    with pytest.raises(sd.ParameterError, match=message):
        Outcome.of(table_of([(0, "Ayr", "f")]), levels, kept)  # type: ignore[arg-type]


def test_adult_generalized(data_folder: Path) -> None:
    """The certificate's measures of cells and blocks, and ncp once more from the published labels alone."""
    names = ["age", "sex", "race", "marital-status"]
    files = data_folder / "arx_hierarchies"
    hierarchies = {n: sd.Hierarchy.from_csv(files / f"adult_hierarchy_{n}.csv") for n in names}
    schema = sd.Schema.from_roles(quasi=names, sensitive=["occupation"], hierarchies=hierarchies)
    table = sd.read(pl.read_csv(files / "adult.csv", separator=";").select(*names, "occupation"), schema)
    release = sd.generalize(table, sd.KAnonymity(10), suppress=0.002)
    assert isinstance(release.plan, TuplePlan)
    located, frame = release.plan.locate(table), release.frame()
    blocks = located.block_of[by_row.tuple_of(table, located.counts)]
    levels, kept = located.levels[blocks], blocks >= 0
    assert kept.sum() == frame.height
    sizes = np.bincount(blocks[kept])
    utility = utility_of(by_row.outcome(table, levels, kept), sizes[sizes > 0])
    assert utility == {n: value for n, value in release.holder["utility"].items() if n != "query_error"}
    under = {
        n: Counter((level, row[level]) for row in hierarchies[n].rows() for level in range(len(row)))
        for n in names
    }
    costs = []
    for n in names:
        paths = {str(row[0]): row for row in hierarchies[n].rows()}
        leaves = len(paths) - 1
        cost = 0.0
        for value, level, stays in zip(
            by_row.values(table, n), levels[:, table.names("quasi").index(n)], kept, strict=True
        ):
            cost += (under[n][(level, paths[str(value)][level])] - 1) / leaves if stays else 1.0
        costs.append(cost / len(table))
    assert utility["ncp"] == pytest.approx(sum(costs) / len(costs))
    assert 0 < utility["non_uniform_entropy"] < 1


def test_discernibility_counts_suppressed_records() -> None:
    assert discernibility(np.array([2, 3]), suppressed=2) == 27
    assert SCHEMA.names("quasi") == list(NAMES)
