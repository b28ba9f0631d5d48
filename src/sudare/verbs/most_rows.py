"""At most so many rows of a person or household: what noise hides is as much as it is made for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from sudare.engines.memory import Memory
from sudare.noise.keystream import Keystream
from sudare.tables.column import Column, smallest
from sudare.tables.counts import Counts
from sudare.tables.table import Table
from sudare.verbs.units import unit_of


def counts_at_most(table: Table, names: Sequence[str], most: int, source: Keystream) -> Counts:
    """Count by some columns, with at most so many rows of each unit, drawn at random: which, depends on its own rows alone."""
    unit = unit_of(table)
    finer = table.counts([unit, *names])
    units = finer.codes[:, 0]
    rows = np.bincount(units, finer.weights).astype(np.int64)
    weights = np.where(rows[units] > most, 0, finer.weights)
    entry = np.repeat(np.arange(len(units)), np.where(rows[units] > most, finer.weights, 0))
    order = np.lexsort((source.words(len(entry)), units[entry]))
    drawn = entry[order]
    place = np.arange(len(drawn)) - np.searchsorted(units[drawn], units[drawn])
    np.add.at(weights, drawn[place < most], 1)
    kept = np.flatnonzero(weights)
    columns = {name: finer.column(name)[kept] for name in names}
    return Counts.of(columns, finer.sizes[1:], weights[kept])


def rows_at_most(table: Table, names: Sequence[str], most: int, source: Keystream) -> Table:
    """Return some columns of a table, with at most so many rows of each unit, drawn at random; whose each is, is not told.

    >>> import polars as pl, sudare as sd
    >>> table = sd.read(pl.DataFrame({"pid": [1, 1, 1, 2], "ill": ["a", "b", "a", "b"]}), sd.Schema.from_roles(person="pid", sensitive=["ill"]))
    >>> len(rows_at_most(table, ["ill"], 2, Keystream()))
    3
    """
    counts = counts_at_most(table, names, most, source)
    columns = {}
    for name in names:
        codes = np.repeat(counts.column(name), counts.weights)
        columns[name] = Column(table[name], codes.astype(smallest(table[name].size)))
    return replace(table, rows=Memory(columns, counts.total))
