"""Distortion: how far the published cells climbed up their hierarchies."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from sudare.tables.table import Table


def full_domain_distortion(table: Table, levels: Mapping[str, int], suppressed: int = 0) -> dict[str, float]:
    """Return each attribute's mean cost per cell when all its records climb to one level.

    The cost of a cell is levels climbed / height of the hierarchy (the function CA of the
    l-diversification paper, section 2.5); a suppressed record costs 1 in every cell.
    """
    share = suppressed / len(table)
    costs = {}
    for name, level in levels.items():
        hierarchy = table[name].hierarchy
        cost = float(
            level if hierarchy is None else hierarchy.cost(level)
        )  # without one: itself, or suppressed
        costs[name] = cost + share * (1 - cost)
    return costs


def weighted_mean(costs: Mapping[str, float], table: Table) -> float:
    """Return DIS: the mean cost over all cells, attributes weighted as the schema says (equally, if it is silent)."""
    weights = {name: table.schema[name].weight for name in costs}
    total = sum(weights.values())
    return sum(cost * weights[name] for name, cost in costs.items()) / total if total else 0.0


def discernibility(block_sizes: NDArray[np.int64], suppressed: int = 0) -> int:
    """Return DM: every record costs the size of its block, a suppressed one the size of the table.

    >>> discernibility(np.array([2, 3]))
    13
    """
    records = int(block_sizes.sum()) + suppressed
    return int((block_sizes**2).sum()) + suppressed * records
