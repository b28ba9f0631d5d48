"""Learning by regions: a table of more tuples than are held at once is cut first, and each region is learned on its own.

The first cuts are Mondrian's, on coarse counts: of all tuples under the same nodes, some levels up, only how many there are is
known. Cuts at these levels are those that Mondrian makes on the whole table. (Rothko-T of LeFevre, DeWitt & Ramakrishnan 2008 cuts
by counts until a part fits into memory, too, and Rothko-S by a sample.) Every region meets the requirements as it stands, so it
can be learned; small neighbours are taken together up to what is held at once.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial

import numpy as np
from numpy.typing import NDArray

from sudare.engines.database import Files
from sudare.engines.relational import Relational
from sudare.errors import ParameterError
from sudare.generalization.mondrian import cut_whole
from sudare.generalization.problem import Problem, Trees, hierarchy_of
from sudare.generalization.recoding import Recoding
from sudare.plans.cuts import CutPlan
from sudare.plans.generalization import GeneralizationPlan
from sudare.plans.regions import RegionsPlan, Shelf, packed, parts_there
from sudare.plans.tuples import TuplePlan
from sudare.privacy.blocks import Blocks
from sudare.privacy.limits import Limits
from sudare.privacy.requirement import BlockRequirement, sensitive_attribute
from sudare.progress import step
from sudare.tables.attribute import Role
from sudare.tables.counts import Counts
from sudare.tables.hierarchy import Hierarchy
from sudare.tables.table import Table

Ints = NDArray[np.int64]
Tuples = NDArray[np.int32]
Learn = Callable[[Problem], tuple[TuplePlan | CutPlan, Tuples]]
"""Learns a plan; also returns the tuples that it leaves out."""
LEFT_OUT = "left out"
LEARNED_HERE = "Regions were learned here, one after the other."
MAX_COARSE = 2**20  # tuples of nodes that the first cuts are made by


def counted_of(table: Table, requirements: Sequence[BlockRequirement]) -> list[str]:
    """Return the columns that tuples are counted by."""
    attribute = sensitive_attribute(requirements, table)
    return [*table.names(Role.quasi), *([attribute] if attribute else [])]


def learn(
    table: Table, requirements: Sequence[BlockRequirement], learn_one: Learn
) -> tuple[GeneralizationPlan, Tuples]:
    """Learn from a table with hierarchies: at once if its tuples can be held, else by regions."""
    counted, rows = counted_of(table, requirements), table.rows
    if not isinstance(rows, Relational) or rows.tuple_count(counted) <= rows.max_tuples:
        return learn_one(Problem.of(table, requirements))
    whole = Blocks.of_table(table, [], sensitive_attribute(requirements, table))
    cuts, region_of = _cut(table, rows, requirements, counted, whole)
    none = Counts(tuple(counted), np.empty((0, len(counted)), np.int32), np.empty(0, np.int64), ())
    work = partial(_learn_region, Problem.of(table, requirements, none, whole), learn_one)
    regions, left_out = int(region_of.max()) + 1, []

    def learned() -> Iterator[Files]:
        with step("Learning", total=regions, unit="regions") as learning:
            for files in parts_there(table, rows, cuts, region_of, counted).each(regions, work):
                left_out.append(np.frombuffer(files[LEFT_OUT], dtype=np.int32).reshape(-1, len(counted)))
                yield files
                learning.advance(1)

    shelf = Shelf.of(learned())
    said = tuple(filter(None, [rows.works_here and f"{LEARNED_HERE} {rows.works_here}"]))
    return RegionsPlan.of(cuts, region_of, shelf, said), np.concatenate(left_out)


def _learn_region(problem: Problem, learn_one: Learn, counts: Counts) -> Files:
    """Learn from the tuples of one region, wherever they are, and pack what was learned."""
    plan, left_out = learn_one(problem.of_units(counts))
    return packed(plan) | {LEFT_OUT: left_out.tobytes()}


def refuse_beyond_memory(table: Table, requirements: Sequence[BlockRequirement], what: str) -> None:
    """Refuse a table of more tuples than are held at once, where something is done with all of them together."""
    rows, counted = table.rows, counted_of(table, requirements)
    if isinstance(rows, Relational) and rows.tuple_count(counted) > rows.max_tuples:
        raise ParameterError(
            f"{what} for all tuples together, and the {rows.tuple_count(counted):,} tuples of {table.source.name} are too many "
            "to be held at once. Read it with more memory, or do without."
        )


def _cut(
    table: Table,
    rows: Relational,
    requirements: Sequence[BlockRequirement],
    counted: Sequence[str],
    whole: Blocks,
) -> tuple[CutPlan, Ints]:
    """Cut a table into regions; return the cuts, and the region of each of their blocks."""
    names = table.names(Role.quasi)
    trees = {name: hierarchy_of(table, name) for name in names}
    weights = {name: table.schema[name].weight for name in names}
    levels = _coarse_levels(Trees.of(list(trees.values()), list(weights.values())))
    below = {name: level for name, level in zip(names, levels, strict=True) if level < trees[name].height}
    nodes = {name: trees[name].codes[level] for name, level in zip(names, levels, strict=True)}
    coarse, tuples = rows.node_counts(counted, nodes)
    tops = [_top(trees[name], level) for name, level in below.items()]
    problem = Problem(
        names=list(below),
        hierarchies=tops,
        units=np.column_stack([coarse.column(name) for name in below]),
        weights=coarse.weights,
        sensitive=coarse.codes[:, -1].copy() if whole.sensitive else np.zeros(len(coarse), dtype=np.int32),
        values=max(whole.values, 1),
        sensitive_dictionary=None,
        trees=Trees.of(tops, [weights[name] for name in below]),
        limits=Limits.of(requirements, whole),
    )
    block_of, parts, branches = cut_whole(problem, strict=False)
    in_block = np.bincount(block_of, tuples).astype(np.int64)
    kept, region_of = _regions(parts, branches, in_block, rows.region_tuples)
    # Parts below a region belong to it: number the blocks of the new cuts, and hand them down.
    number = {part: i for i, part in enumerate(region_of)}
    own = np.full(len(parts), -1, dtype=np.int64)
    own[list(number)] = list(number.values())
    for parent, _, part in branches.tolist():
        own[part] = own[parent] if own[parent] >= 0 else own[part]
    part_of_block = np.empty(len(in_block), dtype=np.int64)
    part_of_block[parts[parts[:, 2] >= 0, 2]] = np.flatnonzero(parts[:, 2] >= 0)
    recoding = Recoding.of("regions", problem, own[part_of_block[block_of]])
    cuts = _upper_cuts(requirements, trees, below, recoding, parts, branches, kept, number)
    return cuts, np.array(list(region_of.values()), dtype=np.int64)


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


def _coarse_levels(trees: Trees) -> list[int]:
    """Choose a level for each attribute, so that there are few tuples of nodes.

    From the root down, each time the attribute whose next level saves most for how many times more nodes it has.
    """
    levels = [int(height) for height in trees.height]
    size = 1
    while True:
        best, gain = -1, 0.0
        for a, level in enumerate(levels):
            if level == 0:
                continue
            more = trees.size[a, level - 1] / trees.size[a, level]
            if size * more > MAX_COARSE:
                continue
            saved = trees.step[a] / max(math.log(more), 1e-9)
            if saved > gain:
                best, gain = a, saved
        if best < 0:
            return levels
        size = math.ceil(size * trees.size[best, levels[best] - 1] / trees.size[best, levels[best]])
        levels[best] -= 1


def _top(tree: Hierarchy, level: int) -> Hierarchy:
    """Return what lies above a level, whose nodes are the leaves now."""
    nodes = len(tree.labels[level])
    codes = np.zeros((tree.height + 1 - level, nodes), dtype=np.int32)
    codes[:, tree.codes[level]] = tree.codes[level:]
    return Hierarchy(tree.labels[level:], codes)


def _regions(parts: Ints, branches: Ints, tuples: Ints, most: int) -> tuple[list[int], dict[int, int]]:
    """Take the uppermost parts that have no more tuples than that, and small ones of one parent together.

    Returns all parts down to these, parents first, and the region of each of these.
    """
    size = np.where(parts[:, 2] >= 0, tuples[parts[:, 2]], 0)
    children: dict[int, list[int]] = {}
    for parent, _, part in branches.tolist():
        children.setdefault(parent, []).append(part)
    for parent in sorted(children, reverse=True):
        size[parent] = sum(int(size[part]) for part in children[parent])
    kept, region_of, regions, waiting = [0], {}, 0, [0]
    while waiting:
        parent = waiting.pop()
        if size[parent] <= most or parent not in children:
            region_of[parent] = regions  # the whole table, or a block that cannot be cut
            regions += 1
            continue
        room = 0
        for part in children[parent]:
            kept.append(part)
            if size[part] > most:
                waiting.append(part)
            else:
                if size[part] > room:
                    regions, room = regions + 1, most
                region_of[part] = regions - 1
                room -= int(size[part])
    return kept, region_of
