"""Compiled: the best division of a few rows into blocks, of all that there are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from sudare.generalization._kernels import meet
from sudare.kernels import inlined, step
from sudare.privacy._kernels import meets

if TYPE_CHECKING:
    from sudare.generalization.problem import Units
    from sudare.privacy.limits import Limits

Array = np.ndarray[Any, Any]
STAYS = -1  # the home of an item whose block is dissolved


class Pool(NamedTuple):
    """Items, each so many records of a unit, that are to be divided anew; and all sets of them, by the bits of a number."""

    unit: Array
    weight: Array
    home: Array
    """The block that an item is lent by, which takes it back at any time, or STAYS."""
    rate: Array
    """What a record costs in that block."""
    entry: Array
    block: Array
    """Where the item comes from."""
    apart: Array
    """The level at which two items are alike: items x items x attributes."""
    attributes: Array
    """Those in which any two items differ."""
    level: Array
    """Of each set; of the attributes above."""
    cost: Array
    """Of a record of each set, were it a block."""
    size: Array
    price: Array
    """Of each set as one block; infinite if it cannot be one."""
    least: Array
    """The price of the best division of each set."""
    part: Array
    """The part of that division that has the set's first item."""
    histogram: Array

    @classmethod
    def room_for(cls, items: int, units: Units) -> Pool:
        """Make room for so many items."""
        sets, attributes = 1 << items, units.leaves.shape[1]
        return cls(
            unit=np.zeros(items, dtype=np.int64),
            weight=np.zeros(items, dtype=np.int64),
            home=np.zeros(items, dtype=np.int64),
            rate=np.zeros(items),
            entry=np.zeros(items, dtype=np.int64),
            block=np.zeros(items, dtype=np.int64),
            apart=np.zeros((items, items, attributes), dtype=np.int16),
            attributes=np.zeros(attributes, dtype=np.int64),
            level=np.zeros((sets, attributes), dtype=np.int16),
            cost=np.zeros(sets),
            size=np.zeros(sets, dtype=np.int64),
            price=np.zeros(sets),
            least=np.zeros(sets),
            part=np.zeros(sets, dtype=np.int64),
            histogram=np.zeros(units.values, dtype=np.int64),
        )


@step
def divide(
    n: int, enough: float, least_size: int, units: Units, limits: Limits, p: Pool
) -> float:  # pragma: no cover
    """Divide the first n items of a pool at the least price; return it, or `enough` if no division costs less.

    `p.part` then tells the parts. Blocks that meet the limits do so together, too, so that no bound on their number is needed.
    """
    full = (1 << n) - 1
    _weigh(n, units, p)
    _set_prices(n, enough, least_size, units, limits, p)
    p.least[0] = 0.0
    for s in range(1, full + 1):
        first = s & -s
        others = s ^ first
        least, part = p.price[s], s
        t = others
        while t > 0:
            t = (t - 1) & others
            price = p.price[t | first] + p.least[others ^ t]
            if price < least:
                least, part = price, t | first
        p.least[s], p.part[s] = least, part
    return float(min(p.least[full], enough))


@inlined
def _weigh(n: int, units: Units, p: Pool) -> None:  # pragma: no cover
    """Find what a record of every set costs: a set's level is that of the set without its last item, or of its first and last."""
    leaves, trees = units.leaves, units.trees
    for i in range(n):
        for j in range(i):
            for a in range(leaves.shape[1]):
                p.apart[j, i, a] = meet(trees, a, leaves[p.unit[i], a], leaves[p.unit[j], a], 0)
    count = 0
    for a in range(leaves.shape[1]):
        differ = False
        for i in range(1, n):
            differ = differ or p.apart[0, i, a] > 0
        if differ:
            p.attributes[count] = a
            count += 1
    p.size[0] = 0
    last = 0
    for s in range(1, 1 << n):
        if s >> (last + 1):
            last += 1
        before = s ^ (1 << last)
        p.size[s] = p.size[before] + p.weight[last]
        p.cost[s] = 0.0
        first = 0
        while not (s >> first) & 1:
            first += 1
        for d in range(count):
            level = 0
            if before:
                level = max(p.level[before, d], p.apart[first, last, p.attributes[d]])
            p.level[s, d] = level
            p.cost[s] += level * trees.step[p.attributes[d]]


@inlined
def _set_prices(
    n: int, enough: float, least_size: int, units: Units, limits: Limits, p: Pool
) -> None:  # pragma: no cover
    """Find what every set costs as a block, or when its items, all of one home, stay there."""
    for s in range(1, 1 << n):
        price = p.size[s] * p.cost[s]
        p.price[s] = np.inf
        if price < enough and p.size[s] >= least_size and _can_be_block(s, n, units, limits, p):
            p.price[s] = price
        first = 0
        while not (s >> first) & 1:
            first += 1
        home, back = p.home[first], 0.0
        for i in range(n):
            if (s >> i) & 1:
                back = back + p.weight[i] * p.rate[i] if p.home[i] == home and home != STAYS else np.inf
        p.price[s] = min(p.price[s], back)


@inlined
def _can_be_block(s: int, n: int, units: Units, limits: Limits, p: Pool) -> bool:  # pragma: no cover
    if p.histogram.size > 1:
        for i in range(n):
            if (s >> i) & 1:
                p.histogram[units.sensitive[p.unit[i]]] += p.weight[i]
    holds = meets(p.histogram, p.size[s], limits)
    if p.histogram.size > 1:
        for i in range(n):
            p.histogram[units.sensitive[p.unit[i]]] = 0
    return holds
