"""A plan of levels: every attribute climbs to one level, whoever the record is of.

So there is one coding for each column, for tuples that were not seen, too. Those are covered that become one of the groups that
were published: another one might be theirs alone. Who was left out when the plan was learned stays left out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sudare.plans.generalization import (
    Located,
    Trees,
    WholePlan,
    read_parts,
    refuse_repeated,
    smallest_types,
    whole_numbers,
)
from sudare.plans.trees import matched
from sudare.privacy.requirement import BlockRequirement
from sudare.tables.attribute import Role
from sudare.tables.counts import Counts, places_of
from sudare.tables.table import Table
from sudare.tables.text import text_of


@dataclass(frozen=True, eq=False, repr=False)
class LevelsPlan(WholePlan):
    """One level for each attribute, and the groups that are published."""

    kind: ClassVar[str] = "levels"
    table_names: ClassVar[tuple[str, ...]] = ("trees", "groups", "left_out")

    method: str
    requirements: Sequence[BlockRequirement]
    trees: Trees
    levels: Mapping[str, int]
    """Of each attribute, in the order of `trees`."""
    groups: NDArray[np.int32]
    """Groups x attributes: the node of each, on its level."""
    left_out: pl.DataFrame
    """Tuples, as the texts of their values, that are not covered even if they become one of the groups: they were left out
    when the plan was learned. One column for each attribute."""

    def record(self) -> dict[str, Any]:
        """Return the level of each attribute."""
        return {"levels": dict(self.levels)}

    def located(self, table: Table, counts: Counts) -> Located:
        """Look up what tuples become."""
        quasi = table.names(Role.quasi)
        nodes = np.empty((len(counts), len(quasi)), dtype=np.int32)
        for at, name in enumerate(quasi):
            tree = table[name].hierarchy
            assert tree is not None  # with_trees gave every quasi attribute one
            nodes[:, at] = tree.codes[self.levels[name]][counts.column(name)]
        order = [list(self.trees).index(name) for name in quasi]
        own = np.ascontiguousarray(self.groups[:, order])
        listed = Counts(tuple(quasi), own, np.ones(len(own), dtype=np.int64), (0,) * len(quasi))
        block_of = np.where(self._is_left_out(table, counts), -1, places_of(nodes, listed))
        levels = np.array([self.levels[name] for name in quasi], dtype=np.int16)
        return Located(table, counts, block_of, np.tile(levels, (len(own), 1)))

    def _is_left_out(self, table: Table, counts: Counts) -> NDArray[np.bool_]:
        """Tell which tuples are never covered."""
        asked = np.empty((len(counts), len(self.trees)), dtype=np.int32)
        listed = np.empty((self.left_out.height, len(self.trees)), dtype=np.int32)
        for a, name in enumerate(self.trees):
            texts = self.left_out[name].to_list()
            place = {text: i for i, text in enumerate(dict.fromkeys(texts))}
            asked[:, a] = matched(list(place), table, name)[counts.column(name)]
            listed[:, a] = [place[text] for text in texts]
        none = np.ones(len(listed), dtype=np.int64)
        return places_of(asked, Counts(tuple(self.trees), listed, none, (0,) * len(self.trees))) >= 0

    def never_covering(self, table: Table, tuples: NDArray[np.int32]) -> Self:
        """Return the plan that also covers none of these tuples of a table's quasi attributes."""
        left_out = {}
        for at, name in enumerate(table.names(Role.quasi)):
            texts = [*(text_of(value) for value in table[name].values.to_list()), None]
            left_out[name] = pl.Series([texts[code] for code in tuples[:, at]], dtype=pl.String)
        more = pl.DataFrame(left_out).select(list(self.trees))
        return replace(self, left_out=pl.concat([self.left_out, more]))

    def to_json(self) -> dict[str, Any]:
        """Return all but the groups, as plain data."""
        return {**super().to_json(), "levels": dict(self.levels)}

    def tables(self) -> dict[str, pl.DataFrame]:
        """Return the trees and the groups."""
        groups = pl.DataFrame(self.groups, schema=[*map(str, range(self.groups.shape[1]))])
        return {**super().tables(), "groups": smallest_types(groups), "left_out": self.left_out}

    @classmethod
    def read(cls, data: Mapping[str, Any], tables: Mapping[str, pl.DataFrame]) -> Self:
        """Make a plan from what was written."""
        if set(data) != {"method", "promises", "attributes", "levels"}:
            raise ValueError("its keys are not those of a plan of levels")
        method, requirements, trees = read_parts(data, tables)
        levels = data["levels"]
        if not isinstance(levels, dict) or list(levels) != list(trees):
            raise ValueError("each of its attributes has a level")
        for level, tree in zip(levels.values(), trees.values(), strict=True):
            if not isinstance(level, int) or isinstance(level, bool) or not 0 <= level <= tree.height:
                raise ValueError("a level is one of a tree")
        sizes = [len(tree.labels[levels[name]]) for name, tree in trees.items()]
        names = [*map(str, range(len(trees)))]
        groups = whole_numbers(tables["groups"], names, sizes)
        refuse_repeated(tables["groups"], names)
        left_out = tables["left_out"]
        if left_out.schema != dict.fromkeys(trees, pl.String):
            raise ValueError("who is left out has a text for each attribute")
        return cls(method, requirements, trees, levels, groups.astype(np.int32), left_out)
