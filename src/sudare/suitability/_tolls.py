"""Compiled: what the records of each cell pay, and how the tolls of the cells follow those who would come."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from sudare.kernels import kernel

Array = np.ndarray[Any, Any]

REACH = 8.0  # so many temperatures above the best price, nobody comes any more
MIXED = 0.02  # of the shares that the tangent is taken at, so much is the whole cell's: none is 0
LEAST_CURVE = 0.1  # of the smoothed bound, so that a step stays a step where credits are near 0


class TolledCells(NamedTuple):
    """Some of the cells, who is in each, and what each charges; see `ClosedCells`."""

    start: Array
    members: Array
    cost: Array
    sensitive: Array
    """The value of each unit."""
    weights: Array
    shares: Array
    """Of each cell, the share of its records with each value."""
    credits: Array
    """Of each cell, a vector that no possible block's records sum to less than 0 by."""
    tolls: Array
    """Of each cell, what a credit is worth there."""
    tangents: Array
    """Of each cell, the shares that the credits come from, if they come from entropy."""


@kernel
def lower_prices(cells: TolledCells, low: int, high: int, best: Array) -> None:  # pragma: no cover
    """Lower the price of each unit to the least that cells low ... high - 1 ask of it."""
    for g in range(low, high):
        for i in range(cells.start[g], cells.start[g + 1]):
            u = cells.members[i]
            price = cells.cost[g] - cells.tolls[g] * cells.credits[g, cells.sensitive[u]]
            best[u] = min(best[u], price)


@kernel
def add_pulls(
    cells: TolledCells, low: int, high: int, best: Array, temperature: float, pull: Array
) -> None:  # pragma: no cover
    """Add up how strongly these cells pull each unit: the more, the nearer their price is to its best."""
    for g in range(low, high):
        for i in range(cells.start[g], cells.start[g + 1]):
            u = cells.members[i]
            price = cells.cost[g] - cells.tolls[g] * cells.credits[g, cells.sensitive[u]]
            above = (price - best[u]) / temperature
            if above < REACH:
                pull[u] += math.exp(-above)


@kernel
def adjust(
    cells: TolledCells,
    low: int,
    high: int,
    best: Array,
    temperature: float,
    pull: Array,
    limit: Array,
    step: float,
    follow: float,
) -> None:  # pragma: no cover
    """Let the tolls of these cells follow the demand: who would come, shared among cells by their pulls.

    A cell whose demand lacks credit charges more for it, by a Newton step of the smoothed bound; its credits turn towards
    those that this demand lacks most. `limit` is log l and two zeros, or 0, c and l.
    """
    demand, taken = np.zeros(cells.shares.shape[1]), np.zeros(cells.shares.shape[1])
    for g in range(low, high):
        total = 0.0
        for v in range(demand.size):
            demand[v] = 0.0
        for i in range(cells.start[g], cells.start[g + 1]):
            u = cells.members[i]
            price = cells.cost[g] - cells.tolls[g] * cells.credits[g, cells.sensitive[u]]
            above = (price - best[u]) / temperature
            if above < REACH:
                comes = cells.weights[u] * math.exp(-above) / pull[u]
                demand[cells.sensitive[u]] += comes
                total += comes
        if total <= 0:
            continue
        for v in range(demand.size):
            demand[v] /= total
        if limit[0] > 0:
            _turn_entropy(cells, g, demand, limit[0], follow)
        else:
            _turn_recursive(cells, g, demand, taken, limit, follow)
        credit, curve = 0.0, 0.0
        for v in range(demand.size):
            credit += demand[v] * cells.credits[g, v]
            curve += demand[v] * cells.credits[g, v] ** 2
        cells.tolls[g] = max(0.0, cells.tolls[g] - step * temperature * credit / max(curve, LEAST_CURVE))


@kernel
def _turn_entropy(
    cells: TolledCells, g: int, demand: Array, log_l: float, follow: float
) -> None:  # pragma: no cover
    """Move the tangent towards the demand. Values that the cell does not have need no share of it."""
    for v in range(demand.size):
        if cells.shares[g, v] > 0:
            towards = (1 - MIXED) * demand[v] + MIXED * cells.shares[g, v]
            cells.tangents[g, v] += follow * (towards - cells.tangents[g, v])
            cells.credits[g, v] = -math.log(cells.tangents[g, v]) - log_l


@kernel
def _turn_recursive(
    cells: TolledCells, g: int, demand: Array, taken: Array, limit: Array, follow: float
) -> None:  # pragma: no cover
    """Move the credits towards those by which the l - 1 values that come most lack most."""
    first = -1
    for v in range(demand.size):
        taken[v] = 0.0
    for _ in range(max(1, min(int(limit[2]) - 1, demand.size))):
        most = -1
        for v in range(demand.size):
            if taken[v] == 0.0 and (most < 0 or demand[v] > demand[most]):
                most = v
        if first < 0:
            first = most
        if limit[2] > 1:
            taken[most] = 1.0
    for v in range(demand.size):
        towards = limit[1] * (1.0 - taken[v]) - (1.0 if v == first else 0.0)
        cells.credits[g, v] += follow * (towards - cells.credits[g, v])
