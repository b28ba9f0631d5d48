"""A plan of cuts: the whole domain is cut along the hierarchies, again and again, and every part is a block.

So a tuple that was not seen has a block, too, if it lies in a part that somebody was in.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sudare.plans._cuts import routed
from sudare.plans.generalization import (
    Ints,
    Located,
    Trees,
    WholePlan,
    read_parts,
    smallest_types,
    whole_numbers,
)
from sudare.plans.trees import MAX_LEAVES
from sudare.privacy.requirement import BlockRequirement
from sudare.tables.attribute import Role
from sudare.tables.counts import Counts, count
from sudare.tables.hierarchy import Hierarchy
from sudare.tables.table import Table

REST = -1
"""In place of a node: whatever is under none of the others that were cut off."""


@dataclass(frozen=True, eq=False, repr=False)
class CutPlan(WholePlan):
    """A tree of cuts. Part 0 is the whole domain; a part is cut by one attribute on one level, or it is a block."""

    kind: ClassVar[str] = "cuts"
    table_names: ClassVar[tuple[str, ...]] = ("trees", "parts", "branches", "blocks")

    method: str
    requirements: Sequence[BlockRequirement]
    trees: Trees
    attribute: Ints
    """By which attribute each part is cut, in the order of `trees`; -1: it is a block."""
    level: Ints
    """On which level it is cut."""
    block: Ints
    """Which block it is; -1: it is cut."""
    branches: Ints
    """One row per branch: the part that is cut, the node that is cut off (or REST), and the part it becomes."""
    levels: NDArray[np.int16]
    """To which level each block climbs, for those that it was learned from: blocks x attributes."""
    corners: NDArray[np.int32]
    """A leaf of each attribute that is in the block."""

    def located(self, table: Table, counts: Counts) -> Located:
        """Follow tuples from cut to cut."""
        quasi = table.names(Role.quasi)
        order = [list(self.trees).index(name) for name in quasi]
        trees = [table[name].hierarchy for name in self.trees]
        units = np.ascontiguousarray(counts.codes[:, np.argsort(order)])
        block_of = self.block_at(units, [tree for tree in trees if tree is not None])
        levels = self.levels.copy()
        for a, (name, own) in enumerate(zip(self.trees, trees, strict=True)):
            assert own is not None
            _climb(levels[:, a], self.corners[:, a], self.trees[name], own, units[:, a], block_of)
        return Located(table, counts, block_of, levels[:, order])

    def block_at(self, units: NDArray[np.int32], trees: Sequence[Hierarchy]) -> Ints:
        """Return the part that each tuple lies in, and so its block; -1 if it lies in none."""
        return self.followed(units, trees, 0, self.block)

    def followed(self, units: NDArray[np.int32], trees: Sequence[Hierarchy], first: int, ends: Ints) -> Ints:
        """Follow tuples from a part on, until they come to one that has a number among `ends`; return the numbers, or -1."""
        highest = max(tree.height for tree in trees)
        nodes = np.zeros(
            (len(trees), highest + 1, max(tree.codes.shape[1] for tree in trees)), dtype=np.int32
        )
        for a, tree in enumerate(trees):
            nodes[a, : tree.height + 1, : tree.codes.shape[1]] = tree.codes
        order = np.lexsort((self.branches[:, 1], self.branches[:, 0]))
        branches = np.ascontiguousarray(self.branches[order])
        start = np.searchsorted(branches[:, 0], np.arange(len(self.attribute) + 1))
        # Copies: some are views of a table, and for each layout a kernel of its own would be compiled.
        attribute, level, ends = (np.array(own) for own in (self.attribute, self.level, ends))
        return routed(units, nodes, attribute, level, ends, start, branches, first)

    def to_json(self) -> dict[str, Any]:
        """Return all but the cuts, as plain data."""
        return super().to_json()

    def tables(self) -> dict[str, pl.DataFrame]:
        """Return the trees, the parts, the branches and the blocks. -1 is written as 0, and all others one higher."""
        parts = {"attribute": self.attribute + 1, "level": self.level, "block": self.block + 1}
        names = ["part", "node", "becomes"]
        branches = pl.DataFrame(self.branches + np.array([0, 1, 0]), schema=names)
        width = range(self.levels.shape[1])
        blocks = pl.DataFrame(
            {f"level {a}": self.levels[:, a] for a in width}
            | {f"leaf {a}": self.corners[:, a] for a in width}
        )
        tables = {"parts": pl.DataFrame(parts), "branches": branches, "blocks": blocks}
        return super().tables() | {name: smallest_types(table) for name, table in tables.items()}

    @classmethod
    def read(cls, data: Mapping[str, Any], tables: Mapping[str, pl.DataFrame]) -> Self:
        """Make a plan from what was written."""
        if set(data) != {"method", "promises", "attributes"}:
            raise ValueError("its keys are not those of a plan of cuts")
        method, requirements, trees = read_parts(data, tables)
        width, heights = range(len(trees)), [tree.height for tree in trees.values()]
        leaves = [tree.codes.shape[1] for tree in trees.values()]
        blocks = whole_numbers(
            tables["blocks"],
            [*(f"level {a}" for a in width), *(f"leaf {a}" for a in width)],
            [*(height + 1 for height in heights), *leaves],
        )
        parts = whole_numbers(
            tables["parts"],
            ["attribute", "level", "block"],
            [len(trees) + 1, max(heights) + 1, len(blocks) + 1],
        )
        branches = whole_numbers(
            tables["branches"], ["part", "node", "becomes"], [len(parts), MAX_LEAVES, len(parts)]
        )
        _refuse_other_than_cuts(parts, branches, len(blocks))
        _refuse_other_than_nodes(parts, branches, list(trees.values()))
        return cls(
            method, requirements, trees, parts[:, 0] - 1, parts[:, 1], parts[:, 2] - 1, branches - np.array([0, 1, 0]),
            blocks[:, : len(trees)].astype(np.int16), blocks[:, len(trees) :].astype(np.int32),
        )  # fmt: skip


def first_leaves(trees: Trees, levels: NDArray[np.int16], corners: NDArray[np.int32]) -> NDArray[np.int32]:
    """Return, for a leaf of each attribute in each block, the first leaf that is published alike: so a plan names no tuple that somebody had."""
    first = corners.copy()
    for a, tree in enumerate(trees.values()):
        for level in np.unique(levels[:, a]):
            here = levels[:, a] == level
            nodes, leaf = np.unique(tree.codes[level], return_index=True)
            first[here, a] = leaf[np.searchsorted(nodes, tree.codes[level, corners[here, a]])]
    return first


def _refuse_other_than_cuts(parts: Ints, branches: Ints, blocks: int) -> None:
    """Raise a ValueError if parts are not cut into parts of their own, which end in one block each."""
    is_block = parts[:, 2] > 0
    if not len(parts) or (is_block == (parts[:, 0] > 0)).any():
        raise ValueError("a part is either cut or a block")
    if not np.array_equal(np.sort(parts[is_block, 2]), np.arange(1, blocks + 1)):
        raise ValueError("every block is one part")
    if (branches[:, 2] <= branches[:, 0]).any() or is_block[branches[:, 0]].any():
        raise ValueError("a part becomes later ones, and a block none")
    if not np.array_equal(np.sort(branches[:, 2]), np.arange(1, len(parts))):
        raise ValueError("every part but the first comes from one cut")
    cut_off = {"part": branches[:, 0], "node": branches[:, 1]}
    if len(count(cut_off, [len(parts), MAX_LEAVES])) < len(branches):
        raise ValueError("a node is cut off once")


def _refuse_other_than_nodes(parts: Ints, branches: Ints, trees: Sequence[Hierarchy]) -> None:
    """Raise a ValueError if a cut is not on a level of its tree, or cuts off what is no node there."""
    sizes = np.zeros((len(trees) + 1, max(tree.height for tree in trees) + 1), dtype=np.int64)
    for a, tree in enumerate(trees, start=1):
        sizes[a, : tree.height + 1] = [len(names) for names in tree.labels]
    sizes[0] = 1  # a block is cut nowhere
    nodes = sizes[parts[:, 0], parts[:, 1]]
    if (nodes == 0).any() or (branches[:, 1] > nodes[branches[:, 0]]).any():
        raise ValueError("a part is cut into nodes of one level of a tree")


def _climb(
    levels: NDArray[np.int16],
    corner: NDArray[np.int32],
    planned: Hierarchy,
    tree: Hierarchy,
    codes: NDArray[np.int32],
    block_of: Ints,
) -> None:
    """Let each block climb until all of its tuples lie under the node that it is published as."""
    inside = np.flatnonzero(block_of >= 0)
    own = block_of[inside]
    for level in range(planned.height):
        apart = tree.codes[level, codes[inside]] != planned.codes[level, corner[own]]
        higher = own[apart & (levels[own] <= level)]
        levels[higher] = level + 1
