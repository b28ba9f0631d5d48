"""Presence: what who has a population believes of each of its people, whether they are in the table.

Whoever is covered by all labels of a block could be one of its people (Nergiz, Atzori and Clifton 2007). Where labels overlap, people whom
the same blocks cover cannot be told apart: there are no more of them in the table than these blocks have records, and no fewer than
those of them have that cover nobody else.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sudare.attacks import _kernels
from sudare.attacks.k_map import covered_by, known_of, said_of_unmatched
from sudare.attacks.lookup import MAX_BITS, Lookup
from sudare.attacks.published import Output, Published, Values, described, people_of
from sudare.tables.notebook import ShownFigures
from sudare.tables.schema import Schema
from sudare.tables.table import Table

Ints = NDArray[np.int64]
AT_A_TIME = 2**22  # pairs of a person and 64 blocks that are looked at at a time


@dataclass(frozen=True, repr=False)
class Presence(ShownFigures):
    """With which chance people of a population are in the table."""

    most: float
    """The largest chance of anybody; infinite where a block covers nobody, so that people of the table are not in the population."""
    least: float
    """The smallest chance of anybody; 0 if somebody is covered by no block."""
    worst: Values
    """The labels of a block that covers somebody with the largest chance."""
    records: int
    population: int
    certain: int
    """People of the population who are in the table for certain, by blocks that cover nobody else: at least so many."""
    absent: int
    """People of the population whom no block covers: at least so many are not in the table."""
    unmatched: int
    """Records whose labels cover fewer people than there are such records: some of their own are not in the population."""

    def summary(self) -> dict[str, Any]:
        """Return the numbers as plain data; an infinite chance, which is no number there, is None."""
        most = self.most if math.isfinite(self.most) else None
        return {name: value for name, value in asdict(self).items() if name != "worst"} | {"most": most}

    def __str__(self) -> str:
        missing = said_of_unmatched(self.unmatched)
        return (
            f"Of {self.population:,} people in the population, at least {self.certain:,} are in the table for certain, and at least {self.absent:,} are not; each "
            f"is with a chance from {self.least:.1%} to {min(self.most, 1):.1%}, which is largest at {described(self.worst)}.{missing}"
        )


def presence(output: Output, schema: Schema, *, population: Any) -> Presence:
    """Count how likely it is of each person of a population to be in the table; `population` are people as they are.

    A weight, which no register of people has, is left out of account.

    >>> import polars as pl
    >>> output = pl.DataFrame({"age": ["[20, 30)"] * 2 + ["41"]})
    >>> people = pl.DataFrame({"age": [20, 24, 25, 27, 41, 50]})
    >>> found = presence(output, Schema.from_roles(quasi=["age"]), population=people)
    >>> found.most, found.least, found.worst, found.certain, found.absent
    (1.0, 0.0, {'age': '41'}, 1, 1)
    """
    people = people_of(population, schema)
    published = Published.open(output, Schema.from_roles(quasi=known_of(people, schema)))
    return _counted(published, people)


def _counted(published: Published, people: Table) -> Presence:
    covered, sizes = covered_by(published, people), published.sizes.to_numpy()
    alike = _Alike.of(published, people)
    most, least = alike.most(sizes), alike.least(sizes, covered)
    named = [i for i, blocks in enumerate(alike.blocks) if len(blocks)]
    worst = max(named, key=lambda i: most[i], default=None)
    nobody = np.flatnonzero(covered == 0)
    block = int(nobody[0] if len(nobody) or worst is None else alike.blocks[worst][0])
    return Presence(
        most=math.inf if len(nobody) else float(most.max()),
        least=float(least.min()),
        worst=published.values_of(block),
        records=int(sizes.sum()),
        population=len(people),
        certain=sum(alike.people[i] for i in named if least[i] >= 1),
        absent=sum(own for own, blocks in zip(alike.people, alike.blocks, strict=True) if not len(blocks)),
        unmatched=int(sizes[covered < sizes].sum()),
    )


@dataclass(frozen=True)
class _Alike:
    """People whom the same blocks cover: how many there are, and which blocks these are."""

    people: list[int] = field(default_factory=list)
    blocks: list[Ints] = field(default_factory=list)

    @classmethod
    def of(cls, published: Published, people: Table) -> _Alike:
        """Look everybody up in all blocks."""
        if not published.quasi:
            return cls([len(people)], [np.zeros(1, dtype=np.int64)])
        counts = people.counts(list(published.quasi))
        lookup = Lookup.of("output", published, people, counts)
        found, place = cls(), dict[bytes, int]()
        for blocks, weight in zip(_blocks_of(lookup), counts.weights.tolist(), strict=True):
            at = place.setdefault(blocks.tobytes(), len(place))
            if at == len(found.people):
                found.people.append(0)
                found.blocks.append(blocks)
            found.people[at] += weight
        return found

    def most(self, sizes: Ints) -> NDArray[np.float64]:
        """Return how many records their blocks have together, of the people whom they cover."""
        records = [int(sizes[blocks].sum()) for blocks in self.blocks]
        return np.asarray(np.array(records) / np.array(self.people))

    def least(self, sizes: Ints, covered: Ints) -> NDArray[np.float64]:
        """Return the same of those blocks that cover nobody else."""
        records = [
            int(sizes[blocks[covered[blocks] == people]].sum())
            for people, blocks in zip(self.people, self.blocks, strict=True)
        ]
        return np.asarray(np.array(records) / np.array(self.people))


def _blocks_of(lookup: Lookup) -> Iterator[Ints]:
    """Yield the blocks that cover each person, one person after the other."""
    blocks = len(lookup.view)
    width = max(1, MAX_BITS // lookup.values // 64) * 64
    marked = _marked(lookup, 0, blocks) if width >= blocks else None
    step = max(1, AT_A_TIME // ((blocks + 63) >> 6))
    for first in range(0, len(lookup.people), step):
        some = lookup.people[first : first + step]
        parts = []
        for start in range(0, blocks, width):
            bits = _marked(lookup, start, min(blocks, start + width)) if marked is None else marked
            words = bits[some[:, 0]]
            for a in range(1, some.shape[1]):
                words &= bits[some[:, a]]
            parts.append(words)
        for own in np.concatenate(parts, axis=1):
            yield np.flatnonzero(np.unpackbits(own.view(np.uint8), bitorder="little"))


def _marked(lookup: Lookup, start: int, stop: int) -> Any:
    return _kernels.mark_blocks(lookup.label_of, lookup.starts, lookup.covered, start, stop, lookup.values)
