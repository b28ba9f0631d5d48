"""Loss of information: how many values a published cell could stand for.

Distortion counts levels; these measures look at what lies under the published node. All of them take
the level of every cell (see `cells_of`), put a suppressed record at the root, and weight attributes as
the schema says.
"""

from __future__ import annotations

from collections.abc import Sequence

from sudare.tables.table import Table
from sudare.utility.cells import Cells, cells_of
from sudare.utility.distortion import weighted_mean
from sudare.utility.outcome import Outcome


def ncp(outcome: Outcome) -> float:
    """Return the normalised certainty penalty: the mean over all cells of (u - 1) / (U - 1).

    u are the leaves under the published node, U those of the attribute, in the hierarchy that the
    schema gives (Xu et al. 2006). 0: nothing changed; 1: all suppressed. An attribute with one leaf
    only has nothing to lose: 0.

    >>> import polars as pl, sudare as sd
    >>> towns = sd.Hierarchy.from_tree({"north": ["Ayr"], "south": ["Bath", "Deal"]})
    >>> schema = sd.Schema.from_roles(quasi=["town"], hierarchies={"town": towns})
    >>> table = sd.read(pl.DataFrame({"town": ["Ayr", "Bath"]}), schema)
    >>> ncp(Outcome.of(table, [[1], [1]]))      # "north" stands for 1 town, "south" for 2 of 3
    0.25
    """
    return weighted_mean({cells.name: cells.ncp() for cells in cells_of(outcome)}, outcome.table)


def granularity(outcome: Outcome) -> float:
    """Return the granularity: the mean over all cells of u / U, the share of the domain a cell stands for.

    u are the leaves under the published node, U those of the attribute. Unlike ncp it is 1 / U, not 0,
    where nothing changed; 1: all suppressed.

    >>> import polars as pl, sudare as sd
    >>> towns = sd.Hierarchy.from_tree({"north": ["Ayr", "Wick"], "south": ["Bath", "Deal"]})
    >>> schema = sd.Schema.from_roles(quasi=["town"], hierarchies={"town": towns})
    >>> table = sd.read(pl.DataFrame({"town": ["Ayr", "Bath"]}), schema)
    >>> granularity(Outcome.of(table, [0])), granularity(Outcome.of(table, [1]))
    (0.25, 0.5)
    """
    return weighted_mean({cells.name: cells.granularity() for cells in cells_of(outcome)}, outcome.table)


def non_uniform_entropy(outcome: Outcome) -> float:
    """Return the bits lost by publishing nodes for values, as a share of the bits lost if all were suppressed.

    A cell with value v that is published as the node g loses -log2(records with v / records with a value
    under g), both counted in the original table (Gionis and Tassa 2009): a rare value loses more than a
    frequent one. 0: nothing changed; 1: all suppressed. A table of equal rows has nothing to lose: 0.

    >>> import polars as pl, sudare as sd
    >>> table = sd.read(pl.DataFrame({"sex": ["f", "f", "f", "m"]}), sd.Schema.from_roles(quasi=["sex"]))
    >>> round(non_uniform_entropy(Outcome.of(table, [[0], [1]])), 4)  # 2 bits of 3 x 0.415 + 2
    0.6163
    """
    return entropy_share(cells_of(outcome), outcome.table)


def entropy_share(cells: Sequence[Cells], table: Table) -> float:
    """Return the non-uniform entropy of counted cells."""
    lost = most = 0.0
    for attribute in cells:
        weight = table.schema[attribute.name].weight
        bits, all_bits = attribute.entropy()
        lost, most = lost + weight * bits, most + weight * all_bits
    return lost / most if most else 0.0
