"""Full-domain recoding: every attribute climbs to one level for the whole table, the best choice that there is or one that is given."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sudare.errors import ParameterError, RequirementError
from sudare.generalization import _lattice
from sudare.generalization.lattice import Prices, best_levels
from sudare.generalization.problem import Problem, with_hierarchies
from sudare.plans.levels import LevelsPlan
from sudare.privacy.requirement import BlockRequirement, refused
from sudare.tables.counts import count_index
from sudare.tables.table import Table
from sudare.tables.text import listed
from sudare.utility.tree import Tree

Measure = Literal["distortion", "ncp", "discernibility"]
MEASURES = ("distortion", "ncp", "discernibility")


def learn_one_coding(
    table: Table,
    requirements: Sequence[BlockRequirement],
    *,
    suppress: float = 0.0,
    measure: Measure = "distortion",
    levels: Mapping[str, int] | None = None,
) -> LevelsPlan:
    """Find the levels that cost least, or take those that are given; groups that fail are left out, up to a share of the records.

    Who is left out leaves no trace: everything is learned again from the others alone, as if they were the whole table, with
    hierarchies that are made from their values. At the levels that are found then nobody more is left out: in the groups that
    were found first the others meet the requirements. At levels that are given they need not, where the hierarchies that their
    own values make are others: then more are left out, as far as they may be.
    """
    problem, learned = Problem.of(with_hierarchies(table), requirements), []
    if levels is not None:
        refuse_levels(levels, problem)
    spare = math.floor(suppress * int(problem.weights.sum()))
    rest = table
    while True:
        plan = _learned(rest, requirements, spare, measure, levels)
        located = plan.locate(rest)
        if located.covered.all():
            break
        learned.append((rest, located))
        left_out = int(located.counts.weights[~located.covered].sum())
        rest, spare = located.covered_rows(rest), 0 if levels is None else spare - left_out
    for one, located in learned:
        rejoining = ~located.covered & plan.locate(one).covered
        plan = plan.never_covering(one, located.counts.codes[rejoining])
    return plan


def _learned(
    table: Table,
    requirements: Sequence[BlockRequirement],
    spare: int,
    measure: Measure,
    levels: Mapping[str, int] | None,
) -> LevelsPlan:
    """Learn the plan of one table, where `spare` records may be left out."""
    whole = with_hierarchies(table)
    problem = Problem.of(whole, requirements)
    refuse_spare(problem, spare)
    records = int(problem.weights.sum())
    spare = min(spare, records - 1)  # somebody is published
    chosen = (
        _best(problem, prices_of(whole, problem, measure), spare)
        if levels is None
        else at_most_roots(problem, levels)
    )
    groups = groups_at(problem, chosen)
    if groups.left_out > spare:
        raise RequirementError(
            f"At these levels {groups.left_out:,} of {records:,} records are in groups that fail, and {spare:,} may be left out. Let "
            "more be left out, or take higher levels."
        )
    return LevelsPlan(
        "full-domain",
        tuple(requirements),
        dict(zip(problem.names, problem.hierarchies, strict=True)),
        dict(zip(problem.names, chosen, strict=True)),
        groups.nodes[groups.holding],
        pl.DataFrame(schema=dict.fromkeys(problem.names, pl.String)),
    )


def _best(problem: Problem, prices: Prices | None, spare: int) -> tuple[int, ...]:
    levels = best_levels(problem, prices, spare)
    if levels is None:
        raise RequirementError(
            f"Whatever the levels, more than {spare:,} of {int(problem.weights.sum()):,} records are in groups that fail. Let more "
            "be left out, ask for less, or choose the method 'minimal', which need not leave out whole groups."
        )
    return levels


def at_most_roots(problem: Problem, levels: Mapping[str, int]) -> tuple[int, ...]:
    """Return the levels in the order of the attributes; those above a root are that root."""
    trees = zip(problem.names, problem.hierarchies, strict=True)
    return tuple(min(levels[name], tree.height) for name, tree in trees)


def refuse_spare(problem: Problem, spare: int) -> None:
    """Refuse to leave anybody out where blocks are compared with the whole table."""
    if spare > 0 and problem.limits.by_table:
        raise ParameterError(
            "t-closeness, beta-likeness and delta-disclosure compare blocks with the whole table, so no record may be left out. Set "
            "suppress to 0."
        )


def levels_given(levels: object) -> dict[str, int]:
    """Return levels by the names of attributes, or refuse what is none."""
    if isinstance(levels, Mapping) and levels:
        pairs = list(levels.items())
        if all(isinstance(name, str) and type(level) is int and level >= 0 for name, level in pairs):
            return dict(pairs)
    raise refused(levels, "levels", "generalize", "a level of every quasi attribute, as {'age': 2, 'sex': 0}")


def refuse_levels(levels: Mapping[str, int], problem: Problem) -> None:
    """Refuse levels that are not those of the quasi attributes."""
    if set(levels) != set(problem.names):
        raise ParameterError(
            f"The 'levels' parameter of generalize must have a level of every quasi attribute: {listed(problem.names)}. Got levels "
            f"of {listed(list(levels))}."
        )
    for name, tree in zip(problem.names, problem.hierarchies, strict=True):
        if levels[name] > tree.height:
            raise ParameterError(
                f"The level of '{name}' must be at most {tree.height}, which is the root of its hierarchy. Got {levels[name]} instead."
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


@dataclass(frozen=True, eq=False)
class Groups:
    """The groups of records that are alike at one choice of levels."""

    nodes: NDArray[np.int32]
    """Groups x attributes: the node of each, on its level."""
    sizes: NDArray[np.int64]
    """How many records each has."""
    holding: NDArray[np.bool_]
    """Which meet the limits."""

    @property
    def left_out(self) -> int:
        """How many records are in groups that do not."""
        return int(self.sizes[~self.holding].sum())


def groups_at(problem: Problem, levels: Sequence[int]) -> Groups:
    """Return the groups at these levels, and which of them meet the limits."""
    trees = zip(problem.names, problem.hierarchies, levels, strict=True)
    nodes = {name: tree.codes[level, problem.units[:, a]] for a, (name, tree, level) in enumerate(trees)}
    sizes = [len(tree.labels[level]) for tree, level in zip(problem.hierarchies, levels, strict=True)]
    groups, group_of = count_index(nodes, sizes)
    rows = (group_of.astype(np.int32), problem.sensitive, problem.weights)
    free = np.zeros(len(groups))
    values, everybody = np.arange(problem.values, dtype=np.int32), int(problem.weights.sum())
    _, _, holding = _lattice.weigh(rows, values, problem.values, free, 0.0, problem.limits, everybody)
    return Groups(groups.codes, np.bincount(group_of, problem.weights).astype(np.int64), holding)
