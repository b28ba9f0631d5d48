"""Workloads: many range counts over coded attributes, their true answers, and how far other answers are from these.

A query is a box of cells: the codes from `low` to `high` of every attribute, both included; an attribute that is not
asked for has all of its codes. Who answers does not matter: a p-view, a sample, or another program's output.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, product
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sudare.errors import InputError, ParameterError
from sudare.utility._kernels import count_rows
from sudare.utility.queries import SANITY

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Codes = NDArray[np.int32]
Tables = Callable[[Sequence[int]], NDArray[Any]]
"""Returns the counts by all cells of some attributes, one axis each."""


@dataclass(frozen=True, eq=False)
class Workload:
    """Queries of one kind: a row per query and a column per attribute."""

    name: str
    low: Codes
    high: Codes

    def __len__(self) -> int:
        return len(self.low)


# -- queries ---------------------------------------------------------------------------------------------


def marginals(sizes: Sequence[int], k: int, *, most: int | None = None, seed: int = 0) -> Workload:
    """Return every cell of every k attributes; if there are more than `most`, so many drawn at random.

    >>> workload = marginals([2, 3, 2], 2)
    >>> workload.name, len(workload)                                    # 2*3 + 2*2 + 3*2
    ('2-way marginals', 16)
    """
    low, high = _cells(sizes, k, most, seed)
    return Workload(f"{k}-way marginals", low, high)


def prefixes(sizes: Sequence[int], k: int, *, most: int | None = None, seed: int = 0) -> Workload:
    """Return every prefix of every k attributes, from their first codes on; if there are more than `most`, so many drawn.

    >>> prefixes([2, 3], 1).high.tolist()
    [[0, 2], [1, 2], [1, 0], [1, 1], [1, 2]]
    """
    low, high = _cells(sizes, k, most, seed)
    return Workload(f"prefix-{k}D", np.zeros_like(low), high)


def all_ranges(sizes: Sequence[int]) -> Workload:
    """Return every range of every single attribute.

    >>> len(all_ranges([2, 3]))                                         # 3 + 6
    9
    """
    axes = np.concatenate([np.full(size * (size + 1) // 2, axis) for axis, size in enumerate(sizes)])
    ends = np.concatenate([np.stack(np.triu_indices(size), axis=1) for size in sizes])
    low, high = _everything(sizes, len(axes))
    every = np.arange(len(axes))
    low[every, axes], high[every, axes] = ends[:, 0], ends[:, 1]
    return Workload("1-way ranges", low, high)


def random_ranges(sizes: Sequence[int], k: int, n: int, *, seed: int = 0) -> Workload:
    """Draw ranges of k attributes: each with a width uniform in 1 to its size, and a place uniform where that fits.

    >>> workload = random_ranges([10, 2, 5], 2, 1000)
    >>> bool((workload.low <= workload.high).all()), workload.high.max(axis=0).tolist()
    (True, [9, 1, 4])
    """
    _refuse_k(sizes, k)
    rng = np.random.default_rng(seed)
    low, high = _everything(sizes, n)
    every = np.arange(n)
    for axes in np.argsort(rng.random((n, len(sizes))), axis=1)[:, :k].T:
        size = np.array(sizes)[axes]
        width = rng.integers(1, size + 1)
        low[every, axes] = rng.integers(0, size - width + 1)
        high[every, axes] = low[every, axes] + width - 1
    return Workload(f"random {k}D ranges", low, high)


def _cells(sizes: Sequence[int], k: int, most: int | None, seed: int) -> tuple[Codes, Codes]:
    """Return all cells of all k attributes as boxes, in order, or some of them drawn without replacement."""
    _refuse_k(sizes, k)
    chosen = list(combinations(range(len(sizes)), k))
    ends = np.cumsum([math.prod(sizes[a] for a in axes) for axes in chosen])
    total = int(ends[-1])
    drawn = most is not None and total > most
    places = (
        np.sort(np.random.default_rng(seed).choice(total, most, replace=False)) if drawn else np.arange(total)
    )
    low, high = _everything(sizes, len(places))
    which = np.searchsorted(ends, places, side="right")
    for i in np.unique(which):
        axes, rows = chosen[i], np.flatnonzero(which == i)
        shape = tuple(sizes[a] for a in axes)
        cells = np.unravel_index(places[rows] - (ends[i] - math.prod(shape)), shape)
        for axis, codes in zip(axes, cells, strict=True):
            low[rows, axis] = high[rows, axis] = codes
    return low, high


def _everything(sizes: Sequence[int], n: int) -> tuple[Codes, Codes]:
    whole = np.array(sizes, np.int32)
    return np.zeros((n, len(whole)), np.int32), np.tile(whole - 1, (n, 1))


def _refuse_k(sizes: Sequence[int], k: int) -> None:
    if not 1 <= k <= len(sizes):
        raise ParameterError(
            f"The 'k' parameter of a workload must be a number from 1 to {len(sizes)}, the attributes there are. Got {k} instead."
        )


# -- true answers ----------------------------------------------------------------------------------------


def truth(codes: ArrayLike, low: ArrayLike, high: ArrayLike) -> Ints:
    """Count the rows in every box, exactly: from tables of running sums where these are cheaper, else row by row.

    >>> truth([[0, 1], [2, 1], [2, 0]], [[0, 0], [1, 1]], [[2, 1], [2, 1]]).tolist()
    [3, 1]
    """
    rows, low, high = (np.asarray(given) for given in (codes, low, high))
    if rows.ndim != 2 or low.shape != high.shape or low.ndim != 2 or low.shape[1] != rows.shape[1]:
        raise InputError(
            "Codes and boxes need one column per attribute, and boxes as many ends as beginnings."
        )
    counts = np.full(len(low), len(rows), np.int64)
    if not len(low) or not len(rows):
        return counts
    sizes = np.maximum(rows.max(axis=0), high.max(axis=0)) + 1
    kinds, which = np.unique((low > 0) | (high < sizes - 1), axis=0, return_inverse=True)
    for i, kind in enumerate(kinds):
        axes, asked = np.flatnonzero(kind), np.flatnonzero(which.ravel() == i)
        if len(axes):
            counts[asked] = _inside(rows[:, axes], low[asked][:, axes], high[asked][:, axes], sizes[axes])
    return counts


def _inside(rows: NDArray[Any], low: NDArray[Any], high: NDArray[Any], sizes: NDArray[Any]) -> Ints:
    k, cells = len(sizes), math.prod(int(size) + 1 for size in sizes)
    if k * (cells + len(rows)) + 2**k * len(low) > len(low) * len(rows):
        boxes = (np.ascontiguousarray(ends, dtype=np.int64) for ends in (low, high))
        return np.asarray(count_rows(np.ascontiguousarray(rows.T), *boxes))
    sums = np.zeros([size + 1 for size in sizes], np.int64)
    sums[(slice(1, None),) * k] = running(table_of(rows, sizes)(range(k)))
    counts = np.zeros(len(low), np.int64)
    for upper in product((False, True), repeat=k):
        corner = tuple(high[:, a] + 1 if up else low[:, a] for a, up in enumerate(upper))
        counts += (-1) ** (k - sum(upper)) * sums[corner]
    return counts


def table_of(codes: NDArray[Any], sizes: Sequence[int] | NDArray[Any]) -> Tables:
    """Return what counts coded rows by all cells of some attributes."""

    def table(axes: Sequence[int]) -> Ints:
        shape = tuple(int(sizes[a]) for a in axes)
        cells = np.zeros(len(codes), np.int64)
        for axis, size in zip(axes, shape, strict=True):
            cells = cells * size + codes[:, axis]
        return np.bincount(cells, minlength=math.prod(shape)).reshape(shape)

    return table


def running(table: NDArray[Any]) -> NDArray[Any]:
    """Return a table's sums over all prefixes."""
    for axis in range(table.ndim):
        table = np.cumsum(table, axis=axis)
    return table


