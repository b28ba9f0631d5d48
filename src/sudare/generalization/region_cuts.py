"""Cuts into regions: a table of more tuples than are held at once is cut until no region has more than are learned from at once.

The cuts are Mondrian's, on coarse counts: of all tuples under the same nodes, some levels up, only how many there are is
known. Cuts at these levels are those that Mondrian makes on the whole table. A region that is still too large is counted anew, on
levels further down, and cut again, as long as there is a cut under which every part meets the requirements.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sudare.engines.parted import WHOLE, Parted
from sudare.engines.relational import Relational
from sudare.generalization.mondrian import cut_whole
from sudare.generalization.problem import Problem, Trees, hierarchy_of
from sudare.generalization.recoding import Recoding
from sudare.plans.cuts import CutPlan
from sudare.plans.regions import MAX_LISTED, parts_there, sizes_above
from sudare.privacy.blocks import Blocks
from sudare.privacy.limits import Limits
from sudare.privacy.requirement import BlockRequirement
from sudare.tables.attribute import Role
from sudare.tables.hierarchy import Hierarchy
from sudare.tables.table import Table

Ints = NDArray[np.int64]


class Regions(NamedTuple):
    """Cuts, and what they make of the tuples."""

    cuts: CutPlan
    region_of: Ints
    """The region of each block of the cuts."""
    sizes: list[int]
    """How many tuples each region has."""


def cut_into_regions(
    table: Table, requirements: Sequence[BlockRequirement], counted: Sequence[str], whole: Blocks, most: int
) -> tuple[Regions, Parted]:
    """Cut a table whose rows a database has, until no region has more tuples than that, or no cut of it is left."""
    rows = table.rows
    assert isinstance(rows, Relational)
    cutting = _Cutting(table, requirements, counted, whole, most)
    regions, uncut, parted = cutting.none_cut(rows.tuple_count(counted)), set[int](), None
    while large := [r for r, size in enumerate(regions.sizes) if size > most and r not in uncut]:
        found = {
            region: cutting.cut(parted or rows.parted(counted), region if parted else WHOLE)
            for region in large
        }
        for region, below in found.items():
            if below is None:
                uncut.add(region)
            else:
                regions = _grafted(regions, region, below)
        if parted is None or any(below is not None for below in found.values()):
            if parted:
                parted.drop()
            parted = parts_there(table, rows, regions.cuts, regions.region_of, counted)
    assert parted is not None  # the whole table had too many
    return regions, parted


@dataclass(frozen=True, eq=False)
class _Cutting:
    table: Table
    requirements: Sequence[BlockRequirement]
    counted: Sequence[str]
    whole: Blocks
    most: int

    @cached_property
    def trees(self) -> dict[str, Hierarchy]:
        return {name: hierarchy_of(self.table, name) for name in self.table.names(Role.quasi)}

    def none_cut(self, tuples: int) -> Regions:
        """Return the whole table as one region."""
        trees, one = self.trees, np.zeros(1, dtype=np.int64)
        heights = np.array([[tree.height for tree in trees.values()]], dtype=np.int16)
        corner, branches = np.zeros((1, len(trees)), dtype=np.int32), np.empty((0, 3), dtype=np.int64)
        cuts = CutPlan(
            "regions", tuple(self.requirements), trees, one - 1, one, one, branches, heights, corner
        )
        return Regions(cuts, one, [tuples])

    def cut(self, parted: Parted, part: int) -> Regions | None:
        """Cut some tuples into regions; None if there is no cut."""
        trees = self.trees
        weights = [self.table.schema[name].weight for name in trees]
        sizes = [sizes_above(tree, parted.codes(part, name)) for name, tree in trees.items()]
        levels = _coarse_levels(sizes, Trees.of(list(trees.values()), weights).step)
        below = {name: level for name, level in zip(trees, levels, strict=True) if level < trees[name].height}
        if not below:
            return None
        nodes = {name: trees[name].codes[level] for name, level in zip(trees, levels, strict=True)}
        coarse, tuples = parted.node_counts(part, self.counted, nodes)
        tops = [_top(trees[name], level) for name, level in below.items()]
        problem = Problem(
            names=list(below),
            hierarchies=tops,
            units=np.column_stack([coarse.column(name) for name in below]),
            weights=coarse.weights,
            sensitive=coarse.codes[:, -1].copy()
            if self.whole.sensitive
            else np.zeros(len(coarse), dtype=np.int32),
            values=max(self.whole.values, 1),
            sensitive_dictionary=None,
            trees=Trees.of(tops, [self.table.schema[name].weight for name in below]),
            limits=Limits.of(self.requirements, self.whole),
        )
        return self._regions(problem, below, tuples)

    def _regions(self, problem: Problem, below: Mapping[str, int], tuples: Ints) -> Regions | None:
        block_of, parts, branches = cut_whole(problem, strict=False)
        in_block = np.bincount(block_of, tuples).astype(np.int64)
        kept, region_of, sizes = _taken_together(parts, branches, in_block, self.most)
        if len(sizes) == 1:
            return None
        # Parts below a region belong to it: number the blocks of the new cuts, and hand them down.
        number = {part: i for i, part in enumerate(region_of)}
        own = np.full(len(parts), -1, dtype=np.int64)
        own[list(number)] = list(number.values())
        for parent, _, part in branches.tolist():
            own[part] = own[parent] if own[parent] >= 0 else own[part]
        part_of_block = np.empty(len(in_block), dtype=np.int64)
        part_of_block[parts[parts[:, 2] >= 0, 2]] = np.flatnonzero(parts[:, 2] >= 0)
        recoding = Recoding.of("regions", problem, own[part_of_block[block_of]])
        cuts = _upper_cuts(self.requirements, self.trees, below, recoding, parts, branches, kept, number)
        return Regions(cuts, np.array(list(region_of.values()), dtype=np.int64), sizes)


def _grafted(regions: Regions, region: int, below: Regions) -> Regions:
    """Cut a region, which is one block of the cuts, further."""
    cuts, new, last = regions.cuts, below.cuts, len(regions.sizes) - 1
    block = int(np.flatnonzero(regions.region_of == region).item())
    part = int(np.flatnonzero(cuts.block == block).item())
    place = np.append(part, len(cuts.block) + np.arange(len(new.block) - 1))
    number = np.where(new.block >= 0, new.block + len(cuts.levels) - 1, -1)
    attribute, level, block_at = (
        np.append(own, further)
        for own, further in (
            (cuts.attribute, new.attribute[1:]),
            (cuts.level, new.level[1:]),
            (np.where(cuts.block > block, cuts.block - 1, cuts.block), number[1:]),
        )
    )
    attribute[part], level[part], block_at[part] = new.attribute[0], new.level[0], -1
    branches = np.column_stack([place[new.branches[:, 0]], new.branches[:, 1], place[new.branches[:, 2]]])
    grown = replace(
        cuts,
        attribute=attribute,
        level=level,
        block=block_at,
        branches=np.concatenate([cuts.branches, branches]),
        levels=np.concatenate([np.delete(cuts.levels, block, axis=0), new.levels]),
        corners=np.concatenate([np.delete(cuts.corners, block, axis=0), new.corners]),
    )
    own = np.where(below.region_of == 0, region, below.region_of + last)
    sizes = [*regions.sizes, *below.sizes[1:]]
    sizes[region] = below.sizes[0]
    return Regions(grown, np.append(np.delete(regions.region_of, block), own), sizes)


def _upper_cuts(
    requirements: Sequence[BlockRequirement],
    trees: Mapping[str, Hierarchy],
    below: Mapping[str, int],
    recoding: Recoding,
    parts: Ints,
    branches: Ints,
    kept: Sequence[int],
    number: Mapping[int, int],
) -> CutPlan:
    """Return the cuts of some parts alone, in the table's own trees; `number` says which block those are that are not cut."""
    kept = sorted(kept)
    place = np.full(len(parts), -1, dtype=np.int64)
    place[kept] = np.arange(len(kept))
    block = np.array([number.get(part, -1) for part in kept], dtype=np.int64)
    names, is_cut = list(below), block < 0
    attribute_of = np.array([list(trees).index(name) for name in names])
    level_of = np.array(list(below.values()))
    attribute, level = np.where(is_cut, parts[kept, 0], -1), np.zeros(len(kept), dtype=np.int64)
    level[is_cut] = parts[kept, 1][is_cut] + level_of[attribute[is_cut]]
    attribute[is_cut] = attribute_of[attribute[is_cut]]
    own = branches[(place[branches[:, 0]] >= 0) & (place[branches[:, 2]] >= 0)]
    levels = np.array([[tree.height for tree in trees.values()]] * len(number), dtype=np.int16)
    corners = np.zeros((len(number), len(trees)), dtype=np.int32)
    units = recoding.problem.units[recoding.first_units()]
    for a, name in enumerate(names):
        at, tree = attribute_of[a], trees[name]
        levels[:, at] = recoding.levels[:, a] + below[name]
        leaf = np.zeros(len(tree.labels[below[name]]), dtype=np.int32)
        leaf[tree.codes[below[name]]] = np.arange(tree.codes.shape[1])
        corners[:, at] = leaf[units[:, a]]
    return CutPlan(
        "regions",
        tuple(requirements),
        trees,
        attribute,
        level,
        block,
        np.column_stack([place[own[:, 0]], own[:, 1], place[own[:, 2]]]),
        levels,
        corners,
    )


