"""Cells: what became of the values of an attribute, counted by (value, level).

Every measure of generalized values looks only at which value climbed to which level, and how often;
the rows are counted once, and equal cells cost once.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sudare.errors import ParameterError
from sudare.tables.column import Column
from sudare.tables.hierarchy import Hierarchy
from sudare.tables.schema import Attribute, Role
from sudare.tables.table import Table

Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Tree:
    """The nodes that a column's codes climb to, and the whole hierarchy that those nodes stand in.

    `nodes[level, code]` is the node of a code at a level. `whole[level, leaf]` is the same for all leaves
    of the hierarchy given in the schema (a value that no row holds is a leaf too), the missing value
    last, if any row has it. Where the schema gives none, or a recipe, the leaves are the column's values.
    """

    nodes: NDArray[np.int32]
    whole: NDArray[np.int32]

    @classmethod
    def of(cls, column: Column, attribute: Attribute) -> Tree:
        """Find the tree of a column; without a hierarchy a value stays itself or is suppressed."""
        if column.hierarchy is None:
            codes = np.arange(column.size, dtype=np.int32)
            nodes = np.stack([codes, np.zeros_like(codes)])
            return cls(nodes, nodes)
        whole = attribute.hierarchy
        if not isinstance(whole, Hierarchy):
            return cls(column.hierarchy.codes, column.hierarchy.codes)
        return cls(column.hierarchy.codes, (whole.with_missing() if column.missing else whole).codes)

    @property
    def height(self) -> int:
        """The level of the root."""
        return len(self.nodes) - 1

    @property
    def leaves(self) -> int:
        """How many leaves the attribute has."""
        return int(self.whole.shape[1])

    @cached_property
    def leaves_under(self) -> Ints:
        """How many leaves lie under the node of each code at each level."""
        return np.stack([np.bincount(w)[n] for w, n in zip(self.whole, self.nodes, strict=True)])


@dataclass(frozen=True, eq=False)
class Cells:
    """The cells of one attribute: its distinct (code, level) pairs, and how many records have each.

    >>> import polars as pl
    >>> tree = Tree.of(Column.encode(pl.Series(["a", "b"])), Attribute(role="quasi"))
    >>> cells = Cells.count("letter", tree, np.array([0, 0, 1, 1]), np.array([0, 0, 0, 1]))
    >>> cells.codes.tolist(), cells.levels.tolist(), cells.weights.tolist()
    ([0, 1, 1], [0, 0, 1], [2, 1, 1])
    >>> cells.distortion(), cells.ncp(), cells.granularity()
    (0.25, 0.25, 0.625)
    """

    name: str
    tree: Tree
    codes: Ints
    levels: Ints
    weights: Ints

    @classmethod
    def count(cls, name: str, tree: Tree, codes: NDArray[Any], levels: NDArray[Any]) -> Cells:
        """Count the pairs of an attribute's rows."""
        steps = tree.height + 1
        weights = np.bincount(codes.astype(np.int64) * steps + levels)
        present = np.flatnonzero(weights)
        return cls(name, tree, present // steps, present % steps, weights[present])

    @property
    def total(self) -> int:
        """How many cells there are."""
        return int(self.weights.sum())

    def distortion(self) -> float:
        """Return the mean of levels climbed / height."""
        return int((self.levels * self.weights).sum()) / (self.tree.height * self.total)

    def ncp(self) -> float:
        """Return the mean of (leaves under the node - 1) / (leaves - 1); 0 where there is one leaf only."""
        if self.tree.leaves == 1:
            return 0.0
        return int(((self._under - 1) * self.weights).sum()) / ((self.tree.leaves - 1) * self.total)

    def granularity(self) -> float:
        """Return the mean of leaves under the node / leaves."""
        return int((self._under * self.weights).sum()) / (self.tree.leaves * self.total)

    def entropy(self) -> tuple[float, float]:
        """Return the bits lost, summed over the cells, and those lost if all were suppressed."""
        own = np.bincount(self.codes, self.weights, minlength=self.tree.nodes.shape[1])
        together = np.stack([np.bincount(nodes, own)[nodes] for nodes in self.tree.nodes])
        value = own[self.codes]
        lost = self.weights * np.log2(together[self.levels, self.codes] / value)
        most = self.weights * np.log2(self.total / value)
        return float(lost.sum()), float(most.sum())

    @property
    def _under(self) -> Ints:
        return self.tree.leaves_under[self.levels, self.codes]


def cells_of(table: Table, levels: ArrayLike, kept: ArrayLike | None = None) -> list[Cells]:
    """Count the cells of every quasi attribute, in the table's order.

    `levels` says for every row and quasi attribute to which level it climbed; one level per attribute
    stands for all rows. `kept` says which rows are published; the cells of the others are at the root.

    >>> import polars as pl, sudare as sd
    >>> table = sd.read(pl.DataFrame({"sex": ["f", "m"]}), sd.Schema.from_roles(quasi=["sex"]))
    >>> [cells.distortion() for cells in cells_of(table, [0], [True, False])]
    [0.5]
    """
    return [
        Cells.count(name, tree, table[name].codes, climbed)
        for name, tree, climbed in climbs(table, levels, kept)
    ]


def climbs(
    table: Table, levels: ArrayLike, kept: ArrayLike | None = None
) -> Iterable[tuple[str, Tree, NDArray[Any]]]:
    """Yield every quasi attribute with its tree and the level that each row climbed to; the root if not kept."""
    names = table.names(Role.quasi)
    given = np.asarray(levels)
    if given.dtype.kind not in "iu":
        raise ParameterError(f"The 'levels' parameter must be whole numbers. Got {given.dtype} instead.")
    if given.shape not in ((len(names),), (len(table), len(names))):
        raise ParameterError(
            f"The 'levels' parameter must have {len(table):,} rows x {len(names)} quasi attributes, or one level "
            f"per attribute. Got {' x '.join(map(str, given.shape))} instead."
        )
    chosen = checked_kept(table, kept)
    for name, column in zip(names, np.broadcast_to(given, (len(table), len(names))).T, strict=True):
        tree = Tree.of(table[name], table.schema[name])
        if column.size and (column.min() < 0 or column.max() > tree.height):
            raise ParameterError(
                f"The 'levels' parameter must be from 0 to {tree.height} for '{name}'. "
                f"Got {column.min()} to {column.max()} instead."
            )
        yield name, tree, column if chosen.all() else np.where(chosen, column, tree.height)


def checked_kept(table: Table, kept: ArrayLike | None) -> NDArray[np.bool_]:
    """Return `kept` as one truth value per row; all True if it is not given."""
    chosen = np.ones(len(table), dtype=bool) if kept is None else np.asarray(kept)
    if chosen.shape != (len(table),) or chosen.dtype != bool:
        raise ParameterError(
            f"The 'kept' parameter must be {len(table):,} truth values, one per row. "
            f"Got {chosen.dtype} of shape {chosen.shape} instead."
        )
    return chosen
