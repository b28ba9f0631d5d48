"""Labels as nodes of hierarchies, and how the values below them are spread among people."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sudare.attacks.crowds import Crowd, texts_of, tree_of
from sudare.attacks.lookup import Lookup
from sudare.attacks.published import Published
from sudare.errors import InputError
from sudare.tables.hierarchy import Hierarchy
from sudare.tables.table import Table

Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Shapes:
    """What the labels of blocks say: each is the node of its corner, a leaf, at a level; blocks x attributes."""

    corners: Ints
    levels: Ints
    sizes: Ints
    numbers: Ints
    """Which block of the release each of these is."""
    blocks: int
    """How many blocks the release has."""

    @classmethod
    def located(cls, crowd: Crowd) -> Shapes:
        """Take them from the plan."""
        assert crowd.levels is not None
        corners = crowd.tuples[crowd.starts[:-1]].astype(np.int64)
        return cls(corners, crowd.levels, crowd.sizes, crowd.numbers, crowd.blocks)

    @classmethod
    def read(cls, published: Published, population: Table) -> Shapes:
        """Read them from published labels."""
        counts = population.counts(list(published.quasi))
        lookup = Lookup.of("output", published, population, counts)
        corners = np.zeros((len(published), len(published.quasi)), dtype=np.int64)
        levels = np.zeros_like(corners)
        offset = 0
        for a, name in enumerate(published.quasi):
            tree = tree_of(population, name)
            for b, label in enumerate(lookup.label_of[a]):
                leaves = lookup.covered[lookup.starts[label] : lookup.starts[label + 1]] - offset
                leaves = leaves[leaves < tree.codes.shape[1]]
                if len(leaves):
                    corners[b, a], levels[b, a] = leaves[0], _level(tree, leaves, name)
            offset += len(population[name].values) + 1
        sizes = published.sizes.to_numpy().astype(np.int64)
        return cls(corners, levels, sizes, np.arange(len(sizes)), len(sizes))


def _level(tree: Hierarchy, leaves: Ints, name: str) -> int:
    """Return the lowest level with a node that covers these leaves, which must be all that it covers."""
    level = int((tree.codes[:, leaves] != tree.codes[:, leaves[:1]]).any(axis=1).sum())
    if (tree.codes[level] == tree.codes[level, leaves[0]]).sum() != len(leaves):
        raise InputError(
            f"Column '{name}': some label is no node of a hierarchy. Declare the hierarchy in the schema for the downcoding attack."
        )
    return level


@dataclass(frozen=True, eq=False)
class Population:
    """People like those of a release: how values are spread among them."""

    trees: list[Hierarchy]
    tuples: NDArray[np.int32]
    """By the leaves of the trees."""
    weights: Ints

    @classmethod
    def of(cls, people: Table, names: Sequence[str], common: Table | None = None) -> Population:
        """Count people; a common table may say which codes their values are to have."""
        counts = people.counts(list(names))
        trees = [tree_of(common or people, name) for name in names]
        return cls(trees, recoded(counts.codes, people, common or people, names), counts.weights)


def recoded(codes: NDArray[np.int32], own: Table, common: Table, names: Sequence[str]) -> NDArray[np.int32]:
    """Return tuples by the codes that another table has for their values, which it must have."""
    if own is common:
        return codes
    columns = []
    for a, name in enumerate(names):
        place = {text: code for code, text in enumerate(texts_of(common, name))}
        columns.append(np.array([place[text] for text in texts_of(own, name)], dtype=np.int32)[codes[:, a]])
    return np.column_stack(columns)
