"""What a generalized table is still good for, as far as its published labels tell.

A certificate holds these figures, so they must not depend on anything but the labels and the schema. How far a label
climbed can be told where the schema alone says what the hierarchy is; else the distortion is left out.
"""

from __future__ import annotations

import math
import re
from typing import Any

import numpy as np
import polars as pl

from sudare.tables.attribute import Attribute, Role
from sudare.tables.hierarchy import Hierarchy
from sudare.tables.paths import ROOT
from sudare.tables.recipes import FileRecipe, GroupsRecipe, SuppressRecipe, TreeRecipe
from sudare.tables.runs import PublishedRows, Runs
from sudare.tables.schema import Schema
from sudare.utility.blocks import average_block, discernibility

RANGE = re.compile(r"\[.*, .*\]", re.DOTALL)  # how a hierarchy made from the data itself writes its nodes


def utility_of_labels(published: PublishedRows, schema: Schema) -> dict[str, Any]:
    """Return blocks, their average size and discernibility, and the distortion where labels tell it.

    Records that were left out are not counted: nothing that is published tells how many there were.

    >>> frame = pl.DataFrame({"sex": ["f", "f", "*", "*"]})
    >>> utility_of_labels(Runs.of(frame), Schema.from_roles(quasi=["sex"]))
    {'blocks': 2, 'average_block': 2.0, 'discernibility': 8, 'distortion': 0.5}
    """
    quasi = [name for name in schema.names(Role.quasi) if name in published.columns]
    sizes = _block_sizes(published, quasi).to_numpy()
    utility = {
        "blocks": len(sizes),
        "average_block": average_block(sizes.astype(np.int64)),
        "discernibility": discernibility(sizes.astype(np.int64)),
    }
    distortion = _distortion(published, schema, quasi)
    return utility if distortion is None else utility | {"distortion": distortion}


def _block_sizes(published: PublishedRows, quasi: list[str]) -> pl.Series:
    if not quasi:
        return pl.Series([published.height])
    return pl.concat([blocks.grouped().lengths for blocks in published.pieces(quasi, quasi)])


def _distortion(published: PublishedRows, schema: Schema, quasi: list[str]) -> float | None:
    """Return the mean cost of the published cells; None if some label's cost cannot be told."""
    weights = [schema[name].weight for name in quasi]
    costs = [_cost(published.counted([name]), schema[name]) for name in quasi]
    if any(cost is None for cost in costs):
        return None
    whole = sum(weights)
    return sum(c * w for c, w in zip(costs, weights, strict=True) if c is not None) / whole if whole else 0.0


def _cost(cells: Runs, attribute: Attribute) -> float | None:
    """Return the mean share of the hierarchy that a column's cells climbed."""
    column, lengths = cells.rows.to_series(), cells.lengths
    if column.dtype != pl.String:
        return 0.0  # published in its own type: nothing climbed
    hierarchy = _declared(attribute)
    counted = pl.DataFrame({"label": column, "count": lengths}).group_by("label").agg(pl.sum("count"))
    labels, counts = counted["label"].to_list(), counted["count"].to_list()
    shares = [_share(label, hierarchy, attribute) for label in labels]
    if any(share is None for share in shares):
        return None
    # Exact, so that it does not depend on the order in which labels were counted.
    whole = math.fsum(s * n for s, n in zip(shares, counts, strict=True) if s is not None)
    return whole / int(lengths.sum())


def _declared(attribute: Attribute) -> dict[str, float] | None:
    """Return what every label costs, if the schema alone says what the hierarchy is."""
    recipe = attribute.hierarchy
    if recipe is None:
        return None
    if isinstance(recipe, FileRecipe | TreeRecipe | GroupsRecipe):  # they know all their values themselves
        return _costs(recipe.build(pl.Series([], dtype=pl.String)))
    if isinstance(recipe, Hierarchy):
        return _costs(recipe)
    if attribute.domain is not None:
        return _costs(recipe.build(pl.Series(list(attribute.domain), strict=False)))
    return None


def _costs(hierarchy: Hierarchy) -> dict[str, float]:
    """Return the cost of every label; a label that stands for nodes of two levels has none.

    A block is published at the lowest level at which its records are alike. So above level 0 only nodes with several
    children are ever published, and a name that is handed up from an only child is no second node.
    """
    costs = dict.fromkeys((text for text in hierarchy.labels[0] if text is not None), 0.0)
    unclear: set[str] = set()
    for level in range(1, hierarchy.height + 1):
        below, above = hierarchy.codes[level - 1], hierarchy.codes[level]
        children = np.bincount(np.unique(np.stack([above, below]), axis=1)[0])
        root = level == hierarchy.height  # missing values, which are under no other node, meet the rest there
        for node in np.flatnonzero(children > (0 if root else 1)):
            label = hierarchy.labels[level][node]
            cost = level / hierarchy.height
            if label is not None and costs.setdefault(label, cost) != cost:
                unclear.add(label)
    return {label: cost for label, cost in costs.items() if label not in unclear}


def _share(label: str | None, costs: dict[str, float] | None, attribute: Attribute) -> float | None:
    if label is None:
        return 0.0  # missing values have a branch of their own, below the root
    if costs is not None:
        return costs.get(label)
    if attribute.hierarchy is not None and not isinstance(attribute.hierarchy, SuppressRecipe):
        return None  # made from the values by a rule, and as deep as these made it
    return None if RANGE.fullmatch(label) else float(label == ROOT)
