"""A plan in regions: the domain is cut into regions, and each has a plan of its own.

So a plan can be learned, kept and applied whose tuples, all together, would not fit into memory: the plans of the regions stay
in files, and one is looked at at a time.
"""

from __future__ import annotations

import json
import math
import shutil
import weakref
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from io import BytesIO
from itertools import chain
from pathlib import Path
from types import MappingProxyType
from typing import Any, ClassVar

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sudare.engines.database import Files
from sudare.engines.parted import WHOLE, Parted
from sudare.engines.private_folder import private_folder
from sudare.engines.relational import BYTES_PER_TUPLE, Relational
from sudare.engines.rewriting import PiecewiseRewriting, Rewriting
from sudare.plans.cuts import CutPlan
from sudare.plans.generalization import GeneralizationPlan, Ints, Located, Places, Trees, whole_numbers
from sudare.plans.plan import (
    HEAD,
    WriteFile,
    files_of,
    method_from_json,
    read_files,
    read_tables,
    refusing_other_files,
)
from sudare.plans.tuples import TuplePlan
from sudare.privacy.requirement import BlockRequirement
from sudare.tables.counts import Counts
from sudare.tables.hierarchy import Hierarchy
from sudare.tables.table import Table

MAX_REGIONS = 100_000
MAX_LISTED = 2**20
"""Tuples of nodes that are listed at once, to cut by them or to follow cuts."""
KINDS: dict[str, type[TuplePlan | CutPlan]] = {TuplePlan.kind: TuplePlan, CutPlan.kind: CutPlan}
TREES = "trees"
HEAD_FILE = "head"


class Shelf:
    """The plans of the regions, each in files of one folder. They share their trees, and what a person would read."""

    def __init__(
        self, folder: Path, count: int, kind: type[TuplePlan | CutPlan], head: dict[str, Any]
    ) -> None:
        self.folder, self.count, self.kind, self.head = folder, count, kind, head

    @classmethod
    def of(cls, packed: Iterator[Files]) -> Shelf:
        """Put packed plans into a folder that nobody else can look into, and that is gone with the shelf."""
        folder, remove = private_folder("plan")
        first = next(packed)
        data = json.loads(first[HEAD_FILE])
        shelf = cls(folder, 0, KINDS[data["kind"]], data["head"])
        weakref.finalize(shelf, remove)
        for files in chain([first], packed):
            for name in shelf._own_names():
                (folder / _file(shelf.count, name)).write_bytes(files[name])
            shelf.count += 1
        return shelf

    def _own_names(self) -> list[str]:
        return [name for name in self.kind.table_names if name != TREES]

    def take(self, region: int, trees: pl.DataFrame) -> TuplePlan | CutPlan:
        """Read the plan of one region."""
        with refusing_other_files(self.folder):
            tables = read_files({name: self.folder / _file(region, name) for name in self._own_names()})
            return self.kind.read(self.head, tables | {TREES: trees})

    def files(self) -> dict[str, WriteFile]:
        """Return what writes each file, by name."""
        names = [_file(region, name) for region in range(self.count) for name in self._own_names()]
        return {name: partial(shutil.copyfile, self.folder / name) for name in names}


def packed(plan: TuplePlan | CutPlan) -> dict[str, bytes]:
    """Return the files of a region's plan: what a person would read, and its tables but for the trees."""
    files = {HEAD_FILE: json.dumps({"kind": plan.kind, "head": plan.to_json()}).encode()}
    for name, table in plan.tables().items():
        if name != TREES:
            file = BytesIO()
            table.write_parquet(file)
            files[name] = file.getvalue()
    return files


def _file(region: int, name: str) -> str:
    return f"region.{region:05}.{name}.parquet"


