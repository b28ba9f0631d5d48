"""Full-domain recoding: every attribute climbs to one level for the whole table, the best choice of levels that there is."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sudare.errors import ParameterError, RequirementError
from sudare.generalization import _lattice
from sudare.generalization.lattice import Prices, best_levels
from sudare.generalization.problem import Problem
from sudare.plans.levels import LevelsPlan
from sudare.privacy.requirement import BlockRequirement
from sudare.tables.counts import count_index
from sudare.tables.table import Table
from sudare.utility.tree import Tree

Measure = Literal["distortion", "ncp", "discernibility"]
MEASURES = ("distortion", "ncp", "discernibility")


def learn_levels(
    table: Table,
    problem: Problem,
    requirements: Sequence[BlockRequirement],
    *,
    suppress: float = 0.0,
    measure: Measure = "distortion",
) -> LevelsPlan:
    """Find the levels that cost least, where groups that fail are left out, up to a share of all records."""
    if suppress > 0 and problem.limits.by_table:
        raise ParameterError(
            "t-closeness, beta-likeness and delta-disclosure compare blocks with the whole table, so no record may be left out. Set "
            "suppress to 0."
        )
    records = int(problem.weights.sum())
    spare = math.floor(suppress * records)
    levels = best_levels(problem, prices_of(table, problem, measure), spare)
    if levels is None:
        raise RequirementError(
            f"Whatever the levels, more than {spare:,} of {records:,} records are in groups that fail. Let more be left out, ask "
            "for less, or choose the method 'minimal', which need not leave out whole groups."
        )
    return LevelsPlan(
        "full-domain",
        tuple(requirements),
        dict(zip(problem.names, problem.hierarchies, strict=True)),
        dict(zip(problem.names, levels, strict=True)),
        holding_groups(problem, levels),
        pl.DataFrame(schema=dict.fromkeys(problem.names, pl.String)),
    )


def prices_of(table: Table, problem: Problem, measure: Measure) -> Prices | None:
    """Return what a value costs its record, by attribute, level and node; None if a record costs the size of its group."""
    if measure == "discernibility":
        return None
    share = problem.trees.step * problem.trees.height
    climbed = _levels_climbed if measure == "distortion" else _leaves_covered
    return [[own * price for price in climbed(table, problem, a)] for a, own in enumerate(share.tolist())]


def _levels_climbed(table: Table, problem: Problem, a: int) -> list[NDArray[np.float64]]:
    """Return for each level its share of the height, as DIS counts it."""
    tree = problem.hierarchies[a]
    return [np.full(len(nodes), level / tree.height) for level, nodes in enumerate(tree.labels)]


def _leaves_covered(table: Table, problem: Problem, a: int) -> list[NDArray[np.float64]]:
    """Return for each node the share of the other leaves that lie under it, as NCP counts them."""
    name, tree = problem.names[a], problem.hierarchies[a]
    whole = Tree.of(table[name], table.schema[name])
    shares = [np.zeros(len(nodes)) for nodes in tree.labels]
    for own, codes, under in zip(shares, tree.codes, whole.leaves_under, strict=True):
        own[codes] = (under - 1) / max(whole.leaves - 1, 1)
    return shares


def holding_groups(problem: Problem, levels: Sequence[int]) -> NDArray[np.int32]:
    """Return the groups that meet the limits at these levels: of each its nodes."""
    trees = zip(problem.names, problem.hierarchies, levels, strict=True)
    nodes = {name: tree.codes[level, problem.units[:, a]] for a, (name, tree, level) in enumerate(trees)}
    sizes = [len(tree.labels[level]) for tree, level in zip(problem.hierarchies, levels, strict=True)]
    groups, group_of = count_index(nodes, sizes)
    rows = (group_of.astype(np.int32), problem.sensitive, problem.weights)
    free = np.zeros(len(groups))
    values, everybody = np.arange(problem.values, dtype=np.int32), int(problem.weights.sum())
    _, _, holding = _lattice.weigh(rows, values, problem.values, free, 0.0, problem.limits, everybody)
    return groups.codes[holding]
