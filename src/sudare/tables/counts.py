"""Counts: the distinct coded tuples of some columns, with how often each occurs."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sudare.errors import ParameterError
from sudare.tables import _kernels
from sudare.tables.column import Codes
from sudare.tables.text import listed
from sudare.tables.typed import typed

Groups = tuple[NDArray[np.uint64], NDArray[np.int64], NDArray[np.int64] | None]

DENSE = 2**22  # so many possible tuples are counted in a plain array
CHUNK = 2**16  # rows packed at a time, so that keys stay in the processor's cache
KEYS = 2**64  # packed tuples are 64-bit numbers


@typed
@dataclass(frozen=True, eq=False)
class Counts:
    """How many records share which values. One row of `codes` per distinct tuple, in rising order.

    >>> counts = count({"age": np.array([1, 0, 1]), "sex": np.array([1, 0, 1])}, sizes=[2, 2])
    >>> counts.codes.tolist(), counts.weights.tolist(), counts.total
    ([[0, 0], [1, 1]], [1, 2], 3)
    """

    names: tuple[str, ...]
    codes: NDArray[np.int32]
    weights: NDArray[np.int64]
    sizes: tuple[int, ...]

    @property
    def total(self) -> int:
        """How many records were counted."""
        return int(self.weights.sum())

    def __len__(self) -> int:
        return len(self.weights)

    def at(self, places: NDArray[np.int64]) -> Counts:
        """Return some of the tuples, in their order."""
        return Counts(self.names, self.codes[places], self.weights[places], self.sizes)

    def select(self, names: Sequence[str]) -> Counts:
        """Count again by some of the columns.

        >>> counts = count({"age": np.array([1, 0, 1]), "sex": np.array([1, 0, 0])}, sizes=[2, 2])
        >>> counts.select(["sex"]).weights.tolist()
        [2, 1]
        """
        places = [self._place(name) for name in names]
        return self.of(
            {self.names[a]: self.codes[:, a] for a in places}, [self.sizes[a] for a in places], self.weights
        )

    @classmethod
    def of(cls, columns: Mapping[str, Codes], sizes: Sequence[int], weights: NDArray[np.int64]) -> Counts:
        """Count the distinct tuples of coded columns, where row i stands for so many records as its weight says."""
        if not columns or {len(column) for column in columns.values()} != {len(weights)}:
            raise ParameterError("Counts.of needs columns with as many rows as there are weights.")
        if len(sizes) != len(columns) or any(
            size < 1 or (len(column) and not 0 <= column.min() <= column.max() < size)
            for size, column in zip(sizes, columns.values(), strict=True)
        ):
            raise ParameterError("Counts.of needs a size for each column, above all of its codes.")
        counts, group = count_index(dict(columns), sizes)
        summed = np.zeros(len(counts), dtype=np.int64)
        np.add.at(summed, group, weights)
        return cls(counts.names, counts.codes, summed, counts.sizes)

    def column(self, name: str) -> NDArray[np.int32]:
        """Return the codes of one column."""
        return self.codes[:, self._place(name)]

    def _place(self, name: str) -> int:
        if name not in self.names:
            raise ParameterError(f"'{name}' was not counted. There are {listed(self.names)}.")
        return self.names.index(name)


def count(columns: dict[str, Codes], sizes: Sequence[int]) -> Counts:
    """Count the distinct tuples of coded columns; `sizes` says how many codes each column can have."""
    return _count(columns, sizes, index=False)[0]


def count_index(columns: dict[str, Codes], sizes: Sequence[int]) -> tuple[Counts, NDArray[np.int64]]:
    """Count, and also return for every row which of the distinct tuples it is.

    >>> count_index({"age": np.array([1, 0, 1])}, sizes=[2])[1].tolist()
    [1, 0, 1]
    """
    counts, index = _count(columns, sizes, index=True)
    assert index is not None
    return counts, index


def _count(
    columns: dict[str, Codes], sizes: Sequence[int], *, index: bool
) -> tuple[Counts, NDArray[np.int64] | None]:
    arrays, spans = list(columns.values()), list(sizes)
    folded = 0  # how many columns the first array stands for
    tuples = np.empty((0, 0), dtype=np.int32)
    while True:
        fitting = _fitting(spans)
        last = fitting == len(spans)
        keys, weights, groups = _group(arrays[:fitting], spans[:fitting], index or not last)
        tuples = _unpacked(keys, spans[:fitting], tuples if folded else None)
        if last:
            counts = Counts(tuple(columns), tuples, weights, tuple(int(size) for size in sizes))
            return counts, groups
        # Too many possible tuples for one key: count the first columns, and go on with their groups as one.
        assert groups is not None
        folded += fitting - (folded > 0)
        arrays, spans = [groups, *arrays[fitting:]], [len(keys), *spans[fitting:]]


def _fitting(spans: list[int]) -> int:
    """Return how many of the columns, from the first, fit into one key."""
    product, fitting = 1, 0
    while fitting < len(spans) and product * spans[fitting] <= KEYS:
        product *= spans[fitting]
        fitting += 1
    return fitting


def _group(arrays: list[Codes], spans: list[int], index: bool) -> Groups:
    """Return the distinct keys in rising order, their weights, and each row's place among them."""
    if math.prod(spans) <= DENSE:
        return _group_dense(arrays, spans, index)
    return _group_sorted(arrays, spans, index)


