"""An axis of a p-view's domain: the cells of one attribute, and how values and conditions fall into them."""

from __future__ import annotations

import datetime as dt
import math
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sudare.errors import InputError
from sudare.tables.attribute import Attribute, Bound
from sudare.tables.checking import innermost, moment_of, places_in, values_as
from sudare.tables.numbers import number_of, numbers_of
from sudare.tables.table import Table
from sudare.tables.text import listed, shown, spellings, text_of
from sudare.tables.types import declared_values, lists_values, misfit, stored_type

ONE_BY_ONE = 1000  # whole numbers or days that are cells of their own, if no bins are declared
BINS = 100  # otherwise
MAX_WHOLE = 2**53  # beyond it, floats no longer tell whole numbers apart

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Axis:
    """One attribute: its values, or equal bins between bounds, and a last cell for missing values if there may be any."""

    name: str
    dtype: pl.DataType
    values: tuple[Any, ...] | None
    """One value per cell; None for bins."""
    low: float = 0.0
    """Where the first bin begins, and below where the last one ends; whole numbers and days are each one wide."""
    high: float = 0.0
    bins: int = 0
    missing: bool = False

    @classmethod
    def of(cls, name: str, attribute: Attribute, *, missing: bool) -> Axis:
        """Take an attribute's declared domain, or lay bins between its declared bounds."""
        if lists_values(attribute):
            values = declared_values(name, attribute)
            return cls(name, values.dtype, tuple(values.to_list()), missing=missing)
        dtype = stored_type(attribute)
        if attribute.bounds is None or dtype is None:
            raise InputError(
                f"'{name}': no domain is declared. Give it a domain or bounds in the schema that are public (what is read off "
                'the data would tell about them), or drop it: role = "identifier".'
            )
        if reason := misfit(attribute.bounds, dtype):
            raise InputError(f"'{name}': {reason}")
        low, high = _ends(attribute.bounds, dtype, name)
        most = int(high - low) if _is_whole(dtype) else math.inf
        bins = min(attribute.bins or (int(most) if most <= ONE_BY_ONE else BINS), most)
        axis = cls(name, dtype, None, low, high, int(bins), missing)
        axis._check_bins()
        return axis

    def _check_bins(self) -> None:
        """Refuse bins that have no width, or ends that the type cannot hold."""
        edges = self.edges()
        if not (np.diff(edges) > 0).all():
            raise InputError(
                f"'{self.name}': its bounds are too close together for {self.bins} bins. Declare fewer bins, or wider bounds."
            )
        try:
            # If the outermost ends can be written, so can all between; a last cell of one value is not written by its end.
            _ = [text_of(end) for end in self._typed(edges[[0, -1]] - [0, self.single]).to_list()]
        except (OverflowError, ValueError, pl.exceptions.PolarsError):
            raise InputError(
                f"'{self.name}': its bounds reach beyond what can be written as {self.dtype}. Declare narrower ones."
            ) from None

    @cached_property
    def size(self) -> int:
        """How many cells there are."""
        return (self.bins if self.values is None else len(self.values)) + self.missing

    @property
    def ordered(self) -> bool:
        """Whether a range of cells is a range of values."""
        return self.values is None or self.dtype.is_numeric() or self.dtype.is_temporal()

    @property
    def whole(self) -> bool:
        """Whether the values between the bounds are whole numbers or days."""
        return _is_whole(self.dtype)

    def cells_of(self, table: Table) -> NDArray[np.int32]:
        """Return the cell of every code of the table's column of its name, the last for missing values."""
        if table[self.name].missing and not self.missing:
            raise InputError(f"'{self.name}' has missing values, for which the p-view has no cell.")
        places = self._bins_of(table) if self.values is None else places_in(table, self.name, self.values)
        return np.append(places, self.size - 1).astype(np.int32)

    def _bins_of(self, table: Table) -> NDArray[np.int64]:
        """Return the bin of every value of a column; what lies outside the bounds is refused, not put into the next bin."""
        column = table[self.name]
        numbers = numbers_of(values_as(table, self.name, self.dtype))
        # A source's narrow floats are compared as narrow ones, as they were when they were read.
        narrow = column.values.dtype == pl.Float32
        low, high = (float(np.float32(end)) if narrow else end for end in (self.low, self.high))
        inside = (numbers >= low) & (numbers < high if self.whole else numbers <= high)
        if not inside.all():
            value = column.values[int(np.flatnonzero(~inside)[0])]
            raise InputError(
                f"{table.source.name}, column '{self.name}': {shown(text_of(value))} is outside the bounds of the p-view. "
                "Declare the bounds in the schema that the table is read by: it then says in which rows, or clips them."
            )
        return np.searchsorted(self.edges()[1:-1], numbers, side="right")

    def edges(self) -> Floats:
        """Return where the bins begin, and where the last one ends; a whole number is never cut in two."""
        edges = np.linspace(self.low, self.high, self.bins + 1)
        return np.ceil(edges - 1e-9) if self.whole else edges

    def labels(self) -> list[str]:
        """Write every cell as text."""
        if self.values is not None:
            labels = [text_of(value) for value in self.values]
        elif self.single:
            labels = [text_of(v) for v in self._typed(self.edges()[:-1]).to_list()]
        else:
            ends = [text_of(v) for v in self._typed(self.edges()).to_list()]
            labels = [f"[{a}, {b})" for a, b in pairwise(ends)]
        return [*labels, "(missing)"] if self.missing else labels

    @property
    def single(self) -> bool:
        """Whether every cell is one value."""
        return self.values is not None or (self.whole and self.bins == int(self.high - self.low))

    def cell_values(self) -> pl.Series:
        """Return every cell as its value in the attribute's own type, or as text if it is a bin; missing is null."""
        lost = [None] if self.missing else []
        if not self.single:
            return pl.Series(self.name, [*self.labels()[: self.bins], *lost], dtype=pl.String)
        own = self._typed(self.edges()[:-1]).to_list() if self.values is None else list(self.values)
        return pl.Series(self.name, [*own, *lost], dtype=self.dtype)

    def bounds(self) -> tuple[pl.Series, pl.Series]:
        """Return the lowest value of every bin, and the highest, if whole, or else the end, in the attribute's own type."""
        edges = self.edges()
        return self._typed(edges[:-1]), self._typed(edges[1:] - self.whole)

    def wanted(self, condition: Any) -> Floats:
        """Return which share of each cell a condition takes: a value, a list of values, or a pair (low, high)."""
        share = np.zeros(self.size)
        if isinstance(condition, tuple):
            if len(condition) != 2:
                raise InputError(f"'{self.name}': a range is a pair (low, high). Got {condition!r} instead.")
            share[: self.size - self.missing] = self._between(*condition)
            return share
        asked = condition if isinstance(condition, list | set | frozenset) else [condition]
        for value in asked:
            if value is None:
                if not self.missing:
                    raise InputError(f"'{self.name}' has no missing values.")
                share[-1] = 1.0
            elif self.values is None:
                share[: self.bins] += self._between(value, value)
            else:
                share[self._place(value)] = 1.0
        return np.minimum(share, 1.0)

    def _between(self, low: Any, high: Any) -> Floats:
        """Return which share of each cell lies between two values, both included; None is no end."""
        if not self.ordered:
            raise InputError(f"'{self.name}' has no order. Ask for its values one by one: {self._askable()}.")
        a = -math.inf if low is None else self.number(low)
        b = math.inf if high is None else self.number(high)
        if a > b:
            raise InputError(f"'{self.name}': the range ({low}, {high}) is the wrong way round.")
        if self.values is not None:
            own = numbers_of(pl.Series(list(self.values), dtype=self.dtype))
            # A range with one end is also how SQL asks for all that is not in it: that may well be nothing.
            if math.isfinite(a) and math.isfinite(b) and (a > own.max() or b < own.min()):
                raise self.outside(low if a > own.max() else high)
            return np.asarray((own >= a) & (own <= b), dtype=np.float64)
        if not (b >= self.low and (a < self.high if self.whole else a <= self.high)):
            raise self.outside(low if a >= self.high else high)
        if self.whole:
            a, b = math.ceil(a) if math.isfinite(a) else a, math.floor(b) + 1 if math.isfinite(b) else b
        return self.covered(*(self.bin_of(a) if not self.whole and a == b else (a, b)))

    def bin_of(self, number: float) -> tuple[float, float]:
        """Return where the bin of a number begins and ends: as much as the finest that was declared can tell."""
        edges = self.edges()
        cell = int(np.searchsorted(edges[1:-1], number, side="right"))
        return float(edges[cell]), float(edges[cell + 1])

    def covered(self, begin: float, end: float) -> Floats:
        """Return which share of each bin lies from one number to below another."""
        edges = self.edges()
        inside = np.clip(end, edges[:-1], edges[1:]) - np.clip(begin, edges[:-1], edges[1:])
        return np.asarray(np.maximum(inside, 0) / np.diff(edges))

    def number(self, value: Any) -> float:
        """Return a value as a number: dates as days, times as seconds since 1970."""
        try:
            if isinstance(self.dtype, pl.Datetime) and isinstance(value, dt.date):
                value = moment_of(value, self.dtype)  # in the attribute's time zone
            return number_of(value, self.dtype)
        except (TypeError, ValueError, OverflowError):
            raise InputError(f"'{self.name}': {shown(value)} is not of its type, {self.dtype}.") from None

    def _place(self, value: Any) -> int:
        places = {text: i for i, own in enumerate(self.values or ()) for text in spellings(own)}
        for text in spellings(value):
            if text in places:
                return places[text]
        raise self.outside(value)

    def outside(self, value: Any) -> InputError:
        """Return the error for a value that the domain does not have."""
        if self.values is not None:
            return InputError(f"'{self.name}' has no value {shown(value)}. There are {self._askable()}.")
        low, high = (text_of(v) for v in self._typed(np.array([self.low, self.high - self.whole])).to_list())
        return InputError(f"'{self.name}': {shown(value)} is outside its domain, {low} to {high}.")

    def _askable(self) -> str:
        """List the values as they can be asked for."""
        lost = "; missing is None, or IS NULL in SQL" if self.missing else ""
        return listed(self.labels()[: self.size - self.missing]) + lost

    def decode(self, codes: NDArray[Any], rng: np.random.Generator) -> pl.Series:
        """Return values for cells, in the attribute's own type; within a bin any value is as likely as another."""
        lost = codes == self.size - 1 if self.missing else np.zeros(len(codes), dtype=bool)
        if self.values is not None:
            values = pl.Series(self.name, list(self.values), dtype=self.dtype)
            return values.gather(pl.Series(np.where(lost, 0, codes))).set(pl.Series(lost), None)
        edges = self.edges()
        inside = np.where(lost, 0, codes)
        low, high = edges[inside], edges[inside + 1]
        numbers = low + (high - low) * rng.random(len(codes))
        if self.whole:
            first, last = np.ceil(low - 1e-9), np.ceil(high - 1e-9) - 1
            numbers = np.minimum(first + np.floor((last - first + 1) * rng.random(len(codes))), last)
        return self._typed(numbers).alias(self.name).set(pl.Series(lost), None)

    def _typed(self, numbers: Floats) -> pl.Series:
        if self.whole:
            return pl.Series(self.name, np.rint(numbers).astype(np.int64)).cast(self.dtype)
        if self.dtype.is_temporal():
            seconds = pl.Series(self.name, np.rint(1e6 * numbers).astype(np.int64))
            return seconds.cast(pl.Datetime("us")).cast(self.dtype)
        return pl.Series(self.name, numbers).cast(self.dtype)


