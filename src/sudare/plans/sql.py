"""A plan of generalization in SQL: relations that look rows up, and queries that label them, each row as if it were alone.

Values are looked up in a relation of leaves for each attribute, which says under which nodes they are. Nodes have numbers; what is published
of one stands in a relation of labels, with a number of its own. So nothing that a row had itself is published of an attribute that
the plan is about, and blocks are told apart by numbers, whatever a database takes for equal texts. A row without a leaf, or of no block, is in
none of what comes out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sudare.errors import InputError, ParameterError
from sudare.plans.cuts import REST, CutPlan
from sudare.plans.levels import LevelsPlan
from sudare.plans.one_by_one import RowPlan, columns_of
from sudare.plans.sql_dialects import Dialect, Kind
from sudare.plans.sql_lists import TEXT, Listed, compared, in_order
from sudare.plans.tuples import TuplePlan
from sudare.tables.hierarchy import Hierarchy
from sudare.tables.schema import Schema
from sudare.tables.text import spelled

SOURCE, MATCHED, FOUND, LABELLED = "sudare_source", "sudare_matched", "sudare_found", "sudare_labelled"
FILLED = "sudare_filled"
MAX_DEPTH = 60
"""Of cuts inside each other."""
MAX_KEY = 2**62
Nodes = NDArray[np.int64]


@dataclass(frozen=True)
class Lookup:
    """What a statement lists, and the queries that turn the source into what is published, the last of which is LABELLED."""

    lists: list[Listed]
    queries: Mapping[str, str]


def lookup_of(plan: RowPlan, schema: Schema, stored: Mapping[str, str], dialect: Dialect) -> Lookup:
    """Return what labels the rows of the relation SOURCE, whose columns have the names in `stored`.

    LABELLED has the same columns, and for each that the plan is about the number of what is published (`number_of`).
    """
    made = _Made(plan, schema, stored, dialect)
    if isinstance(plan, TuplePlan):
        found = _of_tuples(plan, made)
    elif isinstance(plan, LevelsPlan):
        found = _of_levels(plan, made)
    else:
        found = _of_cuts(plan, made)
    labelled = made.labelled()
    return Lookup(made.lists, {MATCHED: made.matched(), FOUND: found, LABELLED: labelled})


def number_of(stored: str) -> str:
    """Return the column that has the number of what is published, which follows its order."""
    return f"{stored}_number"


@dataclass
class _Made:
    """What is made of a plan, while it is made."""

    plan: RowPlan
    schema: Schema
    stored: Mapping[str, str]
    dialect: Dialect
    lists: list[Listed] = field(default_factory=list)
    shown: dict[str, dict[str, NDArray[np.int64]]] = field(default_factory=dict)
    """Of each column that rows are looked up by: the columns that tell of its leaves, and what they have of each."""
    published: dict[str, Nodes] = field(default_factory=dict)
    """Of each attribute, the nodes that are published."""

    def __post_init__(self) -> None:
        self.columns = columns_of(self.plan)
        self.shown = {own: {} for own in self.columns}
        self.climbing = {own for at, own in enumerate(self.plan.trees) if self._climbs(at, own)}

    def _climbs(self, at: int, attribute: str) -> bool:
        levels = self.plan.levels
        return bool(levels[attribute] if isinstance(levels, Mapping) else levels[:, at].any())

    def leaf(self, attribute: str) -> str:
        """Return the column of a row that has its leaf."""
        at = self.columns.index(attribute)
        self.shown[attribute][f"leaf_{at}"] = np.arange(len(self.texts(attribute)))
        return f"leaf_{at}"

    def node(self, attribute: str, level: int) -> str:
        """Return the column of a row that has its node on a level."""
        at, tree = self.columns.index(attribute), self.plan.trees[attribute]
        name = f"node_{at}_{level}"
        if name not in self.shown[attribute]:
            self.shown[attribute][name] = numbered(tree, level, tree.codes[level])
        return name

    def texts(self, attribute: str) -> Sequence[str | None]:
        tree = self.plan.trees.get(attribute)
        return tree.leaves if tree is not None else self.plan.sensitive_values  # type: ignore[union-attr]

    def matched(self) -> str:
        """Return the query that looks the values of every row up, once it is known what is asked of them."""
        asked, joins = [], []
        kept = [f"s.{own}" for one, own in self.stored.items() if one not in self.plan.trees]
        for at, attribute in enumerate(self.columns):
            texts, of, here = self.texts(attribute), f"s.{self.stored[attribute]}", f"leaves_{at}"
            known = [code for code, own in enumerate(texts) if own is not None]
            values, kind = compared(attribute, self.schema[attribute], [texts[code] or "" for code in known])
            numbers = {name: codes[known].tolist() for name, codes in self.shown[attribute].items()}
            self.lists.append(Listed(here, numbers, values, kind))
            joins.append(f"LEFT JOIN {here} ON {self.dialect.equal(of, f'{here}.{TEXT}', kind)}")
            for name, codes in self.shown[attribute].items():
                found = f"{here}.{name}"
                if None in texts:
                    missing = int(codes[list(texts).index(None)])
                    found = f"CASE WHEN {of} IS NULL THEN {missing} ELSE {found} END"
                asked.append(f"{found} AS {name}")
        return f"SELECT {', '.join(kept + asked)} FROM {SOURCE} AS s\n" + "\n".join(joins)

    def labelled(self) -> str:
        """Return the query that replaces the nodes of what was found by their labels."""
        chosen, joins = [], []
        for one, own in self.stored.items():
            if one not in self.plan.trees:
                chosen.append(f"f.{own}")
                continue
            at = self.columns.index(one)
            self.lists.append(self._labels(one, self.published[one]))
            chosen += [f"labels_{at}.{TEXT} AS {own}", f"labels_{at}.place AS {number_of(own)}"]
            joins.append(f"JOIN labels_{at} ON labels_{at}.node = f.published_{at}")
        return f"SELECT {', '.join(chosen)} FROM {FOUND} AS f\n" + "\n".join(joins)

    def _labels(self, attribute: str, published: Nodes) -> Listed:
        """List the labels of nodes; an attribute that never climbs keeps its type, and equal labels have one number."""
        tree, nodes = self.plan.trees[attribute], np.unique(published)
        every = [label for level in tree.labels for label in level]
        texts: list[str | None] = [every[node] for node in nodes.tolist()]
        kind: Kind = "text"
        if attribute not in self.climbing:
            known = [own for own in texts if own is not None]
            values, kind = compared(attribute, self.schema[attribute], known)
            written = dict(zip(known, values, strict=True))
            texts = [own if own is None else written[own] for own in texts]
        order = [*in_order({own for own in texts if own is not None}, kind), None]
        place = {own: at for at, own in enumerate(order)}
        numbers = {"node": nodes.tolist(), "place": [place[own] for own in texts]}
        return Listed(f"labels_{self.columns.index(attribute)}", numbers, texts, kind)

    def keyed(
        self,
        name: str,
        columns: Sequence[str],
        sizes: Sequence[int],
        rows: NDArray[np.integer[Any]],
        **more: Nodes,
    ) -> str:
        """List rows of numbers below `sizes`, as few numbers; return what finds those of the columns of a row."""
        keys: dict[str, Nodes] = {}
        conditions = []
        start = 0
        while start < len(columns):
            end, product = start + 1, sizes[start]
            while end < len(columns) and product * sizes[end] < MAX_KEY:
                product, end = product * sizes[end], end + 1
            key, words = rows[:, start].astype(np.int64), self.dialect.cast(f"m.{columns[start]}", "integer")
            for at in range(start + 1, end):
                key = key * sizes[at] + rows[:, at]
                words = f"({words} * {sizes[at]} + m.{columns[at]})"
            keys[f"key_{len(keys)}"] = key
            conditions.append(f"{name}.key_{len(keys) - 1} = {words}")
            start = end
        if len(rows) and np.unique(np.stack(list(keys.values())), axis=1).shape[1] < len(rows):
            raise InputError("The plan lists the same values twice: its file was changed.")
        self.lists.append(Listed(name, {of: own.tolist() for of, own in (keys | more).items()}))
        return " AND ".join(conditions)


def numbered(tree: Hierarchy, level: int, codes: NDArray[np.integer[Any]]) -> Nodes:
    """Return the numbers of nodes of a level, which no node of another level has."""
    return np.asarray(codes, dtype=np.int64) + sum(len(names) for names in tree.labels[:level])


def _list_blocks(made: _Made, levels: NDArray[np.int16], leaves: NDArray[np.int32]) -> str:
    """List what each block is published as: its levels, and a leaf of it for each attribute. Return the columns that have it."""
    nodes = {}
    for at, (own, tree) in enumerate(made.plan.trees.items()):
        nodes[f"published_{at}"] = made.published[own] = _climbed(tree, levels[:, at], leaves[:, at])
    blocks = {"block": list(range(len(levels)))} | {of: own.tolist() for of, own in nodes.items()}
    made.lists.append(Listed("blocks", blocks))
    return ", ".join(f"blocks.{of}" for of in nodes)


def _climbed(tree: Hierarchy, levels: NDArray[np.int16], leaves: NDArray[np.int32]) -> Nodes:
    start = np.cumsum([0, *(len(names) for names in tree.labels)])
    return np.asarray(start[levels] + tree.codes[levels, leaves], dtype=np.int64)


# -- Tuples -------------------------------------------------------------------------------------------


def _of_tuples(plan: TuplePlan, made: _Made) -> str:
    """Look a row up by all its leaves."""
    columns = [made.leaf(own) for own in made.columns]
    sizes = [len(made.texts(own)) for own in made.columns]
    on = made.keyed("tuples", columns, sizes, plan.tuples, block=np.asarray(plan.block_of))
    first = np.zeros(len(plan.levels), dtype=np.int64)
    first[plan.block_of] = np.arange(len(plan.tuples))
    shown = _list_blocks(made, plan.levels, plan.tuples[first, : len(plan.trees)])
    return f"SELECT m.*, {shown} FROM {MATCHED} AS m\nJOIN tuples ON {on}\nJOIN blocks ON blocks.block = tuples.block"


# -- Levels -------------------------------------------------------------------------------------------


def _of_levels(plan: LevelsPlan, made: _Made) -> str:
    """Look a row up by its nodes on the levels; those who were left out then stay left out."""
    columns = [made.node(own, level) for own, level in plan.levels.items()]
    nodes = np.stack(
        [
            numbered(plan.trees[own], level, plan.groups[:, at])
            for at, (own, level) in enumerate(plan.levels.items())
        ],
        axis=1,
    )
    made.published |= {own: nodes[:, at] for at, own in enumerate(plan.trees)}
    sizes = [sum(map(len, tree.labels)) for tree in plan.trees.values()]
    on = made.keyed("published_groups", columns, sizes, nodes)
    shown = ", ".join(f"m.{column} AS published_{at}" for at, column in enumerate(columns))
    found = f"SELECT m.*, {shown} FROM {MATCHED} AS m\nJOIN published_groups ON {on}"
    if never := list(_left_out(plan)):
        leaves = [made.leaf(own) for own in plan.trees]
        own = made.keyed(
            "left_out", leaves, [len(tree.leaves) for tree in plan.trees.values()], np.array(never)
        )
        found += f"\nLEFT JOIN left_out ON {own}\nWHERE left_out.key_0 IS NULL"
    return found


def _left_out(plan: LevelsPlan) -> Iterator[tuple[int, ...]]:
    """Return the leaves of those who were left out; who has a value that is no leaf is not covered anyway."""
    leaves = [_by_meaning(tree.leaves) for tree in plan.trees.values()]
    seen = set()
    for texts in plan.left_out.select(list(plan.trees)).rows():
        places = tuple(own.get(_meaning(one), -1) for own, one in zip(leaves, texts, strict=True))
        if -1 not in places and places not in seen:
            seen.add(places)
            yield places


def _by_meaning(leaves: Sequence[str | None]) -> dict[str | None, int]:
    return {_meaning(leaf): code for code, leaf in enumerate(leaves)}


def _meaning(one: str | None) -> str | None:
    """Return one text for 30 and 30.0: types may be others once some rows are left out."""
    try:
        return None if one is None else spelled(float(one))
    except ValueError:
        return one


# -- Cuts ---------------------------------------------------------------------------------------------


def _of_cuts(plan: CutPlan, made: _Made) -> str:
    """Follow a row from cut to cut, and see whether it lies under what its block is published as."""
    shown = _list_blocks(made, plan.levels, plan.corners)
    under = []
    for at, own in enumerate(plan.trees):
        nodes = [f"m.{made.node(own, level)}" for level in np.unique(plan.levels[:, at]).tolist()]
        under.append(f"blocks.published_{at} IN ({', '.join(nodes)})")
    children: dict[int, list[tuple[int, int]]] = {}
    for part, node, becomes in plan.branches.tolist():
        children.setdefault(part, []).append((node, becomes))
    routed = "".join(_routed(plan, made, children, 0, 0))
    return (
        f"SELECT m.*, {shown} FROM {MATCHED} AS m\nJOIN blocks ON blocks.block = {routed}\nAND "
        + " AND ".join(under)
    )


def _routed(
    plan: CutPlan, made: _Made, children: Mapping[int, list[tuple[int, int]]], part: int, depth: int
) -> Iterator[str]:
    """Return, in pieces, the words for the block that a row comes to from a part on."""
    if depth > MAX_DEPTH:
        raise ParameterError(
            f"The plan has more than {MAX_DEPTH} cuts inside each other, too many for one statement. Apply it with sd.apply(...)."
        )
    if plan.block[part] >= 0:
        yield str(plan.block[part])
        return
    name, level = list(plan.trees)[plan.attribute[part]], int(plan.level[part])
    yield f"CASE m.{made.node(name, level)}"
    rest = None
    for node, becomes in children.get(part, []):
        if node == REST:
            rest = becomes
            continue
        yield f"\nWHEN {numbered(plan.trees[name], level, np.array(node))} THEN "
        yield from _routed(plan, made, children, becomes, depth + 1)
    if rest is not None:
        yield " ELSE "
        yield from _routed(plan, made, children, rest, depth + 1)
    yield " END"
