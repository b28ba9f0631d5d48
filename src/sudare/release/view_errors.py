"""How far a view's answers are from the truth, by kind of question. This needs the original table."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sudare.pview.boxes import Boxes
from sudare.pview.view import PView
from sudare.tables.table import Table
from sudare.utility.intervals import REACH

QUERIES = 600  # of each kind, at most
SANITY = 0.001  # of all records: a smaller true count does not make the relative error larger

Codes = NDArray[Any]


@dataclass(frozen=True)
class WorkloadError:
    """The error of one kind of question."""

    name: str
    queries: int
    rmse: float
    relative: float
    """On average; a true count below 0.1% of the records counts as that."""
    covered: float
    """The share of 95% intervals that hold the true count."""


def truth_of(table: Table, view: PView) -> Boxes:
    """Return the original records as points of the view's domain."""
    codes = view.domain.codes(table)
    distinct, weights = np.unique(codes, axis=0, return_counts=True)
    points = np.ascontiguousarray(distinct)
    return Boxes.of(points, points, weights.astype(np.float64), view.domain.sizes)


def measure_errors(truth: Boxes, view: PView, queries: int = QUERIES) -> list[WorkloadError]:
    """Ask the view many questions of each kind, and compare with the true counts."""
    return [_measured(name, low, high, truth, view) for name, low, high in _workloads(view, queries)]


def _workloads(view: PView, queries: int) -> Iterator[tuple[str, Codes, Codes]]:
    """Draw questions; the seed is fixed, so that the same view is always asked the same."""
    sizes = np.array(view.domain.sizes)
    rng = np.random.default_rng(0)
    for ways in (1, 2):
        if ways <= len(sizes):
            yield f"{ways}-way marginals, cell by cell", *_cells(sizes, ways, queries, rng)
    for ways in (2, 3):
        if ways <= len(sizes):
            yield f"random ranges of {ways} attributes", *_ranges(sizes, ways, queries, rng)


def _cells(sizes: Codes, ways: int, queries: int, rng: np.random.Generator) -> tuple[Codes, Codes]:
    """Choose cells of the marginals of so many attributes: all, or as many as are wanted, each as likely as another."""
    axes = list(combinations(range(len(sizes)), ways))
    ends = np.cumsum([np.prod(sizes[list(own)], dtype=np.int64) for own in axes])
    total = int(ends[-1])
    chosen = np.arange(total) if total <= queries else rng.integers(0, total, queries)
    low, high = _everything(sizes, len(chosen))
    for row, place in enumerate(chosen):
        table = int(np.searchsorted(ends, place, side="right"))
        own = list(axes[table])
        cell = np.unravel_index(int(place - (ends[table - 1] if table else 0)), tuple(sizes[own]))
        low[row, own] = high[row, own] = cell
    return low, high


def _ranges(sizes: Codes, ways: int, queries: int, rng: np.random.Generator) -> tuple[Codes, Codes]:
    """Draw so many attributes for each query, for each a width, and a position among those that fit."""
    low, high = _everything(sizes, queries)
    for row in range(queries):
        for axis in rng.choice(len(sizes), ways, replace=False):
            width = rng.integers(1, sizes[axis] + 1)
            low[row, axis] = rng.integers(0, sizes[axis] - width + 1)
            high[row, axis] = low[row, axis] + width - 1
    return low, high


def _everything(sizes: Codes, queries: int) -> tuple[Codes, Codes]:
    return np.zeros((queries, len(sizes)), np.int32), np.tile((sizes - 1).astype(np.int32), (queries, 1))


def _measured(name: str, low: Codes, high: Codes, truth: Boxes, view: PView) -> WorkloadError:
    true, found = truth.counts(low, high), view.counts(low, high)
    off = np.abs(np.maximum(found, 0.0) - true)
    least = max(SANITY * truth.weights.sum(), 1.0)
    inside = np.abs(found - true) <= REACH * view.errors(low, high) + 1e-9
    return WorkloadError(
        name,
        len(true),
        float(np.sqrt((off**2).mean())),
        float((off / np.maximum(true, least)).mean()),
        float(inside.mean()),
    )
