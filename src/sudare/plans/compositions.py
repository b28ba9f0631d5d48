"""A plan for units whose rows are published as belonging together: persons with several rows, or households.

An outsider who knows all rows of a unit looks it up by its composition: the tuples of quasi values that its rows have, each as
often as it occurs. The plan lists compositions, each in a block; the compositions of a block have equally many members, and
the i-th members of all of them, in the order of their leaves, climb to the levels that the block has for the i-th.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Self

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sudare.engines.memory import Memory
from sudare.errors import InputError
from sudare.plans.generalization import (
    GeneralizationPlan,
    Ints,
    Located,
    Trees,
    read_parts,
    smallest_types,
    whole_numbers,
)
from sudare.plans.plan import TablePlan
from sudare.plans.trees import matched, trees_to_table
from sudare.privacy.promises import promise_to_json
from sudare.privacy.requirement import BlockRequirement
from sudare.tables.attribute import Role
from sudare.tables.counts import Counts
from sudare.tables.table import Table

MAX_MEMBERS = 10_000
"""Of one unit."""


@dataclass(frozen=True, eq=False)
class Units:
    """The rows of a table, unit by unit, and within each by their tuples."""

    rows: Ints
    """Which row stands at each place."""
    first: Ints
    """Where each unit begins."""
    sizes: Ints
    tuples: NDArray[np.int32]
    """The tuple of each place."""

    @classmethod
    def of(cls, unit: NDArray[Any], tuples: NDArray[np.int32], others: Sequence[NDArray[Any]] = ()) -> Units:
        """Sort rows, given the unit and the tuple of each; of equal ones by what else is published, never by where they stood.

        >>> units = Units.of(np.array([1, 0, 1]), np.array([[3], [5], [2]]))
        >>> units.rows.tolist(), units.first.tolist(), units.sizes.tolist()
        ([1, 2, 0], [0, 1], [1, 2])
        """
        rows = np.lexsort((*reversed(others), *reversed(tuples.T), unit))
        first = np.flatnonzero(np.diff(unit[rows].astype(np.int64), prepend=-1))
        return cls(rows, first, np.diff(first, append=len(rows)), tuples[rows])

    @classmethod
    def in_memory(cls, table: Table, tuples: NDArray[np.int32]) -> Units:
        """Sort the rows of a table, given the tuple of each."""
        rows, unit, quasi = table.rows, table.schema.unit, table.names(Role.quasi)
        assert isinstance(rows, Memory)
        assert unit is not None
        others = [rows.column(name).codes for name in table.publishable if name not in (unit, *quasi)]
        return cls.of(rows.column(unit).codes, tuples, others)

    def of_size(self, size: int) -> tuple[Ints, NDArray[np.int32]]:
        """Return which units have so many rows, and the composition of each: all its tuples in one row."""
        own = np.flatnonzero(self.sizes == size)
        places = self.first[own][:, np.newaxis] + np.arange(size)
        return own, self.tuples[places].reshape(len(own), -1)


@dataclass(frozen=True, eq=False)
class PlacedRows:
    """The rows of a table, and where a plan of compositions puts each."""

    table: Table
    """With the plan's hierarchies."""
    unit: NDArray[Any]
    """The unit of each row."""
    slot: Ints
    """The place among the levels of all blocks that each row has; -1 where the plan does not cover its unit."""
    levels: NDArray[np.int16]

    def located(self) -> Located:
        """Return the tuples, and where they belong: one that members of several blocks have stands once for each."""
        quasi, rows = self.table.names(Role.quasi), self.table.rows
        assert isinstance(rows, Memory)
        columns = {name: rows.column(name).codes for name in quasi} | {"slot": self.slot + 1}
        sizes = [*(self.table[name].size for name in quasi), len(self.levels) + 1]
        counts = Counts.of(columns, sizes, np.ones(len(self.slot), dtype=np.int64))
        tuples = Counts(
            tuple(quasi), np.ascontiguousarray(counts.codes[:, :-1]), counts.weights, counts.sizes[:-1]
        )
        return Located(self.table, tuples, counts.codes[:, -1].astype(np.int64) - 1, self.levels)


