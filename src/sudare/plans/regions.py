"""A plan in regions: the domain is cut into regions, and each has a plan of its own.

So a plan can be learned, kept and applied whose tuples, all together, would not fit into memory: the plans of the regions stay
in files, and one is looked at at a time.
"""

from __future__ import annotations

import json
import shutil
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from io import BytesIO
from itertools import chain
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sudare.engines.database import Files
from sudare.engines.parted import Parted
from sudare.engines.private_folder import private_folder
from sudare.engines.relational import Relational
from sudare.engines.rewriting import PiecewiseRewriting, Rewriting
from sudare.plans.cuts import CutPlan
from sudare.plans.generalization import GeneralizationPlan, Ints, Located, Places, Trees, whole_numbers
from sudare.plans.plan import (
    HEAD,
    WriteFile,
    files_of,
    method_from_json,
    read_table,
    read_tables,
    refusing_other_files,
)
from sudare.plans.tuples import TuplePlan
from sudare.privacy.requirement import BlockRequirement
from sudare.tables.attribute import Role
from sudare.tables.counts import Counts
from sudare.tables.hierarchy import Hierarchy
from sudare.tables.table import Table

MAX_REGIONS = 100_000
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
            tables = {name: read_table(self.folder / _file(region, name)) for name in self._own_names()}
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


@dataclass(frozen=True, eq=False)
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
    warnings: Sequence[str] = ()

    @classmethod
    def of(cls, cuts: CutPlan, region_of: Ints, shelf: Shelf, warnings: tuple[str, ...] = ()) -> RegionsPlan:
        """Put the plans of regions together."""
        method = method_from_json(shelf.head.get("method"))
        return cls(method, cuts.requirements, cuts.trees, cuts, region_of, shelf, warnings)

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
    region = _regions_at(
        table, cuts, region_of, {name: counts.column(name) for name in table.names(Role.quasi)}
    )
    return lambda part: counts.at(np.flatnonzero(region == part))


def parts_there(
    table: Table, rows: Relational, cuts: CutPlan, region_of: Ints, keys: Sequence[str]
) -> Parted:
    """Let the engine put tuples into their regions, by the nodes that cuts are made at; those that lie in none come last."""
    nodes, some_code = {}, {}
    for a, name in enumerate(cuts.trees):
        at = cuts.level[cuts.attribute == a]
        if len(at):
            nodes[name] = _tree(table, name).codes[int(at.min())]
            some_code[name] = np.zeros(int(nodes[name].max()) + 1, dtype=np.int32)
            some_code[name][nodes[name]] = np.arange(len(nodes[name]))
    if not nodes:  # there is one region
        return rows.parted(keys, {}, np.empty((1, 0), dtype=np.int32), region_of)
    listed = rows.node_counts(list(nodes), nodes).counts
    codes = {name: some_code[name][listed.column(name)] for name in nodes}
    return rows.parted(keys, nodes, listed.codes, _regions_at(table, cuts, region_of, codes))


def _regions_at(table: Table, cuts: CutPlan, region_of: Ints, codes: Mapping[str, NDArray[np.int32]]) -> Ints:
    """Return the region of each tuple, by the codes of those attributes that are cut."""
    units = np.zeros((len(next(iter(codes.values()))), len(cuts.trees)), dtype=np.int32)
    for a, name in enumerate(cuts.trees):
        if name in codes:
            units[:, a] = codes[name]
    blocks = cuts.block_at(units, [_tree(table, name) for name in cuts.trees])
    return np.where(blocks >= 0, region_of[blocks], region_of.max() + 1)


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

    @cached_property
    def rewriting(self) -> PiecewiseRewriting:
        """What becomes of the rows that the plan covers."""
        seen = [(piece.climbing, piece.dealt) for piece in self.pieces()]
        climbing = np.any([climbs for climbs, _ in seen], axis=0)
        return PiecewiseRewriting(lambda: self._rewritten(climbing), any(dealt for _, dealt in seen))

    def _rewritten(self, climbing: NDArray[np.bool_]) -> Iterator[Rewriting]:
        for piece in self.pieces():
            yield piece.rewritten(climbing, all_labels=True)
