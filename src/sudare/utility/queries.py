"""Query error: how well counts can still be answered from what is published."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sudare.errors import InputError, ParameterError
from sudare.tables.attribute import Attribute
from sudare.tables.counts import Counts
from sudare.tables.dictionary import Dictionary
from sudare.tables.hierarchy import Hierarchy
from sudare.utility.outcome import Outcome, in_pieces
from sudare.utility.tree import Ints, Tree

MAX_ATTRIBUTES = 3  # in one query
SANITY = 0.001  # of all records: a smaller true count does not make the relative error larger
MAX_CELLS = 1 << 18  # queries times tuples: so many are answered at once

Mask = NDArray[np.bool_]
"""Of leaves; of several queries, one in each row."""


@dataclass(frozen=True)
class QueryError:
    """The relative error of random counts, over so many queries."""

    mean: float
    median: float
    queries: int

    def __str__(self) -> str:
        return (
            f"Counts of {self.queries:,} random queries are off by {self.median:.1%} (median), "
            f"{self.mean:.1%} (mean)."
        )


def query_error(
    outcomes: Outcome | Iterable[Outcome], *, queries: int = 1000, seed: int | np.random.Generator = 0
) -> QueryError:
    """Return the relative error of random counting queries, answered from what is published.

    The tuples of a table may come in pieces.

    A query asks how many records lie in given values of 1 to 3 quasi attributes, drawn at random: an
    interval between two values for numbers and dates, any subset for others (its size drawn first). Missing
    values are in no query. The true count is the original table's. The estimate takes the leaves under
    a published node as equally likely: every published record counts by the share of leaves that are in
    the query, multiplied over the attributes. A record that is left out counts 0. The error is
    |estimate - true| / max(true, 0.1% of the records).

    >>> import polars as pl, sudare as sd
    >>> schema = sd.Schema.from_roles(quasi=["age"], hierarchies={"age": sd.Hierarchy.intervals(range(8), width=4)})
    >>> table = sd.read(pl.DataFrame({"age": [0, 1, 2, 3, 4, 5, 6, 7]}), schema)
    >>> query_error(Outcome.of(table, [0])).mean, query_error(Outcome.of(table, [1])).mean      # uniform, as the estimate assumes
    (0.0, 0.0)
    >>> skewed = sd.read(pl.DataFrame({"age": [0, 0, 1, 2, 3, 4, 5, 6, 7, 7]}), schema)
    >>> print(query_error(Outcome.of(skewed, [1]), queries=100))
    Counts of 100 random queries are off by 25.0% (median), 18.3% (mean).
    """
    if queries < 1:
        raise ParameterError(
            f"The 'queries' parameter of query_error must be 1 or more. Got {queries} instead."
        )
    rng = np.random.default_rng(seed)
    asked: list[_Asked] | None = None
    records = 0
    for outcome in in_pieces(outcomes):
        attributes = _attributes(outcome)
        asked = _drawn(attributes, queries, rng) if asked is None else asked
        records += outcome.records
        for together in asked:
            together.add(attributes, outcome)
    if asked is None:
        raise InputError("There are no records that could be asked for.")
    errors = np.concatenate([together.errors(records) for together in asked])
    return QueryError(float(errors.mean()), float(np.median(errors)), queries)


def _attributes(outcome: Outcome) -> list[_Attribute]:
    """Return the quasi attributes that a query can ask for."""
    table = outcome.table
    attributes = [
        _Attribute.of(
            table[name], table.schema[name], tree, outcome.counts.column(name), climbed, outcome.kept
        )
        for name, tree, climbed in outcome.climbs()
    ]
    able = [attribute for attribute in attributes if len(attribute.values)]
    if not able:
        raise InputError(f"{table.source.name}: the schema has no quasi attribute that could be asked for.")
    return able


@dataclass(frozen=True, eq=False)
class _Attribute:
    """A quasi attribute as queries see it. Nodes of all levels are numbered through."""

    name: str
    whole: Ints  # [level, leaf]: the node
    leaf_of: Ints  # [code]: the leaf
    codes: NDArray[np.int32]  # of the original tuples
    nodes: Ints  # of the published tuples
    values: Ints  # the leaves that a query can ask for, in their order
    ordered: bool

    @classmethod
    def of(
        cls,
        column: Dictionary,
        attribute: Attribute,
        tree: Tree,
        codes: NDArray[np.int32],
        climbed: NDArray[np.int64],
        kept: Mask,
    ) -> _Attribute:
        whole, leaf_of = tree.whole, np.arange(column.size)
        values, ordered = column.values.arg_sort().to_numpy(), _is_ordered(column)
        given = attribute.hierarchy
        if isinstance(given, Hierarchy) and column.hierarchy is not None:
            order = _in_order(given, column.values.dtype) if ordered else np.arange(len(given.leaves))
            if order is None:  # some leaf that no row holds has no place in the order
                whole = tree.nodes
            else:
                values = order
                leaf_of = np.append(given.find(column.values), [len(given.leaves)] * column.missing)
        offsets = np.cumsum([0, *(w.max() + 1 for w in tree.whole[:-1])])[:, None]
        nodes = (tree.nodes + offsets)[climbed[kept], codes[kept]]
        return cls(
            column.name,
            whole + offsets,
            leaf_of.astype(np.int64),
            codes,
            nodes,
            values.astype(np.int64),
            ordered,
        )

    @property
    def size(self) -> int:
        """How many nodes there are, on all levels."""
        return int(self.whole.max()) + 1

    @cached_property
    def _leaves_under(self) -> Ints:
        return np.maximum(np.bincount(self.whole.ravel()), 1)

    def ask(self, times: int, rng: np.random.Generator) -> Mask:
        """Draw so many queries; return which leaves are in each."""
        count = len(self.values)
        if self.ordered:
            low, high = np.sort(rng.integers(count, size=(2, times, 1)), axis=0)
            inside = (low <= np.arange(count)) & (np.arange(count) <= high)
        else:
            sizes = rng.integers(1, count + 1, size=(times, 1))
            inside = rng.permuted(np.arange(count) < sizes, axis=1)
        asked = np.zeros((times, self.whole.shape[1]), dtype=bool)
        asked[:, self.values] = inside
        return asked

    def shares(self, asked: Mask) -> NDArray[np.float64]:
        """Return for every query (a row of `asked`) and every node which share of the leaves under it is asked for."""
        query, leaf = np.nonzero(asked)
        inside = (query * self.size + self.whole[:, leaf]).ravel()
        counted = np.bincount(inside, minlength=len(asked) * self.size)
        return counted.reshape(len(asked), self.size) / self._leaves_under


def _is_ordered(column: Dictionary) -> bool:
    return column.values.dtype.is_numeric() or column.values.dtype.is_temporal()


def _in_order(hierarchy: Hierarchy, dtype: pl.DataType) -> Ints | None:
    """Return the leaves in the order of their values, or None where a leaf's text is not such a value."""
    texts = pl.Series(hierarchy.leaves, dtype=pl.String)
    if dtype.is_numeric():
        values = texts.cast(pl.Float64, strict=False)
    elif dtype == pl.Date:
        values = texts.str.to_date("%Y-%m-%d", strict=False)
    else:
        return None
    return None if values.null_count() else values.arg_sort().to_numpy().astype(np.int64)


