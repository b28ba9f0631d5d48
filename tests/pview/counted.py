"""Rows as a method gets them: counted."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from sudare.pview.domain import Axis, Domain
from sudare.tables.counts import Counts, count
from sudare.tables.table import Table


def counted(codes: Any, sizes: Sequence[int]) -> Counts:
    """Count coded rows; the attributes are called 0, 1, 2, ..."""
    if len(codes) == 0:
        names = tuple(map(str, range(len(sizes))))
        return Counts(names, np.empty((0, len(sizes)), np.int32), np.empty(0, np.int64), tuple(sizes))
    return count({str(a): codes[:, a] for a in range(len(sizes))}, sizes)


def uncounted(counts: Counts) -> np.ndarray:
    """Return a coded row for every record."""
    return np.repeat(counts.codes, counts.weights, axis=0)


def cells_of(axis: Axis, table: Table) -> list[int]:
    """Return the cell of every row of a table, on one axis."""
    return axis.cells_of(table)[table.rows.column(axis.name).codes].tolist()


def rows_of(domain: Domain, table: Table) -> np.ndarray:
    """Return the cells of every row of a table, in the table's order."""
    return np.array([cells_of(axis, table) for axis in domain.axes]).T
