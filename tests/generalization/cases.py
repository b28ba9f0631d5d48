"""Small random tables of mixed kinds, and requirements that each table as a whole meets."""

from __future__ import annotations

import datetime as dt
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

import polars as pl
import pytest
from hypothesis import strategies as st

import sudare as sd
from sudare.generalization import drafts, minimal
from sudare.privacy.l_diversity import LDiversity
from sudare.privacy.requirement import BlockRequirement
from sudare.privacy.t_closeness import TCloseness
from tests.generalization.plain import Rule
from tests.privacy.plain import TREE

SHARES = [
    sd.BetaLikeness(0.5, "basic"),
    sd.BetaLikeness(1),
    sd.BetaLikeness(3),
    sd.DeltaDisclosure(0.6),
    sd.DeltaDisclosure(1.5),
]
randoms = st.randoms(use_true_random=False)
KINDS = ("tree", "text", "mask", "number", "fraction", "intervals", "date", "calendar")


@dataclass(frozen=True)
class Case:
    table: sd.Table
    requirements: list[BlockRequirement]

    @property
    def rule(self) -> Rule:
        return Rule(self.table, self.requirements)


def random_tree(r: Random, depth: int, leaves: int) -> sd.Hierarchy:
    """A tree with random groups; a group of one sometimes keeps the name of what is in it."""
    paths = [[f"v{i}"] for i in range(leaves)]
    for level in range(1, depth):
        nodes = list(dict.fromkeys(path[-1] for path in paths))
        group = {node: r.randrange(max(1, len(nodes) // 2 + 1)) for node in nodes}
        alone = Counter(group.values())
        for path in paths:
            own = path[-1]
            keeps = alone[group[own]] == 1 and group[own] % 2 == 0
            path.append(own if keeps else f"g{level}.{group[own]}")
    return sd.Hierarchy.from_rows([[*path, "*"] for path in paths])


def random_column(r: Random, kind: str, n: int) -> tuple[list[Any], sd.Hierarchy | None]:
    size = r.randint(1, 6)
    if kind == "tree":
        tree = random_tree(r, r.randint(1, 3), size)
        return [f"v{r.randrange(size)}" for _ in range(n)], tree
    if kind == "text":
        return [f"t{r.randrange(size)}" for _ in range(n)], None
    if kind == "mask":
        values = [str(r.randint(0, 130)) for _ in range(n)]
        return values, sd.Hierarchy.mask(values)
    if kind == "number":
        return [r.randint(-size, 2 * size) for _ in range(n)], None
    if kind == "fraction":
        return [r.randint(0, 3 * size) / 4 for _ in range(n)], None
    if kind == "intervals":
        return [r.randint(0, 29) for _ in range(n)], sd.Hierarchy.intervals(range(30), width=5, fanout=2)
    days = [dt.date(2019, 12, 20) + dt.timedelta(days=r.randint(0, 20 * size)) for _ in range(n)]
    return days, sd.Hierarchy.dates(days) if kind == "calendar" else None


def random_table(
    r: Random,
    n: int,
    *,
    attributes: int | None = None,
    kinds: Sequence[str] = KINDS,
    missing: bool = True,
    weigh: bool = True,
) -> sd.Table:
    """Some rows are repeated, so that units have weights; some values are missing, but never all of a column."""
    distinct = r.randint(max(1, n // 2), n)
    copies = [*range(distinct), *(r.randrange(distinct) for _ in range(n - distinct))]
    columns: dict[str, list[Any]] = {"name": [f"person {i}" for i in range(n)]}
    hierarchies = {}
    quasi = [f"q{a}" for a in range(attributes or r.randint(1, 4))]
    for name in quasi:
        values, hierarchy = random_column(r, r.choice(kinds), distinct)
        if missing and r.random() < 0.3:
            values = [values[0], *(None if r.random() < 0.3 else value for value in values[1:])]
        columns[name] = [values[i] for i in copies]
        if hierarchy is not None:
            hierarchies[name] = hierarchy
    skew = r.choice([(1, 1, 1, 1, 1, 1), (9, 4, 2, 1, 1, 0), (1, 1, 0, 0, 0, 0), (1, 1, 1, 0, 0, 1)])
    illness: list[str | None] = [str(value) for value in r.choices(range(6), skew, k=n)]
    if missing and r.random() < 0.2:
        illness = [illness[0], *(None if r.random() < 0.2 else value for value in illness[1:])]
    columns["illness"] = illness
    columns["note"] = [r.randint(0, 3) for _ in range(n)]
    weights = {name: r.choice([0.5, 1.0, 3.0]) for name in quasi} if weigh and r.random() < 0.4 else None
    schema = sd.Schema.from_roles(
        identifier=["name"],
        quasi=quasi,
        sensitive=["illness"],
        other=["note"],
        hierarchies={**hierarchies, "illness": TREE},
        weights=weights,
    )
    return sd.read(pl.DataFrame(columns), schema)


def random_requirement(r: Random) -> BlockRequirement:
    kind = r.choice(["k", "k", "distinct", "entropy", "recursive", "equal", "ordered", "hierarchical"])
    if r.random() < 0.2:
        return r.choice(SHARES)
    if kind == "k":
        return sd.KAnonymity(r.randint(1, 6))
    if kind == "distinct":
        return LDiversity(r.randint(1, 4))
    if kind == "entropy":
        return LDiversity(r.choice([1, 1.5, 2, 2.5, 3]), "entropy")
    if kind == "recursive":
        return LDiversity(r.randint(1, 3), "recursive", c=r.choice([0.5, 1, 1.5, 2, 4]))
    return TCloseness(r.choice([0.05, 0.1, 0.2, 0.3, 0.5, 0.75]), kind)  # type: ignore[arg-type]


def random_case(r: Random, n: int | None = None, **options: Any) -> Case:
    table = random_table(r, n or r.randint(1, 24), **options)
    asked = [random_requirement(r) for _ in range(r.randint(1, 3))]
    possible = [one for one in asked if Rule(table, [one]).possible]
    return Case(table, possible or [sd.KAnonymity(1)])


def with_limits(patch: pytest.MonkeyPatch, **limits: int) -> None:
    """Let `minimal` think that fewer things are many."""
    for name, value in limits.items():
        patch.setattr(minimal if name == "MAX_UNITS" else drafts, name, value)
