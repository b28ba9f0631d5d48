"""What is published in several views, read back from the labels alone; and small random tables for it."""

from __future__ import annotations

import datetime as dt
import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise, product
from random import Random
from typing import Any

import polars as pl

import sudare as sd
from sudare.generalization._views import WEIGHT_OF_EVEN
from sudare.generalization.views import CANDIDATES, CutViews
from sudare.generalization.views_problem import ViewsProblem
from sudare.privacy.multi_view import MultiViewDiversity
from sudare.tables.dictionary import Dictionary
from sudare.tables.published import as_published
from sudare.tables.text import text_of
from tests import by_row
from tests.generalization.cases import random_column
from tests.privacy.plain_views import Persons

Views = dict[str, list[str]]
Tuple = tuple[Any, ...]
Cut = tuple[int, int, int]

KINDS = ("tree", "text", "mask", "number", "fraction", "intervals", "date", "calendar", "parity", "domain")
NAMES = (
    "plain",
    "a, b",
    "{",
    "}",
    '"',
    "*",
    "(missing)",
    " ",
    "[1, 2]",
    "\\",
)  # categories that look like labels


# -- reading labels --------------------------------------------------------------------------------


def covers(label: str | None, value: Any, column: Dictionary) -> bool:
    """Tell whether a label leaves a value open: its own text, a node above it, a range or a list that it is in."""
    if value is None and label is None:
        return True
    path = path_of(value, column)
    if label in path:
        return True
    if label is None:
        return False
    if label.startswith("{") and label.endswith("}"):
        return any(covers(part, value, column) for part in parts(label))
    ends = re.fullmatch(r"\[(.+), (.+)\]", label)
    if ends is None or value is None or isinstance(value, str | bool):
        return False
    low, high = (read(end, value) for end in ends.groups())
    return bool(low <= value <= high)


def path_of(value: Any, column: Dictionary) -> list[str | None]:
    """A value's own text, and the nodes above it."""
    own = None if value is None else text_of(value)
    if column.hierarchy is None:
        return [own, "*"]
    code = len(column.values) if value is None else column.values.to_list().index(value)
    return [own, *column.hierarchy.rows()[code][1:]]


def parts(label: str) -> Iterator[str | None]:
    """The values of a list; those that could be misread are in quotes."""
    at, end = 1, len(label) - 1
    while at < end:
        if label[at] == '"':
            part, at = json.JSONDecoder().raw_decode(label, at)
            yield part
        else:
            start, at = at, label.index(", ", at) if ", " in label[at:end] else end
            yield None if label[start:at] == "(missing)" else label[start:at]
        at += 2


def read(text: str, like: Any) -> Any:
    return dt.date.fromisoformat(text) if isinstance(like, dt.date) else type(like)(text)


def texts(frame: pl.DataFrame, names: Sequence[str]) -> list[Tuple]:
    """The published text of every row."""
    return [
        tuple(None if value is None else text_of(value) for value in row)
        for row in frame.select(names).iter_rows()
    ]


def check_labels(table: sd.Table, frames: Mapping[str, pl.DataFrame], views: Views) -> None:
    """All rows are there with their sensitive value, and every label leaves the row's own value open."""
    original = table.frame()
    assert list(frames) == list(views)
    for view, frame in frames.items():
        assert frame.columns == [*views[view], "illness"]
        assert frame["illness"].equals(original["illness"])
        for name in views[view]:
            for (label,), value in zip(texts(frame, [name]), original[name].to_list(), strict=True):
                assert covers(label, value, table[name]), f"{name}: {label!r} does not cover {value!r}"


def published(frames: Mapping[str, pl.DataFrame], views: Views) -> Persons:
    """The rows as an attacker sees them: the published values of every view are the block."""
    first = next(iter(frames.values()))
    blocks = [texts(frame, views[view]) for view, frame in frames.items()]
    return Persons(blocks, first["illness"].to_list(), [1] * first.height)


def partition(blocks: Sequence[Any]) -> set[frozenset[int]]:
    """The rows of every block."""
    rows_of: dict[Any, set[int]] = {}
    for row, block in enumerate(blocks):
        rows_of.setdefault(block, set()).add(row)
    return {frozenset(rows) for rows in rows_of.values()}


