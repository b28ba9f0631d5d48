"""Which sets of columns tell people apart: how many each set singles out, how many of them no part of it does, and how many pairs it separates."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from sudare import progress
from sudare.privacy.minimal_sets import minimal_sets
from sudare.privacy.requirement import whole_number
from sudare.tables.attribute import Role
from sudare.tables.counts import Counts
from sudare.tables.table import Table

MAX_SETS = 3_000
MAX_TUPLES = 1_000_000  # of all columns together, which are followed; of more, each set is counted anew
MAX_CELLS = 50_000_000  # of these: some 800 MB while sets are looked for
MOST_LISTED = 3  # columns of a set that is counted anew


@dataclass(frozen=True)
class ColumnSet:
    """Some columns that an outsider may know of people."""

    names: tuple[str, ...]
    alone: int
    """How many are the only ones with their values in these columns."""
    separated: float
    """The share of all pairs that differ in one of them at least."""
    by_all: int | None
    """How many of those who are alone are it by no part of these columns; None where there are too many people to follow each."""


@dataclass(frozen=True)
class ColumnSets:
    """The sets of columns that tell people apart, and how far they were looked for."""

    sets: list[ColumnSet]
    """What tells most apart first, of equal ones the smaller set."""
    asked: int
    size: int
    """How many columns the largest sets have that all were looked at."""
    exhausted: bool
    """Whether no larger set tells anybody apart whom no part of it does."""

    @property
    def limit(self) -> str | None:
        """What was not looked at, in words; None if that was all."""
        if self.exhausted or self.size >= self.asked:
            return None
        return f"Sets of more than {self.size} columns were not looked at: there are too many of them."

    def of_size(self, most: int) -> list[ColumnSet]:
        """Return of each size so many sets by which, and by no part of which, most are alone; the smallest size first."""
        new = sorted(self.sets, key=lambda one: -(one.alone if one.by_all is None else one.by_all))
        sizes = sorted({len(one.names) for one in self.sets})
        return [one for size in sizes for one in [own for own in new if len(own.names) == size][:most]]


def column_sets(table: Table, most: int = 3) -> ColumnSets:
    """Find the sets of up to `most` quasi columns by which people are alone: every column, and larger sets that are minimal.

    A set by which nobody is alone who is not alone by a part of it tells nothing new, and is left out. What takes too long is not
    looked at, which is said (`limit`). Of more than a million different people, or 50 million cells, sets of at most three columns are listed, as far
    as there are no more than 3,000, and left out by which nobody more is alone than by a part of them.

    >>> import polars as pl, sudare as sd
    >>> people = pl.DataFrame({"age": [30, 30, 40], "sex": ["F", "M", "M"], "town": ["A", "A", "A"]})
    >>> table = sd.read(people, sd.Schema.from_roles(quasi=["age", "sex", "town"]))
    >>> [(one.names, one.alone, one.by_all) for one in column_sets(table).sets]
    [(('age', 'sex'), 3, 1), (('age',), 1, 1), (('sex',), 1, 1), (('town',), 0, 0)]
    """
    whole_number(most, "most", "column_sets", least=1)
    quasi = table.names(Role.quasi)
    counted = _counted(table, quasi)
    if not quasi or not len(table):
        return ColumnSets([], most, most, True)
    if counted is None:
        return _listed(table, quasi, most)
    found = minimal_sets(counted, min(most, len(quasi)))
    most_new = sorted(found.alone.items(), key=lambda one: (len(one[0]) > 1, -one[1]))[:MAX_SETS]
    names = dict.fromkeys([*((name,) for name in quasi), *(names for names, _ in most_new)])
    sets = []
    with progress.step("Counting who is alone by sets of columns", len(names), "sets") as step:
        for own in names:
            weights = iter([counted.select(own).weights])
            sets.append(_set(own, weights, found.alone.get(own, 0)))
            step.advance(1)
    return ColumnSets(_sorted(sets), most, found.size, found.exhausted)


def _listed(table: Table, quasi: Sequence[str], most: int) -> ColumnSets:
    """Count by each set of a few columns anew, in the table itself."""
    size = largest(len(quasi), min(most, MOST_LISTED))
    sets = [names for own in range(1, size + 1) for names in combinations(quasi, own)]
    found: dict[tuple[str, ...], ColumnSet] = {}
    with progress.step("Counting who is alone by sets of columns", len(sets), "sets") as step:
        for names in sets:
            weights = (piece.weights for piece in table.rows.pieces(names, names))
            found[names] = _set(names, weights, None)
            step.advance(1)
    new = [one for one in found.values() if all(found[part].alone < one.alone for part in _parts(one.names))]
    return ColumnSets(_sorted(new), most, size, size == len(quasi))


def _sorted(sets: list[ColumnSet]) -> list[ColumnSet]:
    return sorted(sets, key=lambda one: (-one.alone, len(one.names), -one.separated))


def _parts(names: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """Yield the sets with one column less; those with fewer have nobody more alone than these."""
    if len(names) > 1:
        yield from combinations(names, len(names) - 1)


def largest(columns: int, most: int) -> int:
    """Return how many columns the largest sets have that are looked at.

    >>> largest(8, 3), largest(85, 3), largest(10_000, 3)
    (3, 1, 1)
    """
    size = 1
    while size < most and sum(math.comb(columns, own) for own in range(1, size + 2)) <= MAX_SETS:
        size += 1
    return size


def _counted(table: Table, quasi: Sequence[str]) -> Counts | None:
    """Count all columns together, if there are not too many tuples to keep."""
    pieces, tuples = [], 0
    for piece in table.rows.pieces(quasi, quasi) if quasi else ():
        tuples += len(piece)
        if tuples > MAX_TUPLES or tuples * len(quasi) > MAX_CELLS:
            return None
        pieces.append(piece)
    if len(pieces) == 1:
        return pieces[0]
    return None if not pieces else _joined(pieces)


def _joined(pieces: list[Counts]) -> Counts:
    codes, weights = (
        np.concatenate(parts) for parts in zip(*((one.codes, one.weights) for one in pieces), strict=True)
    )
    return Counts(pieces[0].names, codes, weights, pieces[0].sizes)


def _set(names: tuple[str, ...], weights: Iterator[NDArray[np.int64]], by_all: int | None) -> ColumnSet:
    people, alone, alike = 0, 0, 0
    for own in weights:
        people += int(own.sum())
        alone += int((own == 1).sum())
        alike += int((own * (own - 1)).sum())
    pairs = people * (people - 1)
    return ColumnSet(names, alone, 1 - alike / pairs if pairs else 0.0, by_all)
