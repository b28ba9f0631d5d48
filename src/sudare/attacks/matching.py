"""Who wrote which row, where all rows are shuffled: the exact posterior over all matchings of persons and rows.

With A[u, a], the probability that a person with the values u comes out with the values a, the rows of a table that was
shuffled after it was randomized belong to its persons by the matching m with a probability proportional to the product of all
A[person, m(person)]. That a given person wrote a given row has the probability A[u, a] perm(A without both) / perm(A). The
permanents are summed person by person, over the sets of rows that are taken: nothing is subtracted, so nothing cancels.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

MAX_SETS = 2**16
"""Sets of rows that are taken, told apart by how many of each value they have."""
MAX_MATCHED = 500
"""Persons: with rows and columns that sum to 1, the permanent is above e^-500 (van der Waerden), which a float holds."""
ROUNDS = 200  # of balancing; any balance gives the same posterior, and a better one larger numbers on the way


def can_match(persons: Integers, rows: Integers, sets: int = MAX_SETS) -> bool:
    """Say whether so many persons and rows, by their values, are few enough for an exact posterior."""
    return persons.sum() <= MAX_MATCHED and min(_sets(persons), _sets(rows)) <= sets


def matched(weights: Floats, persons: Integers, rows: Integers) -> Floats | None:
    """Return for all values u of a person and a of a row the probability that one given person wrote one given row.

    `weights[u, a]` is the probability that u comes out as a; `persons[u]` have the one, `rows[a]` the other, as many in
    all. None, if these rows cannot be of these persons.

    >>> one = np.array([1, 1])
    >>> matched(np.array([[0.75, 0.25], [0.25, 0.75]]), one, one).round(3).tolist()
    [[0.9, 0.1], [0.1, 0.9]]
    """
    if _sets(persons) < _sets(rows):
        turned = matched(weights.T, rows, persons)
        return None if turned is None else turned.T
    first = np.concatenate([[0], np.cumsum(persons)[:-1]])
    states = _States.of(rows)
    each = np.repeat(_balanced(weights, persons, rows), persons, axis=0)
    before, after = _summed(each, states), _summed_back(each, states)
    if not before[-1] > 0:
        return None
    posterior = np.empty(weights.shape)
    for u, person in enumerate(first):
        for a in range(len(rows)):
            here, ways = states.with_room(int(person), a)
            both = (before[here] * ways) @ after[here + states.radix[a]]
            posterior[u, a] = each[person, a] * both / before[-1] / rows[a]
    return posterior


@dataclass(frozen=True, eq=False)
class _States:
    """The sets of rows that may be taken: numbers with a digit for each value, which counts its rows."""

    rows: Integers
    radix: Integers
    left: Integers
    """How many rows of each value are not taken, by state."""
    by_size: list[Integers]
    """The states in which 0, 1, 2, ... rows are taken: as many as persons have one."""

    @classmethod
    def of(cls, rows: Integers) -> _States:
        radix = np.concatenate([[1], np.cumprod(rows + 1)[:-1]]).astype(np.int64)
        taken = np.arange(_sets(rows))[:, None] // radix % (rows + 1)
        sizes = taken.sum(axis=1)
        order = np.argsort(sizes, kind="stable")
        starts = np.searchsorted(sizes[order], np.arange(rows.sum() + 2))
        parts = [order[a:b] for a, b in pairwise(starts)]
        return cls(rows, radix, rows - taken, parts)

    def with_room(self, size: int, a: int) -> tuple[Integers, Integers]:
        """Return the states of a size in which a row with the value a is left, and how many are."""
        here = self.by_size[size]
        here = here[self.left[here, a] > 0]
        return here, self.left[here, a]


def _sets(rows: Integers) -> int:
    return math.prod(int(count) + 1 for count in rows)


def _balanced(weights: Floats, persons: Integers, rows: Integers) -> Floats:
    """Scale rows and columns so that each person's probabilities sum to 1, and each row's, as nearly as they can."""
    balanced = weights / np.maximum(weights.max(axis=1, keepdims=True), np.finfo(np.float64).tiny)
    for _ in range(ROUNDS):
        balanced = balanced / np.maximum(persons @ balanced, np.finfo(np.float64).tiny)
        sums = balanced @ rows
        balanced = balanced / np.maximum(sums, np.finfo(np.float64).tiny)[:, None]
        if np.abs(sums - 1).max() < 1e-3:
            break
    return np.asarray(balanced)


def _summed(each: Floats, states: _States) -> Floats:
    """Return for each state the sum over all ways in which the first persons took it."""
    ways = np.zeros(len(states.left))
    ways[0] = 1.0
    for person in range(len(each)):
        for a in range(len(states.rows)):
            here, room = states.with_room(person, a)
            ways[here + states.radix[a]] += ways[here] * room * each[person, a]
    return ways


def _summed_back(each: Floats, states: _States) -> Floats:
    """Return for each state the sum over all ways in which the other persons take what is left."""
    ways = np.zeros(len(states.left))
    ways[-1] = 1.0
    for person in reversed(range(len(each))):
        for a in range(len(states.rows)):
            here, room = states.with_room(person, a)
            ways[here] += ways[here + states.radix[a]] * room * each[person, a]
    return ways
