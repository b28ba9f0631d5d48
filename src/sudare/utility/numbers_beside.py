"""What is lost by computing with the numbers beside ranges: how much of an attribute's variance is not in them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sudare.engines.rewriting import Rewriting
from sudare.tables.numbers_beside import columns_beside
from sudare.tables.table import Table


@dataclass
class _Sums:
    weights: float = 0.0
    values: float = 0.0
    squares: float = 0.0
    apart: float = 0.0
    """Of the squares of how far the numbers are from the values, where there are numbers."""
    without: float = 0.0
    """Records that have none, and below what must be known of them to put the mean of all in their place."""
    without_values: float = 0.0
    without_squares: float = 0.0

    def lost(self) -> dict[str, float | int]:
        mean = self.values / self.weights if self.weights else 0.0
        beside = self.without_squares - 2 * mean * self.without_values + mean**2 * self.without
        whole = self.squares - mean * self.values
        share = (self.apart + max(beside, 0.0)) / whole if whole > 0 else 0.0
        return {"lost": share, "without": int(self.without)}


def variance_lost(
    pieces: Iterable[tuple[Table, Rewriting, NDArray[np.int64]]],
) -> dict[str, dict[str, float | int]]:
    """Return of each attribute that has numbers beside it which share of its variance they lose (SSE / SST), and how many records have none.

    A piece is a table, what becomes of some of its tuples, and how many records these have. Of a range the number is its middle. A record without a number gets the mean of all: it loses what it had.
    """
    sums: dict[str, _Sums] = {}
    for table, rewriting, records in pieces:
        schema, weights = table.schema, records.astype(np.float64)
        for name in dict.fromkeys(schema.beside().values()):
            numbers = schema[name].numbers
            assert numbers is not None  # or nothing would stand beside it
            beside = [rewriting.published[column] for column in columns_beside(name, numbers)]
            middle = np.mean([_floats(one.values)[one.of_tuple] for one in beside if one], axis=0)
            dictionary = table[name]
            values = _floats(dictionary.decode(np.arange(dictionary.size)))[
                rewriting.tuples[:, rewriting.keys.index(name)]
            ]
            _add(sums.setdefault(name, _Sums()), values, middle, weights)
    return {name: own.lost() for name, own in sums.items()}


def _floats(column: pl.Series) -> NDArray[np.float64]:
    """Return numbers with NaN where there is none."""
    return column.cast(pl.Float64).fill_null(np.nan).to_numpy()


def _add(
    sums: _Sums, values: NDArray[np.float64], middle: NDArray[np.float64], weights: NDArray[np.float64]
) -> None:
    known = np.isfinite(values)
    sums.without += float(weights[~known].sum())
    values, middle, weights = values[known], middle[known], weights[known]
    sums.weights += float(weights.sum())
    sums.values += float((weights * values).sum())
    sums.squares += float((weights * values**2).sum())
    there = np.isfinite(middle)
    sums.apart += float((weights[there] * (values[there] - middle[there]) ** 2).sum())
    own, lacking = values[~there], weights[~there]
    sums.without += float(lacking.sum())
    sums.without_values += float((lacking * own).sum())
    sums.without_squares += float((lacking * own**2).sum())
