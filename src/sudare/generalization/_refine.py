"""Compiled: blocks near each other are pooled and divided anew, row by row, until no division saves anything."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from sudare.generalization._blocks import NOT_SHARED, gains, unlikeness
from sudare.generalization._dealt import NONE, TOLERANCE, Dealt, add, deal, let_go, lot, refit
from sudare.generalization._divide import STAYS, Pool, divide
from sudare.generalization._kernels import LEARNING
from sudare.generalization._split import split_off
from sudare.kernels import inlined, kernel, rank, step
from sudare.lent import lent
from sudare.privacy._kernels import meets
from sudare.progress import in_parts

if TYPE_CHECKING:
    from sudare.generalization.problem import Units
    from sudare.privacy.limits import Limits

Array = np.ndarray[Any, Any]
REFINED_AT_ONCE = 200  # blocks: a part of a second
NOT_FOUND = -2  # sought instead of a mark that is not shared: no block has it


def refine(
    units: Units,
    limits: Limits,
    block_of: Array,
    blocks: int,
    least_size: int,
    items: int,
    pooled: int,
    near: int,
    passes: int,
    deals: bool,
) -> tuple[tuple[Array, Array, Array], bool]:
    """Divide the rows of every block, and of those that are near it, anew, as long as that saves distortion.

    If it `deals`, the records of a unit may come into different blocks. Else read "units" for "rows" here.

    A block of at most `items` rows is divided in all ways, and with others if they have at most `pooled` rows together; of larger
    ones, rows are split off that are alike in one attribute more. Returns the entries: a unit, how many of its records, and their block; and
    whether it went on until no division saved anything.
    """
    d = Dealt.room_for(units, blocks, deals)
    gain, nearest = gains(units), np.empty(near, dtype=np.int64)
    price, sought = np.empty(near, dtype=np.float32), np.empty(len(gain), dtype=np.int32)
    pool = Pool.room_for(items, units)
    by_cost = np.arange(len(d.cost))
    _deal(block_of, blocks, units, d)
    settled = False
    for _ in range(passes):
        changed = 0
        _rank(d, by_cost)
        for some in in_parts(LEARNING, by_cost.size, at_once=REFINED_AT_ONCE):
            changed += _refine(
                units,
                limits,
                some.start,
                some.stop,
                least_size,
                pooled,
                by_cost,
                nearest,
                price,
                gain,
                sought,
                pool,
                d,
            )
        if changed == 0:
            settled = bool((d.left[:2] >= items).all())  # else there was no room for some
            break
    return d.entries(), settled


@kernel
def _deal(block_of: Array, blocks: int, units: Units, dealt: Dealt) -> None:  # pragma: no cover
    deal(block_of, blocks, lent(units), lent(dealt))


@kernel
def _rank(dealt: Dealt, by_cost: Array) -> None:  # pragma: no cover
    rank(lent(dealt).cost, by_cost)


@kernel
def _refine(
    units_: Units,
    limits_: Limits,
    first: int,
    end: int,
    least_size: int,
    pooled: int,
    by_cost: Array,
    nearest: Array,
    price: Array,
    gain: Array,
    sought: Array,
    pool: Pool,
    dealt: Dealt,
) -> int:  # pragma: no cover
    """Look at some blocks, the dearest first; return how many changed."""
    units, limits, p, d = lent(units_), lent(limits_), lent(pool), lent(dealt)
    items, changed = p.unit.size, 0
    for place in range(by_cost.size - 1 - first, by_cost.size - 1 - end, -1):
        b = by_cost[place]
        if d.size[b] == 0 or d.cost[b] == 0.0 or not d.stale[b]:
            continue
        d.stale[b] = False
        if _items(b, d) > items:
            changed += split_off(b, least_size, units, limits, p, d)
        else:
            changed += _refine_around(
                b, nearest, price, gain, sought, least_size, pooled, units, limits, p, d
            )
    return changed


@inlined
def _find_near(
    b: int, nearest: Array, price: Array, gain: Array, sought: Array, d: Dealt
) -> int:  # pragma: no cover
    """Fill in the blocks with which a block would cost least; return how many there are."""
    count = 0
    for i in range(gain.size):
        sought[i] = d.marks[b, i] if d.marks[b, i] != NOT_SHARED else NOT_FOUND
    for c in range(d.size.size):
        if c == b or d.size[c] == 0:
            continue
        cost = unlikeness(sought, d.marks[c], gain)
        if count == nearest.size and cost >= price[count - 1]:
            continue
        at = count if count < nearest.size else count - 1
        while at > 0 and price[at - 1] > cost:
            nearest[at], price[at] = nearest[at - 1], price[at - 1]
            at -= 1
        nearest[at], price[at] = c, cost
        count = min(count + 1, nearest.size)
    return count


@step
def _refine_around(
    b: int,
    nearest: Array,
    price: Array,
    gain: Array,
    sought: Array,
    least_size: int,
    pooled: int,
    units: Units,
    limits: Limits,
    p: Pool,
    d: Dealt,
) -> int:  # pragma: no cover
    """Divide a block anew: by itself, with as many of the nearest as there is room for, and with each of them alone."""
    count = _find_near(b, nearest, price, gain, sought, d)
    for other in range(-2, count):
        n = _pool_block(b, 0, p, d)
        if other == -1:
            for i in range(count):
                if _items(nearest[i], d) <= pooled - n:
                    n = _pool_block(nearest[i], n, p, d)
        elif other >= 0 and _items(nearest[other], d) <= pooled - n:
            n = _pool_block(nearest[other], n, p, d)
        elif other >= 0:
            n = _lend(nearest[other], n, pooled, units, limits, p, d)
        if n == _items(b, d) and other >= -1:
            continue
        before, rows = 0.0, 0
        for i in range(n):
            before += p.weight[i] * p.rate[i]
            rows += p.weight[i]
        if rows < 2 * least_size:
            continue
        if d.left[0] < n or d.left[1] < n:
            return 0
        if divide(n, before - TOLERANCE, least_size, units, limits, p) < before - TOLERANCE and (
            other < 0 or _home_holds(nearest[other], n, units, limits, p, d)
        ):
            _apply(n, units, p, d)
            for i in range(count):
                d.stale[nearest[i]] = True
            return 1
    return 0


@inlined
def _items(b: int, d: Dealt) -> int:  # pragma: no cover
    """Return how many items a block is in a pool."""
    if d.deals:
        return int(d.size[b])
    count, e = 0, d.first[b]
    while e != NONE:
        count += 1
        e = d.after[e]
    return count


@step
def _pool_block(b: int, n: int, p: Pool, d: Dealt) -> int:  # pragma: no cover
    """Put all rows of a block into the pool, after the n that are there."""
    e = d.first[b]
    while e != NONE:
        for _ in range(d.weight[e] // lot(e, d)):
            p.unit[n], p.weight[n], p.home[n] = d.unit[e], lot(e, d), STAYS
            p.rate[n], p.entry[n], p.block[n] = d.cost[b], e, b
            n += 1
        e = d.after[e]
    return n


@step
def _lend(
    c: int, n: int, pooled: int, units: Units, limits: Limits, p: Pool, d: Dealt
) -> int:  # pragma: no cover
    """Put rows into the pool that a block can spare, one of each entry in turn."""
    lent, start = True, n
    while lent and n < pooled:
        lent = False
        e = d.first[c]
        while e != NONE and n < pooled:
            some, used = lot(e, d), 0
            for i in range(start, n):
                used += p.weight[i] if p.entry[i] == e else 0
            if (
                used < d.weight[e]
                and d.size[c] > some
                and let_go(c, units.sensitive[d.unit[e]], some, limits, d)
            ):
                lent = True
                p.unit[n], p.weight[n], p.home[n] = d.unit[e], some, c
                p.rate[n], p.entry[n], p.block[n] = d.cost[c], e, c
                n += 1
            e = d.after[e]
    for i in range(start, n):  # nothing has moved yet
        d.size[c] += p.weight[i]
        d.histogram[c, units.sensitive[p.unit[i]]] += p.weight[i]
    return n


@inlined
def _home_holds(c: int, n: int, units: Units, limits: Limits, p: Pool, d: Dealt) -> bool:  # pragma: no cover
    """Tell whether a block still meets the limits without the rows that it lends. (It could spare them all; some alone may be
    what it needs: the rest of entropy, of recursive diversity and of closeness.)"""
    size, left = d.size[c], (1 << n) - 1
    gone = 0
    while left:
        part = p.part[left]
        left ^= part
        if not _stays(part, n, p):
            gone |= part
    for i in range(n):
        if (gone >> i) & 1 and p.home[i] == c:
            size -= p.weight[i]
            d.histogram[c, units.sensitive[p.unit[i]]] -= p.weight[i]
    holds = size == d.size[c] or size == 0 or meets(d.histogram[c], size, limits)
    for i in range(n):
        if (gone >> i) & 1 and p.home[i] == c:
            d.histogram[c, units.sensitive[p.unit[i]]] += p.weight[i]
    return holds


@step
def _apply(n: int, units: Units, p: Pool, d: Dealt) -> None:  # pragma: no cover
    """Make the parts that were found blocks. What goes back to its home stays there."""
    left = (1 << n) - 1
    while left:
        part = p.part[left]
        left ^= part
        if _stays(part, n, p):
            continue
        d.left[1] -= 1
        b = d.free_blocks[d.left[1]]
        d.stale[b] = True
        for i in range(n):
            if (part >> i) & 1:
                e, c = p.entry[i], p.block[i]
                d.weight[e] -= p.weight[i]
                d.size[c] -= p.weight[i]
                d.histogram[c, units.sensitive[p.unit[i]]] -= p.weight[i]
                d.stale[c] = True
                add(p.unit[i], p.weight[i], b, units, d)
        refit(b, units, d)
    for i in range(n):
        c = p.block[i]
        if c == NONE:
            continue
        for j in range(i + 1, n):
            if p.block[j] == c:
                p.block[j] = NONE
        refit(c, units, d)
        if d.size[c] == 0:
            d.free_blocks[d.left[1]] = c
            d.left[1] += 1


@inlined
def _stays(part: int, n: int, p: Pool) -> bool:  # pragma: no cover
    """Tell whether a part was priced as rows that go back to their home."""
    back = 0.0
    for i in range(n):
        if (part >> i) & 1:
            if p.home[i] == STAYS:
                return False
            back += p.weight[i] * p.rate[i]
    return bool(back <= p.price[part])
