"""How much the minimal method tries."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from time import monotonic
from typing import Literal

Effort = Literal["quick", "normal", "thorough"]

MAX_TRIES = 1_000_000


@dataclass(frozen=True)
class Search:
    """How much is tried."""

    improves: bool
    pooled: int
    """Rows of several blocks that are divided anew, in all ways."""
    near: int
    """Blocks that are pooled with each, one after the other, at most,"""
    all_near: int
    """and for all units of a table; two, however many units there are."""
    openings: int
    """Passes of opening blocks."""
    steps: int
    """Of annealing, for each unit, at most,"""
    all_steps: int
    """and for all units of a table."""
    rounds: int
    end: float = math.inf
    """On the clock: no round begins after it."""

    def among(self, units: int) -> Search:
        """Return a search whose steps and pools suffice for so many units."""
        near = min(self.near, max(self.all_near // units, 2))
        return replace(self, near=near, steps=min(self.steps, self.all_steps // units))

    def until(self, end: float) -> Search:
        """Return a search of as many rounds as there is time for."""
        return replace(self, rounds=MAX_TRIES, end=end)


SEARCHES: dict[str, Search] = {
    "quick": Search(improves=False, pooled=0, near=0, all_near=0, openings=0, steps=0, all_steps=0, rounds=0),
    "normal": Search(
        improves=True,
        pooled=10,
        near=4,
        all_near=30_000,
        openings=0,
        steps=15_000,
        all_steps=52_000_000,
        rounds=1,
    ),
    "thorough": Search(
        improves=True,
        pooled=12,
        near=16,
        all_near=10_000_000,
        openings=20,
        steps=20_000,
        all_steps=500_000_000,
        rounds=5,
    ),
}


def search_of(effort: Effort | float, units: int) -> Search:
    """Return the search of an effort, or of so many seconds, among so many units."""
    if isinstance(effort, str):
        return SEARCHES[effort].among(units)
    return SEARCHES["thorough"].among(units).until(monotonic() + effort)
