"""The tree that the values of an attribute climb."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from sudare.tables.attribute import Attribute
from sudare.tables.dictionary import Dictionary
from sudare.tables.hierarchy import Hierarchy

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
    def of(cls, column: Dictionary, attribute: Attribute) -> Tree:
        """Find the tree of a column; without a hierarchy a value stays itself or is suppressed."""
        if column.hierarchy is None:
            codes = np.arange(column.size, dtype=np.int32)
            nodes = np.stack([codes, np.zeros_like(codes)])
            return cls(nodes, nodes)
        whole = attribute.hierarchy
        if (
            not isinstance(whole, Hierarchy) or len(column.values) == 0
        ):  # all are missing: they climb no further
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
