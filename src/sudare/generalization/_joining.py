"""Compiled: the block that a unit joins most cheaply, of those that changed since it was looked at."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from sudare.generalization._blocks import Given, State, unlikeness
from sudare.generalization._kernels import meet
from sudare.kernels import inlined, step
from sudare.privacy._kernels import meets

if TYPE_CHECKING:
    from sudare.privacy.limits import Limits

Array = np.ndarray[Any, Any]
ROUNDING = 1e-5  # more than single precision can be wrong by
NEVER = -1


class Times(NamedTuple):
    """When blocks changed, and were looked at: what was looked at before need be compared with what changed since only."""

    changed: Array
    seen: Array
    now: Array
    """One number: how many changes there were."""

    @classmethod
    def of(cls, new: Array) -> Times:
        """Begin with blocks some of which are new, and the others were looked at before."""
        return cls(new.astype(np.int64), np.where(new, NEVER, 0), np.ones(1, dtype=np.int64))


@inlined
def note(b: int, t: Times) -> None:  # pragma: no cover
    """Note that a block changes now."""
    t.now[0] += 1
    t.changed[b] = t.now[0]


@step
def best_block(
    u: int, avoid: int, enough: float, since: int, limits: Limits, g: Given, s: State, t: Times
) -> tuple[int, float]:  # pragma: no cover
    """Return the block, of those that changed `since`, that a unit joins most cheaply, and the price.

    It is -1 if none costs less than `enough`.

    A block never gets cheaper by a new unit, so the unit pays at least the block's own cost: blocks are looked
    at by rising cost, and the search ends when that alone is too much.
    """
    leaves, trees, best, w = g.units.leaves, g.units.trees, -1, g.units.weights[u]
    for i in range(s.by_cost.size):
        b = s.by_cost[i]
        if w * s.ranked[i] >= enough:
            break
        if t.changed[b] <= since or s.size[b] == 0 or b == avoid or w * s.cost[b] >= enough:
            continue
        most = (enough + s.size[b] * s.cost[b]) / (s.size[b] + w)
        if unlikeness(g.marks[u], s.marks[b], g.gain) >= most + ROUNDING:
            continue
        together = s.cost[b]
        for a in range(leaves.shape[1]):
            level = s.level[b, a]
            together += (meet(trees, a, s.rep[b, a], leaves[u, a], level) - level) * trees.step[a]
        if together < most:
            s.histogram[b, g.units.sensitive[u]] += w
            fits = meets(s.histogram[b], s.size[b] + w, limits)
            s.histogram[b, g.units.sensitive[u]] -= w
            if fits:
                best, enough = b, (s.size[b] + w) * together - s.size[b] * s.cost[b]
    return best, enough