def frames_of(table: sd.Table, views: CutViews) -> dict[str, pl.DataFrame]:
    """What every view publishes for each row, in the order of the rows: the engine publishes the same, in its own order."""
    located = views.plan(MultiViewDiversity(1)).locate(table)
    assert located.covered.all()
    blocks = located.block_of[by_row.tuple_of(table, located.counts)]
    original, frames = table.frame(), {}
    for at, (view, rewriting) in enumerate(zip(located.views, located.rewritings.values(), strict=True)):
        columns = [
            pl.Series(name, [labels[block] for block in blocks[:, at]], dtype=pl.String)
            if view.covered[:, a].any()
            else original[name]
            for a, (name, labels) in enumerate(zip(view.attributes, view.labels, strict=True))
        ]
        frames[view.name] = pl.DataFrame([*columns, original[located.sensitive]])
        assert table.rows.rewrite(rewriting).frame().equals(as_published(frames[view.name]))
    return frames


def person_of(table: sd.Table, problem: ViewsProblem) -> list[int]:
    """Which person each row is like."""
    return problem.unit_of[by_row.tuple_of(table, problem.counts)].tolist()


def view_partitions(table: sd.Table, views: CutViews) -> list[set[frozenset[int]]]:
    """The rows of every block of every view."""
    rows = person_of(table, views.problem)
    return [partition(cut.block_of[rows].tolist()) for cut in views.views]


def described(views: CutViews) -> dict[str, dict[Tuple, int]]:
    """What each block of every view is published as, and how many records it has."""
    sizes_by_label = {}
    for cut in views.views:
        sizes = cut.sizes(views.problem.people.weights).tolist()
        sizes_by_label[cut.view.name] = dict(zip(zip(*cut.view.labels, strict=True), sizes, strict=True))
        assert len(sizes_by_label[cut.view.name]) == len(sizes)  # no two blocks look the same
    return sizes_by_label


def sizes(views: CutViews) -> list[list[int]]:
    return [sorted(view.values()) for view in described(views).values()]


def discernibility(views: CutViews) -> list[int]:
    return [sum(size * size for size in view) for view in sizes(views)]


# -- cuts ------------------------------------------------------------------------------------------


def cuts(table: sd.Table, name: str, rows: frozenset[int]) -> Iterator[tuple[set[int], set[int]]]:
    """All ways to cut a block by an attribute: between the children of the lowest node that all its values are below.

    Children stand in the order of their first values; numbers and dates in their own order, missing values last.
    """
    column = table[name]
    ordered = column.values.dtype.is_numeric() or column.values.dtype.is_temporal()
    rank = column.values.to_list() if ordered else range(len(column.values))
    codes = [*sorted(range(len(rank)), key=lambda code: rank[code]), *([len(rank)] if column.missing else [])]
    tree = column.hierarchy
    paths: list[Tuple] = [(code, "*") for code in range(column.size)] if tree is None else tree.rows()  # type: ignore[assignment]
    own = {row: int(by_row.codes(table, name)[row]) for row in rows}
    level = next(i for i in range(99) if len({paths[code][i:] for code in own.values()}) == 1)
    child = {code: paths[code][max(level - 1, 0) :] for code in codes}
    present = {child[code] for code in own.values()}
    children = [node for node in dict.fromkeys(child[code] for code in codes) if node in present]
    for i in range(1, len(children)):
        first = {row for row in rows if child[own[row]] in children[:i]}
        yield first, set(rows) - first