@dataclass(eq=False)
class _Asked:
    """Queries on the same attributes, so that tuples are counted once for all of them, and what they count."""

    places: tuple[int, ...]
    """Of the attributes."""
    queries: list[Mask]
    """Of each attribute."""
    true: NDArray[np.int64]
    estimated: NDArray[np.float64]

    def add(self, attributes: list[_Attribute], outcome: Outcome) -> None:
        """Count one piece of a table."""
        weights, asked_of = outcome.counts.weights, [attributes[i] for i in self.places]
        original = Counts.of({a.name: a.codes for a in asked_of}, [len(a.leaf_of) for a in asked_of], weights)
        published = Counts.of(
            {a.name: a.nodes for a in asked_of}, [a.size for a in asked_of], weights[outcome.kept]
        )
        cells = max(len(original), len(published), *(a.size for a in asked_of))
        at_once = max(MAX_CELLS // cells, 1)
        for start in range(0, len(self.true), at_once):
            some = slice(start, start + at_once)
            inside = np.ones((len(self.true[some]), len(original)), dtype=bool)
            shares = np.tile(published.weights.astype(np.float64), (len(inside), 1))
            for i, (attribute, leaves) in enumerate(zip(asked_of, self.queries, strict=True)):
                inside &= leaves[some, attribute.leaf_of[original.codes[:, i]]]
                shares *= attribute.shares(leaves[some])[:, published.codes[:, i]]
            self.true[some] += inside @ original.weights
            self.estimated[some] += shares.sum(axis=1)

    def errors(self, records: int) -> NDArray[np.float64]:
        """Return the relative error of each query."""
        return np.abs(self.estimated - self.true) / np.maximum(self.true, SANITY * records)


def _drawn(attributes: list[_Attribute], queries: int, rng: np.random.Generator) -> list[_Asked]:
    """Draw queries."""
    sizes = rng.integers(1, min(MAX_ATTRIBUTES, len(attributes)) + 1, size=queries)
    orders = rng.permuted(np.tile(np.arange(len(attributes)), (queries, 1)), axis=1)
    drawn = Counter(tuple(sorted(order[:size].tolist())) for order, size in zip(orders, sizes, strict=True))
    return [
        _Asked(
            places,
            [attributes[i].ask(times, rng) for i in places],
            np.zeros(times, dtype=np.int64),
            np.zeros(times),
        )
        for places, times in sorted(drawn.items())
    ]
