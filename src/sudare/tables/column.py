"""A column in memory: its dictionary, and for every row the code of its value."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sudare.tables.dictionary import Dictionary

Codes = NDArray[Any]  # of the smallest unsigned type that holds them


@dataclass(frozen=True, eq=False)
class Column:
    """A dictionary, and a code per row.

    >>> column = Column.encode(pl.Series([30, None, 20, 30]))
    >>> column.values.to_list(), column.codes.tolist(), column.missing
    ([20, 30], [1, 2, 0, 1], True)
    >>> column.decode().to_list()
    [30, None, 20, 30]
    """

    dictionary: Dictionary
    codes: Codes

    @classmethod
    def encode(cls, series: pl.Series) -> Column:
        """Find the distinct values, in their natural order, and code every row by them."""
        values, codes = _distinct(series.rechunk())
        dictionary = Dictionary(values.alias(series.name), series.null_count() > 0)
        return cls(dictionary, codes.astype(smallest(len(values) + 1)))

    @classmethod
    def joined(cls, parts: Sequence[Column]) -> Column:
        """Put the rows of several columns one after the other."""
        if len(parts) == 1:
            return parts[0]
        missing = any(part.missing for part in parts)
        every = pl.concat(
            [part.values for part in parts] + [pl.Series([None], dtype=parts[0].values.dtype)] * missing
        )
        coded = cls.encode(every)
        lost, start, codes = len(coded.values), 0, []
        for part in parts:
            place = np.append(coded.codes[start : start + len(part.values)], lost).astype(coded.codes.dtype)
            codes.append(place[part.codes])
            start += len(part.values)
        return cls(replace(coded.dictionary, missing=missing), np.concatenate(codes))

    def rows_with(self, codes: list[int]) -> NDArray[np.int64]:
        """Return the rows that hold any of these codes."""
        if not codes:
            return np.empty(0, dtype=np.int64)
        wanted = np.zeros(len(self.values) + 1, dtype=bool)
        wanted[codes] = True
        return np.flatnonzero(wanted[self.codes])

    def take(self, codes: Codes, name: str) -> Column:
        """Return a column of other rows, given by their codes; values that no longer occur are dropped."""
        present = np.zeros(len(self.values) + 1, dtype=bool)
        present[codes] = True
        kept = np.flatnonzero(present[:-1])
        place = np.full(len(present), len(kept), dtype=smallest(len(kept) + 1))
        place[kept] = np.arange(len(kept))
        return Column(Dictionary(self.values.gather(kept).alias(name), bool(present[-1])), place[codes])

    def with_values(self, values: pl.Series) -> Column:
        """Return the column with other values in place of its own, of which several may be equal; null is missing."""
        coded = Column.encode(pl.concat([values, pl.Series([None], dtype=values.dtype)]))
        return coded.take(coded.codes[self.codes], name=self.name)

    @property
    def name(self) -> str:
        """The column's name."""
        return self.dictionary.name

    @property
    def values(self) -> pl.Series:
        """The distinct values, in their order."""
        return self.dictionary.values

    @property
    def missing(self) -> bool:
        """Whether any row has no value."""
        return self.dictionary.missing

    def values_at(self, rows: NDArray[np.int64]) -> pl.Series:
        """Return the values of some rows."""
        return self.dictionary.decode(self.codes[rows])

    def decode(self) -> pl.Series:
        """Return the values of all rows."""
        return self.dictionary.decode(self.codes)


def smallest(size: int) -> type[np.unsignedinteger[Any]]:
    """Return the smallest unsigned type that holds so many codes."""
    return np.uint8 if size <= 2**8 else np.uint16 if size <= 2**16 else np.uint32


def _distinct(series: pl.Series) -> tuple[pl.Series, NDArray[Any]]:
    """Return the sorted distinct values, and the code of every row (len(values) where missing)."""
    dtype = series.dtype
    if isinstance(dtype, pl.String | pl.Categorical):
        return _by_text(series)
    if dtype.is_float():
        return _by_bits(series)
    if isinstance(dtype, pl.Decimal | pl.Null | pl.Int128):
        return _by_rank(series)
    return _by_number(series)


def _filled(codes: pl.Series, missing: int) -> NDArray[Any]:
    return codes.fill_null(missing).to_numpy()


def _by_text(series: pl.Series) -> tuple[pl.Series, NDArray[Any]]:
    text = series.cast(pl.String)
    values = text.drop_nulls().unique().sort()
    codes = text.cast(pl.Enum(values)).to_physical()
    return values.cast(series.dtype), _filled(codes, len(values))


def _by_rank(series: pl.Series) -> tuple[pl.Series, NDArray[Any]]:
    values = series.drop_nulls().unique().sort()
    codes = series.rank("dense").cast(pl.UInt32) - 1
    return values, _filled(codes, len(values))


def _by_bits(series: pl.Series) -> tuple[pl.Series, NDArray[Any]]:
    """Tell floats apart by their bits, so that -0.0 stays -0.0; all NaN are one value, the largest."""
    numbers = series.cast(pl.Float64).fill_nan(float("nan"))
    bits = numbers.fill_null(0.0).to_numpy().view(np.int64)
    ordered = pl.Series(bits ^ ((bits >> 63) & np.int64(2**63 - 1)))  # the order of the bits is the numbers'
    keys, codes = _by_rank(ordered.set(series.is_null(), None) if series.null_count() else ordered)
    bits = keys.to_numpy()
    values = pl.Series((bits ^ ((bits >> 63) & np.int64(2**63 - 1))).view(np.float64))
    return values.cast(series.dtype), codes


def _by_number(series: pl.Series) -> tuple[pl.Series, NDArray[Any]]:
    """Look values up in a table where they lie close together; rank them otherwise."""
    physical = series.cast(pl.UInt8) if series.dtype == pl.Boolean else series.to_physical()
    low, high = physical.min(), physical.max()
    if not isinstance(low, int) or not isinstance(high, int) or high - low > max(2**16, 2 * len(series)):
        return _by_rank(series)
    numbers = physical.fill_null(low).to_numpy()
    wide = numbers if numbers.dtype == np.uint64 else numbers.astype(np.int64)
    offsets = (wide - low).astype(np.int64)
    present = np.zeros(high - low + 1, dtype=bool)
    present[offsets] = True
    codes = (np.cumsum(present) - 1).astype(np.uint32)[offsets]
    values = series.drop_nulls().unique().sort()
    codes[series.is_null().to_numpy()] = len(values)
    return values, codes