def plain_cut(
    problem: ViewsProblem,
    views: Sequence[Sequence[str]],
    l: float,
    *,
    gains: Mapping[str, float],
    widest: bool,
) -> list[set[frozenset[int]]]:
    """Cut the largest block of all views where most is gained, as the docstrings say; return the units of each block."""
    units, weights = problem.people.units.tolist(), problem.people.weights.tolist()
    ill = problem.people.sensitive.tolist()
    blocks = [{0: list(range(len(units)))} for _ in views]
    queue = [(-sum(weights), v, 0) for v in range(len(views))]

    def values(members: Sequence[int]) -> set[int]:
        return {ill[u] for u in members}

    def scored_cuts(members: list[int], name: str) -> list[tuple[float, int, int]]:
        a = problem.names.index(name)
        tree = problem.labels[a].hierarchy
        places = sorted({units[u][a] for u in members})
        first, last, total = places[0], places[-1], sum(weights[u] for u in members)
        top, scored = int(tree.meet(first, last)), []
        for x, y in pairwise(places):
            if top > 1 and tree.meet(x, y) < top:
                continue
            before = sum(weights[u] for u in members if units[u][a] <= x)
            after = total - before
            gained = last - first
            if not widest:
                gained -= (before * (x - first) + after * (last - y)) / total
            share = gains[name] * gained / (len(problem.labels[a].texts) - 1)
            even = 4 * before * after / total / total  # first: two cuts that are as even are a tie
            scored.append((share + WEIGHT_OF_EVEN * even, a, x))
        return sorted(scored, key=lambda cut: -cut[0])[: 1 if widest else CANDIDATES]

    while queue:
        smallest = min(queue)
        queue.remove(smallest)
        _, v, b = smallest
        members = blocks[v][b]
        cuts = [cut for name in problem.names if name in views[v] for cut in scored_cuts(members, name)]
        others = {
            u: [
                values(block)
                for i, one in enumerate(blocks)
                if i != v
                for block in one.values()
                if u in block
            ]
            for u in members
        }
        for _, a, x in sorted(cuts, key=lambda cut: -cut[0]):
            parts = [[u for u in members if (units[u][a] <= x) == side] for side in (True, False)]
            if all(len(values(part).intersection(*others[u])) >= l for part in parts for u in part):
                new = len(blocks[v])
                blocks[v][b], blocks[v][new] = parts
                queue += [(-sum(weights[u] for u in blocks[v][c]), v, c) for c in (b, new)]
                break
    return [{frozenset(block) for block in one.values()} for one in blocks]


def plain_paper(
    problem: ViewsProblem, views: Sequence[Sequence[str]], l: float, alpha: float, most: int
) -> list[list[list[int]]]:
    """Cut one or two views as the paper does, every Score from its definition; return the units of each block."""
    units, weights = problem.people.units.tolist(), problem.people.weights.tolist()
    ill = problem.people.sensitive.tolist()
    blocks: list[dict[int, list[int]]] = [{0: list(range(len(units)))} for _ in views]
    made, refused = [1] * len(views), set()

    def parts(members: list[int], cut: Cut) -> list[list[int]]:
        return [[u for u in members if (units[u][cut[1]] <= cut[2]) == side] for side in (True, False)]

    def after(v: int, cut: Cut | None) -> list[list[int]]:
        kept = [members for b, members in blocks[v].items() if cut is None or b != cut[0]]
        return [*kept, *([] if cut is None else parts(blocks[v][cut[0]], cut))]

    def candidates(v: int) -> list[tuple[Cut | None, float]]:
        listed: list[tuple[Cut | None, float]] = []
        for b in sorted(blocks[v]):
            own, members = [], blocks[v][b]
            total = sum(weights[u] for u in members)
            for a, name in enumerate(problem.names):
                if name not in views[v]:
                    continue
                tree, places = problem.labels[a].hierarchy, sorted({units[u][a] for u in members})
                top = int(tree.meet(places[0], places[-1]))
                for x, y in pairwise(places):
                    if (top <= 1 or tree.meet(x, y) >= top) and (v, b, a, x) not in refused:
                        before = sum(weights[u] for u in members if units[u][a] <= x)
                        own.append(((b, a, x), abs(before - (total - 1) / 2)))
            listed += sorted(own, key=lambda cut: cut[1])[:most]
        return listed or [(None, 0.0)]

    def unlikeness(cuts: Sequence[Cut | None]) -> int:
        sets = [
            {
                u: Counter(ill[w] for w in block for _ in range(weights[w]))
                for block in after(v, cut)
                for u in block
            }
            for v, cut in enumerate(cuts)
        ]
        return sum(
            weights[u] * sum(((a[u] - b[u]) + (b[u] - a[u])).total() for a, b in combinations(sets, 2)) ** 2
            for u in range(len(units))
        )

    while True:
        tuples = list(product(*(candidates(v) for v in range(len(views)))))
        s = [unlikeness([cut for cut, _ in one]) for one in tuples]
        m = [sum(far for _, far in one) for one in tuples]
        score = [
            alpha * (min(s) / one if one else 1.0) - (1 - alpha) * far / (max(m) or 1)
            for one, far in zip(s, m, strict=True)
        ]
        best = [cut for cut, _ in tuples[score.index(max(score))]]
        if best == [None] * len(views):
            return [list(one.values()) for one in blocks]
        for v, cut in enumerate(best):
            if cut is None:
                continue
            values = [
                {u: {ill[w] for w in block} for block in after(i, cut if i == v else None) for u in block}
                for i in range(len(views))
            ]
            if all(len(set.intersection(*(one[u] for one in values))) >= l for u in range(len(units))):
                for part in parts(blocks[v].pop(cut[0]), cut):
                    blocks[v][made[v]] = part
                    made[v] += 1
            else:
                refused.add((v, *cut))


