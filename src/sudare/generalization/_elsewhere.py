"""Compiled: where else the records of an entry could be, as the blocks stand."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from sudare.generalization._dealt import NONE, Dealt
from sudare.generalization._kernels import tuple_number
from sudare.kernels import slot_of, slots_for, step

if TYPE_CHECKING:
    from sudare.generalization.problem import Units

Array = np.ndarray[Any, Any]


@step
def find_elsewhere(
    units: Units, choices: Array, place: Array, radix: Array, elsewhere: Array, d: Dealt
) -> None:  # pragma: no cover
    """Find for every entry the cheapest block, besides its own, whose values are those of the entry as they stand."""
    room, blocks = d.unit.size, d.size.size
    choice_of = np.full(blocks, choices.shape[0], dtype=np.int64)
    for b in range(blocks):
        if d.size[b] > 0:
            number = 0
            for a in range(choices.shape[1]):
                number += radix[a] * d.level[b, a]
            choice_of[b] = place[number]
    slots = slots_for(blocks)
    turn_at, number_at = np.full(slots, -1, dtype=np.int64), np.empty(slots, dtype=np.uint64)
    block_at = np.empty(slots, dtype=np.int64)
    waiting, count = np.empty(room, dtype=np.int64), 0
    for e in range(room):
        elsewhere[e] = NONE
        if d.weight[e] > 0:
            waiting[count] = e
            count += 1
    rising = np.argsort(choice_of)
    at = 0
    while at < blocks and choice_of[rising[at]] < choices.shape[0]:
        choice = choice_of[rising[at]]
        while at < blocks and choice_of[rising[at]] == choice:
            number = tuple_number(units, d.unit[d.first[rising[at]]], choices[choice])
            slot = slot_of(number, choice, turn_at, number_at)
            turn_at[slot], number_at[slot], block_at[slot] = choice, number, rising[at]
            at += 1
        kept = 0
        for i in range(count):
            e = waiting[i]
            slot = slot_of(tuple_number(units, d.unit[e], choices[choice]), choice, turn_at, number_at)
            if turn_at[slot] == choice and block_at[slot] != d.block[e]:
                elsewhere[e] = block_at[slot]
            else:
                waiting[kept] = e
                kept += 1
        count = kept


@step
def price_there(e: int, b: int, units: Units, d: Dealt) -> float:  # pragma: no cover
    """Return what a record of an entry costs in the other block b that it could join, if that is still as it was."""
    if b == NONE or b == d.block[e] or d.first[b] == NONE:
        return np.inf
    leaves, trees = units.leaves, units.trees
    for a in range(leaves.shape[1]):
        offset = trees.offset[a, d.level[b, a]]
        if trees.nodes[offset + leaves[d.unit[e], a]] != trees.nodes[offset + leaves[d.unit[d.first[b]], a]]:
            return np.inf
    return float(d.cost[b])
