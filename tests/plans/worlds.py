"""Random tables with everything a schema can say of them, and plain checks of what is published of them.

Nothing here uses the code of plans: labels are read as a receiver reads them, and blocks are counted with a Counter.
"""

from __future__ import annotations

import datetime as dt
import math
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

import polars as pl

import sudare as sd

Row = dict[str, Any]
TREE = {"North": {"far": ["v0", "v1"], "near": ["v2"]}, "South": {"low": ["v3", "v4"], "high": ["v5", "v6"]}}
PATHS = {
    value: (place, half, "*")
    for half, parts in TREE.items()
    for place, values in parts.items()
    for value in values
}
DAY = dt.date(1999, 11, 20)


@dataclass(frozen=True)
class Kind:
    """A kind of column: how values are drawn (`new` ones lie outside of what was drawn), and what the schema says."""

    draw: Callable[[Random, bool], Any]
    type: Any
    declared: Mapping[str, Any]


def _number(r: Random, new: bool) -> int:
    return r.randint(-4, 61) if new else r.randrange(0, 50, r.choice([1, 7]))


def _fraction(r: Random, new: bool) -> float:
    return r.choice(
        [0.1, 1 / 3, 2.5, 1e-9, 12.25, 0.30000000000000004] + ([7.125, -3.0, 1e17] if new else [])
    )


def _day(r: Random, new: bool) -> dt.date:
    return DAY + dt.timedelta(days=r.randrange(0, 400, 50) + (r.choice([-4000, 13, 4000]) if new else 0))


def _text(r: Random, new: bool) -> str:
    return r.choice(["t0", "t1", "t2", "t[1, 2]", "*"] + (["t9", "{t0, t1}", ""] if new else []))


def _code(r: Random, new: bool) -> str:
    return r.choice(["4051", "4056", "4100", "77"] + (["4057", "40517", "9"] if new else []))


def _place(r: Random, new: bool) -> str:
    return r.choice(["v0", "v1", "v3", "v5"] + (["v2", "v4", "v6"] if new else []))


KINDS = {
    "number": Kind(_number, pl.Int64, {}),
    "bounded": Kind(_number, pl.Int64, {"bounds": (-10, 70)}),
    "listed": Kind(_number, pl.Int64, {"domains": list(range(-10, 70))}),
    "width": Kind(_number, pl.Int64, {"hierarchies": {"kind": "intervals", "width": 8, "fanout": 2}}),
    "quantiles": Kind(_number, pl.Int64, {"hierarchies": {"kind": "intervals", "quantiles": 3}}),
    "ready": Kind(
        _number, pl.Int64, {"hierarchies": sd.Hierarchy.intervals(range(-10, 70), width=10, fanout=3)}
    ),
    "fraction": Kind(_fraction, pl.Float64, {}),
    "day": Kind(_day, pl.Date, {}),
    "calendar": Kind(_day, pl.Date, {"hierarchies": {"kind": "dates"}}),
    "text": Kind(_text, pl.String, {}),
    "mask": Kind(_code, pl.String, {"hierarchies": {"kind": "mask"}}),
    "tree": Kind(_place, pl.String, {"hierarchies": {"kind": "tree", "tree": TREE}}),
    "grouped": Kind(_place, pl.String, {"hierarchies": sd.Hierarchy.from_tree(TREE)}),
    "category": Kind(_place, pl.String, {"domains": sorted(PATHS)}),
}


@dataclass(frozen=True)
class World:
    """A table and its schema; `row` is an attribute that is passed on, by which a published row is known again."""

    kinds: Mapping[str, str]
    rows: Sequence[Row]

    @classmethod
    def random(cls, r: Random, n: int | None = None, views: bool = False) -> World:
        kinds = {f"q{i}": r.choice(list(KINDS)) for i in range(r.randint(2, 3) if views else r.randint(1, 3))}
        missing = r.choice([0.0, 0.0, 0.15])
        world = cls(kinds, [])
        return cls(kinds, [world.row(r, i, missing=missing) for i in range(n or r.randint(12, 40))])

    def row(self, r: Random, number: int, *, new: float = 0.0, missing: float = 0.0) -> Row:
        values = {
            name: None if r.random() < missing else KINDS[kind].draw(r, r.random() < new)
            for name, kind in self.kinds.items()
        }
        return {**values, "ill": r.choice("aabbcd"), "row": number}

    @property
    def quasi(self) -> list[str]:
        return list(self.kinds)

    def schema(self, order: Sequence[str] | None = None) -> sd.Schema:
        order = order or self.quasi
        details: dict[str, dict[str, Any]] = {}
        for name, kind in self.kinds.items():
            for key, value in KINDS[kind].declared.items():
                details.setdefault(key, {})[name] = value
        declared: dict[Any, Any] = {pl.String: "text", pl.Date: "date"}  # whatever a source makes of them
        types = {
            n: declared[KINDS[kind].type] for n, kind in self.kinds.items() if KINDS[kind].type in declared
        }
        return sd.Schema.from_roles(types=types, quasi=order, sensitive=["ill"], other=["row"], **details)

    def frame(self, rows: Sequence[Row] | None = None) -> pl.DataFrame:
        types = {name: KINDS[kind].type for name, kind in self.kinds.items()} | {
            "ill": pl.String,
            "row": pl.Int64,
        }
        return pl.DataFrame(list(self.rows if rows is None else rows), schema=types, orient="row")

    def table(self, rows: Sequence[Row] | None = None) -> sd.Table:
        return sd.read(self.frame(rows), self.schema())


# -- What a receiver can check ---------------------------------------------------------------------


