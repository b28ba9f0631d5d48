"""Cells: what became of the values of an attribute, counted by (value, level).

Every measure of generalized values looks only at which value climbed to which level, and how often.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sudare.utility.outcome import Outcome, in_pieces
from sudare.utility.tree import Ints, Tree


@dataclass(frozen=True, eq=False)
class Cells:
    """The cells of one attribute: its distinct (code, level) pairs, and how many records have each.

    >>> import polars as pl
    >>> from sudare.tables.dictionary import Dictionary
    >>> from sudare.tables.schema import Attribute
    >>> tree = Tree.of(Dictionary(pl.Series(["a", "b"]), missing=False), Attribute(role="quasi"))
    >>> cells = Cells.count("letter", tree, np.array([0, 1, 1]), np.array([0, 0, 1]), np.array([2, 1, 1]))
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
    def count(cls, name: str, tree: Tree, codes: NDArray[Any], levels: NDArray[Any], weights: Ints) -> Cells:
        """Count the pairs of an attribute, where each stands for so many records."""
        steps = tree.height + 1
        records = np.bincount(codes.astype(np.int64) * steps + levels, weights).astype(np.int64)
        present = np.flatnonzero(records)
        return cls(name, tree, present // steps, present % steps, records[present])

    @classmethod
    def joined(cls, pieces: Sequence[Cells]) -> Cells:
        """Count together what was counted in pieces."""
        own = [
            np.concatenate([getattr(piece, field) for piece in pieces])
            for field in ("codes", "levels", "weights")
        ]
        return cls.count(pieces[0].name, pieces[0].tree, *own)

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


def cells_of(outcomes: Outcome | Iterable[Outcome]) -> list[Cells]:
    """Count the cells of every quasi attribute, in the table's order; the tuples of a table may come in pieces.

    >>> import polars as pl, sudare as sd
    >>> table = sd.read(pl.DataFrame({"sex": ["f", "m"]}), sd.Schema.from_roles(quasi=["sex"]))
    >>> [cells.distortion() for cells in cells_of(Outcome.of(table, [0], [True, False]))]
    [0.5]
    """
    pieces = [_cells_of(outcome) for outcome in in_pieces(outcomes)]
    return [Cells.joined(own) for own in zip(*pieces, strict=True)]


def _cells_of(outcome: Outcome) -> list[Cells]:
    counts = outcome.counts
    return [
        Cells.count(name, tree, counts.column(name), climbed, counts.weights)
        for name, tree, climbed in outcome.climbs()
    ]
