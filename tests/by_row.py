"""The rows of a table in memory, one by one, for twins that go through them."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
from numpy.typing import ArrayLike, NDArray

import sudare as sd
from sudare.engines.memory import Memory
from sudare.generalization.problem import Problem
from sudare.generalization.recoding import Recoding
from sudare.plans.generalization import Located
from sudare.tables.column import Column
from sudare.tables.counts import Counts
from sudare.tables.published import order_of
from sudare.utility.outcome import Outcome


def column(table: sd.Table, name: str) -> Column:
    assert isinstance(table.rows, Memory)
    return table.rows.column(name)


def codes(table: sd.Table, name: str) -> NDArray[Any]:
    return column(table, name).codes


def values(table: sd.Table, name: str) -> list[Any]:
    return column(table, name).decode().to_list()


def rows_of(table: sd.Table, names: list[str]) -> Counts:
    """The rows as they stand: one entry each, of weight 1, equal ones side by side or not."""
    own = np.column_stack([codes(table, name) for name in names]) if names else np.empty((len(table), 0))
    sizes = tuple(table[name].size for name in names)
    return Counts(tuple(names), own.astype(np.int32), np.ones(len(table), dtype=np.int64), sizes)


def outcome(table: sd.Table, levels: ArrayLike, kept: ArrayLike | None = None, *others: str) -> Outcome:
    """What became of a table, row by row; `others` are counted beside the quasi attributes."""
    return Outcome.of(table, levels, kept, rows_of(table, [*table.names("quasi"), *others]))


def tuple_of(table: sd.Table, counts: Counts) -> NDArray[np.int64]:
    """Which of the counted tuples each row is. Of one that stands there several times, each gets so many rows as it says: in
    the order of what else is published of them."""
    names = list(counts.names)
    passed = [name for name in table.publishable if name not in names]
    order = order_of(table.frame().select(passed)) if passed else range(len(table))
    waiting: dict[tuple[int, ...], list[int]] = {}
    for place, (codes_, weight) in enumerate(
        zip(counts.codes.tolist(), counts.weights.tolist(), strict=True)
    ):
        waiting.setdefault(tuple(codes_), []).extend([place] * weight)
    own, places = rows_of(table, names).codes.tolist(), np.empty(len(table), dtype=np.int64)
    for row in order:
        places[row] = waiting[tuple(own[row])].pop(0)
    assert not any(waiting.values())
    return places


def unit_of(table: sd.Table, problem: Problem) -> NDArray[np.int64]:
    """Which unit of a problem each row is."""
    sizes = tuple(table[name].size for name in problem.counted)
    return tuple_of(table, Counts(tuple(problem.counted), problem.tuples(), problem.weights, sizes))


def block_of(table: sd.Table, recoding: Recoding) -> NDArray[np.int64]:
    """The block of each row; -1 if it is left out."""
    problem = recoding.problem
    # Of equal tuples, the costliest block gets the first rows.
    cost = np.append(recoding.levels @ problem.trees.step, 1.0)
    order = np.lexsort((recoding.block_of, -cost[recoding.block_of]))
    sizes = tuple(table[name].size for name in problem.counted)
    counts = Counts(tuple(problem.counted), problem.tuples()[order], problem.weights[order], sizes)
    return recoding.block_of[order][tuple_of(table, counts)]


def levels_of(table: sd.Table, recoding: Recoding) -> NDArray[np.int64]:
    """The levels that each row climbs to, by attribute; the roots if it is left out."""
    blocks = block_of(table, recoding)
    climbed = recoding.levels[np.maximum(blocks, 0)] if len(recoding.levels) else recoding.levels
    return np.where(blocks[:, None] >= 0, climbed, recoding.problem.trees.height)


def published(table: sd.Table, located: Located) -> pl.DataFrame:
    """What is published for each row that a plan covers, in the order of the rows: read off the hierarchies."""
    blocks = located.block_of[tuple_of(table, located.counts)]
    kept = np.flatnonzero(blocks >= 0)
    frame = table.frame().select(table.publishable)[kept]
    for a, name in enumerate(table.names("quasi")):
        tree, own = located.table[name].hierarchy, codes(table, name)
        assert tree is not None
        climbed = located.levels[blocks[kept], a]
        if climbed.any():
            labels = [
                tree.labels[level][tree.codes[level, own[row]]]
                for row, level in zip(kept, climbed, strict=True)
            ]
            frame = frame.with_columns(pl.Series(name, labels, dtype=pl.String))
    return frame
