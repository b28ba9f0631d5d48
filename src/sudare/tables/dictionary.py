"""A dictionary: the values of a column in their order, with its hierarchy. Rows refer to them by codes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import polars as pl
from numpy.typing import NDArray

from sudare.tables.hierarchy import Hierarchy


@dataclass(frozen=True, eq=False)
class Dictionary:
    """The distinct values of a column in their order. A missing value has the code after the last value.

    >>> dictionary = Dictionary(pl.Series("age", [20, 30]), missing=True)
    >>> dictionary.size, dictionary.decode([1, 2, 0]).to_list()
    (3, [30, None, 20])
    """

    values: pl.Series
    missing: bool
    """Whether any row has no value."""
    hierarchy: Hierarchy | None = None
    """Its leaves are the codes."""

    @property
    def name(self) -> str:
        """The column's name."""
        return self.values.name

    @property
    def size(self) -> int:
        """How many codes there are, with the one for missing values if any row has it."""
        return len(self.values) + self.missing

    def decode(self, codes: NDArray[Any] | list[int]) -> pl.Series:
        """Return the values that codes stand for."""
        rows = pl.Series(codes)
        if self.missing:
            rows = rows.set(rows == len(self.values), None)
        return self.values.gather(rows)
