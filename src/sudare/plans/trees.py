"""The trees of a plan: what its values become at every level, and where values that it has not seen belong."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import pairwise

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sudare.errors import SudareError
from sudare.tables.attribute import Attribute
from sudare.tables.content import canonical
from sudare.tables.excerpt import is_untyped
from sudare.tables.hierarchy import Hierarchy
from sudare.tables.paths import MAX_LEVELS
from sudare.tables.table import Table
from sudare.tables.text import listed, text_of

MAX_LEAVES = 10**7
NODES = {"attribute": pl.Int64, "level": pl.Int64, "label": pl.String, "parent": pl.Int64, "leaf": pl.Int64}
"""A node is known by its place among those of its attribute and level. It has a parent, if anything is under it, and is a
leaf on level 0, if values are there."""


def trees_to_table(trees: Iterable[Hierarchy]) -> pl.DataFrame:
    """Return trees as one table of nodes.

    >>> trees_to_table([Hierarchy.suppress(["f", "m"])]).rows()
    [(0, 0, 'f', 0, 0), (0, 0, 'm', 0, 1), (0, 1, '*', None, None)]
    """
    levels = []
    for attribute, tree in enumerate(trees):
        for level, names in enumerate(tree.labels):
            parent, leaf = np.full((2, len(names)), -1, dtype=np.int64)
            if level < tree.height:
                parent[tree.codes[level]] = tree.codes[level + 1]
            if level == 0:
                leaf[tree.codes[0]] = np.arange(tree.codes.shape[1])
            own = np.full((2, len(names)), [[attribute], [level]], dtype=np.int64)
            levels.append(
                pl.DataFrame(dict(zip(NODES, [*own, names, parent, leaf], strict=True)), schema=NODES)
            )
    return pl.concat(levels).with_columns(pl.col("parent", "leaf").replace(-1, None))


def trees_from_table(names: Sequence[str], frame: pl.DataFrame) -> dict[str, Hierarchy]:
    """Read trees from a table that may be hostile; raises a ValueError if they are none."""
    if frame.columns != list(NODES) or not all(
        dtype.is_integer() or (name == "label" and dtype == pl.String) for name, dtype in frame.schema.items()
    ):
        raise ValueError(f"the nodes of its trees have the columns {listed(list(NODES))}")
    for own in frame.select(pl.exclude("label")).iter_columns():
        if own.len() > own.null_count() and not 0 <= own.min() <= own.max() <= MAX_LEAVES:  # type: ignore[operator]
            raise ValueError("a node of a tree has a number beyond all nodes")
    numbers = {
        name: frame[name].cast(pl.Int64).fill_null(-1).to_numpy()
        for name in ("attribute", "level", "parent", "leaf")
    }
    labels, starts = frame["label"].to_list(), _starts(numbers["attribute"])
    if numbers["attribute"][starts].tolist() != list(range(len(names))):
        raise ValueError("each of its attributes has a tree")
    trees = {}
    for name, start, stop in zip(names, starts, [*starts[1:], len(labels)], strict=True):
        level, parent, leaf = (numbers[key][start:stop] for key in ("level", "parent", "leaf"))
        trees[name] = _tree(level, parent, leaf, labels[start:stop])
    return trees


def _starts(numbers: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return where another number begins."""
    return np.flatnonzero(np.diff(numbers, prepend=-2))


