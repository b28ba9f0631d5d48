"""Blocks whose labels cover people of a population as was asked for (k-map, delta-presence): those that do not are joined with others."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sudare.errors import InputError, RequirementError
from sudare.generalization.merging import merged
from sudare.generalization.methods import Blind, FullDomain, Method, Minimal, Mondrian
from sudare.generalization.problem import Problem, halved, is_halved
from sudare.generalization.recoding import Recoding
from sudare.plans.generalization import GeneralizationPlan
from sudare.plans.trees import extended
from sudare.privacy._kernels import TOLERANCE
from sudare.privacy.blocks import Blocks
from sudare.privacy.delta_presence import DeltaPresence
from sudare.privacy.in_population import InPopulation, of_blocks
from sudare.privacy.k_anonymity import KAnonymity
from sudare.privacy.k_map import KMap
from sudare.privacy.requirement import BlockRequirement, sensitive_attribute
from sudare.tables.attribute import Role
from sudare.tables.counts import Counts, places_of
from sudare.tables.table import Table
from sudare.tables.undeclared import type_of

Ints = NDArray[np.int64]


def learn_mapped(
    table: Table, asked: Sequence[BlockRequirement], method: Method, one: InPopulation, people: Table
) -> GeneralizationPlan:
    """Learn a plan whose labels cover people as was asked for, who have the quasi attributes of the table."""
    if isinstance(one, KMap):
        if one.k > len(people):
            raise RequirementError(
                f"{one} is impossible: there are only {len(people):,} people in the population. Ask for a smaller k."
            )
        learned = _Learned.of(table, asked, asked, method, one, people)
        return _at_levels(one, [learned]) if _has_levels(method) else learned.mended()[0]
    _refuse_too_few(one, len(table), len(people), suppressing=method.suppress > 0)
    table = _with_hierarchies_of(people, table)
    tried = [own for one_of in _apart(method) for own in _learned_by_size(table, asked, one_of, one, people)]
    if _has_levels(method):
        return _at_levels(one, tried)
    found = [own.mended() for own in tried if not (own.bad(own.planned).any() and own.fails_together())]
    if not found:
        raise RequirementError(
            f"{one} cannot be had of these records by labels that cover no more than they share. Ask for less, or take in more people."
        )
    return min(found, key=lambda own: own[1])[0]


def _with_hierarchies_of(people: Table, table: Table) -> Table:
    """Give numbers and dates without a hierarchy one that the values of the people suggest.

    Where ranges end at values of the table, whoever alone has such a value is in the table for certain.
    """
    trees = dict(table.hierarchies)
    for name in table.names(Role.quasi):
        column = table[name]
        if column.hierarchy is None and name in people.columns and is_halved(column.values):
            theirs, counts = people[name].values, people.counts([name])
            if theirs.dtype != column.values.dtype and not (
                theirs.dtype.is_numeric() and column.values.dtype.is_numeric()
            ):
                raise InputError(
                    f"'{name}' is of the type {type_of(theirs.dtype)} in the population, and {type_of(column.values.dtype)} in the "
                    "table. Declare its type in the schema, or give a population with the same."
                )
            weights = np.zeros(len(theirs) + 1, dtype=np.int64)
            weights[counts.column(name)] = counts.weights
            both = [
                pl.DataFrame({name: theirs, "records": weights[:-1]}),
                pl.DataFrame({name: column.values, "records": 1}),
            ]
            every = pl.concat(both, how="vertical_relaxed").unique(name, keep="first", maintain_order=True)
            tree = halved(every[name], every["records"].to_numpy())
            tree = tree.take(tree.find(column.values))
            trees[name] = tree.with_missing() if column.missing else tree
    return replace(table, hierarchies=trees)


def _has_levels(method: Method) -> bool:
    """Tell whether levels were given, which blocks that were joined would not have."""
    return isinstance(method, FullDomain) and method.levels is not None


def _at_levels(one: InPopulation, tried: Sequence[_Learned]) -> GeneralizationPlan:
    """Return the first plan at the levels that were given in which nothing fails."""
    for own in tried:
        if not own.bad(own.planned).any():
            return own.plan
    raise RequirementError(
        f"At these levels labels do not cover people of the population as {one} asks. Take higher levels, or leave the levels to the "
        "method, which joins blocks."
    )


def _refuse_too_few(one: DeltaPresence, records: int, people: int, *, suppressing: bool) -> None:
    """Refuse a population in which no labels could have what was asked for.

    Every record is of somebody, so that the chances of all people add up to the records or more: one is at least their mean. And
    the least chances add up to no more: one is at most the mean.
    """
    mean = records / people
    if mean < one.d_min - TOLERANCE or (mean > one.d_max + TOLERANCE and not suppressing):
        raise RequirementError(
            f"{one} is impossible: {records:,} records are of {people:,} people in the population, {mean:.3g} of all."
        )


def _apart(method: Method) -> list[Method]:
    """Return methods whose labels hardly overlap, in place of one that puts blocks wherever they cost least.

    Of people whom few others are covered alike, as where labels overlap, too much is told.
    """
    cut = Mondrian(strict=True)
    if isinstance(method, Minimal):
        coded: Method = FullDomain(method.suppress)
        return [coded] if method.suppress else [coded, cut]
    return [cut if isinstance(method, Mondrian) else method]


def _learned_by_size(
    table: Table, asked: Sequence[BlockRequirement], method: Method, one: DeltaPresence, people: Table
) -> list[_Learned]:
    """Return what was learned with the first size of blocks, twice as large each time, with which none fails, and with that before.

    Larger blocks have wider labels, so that the people whom they cover become more like all of the population.
    """
    size = max([1, *(own.k for own in asked if isinstance(own, KAnonymity))])
    found: list[_Learned] = []
    while True:
        try:
            found.append(_Learned.of(table, [KAnonymity(size), *asked], asked, method, one, people))
        except RequirementError:
            is_last = size == len(table) or not isinstance(method, Blind)  # which advises a larger k
            if is_last and not found:
                raise
            if is_last:
                return found[-2:]
        if size == len(table) or (found and not found[-1].bad(found[-1].planned).any()):
            return found[-2:]
        size = min(2 * size, len(table))


@dataclass(frozen=True, eq=False)
class _Learned:
    """What was learned without a look at the population, which blocks may fail in."""

    plan: GeneralizationPlan
    planned: Recoding
    """The blocks, with the labels that the plan gives them, which may be wider than those that joined blocks have."""
    population: Population
    one: InPopulation

    @classmethod
    def of(
        cls,
        table: Table,
        looked_for: Sequence[BlockRequirement],
        asked: Sequence[BlockRequirement],
        method: Method,
        one: InPopulation,
        people: Table,
    ) -> _Learned:
        """Learn a plan for what is looked for, which has all of what was asked that can be seen without the population."""
        if isinstance(method, Minimal):
            method = replace(method, deal=False)
        learned = method.learn(table, of_blocks(looked_for))
        plan: GeneralizationPlan = replace(learned, requirements=list(asked))  # type: ignore[type-var]
        located = plan.locate(table).at_once("The people whom labels cover are counted")
        looked_at = [own for own in of_blocks(asked) if own.needs_sensitive]
        if sensitive_attribute(looked_at, table) not in located.counts.names:
            looked_at = []  # blocks that were cut by quasi values alone; two of them that hold also hold together
        problem = Problem.of(located.table, looked_at, located.counts)
        recoding = Recoding.of(plan.method, problem, located.block_of)
        planned = replace(recoding, levels=located.levels[np.unique(located.block_of[located.covered])])
        return cls(plan, planned, Population.of(problem, people), one)

    def failing(self, block_of: Ints) -> NDArray[np.bool_]:
        """Tell of each block, with labels no wider than its records need, whether it fails."""
        return self.bad(Recoding.of(self.plan.method, self.planned.problem, block_of))

    def bad(self, recoding: Recoding) -> NDArray[np.bool_]:
        """Tell of each block whether its labels cover people otherwise than was asked for."""
        blocks = Blocks.of_sizes(recoding.block_sizes())
        if isinstance(self.one, DeltaPresence):
            return self.one.failing(replace(blocks, presence=self.population.presence_in(recoding)))
        return self.one.failing(replace(blocks, covered=self.population.covered_by(recoding)))

    def fails_together(self) -> bool:
        """Tell whether even all records in one block fail, so that joining blocks helps nothing."""
        return bool(self.failing(np.where(self.planned.kept, 0, -1)).any())

    def mended(self) -> tuple[GeneralizationPlan, float]:
        """Join blocks that fail with others, and return the plan, and what it costs."""
        if not self.bad(self.planned).any():
            return self.plan, self.planned.distortion()
        start = Recoding.of(self.plan.method, self.planned.problem, self.planned.block_of)
        whole = merged(start, self.failing)
        return whole.plan(list(self.plan.requirements)), whole.distortion()


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
        covered = np.zeros(len(recoding.levels), dtype=np.int64)
        for way in self._ways(recoding):
            covered[way.blocks] = np.where(way.at >= 0, way.people.weights[way.at], 0)
        return covered

    def presence_in(self, recoding: Recoding) -> NDArray[np.float64]:
        """Return the least and the largest chance of anybody whom the labels of each block cover to be in the table.

        People whom the same labels cover are told apart by nothing. As many of them are in the table as these labels have records,
        at most; and at least as many as those labels have that cover nobody else. A block whose labels cover nobody has records of
        people who are not in the population; and if somebody is covered by no labels, no chance is the least but 0.
        """
        label_of, cover = self._covering(recoding)
        alone = cover.people[cover.label] == cover.alike[cover.person]
        most, least = np.zeros(len(cover.records)), np.ones(len(cover.records))
        np.maximum.at(most, cover.label, cover.chance(cover.label >= 0)[cover.person])
        np.minimum.at(least, cover.label, cover.chance(alone)[cover.person])
        if len(np.unique(cover.person)) < len(self.weights):
            least[:] = 0
        of_people = label_of >= 0
        return np.stack(
            [np.where(of_people, least[label_of], 0), np.where(of_people, most[label_of], np.inf)]
        )

    def _covering(self, recoding: Recoding) -> tuple[Ints, _Cover]:
        """Return the labels of each block, -1 where they cover nobody, and whom labels cover."""
        sizes, alike = recoding.block_sizes(), np.zeros(len(self.weights), dtype=np.int64)
        label_of, labels = np.full(len(sizes), -1, dtype=np.int64), 0
        parts: list[tuple[Ints, Ints, Ints, Ints]] = []
        for way in self._ways(recoding):
            known = way.at >= 0
            label_of[way.blocks[known]] = labels + way.at[known]
            records = np.bincount(way.at[known], sizes[way.blocks[known]], len(way.people)).astype(np.int64)
            covered = records[way.of_person] > 0
            parts.append(
                (np.flatnonzero(covered), labels + way.of_person[covered], records, way.people.weights)
            )
            own = np.stack([alike, np.where(covered, way.of_person, -1)])
            alike = np.unique(own, axis=1, return_inverse=True)[1].reshape(-1)
            labels += len(way.people)
        person, label, of_label, people = (np.concatenate(part) for part in zip(*parts, strict=True))
        return label_of, _Cover(
            person, label, of_label, people, np.bincount(alike, self.weights)[alike].astype(np.int64)
        )

    def _ways(self, recoding: Recoding) -> Iterator[_Way]:
        """Yield the blocks that climb to the same levels, and how people look at these."""
        leaves = recoding.problem.units[recoding.first_units()]
        ways, way_of = np.unique(recoding.levels[:, self.known], axis=0, return_inverse=True)
        for way, levels in enumerate(ways.tolist()):
            blocks = np.flatnonzero(way_of.reshape(-1) == way)
            own = [
                recoding.problem.hierarchies[a].codes[level, leaves[blocks, a]]
                for a, level in zip(self.known, levels, strict=True)
            ]
            theirs = [nodes[level] for nodes, level in zip(self.nodes, levels, strict=True)]
            sizes = [int(max(a.max(), b.max())) + 1 for a, b in zip(own, theirs, strict=True)]
            people = Counts.of({str(a): codes for a, codes in enumerate(theirs)}, sizes, self.weights)
            at = places_of(np.stack(own, axis=1).astype(np.int32), people)
            of_person = places_of(np.stack(theirs, axis=1).astype(np.int32), people)
            yield _Way(blocks, at, people, of_person)


@dataclass(frozen=True, eq=False)
class _Cover:
    """Pairs of a person and labels that cover them; persons with equal values are one."""

    person: Ints
    label: Ints
    records: Ints
    """Of each label: how many records have it, and how many people it covers."""
    people: Ints
    alike: Ints
    """Of each person: how many people the same labels cover, no fewer and no more."""

    def chance(self, pairs: NDArray[np.bool_]) -> NDArray[np.float64]:
        """Return of each person how many records some of their labels have, of the people whom the same labels cover."""
        return np.bincount(self.person, self.records[self.label] * pairs, len(self.alike)) / self.alike


@dataclass(frozen=True, eq=False)
class _Way:
    """Blocks that climb to the same levels, and where they are among the people counted by these."""

    blocks: Ints
    at: Ints
    """Of each block; -1 where its labels cover nobody."""
    people: Counts
    of_person: Ints
