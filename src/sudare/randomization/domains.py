"""The values that a randomized attribute can take: categories, or points of a grid between declared bounds.

They are made from the schema alone; a table only says which of them its rows have. Several attributes that are randomized
together take the combinations of their categories.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sudare.errors import InputError
from sudare.tables.checking import innermost, places_in, values_as
from sudare.tables.column import Column, smallest
from sudare.tables.numbers import numbers_of
from sudare.tables.schema import Attribute
from sudare.tables.table import Source, Table
from sudare.tables.text import text_of
from sudare.tables.toml import toml_key
from sudare.tables.types import MOST_VALUES, declared_values, misfit, stored_type

MOST_STEPS = 2**40
FARTHEST = 2**53  # beyond it, floats no longer tell whole numbers apart
MICROSECONDS = 10**6  # in a second
FINE = 2**16  # steps of the grid of a number that is not whole
BETWEEN = " × "  # the values of a combination

Codes = NDArray[Any]
Place = Callable[[Column, Source], NDArray[np.int64]]


@dataclass(frozen=True, eq=False)
class Categories:
    """Some values, in order, and one more for missing values if there may be any."""

    name: str
    values: pl.Series
    missing: bool
    place: Place
    """Which of the values each distinct one of a column is."""

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
        known = values.to_list()
        return cls(name, values, missing, lambda column, source: places_in(column, known, source))

    def __len__(self) -> int:
        return len(self.values) + self.missing

    def codes(self, table: Table) -> Codes:
        """Return the code of every row of a table."""
        column = table[self.name]
        if column.missing and not self.missing:
            raise InputError(f"'{self.name}' has missing values, for which its law has no place.")
        places = np.append(self.place(column, table.source), len(self.values))
        return np.asarray(places.astype(smallest(len(self)))[column.codes])

    def decode(self, codes: Codes) -> pl.Series:
        """Return the values that codes stand for; missing is null."""
        rows = pl.Series(codes)
        return self.values.gather(rows.set(rows == len(self.values), None))

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
        found = [text_of(value) for value in self.values.to_list()]
        missing = "(missing)" if "(missing)" not in found else "(missing value)"
        return [*found, missing] if self.missing else found

    def to_json(self) -> dict[str, Any]:
        """Return the values as they are published, and which of them stands for a missing one."""
        labels = self.labels()
        return {"values": labels} | ({"missing": labels[-1]} if self.missing else {})


def listed_values(name: str, attribute: Attribute) -> pl.Series | None:
    """Return an attribute's declared domain, or the whole numbers or days between its bounds; None if it has no such list."""
    if attribute.domain is not None:
        return declared_values(name, attribute)
    dtype = stored_type(attribute)
    if attribute.bounds is None or dtype not in (pl.Int64, pl.Date):
        return None
    grid = Grid.of(name, attribute)
    if len(grid) > MOST_VALUES:
        raise InputError(
            f"'{name}': between its bounds lie {len(grid):,} values, more than the {MOST_VALUES:,} that are taken one by one. "
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

    def codes(self, table: Table) -> Codes:
        """Return the code of every row's combination."""
        found = np.ravel_multi_index(tuple(part.codes(table) for part in self.parts), self.shape)
        return np.asarray(found, dtype=smallest(len(self)))

    def decode(self, codes: Codes) -> list[pl.Series]:
        """Return the values that codes stand for, one series for each attribute."""
        every = np.unravel_index(codes, self.shape)
        return [part.decode(own) for part, own in zip(self.parts, every, strict=True)]

    def labels(self) -> list[str]:
        """Write every combination as text, such as `Female × White`."""
        return [BETWEEN.join(combined) for combined in product(*(part.labels() for part in self.parts))]

    def to_json(self) -> dict[str, Any]:
        """Return the values of each attribute as they are published."""
        return {"columns": {part.name: part.to_json() for part in self.parts}}


@dataclass(frozen=True, eq=False)
class Grid:
    """Points from `low` on, `step` apart, to which numbers and dates are rounded before anything else."""

    name: str
    dtype: pl.DataType
    low: float
    step: float
    steps: int

    @classmethod
    def of(cls, name: str, attribute: Attribute) -> Grid:
        """Lay a grid between the declared bounds: whole numbers or days where these are such, and else a fine one.

        >>> grid = Grid.of("age", Attribute(role="quasi", bounds=(0, 120)))
        >>> grid.steps, Grid.of("age", Attribute(role="quasi", type="number", bounds=(0, 120))).steps
        (120, 65536)
        """
        dtype = stored_type(attribute)
        if attribute.bounds is None or dtype is None:
            example = "[1900-01-01, 2030-12-31]" if dtype is not None and dtype.is_temporal() else "[0, 120]"
            raise InputError(
                f"'{name}' has no declared bounds, and noise on an unbounded attribute protects nobody "
                f"(Theorem 5.1). Declare bounds that are public, such as bounds = {example}; do not take the data's own."
            )
        if reason := misfit(attribute.bounds, dtype):
            raise InputError(f"'{name}': {reason}")
        low, high = innermost(attribute.bounds, dtype)
        if isinstance(dtype, pl.Datetime):  # whole seconds, so that the ends are exact
            low, high = math.ceil(Fraction(low) / MICROSECONDS), math.floor(Fraction(high) / MICROSECONDS)
        if not (high > low and math.isfinite(high - low)):
            raise InputError(
                f"'{name}': the bounds [{', '.join(map(text_of, attribute.bounds))}] leave nothing to hide, or do not end. Drop "
                "the attribute, or declare other ones."
            )
        whole = dtype in (pl.Int64, pl.Date)
        steps = int(high - low) if whole else FINE
        if whole and (steps > MOST_STEPS or max(abs(low), abs(high)) > FARTHEST):
            raise InputError(
                f"'{name}': its bounds are too far apart for a grid of whole numbers: it has {MOST_STEPS:,} steps at most, and "
                f"ends at {FARTHEST:,}. Declare narrower bounds, or the type number."
            )
        return cls(name, dtype, float(low), (high - low) / steps, steps)

    def __len__(self) -> int:
        return self.steps + 1

    def codes(self, table: Table) -> Codes:
        """Return the nearest grid point of every row of a table."""
        column = table[self.name]
        if column.missing:
            raise InputError(
                f"'{self.name}' has missing values, to which no noise can be added. Randomize it in bins, where "
                f"missing is a value of its own (how={{'{self.name}': 'bins'}}), or fill them."
            )
        points = np.rint(self.points(column, table.source))
        size = smallest(len(self)) if len(self) <= 2**32 else np.uint64
        return np.asarray(np.clip(points, 0, self.steps).astype(size)[column.codes])

    def points(self, column: Column, source: Source) -> NDArray[np.float64]:
        """Return where the values of a column lie, in steps from the first point."""
        return np.asarray((numbers_of(values_as(column, self.dtype, source)) - self.low) / self.step)

    def numbers(self, codes: Codes) -> NDArray[np.float64]:
        """Return the numbers (for dates, days or seconds since 1970) that codes stand for."""
        return np.asarray(self.low + self.step * codes.astype(np.float64))

    def decode(self, codes: Codes) -> pl.Series:
        """Return the numbers or dates that codes stand for, in the declared type."""
        numbers = self.numbers(codes)
        if self.dtype in (pl.Int64, pl.Date):
            return pl.Series(self.name, np.rint(numbers).astype(np.int64)).cast(self.dtype)
        if self.dtype.is_temporal():
            return pl.Series(self.name, np.rint(1e6 * numbers).astype(np.int64)).cast(self.dtype)
        decimals = max(0, 1 - math.floor(math.log10(self.step)))
        high = self.low + self.step * self.steps
        return pl.Series(self.name, np.clip(np.round(numbers, decimals), self.low, high))

    def labels(self) -> list[str]:
        """Write every grid point as text."""
        return [text_of(value) for value in self.decode(np.arange(len(self))).to_list()]


Domain = Categories | Joint | Grid
