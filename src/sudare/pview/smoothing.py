"""What two-way tables by groups of values say of single values: how attributes hang together changes from value to value.

A table by groups tells how many records there are in two groups against what independence would have. That ratio is taken to
hold in the middles of the groups, by records, and in between to go over from one to the other in a straight line. A group of one
value has no inside: it is often a value unlike all others, such as 0, and its neighbours keep to themselves.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from sudare.pview.one_ways import TINY, Floats, Groups

MAX_VALUES = 255
"""Of the given attribute: values are numbered like groups."""
MAX_CELLS = 1_000_000


@dataclass(frozen=True, eq=False)
class Margin:
    """An attribute's groups of values, and its one-way table."""

    groups: Groups
    table: Floats

    @cached_property
    def by_groups(self) -> Floats:
        """How many records every group has, and a trifle."""
        return np.asarray(np.bincount(self.groups, self.table) + TINY, dtype=np.float64)

    @cached_property
    def in_several(self) -> float:
        """What part of the records is in groups of several values."""
        several = np.bincount(self.groups)[self.groups] > 1
        return float(self.table[several].sum() / max(self.table.sum(), TINY))


@dataclass(frozen=True)
class Between:
    """Of every value its group, the neighbour on its side of the group's middle, and what part of the way it is to that one's."""

    own: NDArray[np.int64]
    other: NDArray[np.int64]
    part: Floats

    @classmethod
    def of(cls, groups: Groups, table: Floats) -> Between:
        """Look where values stand in their groups, given their records.

        >>> Between.of(np.array([0, 0, 1, 1], dtype=np.uint8), np.ones(4)).part.round(3).tolist()
        [0.0, 0.25, 0.25, 0.0]
        """
        own, records = groups.astype(np.int64), table + TINY
        if (np.diff(own) < 0).any():  # these are no groups of neighbours
            return cls(own, own, np.zeros(len(own)))
        place = np.cumsum(records) - records / 2
        middle = np.bincount(own, place * records) / np.bincount(own, records)
        several = np.bincount(own) > 1
        other = np.where(place > middle[own], own + 1, own - 1)
        other = np.where((other >= 0) & (other < len(middle)), other, own)
        other = np.where(several[own] & several[other], other, own)
        apart = np.where(other == own, 1.0, middle[other] - middle[own])
        return cls(own, other, np.where(other == own, 0.0, (place - middle[own]) / apart))

    def of_values(self, of_groups: Floats) -> Floats:
        """Return what every value has, given what groups have, along the first axis."""
        part = self.part[:, None]
        return np.asarray(of_groups[self.own] * (1 - part) + of_groups[self.other] * part)


def given_shares(table: Floats, first: Margin, second: Margin) -> tuple[Groups, Floats]:
    """Return how likely the second attribute's values are, given the first one's.

    Given is the row that each value of the first attribute has; the rows have one column for each value of the second.
    """
    ratios = table / np.outer(first.by_groups, second.by_groups)
    rows = first.groups
    if len(rows) <= MAX_VALUES and len(rows) * len(second.groups) <= MAX_CELLS:
        ratios = Between.of(first.groups, first.table).of_values(ratios)
        rows = np.arange(len(rows), dtype=np.uint8)
    return rows, Between.of(second.groups, second.table).of_values(ratios.T).T * (second.table + TINY)
