"""Compiled: all cells (one node per attribute) that the records of a table lie in."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numba import njit

if TYPE_CHECKING:
    from sudare.generalization.problem import Trees

Array = np.ndarray[Any, Any]


@njit(cache=True, nogil=True, inline="always")
def _place(key: Any, mask: int) -> Any:  # pragma: no cover
    return np.int64((np.uint64(key) * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(32)) & mask


@njit(cache=True, nogil=True)
def _slots(items: int) -> int:  # pragma: no cover
    slots = 2
    while slots < 2 * items:
        slots *= 2
    return slots


@njit(cache=True, nogil=True)
def group(
    units: Array,
    levels: Array,
    trees: Trees,
    turn: int,
    seen: Array,
    key_at: Array,
    cell_at: Array,
    cell_of: Array,
) -> int:  # pragma: no cover
    """Number the cells at one choice of levels; put each unit's into `cell_of` and return how many there are.

    `seen`, `key_at` and `cell_at` are a hash table that is emptied by taking another `turn`.
    """
    mask, cells = len(seen) - 1, 0
    for u in range(units.shape[0]):
        key = np.uint64(0)
        for a in range(units.shape[1]):
            node = trees.nodes[trees.offset[a, levels[a]] + units[u, a]]
            key = key * np.uint64(trees.size[a, levels[a]]) + np.uint64(node)
        slot = _place(key, mask)
        while seen[slot] == turn and key_at[slot] != key:
            slot = (slot + 1) & mask
        if seen[slot] != turn:
            seen[slot], key_at[slot], cell_at[slot] = turn, key, cells
            cells += 1
        cell_of[u] = cell_at[slot]
    return cells


@njit(cache=True, nogil=True)
def count_cells(
    weights: Array,
    sensitive: Array,
    values: int,
    cells: int,
    cell_of: Array,
    turn: int,
    seen: Array,
    key_at: Array,
    records: Array,
    distinct: Array,
) -> None:  # pragma: no cover
    """Count the records and the sensitive values of each cell."""
    records[:cells] = 0
    distinct[:cells] = 1
    for u in range(len(cell_of)):
        records[cell_of[u]] += weights[u]
    if values == 1:
        return
    distinct[:cells] = 0
    mask = len(seen) - 1
    for u in range(len(cell_of)):
        key = cell_of[u] * values + sensitive[u]
        slot = _place(key, mask)
        while seen[slot] == turn and key_at[slot] != key:
            slot = (slot + 1) & mask
        if seen[slot] != turn:
            seen[slot], key_at[slot] = turn, key
            distinct[cell_of[u]] += 1


@njit(cache=True, nogil=True)
def cheapest(
    units: Array,
    weights: Array,
    sensitive: Array,
    values: int,
    trees: Trees,
    choices: Array,
    cost: Array,
    need_records: Array,
    need_values: Array,
    best: Array,
) -> None:  # pragma: no cover
    """Lower `best[need, unit]` to the cost of the cheapest of these choices at which the unit's cell has what is needed.

    The choices must be in order of rising cost.
    """
    m, needs = units.shape[0], len(need_records)
    slots = _slots(m)
    seen, again = np.full(slots, -1, dtype=np.int64), np.full(slots, -1, dtype=np.int64)
    key_at, pair_at = np.empty(slots, dtype=np.uint64), np.empty(slots, dtype=np.int64)
    cell_at, cell_of = np.empty(slots, dtype=np.int64), np.empty(m, dtype=np.int64)
    records, distinct = np.empty(m, dtype=np.int64), np.empty(m, dtype=np.int64)
    for choice in range(choices.shape[0]):
        cells = group(units, choices[choice], trees, choice, seen, key_at, cell_at, cell_of)
        count_cells(weights, sensitive, values, cells, cell_of, choice, again, pair_at, records, distinct)
        for i in range(needs):
            for u in range(m):
                g = cell_of[u]
                if (
                    cost[choice] < best[i, u]
                    and records[g] >= need_records[i]
                    and distinct[g] >= need_values[i]
                ):
                    best[i, u] = cost[choice]


@njit(cache=True, nogil=True)
def closed(
    units: Array,
    weights: Array,
    sensitive: Array,
    values: int,
    trees: Trees,
    choices: Array,
    need_records: int,
    need_values: int,
) -> tuple[Array, Array, Array]:  # pragma: no cover
    """Return the cells that have what is needed and are no larger than their records make them.

    As the start of each cell's members, all members, and each cell's choice. A cell whose records already share
    a lower node of some attribute is left out: a smaller one has the same records.
    """
    m, n = units.shape
    slots = _slots(m)
    seen, again = np.full(slots, -1, dtype=np.int64), np.full(slots, -1, dtype=np.int64)
    key_at, pair_at = np.empty(slots, dtype=np.uint64), np.empty(slots, dtype=np.int64)
    cell_at, cell_of = np.empty(slots, dtype=np.int64), np.empty(m, dtype=np.int64)
    records, distinct = np.empty(m, dtype=np.int64), np.empty(m, dtype=np.int64)
    first, differ, number = (
        np.empty(m, dtype=np.int64),
        np.empty(m, dtype=np.int64),
        np.empty(m, dtype=np.int64),
    )
    size = np.empty(m, dtype=np.int64)
    starts, members, at = [0], np.empty(4 * m, dtype=np.int32), [0]
    starts.pop()
    at.pop()
    end = 0
    for choice in range(choices.shape[0]):
        levels = choices[choice]
        cells = group(units, levels, trees, choice, seen, key_at, cell_at, cell_of)
        count_cells(weights, sensitive, values, cells, cell_of, choice, again, pair_at, records, distinct)
        all_differ = 0
        for a in range(n):
            if levels[a] > 0:
                all_differ |= 1 << a
        first[:cells], differ[:cells], size[:cells] = -1, 0, 0
        for u in range(m):
            g = cell_of[u]
            size[g] += 1
            if first[g] < 0:
                first[g] = u
            elif differ[g] != all_differ:
                for a in range(n):
                    if levels[a] > 0 and not differ[g] >> a & 1:
                        below = trees.offset[a, levels[a] - 1]
                        if trees.nodes[below + units[u, a]] != trees.nodes[below + units[first[g], a]]:
                            differ[g] |= 1 << a
        for g in range(cells):
            number[g] = -1
            if differ[g] == all_differ and records[g] >= need_records and distinct[g] >= need_values:
                number[g] = end  # where its next member goes
                starts.append(end)
                at.append(choice)
                end += size[g]
        if end > len(members):
            more = np.empty(2 * end, dtype=np.int32)
            more[: len(members)] = members
            members = more
        for u in range(m):
            g = cell_of[u]
            if number[g] >= 0:
                members[number[g]] = u
                number[g] += 1
    starts.append(end)
    return np.array(starts), members[:end].copy(), np.array(at)
