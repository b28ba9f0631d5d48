"""A plan of generalization in SQL: relations that look rows up, and a query that labels them, each row as if it were alone.

Values are looked up in a relation of leaves for each attribute, which also has the nodes above them. What a block is published as stands in a
relation of blocks. A row without a leaf, or of no block, is in none of what comes out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sqlglot import exp

from sudare.errors import ParameterError
from sudare.plans.cuts import REST, CutPlan
from sudare.plans.levels import LevelsPlan
from sudare.plans.one_by_one import RowPlan, columns_of
from sudare.plans.sql_words import Word, column, compared, every, name, query, relation, table, word
from sudare.plans.tuples import TuplePlan
from sudare.tables.hierarchy import Hierarchy
from sudare.tables.schema import Schema
from sudare.tables.text import spelled

SOURCE, MATCHED, BLOCKS, LEFT_OUT = "sudare_source", "sudare_matched", "sudare_blocks", "sudare_left_out"
MAX_LISTED = 200_000
"""Rows of all relations of one statement."""
MAX_DEPTH = 60
"""Of cuts inside each other."""


@dataclass(frozen=True)
class Lookup:
    """The relations that place rows, and what they have."""

    parts: list[exp.CTE]
    placed: exp.Select
    """Selects nothing yet, from what has all columns of the source and, where it is covered, the labels of a row."""
    labels: Mapping[str, Word]
    """Of the attributes that climb: what is published instead of them."""


def lookup(plan: RowPlan, schema: Schema, stored: Mapping[str, str]) -> Lookup:
    """Return what places the rows of the relation `source`, whose columns have the names in `stored`."""
    matching = _Matching(plan, schema, stored)
    if isinstance(plan, TuplePlan):
        return matching.finished(*_of_tuples(plan))
    if isinstance(plan, LevelsPlan):
        return matching.finished(*_of_levels(plan, matching))
    return matching.finished(*_of_cuts(plan, matching))


Rows = list[list[str | int | None]]


@dataclass(frozen=True)
class _Blocks:
    """What is looked up last: columns that rows are compared with, and the labels of a block."""

    keys: Sequence[Word | None]
    """Of a row: what each of the first columns must be, but for those that only say more of the block."""
    rows: Rows
    climbing: Sequence[str]
    """Whose labels the last columns are."""


class _Matching:
    """The leaves of every column that rows are looked up by."""

    def __init__(self, plan: RowPlan, schema: Schema, stored: Mapping[str, str]) -> None:
        self.plan, self.schema, self.stored = plan, schema, stored
        self.levels: dict[str, set[int]] = {attribute: set() for attribute in plan.trees}
        self.columns = columns_of(plan)

    def leaf(self, attribute: str) -> Word:
        """Return the leaf of a row."""
        return column(f"leaf_{self.columns.index(attribute)}", MATCHED)

    def node(self, attribute: str, level: int) -> Word:
        """Return the node of a row on a level."""
        self.levels[attribute].add(level)
        return column(f"node_{self.columns.index(attribute)}_{level}", MATCHED)

    def finished(self, blocks: _Blocks, never: Rows = [], block: Word | None = None) -> Lookup:  # noqa: B006
        """Put all relations together."""
        parts, joined = [], exp.select("*").from_(table(SOURCE))
        shown: list[Word] = [exp.Column(this=exp.Star(), table=name(SOURCE))]
        for at, attribute in enumerate(self.columns):
            part, condition, own = self._leaves(at, attribute)
            parts.append(part)
            joined = joined.join(table(part.alias), on=condition, join_type="left", copy=False)
            shown += own
        parts.append(query(MATCHED, joined.select(*shown, append=False, copy=False)))
        leaves_listed = sum(tree.codes.shape[1] for tree in self.plan.trees.values())
        if leaves_listed + len(blocks.rows) + len(never) > MAX_LISTED:
            raise ParameterError(
                f"The plan has more than {MAX_LISTED:,} values and blocks, too many for one statement. Apply it with sd.apply(...), "
                'on the engine "duckdb" or "spark" if the table is large.'
            )
        width = len(blocks.keys)
        names = [*(f"key_{i}" for i in range(width)), *(f"label_{i}" for i in range(len(blocks.climbing)))]
        parts.append(relation(BLOCKS, names, [[word(own) for own in row] for row in blocks.rows]))
        on = every(
            [_equal(key, column(f"key_{i}", BLOCKS)) for i, key in enumerate(blocks.keys) if key is not None]
        )
        placed = exp.select().from_(table(MATCHED)).join(table(BLOCKS), on=on, copy=False)
        if never:
            leaves = [f"leaf_{i}" for i in range(len(self.plan.trees))]
            parts.append(relation(LEFT_OUT, leaves, [[word(own) for own in row] for row in never]))
            out = every(
                [
                    _equal(self.leaf(own), column(f"leaf_{i}", LEFT_OUT))
                    for i, own in enumerate(self.plan.trees)
                ]
            )
            placed = placed.join(table(LEFT_OUT), on=out, join_type="left", copy=False).where(
                exp.Is(this=column("leaf_0", LEFT_OUT), expression=exp.null()), copy=False
            )
        labels = {own: column(f"label_{i}", BLOCKS) for i, own in enumerate(blocks.climbing)}
        return Lookup(parts, placed, labels)

    def _leaves(self, at: int, attribute: str) -> tuple[exp.CTE, Word, list[Word]]:
        """Return the leaves of a column as a relation, when a row has one, and what is then known of the row."""
        tree = self.plan.trees.get(attribute)
        texts = tree.leaves if tree is not None else self.plan.sensitive_values  # type: ignore[union-attr]
        known = [code for code, own in enumerate(texts) if own is not None]
        value = column(self.stored[attribute], SOURCE)
        values, seen = compared(
            attribute, self.schema[attribute], [texts[code] or "" for code in known], value
        )
        levels = sorted(self.levels.get(attribute, ()))
        of = {f"leaf_{at}": np.arange(len(texts))}
        of |= {f"node_{at}_{level}": tree.codes[level] for level in levels if tree is not None}
        rows = [
            [own, *(word(int(codes[code])) for codes in of.values())]
            for code, own in zip(known, values, strict=True)
        ]
        rows = rows or [[exp.cast(exp.null(), "text"), *(word(-1) for _ in of)]]
        here = f"sudare_leaves_{at}"
        shown: list[Word] = []
        for own, codes in of.items():
            found: Word = column(own, here)
            if None in texts:
                missing = word(int(codes[list(texts).index(None)]))
                found = (
                    exp.Case().when(exp.Is(this=value.copy(), expression=exp.null()), missing).else_(found)
                )
            shown.append(exp.alias_(found, own, quoted=True))
        return relation(here, ["value", *of], rows), _equal(seen, column("value", here)), shown


def _equal(one: Word, other: Word) -> Word:
    return exp.EQ(this=one, expression=other)


def _climbing(names: Sequence[str], levels: NDArray[np.int16]) -> list[str]:
    """Return the attributes of which some block climbs; the others stay what they are."""
    return [own for own, climbs in zip(names, np.asarray(levels.any(axis=0)).tolist(), strict=True) if climbs]


def _label(tree: Hierarchy, level: int, leaf: int) -> str | None:
    return tree.labels[level][int(tree.codes[level, leaf])]


# -- Tuples -------------------------------------------------------------------------------------------


def _of_tuples(plan: TuplePlan) -> tuple[_Blocks]:
    """Look a row up by all its leaves."""
    climbing = _climbing(list(plan.trees), plan.levels)
    rows: Rows = []
    for leaves, block in zip(plan.tuples.tolist(), plan.block_of.tolist(), strict=True):
        labels = [
            _label(tree, plan.levels[block, a], leaves[a])
            for a, (own, tree) in enumerate(plan.trees.items())
            if own in climbing
        ]
        rows.append([*leaves, *labels])
    keys = [column(f"leaf_{i}", MATCHED) for i in range(plan.tuples.shape[1])]
    return (_Blocks(keys, rows, climbing),)


# -- Levels -------------------------------------------------------------------------------------------


def _of_levels(plan: LevelsPlan, matching: _Matching) -> tuple[_Blocks, Rows]:
    """Look a row up by its nodes on the levels; those who were left out then stay left out."""
    climbing = [own for own, level in plan.levels.items() if level]
    rows: Rows = []
    for group in plan.groups.tolist():
        labels = [
            plan.trees[own].labels[plan.levels[own]][group[a]]
            for a, own in enumerate(plan.trees)
            if own in climbing
        ]
        rows.append([*group, *labels])
    keys = [matching.node(own, level) for own, level in plan.levels.items()]
    return _Blocks(keys, rows, climbing), list(_left_out(plan))


def _left_out(plan: LevelsPlan) -> Iterator[list[str | int | None]]:
    """Return the leaves of those who were left out; who has a value that is no leaf is not covered anyway."""
    leaves = [_by_meaning(tree.leaves) for tree in plan.trees.values()]
    seen = set()
    for texts in plan.left_out.select(list(plan.trees)).rows():
        places = tuple(own.get(_meaning(one)) for own, one in zip(leaves, texts, strict=True))
        if None not in places and places not in seen:
            seen.add(places)
            yield list(places)


def _by_meaning(leaves: Sequence[str | None]) -> dict[str | None, int]:
    return {_meaning(leaf): code for code, leaf in enumerate(leaves)}


def _meaning(one: str | None) -> str | None:
    """Return one text for 30 and 30.0: types may be others once some rows are left out."""
    try:
        return None if one is None else spelled(float(one))
    except ValueError:
        return one


# -- Cuts ---------------------------------------------------------------------------------------------


def _of_cuts(plan: CutPlan, matching: _Matching) -> tuple[_Blocks]:
    """Follow a row from cut to cut, and see whether it lies under what its block is published as."""
    names = list(plan.trees)
    climbing = _climbing(names, plan.levels)
    rows: Rows = []
    for block, (levels, corner) in enumerate(zip(plan.levels.tolist(), plan.corners.tolist(), strict=True)):
        nodes = [int(plan.trees[own].codes[levels[a], corner[a]]) for a, own in enumerate(names)]
        labels = [
            _label(plan.trees[own], levels[a], corner[a]) for a, own in enumerate(names) if own in climbing
        ]
        rows.append([block, *levels, *nodes, *labels])
    children: dict[int, list[tuple[int, int]]] = {}
    for part, node, becomes in plan.branches.tolist():
        children.setdefault(part, []).append((node, becomes))
    keys: list[Word | None] = [_routed(plan, matching, children, 0, 0), *(None for _ in names)]
    for a, own in enumerate(names):
        on_its_level = exp.Case(this=column(f"key_{1 + a}", BLOCKS))
        for level in sorted(set(plan.levels[:, a].tolist())):
            on_its_level = on_its_level.when(word(level), matching.node(own, level), copy=False)
        keys.append(on_its_level)
    return (_Blocks(keys, rows, climbing),)


def _routed(
    plan: CutPlan, matching: _Matching, children: Mapping[int, list[tuple[int, int]]], part: int, depth: int
) -> Word:
    """Return the block that a row comes to from a part on."""
    if depth > MAX_DEPTH:
        raise ParameterError(
            f"The plan has more than {MAX_DEPTH} cuts inside each other, too many for one statement. Apply it with sd.apply(...)."
        )
    if plan.block[part] >= 0:
        return word(int(plan.block[part]))
    node = matching.node(list(plan.trees)[plan.attribute[part]], int(plan.level[part]))
    choice = exp.Case(this=node)
    for own, becomes in children.get(part, []):
        then = _routed(plan, matching, children, becomes, depth + 1)
        choice = choice.else_(then, copy=False) if own == REST else choice.when(word(own), then, copy=False)
    return choice
