"""The trees of a plan: what its values become at every level, and where values that it has not seen belong."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sudare.errors import SudareError
from sudare.tables.builders import MOST_LEVELS
from sudare.tables.content import canonical
from sudare.tables.dictionary import Dictionary
from sudare.tables.hierarchy import Hierarchy
from sudare.tables.schema import Attribute
from sudare.tables.text import text_of

MAX_LEAVES = 10**7


def tree_to_json(tree: Hierarchy) -> dict[str, Any]:
    """Return a tree as plain data.

    >>> tree_to_json(Hierarchy.suppress(["f", "m"]))
    {'labels': [['f', 'm'], ['*']], 'nodes': [[0, 1], [0, 0]]}
    """
    return {"labels": [list(level) for level in tree.labels], "nodes": tree.codes.tolist()}


def tree_from_json(data: Mapping[str, Any]) -> Hierarchy:
    """Read a tree from plain data that may be hostile; raises a ValueError if it is none."""
    labels, nodes = data["labels"], data["nodes"]
    if set(data) != {"labels", "nodes"} or not isinstance(labels, list) or not isinstance(nodes, list):
        raise ValueError("a tree has labels and nodes")
    if not 1 < len(labels) == len(nodes) <= MOST_LEVELS:
        raise ValueError(f"a tree has 2 to {MOST_LEVELS} levels")
    if not all(_is_list_of(level, (str, type(None))) for level in labels):
        raise ValueError("the labels of a tree must be texts")
    if not all(_is_list_of(level, (int,)) and len(level) == len(nodes[0]) for level in nodes):
        raise ValueError("the nodes of a tree must be as many whole numbers on each level")
    codes = np.array(nodes, dtype=np.int64)
    if len(set(labels[0])) < len(labels[0]) or len(np.unique(codes[0])) < codes.shape[1]:
        raise ValueError("the leaves of a tree must be different from each other")
    if not 0 < codes.shape[1] <= MAX_LEAVES or (codes < 0).any() or len(labels[-1]) != 1:
        raise ValueError("a tree has leaves, and one root")
    for level, (own, names) in enumerate(zip(codes, labels, strict=True)):
        if own.max() >= len(names):
            raise ValueError("a node of a tree has no label")
        if level and not _is_function(codes[level - 1], own):
            raise ValueError("a node of a tree has two parents")
    return Hierarchy(tuple(tuple(level) for level in labels), codes.astype(np.int32))


def _is_list_of(given: object, kinds: tuple[type, ...]) -> bool:
    return isinstance(given, list) and all(type(one) in kinds for one in given)


def _is_function(below: NDArray[np.int64], above: NDArray[np.int64]) -> bool:
    parent = np.full(int(below.max()) + 1, -1, dtype=np.int64)
    parent[below] = above
    return bool((parent[below] == above).all())


def matched(names: Sequence[str | None], dictionary: Dictionary) -> NDArray[np.int32]:
    """Return which of the names each code of a dictionary has; -1 where it has none.

    A value is looked up by its text and, where that is not known, by what it says in whatever type, among the names that
    are no value's text: 30.0 is 30, and a day its midnight.

    >>> matched(["20", "30", None], Dictionary(pl.Series([30.0, 31.0]), missing=True)).tolist()
    [1, -1, 2]
    """
    texts = [text_of(value) for value in dictionary.values.to_list()]
    found = _looked_up(texts, list(names))
    if (found < 0).any():
        free = np.setdiff1d(np.flatnonzero([name is not None for name in names]), found)
        meanings = canonical(pl.Series([names[i] for i in free], dtype=pl.String))
        strangers = np.flatnonzero(found < 0)
        places = _looked_up(canonical(dictionary.values.gather(strangers)), meanings)
        found[strangers[places >= 0]] = free[places[places >= 0]]
    missing = list(names).index(None) if None in names else -1
    return np.append(found, missing).astype(np.int32)[: dictionary.size]


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
    found = np.full(len(asked), -1, dtype=np.int64)
    for i, text in enumerate(asked):
        if text is None or text not in places:
            continue
        if len(places[text]) == 1:
            found[i] = places[text][0]
        elif len(places[text]) == often[text]:
            found[i] = places[text][seen[text]]
            seen[text] += 1
    return found


def extended(tree: Hierarchy, dictionary: Dictionary, attribute: Attribute) -> Hierarchy:
    """Return a plan's tree with the codes of a table's dictionary as its leaves. Nodes keep their numbers.

    A value that the plan has not seen is where the schema's recipe puts it or, among numbers and dates, under the nodes
    that the values next to it on both sides share. On levels where it has no such place, it is a node of its own.

    >>> ages = Hierarchy.intervals([20, 25, 31], width=10)
    >>> extended(ages, Dictionary(pl.Series([21, 25]), missing=False), Attribute(role="quasi")).rows()
    [('21', '[20, 30)', '*'), ('25', '[20, 30)', '*')]
    """
    leaves = matched(tree.leaves, dictionary)[: len(dictionary.values)]
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