# -- errors ----------------------------------------------------------------------------------------------


def rmse(true: ArrayLike, answers: ArrayLike) -> float:
    """Return the root of the mean squared error.

    >>> rmse([3, 0, 1, 1], [0, 4, 1, 1])
    2.5
    """
    return float(np.sqrt(np.mean((np.asarray(true, float) - np.asarray(answers, float)) ** 2)))


def relative_error(true: ArrayLike, answers: ArrayLike, records: int) -> float:
    """Return the mean of |answer - true| / max(true, 0.1% of the records): the floor that `query_error` has, too.

    >>> relative_error([100, 0], [110, 1], records=1000)
    0.55
    """
    exact = np.asarray(true, float)
    return float(np.mean(np.abs(np.asarray(answers, float) - exact) / np.maximum(exact, SANITY * records)))


def tables_rmse(
    true: Tables, answers: Tables, several: Sequence[Sequence[int]], *, prefix: bool = False
) -> float:
    """Return the RMSE over all cells, or all prefixes, of the tables of several sets of attributes.

    It asks for whole tables, where `marginals` and `prefixes` ask cell by cell.

    >>> exact, nothing = table_of(np.array([[0, 1], [0, 1]]), (2, 2)), lambda axes: np.zeros((2, 2))
    >>> tables_rmse(exact, nothing, [(0, 1)])                           # 0, 2, 0, 0
    1.0
    """
    squares, cells = 0.0, 0
    for axes in several:
        apart = np.asarray(answers(axes), float) - true(axes)
        squares += float((_summed(apart, prefix) ** 2).sum())
        cells += apart.size
    return math.sqrt(squares / cells)


def ranges_rmse(true: Tables, answers: Tables, axes: Sequence[int]) -> float:
    """Return the RMSE over all ranges of some single attributes, from their tables.

    >>> exact, nothing = table_of(np.array([[0], [0]]), (2,)), lambda axes: np.zeros(2)
    >>> ranges_rmse(exact, nothing, [0]) ** 2 * 3                       # 2, 2 and 0
    8.0
    """
    squares, ranges = 0.0, 0
    for axis in axes:
        sums = np.append(0.0, np.cumsum(np.asarray(answers([axis]), float) - true([axis])))
        squares += float(((sums[:, None] - sums) ** 2).sum()) / 2  # every range once from either end
        ranges += len(sums) * (len(sums) - 1) // 2
    return math.sqrt(squares / ranges)


def _summed(table: Floats, prefix: bool) -> Floats:
    return running(table) if prefix else table


def average_relative_rmse(errors: Mapping[str, Mapping[Any, float]], reference: str) -> dict[str, float]:
    """Return ARR: each method's RMSE divided by a reference method's, on average over the tasks that both have.

    >>> average_relative_rmse({"a": {"2D": 1.0, "3D": 4.0}, "b": {"2D": 3.0, "3D": 4.0}, "c": {"3D": 2.0}}, "a")
    {'a': 1.0, 'b': 2.0, 'c': 0.5}
    """
    own = errors[reference]
    return {
        method: float(np.mean([by_task[task] / own[task] for task in _shared(by_task, own)]))
        for method, by_task in errors.items()
    }


def _shared(by_task: Mapping[Any, float], own: Mapping[Any, float]) -> Iterator[Any]:
    return (task for task in by_task if task in own)
