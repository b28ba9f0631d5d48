"""Which sets of columns tell people apart: how many each set singles out, and how many pairs of people it separates."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from sudare import progress
from sudare.privacy.requirement import whole_number
from sudare.tables.attribute import Role
from sudare.tables.counts import Counts
from sudare.tables.table import Table

MAX_SETS = 3_000
MAX_TUPLES = (
    1_000_000  # of all columns together, from which the others are counted; of more, each set is counted anew
)


@dataclass(frozen=True)
class ColumnSet:
    """Some columns that an outsider may know of people."""

    names: tuple[str, ...]
    alone: int
    """How many are the only ones with their values in these columns."""
    separated: float
    """The share of all pairs that differ in one of them at least."""


def column_sets(table: Table, most: int = 3) -> list[ColumnSet]:
    """Look at every set of up to `most` quasi columns; what tells most apart first, of equal ones the smaller set.

    A set by which nobody more is alone than by a part of it tells nothing new, and is left out. Of very many columns smaller sets
    alone are looked at, as far as there are no more than 3,000.

    >>> import polars as pl, sudare as sd
    >>> people = pl.DataFrame({"age": [30, 30, 40], "sex": ["F", "M", "M"], "town": ["A", "A", "A"]})
    >>> table = sd.read(people, sd.Schema.from_roles(quasi=["age", "sex", "town"]))
    >>> [(one.names, one.alone) for one in column_sets(table)]
    [(('age', 'sex'), 3), (('age',), 1), (('sex',), 1), (('town',), 0)]
    """
    whole_number(most, "most", "column_sets", least=1)
    quasi = table.names(Role.quasi)
    sets = [names for size in range(1, largest(len(quasi), most) + 1) for names in combinations(quasi, size)]
    found: dict[tuple[str, ...], ColumnSet] = {}
    with progress.step("Counting who is alone by sets of columns", len(sets), "sets") as step:
        counted = _counted(table, quasi)
        for names in sets:
            found[names] = _set(names, _weights(table, counted, names))
            step.advance(1)
    new = [one for one in found.values() if all(found[part].alone < one.alone for part in _parts(one.names))]
    return sorted(new, key=lambda one: (-one.alone, len(one.names), -one.separated))


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
        if tuples > MAX_TUPLES:
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


def _weights(table: Table, counted: Counts | None, names: tuple[str, ...]) -> Iterator[NDArray[np.int64]]:
    """Return how many people have each of the values of a set that there are."""
    if counted is not None:
        yield counted.select(names).weights
        return
    for piece in table.rows.pieces(names, names):
        yield piece.weights


def _set(names: tuple[str, ...], weights: Iterator[NDArray[np.int64]]) -> ColumnSet:
    people, alone, alike = 0, 0, 0
    for own in weights:
        people += int(own.sum())
        alone += int((own == 1).sum())
        alike += int((own * (own - 1)).sum())
    pairs = people * (people - 1)
    return ColumnSet(names, alone, 1 - alike / pairs if pairs else 0.0)
