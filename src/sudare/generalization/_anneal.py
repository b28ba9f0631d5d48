"""Compiled: units change places at random, less and less often for the worse (simulated annealing)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from sudare.generalization._blocks import Given
from sudare.generalization._grow import nearest_units
from sudare.generalization._kernels import LEARNING
from sudare.generalization._members import MAX_MEMBERS, NOBODY, Members, gather, may_trade, price_with, trade
from sudare.kernels import below, kernel, seeded, share, step
from sudare.lent import lent
from sudare.progress import in_parts

if TYPE_CHECKING:
    from sudare.generalization.problem import Units
    from sudare.privacy.limits import Limits

Array = np.ndarray[Any, Any]
ANNEALED_AT_ONCE = 500_000  # steps: a part of a second
ROUNDING = 1 - 1e-5  # of sums in single precision, in any order


def anneal(
    units: Units,
    limits: Limits,
    block_of: Array,
    blocks: int,
    neighbours: int,
    steps: int,
    hot: float,
    cold: float,
    seed: int,
    by_value: bool,
) -> None:
    """Let units join the blocks of their nearest, in place; another unit may come instead.

    A change may lose some distortion, drawn anew each time: about `hot` at first, `cold` at last. `by_value`: the nearest are those
    with another sensitive value, which blocks need; those with the same would rarely be let in.
    """
    given = Given.of(units)
    members = Members.room_for(given, block_of, blocks)
    nearest, _ = nearest_units(units, neighbours, by_value)
    state, temperature, factor = seeded(seed), np.array([hot]), (cold / hot) ** (1.0 / max(steps, 1))
    _gather(given, members)
    for some in in_parts(LEARNING, steps, at_once=ANNEALED_AT_ONCE):
        _anneal(limits, given, members, nearest, len(some), temperature, factor, state, by_value)


@kernel
def _gather(given: Given, members: Members) -> None:  # pragma: no cover
    gather(lent(given), lent(members))


@kernel
def _anneal(
    limits_: Limits,
    given: Given,
    members: Members,
    nearest: Array,
    steps: int,
    temperature_: Array,
    factor: float,
    state: Array,
    by_value: bool,
) -> None:  # pragma: no cover
    limits, g, s = lent(limits_), lent(given), lent(members)
    temperature = temperature_[0]
    for _ in range(steps):
        temperature *= factor
        u = below(nearest.shape[0], state)
        v = np.int64(nearest[u, below(nearest.shape[1], state)])
        b, c = s.block_of[u], s.block_of[v]
        if b < 0 or c < 0 or b == c or s.cost[b] == 0.0 or max(s.number[b], s.number[c]) > MAX_MEMBERS:
            continue
        w = _drawn(u, v, c, by_value, state, g, s)
        _exchanges(u, b, w, c, temperature, limits, state, g, s)
    temperature_[0] = temperature


@step
def _drawn(
    u: int, v: Any, c: int, by_value: bool, state: Array, g: Given, s: Members
) -> Any:  # pragma: no cover
    """Draw who leaves block c for u: any of its units but v, or nobody; by value, every other time one of u's value."""
    at = below(s.number[c] + 1, state)
    if by_value and below(2, state):
        for i in range(s.number[c] - 1, -1, -1):
            if g.units.sensitive[s.listed[c, i]] == g.units.sensitive[u]:
                at = i
    return NOBODY if at == s.number[c] or s.listed[c, at] == v else np.int64(s.listed[c, at])


@step
def _exchanges(
    u: int, b: int, w: int, c: int, temperature: float, limits: Limits, state: Array, g: Given, s: Members
) -> None:  # pragma: no cover
    """Let u go from block b to block c, and w, if there is one, the other way, unless that loses too much."""
    weights = g.units.weights
    more = weights[u] - (weights[w] if w != NOBODY else 0)
    size_b, size_c = s.size[b] - more, s.size[c] + more
    if size_b < limits.k or size_c < limits.k or (w == NOBODY and s.number[b] == 1):
        return
    enough = s.size[b] * s.cost[b] + s.size[c] * s.cost[c] - temperature * np.log(share(state))
    # Most changes are for the worse by far, which what stays of the blocks often shows already.
    cost_b = size_b * (s.cost[b] - s.saves[u])
    cost_c = size_c * (s.cost[c] - (s.saves[w] if w != NOBODY else 0.0))
    if (cost_b + cost_c) * ROUNDING >= enough:
        return
    cost_c = size_c * price_with(u, c, w, g, s)
    if cost_b + cost_c >= enough:
        return
    if w != NOBODY and size_b * price_with(w, b, u, g, s) + cost_c >= enough:
        return
    if may_trade(u, b, w, c, limits, g, s):
        trade(u, b, w, c, g, s)
