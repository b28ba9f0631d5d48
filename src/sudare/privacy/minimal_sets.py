"""Minimal sets of columns by which people are alone: by all of a set, and by no part of it.

They are found without listing all sets, as SUDA finds minimal sample uniques (Elliot, Manning & Ford 2002), but by sets of columns
and not by people. A set is reached from the one without its first column, so that every part of it was looked at before. On the
way down stay only people who may still become alone:

- Who is alone by a set is alone by every larger one, which tells nothing new of that one.
- People who are alike in all columns that may still be added stay alike, and are one row from then on. A group of which nobody is
  a row alone is left.

Columns of many values come last, so that the largest part of the tree begins with what tells most apart.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sudare import progress
from sudare.tables.counts import Counts, count_index

MAX_WORK = 10**9  # rows that are grouped: about a minute
STEP = 1_000  # rows that could be grouped in the time that a set takes beside that
STEP_OF_PART = 10  # and in the time that one part of a set takes

Ints = NDArray[np.int64]
Codes = NDArray[np.int32]


class MinimalSets(NamedTuple):
    """How many people are alone by each set, and by no part of it."""

    alone: dict[tuple[str, ...], int]
    size: int
    """How many columns the largest sets have that all were looked at."""
    exhausted: bool
    """Whether no larger set can be one, since everybody else stays like somebody else, or there are no more columns."""


class _Rows(NamedTuple):
    """People in groups that are alike by the columns of a set; those who stay alike whatever is added are one row."""

    group: Ints
    at: Ints
    """One tuple of each row."""
    weight: Ints


class _TooMuchWorkError(Exception):
    """More would have to be grouped than is."""


def minimal_sets(counts: Counts, most: int) -> MinimalSets:
    """Find the minimal sets of up to `most` columns; of less, if that takes too long.

    >>> import numpy as np
    >>> from sudare.tables.counts import count
    >>> counts = count({"age": np.array([0, 0, 1]), "sex": np.array([0, 1, 1])}, sizes=[2, 2])
    >>> minimal_sets(counts, 2)
    MinimalSets(alone={('age',): 1, ('sex',): 1, ('age', 'sex'): 1}, size=2, exhausted=True)
    """
    search, found = _Search(counts), MinimalSets({}, 0, False)
    with progress.step(
        "Looking for sets of columns that tell people apart", min(most, len(counts.names)), "columns"
    ) as step:
        while found.size < most and not found.exhausted:
            try:
                found = search.up_to(found.size + 1)
            except _TooMuchWorkError:
                break
            step.advance(1)
    return found


class _Search:
    def __init__(self, counts: Counts) -> None:
        names, self.weights = list(counts.names), counts.weights
        distinct = [len(np.unique(counts.codes[:, a])) for a in range(len(names))]
        order = sorted(range(len(names)), key=lambda a: (distinct[a], a))
        self.places = order
        self.names = names
        self.codes = [counts.codes[:, a] for a in order]
        self.sizes = [counts.sizes[a] for a in order]
        self.rest = _rests(self.codes, self.sizes)
        self.work = 0

    def up_to(self, size: int) -> MinimalSets:
        """Find all of so many columns."""
        self.size, self.open = size, False
        self.found: dict[int, Ints] = {}
        n = len(self.weights)
        self._add(0, 0, len(self.codes), _Rows(np.zeros(n, dtype=np.int64), np.arange(n), self.weights))
        alone = {self._named(columns): len(people) for columns, people in self.found.items()}
        in_order = sorted(alone, key=lambda names: (len(names), [self.names.index(name) for name in names]))
        return MinimalSets({names: alone[names] for names in in_order}, size, not self.open)

    def _named(self, columns: int) -> tuple[str, ...]:
        places = sorted(self.places[c] for c in range(len(self.codes)) if columns >> c & 1)
        return tuple(self.names[place] for place in places)

    def _add(self, columns: int, size: int, first: int, rows: _Rows) -> None:
        """Add each of the columns before the first one to a set, and go on from there."""
        for c in range(first):
            self.work += len(rows.at) + STEP
            if self.work > MAX_WORK:
                raise _TooMuchWorkError
            with_it = columns | 1 << c
            alone, left = self._divided(rows, c)
            if len(alone) and len(new := self._minimal(with_it, c, alone)):
                self.found[with_it] = np.sort(new)
            if not len(left.at) or c == 0:
                continue
            if size + 1 == self.size:
                self.open = True
            else:
                self._add(with_it, size + 1, c, left)

    def _divided(self, rows: _Rows, c: int) -> tuple[Ints, _Rows]:
        """Divide groups by a column; return who is alone then, and the rest who may become it by the columns before that."""
        values, (of_rest, rests) = self.codes[c][rows.at].astype(np.int64), self.rest[c]
        group = rows.group * self.sizes[c] + values
        if rests * (int(group.max(initial=0)) + 1) > np.iinfo(np.int64).max:
            group = np.unique(group, return_inverse=True)[1]
        key = group * rests + of_rest[rows.at]
        order = np.argsort(key)
        starts = np.flatnonzero(np.diff(key[order], prepend=-1))
        at, weight = rows.at[order[starts]], np.add.reduceat(rows.weight[order], starts)
        own = key[order[starts]] // rests
        number = np.cumsum(np.diff(own, prepend=-1) != 0) - 1
        rows_in, single = np.bincount(number), weight == 1
        alone = at[single & (rows_in[number] == 1)]
        stays = ((rows_in > 1) & (np.bincount(number, single) > 0))[number]
        return alone, _Rows(number[stays], at[stays], weight[stays])

    def _minimal(self, columns: int, c: int, alone: Ints) -> Ints:
        """Return those who are alone by no part of a set; without the column that was added last, nobody of them is."""
        for known in self._found_in(columns, c):
            place = np.minimum(np.searchsorted(known, alone), len(known) - 1)
            alone = alone[known[place] != alone]
            if not len(alone):
                break
        return alone

    def _found_in(self, columns: int, c: int) -> Iterator[Ints]:
        """Yield who is alone by each part of a set that has a column: by its parts or by all that were found, whichever are fewer."""
        others = columns & ~(1 << c)
        parts = 1 << others.bit_count()
        self.work += STEP_OF_PART * min(parts, len(self.found))
        if parts > len(self.found):
            yield from (people for own, people in self.found.items() if own >> c & 1 and own & columns == own)
        else:
            yield from (self.found[part | 1 << c] for part in _parts(others) if part | 1 << c in self.found)


def _parts(columns: int) -> Iterator[int]:
    """Yield every part of a set of columns but all of it."""
    part = columns
    while part:
        part = (part - 1) & columns
        yield part


def _rests(codes: list[Codes], sizes: list[int]) -> list[tuple[Codes, int]]:
    """Number, for each column, what tuples have in the columns before it; and say how many numbers there are."""
    rest, rests, found = np.zeros(len(codes[0]), dtype=np.int64), 1, []
    for own, size in zip(codes, sizes, strict=True):
        found.append((rest.astype(np.int32), rests))
        tuples, rest = count_index({"rest": rest, "own": own}, [rests, size])
        rests = len(tuples)
    return found
