"""A hierarchy as one plain array, for compiled loops."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sudare.tables.hierarchy import Hierarchy

NODE, PARENT, LEVEL = 0, 1, 2
"""The rows of a numbered tree."""


def numbered_tree(hierarchy: Hierarchy | None) -> NDArray[np.int64]:
    """Number the nodes of a hierarchy, level by level, so that a parent always comes after its children.

    The rows are the node of each code (filled up with -1), the parent of each node (-1 for the root), and the level of
    each node. Without a hierarchy there are no nodes. (One array, because numba counts the holders of every array that it
    passes on.)

    >>> numbered_tree(Hierarchy.groups({"flu": "lungs", "asthma": "lungs", "ulcer": "stomach"})).tolist()
    [[0, 1, 2, -1, -1, -1], [3, 3, 4, 5, 5, -1], [0, 0, 0, 1, 1, 2]]
    """
    if hierarchy is None:
        return np.empty((3, 0), dtype=np.int64)
    widths = [len(names) for names in hierarchy.labels]
    first = np.cumsum([0, *widths])
    nodes = hierarchy.codes.astype(np.int64) + first[:-1, None]
    tree = np.full((3, first[-1]), -1, dtype=np.int64)
    tree[NODE, : nodes.shape[1]] = nodes[0]
    tree[PARENT, :-1] = first[-1] - 1  # a node that no code has hangs at the root
    for level in range(hierarchy.height):
        tree[PARENT, nodes[level]] = nodes[level + 1]
    tree[LEVEL] = np.repeat(np.arange(len(widths)), widths)
    return tree
