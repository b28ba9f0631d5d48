"""All measures of cells and blocks at once, for certificates and reports."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sudare.errors import ParameterError
from sudare.utility.blocks import average_block, discernibility
from sudare.utility.cells import cells_of
from sudare.utility.distortion import weighted_mean
from sudare.utility.loss import entropy_share
from sudare.utility.outcome import Outcome, in_pieces


def utility_of(outcomes: Outcome | Iterable[Outcome], block_sizes: NDArray[np.int64]) -> dict[str, Any]:
    """Return every measure of the cells and blocks that a generalization left, as plain data.

    `block_sizes` says how many records each published block has. The tuples of a table may come in pieces.

    >>> import polars as pl, sudare as sd
    >>> table = sd.read(pl.DataFrame({"sex": ["f", "f", "m"]}), sd.Schema.from_roles(quasi=["sex"]))
    >>> measures = utility_of(Outcome.of(table, [0], np.array([True, False])), np.array([2]))
    >>> measures["discernibility"], measures["blocks"], measures["average_block"]
    (7, 1, 2.0)
    >>> round(measures["distortion"], 3), round(measures["ncp"], 3), round(measures["granularity"], 3)
    (0.333, 0.333, 0.667)
    """
    sizes = np.asarray(block_sizes, dtype=np.int64)
    tables, records, published = [], 0, 0

    def seen() -> Iterator[Outcome]:
        nonlocal records, published
        for outcome in in_pieces(outcomes):
            tables.append(outcome.table)
            records, published = records + outcome.records, published + outcome.published
            yield outcome

    cells = cells_of(seen())
    table = tables[0]
    if sizes.sum() != published:
        raise ParameterError(
            f"The 'block_sizes' parameter of utility_of must add up to the {published:,} records kept. "
            f"Got {sizes.sum():,} instead."
        )
    costs = {attribute.name: attribute.distortion() for attribute in cells}
    return {
        "distortion": weighted_mean(costs, table),
        "distortion_by_attribute": costs,
        "discernibility": discernibility(sizes, records - published),
        "blocks": len(sizes),
        "average_block": average_block(sizes),
        "ncp": weighted_mean({attribute.name: attribute.ncp() for attribute in cells}, table),
        "granularity": weighted_mean({attribute.name: attribute.granularity() for attribute in cells}, table),
        "non_uniform_entropy": entropy_share(cells, table),
    }
