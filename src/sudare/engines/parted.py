"""Tuples in parts: where there are too many to be held at once, each part is counted by itself."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sudare.engines.database import Database, Files
from sudare.tables.counts import Counts

WHOLE = -1
"""In place of a part: all tuples."""
Nodes = Mapping[str, NDArray[np.int32]]
"""For some columns the node that each code lies under."""


class NodeCounts(NamedTuple):
    """How many records, and how many tuples, lie under each tuple of nodes."""

    counts: Counts
    tuples: NDArray[np.int64]


class Parted:
    """The tuples of some columns, each in one of several parts, by the nodes that its codes lie under."""

    def __init__(self, database: Database, tuples: str, names: Sequence[str], sizes: Sequence[int]) -> None:
        """`tuples` has them all, c0, c1, ..., with their weights."""
        self._database, self._tuples, self._names, self._sizes = database, tuples, list(names), list(sizes)
        self._relations: list[str] = []

    # -- Dividing -------------------------------------------------------------------------------------

    def divide(self, part: int, nodes: Nodes, listed: NDArray[np.int32], part_of: NDArray[np.int64]) -> None:
        """Divide a part: `listed` are tuples of nodes, and `part_of` says in which part those under each are."""
        parts = pl.DataFrame({f"n{i}": listed[:, i] for i in range(len(nodes))} | {"part": part_of})
        same = " AND ".join(f"m{self._names.index(name)}.node = p.n{i}" for i, name in enumerate(nodes))
        joined = f"JOIN {self._database.upload(parts)} AS p{f' ON {same}' if nodes else ''}"
        columns = ", ".join(f"t.{column} AS {column}" for column in self._columns)
        # In the order of the parts, so that who asks for one reads no more than that.
        divided = self._database.store(
            f"SELECT {columns}, t.weight AS weight, p.part AS part FROM ({self._query(part)}) AS t {self._joins(nodes)} "
            f"{joined if nodes else f'CROSS {joined}'} ORDER BY p.part"
        )
        self._relations.append(divided)

    def codes(self, part: int, name: str) -> NDArray[np.int32]:
        """Return the codes of a column that a part has; of all tuples, those that the column has."""
        at = self._names.index(name)
        if part == WHOLE:
            return np.arange(self._sizes[at], dtype=np.int32)
        own = self._database.frame(f"SELECT DISTINCT c{at} AS code FROM ({self._query(part)}) ORDER BY code")
        return own["code"].to_numpy().astype(np.int32)

    def node_counts(self, part: int, names: Sequence[str], nodes: Nodes) -> NodeCounts:
        """Count the tuples of a part by some columns: by the nodes that codes lie under, or by the codes."""
        places = [self._names.index(name) for name in names]
        columns = [f"m{i}.node AS n{i}" if self._names[i] in nodes else f"t.c{i} AS n{i}" for i in places]
        rows = f"SELECT {', '.join(columns)}, t.weight AS weight FROM ({self._query(part)}) AS t {self._joins(nodes)}"
        every = ", ".join(f"n{i}" for i in places)
        frame = self._database.frame(
            f"SELECT {every}, CAST(sum(weight) AS BIGINT) AS weight, count(*) AS tuples FROM ({rows}) GROUP BY {every} "
            f"ORDER BY {every}"
        )
        sizes = [
            int(nodes[name].max(initial=-1)) + 1 if name in nodes else self._sizes[self._names.index(name)]
            for name in names
        ]
        return NodeCounts(counts_from(frame, names, sizes), frame["tuples"].to_numpy().astype(np.int64))

    @property
    def _columns(self) -> list[str]:
        return [f"c{i}" for i in range(len(self._names))]

    @property
    def _relation(self) -> str:
        every = " UNION ALL ".join(f"SELECT * FROM {relation}" for relation in self._relations)
        return f"({every})" if len(self._relations) > 1 else self._relations[0]

    def _query(self, part: int) -> str:
        if part == WHOLE:
            return self._tuples
        return f"SELECT {', '.join(self._columns)}, weight FROM {self._relation} WHERE part = {part}"

    def _joins(self, nodes: Nodes) -> str:
        joins = []
        for name, own in nodes.items():
            i, codes = self._names.index(name), np.arange(len(own), dtype=np.int32)
            map_ = self._database.upload(pl.DataFrame({"code": codes, "node": own.astype(np.int32)}))
            joins.append(f"JOIN {map_} AS m{i} ON t.c{i} = m{i}.code")
        return " ".join(joins)

    # -- Once they are divided ------------------------------------------------------------------------

    def counts(self, part: int) -> Counts:
        """Count the tuples of one part."""
        frame = self._database.frame(f"{self._query(part)} ORDER BY {', '.join(self._columns)}")
        return counts_from(frame, self._names, self._sizes)

    def each(self, parts: int, work: Callable[[Counts], Files]) -> Iterator[Files]:
        """Do some work with the counts of each part, where the database has it done; return the files that come of it."""
        counted = partial(_work, self._names, self._sizes, work)
        return self._database.each_part(self._relation, parts, counted)

    def drop(self) -> None:
        """Forget the parts."""
        for relation in self._relations:
            self._database.drop(relation)


def _work(
    names: Sequence[str], sizes: Sequence[int], work: Callable[[Counts], Files], frame: pl.DataFrame
) -> Files:
    rising = frame.sort([f"c{i}" for i in range(len(names))])
    return work(counts_from(rising, names, sizes))


def counts_from(frame: pl.DataFrame, names: Sequence[str], sizes: Sequence[int]) -> Counts:
    """Take counts from a frame: the codes of the columns, in their order, and the weight."""
    codes = np.empty((frame.height, len(names)), dtype=np.int32)
    for i in range(len(names)):
        codes[:, i] = frame[:, i].to_numpy()
    return Counts(tuple(names), codes, frame["weight"].to_numpy().astype(np.int64), tuple(sizes))
