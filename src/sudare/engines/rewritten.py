"""The query of what is published instead of rows: each row finds its tuple's labels, and labels are the ranks of their texts."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import chain

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sudare.engines.database import Database, numbered
from sudare.engines.rewriting import ALL, AnyRewriting, Rewriting
from sudare.engines.stored import StoredRows
from sudare.tables.published import ranks, unlisted


def rewritten(
    database: Database,
    grouped: Callable[[Sequence[str]], str],
    every_value: Callable[[str], pl.Series],
    rewriting: AnyRewriting,
) -> StoredRows:
    """Store what is published instead of rows, in the order of what is published.

    `grouped` is the query of the tuples of some columns, `every_value` has the values of a column by their codes.
    """
    pieces = rewriting.pieces()
    first = next(pieces)
    passed = [name for name, labels in first.published.items() if labels is None]
    names = list(dict.fromkeys([*first.keys, *passed]))
    values, rank_of, columns, joins = {}, {}, [], []
    maps: dict[str, str] = {}
    for at, (name, labels) in enumerate(first.published.items()):
        every = every_value(name) if labels is None else labels.values
        order, rank = ranks(every)
        values[name], rank_of[name] = unlisted(every.gather(order)), rank.astype(np.int32)
        if labels is None:
            codes = np.arange(len(rank), dtype=np.int32)
            maps[name] = database.upload(pl.DataFrame({"code": codes, "rank": rank_of[name]}))
            joins.append(f"JOIN {maps[name]} AS r{at} ON rows.c{names.index(name)} = r{at}.code")
        columns.append(f"{'tuples.l' if labels else 'r'}{at}{'' if labels else '.rank'} AS p{at}")
    weight, source = "rows.weight", grouped(names)
    if first.keys:
        tuples = database.keep(_listed(piece, rank_of) for piece in chain([first], pieces))
        same = " AND ".join(f"rows.c{i} = tuples.k{i}" for i in range(len(first.keys)))
        if rewriting.dealt:
            source = _numbered_rows(source, first.keys, names, maps)
            weight = (
                "least(rows.last, tuples.until) - greatest(rows.last - rows.weight, tuples.after) AS weight"
            )
            same += " AND rows.last > tuples.after AND rows.last - rows.weight < tuples.until"
        joins.append(f"JOIN {tuples} AS tuples ON {same}")
    rows = f"SELECT {', '.join(columns)}, {weight} FROM ({source}) AS rows {' '.join(joins)}"
    every_column = numbered(values, "p")
    stored = database.store(
        f"SELECT {every_column}, CAST(sum(weight) AS BIGINT) AS weight FROM ({rows}) GROUP BY {every_column}"
    )
    return StoredRows(database, stored, values)


def _numbered_rows(grouped: str, keys: Sequence[str], names: Sequence[str], maps: Mapping[str, str]) -> str:
    """Number the rows of each tuple of keys in the order of what else is published of them, whose ranks `maps` have.

    `last` is the number of the last row of those that are alike.
    """
    joins, order = [], []
    for at, (name, map_) in enumerate(maps.items()):
        if name not in keys:
            joins.append(f"JOIN {map_} AS o{at} ON g.c{names.index(name)} = o{at}.code")
            order.append(f"o{at}.rank")
    of_keys = ", ".join(f"g.c{i}" for i in range(len(keys)))
    by = f"ORDER BY {', '.join(order)} ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW" if order else ""
    last = f"CAST(sum(g.weight) OVER (PARTITION BY {of_keys} {by}) AS BIGINT) AS last"
    columns = ", ".join(f"g.c{i}" for i in range(len(names)))
    return f"SELECT {columns}, g.weight, {last} FROM ({grouped}) AS g {' '.join(joins)}"


def _listed(rewriting: Rewriting, rank_of: Mapping[str, NDArray[np.int32]]) -> pl.DataFrame:
    """The tuples of a rewriting, k0, k1, ..., with the ranks of their labels: l0, l1, ... by the places of the columns."""
    keys = {f"k{i}": rewriting.tuples[:, i] for i in range(len(rewriting.keys))}
    labels = {
        f"l{at}": rank_of[name][labels.of_tuple]
        for at, (name, labels) in enumerate(rewriting.published.items())
        if labels is not None
    }
    until = rewriting.untils()
    first = np.append(True, until[:-1] == ALL)
    return pl.DataFrame(keys | labels | {"after": np.where(first, 0, np.roll(until, 1)), "until": until})