# -- random tables ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class Case:
    table: sd.Table
    views: Views
    requirement: MultiViewDiversity


def random_case(r: Random, *, n: int = 24, most: int = 4, kinds: Sequence[str] = KINDS, **asked: Any) -> Case:
    """A table, views of it, and a requirement that the table as a whole meets."""
    table = random_table(r, r.randint(1, n), kinds)
    quasi = table.names("quasi")
    views = {f"view-{i}": r.sample(quasi, r.randint(1, len(quasi))) for i in range(r.randint(1, most))}
    kind = asked.get("kind") or r.choice(["distinct", "distinct", "entropy", "posterior"])
    whole = Persons([[0] * len(table)], table.frame()["illness"].to_list(), [1] * len(table))
    ls = [1, 2, 3, 4, 5] if kind == "distinct" else [1, 1.5, 2, 2.5, 3, 4]
    possible = [one for l in ls if whole.hold(one := MultiViewDiversity(l, kind))]
    return Case(table, views, r.choice(possible))


def random_table(r: Random, n: int, kinds: Sequence[str] = KINDS) -> sd.Table:
    """Some rows are repeated; some values are missing, but never all of a column."""
    distinct = r.randint(max(1, n // 2), n)
    copies = [*range(distinct), *(r.randrange(distinct) for _ in range(n - distinct))]
    columns: dict[str, list[Any]] = {}
    hierarchies: dict[str, sd.Hierarchy] = {}
    domains: dict[str, list[Any]] = {}
    quasi = [f"q{a}" for a in range(r.randint(1, 5))]
    for name in quasi:
        kind = r.choice(kinds)
        values, hierarchy = one_column(r, kind, distinct)
        if kind == "domain":
            domains[name] = r.sample(range(12), 12)
        if hierarchy is not None:
            hierarchies[name] = hierarchy
        if r.random() < 0.3:
            values = [values[0], *(None if r.random() < 0.3 else value for value in values[1:])]
        columns[name] = [values[i] for i in copies]
    illnesses = r.randint(1, 6)
    ill: list[str | None] = [f"i{min(r.randrange(illnesses), r.randrange(illnesses))}" for _ in range(n)]
    columns["illness"] = [ill[0], *(None if r.random() < 0.1 else value for value in ill[1:])]
    schema = sd.Schema.from_roles(
        quasi=quasi,
        sensitive=["illness"],
        hierarchies=hierarchies,
        domains=domains,
        weights={name: r.choice([0, 0.5, 1.0, 3.0]) for name in quasi} if r.random() < 0.3 else None,
    )
    return sd.read(pl.DataFrame(columns), schema)


def one_column(r: Random, kind: str, n: int) -> tuple[list[Any], sd.Hierarchy | None]:
    if kind == "parity":  # the values of a node do not stand side by side
        return [r.randrange(9) for _ in range(n)], sd.Hierarchy.groups({i: f"mod{i % 3}" for i in range(9)})
    if kind == "domain":  # declared in any order
        return [r.randrange(12) for _ in range(n)], None
    if kind == "text":
        return [r.choice(NAMES) for _ in range(n)], None
    return random_column(r, kind, n)
