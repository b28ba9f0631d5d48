"""The lattice of all choices of one level per attribute, to look at: what each choice comes to, all of them or those around one."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np

from sudare import progress
from sudare.generalization.full_domain import (
    Measure,
    at_most_roots,
    groups_at,
    prices_of,
    refuse_levels,
    refuse_spare,
)
from sudare.generalization.lattice import Prices, best_levels
from sudare.generalization.problem import Problem, with_hierarchies
from sudare.privacy.requirement import BlockRequirement
from sudare.tables.table import Table

MOST_NODES = 120  # of a lattice that is looked at as a whole: more than that nobody reads
MOST_AROUND = 45  # nodes within two moves of one; of more, those within one move are looked at
Levels = tuple[int, ...]


@dataclass(frozen=True)
class Node:
    """One choice of levels, and what it comes to."""

    levels: Levels
    left_out: int
    """How many records are in groups that do not meet the requirements."""
    cost: float
    """What all records cost on average, with those that are left out, at most 1."""
    blocks: int
    """How many groups are published."""
    holds: bool
    """Whether no more are left out than may be, and somebody is published."""


@dataclass(frozen=True)
class Lattice:
    """Choices of levels, the lowest first, and which of them the method would take."""

    names: tuple[str, ...]
    heights: Levels
    records: int
    choices: int
    """How many nodes the whole lattice has."""
    best: Levels | None
    """The levels that cost least; None if none holds."""
    centre: Levels
    """Around which it is looked at."""
    nodes: tuple[Node, ...]

    @property
    def is_whole(self) -> bool:
        """Whether it has all nodes, and not only those around one."""
        return len(self.nodes) == self.choices


def lattice(
    table: Table,
    requirements: Sequence[BlockRequirement],
    *,
    suppress: float = 0.0,
    measure: Measure = "distortion",
    around: Mapping[str, int] | None = None,
) -> Lattice:
    """Look at all choices of levels, or, of very many, at those around the best one or `around` the one that is given.

    Those around a node are one or two moves away: a level up or down of one attribute, or of two. Where these are too many, too, they are
    one move away.

    >>> import polars as pl, sudare as sd
    >>> people = pl.DataFrame({"age": [30, 31, 40, 41], "sex": ["F", "M", "F", "M"]})
    >>> ages = sd.Hierarchy.from_rows([["30", "30-31", "*"], ["31", "30-31", "*"], ["40", "40-41", "*"], ["41", "40-41", "*"]])
    >>> table = sd.read(people, sd.Schema.from_roles(quasi=["age", "sex"], hierarchies={"age": ages}))
    >>> seen = lattice(table, [sd.KAnonymity(2)])
    >>> seen.choices, seen.best, [node.levels for node in seen.nodes if node.holds]
    (6, (2, 0), [(1, 1), (2, 0), (2, 1)])
    """
    whole = with_hierarchies(table)
    problem = Problem.of(whole, requirements)
    records = int(problem.weights.sum())
    spare = math.floor(suppress * records)
    refuse_spare(problem, spare)
    prices = prices_of(whole, problem, measure)
    best = best_levels(problem, prices, spare)
    heights = tuple(tree.height for tree in problem.hierarchies)
    if around is not None:
        refuse_levels(around, problem)
    centre = (best or heights) if around is None else at_most_roots(problem, around)
    every = _chosen(heights, centre)
    nodes = []
    with progress.step("Looking at choices of levels", len(every), "choices") as step:
        for levels in every:
            nodes.append(_node(problem, prices, levels, spare))
            step.advance(1)
    return Lattice(tuple(problem.names), heights, records, problem.trees.choices, best, centre, tuple(nodes))


def _chosen(heights: Levels, centre: Levels) -> list[Levels]:
    """Return the nodes to look at, the lowest first: all, or those around one, as far as they are not too many."""
    if math.prod(height + 1 for height in heights) <= MOST_NODES:
        found = set(product(*(range(height + 1) for height in heights)))
    else:
        found = {centre, *_moved(centre, heights)}
        farther = found.union(*(_moved(one, heights) for one in found))
        found = farther if len(farther) <= MOST_AROUND else found
    return sorted(found, key=lambda levels: (sum(levels), levels))


def _moved(levels: Levels, heights: Levels) -> Iterator[Levels]:
    """Yield the levels that are a level up or down of one attribute."""
    for at, height in enumerate(heights):
        for level in (levels[at] - 1, levels[at] + 1):
            if 0 <= level <= height:
                yield (*levels[:at], level, *levels[at + 1 :])


def _node(problem: Problem, prices: Prices | None, levels: Levels, spare: int) -> Node:
    groups = groups_at(problem, levels)
    sizes, records = groups.sizes[groups.holding], int(problem.weights.sum())
    if prices is None:  # a record costs the size of its group
        cost, most = float(sizes @ sizes) / records, 1.0
    else:
        own = [price[level] for price, level in zip(prices, levels, strict=True)]
        each = sum(price[groups.nodes[groups.holding, a]] for a, price in enumerate(own))
        cost, most = float(np.dot(each, sizes)), sum(float(price[-1][0]) for price in prices)
    left_out = groups.left_out
    holds = left_out <= spare and left_out < records
    return Node(levels, left_out, (cost + most * left_out) / records, int(groups.holding.sum()), holds)
