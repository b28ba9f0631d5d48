"""A hierarchy as plain arrays, for compiled loops."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sudare.tables.hierarchy import Hierarchy


class NumberedTree(NamedTuple):
    """The nodes of a hierarchy, level by level, so that a parent always comes after its children.

    >>> tree = NumberedTree.of(Hierarchy.groups({"flu": "lungs", "asthma": "lungs", "ulcer": "stomach"}))
    >>> tree.node.tolist(), tree.parent.tolist(), tree.climb.tolist()
    ([0, 1, 2], [3, 3, 4, 5, 5, -1], [0.0, 0.0, 0.0, 0.5, 0.5, 1.0])
    """

    node: NDArray[np.int64]
    """The node of each code."""
    parent: NDArray[np.int64]
    """The parent of each node; -1 for the root."""
    climb: NDArray[np.float64]
    """The level of each node as a share of the height."""

    @classmethod
    def of(cls, hierarchy: Hierarchy | None) -> NumberedTree:
        """Number the nodes; without a hierarchy there are none."""
        if hierarchy is None:
            return cls(np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0))
        widths = [len(names) for names in hierarchy.labels]
        first = np.cumsum([0, *widths])
        nodes = hierarchy.codes.astype(np.int64) + first[:-1, None]
        parent = np.full(first[-1], first[-1] - 1)  # a node that no code has hangs at the root
        for level in range(hierarchy.height):
            parent[nodes[level]] = nodes[level + 1]
        parent[-1] = -1
        climb = np.repeat(hierarchy.cost(np.arange(len(widths))), widths)
        return cls(
            np.ascontiguousarray(nodes[0]), parent, climb
        )  # one layout, for which alone kernels are compiled
