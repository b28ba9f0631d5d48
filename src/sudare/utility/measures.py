"""All measures of cells and blocks at once, for certificates and reports."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sudare.errors import ParameterError
from sudare.tables.table import Table
from sudare.utility.blocks import average_block, discernibility
from sudare.utility.cells import cells_of, checked_kept
from sudare.utility.distortion import weighted_mean
from sudare.utility.loss import entropy_share


def utility_of(
    table: Table, levels: ArrayLike, kept: ArrayLike | None, block_sizes: NDArray[np.int64]
) -> dict[str, Any]:
    """Return every measure of the cells and blocks that a generalization left, as plain data.

    `levels` says for every row and quasi attribute (in the table's order) to which level of its
    hierarchy it climbed, or gives one level per attribute; `kept` which rows are published (None: all);
    `block_sizes` how many records each published block has.

    >>> import polars as pl, sudare as sd
    >>> table = sd.read(pl.DataFrame({"sex": ["f", "f", "m", "m"]}), sd.Schema.from_roles(quasi=["sex"]))
    >>> found = utility_of(table, [0], np.array([True, True, True, False]), np.array([2, 1]))
    >>> found["distortion"], found["discernibility"], found["blocks"], found["average_block"]
    (0.25, 9, 2, 1.5)
    >>> found["ncp"], found["granularity"], found["non_uniform_entropy"]
    (0.25, 0.625, 0.25)
    """
    cells = cells_of(table, levels, kept)
    sizes, published = np.asarray(block_sizes, dtype=np.int64), int(checked_kept(table, kept).sum())
    if sizes.sum() != published:
        raise ParameterError(
            f"The 'block_sizes' parameter of utility_of must add up to the {published:,} records kept. "
            f"Got {sizes.sum():,} instead."
        )
    costs = {attribute.name: attribute.distortion() for attribute in cells}
    return {
        "distortion": weighted_mean(costs, table),
        "distortion_by_attribute": costs,
        "discernibility": discernibility(sizes, len(table) - published),
        "blocks": len(sizes),
        "average_block": average_block(sizes),
        "ncp": weighted_mean({attribute.name: attribute.ncp() for attribute in cells}, table),
        "granularity": weighted_mean({attribute.name: attribute.granularity() for attribute in cells}, table),
        "non_uniform_entropy": entropy_share(cells, table),
    }
