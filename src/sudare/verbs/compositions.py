"""Persons or households that are published as such: their rows carry a number that says which of them belong together.

The number is new: units are numbered in the order of what is published of them, so that it tells nothing else, and cannot be
joined with that of another release. Whoever knows all rows of a unit finds k units with its composition.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NoReturn

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sudare.engines.memory import Memory
from sudare.errors import InputError, ParameterError
from sudare.generalization.compositions import learn_compositions
from sudare.generalization.methods import Method
from sudare.plans.compositions import CompositionsPlan, PlacedRows
from sudare.plans.numbers_beside import ends_beside
from sudare.privacy.requirement import BlockRequirement
from sudare.tables.attribute import Role
from sudare.tables.exact import exact
from sudare.tables.excerpt import without
from sudare.tables.hierarchy import Hierarchy
from sudare.tables.published import in_order, order_of
from sudare.tables.runs import Runs
from sudare.tables.table import Table
from sudare.verbs.shifting import Shifts
from sudare.verbs.units import unit_of

LINKED = (
    "Rows say which of them are of one {0}. Who knows all rows of a {0} finds as many {0}s with their published values as was promised; "
    "who also knows a sensitive value of one of them may tell it from the others."
)


def is_linked(table: Table) -> bool:
    """Tell whether rows are published with a number that says which of them belong together."""
    unit = table.schema.unit
    return unit is not None and table.schema[unit].linked


def learn_linked(table: Table, asked: Sequence[BlockRequirement], method: Method) -> CompositionsPlan:
    """Learn a plan for units that are published as such."""
    unit = unit_of(table)
    if not isinstance(table.rows, Memory):
        raise InputError(
            f"{table.source.name}: {table.schema[unit].role}s that are published as such are worked on in memory. Read the table with "
            "engine='memory', or publish rows that do not say which belong together: linked = false."
        )
    return learn_compositions(table, asked, method, unit)


def covered_units(table: Table, placed: PlacedRows) -> Table:
    """Return the table itself if all its units are covered, and else what is left without the others."""
    if (placed.slot >= 0).all():
        return table
    left_out = np.unique(placed.unit[placed.slot < 0])
    return without(table, [unit_of(table)], left_out[:, np.newaxis].astype(np.int32))


def rewritten(placed: PlacedRows, shifts: Shifts) -> Runs:
    """Return what is published of the rows, all of them covered, with the numbers of their units."""
    table = placed.table
    unit, quasi, rows = unit_of(table), table.names(Role.quasi), table.rows
    assert isinstance(rows, Memory)
    columns = []
    for name in table.publishable:
        column = rows.column(name)
        if name == unit:
            columns.append(pl.Series(name, column.codes.astype(np.int64)))
        elif name in quasi and (levels := placed.levels[placed.slot, quasi.index(name)]).any():
            columns.append(
                pl.Series(name, _labels(table[name].hierarchy, column.codes, levels), dtype=pl.String)
            )
        elif name in shifts.names:
            columns.append(shifts.moved(name, column.codes, rows.column(unit).codes))
        else:
            columns.append(column.decode().alias(name))
        if name in table.schema.beside().values():
            columns += ends_beside(columns[-1])
    frame = pl.DataFrame(columns)
    return Runs.of(in_order(frame.with_columns(numbers(frame, unit))))


def _labels(
    tree: Hierarchy | None, codes: NDArray[np.unsignedinteger], levels: NDArray[np.int16]
) -> list[str | None]:
    assert tree is not None
    nodes = tree.codes[levels, codes]
    return [tree.labels[level][node] for level, node in zip(levels.tolist(), nodes.tolist(), strict=True)]


def numbers(frame: pl.DataFrame, unit: str) -> pl.Series:
    """Return a new number for the unit of each row: its place in the order of what is published of units.

    >>> numbers(pl.DataFrame({"hid": [7, 5, 7], "age": [30, 20, 40]}), "hid").to_list()
    [2, 1, 2]
    """
    ranks, codes = _ranks(frame.drop(unit)), frame[unit].rank("dense").to_numpy().astype(np.int64) - 1
    order = np.lexsort((ranks, codes))
    first = np.flatnonzero(np.diff(codes[order], prepend=-1))
    members = np.split(ranks[order], first[1:])
    new = np.empty(len(members), dtype=np.int64)
    new[sorted(range(len(members)), key=lambda own: members[own].tolist())] = np.arange(1, len(members) + 1)
    return pl.Series(unit, new[codes])


def _ranks(rows: pl.DataFrame) -> NDArray[np.int64]:
    """Return the place of each row in the published order; rows that are equal have the same."""
    order = order_of(rows)
    differs = np.zeros(len(order), dtype=bool)
    for column in rows.iter_columns():
        own = exact(column).gather(order)
        differs |= own.ne_missing(own.shift()).to_numpy()
    ranks = np.empty(len(order), dtype=np.int64)
    ranks[order] = np.cumsum(differs)
    return ranks


def no_ledger() -> NoReturn:
    """Refuse a ledger, which compares releases row by row."""
    raise ParameterError(
        "A ledger compares what releases tell of single rows, and this one tells which rows belong together. Write it without a ledger, or "
        "publish rows that do not say which belong together: linked = false."
    )
