"""The values that a randomized attribute can take: categories, or points of a grid between declared bounds.

Several attributes that are randomized together take the combinations of their categories.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from itertools import pairwise, product
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sudare.errors import InputError
from sudare.tables.column import Column, smallest
from sudare.tables.numbers import number_of, numbers_of
from sudare.tables.schema import Attribute
from sudare.tables.text import text_of

BINS = 10
MOST_STEPS = 2**40
FINE = 2**16  # steps of the grid of a number that is not whole
BETWEEN = " × "  # the values of a combination

Codes = NDArray[Any]


@dataclass(frozen=True, eq=False)
class Categories:
    """The distinct values of a column, with one for missing values if there are any."""

    column: Column
    declared: bool
    """Whether the schema names them; if not, which of them occur is told by the output."""

    def __len__(self) -> int:
        return self.column.size

    def codes(self) -> Codes:
        """Return the code of every row."""
        return self.column.codes

    def decode(self, codes: Codes) -> pl.Series:
        """Return the values that codes stand for."""
        return self.column.decode(codes)

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
        found = [text_of(value) for value in self.column.values.to_list()]
        missing = "(missing)" if "(missing)" not in found else "(missing value)"
        return [*found, missing] if self.column.missing else found

    def to_json(self) -> dict[str, Any]:
        """Return the values as they are published, and which of them stands for a missing one."""
        labels = self.labels()
        return {"values": labels} | ({"missing": labels[-1]} if self.column.missing else {})


@dataclass(frozen=True, eq=False)
class Joint:
    """The combinations of the values of several attributes; the last attribute changes fastest."""

    parts: tuple[Categories, ...]

    def __len__(self) -> int:
        return math.prod(self.shape)

    @property
    def names(self) -> list[str]:
        """Whose values are combined."""
        return [part.column.name for part in self.parts]

    @property
    def shape(self) -> tuple[int, ...]:
        """How many values each attribute has."""
        return tuple(len(part) for part in self.parts)

    @property
    def declared(self) -> bool:
        """Whether the schema names the values of all."""
        return all(part.declared for part in self.parts)

    def codes(self) -> Codes:
        """Return the code of every row's combination."""
        found = np.ravel_multi_index(tuple(part.codes() for part in self.parts), self.shape)
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
        return {"columns": {part.column.name: part.to_json() for part in self.parts}}


@dataclass(frozen=True, eq=False)
class Grid:
    """Points from `low` on, `step` apart, to which numbers and dates are rounded before anything else."""

    column: Column
    low: float
    step: float
    steps: int

    @classmethod
    def of(cls, column: Column, attribute: Attribute) -> Grid:
        """Lay a grid between the declared bounds: whole numbers and days where that is what the column has."""
        example = "[1900-01-01, 2030-12-31]" if column.values.dtype.is_temporal() else "[0, 120]"
        if attribute.bounds is None:
            raise InputError(
                f"'{column.name}' has no declared bounds, and noise on an unbounded attribute protects nobody "
                f"(Theorem 5.1). Declare bounds that are public, such as bounds = {example}; do not take the data's own."
            )
        if column.missing:
            raise InputError(
                f"'{column.name}' has missing values, to which no noise can be added. Randomize it in bins, where "
                f"missing is a value of its own (how={{'{column.name}': 'bins'}}), or fill them."
            )
        dtype = column.values.dtype
        low, high = (number_of(end, dtype) for end in attribute.bounds)
        whole = dtype.is_integer() or dtype == pl.Date
        if whole:
            low, high = float(math.ceil(low)), float(math.floor(high))
        if high <= low:
            raise InputError(
                f"'{column.name}': the bounds [{low:g}, {high:g}] leave nothing to hide. Drop the attribute."
            )
        steps = int(high - low) if whole else FINE
        if steps > MOST_STEPS:
            raise InputError(
                f"'{column.name}': between its bounds lie {steps:,} whole numbers, too many for a grid. Declare narrower "
                "bounds, or the type number."
            )
        return cls(column, low, (high - low) / steps, steps)

    def __len__(self) -> int:
        return self.steps + 1

    def codes(self) -> Codes:
        """Return the nearest grid point of every row."""
        values = numbers_of(self.column.values)
        nearest = np.clip(np.rint((values - self.low) / self.step), 0, self.steps)
        return np.asarray(
            nearest.astype(smallest(len(self)) if len(self) <= 2**32 else np.uint64)[self.column.codes]
        )

    def numbers(self, codes: Codes) -> NDArray[np.float64]:
        """Return the numbers (for dates, days or seconds since 1970) that codes stand for."""
        return np.asarray(self.low + self.step * codes.astype(np.float64))

    def decode(self, codes: Codes) -> pl.Series:
        """Return the numbers or dates that codes stand for, in the column's own type."""
        numbers, dtype = self.numbers(codes), self.column.values.dtype
        if dtype.is_integer() or dtype == pl.Date:
            found = pl.Series(self.column.name, np.rint(numbers).astype(np.int64))
            return found.cast(dtype, strict=False) if _fits(found, dtype) else found
        if dtype.is_temporal():
            seconds = pl.Series(self.column.name, np.rint(1e6 * numbers).astype(np.int64))
            return seconds.cast(pl.Datetime("us")).cast(dtype)
        decimals = max(0, 1 - math.floor(math.log10(self.step)))
        high = self.low + self.step * self.steps
        rounded = np.clip(np.round(numbers, decimals), self.low, high)
        return pl.Series(self.column.name, rounded).cast(dtype if dtype.is_float() else pl.Float64)

    def labels(self) -> list[str]:
        """Write every grid point as text."""
        return [text_of(value) for value in self.decode(np.arange(len(self))).to_list()]


Domain = Categories | Joint | Grid


def binned(column: Column, attribute: Attribute) -> Categories:
    """Return the intervals that a column's values lie in: the first level of its hierarchy, or ten between its bounds."""
    hierarchy = column.hierarchy
    declared = (
        hierarchy is None or hierarchy.height == 1
    )  # nodes of a hierarchy are there for the data's own values
    if hierarchy is not None and hierarchy.height > 1:
        order = np.argsort(
            [label is None for label in hierarchy.labels[1]], kind="stable"
        )  # a missing one last
        names = [label for label in hierarchy.labels[1] if label is not None]
        nodes = np.argsort(order)[hierarchy.codes[1]][column.codes]
    else:
        grid = Grid.of(replace(column, missing=False), attribute)
        edges = np.unique(np.rint(np.linspace(0, grid.steps, BINS + 1)).astype(np.int64))  # on grid points
        texts = [text_of(value) for value in grid.decode(edges).to_list()]
        last = len(edges) - 2
        names = [f"[{a}, {b}{']' if i == last else ')'}" for i, (a, b) in enumerate(pairwise(texts))]
        points = (numbers_of(column.values) - grid.low) / grid.step
        places = np.clip(np.searchsorted(edges, points, side="right") - 1, 0, last)
        nodes = np.append(places, last + 1)[column.codes]
    values = pl.Series(column.name, names, dtype=pl.String)
    return Categories(
        Column(values, nodes.astype(smallest(len(names) + 1)), bool((nodes == len(names)).any())), declared
    )


def is_ordered(column: Column) -> bool:
    """Say whether noise can be added to a column: numbers and dates."""
    dtype = column.values.dtype
    return dtype.is_numeric() or dtype in (pl.Date, pl.Datetime)


def _fits(found: pl.Series, dtype: pl.DataType) -> bool:
    return dtype == pl.Date or found.cast(dtype, strict=False).null_count() == 0
