"""P-views that are combined: how far one is off, and several together, and how often their intervals hold the truth.

`python -m benchmarks.combining [--quick]`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import polars as pl

import sudare as sd
from benchmarks.common import show
from benchmarks.pviews import FOUR, NUMERIC, adult_of
from sudare.pview.errors import truth_of
from sudare.utility.intervals import REACH
from sudare.utility.workloads import Workload, marginals, random_ranges, rmse

EPSILON, DELTA = 0.5, 1e-9
QUERIES = 300
SEEDS = 3


class Case(NamedTuple):
    """What is made of what, and how many of it are combined."""

    words: str
    table: Callable[[], sd.Table]
    method: str
    parts: int
    delta: float = 0.0


class Measured(NamedTuple):
    """How far answers are off, and which share of their intervals hold the truth."""

    rmse: float
    covered: float

    @classmethod
    def of(cls, pview: sd.PView, asked: Workload, true: np.ndarray) -> Measured:
        counts, errors = pview.counts(asked.low, asked.high), pview.errors(asked.low, asked.high)
        return cls(rmse(true, counts), float((np.abs(counts - true) <= REACH * errors + 1e-9).mean()))


def numbers(name: str) -> sd.Table:
    """Return a public table of numbers: those of more than twelve values in 50 bins."""
    frame = sd.datasets.load(name)
    wide = [own.name for own in frame if own.dtype.is_numeric() and own.n_unique() > 12]
    schema = sd.Schema.from_roles(
        quasi=frame.columns,
        bounds={column: (float(frame[column].min()), float(frame[column].max())) for column in wide},
        bins=dict.fromkeys(wide, 50),
        domains={
            own.name: own.drop_nulls().unique().sort().to_list() for own in frame if own.name not in wide
        },
        types=dict.fromkeys(wide, "number"),
    )
    return sd.read(frame.with_columns(pl.col(wide).cast(pl.Float64)), schema)


def survey() -> sd.Table:
    frame = sd.datasets.health_survey(5_000).select("age", "sex", "smoker", "diagnosis")
    schema = sd.Schema.from_roles(
        quasi=frame.columns,
        bounds={"age": (18, 95)},
        domains={name: frame[name].drop_nulls().unique().sort().to_list() for name in frame.columns[1:]},
    )
    return sd.read(frame, schema)


CASES = (
    Case("Adult's numbers", lambda: adult_of(NUMERIC), "pairs", 2),
    Case("Adult's numbers", lambda: adult_of(NUMERIC), "pairs", 3, DELTA),
    Case("Electricity", lambda: numbers("electricity"), "pairs", 2),
    Case("Phoneme", lambda: numbers("phoneme"), "pairs", 4),
    Case("a survey of 5,000", survey, "pairs", 2),
    Case("Adult, 4 attributes", lambda: adult_of(FOUR), "identity", 3),
    Case("Adult, 4 attributes", lambda: adult_of(FOUR), "dp-mondrian", 2),
)


def main(quick: bool = False) -> None:
    cases = [Case("a survey of 5,000", survey, "independent", 2)] if quick else CASES
    rows = [line for case in cases for line in _lines(case, 1 if quick else SEEDS)]
    show(
        f"sd.combine of p-views with epsilon = {EPSILON} each: RMSE, and how many of the 95% intervals hold the truth",
        ["table and method", "p-views", "questions", "RMSE of one", "combined", "covered by one", "combined"],
        rows,
    )


def _lines(case: Case, seeds: int) -> list[list[str]]:
    table = case.table()
    found: dict[str, list[tuple[Measured, Measured]]] = {}
    for seed in range(seeds):
        promise = sd.DifferentialPrivacy(EPSILON, case.delta)
        parts = [
            sd.materialize(table, promise, case.method, unsafe_seed=100 * seed + i) for i in range(case.parts)
        ]
        combined = sd.combine(parts)
        truth, sizes = truth_of(table, combined), combined.domain.sizes
        asked = [
            random_ranges(sizes, ways, QUERIES, seed=seed + 1) for ways in range(1, 5) if ways <= len(sizes)
        ]
        for one in (*asked, marginals(sizes, 2, most=QUERIES, seed=seed)):
            true = truth.counts(one.low, one.high)
            alone = Measured(*np.mean([Measured.of(part, one, true) for part in parts], axis=0).tolist())
            found.setdefault(one.name, []).append((alone, Measured.of(combined, one, true)))
    name = f"{case.words}, {case.method}" + (f", δ = {case.delta:g}" if case.delta else "")
    return [
        [name, str(case.parts), asked_for, *_told(np.mean(several, axis=0))]
        for asked_for, several in found.items()
    ]


def _told(means: np.ndarray) -> list[str]:
    (one, covered), (both, covered_together) = means
    return [f"{one:.1f}", f"{both:.1f}", f"{covered:.1%}", f"{covered_together:.1%}"]


if __name__ == "__main__":
    main(quick="--quick" in sys.argv)
