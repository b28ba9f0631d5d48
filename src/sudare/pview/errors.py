"""How far a view's answers are from the truth, by kind of question. This needs the original table."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from sudare.pview.boxes import Boxes
from sudare.pview.pview import PView
from sudare.tables.table import Table
from sudare.utility.intervals import REACH
from sudare.utility.workloads import Workload, marginals, random_ranges, relative_error, rmse

QUERIES = 600  # of each kind, at most
ROUGHLY = 1000  # records; of fewer, 0.1% would be less than one


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
    return [_measured(name, workload, truth, view) for name, workload in _workloads(view, queries)]


def _workloads(view: PView, queries: int) -> Iterator[tuple[str, Workload]]:
    """Draw questions; the seed is fixed, so that the same view is always asked the same."""
    sizes = view.domain.sizes
    for ways in (1, 2):
        if ways <= len(sizes):
            yield f"{ways}-way marginals, cell by cell", marginals(sizes, ways, most=queries)
    for ways in (2, 3):
        if ways <= len(sizes):
            yield f"random ranges of {ways} attributes", random_ranges(sizes, ways, queries)


def _measured(name: str, workload: Workload, truth: Boxes, view: PView) -> WorkloadError:
    low, high = workload.low, workload.high
    true, found = truth.counts(low, high), view.counts(low, high)
    answers = np.maximum(found, 0.0)
    records = max(round(truth.weights.sum()), ROUGHLY)
    inside = np.abs(found - true) <= REACH * view.errors(low, high) + 1e-9
    return WorkloadError(
        name, len(true), rmse(true, answers), relative_error(true, answers, records), float(inside.mean())
    )
