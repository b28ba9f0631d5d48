"""Slow, obvious twins of the methods and their kernels, and what every published frame must show."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterable, Sequence
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
import polars as pl
import pytest

import sudare as sd
from sudare.generalization.problem import Problem
from sudare.generalization.recoding import Recoding
from sudare.plans.tuples import TuplePlan
from sudare.privacy.beta_likeness import BetaLikeness
from sudare.privacy.delta_disclosure import DeltaDisclosure
from sudare.privacy.k_anonymity import KAnonymity
from sudare.privacy.l_diversity import LDiversity
from sudare.privacy.requirement import BlockRequirement
from sudare.privacy.t_closeness import TCloseness
from sudare.tables.published import as_published
from sudare.tables.text import text_of
from tests import by_row
from tests.privacy.plain import (
    discloses_little,
    has_distinct,
    has_entropy,
    has_k,
    is_alike,
    is_recursive,
)

Partition = set[frozenset[int]]


class Rule:
    """What a block must meet, from the definitions; a block is a Counter of sensitive codes."""

    def __init__(self, table: sd.Table, requirements: Sequence[BlockRequirement]) -> None:
        self.requirements = requirements
        self.column = table["illness"] if "illness" in table.columns else None
        own = by_row.codes(table, "illness").tolist() if self.column else [0] * len(table)
        self.whole = Counter(own)

    @property
    def possible(self) -> bool:
        return self(self.whole)

    def __call__(self, histogram: Counter[int], whole: Counter[int] | None = None) -> bool:
        whole = whole or self.whole
        return all(self._holds(requirement, histogram, whole) for requirement in self.requirements)

    def _holds(self, requirement: BlockRequirement, histogram: Counter[int], whole: Counter[int]) -> bool:
        match requirement:
            case KAnonymity():
                return has_k(histogram, requirement.k)
            case LDiversity(kind="distinct"):
                return has_distinct(histogram, int(requirement.l))
            case LDiversity(kind="entropy"):
                return has_entropy(histogram, Fraction(requirement.l))  # type: ignore[arg-type]
            case LDiversity():
                return is_recursive(histogram, requirement.c or 0, int(requirement.l))
            case TCloseness():
                return self._distance(requirement.distance, histogram, whole) <= Fraction(str(requirement.t))
            case BetaLikeness():
                return is_alike(histogram, whole, requirement.beta, requirement.kind == "enhanced")
            case DeltaDisclosure():
                return discloses_little(histogram, whole, requirement.delta)
        raise AssertionError(requirement)

    def _distance(self, kind: str, histogram: Counter[int], whole: Counter[int]) -> Fraction:
        assert self.column is not None
        m = self.column.size
        extra = [
            Fraction(histogram[v], histogram.total()) - Fraction(whole[v], whole.total()) for v in range(m)
        ]
        if kind == "equal":
            return sum((abs(e) for e in extra), Fraction()) / 2
        if kind == "ordered":
            crossing = (abs(sum(extra[:i], Fraction())) for i in range(1, m))
            return sum(crossing, Fraction()) / max(m - 1, 1)
        # On a tree with edges of length 1/2 of a level, what a subtree has too much must cross the edge above it.
        assert self.column.hierarchy is not None
        paths = self.column.hierarchy.rows()
        height = self.column.hierarchy.height
        through: Counter[tuple[Any, ...]] = Counter()
        for path, e in zip(paths, extra, strict=True):
            for level in range(height):
                through[path[level:]] += e  # type: ignore[assignment]
        return sum((abs(Fraction(e)) for e in through.values()), Fraction()) / (2 * height)


# -- the published frame ---------------------------------------------------------------------------


def check(table: sd.Table, rule: Rule, recoding: Recoding, spare: int = 0) -> None:
    """Check everything that holds of any recoding, whatever the method."""
    frame = frame_of(table, recoding, rule.requirements)
    check_blocks(frame, table, rule)
    check_rows(frame, table, recoding, spare)
    check_levels(table, recoding)
    check_distortion(table, recoding)
    check_plan(table, recoding)


def frame_of(
    table: sd.Table, recoding: Recoding, requirements: Sequence[BlockRequirement] = ()
) -> pl.DataFrame:
    """What is published for each row, in the order of the rows: the engine publishes the same, in its own order."""
    located = recoding.plan(requirements).locate(table)
    frame = by_row.published(table, located)
    assert table.rows.rewrite(located.rewriting).frame().equals(as_published(frame), null_equal=True)
    return frame


def check_blocks(frame: pl.DataFrame, table: sd.Table, rule: Rule) -> None:
    """Group what is published by its quasi columns, and hold every block against the definitions."""
    for histogram in published_blocks(frame, table):
        assert rule(histogram), f"{dict(histogram)} does not meet {[str(r) for r in rule.requirements]}"


def published_blocks(frame: pl.DataFrame, table: sd.Table) -> list[Counter[int]]:
    quasi = table.names("quasi")
    values = table["illness"].values.to_list() if "illness" in table.columns else []
    code_of = {value: code for code, value in enumerate([*values, None])}
    blocks: dict[tuple[Any, ...], Counter[int]] = {}
    for row in frame.iter_rows(named=True):
        key = tuple(row[name] for name in quasi)
        blocks.setdefault(key, Counter())[code_of[row["illness"]] if values else 0] += 1
    return list(blocks.values())


def check_rows(frame: pl.DataFrame, table: sd.Table, recoding: Recoding, spare: int) -> None:
    """All rows are there, in their order, and nothing but the quasi columns is changed."""
    original, blocks = table.frame(), by_row.block_of(table, recoding)
    kept = blocks >= 0
    assert len(table) - frame.height <= spare
    assert kept.sum() == frame.height
    identifiers = table.names("identifier")
    assert frame.columns == [name for name in original.columns if name not in identifiers]
    untouched = [name for name in frame.columns if name not in table.names("quasi")]
    assert frame.select(untouched).equals(original.filter(kept).select(untouched))
    levels = by_row.levels_of(table, recoding)
    for a, name in enumerate(recoding.problem.names):
        paths = recoding.problem.hierarchies[a].rows()
        own = by_row.codes(table, name)
        for published, row in zip(frame[name].to_list(), np.flatnonzero(kept), strict=True):
            label = None if published is None else text_of(published)
            path = paths[own[row]]
            assert label == path[levels[row, a]] or (
                levels[row, a] == 0 and label == str(original[name][int(row)])
            )
    located = recoding.plan([sd.KAnonymity(1)]).locate(table)
    place = by_row.tuple_of(table, located.counts)
    assert (located.block_of[place] == blocks).all()
    assert (located.outcome().kept[place] == kept).all()
    for (_, _, climbed), own_levels in zip(located.outcome().climbs(), levels.T, strict=True):
        assert (climbed[place] == own_levels).all()  # the root, if it is left out


def check_levels(table: sd.Table, recoding: Recoding) -> None:
    """Levels are the lowest at which all members agree; blocks are numbered from 0 and none is empty."""
    problem = recoding.problem
    assert recoding.block_of.min() >= -1
    assert set(recoding.block_of.tolist()) - {-1} == set(range(len(recoding.levels)))
    assert recoding.levels.tolist() == plain_levels(problem, recoding.block_of)
    sizes = Counter(by_row.block_of(table, recoding).tolist())
    assert recoding.block_sizes().tolist() == [sizes[b] for b in range(len(recoding.levels))]


def check_distortion(table: sd.Table, recoding: Recoding) -> None:
    """Cell by cell: the share of its hierarchy that it climbed, times the attribute's share of the weights."""
    names = recoding.problem.names
    weights = [table.schema[name].weight for name in names]
    total = 0.0
    rows = zip(by_row.block_of(table, recoding), by_row.levels_of(table, recoding).tolist(), strict=True)
    for block, levels in rows:
        for level, weight, hierarchy in zip(levels, weights, recoding.problem.hierarchies, strict=True):
            total += (level / hierarchy.height if block >= 0 else 1) * weight / sum(weights)
    assert recoding.distortion() == pytest.approx(total / len(table), abs=1e-12)