def covers(kind: str, label: Any, value: Any) -> bool:
    """Whether what is published is true of a value."""
    if label == value or (isinstance(label, str) and label.strip("*") == "" != label):
        return True  # the value itself, or nothing is told of it
    if not isinstance(label, str):
        return False
    if parts := re.fullmatch(r"\{(.*)\}", label):
        listed = re.findall(r'"((?:[^"\\]|\\.)*)"(?:, |$)|([^,"{}]+)(?:, |$)', parts[1])
        return any(
            value is None if bare == "(missing)" else covers(kind, quoted or bare, value)
            for quoted, bare in listed
        )
    if value is None:
        return False
    if kind in ("tree", "grouped"):
        return label in PATHS[value]
    if kind in ("text", "category"):
        return False
    if kind == "mask":
        padded = value.rjust(len(label), "0")
        return label.endswith("*") and len(padded) == len(label) and padded.startswith(label.rstrip("*"))
    if kind in ("day", "calendar"):
        return _of_day(label, value)
    return _of_number(label, float(value))


def _of_number(label: str, value: float) -> bool:
    if ends := re.fullmatch(r"([\[(])(\S+), (\S+)([\])])", label):
        low, high = float(ends[2]), float(ends[3])
        above = low < value or (low == value and ends[1] == "[")
        return above and (value < high or (value == high and ends[4] == "]"))
    if half := re.fullmatch(r"(>=|<) (\S+)", label):
        return value >= float(half[2]) if half[1] == ">=" else value < float(half[2])
    return float(label) == value


def _of_day(label: str, value: dt.date) -> bool:
    if ends := re.fullmatch(r"\[(\S+), (\S+)([\])])", label):
        low, high = (dt.date.fromisoformat(end[:10]) for end in (ends[1], ends[2]))
        return low <= value <= high if ends[3] == "]" else low <= value < high
    month = (value.month + 2) // 3
    known = (
        f"{value:%Y-%m-%d}",
        f"{value:%Y-%m}",
        f"{value.year}-Q{month}",
        f"{value.year}",
        f"{value.year // 10}0s",
    )
    return label in known


def blocks_of(frame: pl.DataFrame, quasi: Sequence[str]) -> dict[tuple[Any, ...], Counter[str]]:
    blocks: dict[tuple[Any, ...], Counter[str]] = {}
    for row in frame.iter_rows(named=True):
        blocks.setdefault(tuple(row[name] for name in quasi), Counter())[row["ill"]] += 1
    return blocks


def holds(requirement: Any, blocks: Sequence[Counter[str]]) -> bool:
    """Recount a requirement."""
    if isinstance(requirement, sd.KAnonymity):
        return all(block.total() >= requirement.k for block in blocks)
    if isinstance(requirement, sd.TCloseness):
        whole = sum(blocks, Counter[str]())
        return all(_distance(block, whole) <= requirement.t + 1e-9 for block in blocks)
    if requirement.kind == "entropy":
        return all(_entropy(block) >= math.log(requirement.l) - 1e-9 for block in blocks)
    return all(len(block) >= requirement.l for block in blocks)


def _distance(block: Counter[str], whole: Counter[str]) -> float:
    return sum(abs(block[v] / block.total() - whole[v] / whole.total()) for v in whole) / 2


def _entropy(block: Counter[str]) -> float:
    shares = [count / block.total() for count in block.values()]
    return -sum(share * math.log(share) for share in shares)


def assert_true_and_safe(world: World, rows: Sequence[Row], release: sd.Release) -> None:
    """Every published row is true of the row it was made from, and the requirements of the release hold."""
    frame = release.frame()
    of = {row["row"]: row for row in rows}
    for row in frame.iter_rows(named=True):
        own = of[row["row"]]
        assert row["ill"] == own["ill"]
        for name, kind in world.kinds.items():
            assert covers(kind, row[name], own[name]), (name, kind, row[name], own[name])
    blocks = list(blocks_of(frame, world.quasi).values())
    for requirement in release.requirements:
        assert holds(requirement, blocks), (requirement, blocks)


# -- Several views ---------------------------------------------------------------------------------


def assert_views_true_and_safe(world: World, rows: Sequence[Row], release: sd.Release) -> None:
    """Every person has a row of their own in every view that is true of them, and l values are left to them."""
    (requirement,) = release.requirements
    covering: list[list[set[str]]] = []
    for frame in release.frames().values():
        names = [name for name in frame.columns if name != "ill"]
        published = frame.rows(named=True)
        fits = [
            [
                i
                for i, row in enumerate(published)
                if row["ill"] == own["ill"] and all(covers(world.kinds[n], row[n], own[n]) for n in names)
            ]
            for own in rows
        ]
        assert len(published) == len(rows)
        assert matching(fits) == len(rows), "some row is true of nobody who has not another one"
        blocks = blocks_of(frame, names)
        covering.append(
            [
                {v for label, block in blocks.items() if _true(world, names, label, own) for v in block}
                for own in rows
            ]
        )
    for left in zip(*covering, strict=True):
        assert len(set.intersection(*left)) >= requirement.l


def _true(world: World, names: Sequence[str], labels: tuple[Any, ...], own: Row) -> bool:
    return all(covers(world.kinds[n], label, own[n]) for n, label in zip(names, labels, strict=True))


def matching(fits: Sequence[Sequence[int]]) -> int:
    """The most of the left side that get a partner of their own (augmenting paths)."""
    partner: dict[int, int] = {}

    def place(left: int, seen: set[int]) -> bool:
        for right in fits[left]:
            if right not in seen:
                seen.add(right)
                if right not in partner or place(partner[right], seen):
                    partner[right] = left
                    return True
        return False

    return sum(place(left, set()) for left in range(len(fits)))
