"""k-map: how many people of a population could be the person of a published record.

Like k-anonymity, but among all people of the population, who need not be in the table (Sweeney 2002). The population is given as
it is: whoever is covered by all labels of a block could be in it.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sudare.attacks import _kernels
from sudare.attacks.lookup import MAX_BITS, Lookup
from sudare.attacks.published import Output, Published, Values, described, people_of
from sudare.errors import InputError
from sudare.privacy.requirement import number
from sudare.tables.attribute import Role
from sudare.tables.notebook import ShownFigures
from sudare.tables.schema import Schema
from sudare.tables.table import Table
from sudare.tables.text import listed

Ints = NDArray[np.int64]


@dataclass(frozen=True, repr=False)
class KMap(ShownFigures):
    """How few people of a population a published record could belong to."""

    k: int
    """The fewest people that the labels of a record cover."""
    worst: Values
    """The labels of such a record."""
    records: int
    population: int
    threshold: float
    at_risk: int
    """Records with a risk, 1 / the people that they could belong to, above the threshold."""
    unmatched: int
    """Records whose labels cover fewer people than there are such records: some of their own are not in the population."""

    def summary(self) -> dict[str, Any]:
        """Return the numbers as plain data."""
        return {name: value for name, value in asdict(self).items() if name != "worst"}

    def __str__(self) -> str:
        missing = said_of_unmatched(self.unmatched)
        return (
            f"Every record could be of {self.k:,} people or more, of {self.population:,} in the population ({self.k}-map); the fewest "
            f"are at {described(self.worst)}. {self.at_risk:,} of {self.records:,} records have a risk above "
            f"{self.threshold:.0%}.{missing}"
        )


def said_of_unmatched(records: int) -> str:
    """Say that a population is no register of everybody, where records are of people who are not in it."""
    return (
        f" {records:,} records are of people who are not all in the population: it is no register of everybody."
        if records
        else ""
    )


def k_map(output: Output, schema: Schema, *, population: Any, threshold: float = 0.2) -> KMap:
    """Count for every published block the people of a population whom its labels cover; `population` are people as they are.

    A weight, which no register of people has, is left out of account.

    >>> import polars as pl, sudare as sd
    >>> output = pl.DataFrame({"age": ["[20, 30)"] * 2 + ["41"]})
    >>> mapped = k_map(output, sd.Schema.from_roles(quasi=["age"]), population=pl.DataFrame({"age": [20, 24, 25, 41, 41]}))
    >>> mapped.k, mapped.worst, mapped.at_risk
    (2, {'age': '41'}, 3)
    """
    number(threshold, "threshold", "the k_map attack", "a number from 0 to 1", low=0, high=1)
    people = people_of(population, schema)
    names = known_of(people, schema)
    published = Published.open(output, Schema.from_roles(quasi=names))
    covered, sizes = covered_by(published, people), published.sizes.to_numpy()
    worst = int(covered.argmin())
    return KMap(
        int(covered[worst]),
        published.values_of(worst),
        int(sizes.sum()),
        len(people),
        threshold,
        int(sizes[covered * threshold < 1].sum()),
        int(sizes[covered < sizes].sum()),
    )


def known_of(people: Table, schema: Schema) -> list[str]:
    """Return the quasi attributes that a population must have; a weight, which no register has, is none."""
    names = [
        name
        for name in schema.names(Role.quasi)
        if schema[name].role != Role.weight or name in people.columns
    ]
    if absent := [name for name in names if name not in people.columns]:
        raise InputError(f"The population has no column {listed(absent)}, which the schema calls quasi.")
    return names


def covered_by(published: Published, people: Table) -> Ints:
    """Return how many people the labels of each block cover."""
    if not published.quasi:
        return np.full(len(published), len(people))
    counts = people.counts(list(published.quasi))
    lookup = Lookup.of("output", published, people, counts)
    covered = np.zeros(len(published), dtype=np.int64)
    step = max(1, MAX_BITS // lookup.values // 64) * 64
    for first in range(0, len(published), step):
        stop = min(len(published), first + step)
        bits = _kernels.mark_blocks(
            lookup.label_of, lookup.starts, lookup.covered, first, stop, lookup.values
        )
        _kernels.add_people(lookup.people, counts.weights, bits, covered[first:stop])
    return covered