def check_plan(table: sd.Table, recoding: Recoding) -> None:
    """The plan is plain data, that is read again as what it was, and its blocks are those that were learned."""
    plan = recoding.plan([sd.KAnonymity(1)])
    again = TuplePlan.read(json.loads(json.dumps(plan.to_json())), plan.tables())
    blocks, names = by_row.block_of(table, recoding), recoding.problem.names
    for one in (plan, again):
        assert list(one.trees) == names
        listed = [
            (*codes, block) for codes, block in zip(one.tuples.tolist(), one.block_of.tolist(), strict=True)
        ]
        assert len(set(listed)) == len(listed)
        located = one.locate(table)
        assert (located.block_of[by_row.tuple_of(table, located.counts)] == blocks).all()
        assert located.levels.tolist() == recoding.levels.tolist()
        for b, levels in enumerate(one.levels.tolist()):
            inside = one.tuples[one.block_of == b]
            for a, tree in enumerate(one.trees.values()):
                assert len({tree.rows()[leaf][levels[a]] for leaf in inside[:, a]}) == 1


# -- twins of the kernels --------------------------------------------------------------------------


def partition(block_of: Iterable[int]) -> tuple[Partition, frozenset[int]]:
    """The blocks as sets of units, whatever their numbers, and what is left over."""
    members: dict[int, set[int]] = {}
    for u, b in enumerate(block_of):
        members.setdefault(int(b) if b >= 0 else -1, set()).add(u)
    left = frozenset(members.pop(-1, ()))
    return {frozenset(block) for block in members.values()}, left


