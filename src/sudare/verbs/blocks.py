"""The blocks that tuples are in, as requirements measure them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sudare.privacy.blocks import Blocks
from sudare.tables.counts import Counts
from sudare.tables.table import Table

Ints = NDArray[np.int64]


def blocks_of(table: Table, counts: Counts, block_of: Ints, attribute: str | None) -> Blocks:
    """Return blocks, given that of each tuple (-1: none), with the values of a sensitive attribute, if one is asked about.

    >>> import polars as pl, sudare as sd
    >>> table = sd.read(pl.DataFrame({"age": [1, 2, 3], "ill": ["a", "b", "b"]}))
    >>> blocks_of(table, table.counts(["age", "ill"]), np.array([0, 0, 1]), "ill").sizes.tolist()
    [2, 1]
    """
    inside, size = block_of >= 0, int(block_of.max(initial=-1)) + 1
    block, weights = block_of[inside], counts.weights[inside]
    if attribute is None:
        return Blocks.of_sizes(np.bincount(block, weights, minlength=size).astype(np.int64))
    columns: dict[str, NDArray[Any]] = {"block": block, attribute: counts.column(attribute)[inside]}
    summed = Counts.of(columns, [size, table[attribute].size], weights)
    return Blocks.of(summed, attribute, table[attribute].hierarchy, table[attribute].values)
