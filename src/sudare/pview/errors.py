"""How far a p-view's answers are from the truth, by kind of question. This needs the counts of the original."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from sudare.pview.boxes import Boxes
from sudare.pview.pview import PView
from sudare.tables.counts import Counts
from sudare.tables.table import Table
from sudare.utility.intervals import REACH
from sudare.utility.workloads import Workload, marginals, random_ranges, relative_error, rmse

QUERIES = 600  # of each kind, at most
MIN_RECORDS = 1000  # of fewer, 0.1% would be less than one


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


def points_of(counts: Counts) -> Boxes:
    """Return the original records as weighted points of a p-view's domain."""
    points = np.ascontiguousarray(counts.codes)
    return Boxes.of(points, points, counts.weights.astype(np.float64), counts.sizes)


def truth_of(table: Table, pview: PView) -> Boxes:
    """Return the records of a table as weighted points of a p-view's domain."""
    return points_of(pview.domain.counts(table))


def measure_errors(truth: Boxes, pview: PView, queries: int = QUERIES) -> list[WorkloadError]:
    """Ask the p-view many questions of each kind, and compare with the true counts."""
    return [_measured(name, workload, truth, pview) for name, workload in _workloads(pview, queries)]


def _workloads(pview: PView, queries: int) -> Iterator[tuple[str, Workload]]:
    """Draw questions; the seed is fixed, so that the same p-view is always asked the same."""
    sizes = pview.domain.sizes
    for ways in (1, 2):
        if ways <= len(sizes):
            yield f"{ways}-way marginals, cell by cell", marginals(sizes, ways, most=queries)
    for ways in (2, 3):
        if ways <= len(sizes):
            yield f"random ranges of {ways} attributes", random_ranges(sizes, ways, queries)


def _measured(name: str, workload: Workload, truth: Boxes, pview: PView) -> WorkloadError:
    low, high = workload.low, workload.high
    true, estimates = truth.counts(low, high), pview.counts(low, high)
    answers = np.maximum(estimates, 0.0)
    records = max(round(truth.weights.sum()), MIN_RECORDS)
    inside = np.abs(estimates - true) <= REACH * pview.errors(low, high) + 1e-9
    return WorkloadError(
        name, len(true), rmse(true, answers), relative_error(true, answers, records), float(inside.mean())
    )