@dataclass(frozen=True, eq=False, repr=False)
class CompositionsPlan(GeneralizationPlan, TablePlan):
    """Which block each known composition is in. What is not listed has none."""

    kind: ClassVar[str] = "compositions"
    table_names: ClassVar[tuple[str, ...]] = ("trees", "members", "compositions", "levels")

    method: str
    requirements: Sequence[BlockRequirement]
    trees: Trees
    members: NDArray[np.int32]
    """The leaves of the members of all compositions, one composition after the other."""
    sizes: Ints
    """How many members each composition has."""
    block_of: Ints
    levels: NDArray[np.int16]
    """Of each member of a block, one block after the other."""
    search: Mapping[str, Any] = field(default_factory=dict)

    def place(self, table: Table) -> PlacedRows:
        """Look the rows of a table up, unit by unit."""
        known = self.with_trees(table)
        rows, unit = known.rows, table.schema.unit
        if not isinstance(rows, Memory) or unit is None:
            raise InputError(
                f"{table.source.name}: what is published of persons or households together is looked up in memory. Read the table with "
                "engine='memory', by a schema that says which rows belong together."
            )
        # Members are in the order of the plan's leaves, by the plan's attributes: so the i-th is the i-th there.
        leaves = np.stack(
            [matched(tree.leaves, known, name)[rows.column(name).codes] for name, tree in self.trees.items()],
            axis=1,
        )
        own, slot = Units.in_memory(known, leaves), np.full(len(rows), -1, dtype=np.int64)
        blocks, first_slots = self._block_of_composition(), self._first_slots()
        for size in np.unique(own.sizes).tolist():
            units, asked = own.of_size(size)
            block = np.array(
                [blocks.get(one.tobytes(), -1) for one in np.ascontiguousarray(asked)], dtype=np.int64
            )
            places = own.first[units[block >= 0]][:, np.newaxis] + np.arange(size)
            slot[own.rows[places]] = first_slots[block[block >= 0]][:, np.newaxis] + np.arange(size)
        order = [list(self.trees).index(name) for name in table.names(Role.quasi)]
        return PlacedRows(known, rows.column(unit).codes, slot, self.levels[:, order])

    def _block_of_composition(self) -> dict[bytes, int]:
        """Return the block of each composition, by the leaves of its members."""
        starts = np.cumsum(self.sizes) - self.sizes
        listed = zip(starts.tolist(), self.sizes.tolist(), self.block_of.tolist(), strict=True)
        return {self.members[at : at + size].tobytes(): block for at, size, block in listed}

    def _first_slots(self) -> Ints:
        """Return where the levels of each block begin."""
        sizes = self._block_sizes()
        return np.cumsum(sizes) - sizes

    def _block_sizes(self) -> Ints:
        """Return how many members the compositions of each block have."""
        sizes = np.zeros(int(self.block_of.max()) + 1, dtype=np.int64)
        sizes[self.block_of] = self.sizes
        return sizes

    def locate(self, table: Table) -> Located:
        """Say where the tuples of a table belong."""
        return self.place(table).located()

    def to_json(self) -> dict[str, Any]:
        """Return all but the compositions, as plain data."""
        return {
            "method": self.method,
            "promises": [promise_to_json(promise) for promise in self.requirements],
            "attributes": list(self.trees),
        }

    def tables(self) -> dict[str, pl.DataFrame]:
        """Return the trees, the members of all compositions, the sizes and blocks of these, and the levels of the blocks."""
        names = [*map(str, range(len(self.trees)))]
        tables = {
            "trees": trees_to_table(self.trees.values()),
            "members": pl.DataFrame(self.members, schema=names),
            "compositions": pl.DataFrame({"size": self.sizes, "block": self.block_of}),
            "levels": pl.DataFrame(self.levels, schema=names),
        }
        return {name: smallest_types(table) for name, table in tables.items()}

    @classmethod
    def read(cls, data: Mapping[str, Any], tables: Mapping[str, pl.DataFrame]) -> Self:
        """Make a plan from what was written."""
        if set(data) != {"method", "promises", "attributes"}:
            raise ValueError("its keys are not those of a plan of compositions")
        method, requirements, trees = read_parts(data, tables)
        names, own = [*map(str, range(len(trees)))], list(trees.values())
        members = whole_numbers(tables["members"], names, [tree.codes.shape[1] for tree in own])
        levels = whole_numbers(tables["levels"], names, [tree.height + 1 for tree in own])
        listed = tables["compositions"]
        sizes, block_of = whole_numbers(listed, ["size", "block"], [MAX_MEMBERS + 1, max(len(listed), 1)]).T
        if not len(sizes) or sizes.min() < 1 or sizes.sum() != len(members):
            raise ValueError("its compositions have other members than it lists")
        plan = cls(
            method, requirements, trees, members.astype(np.int32), sizes, block_of, levels.astype(np.int16)
        )
        plan._refuse_unlike()
        return plan

    def _refuse_unlike(self) -> None:
        """Raise a ValueError if the compositions of a block are not alike at its levels, or one is listed twice or out of order."""
        block_sizes = self._block_sizes()
        if block_sizes.min() < 1 or (block_sizes[self.block_of] != self.sizes).any():
            raise ValueError("the compositions of one of its blocks have different numbers of members")
        if block_sizes.sum() != len(self.levels):
            raise ValueError("its blocks have other members than levels")
        of = np.repeat(np.arange(len(self.sizes)), self.sizes)
        starts = np.cumsum(self.sizes) - self.sizes
        slot = self._first_slots()[self.block_of][of] + np.arange(len(of)) - starts[of]
        if not np.array_equal(np.lexsort((*reversed(self.members.T), of)), np.arange(len(of))):
            raise ValueError("the members of its compositions are not in order")
        if len(self._block_of_composition()) < len(self.sizes):
            raise ValueError("its compositions must be different from each other")
        for a, tree in enumerate(self.trees.values()):
            nodes = tree.codes[self.levels[slot, a], self.members[:, a]]
            any_node = np.empty(len(self.levels), dtype=nodes.dtype)
            any_node[slot] = nodes
            if (any_node[slot] != nodes).any():
                raise ValueError("the compositions of one of its blocks are not alike")
