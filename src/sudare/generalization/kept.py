"""Who is left out leaves no trace: what is published is learned again from those who stay.

Where the schema does not say what a hierarchy is, it is made from the values of the table: the ends of its intervals are
somebody's values, its height grows with the largest, and so do the blocks that are cut along it. So once it is known who is
left out, everything is made again from the others alone, as if they were the whole table. They can meet the
requirements: they did so in the blocks that were found first.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from sudare.generalization.problem import hierarchy_of
from sudare.tables.column import Column
from sudare.tables.hierarchy import Hierarchy
from sudare.tables.schema import Role
from sudare.tables.table import Table
from sudare.tables.text import text_of


def measured_by(table: Table, rest: Table, kept: NDArray[np.bool_]) -> Table:
    """Return the whole table with the hierarchies that those who stay have: by these, what became of it is measured.

    Values that nobody has who stays are under the root alone.
    """
    columns = {
        name: _with_hierarchy_of(table[name], rest[name], kept)
        for name in table.names(Role.quasi)
        if not isinstance(table.schema[name].hierarchy, Hierarchy)  # which is the same for all
    }
    return replace(table, columns=table.columns | columns)


def _with_hierarchy_of(column: Column, rest: Column, kept: NDArray[np.bool_]) -> Column:
    tree = hierarchy_of(rest)
    place = np.full(column.size, -1, dtype=np.int64)
    place[column.codes[kept]] = rest.codes
    strangers, known = np.flatnonzero(place < 0), np.flatnonzero(place >= 0)
    names = tuple(None if v is None else text_of(v) for v in column.decode(strangers).to_list())
    codes = np.zeros((tree.height + 1, len(place)), dtype=np.int32)
    codes[:, known] = tree.codes[:, place[known]]
    labels = list(tree.labels)
    for level in range(tree.height):
        codes[level, strangers] = len(labels[level]) + np.arange(len(strangers))
        labels[level] = (*labels[level], *names)
    return replace(column, hierarchy=Hierarchy(tuple(labels), codes))
