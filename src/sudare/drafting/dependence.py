"""Columns that follow from others: where every zip code lies in one city, and every city in one region, they are a tree."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from sudare.drafting.trees import tree_of
from sudare.tables.builders import ROOT
from sudare.tables.hierarchy import Hierarchy
from sudare.tables.table import Table
from sudare.tables.text import texts_of

MAX_VALUES = 50_000
ROWS_FOR_EACH = 3  # on average: of values that come once, anything follows
FEWER = 2 / 3  # so many values, at most, has what is a group of others
MOST_COLUMNS = 10  # of one kind that are compared with each other


def coarser_columns(table: Table, names: Sequence[str]) -> dict[str, list[str]]:
    """Return, for each of some columns of one kind, those that follow from it and from each other, the finest first.

    >>> import polars as pl
    >>> import sudare as sd
    >>> zips = ["10", "11", "20", "21", "30", "31"] * 4
    >>> table = sd.read(pl.DataFrame({"zip": zips, "city": [zip[0] for zip in zips]}))
    >>> coarser_columns(table, ["zip", "city"])
    {'zip': ['city']}
    """
    sizes = {name: len(table[name].values) for name in names}
    fitting = [name for name in names if 2 <= sizes[name] <= min(MAX_VALUES, len(table) / ROWS_FOR_EACH)]
    ordered = sorted(fitting, key=lambda name: -sizes[name])[:MOST_COLUMNS]
    chains: dict[str, list[str]] = {}
    for at, name in enumerate(ordered):
        chain: list[str] = []
        for other in ordered[at + 1 :]:
            below = chain[-1] if chain else name
            if sizes[other] <= FEWER * sizes[below] and _follows(table, other, below):
                chain.append(other)
        if chain:
            chains[name] = chain
    return chains


def _follows(table: Table, group: str, value: str) -> bool:
    """Tell whether all rows with the same value are in the same group, and none is missing."""
    if table[group].missing or table[value].missing:
        return False
    return len(table.counts([value, group])) == len(table[value].values)


def tree_from(table: Table, name: str, chain: Sequence[str]) -> Hierarchy | None:
    """Make a column's hierarchy from the columns that follow from it."""
    columns = [name, *chain]
    steps = []
    for lower, upper in pairwise(columns):
        counts = table.counts([lower, upper])
        of = np.empty(len(table[lower].values), dtype=np.int64)
        of[counts.column(lower)] = counts.column(upper)
        steps.append(of)
    place = np.arange(len(table[name].values))
    levels = [texts_of(table[name].values)]
    for upper, of in zip(chain, steps, strict=True):
        place = of[place]
        texts = texts_of(table[upper].values)
        levels.append([texts[at] for at in place])
    return tree_of([(*path, ROOT) for path in zip(*levels, strict=True)])
