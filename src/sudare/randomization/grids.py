"""Grids: the points between declared bounds to which numbers and dates are rounded before they are randomized."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sudare.errors import InputError
from sudare.tables.attribute import Attribute
from sudare.tables.checking import innermost, values_as
from sudare.tables.column import smallest
from sudare.tables.numbers import numbers_of
from sudare.tables.table import Table
from sudare.tables.text import text_of
from sudare.tables.types import misfit, stored_type

MAX_STEPS = 2**40
MAX_WHOLE = 2**53  # beyond it, floats no longer tell whole numbers apart
MICROSECONDS = 10**6  # in a second
FINE_STEPS = 2**16  # of the grid of a number that is not whole
DIGITS = 9  # of a number that was multiplied by a factor: finer than its grid

Codes = NDArray[Any]


@dataclass(frozen=True, eq=False)
class Grid:
    """Points from `low` on, `step` apart, to which numbers and dates are rounded before anything else."""

    name: str
    dtype: pl.DataType
    low: float
    step: float
    steps: int
    logarithm: bool = False
    """Whether the points are those of the numbers' logarithms."""
    missing: ClassVar[bool] = False
    """A missing value lies nowhere on a grid."""
    binning: ClassVar[None] = None

    @classmethod
    def of_bits(cls, name: str, attribute: Attribute, precision: float | None) -> Grid:
        """Lay a grid for bits: points a declared precision apart; without one, of numbers that are not whole, 2^16 points.

        >>> Grid.of_bits("pay", Attribute(role="quasi", bounds=(0, 10.24)), 0.01).steps
        1024
        """
        grid = cls.of(name, attribute)
        if grid.whole and precision is not None and precision < grid.step:
            raise InputError(
                f"'{name}': points {precision:g} apart are published as the same whole number or day. Declare a precision of 1 or more."
            )
        if precision is None:
            steps = grid.steps if grid.whole else FINE_STEPS - 1
        elif (wanted := grid.width / precision) <= MAX_STEPS:
            steps = math.ceil(wanted * (1 - 1e-14))
        else:
            raise InputError(
                f"'{name}': with a precision of {precision:g} it has more than {MAX_STEPS:,} points. Declare a coarser one."
            )
        return replace(grid, step=grid.width / steps, steps=steps)

    @classmethod
    def of_factors(cls, name: str, attribute: Attribute) -> Grid:
        """Lay a fine grid between the logarithms of the declared bounds.

        >>> grid = Grid.of_factors("pay", Attribute(role="quasi", type="number", bounds=(1, 100)))
        >>> grid.decode(np.array([0, 32768, 65536])).to_list()
        [1.0, 10.0, 100.0]
        """
        grid = cls.of(name, attribute)
        if grid.dtype != pl.Float64 or grid.low <= 0:
            raise InputError(
                f"'{name}': a random factor is for positive numbers that need not be whole. Declare type = \"number\" and bounds "
                "above 0, or use noise."
            )
        low, high = math.log(grid.low), math.log(grid.low + grid.width)
        return replace(grid, low=low, step=(high - low) / grid.steps, logarithm=True)

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
        steps = int(high - low) if whole else FINE_STEPS
        if whole and (steps > MAX_STEPS or max(abs(low), abs(high)) > MAX_WHOLE):
            raise InputError(
                f"'{name}': its bounds are too far apart for a grid of whole numbers: it has {MAX_STEPS:,} steps at most, and "
                f"ends at {MAX_WHOLE:,}. Declare narrower bounds, or the type number."
            )
        return cls(name, dtype, float(low), (high - low) / steps, steps)

    def __len__(self) -> int:
        return self.steps + 1

    @property
    def width(self) -> float:
        """How far its ends are apart."""
        return self.step * self.steps

    @property
    def whole(self) -> bool:
        """Whether its values are whole numbers or days."""
        return self.dtype in (pl.Int64, pl.Date)

    @property
    def parts(self) -> tuple[Grid, ...]:
        """What is joined here: nothing else."""
        return (self,)

    @property
    def shape(self) -> tuple[int, ...]:
        """How a histogram may be given."""
        return (len(self),)

    def places(self, table: Table, name: str) -> Codes:
        """Return the grid point that is nearest to each value of a table[name]."""
        if table[name].missing:
            raise InputError(
                f"'{self.name}' has missing values, to which no noise can be added. Randomize it in bins, where "
                f"missing is a value of its own (how={{'{self.name}': 'bins'}}), or fill them."
            )
        points = np.rint(self.steps_to(table, name))
        return np.clip(points, 0, self.steps).astype(code_type(len(self)))

    def combined(self, columns: Sequence[Codes]) -> Codes:
        """Return the codes of the rows of the only column."""
        (codes,) = columns
        return codes

    def steps_to(self, table: Table, name: str) -> NDArray[np.float64]:
        """Return where the values of a dictionary lie, in steps from the first point."""
        numbers = numbers_of(values_as(table, name, self.dtype))
        return np.asarray(((np.log(numbers) if self.logarithm else numbers) - self.low) / self.step)

    def numbers(self, codes: Codes) -> NDArray[np.float64]:
        """Return the numbers (for dates, days or seconds since 1970) that codes stand for."""
        along = self.low + self.step * codes.astype(np.float64)
        return np.asarray(np.exp(along) if self.logarithm else along)

    def decode(self, codes: Codes) -> pl.Series:
        """Return the numbers or dates that codes stand for, in the declared type."""
        numbers = self.numbers(codes)
        if self.whole:
            return pl.Series(self.name, np.rint(numbers).astype(np.int64)).cast(self.dtype)
        if self.dtype.is_temporal():
            return pl.Series(self.name, np.rint(1e6 * numbers).astype(np.int64)).cast(self.dtype)
        low, high = self.numbers(np.array([0, self.steps]))
        if self.logarithm:
            return pl.Series(self.name, np.clip(_rounded(numbers, DIGITS), low, high))
        decimals = max(0, 1 - math.floor(math.log10(self.step)))
        return pl.Series(self.name, np.clip(np.round(numbers, decimals), low, high))

    def labels(self) -> list[str]:
        """Write every grid point as text."""
        return [text_of(value) for value in self.decode(np.arange(len(self))).to_list()]

    def to_json(self) -> dict[str, Any]:
        """Return the grid as it is published."""
        grid = {"low": self.low, "step": self.step, "steps": self.steps}
        return grid | ({"logarithm": True} if self.logarithm else {})


def _rounded(numbers: NDArray[np.float64], digits: int) -> NDArray[np.float64]:
    """Round to so many digits, wherever the point is."""
    return np.array([float(f"{number:.{digits}g}") for number in numbers])


def code_type(size: int) -> type[np.unsignedinteger[Any]]:
    """Return the type that holds the codes of so many values."""
    return smallest(size) if size <= 2**32 else np.uint64
