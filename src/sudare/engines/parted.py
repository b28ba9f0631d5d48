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

Nodes = Mapping[str, NDArray[np.int32]]
"""For some columns the node that each code lies under."""


class NodeCounts(NamedTuple):
    """How many records, and how many tuples, lie under each tuple of nodes."""

    counts: Counts
    tuples: NDArray[np.int64]


def grouped_by_nodes(database: Database, relation: str, names: Sequence[str], nodes: Nodes) -> str:
    """Write the query for the tuples of a relation by the nodes of some columns, and by the codes of the others."""
    columns = [f"m{i}.node AS n{i}" if name in nodes else f"t.c{i} AS n{i}" for i, name in enumerate(names)]
    joins = _joins(database, names, nodes)
    rows = f"SELECT {', '.join(columns)}, t.weight AS weight FROM ({relation}) AS t {joins}"
    every = ", ".join(f"n{i}" for i in range(len(names)))
    return (
        f"SELECT {every}, CAST(sum(weight) AS BIGINT) AS weight, count(*) AS tuples FROM ({rows}) GROUP BY {every} "
        f"ORDER BY {every}"
    )


def _joins(database: Database, names: Sequence[str], nodes: Nodes) -> str:
    joins = []
    for name, own in nodes.items():
        i, codes = names.index(name), np.arange(len(own), dtype=np.int32)
        map_ = database.upload(pl.DataFrame({"code": codes, "node": own.astype(np.int32)}))
        joins.append(f"JOIN {map_} AS m{i} ON t.c{i} = m{i}.code")
    return " ".join(joins)


class Parted:
    """The tuples of some columns, each in one of several parts, by the nodes that its codes lie under."""

    def __init__(
        self,
        database: Database,
        relation: str,
        names: Sequence[str],
        sizes: Sequence[int],
        nodes: Nodes,
        listed: NDArray[np.int32],
        part_of: NDArray[np.int64],
    ) -> None:
        """`relation` has the tuples; `listed` are tuples of nodes, and `part_of` says in which part those under each are."""
        self._database, self._names, self._sizes = database, tuple(names), tuple(sizes)
        parts = pl.DataFrame({f"n{i}": listed[:, i] for i in range(len(nodes))} | {"part": part_of})
        same = " AND ".join(f"m{names.index(name)}.node = p.n{i}" for i, name in enumerate(nodes))
        columns = ", ".join(f"t.c{i} AS c{i}" for i in range(len(names)))
        # In the order of the parts, so that who asks for one reads no more than that.
        own = database.upload(parts)
        self._relation = database.store(
            f"SELECT {columns}, t.weight AS weight, p.part AS part FROM ({relation}) AS t {_joins(database, names, nodes)} "
            f"{f'JOIN {own} AS p ON {same}' if nodes else f'CROSS JOIN {own} AS p'} ORDER BY p.part"
        )

    def counts(self, part: int) -> Counts:
        """Count the tuples of one part."""
        columns = ", ".join(f"c{i}" for i in range(len(self._names)))
        frame = self._database.frame(
            f"SELECT {columns}, weight FROM {self._relation} WHERE part = {part} ORDER BY {columns}"
        )
        return counts_from(frame, self._names, self._sizes)

    def each(self, parts: int, work: Callable[[Counts], Files]) -> Iterator[Files]:
        """Do some work with the counts of each part, where the database has it done; return the files that come of it."""
        counted = partial(_work, self._names, self._sizes, work)
        return self._database.each_part(self._relation, parts, counted)


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
