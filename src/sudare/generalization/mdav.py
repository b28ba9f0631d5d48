"""MDAV: groups of k records that lie close together, from the rim inwards (Domingo-Ferrer and Mateo-Sanz 2002; Domingo-Ferrer and Torra 2005).

As long as there are three groups' worth of records: the record r that is farthest from the middle of all that are left, the record s that
is farthest from r, and a group of the nearest of each. What is left then is one group, or two. Groups have k records, and fewer
than 2k but for equal ones: these are never parted. Numbers are compared by how far they are apart, in standard deviations; other
values by how far they must climb to meet. Groups that fail what else is asked for are joined with others.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from sudare.generalization.merging import merged
from sudare.generalization.problem import Problem
from sudare.generalization.recoding import Recoding
from sudare.privacy.k_anonymity import KAnonymity
from sudare.privacy.limits import block_meets
from sudare.privacy.requirement import BlockRequirement
from sudare.tables.table import Table

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


def learn_mdav(table: Table, problem: Problem, requirements: Sequence[BlockRequirement]) -> Recoding:
    """Group the records, and join groups until the requirements hold."""
    k = max((one.k for one in requirements if isinstance(one, KAnonymity)), default=1)
    tuples, tuple_of = np.unique(problem.units, axis=0, return_inverse=True)
    tuple_of = tuple_of.reshape(-1)
    weights = np.bincount(tuple_of, problem.weights).astype(np.int64)
    space = Space.of(table, problem, tuples, weights)
    block_of = mdav(space, weights, k)[tuple_of]

    def failing(blocks: Ints) -> NDArray[np.bool_]:
        histogram = np.zeros((int(blocks.max()) + 1, problem.values), dtype=np.int64)
        np.add.at(histogram, (blocks, problem.sensitive), problem.weights)
        return np.array([not block_meets(own, int(own.sum()), problem.limits) for own in histogram])

    return merged(Recoding.of("mdav", problem, block_of), failing)


class Space:
    """Where tuples lie: numbers as points, and other values as leaves of their hierarchies."""

    def __init__(
        self, points: Floats, leaves: NDArray[np.int32], paths: list[NDArray[np.int32]], scale: Floats
    ) -> None:
        self.points, self.leaves, self.paths, self.scale = points, leaves, paths, scale

    @classmethod
    def of(cls, table: Table, problem: Problem, tuples: NDArray[np.int32], weights: Ints) -> Space:
        """Standardize numbers, each attribute by its weight; a missing number lies in the middle, and finite ones alone count."""
        points, others, paths, scale = [], [], [], []
        for a, name in enumerate(problem.names):
            values, importance = table[name].values, table.schema[name].weight
            if values.dtype.is_numeric() and len(values):
                numbers = np.append(values.cast(float).to_numpy().astype(np.float64), np.nan)[tuples[:, a]]
                known = np.isfinite(numbers)
                mean = np.average(numbers[known], weights=weights[known]) if known.any() else 0.0
                apart = np.where(known, numbers - mean, 0.0)
                deviation = np.sqrt(np.average(apart**2, weights=weights)) or 1.0
                points.append(apart / deviation * np.sqrt(importance))
            else:
                others.append(tuples[:, a])
                paths.append(problem.hierarchies[a].codes)
                scale.append(importance / problem.hierarchies[a].height ** 2)
        none = np.empty((len(tuples), 0))
        return cls(
            np.stack(points, axis=1) if points else none,
            np.stack(others, axis=1) if others else none.astype(np.int32),
            paths,
            np.array(scale),
        )

    def to(self, some: Ints, point: Floats, leaves: NDArray[np.int32]) -> Floats:
        """Return the squared distances of some tuples to a place."""
        distance: Floats = ((self.points[some] - point) ** 2).sum(axis=1)
        for a, path in enumerate(self.paths):
            climbed = (path[:-1][:, self.leaves[some, a]] != path[:-1, leaves[a]][:, np.newaxis]).sum(axis=0)
            distance += self.scale[a] * climbed.astype(np.float64) ** 2
        return distance

    def middle(self, some: Ints, weights: Ints) -> tuple[Floats, NDArray[np.int32]]:
        """Return the mean of the numbers, and the most frequent of other values."""
        point = np.average(self.points[some], axis=0, weights=weights[some])
        leaves = [int(np.bincount(column, weights[some]).argmax()) for column in self.leaves[some].T]
        return point, np.array(leaves, dtype=np.int32)


def mdav(space: Space, weights: Ints, k: int) -> Ints:
    """Return the group of each tuple, of which each stands for so many records."""
    group_of, left, groups = np.full(len(weights), -1, dtype=np.int64), np.arange(len(weights)), 0

    def distance(at: int) -> Floats:
        return space.to(left, space.points[at], space.leaves[at])

    def take(at: int) -> None:
        """Make a group of what is nearest to a tuple."""
        nonlocal left, groups
        order = np.argsort(distance(at), kind="stable")
        size = int(np.searchsorted(np.cumsum(weights[left[order]]), k)) + 1
        group_of[left[order[:size]]] = groups
        groups += 1
        left = np.delete(left, order[:size])

    def rim() -> int:
        return int(left[space.to(left, *space.middle(left, weights)).argmax()])

    while weights[left].sum() >= 3 * k:
        r = rim()
        s = int(left[distance(r).argmax()])
        take(r)
        if group_of[s] < 0 and weights[left].sum() >= k:
            take(s)
    if len(left) and weights[left].sum() >= 2 * k:
        take(rim())
    if len(left) and (weights[left].sum() >= k or not groups):
        group_of[left] = groups
    elif len(left):  # too few for a group of their own, as larger ones took more than k
        grouped = np.flatnonzero(group_of >= 0)
        for at in left.tolist():
            near = space.to(grouped, space.points[at], space.leaves[at]).argmin()
            group_of[at] = group_of[grouped[near]]
    return group_of
