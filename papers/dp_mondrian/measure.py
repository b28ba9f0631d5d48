"""P-views of every table by every method: how far their counts are off, what their rows teach, their time and size."""

from __future__ import annotations

import math
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl

import sudare as sd
from papers.dp_mondrian.data import Data, uniform
from papers.dp_mondrian.paper import (
    DELTA,
    DENSE,
    EPSILON,
    MAX_CELLS,
    METHODS,
    ORIGINAL,
    OURS,
    PAPERS,
    QUERIES,
)
from sudare.noise.keystream import Keystream
from sudare.pview.account import Account
from sudare.pview.dawa import learn_dawa
from sudare.pview.domain import Domain
from sudare.pview.models import CellsModel
from sudare.pview.noisy_counts import NoisyCells
from sudare.pview.pview import PView
from sudare.tables.counts import Counts
from sudare.utility.synthetic import mean_scores, synthetic_scores
from sudare.utility.workloads import random_ranges, ranges_rmse, rmse, table_of, tables_rmse, truth
from sudare.verbs.materialize import materialize

WITH_DELTA = f"{OURS}, δ = {DELTA:g}"
MAX_SETS = 20
"""So many sets of three attributes are drawn where there are more."""
HELD_OUT = 0.2
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
    true, axes = table_of(codes, sizes), range(len(sizes))
    pairs, threes = list(combinations(axes, 2)), _drawn(list(combinations(axes, 3)))

    def of_tables(several: Sequence[Sequence[int]], prefix: bool) -> Task:
        return lambda pview: tables_rmse(true, lambda own: pview.model.table(own, {}), several, prefix=prefix)

    def of_ranges(k: int) -> Task:
        workload = random_ranges(sizes, k, queries, seed=k)
        exact = truth(codes, workload.low, workload.high)
        return lambda pview: rmse(exact, pview.counts(workload.low, workload.high))

    return {
        "1D ranges": lambda pview: ranges_rmse(true, lambda own: pview.model.table(own, {}), axes),
        "2-way marginals": of_tables(pairs, False),
        "3-way marginals": of_tables(threes, False),
        "prefix-2D": of_tables(pairs, True),
        "prefix-3D": of_tables(threes, True),
        **{f"random {k}D": of_ranges(k) for k in (2, 3, 4)},
    }


def _drawn(sets: list[tuple[int, ...]]) -> list[tuple[int, ...]]:
    if len(sets) <= MAX_SETS:
        return sets
    return [sets[i] for i in np.random.default_rng(3).choice(len(sets), MAX_SETS, replace=False)]


def methods(cells: int) -> list[str]:
    return [method for method in METHODS if method not in DENSE or cells <= MAX_CELLS]


def pview_of(table: sd.Table, method: str, seed: int, epsilon: float = EPSILON) -> PView:
    if method == "dawa":
        return flat_dawa(table, seed, epsilon)
    delta = DELTA if method == WITH_DELTA else 0.0
    requirement = sd.DifferentialPrivacy(epsilon, delta)
    return materialize(table, requirement, OURS if method == WITH_DELTA else method, unsafe_seed=seed)


def flat_dawa(table: sd.Table, seed: int, epsilon: float) -> PView:
    """Line up the cells of all attributes in one row, as the paper does; ours takes two attributes at most."""
    domain = Domain.of(table.schema)
    counts = domain.counts(table)
    flat = np.ravel_multi_index(tuple(counts.codes.T), domain.sizes)
    in_a_row = Counts(("all",), flat[:, None], counts.weights, (domain.cells,))
    account = Account(sd.DifferentialPrivacy(epsilon), Keystream.unsafe(seed))
    row = learn_dawa(in_a_row, account)
    assert row.bucket is not None
    shaped = NoisyCells(row.table.reshape(domain.sizes), row.deviation, row.bucket.reshape(domain.sizes))
    return PView(domain, CellsModel(shaped))


def sweep(
    table: sd.Table,
    name: str,
    chosen: Sequence[str],
    seeds: int,
    queries: int = QUERIES,
    epsilon: float = EPSILON,
    only: Sequence[str] = (),
) -> Iterator[Row]:
    """Measure some methods on a table, each with some seeds; if `only` names workloads, by these alone."""
    domain = Domain.of(table.schema)
    counts = domain.counts(table)
    asked = tasks(np.repeat(counts.codes, counts.weights, axis=0), domain.sizes, queries)
    asked = {workload: measure for workload, measure in asked.items() if not only or workload in only}
    for method in chosen:
        errors: dict[str, list[float]] = {workload: [] for workload in asked}
        seconds = []
        pview_of(table, method, seeds)  # compiles
        for seed in range(seeds):
            start = time.perf_counter()
            pview = pview_of(table, method, seed, epsilon)
            seconds.append(time.perf_counter() - start)
            for workload, measure in asked.items():
                errors[workload].append(measure(pview))
        yield Row(name, method, errors, seconds, saved_bytes(pview))


def saved_bytes(pview: PView) -> int:
    with tempfile.TemporaryDirectory() as folder:
        saved = pview.save(Path(folder) / "pview")
        return sum(file.stat().st_size for file in saved.rglob("*") if file.is_file())


# -- Table 4 ---------------------------------------------------------------------------------------------


class Taught(NamedTuple):
    """AUROC and AUPRC on held-out rows after learning from a p-view's rows, means over classifiers and seeds."""

    data: str
    method: str
    auroc: float
    auprc: float


def taught(data: Data, chosen: Sequence[str], seeds: int, rows: int | None = None) -> Iterator[Taught]:
    """Learn from as many rows as the p-view was made of, and from these themselves."""
    assert data.target is not None
    scores_of: dict[str, list[tuple[float, float]]] = {method: [] for method in (*chosen, ORIGINAL)}
    for seed in range(seeds):
        frame = data.frame().sample(fraction=1.0, shuffle=True, seed=seed).head(rows or data.frame().height)
        held = math.ceil(HELD_OUT * frame.height)
        test, train = frame.head(held), frame.slice(held)
        for method, scores in scores_of.items():
            shown = train if method == ORIGINAL else _synthetic(data, train, method, seed)
            models = synthetic_scores(shown, test, data.target, positive=data.positive, seed=seed)
            scores.append(mean_scores(models))
    for method, scores in scores_of.items():
        auroc, auprc = np.mean(scores, axis=0).tolist()
        yield Taught(data.name, method, auroc, auprc)


def _synthetic(data: Data, train: pl.DataFrame, method: str, seed: int) -> pl.DataFrame:
    return pview_of(data.table(train), method, seed).sample(train.height, seed=seed)


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
