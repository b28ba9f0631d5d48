"""The weights of the points, which are raked until they agree with the tables that were measured."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sudare.pview._pairs import rake
from sudare.pview.grouped_counts import weighed
from sudare.pview.grouped_tables import GroupedTables
from sudare.pview.one_ways import TINY, Floats, Groups


@dataclass
class Weights:
    """The weights of the points, and the cell of every point in every table they are raked to."""

    tables: GroupedTables
    points: NDArray[Any]
    weights: Floats
    keys: dict[int, NDArray[np.int32]] = field(default_factory=dict)

    @cached_property
    def groups(self) -> Groups:
        """The groups of the points' values."""
        return np.stack([g[p] for g, p in zip(self.tables.counts.groups, self.points, strict=True)])

    def model(self) -> Floats:
        """Return all two-way tables of the points."""
        t = self.tables.counts
        return weighed(self.groups, self.weights, t.pairs, t.bins, t.true.shape[1])

    def keys_of(self, axes: Sequence[int]) -> NDArray[np.int32]:
        """Return the cell of every point in a table of some attributes."""
        keys = self.groups[axes[0]].astype(np.int32)
        for a in axes[1:]:
            keys = keys * np.int32(self.tables.counts.bins[a]) + self.groups[a]
        return np.asarray(keys)

    def table(self, axes: Sequence[int]) -> Floats:
        """Return the points' table of some attributes."""
        shape = tuple(self.tables.counts.bins[list(axes)])
        return np.bincount(self.keys_of(axes), self.weights, minlength=math.prod(shape)).reshape(shape)

    def rake_tables(self) -> None:
        """Rake to the measured tables, the latest first."""
        for place in reversed(range(len(self.tables.measured))):
            own = self.tables.measured[place]
            if place not in self.keys:
                self.keys[place] = self.keys_of(own.axes)
            rake(self.weights, self.keys[place], own.table.ravel(), TINY)

    def rake_ones(self) -> None:
        """Rake to the one-way tables."""
        for codes, table in zip(self.points, self.tables.ones.tables, strict=True):
            rake(self.weights, codes, table, TINY)
