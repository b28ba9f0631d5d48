"""A plan that lists tuples: every tuple of values is in a block, and every block climbs as far as it must."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Self

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sudare.errors import InputError
from sudare.plans.generalization import (
    Ints,
    Located,
    Trees,
    WholePlan,
    read_parts,
    smallest_types,
    whole_numbers,
)
from sudare.plans.trees import matched
from sudare.privacy.requirement import BlockRequirement
from sudare.tables.attribute import Role
from sudare.tables.counts import Counts, count, is_first, places_of
from sudare.tables.table import Table

MAX_RECORDS = 2**31


@dataclass(frozen=True, eq=False, repr=False)
class TuplePlan(WholePlan):
    """Which block each known tuple is in. What is not listed has none."""

    kind: ClassVar[str] = "tuples"
    table_names: ClassVar[tuple[str, ...]] = ("trees", "tuples", "levels")

    method: str
    requirements: Sequence[BlockRequirement]
    trees: Trees
    sensitive: str | None
    """The sensitive attribute, if blocks were made by its values too."""
    sensitive_values: tuple[str | None, ...]
    """Its values; None for a missing one."""
    tuples: NDArray[np.int32]
    """The leaf of each attribute, in the order of `trees`, and the place among the sensitive values, if there are any."""
    block_of: Ints
    levels: NDArray[np.int16]
    """Blocks x attributes."""
    records: Ints
    """A tuple is listed several times, one after the other, if its records are dealt to several blocks: in proportion to these
    numbers, those of which it had so many. 0: all belong there."""
    search: Mapping[str, Any] = field(default_factory=dict)

    def keys(self, table: Table) -> list[str]:
        """Return the quasi attributes of a table, and the sensitive one, if blocks were made by its values too."""
        if self.sensitive is None:
            return super().keys(table)
        if self.sensitive not in table.names(Role.sensitive):
            raise InputError(
                f"{table.source.name}: the plan is for the sensitive attribute '{self.sensitive}', which the schema does not call so."
            )
        return [*super().keys(table), self.sensitive]

    def record(self) -> dict[str, Any]:
        """Return of how many records equal ones are in another block."""
        return {"dealt": int(self.records.sum())}

    def located(self, table: Table, counts: Counts) -> Located:
        """Look tuples up."""
        quasi = table.names(Role.quasi)
        leaves = np.empty_like(counts.codes)
        for at, name in enumerate(counts.names):
            leaves[:, at] = self._leaves(table, name)[counts.codes[:, at]]
        order = [list(self.trees).index(name) for name in quasi]
        own = self.tuples[:, [*order, len(self.trees)]] if self.sensitive else self.tuples[:, order]
        first = np.flatnonzero(is_first(self.tuples))
        ones = np.ones(len(first), dtype=np.int64)
        listed = Counts(counts.names, np.ascontiguousarray(own[first]), ones, counts.sizes)
        places = places_of(leaves, listed)
        if len(first) == len(own):
            block_of = np.where(places >= 0, self.block_of[places], -1)
            return Located(table, counts, block_of, self.levels[:, order])
        dealt, entry = self._dealt(counts, places, first)
        block_of = np.where(entry >= 0, self.block_of[entry], -1)
        return Located(table, dealt, block_of, self.levels[:, order])

    def _dealt(self, counts: Counts, places: Ints, first: Ints) -> tuple[Counts, Ints]:
        """Deal the records of each tuple to its entries, which begin at `first`; also return the entries, -1 for none."""
        entries = np.diff(first, append=len(self.records))
        times = np.where(places >= 0, entries[places], 1)
        tuple_of = np.repeat(np.arange(len(counts)), times)
        nth = np.arange(len(tuple_of)) - np.repeat(np.cumsum(times) - times, times)
        entry = np.where(places[tuple_of] >= 0, first[places[tuple_of]] + nth, -1)
        parts = np.maximum(self.records, 1)
        ends, every = np.cumsum(parts), np.repeat(np.add.reduceat(parts, first), entries)
        ends -= np.repeat(ends[first] - parts[first], entries)  # within the tuple
        whole, rest = np.divmod(counts.weights[tuple_of], every[entry])
        # The share of the records up to each end; divided first, so that no product is too large.
        low, high = (whole * end + rest * end // every[entry] for end in ((ends - parts)[entry], ends[entry]))
        weights = np.where(entry >= 0, high - low, counts.weights[tuple_of])
        some = weights > 0
        dealt = Counts(
            counts.names, np.ascontiguousarray(counts.codes[tuple_of[some]]), weights[some], counts.sizes
        )
        return dealt, entry[some]

    def _leaves(self, table: Table, name: str) -> NDArray[np.int32]:
        """Return the plan's leaf of each code of a column; -1 where the plan has not seen the value."""
        names = self.sensitive_values if name == self.sensitive else self.trees[name].leaves
        return matched(names, table, name)

    def to_json(self) -> dict[str, Any]:
        """Return all but the tuples, as plain data."""
        return {
            **super().to_json(),
            "sensitive": self.sensitive,
            "sensitive_values": list(self.sensitive_values),
        }

    def tables(self) -> dict[str, pl.DataFrame]:
        """Return the trees, the tuples with their blocks, and the levels of the blocks."""
        names = [*map(str, range(self.tuples.shape[1]))]
        tuples = pl.DataFrame(self.tuples, schema=names).with_columns(
            block=pl.Series(self.block_of), records=pl.Series(self.records)
        )
        levels = pl.DataFrame(self.levels, schema=[*map(str, range(self.levels.shape[1]))])
        return {**super().tables(), "tuples": smallest_types(tuples), "levels": smallest_types(levels)}

    @classmethod
    def read(cls, data: Mapping[str, Any], tables: Mapping[str, pl.DataFrame]) -> Self:
        """Make a plan from what was written."""
        if set(data) != {"method", "promises", "attributes", "sensitive", "sensitive_values"}:
            raise ValueError("its keys are not those of a plan of tuples")
        method, requirements, trees = read_parts(data, tables)
        sensitive, values = data["sensitive"], data["sensitive_values"]
        if (
            not isinstance(sensitive, str | None)
            or not isinstance(values, list)
            or bool(values) != bool(sensitive)
        ):
            raise ValueError("a sensitive attribute has values")
        if not all(isinstance(value, str | None) for value in values) or len(set(values)) < len(values):
            raise ValueError("sensitive values are different texts")
        sizes = [tree.codes.shape[1] for tree in trees.values()] + ([len(values)] if sensitive else [])
        levels = whole_numbers(
            tables["levels"], [*map(str, range(len(trees)))], [tree.height + 1 for tree in trees.values()]
        )
        names = [*map(str, range(len(sizes))), "block", "records"]
        numbers = whole_numbers(tables["tuples"], names, [*sizes, len(levels), MAX_RECORDS])
        plan = cls(
            method, requirements, trees, sensitive, tuple(values), numbers[:, :-2].astype(np.int32), numbers[:, -2],
            levels.astype(np.int16), numbers[:, -1],
        )  # fmt: skip
        plan._refuse_wrongly_dealt()
        plan._refuse_unlike()
        return plan

    def _refuse_wrongly_dealt(self) -> None:
        """Raise a ValueError if the entries of a tuple do not stand together, or do not say how its records are dealt."""
        begins = is_first(self.tuples)
        alone = begins & np.append(begins[1:], True)
        columns = {str(a): own for a, own in enumerate(self.tuples[begins].T)}
        sizes = [int(own.max(initial=0)) + 1 for own in columns.values()]
        if ((self.records == 0) != alone).any() or len(count(columns, sizes)) < begins.sum():
            raise ValueError("the records of one of its tuples are not dealt as a plan deals them")
        dealt = {"tuple": np.cumsum(begins)[~alone], "block": self.block_of[~alone]}
        if len(count(dealt, [len(begins) + 1, len(self.levels)])) < len(dealt["block"]) or not len(begins):
            raise ValueError("its tuples must be different from each other, and there must be some")

    def _refuse_unlike(self) -> None:
        """Raise a ValueError if the tuples of a block differ on the level that it climbs to: it has no one label."""
        for a, tree in enumerate(self.trees.values()):
            nodes = tree.codes[self.levels[self.block_of, a], self.tuples[:, a]]
            any_node = np.empty(len(self.levels), dtype=nodes.dtype)
            any_node[self.block_of] = nodes  # of each block that of one of its tuples
            if (any_node[self.block_of] != nodes).any():
                raise ValueError("the tuples of one of its blocks are not alike")
