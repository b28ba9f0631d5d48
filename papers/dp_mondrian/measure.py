"""P-views of every table by every method: how far their counts are off, their time and size."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import sudare as sd
from papers.dp_mondrian.data import uniform
from papers.dp_mondrian.expected import Asking, expected, workloads
from papers.dp_mondrian.paper import (
    DELTA,
    DENSE,
    EPSILON,
    MAX_CELLS,
    METHODS,
    OURS,
    PAPERS,
    PRINTED,
    QUERIES,
)
from papers.dp_mondrian.printed import overspending_blocks
from papers.kept import NOTHING, Kept
from sudare.pview.domain import Domain
from sudare.pview.models import BlocksModel
from sudare.pview.pview import PView
from sudare.utility.workloads import random_ranges, ranges_rmse, rmse, table_of, tables_rmse, truth
from sudare.verbs.materialize import materialize

WITH_DELTA = f"{OURS}, δ = {DELTA:g}"
FACTS_ON = ("2-way marginals", "random 2D", "random 3D", "random 4D")
BUDGETS_ON = ("2-way marginals", "random 3D")
Task = Callable[[PView], float]


class Row(NamedTuple):
    """One method on one table: every seed's RMSE by workload, the seconds of each p-view, and the bytes of the last one saved."""

    data: str
    method: str
    errors: dict[str, list[float]]
    seconds: list[float]
    bytes: int

    def error(self, workload: str) -> float:
        return float(np.mean(self.errors[workload]))


def tasks(codes: Any, sizes: Sequence[int], queries: int) -> dict[str, Task]:
    """Return the paper's eight workloads, each as what measures a p-view's RMSE."""
    true = table_of(codes, sizes)

    def of_tables(asking: Asking) -> Task:
        prefix = asking.kind == "prefixes"
        return lambda pview: tables_rmse(
            true, lambda own: pview.model.table(own, {}), asking.sets, prefix=prefix
        )

    def of_ranges(k: int) -> Task:
        workload = random_ranges(sizes, k, queries, seed=k)
        exact = truth(codes, workload.low, workload.high)
        return lambda pview: rmse(exact, pview.counts(workload.low, workload.high))

    asked = workloads(len(sizes))
    return {
        "1D ranges": lambda pview: ranges_rmse(
            true, lambda own: pview.model.table(own, {}), range(len(sizes))
        ),
        **{name: of_tables(asked[name]) for name in asked if "-" in name},
        **{f"random {k}D": of_ranges(k) for k in (2, 3, 4)},
    }


def methods(cells: int) -> list[str]:
    return [method for method in METHODS if method not in DENSE or cells <= MAX_CELLS]


def pview_of(table: sd.Table, method: str, seed: int, epsilon: float = EPSILON) -> PView:
    if method == PRINTED:
        domain = Domain.of(table.schema)
        blocks = overspending_blocks(domain.counts(table), epsilon, np.random.default_rng(seed))
        return PView(domain, BlocksModel.of(blocks, domain.sizes))
    delta = DELTA if method == WITH_DELTA else 0.0
    requirement = sd.DifferentialPrivacy(epsilon, delta)
    return materialize(table, requirement, OURS if method == WITH_DELTA else method, unsafe_seed=seed)


def sweep(
    table: sd.Table,
    name: str,
    chosen: Sequence[str],
    seeds: int,
    queries: int = QUERIES,
    epsilon: float = EPSILON,
    only: Sequence[str] = (),
    kept: Kept = NOTHING,
) -> Iterator[Row]:
    """Measure some methods on a table, each with some seeds; if `only` names workloads, by these alone."""
    for method in chosen:
        name_of = f"{name}, {method}, {epsilon:g}{', some' if only else ''}"
        yield Row(*kept.once(name_of, partial(_measured, table, name, method, seeds, queries, epsilon, only)))


def _measured(
    table: sd.Table, name: str, method: str, seeds: int, queries: int, epsilon: float, only: Sequence[str]
) -> Row:
    domain = Domain.of(table.schema)
    counts = domain.counts(table)
    asked = tasks(np.repeat(counts.codes, counts.weights, axis=0), domain.sizes, queries)
    asked = {workload: measure for workload, measure in asked.items() if not only or workload in only}
    errors: dict[str, list[float]] = {workload: [] for workload in asked}
    seconds = []
    pview_of(table, method, seeds)  # compiles
    for seed in range(seeds):
        start = time.perf_counter()
        pview = pview_of(table, method, seed, epsilon)
        seconds.append(time.perf_counter() - start)
        for workload, measure in asked.items():
            errors[workload].append(float(measure(pview)))
    return Row(name, method, errors, seconds, saved_bytes(pview))


def estimates(
    sizes: Sequence[int], name: str, epsilon: float = EPSILON, only: Sequence[str] = ()
) -> list[Row]:
    """Compute what is expected of methods that cannot hold all cells."""
    found = expected(sizes, only, epsilon)
    return [Row(name, one.method, {w: [e] for w, e in one.errors.items()}, [one.seconds], 0) for one in found]


def saved_bytes(pview: PView) -> int:
    with tempfile.TemporaryDirectory() as folder:
        saved = pview.save(Path(folder) / "pview")
        return sum(file.stat().st_size for file in saved.rglob("*") if file.is_file())


# -- Fig. 5 ----------------------------------------------------------------------------------------------


class Timed(NamedTuple):
    """Seconds for a p-view of synthetic rows: over a domain of so many cells, of which so many are occupied."""

    method: str
    records: int
    cells: float
    occupied: int
    seconds: float


def timed(method: str, records: int, attributes: int, occupied: int | None = None, runs: int = 2) -> Timed:
    """Return the best of some runs, after one that compiles."""
    pview_of(uniform(1_000, attributes), method, 0)
    table = uniform(records, attributes, occupied)
    taken = []
    for seed in range(runs):
        start = time.perf_counter()
        pview_of(table, method, seed)
        taken.append(time.perf_counter() - start)
    distinct = table.frame().n_unique()
    return Timed(method, records, 100.0**attributes, distinct, min(taken))


def domains(chosen: Sequence[str], records: int, attributes: Sequence[int]) -> list[Timed]:
    """Let the domain grow: the left of Fig. 5."""
    return [timed(method, records, several) for method in chosen for several in attributes]


def fillings(chosen: Sequence[str], records: int, occupied: Sequence[int]) -> list[Timed]:
    """Let more cells of a domain of 10^10 be occupied: the right of Fig. 5."""
    return [timed(method, records, 5, cells) for method in chosen for cells in occupied]


LARGE = (OURS, PAPERS)
"""Whom Fig. 5 times."""