def _group_dense(arrays: list[Codes], spans: list[int], index: bool) -> Groups:
    weights = np.zeros(math.prod(spans), dtype=np.int64)
    for keys in _packed(arrays, spans):
        _kernels.count_dense(keys, weights)
    present = np.flatnonzero(weights)
    groups = None
    if index:
        place = np.empty(len(weights), dtype=np.int64)
        place[present] = np.arange(len(present))
        groups = np.concatenate([place[keys] for keys in _packed(arrays, spans)])
    return present.astype(np.uint64), weights[present], groups


def _group_sorted(arrays: list[Codes], spans: list[int], index: bool) -> Groups:
    keys = np.concatenate(list(_packed(arrays, spans)))
    order = np.argsort(keys) if index else None
    rising = np.sort(keys) if order is None else keys[order]
    starts = np.flatnonzero(np.append(True, rising[1:] != rising[:-1])[: len(rising)])
    weights = np.diff(starts, append=len(rising))
    groups = None
    if order is not None:
        groups = np.empty(len(keys), dtype=np.int64)
        groups[order] = np.repeat(np.arange(len(starts)), weights)
    return rising[starts], weights, groups


def _packed(arrays: list[Codes], spans: list[int]) -> Iterator[NDArray[np.uint64]]:
    """Pack tuples into numbers, a chunk of rows at a time; rising tuples give rising numbers."""
    rows = len(arrays[0])
    for start in range(0, max(rows, 1), CHUNK):  # of no rows there is one empty chunk
        keys = arrays[0][start : start + CHUNK].astype(np.uint64)
        for array, span in zip(arrays[1:], spans[1:], strict=True):
            keys *= np.uint64(span)
            keys += array[start : start + CHUNK].astype(np.uint64)
        yield keys


def _unpacked(
    keys: NDArray[np.uint64], spans: list[int], before: NDArray[np.int32] | None
) -> NDArray[np.int32]:
    """Turn keys back into tuples; the first part of a folded key names a row of `before`."""
    codes = np.empty((len(keys), len(spans)), dtype=np.int32)
    _kernels.unpack(keys, np.array(spans, dtype=np.uint64), codes)
    return codes if before is None else np.hstack([before[codes[:, 0]], codes[:, 1:]])


def places_of(tuples: NDArray[np.int32], counts: Counts) -> NDArray[np.int64]:
    """Return which row of the counts each tuple is; -1 where it was not counted.

    >>> counts = count({"age": np.array([1, 0, 1]), "sex": np.array([1, 0, 0])}, sizes=[2, 2])
    >>> places_of(np.array([[1, 1], [0, 1]]), counts).tolist()
    [2, -1]
    """
    known, asked = _keys(counts.codes, np.asarray(tuples, dtype=np.int32))
    if known.width == 1 and known["key"].is_sorted() and asked["key"].is_sorted():
        own, others = known["key"].to_numpy(), asked["key"].to_numpy()
        at = np.searchsorted(own, others)
        return np.where(np.append(own, np.uint64(0))[at] == others, at, -1)
    places = asked.join(known.with_row_index("place"), on=known.columns, how="left", maintain_order="left")
    return places["place"].cast(pl.Int64).fill_null(-1).to_numpy()


def _keys(known: NDArray[np.int32], asked: NDArray[np.int32]) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return two sets of tuples by what they can be compared by: one number each, if that holds them."""
    spans = [int(most) + 1 for most in known.max(axis=0, initial=-1)]
    if math.prod(spans) >= KEYS:
        names = [str(a) for a in range(len(spans))]
        return pl.DataFrame(known, schema=names), pl.DataFrame(asked, schema=names)
    inside = ((asked >= 0) & (asked < spans)).all(axis=1)
    own, others = (np.concatenate(list(_packed(list(tuples.T), spans))) for tuples in (known, asked))
    others[~inside] = KEYS - 1  # which is nobody's: there are fewer
    return pl.DataFrame({"key": own}), pl.DataFrame({"key": others})


def is_first(tuples: NDArray[np.int32]) -> NDArray[np.bool_]:
    """Tell of each tuple whether it is another than the one before.

    >>> is_first(np.array([[0, 1], [0, 1], [1, 1]])).tolist()
    [True, False, True]
    """
    first = np.zeros(len(tuples), dtype=bool)
    first[:1] = True
    for column in tuples.T:
        first[1:] |= column[1:] != column[:-1]
    return first