def plain_levels(problem: Problem, block_of: Iterable[int]) -> list[list[int]]:
    """The lowest level at which the members of a block agree, from all pairs with the first."""
    units = problem.units
    blocks: dict[int, list[int]] = {}
    for u, b in enumerate(block_of):
        if b >= 0:
            blocks.setdefault(int(b), []).append(u)
    return [
        [
            int(h.meet(units[blocks[b], a], units[blocks[b][0], a]).max())
            for a, h in enumerate(problem.hierarchies)
        ]
        for b in sorted(blocks)
    ]


def histogram_of(problem: Problem, units: Iterable[int]) -> Counter[int]:
    histogram: Counter[int] = Counter()
    for u in units:
        histogram[int(problem.sensitive[u])] += int(problem.weights[u])
    return histogram


class Costs:
    """What blocks of units cost and whether they meet the rule, remembered."""

    def __init__(self, problem: Problem, rule: Rule) -> None:
        self.problem, self.step = problem, problem.trees.step.tolist()
        # What each pair of units must climb to meet, attribute by attribute.
        climbs = [
            (step * h.meet(units[:, None], units)).tolist()
            for step, h, units in zip(self.step, problem.hierarchies, problem.units.T, strict=True)
        ]

        @cache
        def meets(units: frozenset[int]) -> bool:
            return rule(histogram_of(problem, units))

        @cache
        def cost(units: frozenset[int]) -> float:
            """The cost of one record, times how many there are."""
            if not units:
                return 0.0
            first = min(units)
            climbed = sum(max(climb[first][u] for u in units) for climb in climbs)
            return climbed * int(problem.weights[list(units)].sum())

        self.meets, self.cost = meets, cost