@dataclass(frozen=True, eq=False, repr=False)
class RegionsPlan(GeneralizationPlan):
    """Cuts into regions, and a plan for each."""

    kind: ClassVar[str] = "regions"

    method: str
    requirements: Sequence[BlockRequirement]
    trees: Trees
    cuts: CutPlan
    """Its blocks lie in one region each."""
    region_of: Ints
    """The region of each block of the cuts."""
    shelf: Shelf
    search: Mapping[str, Any] = field(default_factory=dict)
    warnings: Sequence[str] = ()

    @classmethod
    def of(
        cls,
        cuts: CutPlan,
        region_of: Ints,
        shelf: Shelf,
        search: Mapping[str, Any] = MappingProxyType({}),
        warnings: Sequence[str] = (),
    ) -> RegionsPlan:
        """Put the plans of regions together."""
        method = method_from_json(shelf.head.get("method"))
        return cls(method, cuts.requirements, cuts.trees, cuts, region_of, shelf, search, warnings)

    @cached_property
    def _trees_table(self) -> pl.DataFrame:
        return self.cuts.tables()[TREES]

    def region(self, region: int) -> TuplePlan | CutPlan:
        """Return the plan of one region."""
        return self.shelf.take(region, self._trees_table)

    # -- Where tuples belong --------------------------------------------------------------------------

    def keys(self, table: Table) -> list[str]:
        """Return the columns of a table by which its tuples are looked up."""
        return self.region(0).keys(table)

    def locate(self, table: Table) -> Places:
        """Say where the tuples of a table belong, some of them at a time."""
        known = self.with_trees(table)
        return LocatedRegions(known, self, parts_in(known, self.cuts, self.region_of, self.keys(known)))

    # -- Files ----------------------------------------------------------------------------------------

    def files(self) -> Mapping[str, WriteFile]:
        """Return what writes each file, by name."""
        head = {
            "cuts": self.cuts.to_json(),
            "regions": self.shelf.count,
            "plans": self.shelf.kind.kind,
            "plan": self.shelf.head,
        }
        tables = {**self.cuts.tables(), "regions": pl.DataFrame({"region": self.region_of})}
        return files_of(self.kind, head, tables) | self.shelf.files()

    @classmethod
    def opened(cls, folder: Path, data: dict[str, Any]) -> RegionsPlan:
        """Open a plan; those of its regions are read, and refused if they are none, when they are needed."""
        if set(data) != {*HEAD, "cuts", "regions", "plans", "plan"}:
            raise ValueError("its keys are not those of a plan in regions")
        count, kind, head = data["regions"], data["plans"], data["plan"]
        if not isinstance(count, int) or isinstance(count, bool) or not 0 < count <= MAX_REGIONS:
            raise ValueError(f"a plan has 1 to {MAX_REGIONS:,} regions")
        if kind not in KINDS or not isinstance(head, dict) or not isinstance(data["cuts"], dict):
            raise ValueError("its regions have plans of tuples or of cuts")
        tables = read_tables((*CutPlan.table_names, "regions"), cls.kind, folder, data)
        region_of = whole_numbers(tables.pop("regions"), ["region"], [count])[:, 0]
        cuts = CutPlan.read(data["cuts"], tables)
        if len(region_of) != len(cuts.levels) or len(np.unique(region_of)) != count:
            raise ValueError("every block of its cuts lies in a region, and every region has one")
        plan = cls.of(cuts, region_of, Shelf(folder, count, KINDS[kind], head))
        if plan.region(0).requirements != plan.requirements:
            raise ValueError("its regions must be asked for the same")
        return plan


def parts_in(table: Table, cuts: CutPlan, region_of: Ints, keys: Sequence[str]) -> Callable[[int], Counts]:
    """Return what counts the tuples of each region of a table that has the trees; those that lie in none come last."""
    if isinstance(table.rows, Relational):
        return parts_there(table, table.rows, cuts, region_of, keys).counts
    counts = table.counts(keys)
    trees = [_tree(table, name) for name in cuts.trees]
    blocks = cuts.block_at(np.column_stack([counts.column(name) for name in cuts.trees]), trees)
    region = np.where(blocks >= 0, region_of[blocks], region_of.max() + 1)
    return lambda part: counts.at(np.flatnonzero(region == part))


def parts_there(
    table: Table, rows: Relational, cuts: CutPlan, region_of: Ints, keys: Sequence[str]
) -> Parted:
    """Let the engine put tuples into their regions, by the nodes that cuts are made at; those that lie in none come last.

    As many cuts are followed at once as have few tuples of nodes together. What lies in a part that is cut further is a part by
    itself, with a number beyond those of regions, until it is divided, too.
    """
    trees = [_tree(table, name) for name in cuts.trees]
    parted, none = rows.parted(keys), int(region_of.max()) + 1
    number, waiting = none, [(WHOLE, 0)]
    while waiting:
        part, first = waiting.pop()
        levels, ends = _followed_at_once(parted, part, cuts, first, trees)
        place, part_of = np.full(len(cuts.block), -1, dtype=np.int64), []
        place[ends] = np.arange(len(ends))
        for end in ends:
            if cuts.block[end] >= 0:
                part_of.append(int(region_of[cuts.block[end]]))
            else:
                number += 1
                part_of.append(number)
                waiting.append((number, end))
        nodes = {list(cuts.trees)[a]: trees[a].codes[level] for a, level in levels.items()}
        listed = (
            parted.node_counts(part, list(nodes), nodes).counts.codes if nodes else np.empty((1, 0), np.int32)
        )
        units = np.zeros((len(listed), len(trees)), dtype=np.int32)
        for at, (a, level) in enumerate(levels.items()):
            some_code = np.zeros(len(trees[a].labels[level]), dtype=np.int32)
            some_code[trees[a].codes[level]] = np.arange(trees[a].codes.shape[1])
            units[:, a] = some_code[listed[:, at]]
        came_to = cuts.followed(units, trees, first, place)
        parted.divide(part, nodes, listed, np.where(came_to >= 0, np.array(part_of)[came_to], none))
    return parted


