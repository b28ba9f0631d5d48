"""Generalizing units whose rows are published as belonging together, so that k of them have one composition.

Units of the same number of rows are made records of one wide table: the quasi values of the first row, of the second, and so on,
rows in the order of their values. A method that generalizes tables does the rest; what was asked of sensitive values is mended
afterwards, by joining blocks. Sizes that fewer than k units have cannot be published, and are left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sudare.engines.memory import Memory
from sudare.errors import RequirementError
from sudare.generalization.merging import merged
from sudare.generalization.methods import Method, Minimal
from sudare.generalization.problem import Problem, with_hierarchies
from sudare.generalization.recoding import Recoding
from sudare.plans.compositions import MAX_MEMBERS, CompositionsPlan, Units
from sudare.privacy.blocks import Blocks
from sudare.privacy.k_anonymity import KAnonymity
from sudare.privacy.requirement import BlockRequirement, sensitive_attribute
from sudare.tables.attribute import Attribute, Role
from sudare.tables.column import Column
from sudare.tables.counts import Counts
from sudare.tables.excerpt import without
from sudare.tables.schema import Schema
from sudare.tables.table import Table

Ints = NDArray[np.int64]


def learn_compositions(
    table: Table, asked: Sequence[BlockRequirement], method: Method, unit: str
) -> CompositionsPlan:
    """Learn blocks of units, each of k with one composition, in which the other requirements hold of the rows of each label."""
    k = max([1, *(one.k for one in asked if isinstance(one, KAnonymity))])
    table = with_hierarchies(_without_rare_sizes(table, unit, k, method.suppress))
    _refuse_too_many_rows(table, unit)
    own = replace(method, suppress=0.0, deal=False) if isinstance(method, Minimal) else method
    rows, quasi = table.rows, table.names(Role.quasi)
    assert isinstance(rows, Memory)
    tuples = np.stack([rows.column(name).codes for name in quasi], axis=1).astype(np.int32)
    units = Units.in_memory(table, tuples)
    learned = [_Learned.of(table, units, size, k, asked, own) for size in np.unique(units.sizes).tolist()]
    return _joined(table, quasi, asked, method, learned)


def _refuse_too_many_rows(table: Table, unit: str) -> None:
    """Refuse units whose rows, side by side, would be more columns than a table has."""
    rows, quasi = int(table.counts([unit]).weights.max()), len(table.names(Role.quasi))
    if rows * quasi > MAX_MEMBERS:
        role = table.schema[unit].role
        raise RequirementError(
            f"{table.source.name}: some {role}s have {rows:,} rows, and {MAX_MEMBERS // quasi:,} are the most that can be made alike one by one. "
            "Publish rows that do not say which belong together: linked = false."
        )


def _without_rare_sizes(table: Table, unit: str, k: int, suppress: float) -> Table:
    """Leave out the units of which there are too few of their size, if they are not too many rows."""
    counts = table.counts([unit])
    sizes, often = np.unique(counts.weights, return_counts=True)
    rare = sizes[often < k]
    left_out = np.isin(counts.weights, rare)
    share = counts.weights[left_out].sum() / counts.total
    if share > suppress:
        role = table.schema[unit].role
        few = ", ".join(
            f"{number:,} of {size:,} rows" for size, number in zip(rare, often[often < k], strict=True)
        )
        raise RequirementError(
            f"{table.source.name}: there are too few {role}s of some sizes to be alike ({few}; {k} of each are needed). Allow them to be "
            f"left out (method 'minimal'), suppress={np.ceil(1000 * share) / 1000:g}, or publish rows that do not say which belong together: linked = false."
        )
    return without(table, [unit], counts.codes[left_out]) if left_out.any() else table


@dataclass(frozen=True, eq=False)
class _Learned:
    """The compositions of one size: their members' codes, the block of each, and the blocks' levels."""

    size: int
    compositions: NDArray[np.int32]
    block_of: Ints
    levels: NDArray[np.int16]

    @classmethod
    def of(
        cls, table: Table, units: Units, size: int, k: int, asked: Sequence[BlockRequirement], method: Method
    ) -> _Learned:
        own, compositions = units.of_size(size)
        wide = _wide(table, compositions, size)
        needed = [KAnonymity(k)]
        located = method.learn(wide, needed).locate(wide).at_once("Persons and households are looked up")
        problem = Problem.of(located.table, needed, located.counts)
        recoding = Recoding.of(method.name, problem, located.block_of)
        others = [one for one in asked if not isinstance(one, KAnonymity)]
        if others:
            rows = units.rows[units.first[own][:, np.newaxis] + np.arange(size)]
            whose = f"Rows of one label in all {table.schema[table.schema.unit or ''].role}s of {size}"
            recoding = merged(
                recoding, _Classes(table, problem, compositions, size, rows, others).failing, whose
            )
        return cls(size, problem.units, recoding.block_of, recoding.levels)


def _wide(table: Table, compositions: NDArray[np.int32], size: int) -> Table:
    """Return units of one size as records: every quasi attribute once for each row."""
    quasi = table.names(Role.quasi)
    columns, trees, attributes = {}, {}, {}
    for place in range(compositions.shape[1]):
        name, slot = quasi[place % len(quasi)], f"{place // len(quasi)} {quasi[place % len(quasi)]}"
        dictionary = table[name]
        columns[slot] = Column(
            replace(dictionary, values=dictionary.values.alias(slot)), compositions[:, place]
        )
        assert dictionary.hierarchy is not None  # all have one
        trees[slot] = dictionary.hierarchy
        attributes[slot] = Attribute(role=Role.quasi, weight=table.schema[name].weight)
    schema = Schema(attributes=attributes)
    return Table(Memory(columns, len(compositions)), schema, table.source, trees)


@dataclass(frozen=True, eq=False)
class _Classes:
    """What is asked of sensitive values must hold of all rows that a receiver sees alike: of one block and with one label."""

    table: Table
    problem: Problem
    compositions: NDArray[np.int32]
    """Of each unit."""
    size: int
    rows: Ints
    """Units x their rows."""
    asked: Sequence[BlockRequirement]

    def failing(self, block_of: Ints) -> NDArray[np.bool_]:
        """Tell which blocks have rows of one label among which a requirement does not hold."""
        recoding = Recoding.of("", self.problem, block_of)
        labels, own = self._labels(recoding), recoding.block_of[self._tuple_of]
        label = labels[own]
        attribute = sensitive_attribute(self.asked, self.table)
        assert attribute is not None
        assert isinstance(self.table.rows, Memory)
        column = self.table.rows.column(attribute)
        columns = {"label": label.reshape(-1), attribute: column.codes[self.rows].reshape(-1)}
        counts = Counts.of(
            columns, [int(label.max()) + 1, column.dictionary.size], np.ones(label.size, dtype=np.int64)
        )
        blocks = Blocks.of(counts, attribute, self.table[attribute].hierarchy, column.values)
        bad = np.logical_or.reduce([one.failing(blocks) for one in self.asked])
        of_label = counts.codes[blocks.start[:-1], 0]
        failing = np.asarray(np.isin(labels, of_label[bad]).any(axis=1))
        if self.table.names(Role.person) == [self.table.schema.unit]:
            failing |= self._certain(own, column.codes[self.rows], len(recoding.levels))
        return failing

    def _certain(self, block_of: Ints, values: NDArray[Any], blocks: int) -> NDArray[np.bool_]:
        """Tell of which blocks all persons have one value in some row: it is certain of each of them."""
        units = np.repeat(np.arange(len(values)), self.size)
        pairs = np.unique(np.stack([units, values.reshape(-1).astype(np.int64)]), axis=1)
        having = Counts.of(
            {"block": block_of[pairs[0]], "value": pairs[1]},
            [blocks, int(values.max()) + 1],
            np.ones(pairs.shape[1], dtype=np.int64),
        )
        certain = np.zeros(blocks, dtype=bool)
        certain[
            having.codes[having.weights == np.bincount(block_of, minlength=blocks)[having.codes[:, 0]], 0]
        ] = True
        return certain

    @cached_property
    def _tuple_of(self) -> Ints:
        """Return which of the problem's units each unit is."""
        place = {own.tobytes(): i for i, own in enumerate(np.ascontiguousarray(self.problem.units))}
        return np.array([place[own.tobytes()] for own in self.compositions], dtype=np.int64)

    def _labels(self, recoding: Recoding) -> Ints:
        """Return a number for what is published of each member of each block; equal ones have equal numbers."""
        leaves = self.problem.units[recoding.first_units()]
        nodes = np.empty(leaves.shape, dtype=np.int64)
        for a, tree in enumerate(self.problem.hierarchies):
            level = recoding.levels[:, a]
            nodes[:, a] = tree.codes[level, leaves[:, a]] * (tree.height + 1) + level
        blocks, width = len(leaves), leaves.shape[1] // self.size
        members = np.column_stack([np.repeat(np.arange(blocks), self.size), nodes.reshape(-1, width)])
        return np.unique(members, axis=0, return_inverse=True)[1].reshape(blocks, self.size)


def _joined(
    table: Table,
    quasi: list[str],
    asked: Sequence[BlockRequirement],
    method: Method,
    learned: Sequence[_Learned],
) -> CompositionsPlan:
    """Put what was learned of each size together."""
    first = np.cumsum([0, *(len(own.levels) for own in learned)])
    return CompositionsPlan(
        method.name,
        tuple(asked),
        {name: tree for name in quasi if (tree := table[name].hierarchy) is not None},
        np.concatenate([own.compositions.reshape(-1, len(quasi)) for own in learned]),
        np.concatenate([np.full(len(own.compositions), own.size) for own in learned]),
        np.concatenate([own.block_of + start for own, start in zip(learned, first, strict=False)]),
        np.concatenate([own.levels.reshape(-1, len(quasi)) for own in learned]),
    )
