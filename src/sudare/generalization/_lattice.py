"""Compiled: groups of units at levels of some attributes, and what they cost."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from sudare.kernels import kernel, slot_of, slots_for
from sudare.lent import lent
from sudare.privacy._kernels import meets

if TYPE_CHECKING:
    from sudare.generalization.lattice import Next, Rows, Slots
    from sudare.privacy.limits import Limits

Array = np.ndarray[Any, Any]


@kernel
def divide(
    rows: Rows, own: Next, nodes: Array, turn: int, slots: Slots
) -> tuple[Rows, Array, Array]:  # pragma: no cover
    """Divide groups by the nodes that one more attribute has at a level; rows that became alike are one.

    `nodes` are those of its leaves. Also returns the group that each group was a part of, and its node.
    """
    group, rest, weights = rows
    m = group.size
    few = slots_for(m)
    turn_at, key_at, place_at = slots.turn[:few], slots.key[:few], slots.place[:few]
    part = np.empty(m, dtype=np.int32)
    before, node_of = np.empty(m, dtype=np.int32), np.empty(m, dtype=np.int32)
    groups = 0
    for i in range(m):
        node = nodes[own.leaf[rest[i]]]
        key = (np.uint64(group[i]) << np.uint64(32)) | np.uint64(node)
        slot = slot_of(key, turn, turn_at, key_at)
        if turn_at[slot] != turn:
            turn_at[slot], key_at[slot], place_at[slot] = turn, key, groups
            before[groups], node_of[groups] = group[i], node
            groups += 1
        part[i] = place_at[slot]
    new_group, new_rest = np.empty(m, dtype=np.int32), np.empty(m, dtype=np.int32)
    new_weights = np.empty(m, dtype=np.int64)
    count, turn = 0, turn + 1
    for i in range(m):
        after = own.rest[rest[i]]
        key = (np.uint64(part[i]) << np.uint64(32)) | np.uint64(after)
        slot = slot_of(key, turn, turn_at, key_at)
        if turn_at[slot] != turn:
            turn_at[slot], key_at[slot], place_at[slot] = turn, key, count
            new_group[count], new_rest[count], new_weights[count] = part[i], after, 0
            count += 1
        new_weights[place_at[slot]] += weights[i]
    divided = (new_group[:count], new_rest[:count], new_weights[:count])
    return divided, before[:groups], node_of[:groups]


@kernel
def weigh(
    rows: Rows, value: Array, values: int, own: Array, out: float, limits_: Limits, spare: int
) -> tuple[int, float, Array]:  # pragma: no cover
    """Return how many records are in groups that do not meet the limits, what all records cost, and which groups hold.

    `value` is the sensitive value of each rest, and `own` what a record of each group costs; one that is left out
    costs `out`. As soon as more than `spare` records are left out, counting stops.
    """
    limits = lent(limits_)
    group, rest, weights = rows
    m, groups = group.size, own.size
    by_value = limits.distinct > 1 or limits.more
    # Distances, windows, shares and harmless values are looked up by the value's code.
    whole = limits.harmless.size > 0 or limits.near.size > 0 or limits.allowed.size > 0
    whole = whole or limits.t[0] < 1 or limits.t[1] < 1 or limits.t[2] < 1
    size, end = np.zeros(groups, dtype=np.int64), np.zeros(groups, dtype=np.int64)
    for i in range(m):
        size[group[i]] += weights[i]
        end[group[i]] += 1
    order = np.empty(m if by_value else 0, dtype=np.int64)
    if by_value:
        for g in range(1, groups):
            end[g] += end[g - 1]
        for i in range(m):
            end[group[i]] -= 1
            order[end[group[i]]] = i
    histogram, listed = np.zeros(values, dtype=np.int64), np.zeros(values, dtype=np.int64)
    present = np.empty(values, dtype=np.int64)
    left_out, cost, holding = 0, 0.0, np.zeros(groups, dtype=np.bool_)
    for g in range(groups):
        count = 0
        if by_value:
            for at in range(end[g], end[g + 1] if g + 1 < groups else m):
                v = value[rest[order[at]]]
                if histogram[v] == 0:
                    present[count] = v
                    count += 1
                histogram[v] += weights[order[at]]
            for at in range(count):
                listed[at] = histogram[present[at]]
        holding[g] = meets(histogram if whole else listed[:count], size[g], limits)
        for at in range(count):
            histogram[present[at]] = 0
        if holding[g]:
            cost += own[g] * size[g]
        else:
            left_out += size[g]
            cost += out * size[g]
            if left_out > spare:
                break
    return left_out, cost, holding
