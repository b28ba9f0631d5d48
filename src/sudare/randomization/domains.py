"""The values that a randomized attribute can take: categories, or points of a grid between declared bounds.

They are made from the schema alone. Which of them a table's values are is told by its dictionaries (`places`), and how
many records have each of them by its counts (`domain_counts`). Several attributes that are randomized together take
the combinations of their categories.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, Protocol

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sudare.errors import InputError
from sudare.randomization.grids import Codes, Grid, code_type
from sudare.tables.attribute import Attribute
from sudare.tables.checking import places_in
from sudare.tables.table import Table
from sudare.tables.text import text_of
from sudare.tables.toml import toml_key
from sudare.tables.types import MAX_VALUES, declared_values, lists_values, stored_type

SEPARATOR = " × "  # between the values of a combination


class Binning(Protocol):
    """By what the values of an attribute are put into bins."""

    def places(self, table: Table, name: str) -> NDArray[np.int64]:
        """Return in which bin each value of a dictionary lies."""


@dataclass(frozen=True, eq=False)
class Categories:
    """Some values, in order, and one more for missing values if there may be any."""

    name: str
    values: pl.Series
    missing: bool
    binning: Binning | None = None
    """If they are bins: what is put into which of them."""

    @classmethod
    def of(cls, name: str, attribute: Attribute, *, missing: bool) -> Categories:
        """Take the declared domain of an attribute, or the whole numbers or days between its bounds.

        >>> Categories.of("age", Attribute(role="quasi", bounds=(18, 20)), missing=True).labels()
        ['18', '19', '20', '(missing)']
        """
        values = listed_values(name, attribute)
        if values is None:
            raise InputError(
                f"'{name}': its values are not listed. Add to [attributes.{toml_key(name)}] a domain that is public, such as "
                f"domain = [1, 2, 3], or randomize it in bins, or with noise: how={{'{name}': 'bins'}}."
            )
        return cls(name, values, missing)

    def __len__(self) -> int:
        return len(self.values) + self.missing

    def places(self, table: Table, name: str) -> Codes:
        """Return the code of each value of a dictionary, and after them that of a missing one, if it has any."""
        if table[name].missing and not self.missing:
            raise InputError(f"'{self.name}' has missing values, for which its law has no place.")
        if self.binning is None:
            places = places_in(table, name, self.values.to_list())
        else:
            places = self.binning.places(table, name)
        if table[name].missing:
            places = np.append(places, len(self.values))
        return places.astype(code_type(len(self)))

    def combined(self, columns: Sequence[Codes]) -> Codes:
        """Return the codes of the rows of the only column."""
        (codes,) = columns
        return codes

    def decode(self, codes: Codes) -> pl.Series:
        """Return the values that codes stand for; missing is null."""
        rows = pl.Series(codes)
        if self.missing:  # else no code is beyond the values, and 256 would be beyond those of a byte
            rows = rows.set(rows == len(self.values), None)
        return self.values.gather(rows)

    @property
    def parts(self) -> tuple[Categories, ...]:
        """What is joined here: nothing else."""
        return (self,)

    @property
    def shape(self) -> tuple[int, ...]:
        """How a histogram may be given."""
        return (len(self),)

    def labels(self) -> list[str]:
        """Write every value as text; the missing one last, under a name that no value has."""
        texts = [text_of(value) for value in self.values.to_list()]
        missing = "(missing)" if "(missing)" not in texts else "(missing value)"
        return [*texts, missing] if self.missing else texts

    def to_json(self) -> dict[str, Any]:
        """Return the values as they are published, and which of them stands for a missing one."""
        labels = self.labels()
        return {"values": labels} | ({"missing": labels[-1]} if self.missing else {})


def listed_values(name: str, attribute: Attribute) -> pl.Series | None:
    """Return an attribute's declared domain, or the whole numbers or days between its bounds; None if it has no such list."""
    if lists_values(attribute):
        return declared_values(name, attribute)
    dtype = stored_type(attribute)
    if attribute.bounds is None or dtype not in (pl.Int64, pl.Date):
        return None
    grid = Grid.of(name, attribute)
    if len(grid) > MAX_VALUES:
        raise InputError(
            f"'{name}': between its bounds lie {len(grid):,} values, more than the {MAX_VALUES:,} that are taken one by one. "
            "Declare narrower bounds, or randomize it in bins, or with noise."
        )
    return grid.decode(np.arange(len(grid)))


@dataclass(frozen=True, eq=False)
class Joint:
    """The combinations of the values of several attributes; the last attribute changes fastest."""

    parts: tuple[Categories, ...]

    def __len__(self) -> int:
        return math.prod(self.shape)

    @property
    def names(self) -> list[str]:
        """Whose values are combined."""
        return [part.name for part in self.parts]

    @property
    def shape(self) -> tuple[int, ...]:
        """How many values each attribute has."""
        return tuple(len(part) for part in self.parts)

    def combined(self, columns: Sequence[Codes]) -> Codes:
        """Return the code of every row's combination, given the codes of each attribute."""
        return np.ravel_multi_index(tuple(columns), self.shape).astype(code_type(len(self)))

    def decode(self, codes: Codes) -> list[pl.Series]:
        """Return the values that codes stand for, one series for each attribute."""
        every = np.unravel_index(codes, self.shape)
        return [part.decode(own) for part, own in zip(self.parts, every, strict=True)]

    def labels(self) -> list[str]:
        """Write every combination as text, such as `Female × White`."""
        return [SEPARATOR.join(combined) for combined in product(*(part.labels() for part in self.parts))]

    def to_json(self) -> dict[str, Any]:
        """Return the values of each attribute as they are published."""
        return {"columns": {part.name: part.to_json() for part in self.parts}}


class Domain(Protocol):
    """What is randomized by one law: the values of an attribute, or of several together."""

    @property
    def parts(self) -> Sequence[Categories | Grid]:
        """Whose values are combined."""

    def combined(self, columns: Sequence[Codes]) -> Codes:
        """Return the code of every row, given those of each part."""

    def __len__(self) -> int: ...


def domain_counts(domain: Domain, table: Table) -> NDArray[np.int64]:
    """Return how many records of a table have each value of a domain: its true histogram."""
    parts = domain.parts
    counts = table.counts([part.name for part in parts])
    columns = [
        part.places(table, part.name)[codes] for part, codes in zip(parts, counts.codes.T, strict=True)
    ]
    histogram = np.bincount(domain.combined(columns), weights=counts.weights, minlength=len(domain))
    return histogram.astype(np.int64)
