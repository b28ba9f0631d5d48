"""Compiled: the units of each block and what they have in common, so that a change of one or two units is priced at once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from sudare.generalization._blocks import Given, unlikeness
from sudare.kernels import fast_step, step
from sudare.privacy._kernels import meets

if TYPE_CHECKING:
    from sudare.privacy.limits import Limits

Array = np.ndarray[Any, Any]
MAX_MEMBERS = 48  # units of larger blocks stay where they are
NOBODY = -1
NO_PLACE, SEVERAL = (
    np.int32(-1),
    np.int32(-2),
)  # where all units share a mark, and where more than one has another
ONE_BITS, ONE_OF_SECOND_BITS = (
    np.int32(11),
    np.int32(20),
)  # of a tally, after the places of all members, and after their number
ONE, ONE_OF_SECOND = np.int32(1 << 11), np.int32(1 << 20)


class Members(NamedTuple):
    """Which unit is in which block, and what blocks would cost with one unit less."""

    block_of: Array
    listed: Array  # the units of each block, unless there are too many
    place: Array  # of each unit among them
    number: Array  # of units in each block
    size: Array  # in records
    cost: Array  # per record
    histogram: Array
    mark: Array  # the marks that all units of each block share, but for the odd one
    odd: Array  # the place of the only unit that has another mark; or NO_PLACE, or SEVERAL
    saves: Array  # what a record of the block costs less without each unit
    tally: Array  # room: in each mark, how many units differ from the first, the sum of their places, and how many differ from the second

    @classmethod
    def room_for(cls, g: Given, block_of: Array, blocks: int) -> Members:
        m, marks = g.marks.shape
        return cls(
            block_of=block_of,
            listed=np.zeros((blocks, MAX_MEMBERS + 1), dtype=np.int32),
            place=np.zeros(m, dtype=np.int32),
            number=np.zeros(blocks, dtype=np.int64),
            size=np.zeros(blocks, dtype=np.int64),
            cost=np.zeros(blocks),
            histogram=np.zeros((blocks, g.units.values), dtype=np.int64),
            mark=np.zeros((blocks, marks), dtype=np.int32),
            odd=np.zeros((blocks, marks), dtype=np.int32),
            saves=np.zeros(m),
            tally=np.zeros(marks, dtype=np.int32),
        )


@step
def gather(g: Given, s: Members) -> None:  # pragma: no cover
    """Put all units into their blocks."""
    for u in range(s.block_of.size):
        b = s.block_of[u]
        if b < 0:
            continue
        if s.number[b] < s.listed.shape[1]:
            _put(u, s.number[b], b, s)
        s.number[b] += 1
        s.size[b] += g.units.weights[u]
        s.histogram[b, g.units.sensitive[u]] += g.units.weights[u]
    for b in range(s.number.size):
        if 0 < s.number[b] <= MAX_MEMBERS:
            compare(b, g, s)


@step
def _put(u: Any, place: Any, b: int, s: Members) -> None:  # pragma: no cover
    s.block_of[u] = b
    s.place[u] = place
    s.listed[b, place] = u


@fast_step
def compare(b: int, g: Given, s: Members) -> None:  # pragma: no cover
    """Find anew what the units of a block share, and what without one of them."""
    count: Any = np.int32(s.number[b])  # of 32 bits, as marks are: lanes are as wide as the widest
    gain = g.gain
    first, second = g.marks[s.listed[b, 0]], g.marks[s.listed[b, min(count - 1, 1)]]
    mark, odd, tally = s.mark[b], s.odd[b], s.tally
    for d in range(gain.size):
        tally[d] = 0
    for i in range(1, count):
        place, marks = np.int32(i), g.marks[s.listed[b, i]]
        for d in range(gain.size):
            of_first = place + ONE if marks[d] != first[d] else np.int32(0)
            tally[d] += of_first + (ONE_OF_SECOND if marks[d] != second[d] else np.int32(0))
    cost = np.float32(0.0)
    for d in range(gain.size):
        of_first, of_second, place = first[d], second[d], tally[d] & (ONE - np.int32(1))
        differ, others = (
            (tally[d] & (ONE_OF_SECOND - np.int32(1))) >> ONE_BITS,
            tally[d] >> ONE_OF_SECOND_BITS,
        )
        first_is_odd = (differ == count - 1) & (others == 0)
        mark[d] = of_second if first_is_odd else of_first
        alone = place if differ == 1 else np.int32(0) if first_is_odd else SEVERAL
        odd[d] = alone if differ != 0 else NO_PLACE
        cost += gain[d] if differ != 0 else np.float32(0.0)
    s.cost[b] = cost
    for i in range(count):
        saves, place = np.float32(0.0), np.int32(i)
        for d in range(gain.size):
            saves += gain[d] if odd[d] == place else np.float32(0.0)
        s.saves[s.listed[b, i]] = saves
    if count == 2:  # who stays is like nobody else
        s.saves[s.listed[b, 0]] = s.saves[s.listed[b, 1]] = s.cost[b]


@step
def price_with(u: int, b: int, leaves: int, g: Given, s: Members) -> float:  # pragma: no cover
    """Return what a record of a block costs if u comes and another unit, or NOBODY, leaves."""
    if leaves == NOBODY:
        return _price(g.marks[u], NO_PLACE, s.mark[b], s.odd[b], g.gain)
    place = s.place[leaves]
    if s.number[b] > 2:
        return _price(g.marks[u], place, s.mark[b], s.odd[b], g.gain)
    return float(unlikeness(g.marks[u], g.marks[s.listed[b, 1 - place]], g.gain)) if s.number[b] == 2 else 0.0


@fast_step
def _price(marks: Array, place: Any, mark: Array, odd: Array, gain: Array) -> float:  # pragma: no cover
    """Return what marks cost that are not shared by a unit that comes, but for those in which the unit at a place was the odd one."""
    cost = np.float32(0.0)
    for d in range(gain.size):
        cost += (
            np.float32(0.0) if (odd[d] == NO_PLACE or odd[d] == place) and mark[d] == marks[d] else gain[d]
        )
    return float(cost)


@step
def may_trade(
    u: int, b: int, w: int, c: int, limits: Limits, g: Given, s: Members
) -> bool:  # pragma: no cover
    """Count u in block c, and w, or NOBODY, in block b, if both then meet the limits; tell whether they do."""
    weights, sensitive = g.units.weights, g.units.sensitive
    if w != NOBODY and weights[u] == weights[w] and sensitive[u] == sensitive[w]:
        return True
    _count(u, b, w, c, g, s)
    holds = meets(s.histogram[c], s.size[c], limits) and meets(s.histogram[b], s.size[b], limits)
    if not holds:
        _count(u, c, w, b, g, s)
    return holds


@step
def _count(u: int, b: int, w: int, c: int, g: Given, s: Members) -> None:  # pragma: no cover
    weights, sensitive = g.units.weights, g.units.sensitive
    s.size[b] -= weights[u]
    s.size[c] += weights[u]
    s.histogram[b, sensitive[u]] -= weights[u]
    s.histogram[c, sensitive[u]] += weights[u]
    if w != NOBODY:
        s.size[c] -= weights[w]
        s.size[b] += weights[w]
        s.histogram[c, sensitive[w]] -= weights[w]
        s.histogram[b, sensitive[w]] += weights[w]


@step
def trade(u: int, b: int, w: int, c: int, g: Given, s: Members) -> None:  # pragma: no cover
    """List u in block c, and w, or NOBODY, in block b."""
    at, to = np.int64(s.place[u]), np.int64(s.place[w]) if w != NOBODY else s.number[c]
    _put(u, to, c, s)
    if w != NOBODY:
        _put(w, at, b, s)
    else:
        s.number[c] += 1
        s.number[b] -= 1
        if at < s.number[b]:
            _put(np.int64(s.listed[b, s.number[b]]), at, b, s)
    compare(b, g, s)
    compare(c, g, s)
