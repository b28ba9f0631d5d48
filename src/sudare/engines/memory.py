"""The memory engine: rows are columns of codes. A column is coded when somebody first counts it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sudare.engines.engine import Change
from sudare.engines.rewriting import ALL, AnyRewriting, Labels
from sudare.tables.column import Codes, Column, smallest
from sudare.tables.content import Content
from sudare.tables.counts import Counts, count, count_index, is_first, places_of
from sudare.tables.dictionary import Dictionary
from sudare.tables.published import in_order, order_of, ranks, unlisted
from sudare.tables.runs import Runs

Later = Callable[[], Column]
MAX_INDEXED = 2**20  # rows of which it is remembered which tuple each is


class Memory:
    """Rows in memory.

    >>> rows = Memory({"age": Column.encode(pl.Series("age", [30, 40, 30]))}, 3)
    >>> rows.counts(["age"]).weights.tolist(), len(rows)
    ([2, 1], 3)
    """

    def __init__(self, columns: Mapping[str, Column | Later], rows: int) -> None:
        self._columns = dict(columns)
        self._rows = rows
        self._last: tuple[tuple[str, ...], Counts, NDArray[np.int64]] | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """The columns, in the source's order."""
        return tuple(self._columns)

    def __len__(self) -> int:
        return self._rows

    def column(self, name: str) -> Column:
        """Return a column; it is coded now if nobody asked for it before."""
        column = self._columns[name]
        if not isinstance(column, Column):
            column = self._columns[name] = column()
        return column

    def dictionary(self, name: str) -> Dictionary:
        """Return the values of a column."""
        return self.column(name).dictionary

    def counts(self, names: Sequence[str]) -> Counts:
        """Count the distinct tuples of some columns."""
        return self._indexed(names)[0] if self._rows <= MAX_INDEXED else count(*self._coded(names))

    def pieces(self, names: Sequence[str], together: Sequence[str]) -> Iterator[Counts]:
        """Count all tuples at once."""
        yield self.counts(names)

    def _indexed(self, names: Sequence[str]) -> tuple[Counts, NDArray[np.int64]]:
        """Count, and say which tuple each row is. Who counts mostly rewrites next, by the same columns."""
        key = tuple(names)
        if self._last is not None and self._last[0] == key:
            return self._last[1:]
        indexed = count_index(*self._coded(names))
        if self._rows <= MAX_INDEXED:
            self._last = key, *indexed
        return indexed

    def _coded(self, names: Sequence[str]) -> tuple[dict[str, Codes], list[int]]:
        columns = [self.column(name) for name in names]
        return {column.name: column.codes for column in columns}, [c.dictionary.size for c in columns]

    def content(self, columns: Mapping[str, str]) -> Content:
        """Sum up what some columns hold, under new names."""
        return Content.of({name: self.column(own) for name, own in columns.items()})

    def sample(self, names: Sequence[str], rows: int, seed: int) -> NDArray[np.int32]:
        """Return the codes of some columns in so many different rows, drawn at random, in the order of the codes."""
        chosen: slice | NDArray[np.int64] = slice(None)
        if rows < self._rows:
            chosen = np.random.default_rng(seed).choice(self._rows, rows, replace=False)
        drawn = np.stack([self.column(name).codes[chosen] for name in names], axis=1).astype(np.int32)
        return drawn[np.lexsort(drawn.T[::-1])]

    def rows_with(self, name: str, codes: Sequence[int]) -> NDArray[np.int64]:
        """Return the rows that hold any of these codes of a column."""
        return self.column(name).rows_with(list(codes))

    def without(self, names: Sequence[str], tuples: NDArray[np.int32]) -> Memory:
        """Leave out all rows with one of these tuples of some columns."""
        counts, tuple_of = self._indexed(names)
        stays = np.ones(len(counts), dtype=bool)
        places = places_of(tuples, counts)
        stays[places[places >= 0]] = False
        return self.only(stays[tuple_of])

    def only(self, kept: NDArray[np.bool_]) -> Memory:
        """Return some of the rows; dictionaries stay as they are."""
        later = {name: partial(self._excerpt, name, kept) for name in self._columns}
        return Memory(later, int(kept.sum()))

    def _excerpt(self, name: str, kept: NDArray[np.bool_]) -> Column:
        column = self.column(name)
        codes = column.codes[kept]
        missing = bool((codes == len(column.values)).any())
        return Column(replace(column.dictionary, missing=missing), codes)

    def retyped(self, types: Mapping[str, Callable[[pl.Series], pl.Series]]) -> Memory:
        """Return the same rows, with the distinct values that some columns still have in other types."""
        later = {name: partial(self._retyped, name, as_type) for name, as_type in types.items()}
        return Memory({**self._columns, **later}, self._rows)

    def _retyped(self, name: str, as_type: Callable[[pl.Series], pl.Series]) -> Column:
        column = self.column(name)
        left = column.take(column.codes, name)
        return left.with_values(as_type(left.values))

    def changed(self, names: Sequence[str], change: Change) -> Runs:
        """Return what a law makes of every row, in the order of what is published."""
        return Runs.of(in_order(change({name: self.column(name).codes for name in names})))

    def rewrite(self, rewriting: AnyRewriting) -> Runs:
        """Return what is published instead of the rows, in the order of what is published."""
        rewriting = rewriting.joined()
        counts, tuple_of = self._indexed(rewriting.keys)
        first = np.flatnonzero(is_first(rewriting.tuples))  # of a tuple that is listed several times
        if np.array_equal(rewriting.tuples[first], counts.codes):
            place, kept = first[tuple_of], None
        else:
            places = places_of(rewriting.tuples[first], counts)
            listed = np.full(len(counts), -1, dtype=np.int64)
            listed[places[places >= 0]] = first[places >= 0]
            place = listed[tuple_of]
            kept = place >= 0
            place = place[kept]
        passed = {
            name: self._passed(name, kept) for name, labels in rewriting.published.items() if labels is None
        }
        if rewriting.until is not None:
            place = _dealt(place, [codes for _, codes in passed.values()], rewriting.until)
        values, codes = {}, {}
        for name, labels in rewriting.published.items():
            values[name], codes[name] = self._relabelled(labels, place) if labels else passed[name]
        output = count(codes, [len(own) for own in values.values()])
        rows = pl.DataFrame(
            [own.gather(output.codes[:, a]).alias(name) for a, (name, own) in enumerate(values.items())]
        )
        lengths = pl.Series(output.weights)
        if any(map(_two_zeros, values.values())):
            order = order_of(rows)
            rows, lengths = rows[order], lengths[order]
        return Runs(rows, lengths)

    def _relabelled(self, labels: Labels, place: NDArray[np.int64]) -> tuple[pl.Series, Codes]:
        order, rank = ranks(labels.values)
        return unlisted(labels.values.gather(order)), rank.astype(smallest(len(rank)))[labels.of_tuple][place]

    def _passed(self, name: str, kept: NDArray[np.bool_] | None) -> tuple[pl.Series, Codes]:
        column = self.column(name)
        every = column.dictionary.decode(np.arange(column.dictionary.size))
        order, rank = ranks(every)
        codes = rank.astype(smallest(len(rank)))[column.codes]
        return unlisted(every.gather(order)), codes if kept is None else codes[kept]

    def frame(self) -> pl.DataFrame:
        """Return all rows as they were read."""
        return pl.DataFrame([self.column(name).decode() for name in self._columns])


def _dealt(place: NDArray[np.int64], passed: Sequence[Codes], until: NDArray[np.int64]) -> NDArray[np.int64]:
    """Deal the rows of each tuple, whose first place is given, to its places: in the order of what else is published of them."""
    several = np.flatnonzero(until[place] < ALL)
    order = several[np.lexsort((*(codes[several] for codes in reversed(passed)), place[several]))]
    first = np.flatnonzero(np.diff(place[order], prepend=-1))
    number = np.arange(len(order)) - np.repeat(first, np.diff(first, append=len(order)))
    dealt, at = place.copy(), place[order]
    while (beyond := number >= until[at]).any():
        at = at + beyond
    dealt[order] = at
    return dealt


def _two_zeros(values: pl.Series) -> bool:
    """Tell whether 0.0 and -0.0 are among distinct values: equal, and yet two codes."""
    return values.dtype.is_float() and int((values == 0).sum()) > 1
