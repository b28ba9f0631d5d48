"""Whether two tables have the same rows equally often, whatever their order: sums over hashes of the rows.

Values are hashed by what a receiver can tell apart (`exact`), so that a missing value is no empty text, and -0.0 no 0.0.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
import polars as pl

from sudare.tables.exact import exact
from sudare.tables.runs import Runs

LANES = 2
ODD = np.uint64(0x9E3779B97F4A7C15)


class Multiset(NamedTuple):
    """How many rows there are, and the sums of their hashes. Only within one run are they the same for the same rows."""

    rows: int
    sums: tuple[int, ...]


def multiset_of(parts: Iterable[Runs]) -> Multiset:
    """Sum up the rows of a table.

    >>> one, other = pl.DataFrame({"x": ["a", "b", "a"]}), pl.DataFrame({"x": ["a", "a", "b"]})
    >>> multiset_of([Runs.of(one)]) == multiset_of([Runs.of(other)]) != multiset_of([Runs.of(one[1:])])
    True
    """
    rows, sums = 0, [0] * LANES
    for part in parts:
        rows += part.height
        weights = part.lengths.cast(pl.UInt64).to_numpy()
        for lane in range(LANES):
            hashed = np.zeros(part.rows.height, dtype=np.uint64)
            for (
                column
            ) in part.rows.iter_columns():  # by their order: values cannot be exchanged between columns
                own = exact(column).hash(seed=lane).to_numpy()
                hashed = (hashed ^ own) * ODD
                hashed ^= hashed >> np.uint64(29)
            sums[lane] = (sums[lane] + int((hashed * weights).sum())) % 2**64
    return Multiset(rows, tuple(sums))
