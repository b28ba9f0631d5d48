"""Compiled: all cells (one node per attribute) that the records of a table lie in."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from sudare.generalization._kernels import tuple_number
from sudare.kernels import kernel, slot_of, slots_for, step
from sudare.lent import lent

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

    @classmethod
    def room_for(cls, units: Units) -> Counted:
        m = len(units.weights)
        slots = slots_for(m)
        return cls(
            cell_of=np.empty(m, dtype=np.int64),
            records=np.empty(m, dtype=np.int64),
            distinct=np.empty(m, dtype=np.int64),
            cell_turn=np.full(slots, -1, dtype=np.int64),
            cell_key=np.empty(slots, dtype=np.uint64),
            cell_at=np.empty(slots, dtype=np.int64),
            pair_turn=np.full(slots, -1, dtype=np.int64),
            pair_key=np.empty(slots, dtype=np.uint64),
        )


class Found(NamedTuple):
    """The cells that were found at some choices of levels; and room for looking at those of one choice."""

    start: Array
    """Of each cell's members."""
    choice: Array
    members: Array
    size: Array
    differ: Array
    """Of each cell: a bit for each attribute in which its units differ one level below."""
    first: Array
    place: Array
    """Where the next member of each cell goes; -1 for a cell that is left out."""

    @classmethod
    def room_for(cls, units: Units) -> Found:
        """Make room for the cells of a few choices: of one, there are no more members than units."""
        m = len(units.weights)
        size, differ, first, place = np.empty((4, m), dtype=np.int64)
        start, choice = np.empty((2, 4 * m), dtype=np.int64)
        return cls(start, choice, np.empty(4 * m, dtype=np.int32), size, differ, first, place)


@step
def _count(units: Units, levels: Array, turn: int, counted: Counted) -> int:  # pragma: no cover
    """Number the cells at one choice of levels, count their records and values, and return how many there are."""
    weights, sensitive, values = units.weights, units.sensitive, units.values
    cell_of, records, distinct = counted.cell_of, counted.records, counted.distinct
    cell_turn, cell_key, cell_at = counted.cell_turn, counted.cell_key, counted.cell_at
    pair_turn, pair_key = counted.pair_turn, counted.pair_key
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


def cheapest(
    units: Units, choices: Array, cost: Array, min_records: Array, min_values: Array, best: Array
) -> None:
    """Lower `best[i, u]` to the cost of the cheapest of these choices at which unit u's cell has minimum i.

    The choices must be in order of rising cost.
    """
    _cheapest(units, choices, cost, min_records, min_values, Counted.room_for(units), best)


@kernel
def _cheapest(
    units_: Units,
    choices: Array,
    cost: Array,
    min_records: Array,
    min_values: Array,
    counted_: Counted,
    best: Array,
) -> None:  # pragma: no cover
    units, counted = lent(units_), lent(counted_)
    cell_of, records, distinct = counted.cell_of, counted.records, counted.distinct
    for choice in range(choices.shape[0]):
        _count(units, choices[choice], choice, counted)
        for i in range(len(min_records)):
            for u in range(len(units.weights)):
                g = cell_of[u]
                if (
                    cost[choice] < best[i, u]
                    and records[g] >= min_records[i]
                    and distinct[g] >= min_values[i]
                ):
                    best[i, u] = cost[choice]


def closed(
    units: Units, choices: Array, min_records: int, min_values: int, max_members: int
) -> tuple[Array, Array, Array]:
    """Return the cells that have the minimum, not too many members, and are no larger than their records make them.

    As the start of each cell's members, all members, and each cell's choice. A cell whose records already share
    a lower node of some attribute is left out: a smaller one has the same records.
    """
    counted, found = Counted.room_for(units), Found.room_for(units)
    members, choice_of = [np.empty(0, dtype=np.int32)], [np.empty(0, dtype=np.int64)]
    starts, done, end = [np.empty(0, dtype=np.int64)], 0, 0
    while done < len(choices):
        done, cells, listed = _close(
            units, choices, done, min_records, min_values, max_members, counted, found
        )
        starts.append(end + found.start[:cells])
        members.append(found.members[:listed].copy())
        choice_of.append(found.choice[:cells].copy())
        end += listed
    return np.append(np.concatenate(starts), end), np.concatenate(members), np.concatenate(choice_of)


@kernel
def _close(
    units_: Units,
    choices: Array,
    done: int,
    min_records: int,
    min_values: int,
    max_members: int,
    counted_: Counted,
    found_: Found,
) -> tuple[int, int, int]:  # pragma: no cover
    """Find the cells of as many choices as there is room for; return how many are done then, the cells and their members."""
    units, counted, found = lent(units_), lent(counted_), lent(found_)
    m, cells, end = units.weights.size, 0, 0
    while done < choices.shape[0] and end + m <= found.members.size:
        levels = choices[done]
        own = _count(units, levels, done, counted)
        all_differ = _find_differing(own, units, levels, counted, found)
        for g in range(own):
            found.place[g] = -1
            if found.differ[g] != all_differ or found.size[g] > max_members:
                continue
            if counted.records[g] >= min_records and counted.distinct[g] >= min_values:
                found.place[g] = end
                found.start[cells], found.choice[cells] = end, done
                end += found.size[g]
                cells += 1
        for u in range(m):
            g = counted.cell_of[u]
            if found.place[g] >= 0:
                found.members[found.place[g]] = u
                found.place[g] += 1
        done += 1
    return done, cells, end


@step
def _find_differing(
    cells: int, units: Units, levels: Array, counted: Counted, found: Found
) -> int:  # pragma: no cover
    """Count the units of each cell, and set a bit for each attribute in which they differ one level below.

    Returns the bits of all attributes that have a level below.
    """
    leaves, trees = units.leaves, units.trees
    size, differ, first = found.size, found.differ, found.first
    for g in range(cells):
        size[g], differ[g] = 0, 0
    all_differ = 0
    for a in range(leaves.shape[1]):
        if levels[a] > 0:
            all_differ |= 1 << a
    for u in range(leaves.shape[0]):
        g = counted.cell_of[u]
        size[g] += 1
        if size[g] == 1:
            first[g] = u
        elif differ[g] != all_differ:
            for a in range(leaves.shape[1]):
                if levels[a] > 0 and not differ[g] >> a & 1:
                    below = trees.offset[a, levels[a] - 1]
                    if trees.nodes[below + leaves[u, a]] != trees.nodes[below + leaves[first[g], a]]:
                        differ[g] |= 1 << a
    return all_differ
