"""All measures of cells and blocks at once, for certificates and reports."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sudare.errors import ParameterError
from sudare.tables.table import Table
from sudare.utility.blocks import average_block, discernibility
from sudare.utility.cells import Cells, cells_of
from sudare.utility.distortion import weighted_mean
from sudare.utility.loss import entropy_share
from sudare.utility.outcome import Outcome


def utility_of(outcome: Outcome, block_sizes: NDArray[np.int64]) -> dict[str, Any]:
    """Return every measure of the cells and blocks that a generalization left, as plain data.

    `block_sizes` says how many records each published block has.

    >>> import polars as pl, sudare as sd
    >>> table = sd.read(pl.DataFrame({"sex": ["f", "f", "m"]}), sd.Schema.from_roles(quasi=["sex"]))
    >>> measures = utility_of(Outcome.of(table, [0], np.array([True, False])), np.array([2]))
    >>> measures["discernibility"], measures["blocks"], measures["average_block"]
    (7, 1, 2.0)
    >>> round(measures["distortion"], 3), round(measures["ncp"], 3), round(measures["granularity"], 3)
    (0.333, 0.333, 0.667)
    """
    sizes = np.asarray(block_sizes, dtype=np.int64)
    if sizes.sum() != outcome.published:
        raise ParameterError(
            f"The 'block_sizes' parameter of utility_of must add up to the {outcome.published:,} records kept. "
            f"Got {sizes.sum():,} instead."
        )
    return utility_of_cells(cells_of(outcome), outcome.table, sizes, outcome.records - outcome.published)


def utility_of_cells(
    cells: Sequence[Cells], table: Table, sizes: NDArray[np.int64], left_out: int
) -> dict[str, Any]:
    """Return the same where tuples came in pieces, and their cells and blocks were counted together."""
    costs = {attribute.name: attribute.distortion() for attribute in cells}
    return {
        "distortion": weighted_mean(costs, table),
        "distortion_by_attribute": costs,
        "discernibility": discernibility(sizes, left_out),
        "blocks": len(sizes),
        "average_block": average_block(sizes),
        "ncp": weighted_mean({attribute.name: attribute.ncp() for attribute in cells}, table),
        "granularity": weighted_mean({attribute.name: attribute.granularity() for attribute in cells}, table),
        "non_uniform_entropy": entropy_share(cells, table),
    }