def plain_mondrian(
    problem: Problem, rule: Rule, strict: bool, start: Sequence[tuple[list[int], Sequence[int]]] | None = None
) -> Partition:
    """Cut along the hierarchies, each time where the distortion falls most, as the docstrings say.

    `start` are the blocks to cut, with the level that each attribute stands at: by default the whole table.
    """
    done: Partition = set()

    def size(units: Sequence[int]) -> int:
        return int(problem.weights[list(units)].sum())

    def cut(units: list[int], a: int, level: int) -> tuple[list[list[int]], list[int]]:
        """The children that become parts, and what stays together under the parent."""
        children: dict[int, list[int]] = {}
        for u in units:
            children.setdefault(int(problem.hierarchies[a].codes[level - 1, problem.units[u, a]]), []).append(
                u
            )
        parts = [child for child in children.values() if rule(histogram_of(problem, child))]
        failing = [u for child in children.values() for u in child if child not in parts]
        if failing and strict:
            return [], units
        staying = set(failing)
        while staying and not rule(histogram_of(problem, staying)):
            if not parts:
                return [], units
            smallest = min(parts, key=size)  # the first of the smallest
            parts.remove(smallest)
            staying |= set(smallest)
        return parts, [u for u in units if u in staying]

    def go(units: list[int], levels: dict[int, int]) -> None:
        best, gain = None, 0.0
        for a, level in levels.items():
            parts, _ = cut(units, a, level) if level > 0 else ([], units)
            falling = sum(size(part) for part in parts) * float(problem.trees.step[a])
            if falling > gain:
                best, gain = a, falling
        if best is None:
            done.add(frozenset(units))
            return
        parts, staying = cut(units, best, levels[best])
        for part in parts:
            go(part, {**levels, best: levels[best] - 1})
        if staying:
            go(staying, {a: level for a, level in levels.items() if a != best})

    whole = (list(range(len(problem.units))), [h.height for h in problem.hierarchies])
    for units, levels in start or [whole]:
        go(units, dict(enumerate(levels)))
    return done


def plain_sweep(
    problem: Problem, rule: Rule, choices: Iterable[Sequence[int]]
) -> tuple[Partition, frozenset[int]]:
    """At every choice of levels, groups that meet the rule become blocks."""
    left, blocks = list(range(len(problem.units))), set()
    for levels in choices:
        groups: dict[tuple[int, ...], list[int]] = {}
        for u in left:
            key = tuple(
                int(h.codes[level, problem.units[u, a]])
                for a, (h, level) in enumerate(zip(problem.hierarchies, levels, strict=True))
            )
            groups.setdefault(key, []).append(u)
        holding = [frozenset(group) for group in groups.values() if rule(histogram_of(problem, group))]
        blocks |= set(holding)
        left = [u for u in left if not any(u in block for block in holding)]
    return blocks, frozenset(left)


def plain_nearest(problem: Problem, by_value: bool) -> list[float]:
    """The distance of every unit to its nearest other one, over all pairs."""
    m, step = len(problem.units), problem.trees.step
    return [
        min(
            (
                sum(
                    float(h.meet(x, y)) * step[a]
                    for a, (h, x, y) in enumerate(
                        zip(problem.hierarchies, problem.units[i], problem.units[j], strict=True)
                    )
                )
                for j in range(m)
                if j != i and not (by_value and problem.sensitive[i] == problem.sensitive[j])
            ),
            default=math.inf,
        )
        for i in range(m)
    ]


def least_cost(costs: Costs, m: int) -> float:
    """The least cost of any division of m units into blocks that meet the rule: all of them are tried.

    The first unit that has no block yet gets one, with every subset of the other such units.
    """

    @cache
    def least(left: frozenset[int]) -> float:
        if not left:
            return 0.0
        first, *others = sorted(left)
        best = math.inf
        for chosen in range(2 ** len(others)):
            block = frozenset([first, *(u for i, u in enumerate(others) if chosen >> i & 1)])
            if costs.meets(block):
                best = min(best, costs.cost(block) + least(left - block))
        return best

    return least(frozenset(range(m)))