def _tree(
    level: NDArray[np.int64], parent: NDArray[np.int64], leaf: NDArray[np.int64], labels: list[str | None]
) -> Hierarchy:
    """Read one tree; of nodes without a parent or a leaf, these are -1."""
    starts = _starts(level)
    height = len(starts)
    if level[starts].tolist() != list(range(height)) or not 1 < height <= MAX_LEVELS:
        raise ValueError(f"a tree has 2 to {MAX_LEVELS} levels")
    ends = [*starts[1:].tolist(), len(level)]
    first = labels[: ends[0]]
    if len(level) - starts[-1] != 1 or len(set(first)) < len(first):
        raise ValueError("a tree has one root, and leaves that are different from each other")
    leaves = leaf[: ends[0]]
    nodes = np.flatnonzero(leaves >= 0)
    nodes = nodes[np.argsort(leaves[nodes], kind="stable")]
    if not len(nodes) or not np.array_equal(leaves[nodes], np.arange(len(nodes))):
        raise ValueError("the leaves of a tree are numbered")
    codes = [nodes.astype(np.int32)]
    for (low, high), (above, top) in pairwise(zip(starts.tolist(), ends, strict=True)):
        parents = parent[low:high][codes[-1]]
        if parents.min() < 0 or parents.max() >= top - above:
            raise ValueError("a node of a tree has no parent")
        codes.append(parents.astype(np.int32))
    levels = (tuple(labels[low:high]) for low, high in zip(starts.tolist(), ends, strict=True))
    return Hierarchy(tuple(levels), np.stack(codes))


def matched(names: Sequence[str | None], table: Table, name: str) -> NDArray[np.int32]:
    """Return which of the names each code of a table's column has; -1 where it has none.

    A value is looked up by its text. Where that is not known, a number or a date is looked up by what it says in whatever
    type, among the names that are no value's text: 30.0 is 30, and a day its midnight. So is a text of a source without types,
    whose column may be one of numbers without some other value; any other text is only itself: version 1.10 is not 1.1.

    >>> import sudare as sd
    >>> matched(["20", "30", None], sd.read(pl.DataFrame({"age": [30.0, None, 31.0]})), "age").tolist()
    [1, -1, 2]
    """
    dictionary = table[name]
    texts = [text_of(value) for value in dictionary.values.to_list()]
    places = _looked_up(texts, list(names))
    by_meaning = dictionary.values.dtype != pl.String or (
        is_untyped(table.source) and table.schema[name].type is None
    )
    if (places < 0).any() and by_meaning:
        free = np.setdiff1d(np.flatnonzero([name is not None for name in names]), places)
        meanings = canonical(pl.Series([names[i] for i in free], dtype=pl.String))
        strangers = np.flatnonzero(places < 0)
        by_meaning_at = _looked_up(canonical(dictionary.values.gather(strangers)), meanings)
        places[strangers[by_meaning_at >= 0]] = free[by_meaning_at[by_meaning_at >= 0]]
    missing = list(names).index(None) if None in names else -1
    return np.append(places, missing).astype(np.int32)[: dictionary.size]


def _looked_up(asked: Sequence[str | None], known: Sequence[str | None]) -> NDArray[np.int64]:
    """Return the place of each text among known ones, of which some may be equal; -1 where there is none.

    Values may have one text, such as times that differ by nanoseconds, and leaves, too. Where there are as many of both,
    the first belongs to the first; where there are not, nobody can tell.
    """
    places: dict[str, list[int]] = {}
    for i, text in enumerate(known):
        if text is not None:
            places.setdefault(text, []).append(i)
    often, seen = Counter(asked), Counter[str]()
    at = np.full(len(asked), -1, dtype=np.int64)
    for i, text in enumerate(asked):
        if text is None or text not in places:
            continue
        if len(places[text]) == 1:
            at[i] = places[text][0]
        elif len(places[text]) == often[text]:
            at[i] = places[text][seen[text]]
            seen[text] += 1
    return at