def _coarse_levels(sizes: Sequence[Sequence[int]], step: NDArray[np.float64]) -> list[int]:
    """Choose a level for each attribute, so that there are few tuples of nodes.

    From the root down, each time the attribute whose next level saves most for how many times more nodes it has.
    """
    levels = [len(own) - 1 for own in sizes]
    size = 1
    while True:
        best, gain = -1, 0.0
        for a, level in enumerate(levels):
            if level == 0:
                continue
            more = sizes[a][level - 1] / sizes[a][level]
            if size * more > MAX_LISTED:
                continue
            saved = step[a] / max(math.log(more), 1e-9)
            if saved > gain:
                best, gain = a, saved
        if best < 0:
            return levels
        size = math.ceil(size * sizes[best][levels[best] - 1] / sizes[best][levels[best]])
        levels[best] -= 1


def _top(tree: Hierarchy, level: int) -> Hierarchy:
    """Return what lies above a level, whose nodes are the leaves now."""
    nodes = len(tree.labels[level])
    codes = np.zeros((tree.height + 1 - level, nodes), dtype=np.int32)
    codes[:, tree.codes[level]] = tree.codes[level:]
    return Hierarchy(tree.labels[level:], codes)


def _taken_together(
    parts: Ints, branches: Ints, tuples: Ints, most: int
) -> tuple[list[int], dict[int, int], list[int]]:
    """Take the uppermost parts that have no more tuples than that, and small ones of one parent together.

    Returns all parts down to these, parents first, the region of each of these, and how many tuples each region has.
    """
    size = np.where(parts[:, 2] >= 0, tuples[parts[:, 2]], 0)
    children: dict[int, list[int]] = {}
    for parent, _, part in branches.tolist():
        children.setdefault(parent, []).append(part)
    for parent in sorted(children, reverse=True):
        size[parent] = sum(int(size[part]) for part in children[parent])
    kept, region_of, sizes, waiting = [0], dict[int, int](), list[int](), [0]
    while waiting:
        parent = waiting.pop()
        if parent not in children:  # a block that cannot be cut
            region_of[parent] = len(sizes)
            sizes.append(int(size[parent]))
            continue
        open_region = False
        for part in children[parent]:
            kept.append(part)
            if size[part] > most:
                waiting.append(part)
                continue
            if not open_region or sizes[-1] + size[part] > most:
                open_region = True
                sizes.append(0)
            region_of[part] = len(sizes) - 1
            sizes[-1] += int(size[part])
    return kept, region_of, sizes
