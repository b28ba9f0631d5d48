"""Blocks whose labels cover enough people of a population: those that cover too few are joined with others (k-map)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from sudare.errors import RequirementError
from sudare.generalization.merging import merged
from sudare.generalization.methods import Method, Minimal
from sudare.generalization.problem import Problem
from sudare.generalization.recoding import Recoding
from sudare.plans.generalization import GeneralizationPlan
from sudare.plans.trees import extended
from sudare.privacy.blocks import Blocks
from sudare.privacy.k_map import KMap, of_blocks
from sudare.privacy.requirement import BlockRequirement, sensitive_attribute
from sudare.tables.counts import Counts, places_of
from sudare.tables.table import Table

Ints = NDArray[np.int64]


def learn_mapped(
    table: Table, asked: Sequence[BlockRequirement], method: Method, one: KMap, people: Table
) -> GeneralizationPlan:
    """Learn a plan whose labels cover enough people, who have the quasi attributes of the table."""
    if one.k > len(people):
        raise RequirementError(
            f"{one} is impossible: there are only {len(people):,} people in the population. Ask for a smaller k."
        )
    if isinstance(method, Minimal):
        method = replace(method, deal=False)
    learned = method.learn(table, of_blocks(asked))
    plan: GeneralizationPlan = replace(learned, requirements=list(asked))  # type: ignore[type-var]
    located = plan.locate(table).at_once("The people whom labels cover are counted")
    looked_at = [one for one in of_blocks(asked) if one.needs_sensitive]
    if sensitive_attribute(looked_at, table) not in located.counts.names:
        looked_at = []  # blocks that were cut by quasi values alone; two of them that hold also hold together
    problem = Problem.of(located.table, looked_at, located.counts)
    population = Population.of(problem, people)

    def failing(block_of: Ints) -> NDArray[np.bool_]:
        recoding = Recoding.of(plan.method, problem, block_of)
        blocks = Blocks.of_sizes(recoding.block_sizes())
        return one.failing(replace(blocks, covered=population.covered_by(recoding)))

    if not failing(located.block_of).any():
        return plan
    return merged(Recoding.of(plan.method, problem, located.block_of), failing).plan(list(asked))


class Population:
    """The people of a population, by the nodes of a problem's hierarchies that are above them.

    What a register does not have, such as a weight, tells nobody of it apart.
    """

    def __init__(self, known: list[int], nodes: list[NDArray[np.int32]], weights: Ints) -> None:
        self.known, self.nodes, self.weights = known, nodes, weights

    @classmethod
    def of(cls, problem: Problem, people: Table) -> Population:
        """Look people up in the hierarchies; what these do not know has nodes of its own, below the root."""
        known = [a for a, name in enumerate(problem.names) if name in people.columns]
        counts = people.counts([problem.names[a] for a in known])
        nodes = []
        for a in known:
            tree = extended(problem.hierarchies[a], people, problem.names[a])
            nodes.append(tree.codes[:, counts.column(problem.names[a])])
        return cls(known, nodes, counts.weights)

    def covered_by(self, recoding: Recoding) -> Ints:
        """Return how many people the labels of each block cover."""
        leaves = recoding.problem.units[recoding.first_units()]
        covered = np.zeros(len(recoding.levels), dtype=np.int64)
        ways, way_of = np.unique(recoding.levels[:, self.known], axis=0, return_inverse=True)
        for way, levels in enumerate(ways.tolist()):
            blocks = np.flatnonzero(way_of.reshape(-1) == way)
            own = [
                recoding.problem.hierarchies[a].codes[level, leaves[blocks, a]]
                for a, level in zip(self.known, levels, strict=True)
            ]
            theirs = [nodes[level] for nodes, level in zip(self.nodes, levels, strict=True)]
            sizes = [int(max(a.max(), b.max())) + 1 for a, b in zip(own, theirs, strict=True)]
            columns = {str(a): codes for a, codes in enumerate(theirs)}
            people = Counts.of(columns, sizes, self.weights)
            covered[blocks] = _weights_at(people, np.stack(own, axis=1).astype(np.int32))
        return covered


def _weights_at(counts: Counts, tuples: NDArray[np.int32]) -> Ints:
    """Return how many were counted of each tuple."""
    at = places_of(tuples, counts)
    return np.where(at >= 0, counts.weights[at], 0)
