"""Compiled: blocks are opened where rows that others can spare cost less together.

Seen as a choice of sets of values, on whatever levels, that are open for all rows in them, this opens one set more. Rows come
that save by it; one block that cannot spare its rows may be closed for it, if its other rows have room elsewhere; and if it has
too few rows still, some come that lose by it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from sudare.generalization._dealt import NONE, TOLERANCE, Dealt, add, deal, let_go, lot, refit
from sudare.generalization._elsewhere import find_elsewhere, price_there
from sudare.generalization._kernels import tuple_number
from sudare.kernels import kernel, slot_of, slots_for, step
from sudare.lent import lent
from sudare.privacy._kernels import meets

if TYPE_CHECKING:
    from sudare.generalization.problem import Units
    from sudare.privacy.limits import Limits

Array = np.ndarray[Any, Any]
MAX_MEMBERS = 256  # entries of a set that are looked at


class Sets(NamedTuple):
    """The sets at one choice of levels, with their entries as linked lists; and room for one of them."""

    number: Array  # of the tuple
    first: Array
    after: Array  # of each entry
    rows: Array
    saved: Array  # at most
    members: Array
    taken: Array  # of each entry: how many of its records come
    inside: Array  # of each entry: whether it is in the set
    elsewhere: Array  # of each entry: the cheapest other block that it could join as it stands
    histogram: Array

    @classmethod
    def room_for(cls, d: Dealt, values: int) -> Sets:
        room = len(d.unit)
        return cls(
            number=np.empty(room, dtype=np.uint64),
            first=np.empty(room, dtype=np.int64),
            after=np.empty(room, dtype=np.int64),
            rows=np.empty(room, dtype=np.int64),
            saved=np.empty(room),
            members=np.empty(MAX_MEMBERS, dtype=np.int64),
            taken=np.zeros(room, dtype=np.int64),
            inside=np.zeros(room, dtype=np.bool_),
            elsewhere=np.empty(room, dtype=np.int64),
            histogram=np.zeros(values, dtype=np.int64),
        )


def reopen(
    units: Units,
    limits: Limits,
    block_of: Array,
    blocks: int,
    least_size: int,
    choices: Array,
    passes: int,
    deals: bool,
) -> tuple[tuple[Array, Array, Array], bool]:
    """Open blocks as long as that saves distortion; `choices` are all level vectors by rising cost.

    Returns the entries: a unit, how many of its records, and their block; and whether it went on until none saved anything.
    """
    d = Dealt.room_for(units, blocks, deals)
    sets = Sets.room_for(d, units.values)
    place = np.empty(len(choices), dtype=np.int64)
    place[choices @ _radix(units)] = np.arange(len(choices))
    settled = _reopen(
        units, limits, block_of, blocks, least_size, choices, place, _radix(units), passes, sets, d
    )
    return d.entries(), settled


def _radix(units: Units) -> Array:
    """Return by what each level counts in the number of a level vector."""
    digits = units.trees.height + 1
    return np.append(np.cumprod(digits[:0:-1])[::-1], 1)


@kernel
def _reopen(
    units_: Units,
    limits_: Limits,
    block_of: Array,
    blocks: int,
    least_size: int,
    choices: Array,
    place: Array,
    radix: Array,
    passes: int,
    room_for_sets: Sets,
    dealt: Dealt,
) -> bool:  # pragma: no cover
    units, limits, sets, d = lent(units_), lent(limits_), lent(room_for_sets), lent(dealt)
    deal(block_of, blocks, units, d)
    room, slots = d.unit.size, slots_for(d.unit.size)
    turn_at, number_at = np.full(slots, -1, dtype=np.int64), np.empty(slots, dtype=np.uint64)
    set_at = np.empty(slots, dtype=np.int64)
    for turn in range(passes):
        opened = 0
        find_elsewhere(units, choices, place, radix, sets.elsewhere, d)
        for choice in range(choices.shape[0]):
            cost = 0.0
            for a in range(choices.shape[1]):
                cost += choices[choice, a] * units.trees.step[a]
            if cost >= d.cost.max():  # nobody saves
                break
            count = 0
            for e in range(room):
                if d.weight[e] == 0:
                    continue
                number = tuple_number(units, d.unit[e], choices[choice])
                now = turn * choices.shape[0] + choice
                slot = slot_of(number, now, turn_at, number_at)
                if turn_at[slot] != now:
                    turn_at[slot], number_at[slot], set_at[slot] = now, number, count
                    sets.number[count], sets.first[count] = number, NONE
                    sets.rows[count], sets.saved[count] = 0, 0.0
                    count += 1
                s = set_at[slot]
                sets.after[e] = sets.first[s]
                sets.first[s] = e
                sets.rows[s] += d.weight[e]
                sets.saved[s] += d.weight[e] * max(d.cost[d.block[e]] - cost, 0.0)
            for s in range(count):
                if sets.rows[s] >= least_size and sets.saved[s] > TOLERANCE:
                    opened += _open(s, choices[choice], cost, least_size, units, limits, sets, d)
        if opened == 0:
            return True
    return False


# -- Opening a block -------------------------------------------------------------------------------


@step
def _open(
    s: int, levels: Array, cost: float, least_size: int, units: Units, limits: Limits, sets: Sets, d: Dealt
) -> int:  # pragma: no cover
    """Open a block for a set, if that saves; return how many were opened."""
    count = _list_members(s, levels, units, sets, d)
    size, gain, holds = _gather(count, cost, least_size, units, limits, sets, d)
    closed = NONE
    if limits.distinct <= 1 and not limits.more:  # else who is sent elsewhere could spoil the block there
        best = max(TOLERANCE - gain, 0.0)
        for i in range(count):
            b = d.block[sets.members[i]]
            if d.cost[b] > cost and _is_first_of(i, sets, d):
                more, saved = _closing(b, cost, units, sets, d)
                if size + more >= least_size and saved > best:
                    best, closed = saved, b
        if closed != NONE:
            gain += best
            holds = True
    opens = holds and gain > TOLERANCE and d.left[0] > count and d.left[1] > 0
    if opens:
        _move(count, closed, units, sets, d)
    for i in range(count):
        sets.inside[sets.members[i]] = False
    return int(opens)


@step
def _list_members(s: int, levels: Array, units: Units, sets: Sets, d: Dealt) -> int:  # pragma: no cover
    """List the entries of a set, the costliest first; return how many there are."""
    count, e = 0, sets.first[s]
    while e != NONE and count < sets.members.size:
        # Since it was listed, its records may have moved away, and others may have come in its place.
        if d.weight[e] > 0 and tuple_number(units, d.unit[e], levels) == sets.number[s]:
            at = count
            while at > 0 and d.cost[d.block[sets.members[at - 1]]] < d.cost[d.block[e]]:
                sets.members[at] = sets.members[at - 1]
                at -= 1
            sets.members[at] = e
            sets.taken[e] = 0
            sets.inside[e] = True
            count += 1
        e = sets.after[e]
    return count


@step
def _gather(
    count: int, cost: float, least_size: int, units: Units, limits: Limits, sets: Sets, d: Dealt
) -> tuple[int, float, bool]:  # pragma: no cover
    """Take what others can spare: all that saves, and then what costs least until it is enough for a block.

    Returns how many records that are, what they save, and whether they are a block.
    """
    size, gain, holds = 0, 0.0, False
    for i in range(count):
        e = sets.members[i]
        b, value = d.block[e], units.sensitive[d.unit[e]]
        each, some = d.cost[b] - cost, lot(e, d)
        while sets.taken[e] < d.weight[e] and (each > 0.0 or not holds):
            if not let_go(b, value, some, limits, d):
                break
            sets.taken[e] += some
            sets.histogram[value] += some
            size += some
            gain += each * some
            holds = size >= least_size and meets(sets.histogram, size, limits)
    for i in range(count):  # nothing has moved yet
        e = sets.members[i]
        value = units.sensitive[d.unit[e]]
        sets.histogram[value] = 0
        d.size[d.block[e]] += sets.taken[e]
        d.histogram[d.block[e], value] += sets.taken[e]
    return size, gain, holds


@step
def _is_first_of(i: int, sets: Sets, d: Dealt) -> bool:  # pragma: no cover
    """Tell whether no member before has the same block."""
    first = True
    for j in range(i):
        first = first and d.block[sets.members[j]] != d.block[sets.members[i]]
    return first


@step
def _closing(
    b: int, cost: float, units: Units, sets: Sets, d: Dealt
) -> tuple[int, float]:  # pragma: no cover
    """Return how many more records come if a block is closed, and what that saves: its others go elsewhere."""
    more, saved, e = 0, 0.0, d.first[b]
    while e != NONE:
        if sets.inside[e]:
            more += d.weight[e] - sets.taken[e]
            saved += (d.weight[e] - sets.taken[e]) * (d.cost[b] - cost)
        else:
            saved += d.weight[e] * (d.cost[b] - price_there(e, sets.elsewhere[e], units, d))
        e = d.after[e]
    return more, saved


@step
def _move(count: int, closed: int, units: Units, sets: Sets, d: Dealt) -> None:  # pragma: no cover
    """Let the records come that were taken, and all of the closed block that are in the set; send its others elsewhere."""
    d.left[1] -= 1
    new = d.free_blocks[d.left[1]]
    for i in range(count):
        e = sets.members[i]
        if d.block[e] == closed:
            sets.taken[e] = d.weight[e]
        _leave(e, sets.taken[e], new, units, d)
    if closed != NONE:
        e = d.first[closed]
        while e != NONE:
            _leave(e, d.weight[e], sets.elsewhere[e], units, d)
            e = d.after[e]
        refit(closed, units, d)
        d.free_blocks[d.left[1]] = closed
        d.left[1] += 1
    refit(new, units, d)
    for i in range(count):
        b = d.block[sets.members[i]]
        if sets.taken[sets.members[i]] > 0 and d.first[b] != NONE:
            refit(b, units, d)
            if d.size[b] == 0:
                d.free_blocks[d.left[1]] = b
                d.left[1] += 1


@step
def _leave(e: int, weight: int, b: int, units: Units, d: Dealt) -> None:  # pragma: no cover
    """Let records of an entry go to another block. Their own must be fitted anew."""
    if weight == 0:
        return
    d.weight[e] -= weight
    d.size[d.block[e]] -= weight
    d.histogram[d.block[e], units.sensitive[d.unit[e]]] -= weight
    add(d.unit[e], weight, b, units, d)