def extended(tree: Hierarchy, table: Table, name: str) -> Hierarchy:
    """Return a plan's tree with the codes of a table's column as its leaves. Nodes keep their numbers.

    A value that the plan has not seen is where the schema's recipe puts it or, among numbers and dates, under the nodes
    that the values next to it on both sides share. On levels where it has no such place, it is a node of its own.

    >>> ages = Hierarchy.intervals([20, 25, 31], width=10)
    >>> import sudare as sd
    >>> extended(ages, sd.read(pl.DataFrame({"age": [21, 25]})), "age").rows()
    [('21', '[20, 30)', '*'), ('25', '[20, 30)', '*')]
    """
    dictionary, attribute = table[name], table.schema[name]
    leaves = matched(tree.leaves, table, name)
    if (leaves >= 0).all():
        return Hierarchy(tree.labels, tree.codes[:, leaves])
    leaves = leaves[: len(dictionary.values)]
    strangers = np.flatnonzero(leaves < 0)
    places = _by_recipe(tree, dictionary.values.gather(strangers), attribute)
    if places is None:
        places = _between(tree, dictionary.values, strangers)
    nodes = np.empty((tree.height + 1, dictionary.size), dtype=np.int32)
    nodes[:, : len(leaves)] = tree.codes[:, leaves]
    nodes[:, strangers] = places
    names = [text_of(value) for value in dictionary.values.gather(strangers).to_list()]
    labels = [list(level) for level in tree.labels]
    if dictionary.missing:
        lost = tree.leaves.index(None) if None in tree.leaves else -1
        nodes[:, -1] = tree.codes[:, lost] if lost >= 0 else -1
        strangers = strangers if lost >= 0 else np.append(strangers, dictionary.size - 1)
        names = names if lost >= 0 else [*names, None]  # type: ignore[list-item]
    nodes[-1] = 0
    for level in range(tree.height):
        for stranger, name in zip(strangers, names, strict=True):
            if nodes[level, stranger] < 0:
                nodes[level, stranger] = len(labels[level])
                labels[level].append(name)
    return Hierarchy(tuple(map(tuple, labels)), nodes)


def _by_recipe(tree: Hierarchy, values: pl.Series, attribute: Attribute) -> NDArray[np.int32] | None:
    """Return the nodes of values where the schema says how a tree is built, and builds the plan's; -1 for new nodes."""
    recipe = attribute.hierarchy
    known = [leaf for leaf in tree.leaves if leaf is not None]
    if recipe is None or not len(values) or not known:
        return None
    try:
        texts = pl.Series(known).cast(values.dtype, strict=False)
        whole = (
            recipe
            if isinstance(recipe, Hierarchy)
            else recipe.build(pl.concat([texts, values]).unique().sort())
        )
        own, new = whole.find(texts), whole.find(values)
    except (SudareError, pl.exceptions.PolarsError):
        return None
    same = whole.height == tree.height and (own >= 0).all() and (new >= 0).all()
    if not same or whole.take(own).rows() != tree.take(tree.find(texts)).rows():
        return None
    place = [{label: i for i, label in enumerate(level)} for level in tree.labels]
    paths = whole.take(new).rows()
    nodes = [[by_label.get(path[level], -1) for path in paths] for level, by_label in enumerate(place)]
    return np.array(nodes, dtype=np.int32)


def _between(tree: Hierarchy, values: pl.Series, strangers: NDArray[np.int64]) -> NDArray[np.int32]:
    """Return the nodes that the known values on both sides of a number or date share; -1 where they share none."""
    places = np.full((tree.height + 1, len(strangers)), -1, dtype=np.int32)
    if not (values.dtype.is_numeric() or values.dtype.is_temporal()):
        return places
    known = pl.Series([leaf for leaf in tree.leaves if leaf is not None], dtype=pl.String)
    numbers = _as_numbers(known, values.dtype)
    if numbers is None:
        return places
    order = np.argsort(numbers, kind="stable")
    asked = _as_numbers(values.gather(strangers).cast(pl.String), values.dtype)
    assert asked is not None
    after = np.searchsorted(numbers[order], asked)
    inside = np.flatnonzero((after > 0) & (after < len(order)))
    low, high = order[after[inside] - 1], order[after[inside]]
    leaf = np.flatnonzero([name is not None for name in tree.leaves])
    left, right = tree.codes[:, leaf[low]], tree.codes[:, leaf[high]]
    places[:, inside] = np.where(left == right, left, -1)
    return places


def _as_numbers(texts: pl.Series, dtype: pl.DataType) -> NDArray[np.float64] | None:
    """Return texts as the numbers or days that they write; None if one is no such value."""
    if dtype.is_numeric():
        numbers = texts.cast(pl.Float64, strict=False)
    elif dtype == pl.Date:
        numbers = texts.str.to_date("%Y-%m-%d", strict=False).to_physical().cast(pl.Float64)
    else:
        return None
    return None if numbers.null_count() else numbers.to_numpy()