def _followed_at_once(
    parted: Parted, part: int, cuts: CutPlan, first: int, trees: Sequence[Hierarchy]
) -> tuple[dict[int, int], list[int]]:
    """Choose cuts, from a part of them on, that have few tuples of nodes together.

    Returns the lowest level at which each attribute is cut, and the parts at which these cuts end.
    """
    lowest, ends, waiting = dict[int, int](), list[int](), deque([first])
    sizes = [
        sizes_above(tree, parted.codes(part, name)) for name, tree in zip(cuts.trees, trees, strict=True)
    ]
    becomes = dict[int, list[int]]()
    for parent, _, child in cuts.branches.tolist():
        becomes.setdefault(parent, []).append(child)
    while waiting:
        at = waiting.popleft()
        a, level = int(cuts.attribute[at]), int(cuts.level[at])
        lower = lowest | {a: min(level, lowest.get(a, level))}
        if cuts.block[at] >= 0 or (
            lowest and math.prod(sizes[b][low] for b, low in lower.items()) > MAX_LISTED
        ):
            ends.append(at)
            continue
        lowest = lower
        waiting.extend(becomes.get(at, []))
    return lowest, ends


def sizes_above(tree: Hierarchy, codes: NDArray[np.int32]) -> list[int]:
    """Return how many nodes there are on each level above some codes."""
    return [len(np.unique(nodes[codes])) for nodes in tree.codes]


def _tree(table: Table, name: str) -> Hierarchy:
    tree = table[name].hierarchy
    assert tree is not None  # with_trees gave every quasi attribute one
    return tree


@dataclass(frozen=True, eq=False)
class LocatedRegions(Places):
    """The tuples of a table, region by region."""

    table: Table
    plan: RegionsPlan
    part: Callable[[int], Counts]
    """Counts the tuples of a region."""

    def pieces(self) -> Iterator[Located]:
        """Return the tuples of each region; those that lie in none come last."""
        for region in range(self.plan.shelf.count):
            counts = self.part(region)
            if len(counts):
                yield self.plan.region(region).located(self.table, counts)
        rest = self.part(self.plan.shelf.count)
        if len(rest):
            none = np.zeros((1, len(self.plan.trees)), dtype=np.int16)
            yield Located(self.table, rest, np.full(len(rest), -1, dtype=np.int64), none)

    def at_once(self, what: str, bytes_per_tuple: int = BYTES_PER_TUPLE) -> Located:
        """Return the tuples of all regions, if there is memory for them."""
        rows = self.table.rows
        if isinstance(rows, Relational):
            most = rows.max_tuples * BYTES_PER_TUPLE // bytes_per_tuple
            if rows.tuple_count(self.plan.keys(self.table)) > most:
                return super().at_once(what, bytes_per_tuple)
        pieces = list(self.pieces())
        counts = [piece.counts for piece in pieces]
        codes = np.concatenate([own.codes for own in counts])
        order = np.lexsort(codes.T[::-1])
        first = np.cumsum([0, *(len(piece.levels) for piece in pieces)])
        block_of = np.concatenate(
            [
                np.where(piece.covered, piece.block_of + start, -1)
                for piece, start in zip(pieces, first[:-1], strict=True)
            ]
        )
        weights = np.concatenate([own.weights for own in counts])
        every = Counts(counts[0].names, codes[order], weights[order], counts[0].sizes)
        return Located(self.table, every, block_of[order], np.concatenate([piece.levels for piece in pieces]))

    @cached_property
    def rewriting(self) -> PiecewiseRewriting:
        """What becomes of the rows that the plan covers."""
        seen = [(piece.climbing, piece.dealt) for piece in self.pieces()]
        climbing = np.any([climbs for climbs, _ in seen], axis=0)
        return PiecewiseRewriting(lambda: self._rewritten(climbing), any(dealt for _, dealt in seen))

    def _rewritten(self, climbing: NDArray[np.bool_]) -> Iterator[Rewriting]:
        for piece in self.pieces():
            yield piece.rewritten(climbing, all_labels=True)