def _is_whole(dtype: pl.DataType) -> bool:
    return dtype.is_integer() or dtype == pl.Date


def _ends(bounds: tuple[Bound, Bound], dtype: pl.DataType, name: str) -> tuple[float, float]:
    """Return where the first bin begins and the last one ends."""
    low, high = bounds
    first, last = innermost(bounds, dtype)
    if not math.isfinite(last - first):
        raise InputError(
            f"'{name}': its bounds are infinite, or too far apart to lay bins between. Declare narrower ones."
        )
    if _is_whole(dtype):
        if max(abs(first), abs(last)) >= MAX_WHOLE:
            raise InputError(
                f"'{name}': its bounds reach beyond {MAX_WHOLE:,}, where whole numbers are no longer told apart. Declare "
                "narrower ones."
            )
        begin, end = float(first), float(last) + 1
    elif isinstance(dtype, pl.Datetime) and isinstance(low, dt.date) and isinstance(high, dt.date):
        begin, end = moment_of(low, dtype).timestamp(), moment_of(high, dtype, dt.time.max).timestamp()
        if not isinstance(high, dt.datetime):
            end = float(math.ceil(end))  # a microsecond later the next day begins
    else:
        begin, end = first, last
    if end <= begin:
        raise InputError(f"'{name}': its bounds leave nothing to count. Drop it, or declare wider ones.")
    return begin, end
