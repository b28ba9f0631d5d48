"""Distortion: how far the published cells climbed up their hierarchies."""

from __future__ import annotations

from collections.abc import Mapping

from sudare.tables.table import Table
from sudare.utility.cells import cells_of
from sudare.utility.outcome import Outcome


def distortion(outcome: Outcome) -> float:
    """Return DIS: the mean over all cells of levels climbed / height of the hierarchy.

    This is the distortion of the l-diversification paper (section 2.5, cost function CA). A suppressed
    record costs 1 in every cell; attributes count as their weights in the schema say. 0: nothing
    changed; 1: all suppressed.

    >>> import polars as pl, sudare as sd
    >>> schema = sd.Schema.from_roles(quasi=["zip", "sex"], hierarchies={"zip": sd.Hierarchy.mask(["021", "022"])})
    >>> table = sd.read(pl.DataFrame({"zip": ["021", "022"], "sex": ["f", "m"]}), schema)
    >>> distortion(Outcome.of(table, [[3, 0], [0, 1]]))     # zip: 3 of 3 levels and 0; sex: 0 and suppressed
    0.5
    """
    return weighted_mean(distortion_by_attribute(outcome), outcome.table)


def distortion_by_attribute(outcome: Outcome) -> dict[str, float]:
    """Return each quasi attribute's mean over its cells of levels climbed / height.

    >>> import polars as pl, sudare as sd
    >>> table = sd.read(pl.DataFrame({"sex": ["f", "m"]}), sd.Schema.from_roles(quasi=["sex"]))
    >>> distortion_by_attribute(Outcome.of(table, [[0], [1]]))
    {'sex': 0.5}
    """
    return {cells.name: cells.distortion() for cells in cells_of(outcome)}


def weighted_mean(costs: Mapping[str, float], table: Table) -> float:
    """Return the mean of the attributes' costs, weighted as the schema says (equally, if it is silent).

    >>> import polars as pl, sudare as sd
    >>> schema = sd.Schema.from_roles(quasi=["age", "sex"], weights={"age": 3})
    >>> weighted_mean({"age": 1.0, "sex": 0.0}, sd.read(pl.DataFrame({"age": [30], "sex": ["f"]}), schema))
    0.75
    """
    weights = {name: table.schema[name].weight for name in costs}
    total = sum(weights.values())
    return sum(cost * weights[name] for name, cost in costs.items()) / total if total else 0.0
