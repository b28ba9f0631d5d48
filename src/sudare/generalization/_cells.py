"""Compiled: all cells (one node per attribute) that the records of a table lie in."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from sudare.generalization._kernels import tuple_number
from sudare.kernels import kernel, slot_of, slots_for, step

if TYPE_CHECKING:
    from sudare.generalization.problem import Units

Array = np.ndarray[Any, Any]


class Counted(NamedTuple):
    """The cells at one choice of levels, and the hash tables that number them; made once for all choices."""

    cell_of: Array
    """The cell of each unit."""
    records: Array
    distinct: Array
    """How many records each cell has, and how many sensitive values."""
    cell_turn: Array
    cell_key: Array
    cell_at: Array
    """A hash table of cells; see `slot_of`."""
    pair_turn: Array
    pair_key: Array
    """A hash table of pairs of a cell and a sensitive value."""


@step
def _uncounted(units: int) -> Counted:  # pragma: no cover
    slots = slots_for(units)
    return Counted(
        np.empty(units, dtype=np.int64),
        np.empty(units, dtype=np.int64),
        np.empty(units, dtype=np.int64),
        np.full(slots, -1, dtype=np.int64),
        np.empty(slots, dtype=np.uint64),
        np.empty(slots, dtype=np.int64),
        np.full(slots, -1, dtype=np.int64),
        np.empty(slots, dtype=np.uint64),
    )


@step
def _count(units: Units, levels: Array, turn: int, counted: Counted) -> int:  # pragma: no cover
    """Number the cells at one choice of levels, count their records and values, and return how many there are."""
    weights, sensitive, values = units.weights, units.sensitive, units.values
    cell_of, records, distinct, cell_turn, cell_key, cell_at, pair_turn, pair_key = counted
    cells = 0
    for u in range(len(weights)):
        key = tuple_number(units, u, levels)
        slot = slot_of(key, turn, cell_turn, cell_key)
        if cell_turn[slot] != turn:
            cell_turn[slot], cell_key[slot], cell_at[slot] = turn, key, cells
            records[cells], distinct[cells] = 0, 0 if values > 1 else 1
            cells += 1
        cell_of[u] = cell_at[slot]
        records[cell_of[u]] += weights[u]
    if values > 1:
        for u in range(len(weights)):
            key = np.uint64(cell_of[u] * values + sensitive[u])
            slot = slot_of(key, turn, pair_turn, pair_key)
            if pair_turn[slot] != turn:
                pair_turn[slot], pair_key[slot] = turn, key
                distinct[cell_of[u]] += 1
    return cells


@kernel
def cheapest(
    units: Units, choices: Array, cost: Array, min_records: Array, min_values: Array, best: Array
) -> None:  # pragma: no cover
    """Lower `best[i, u]` to the cost of the cheapest of these choices at which unit u's cell has minimum i.

    The choices must be in order of rising cost.
    """
    m = len(units.weights)
    counted = _uncounted(m)
    cell_of, records, distinct = counted.cell_of, counted.records, counted.distinct
    for choice in range(choices.shape[0]):
        _count(units, choices[choice], choice, counted)
        for i in range(len(min_records)):
            for u in range(m):
                g = cell_of[u]
                if (
                    cost[choice] < best[i, u]
                    and records[g] >= min_records[i]
                    and distinct[g] >= min_values[i]
                ):
                    best[i, u] = cost[choice]


@kernel
def closed(
    units: Units, choices: Array, min_records: int, min_values: int, max_members: int
) -> tuple[Array, Array, Array]:  # pragma: no cover
    """Return the cells that have the minimum, not too many members, and are no larger than their records make them.

    As the start of each cell's members, all members, and each cell's choice. A cell whose records already share
    a lower node of some attribute is left out: a smaller one has the same records.
    """
    m = len(units.weights)
    counted = _uncounted(m)
    cell_of, records, distinct = counted.cell_of, counted.records, counted.distinct
    size, differ, place = (
        np.empty(m, dtype=np.int64),
        np.empty(m, dtype=np.int64),
        np.empty(
            m, dtype=np.int64
        ),  # where the next member of each cell goes; -1 for a cell that is left out
    )
    starts, members, choice_of = [0], np.empty(4 * m, dtype=np.int32), [0]
    starts.pop()
    choice_of.pop()
    end = 0
    for choice in range(choices.shape[0]):
        levels = choices[choice]
        cells = _count(units, levels, choice, counted)
        all_differ = _find_differing(units, levels, cell_of, cells, size, differ)
        for g in range(cells):
            place[g] = -1
            if differ[g] != all_differ or size[g] > max_members:
                continue
            if records[g] >= min_records and distinct[g] >= min_values:
                place[g] = end
                starts.append(end)
                choice_of.append(choice)
                end += size[g]
        if end > len(members):
            more = np.empty(2 * end, dtype=np.int32)
            more[: len(members)] = members
            members = more
        for u in range(m):
            g = cell_of[u]
            if place[g] >= 0:
                members[place[g]] = u
                place[g] += 1
    starts.append(end)
    return np.array(starts), members[:end].copy(), np.array(choice_of)


@step
def _find_differing(
    units: Units, levels: Array, cell_of: Array, cells: int, size: Array, differ: Array
) -> int:  # pragma: no cover
    """Count the units of each cell, and set a bit for each attribute in which they differ one level below.

    Returns the bits of all attributes that have a level below.
    """
    leaves, trees = units.leaves, units.trees
    first = np.full(cells, -1, dtype=np.int64)
    size[:cells], differ[:cells] = 0, 0
    all_differ = 0
    for a in range(leaves.shape[1]):
        if levels[a] > 0:
            all_differ |= 1 << a
    for u in range(leaves.shape[0]):
        g = cell_of[u]
        size[g] += 1
        if first[g] < 0:
            first[g] = u
        elif differ[g] != all_differ:
            for a in range(leaves.shape[1]):
                if levels[a] > 0 and not differ[g] >> a & 1:
                    below = trees.offset[a, levels[a] - 1]
                    if trees.nodes[below + leaves[u, a]] != trees.nodes[below + leaves[first[g], a]]:
                        differ[g] |= 1 << a
    return all_differ
