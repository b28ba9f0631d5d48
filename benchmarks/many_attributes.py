"""`minimal` beside Mondrian on large tables of many attributes, and how far below Mondrian any method could get.

`python -m benchmarks.many_attributes [--quick]`: IPUMS, and many rows drawn from it with noise on its numbers, so that hardly two are alike.
"""

from __future__ import annotations

import sys
import time

import numpy as np
import polars as pl
from numpy.typing import NDArray

import sudare as sd
from benchmarks.common import show
from sudare.generalization.minimal import learn_minimal
from sudare.generalization.mondrian import learn_mondrian
from sudare.generalization.problem import Problem
from sudare.privacy.minimum import BlockMinimum
from sudare.suitability.costs import Costs
from sudare.suitability.search import searched_costs

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

ATTRIBUTES = 22
ROWS = 300_000
NOISE = 0.05  # of a number's standard deviation, up or down
WIDTH = 8  # digits of a number
K = 5
SAMPLE = 300  # records, of which the least possible cost is looked for
NUMBERS = ("age", "value", "rent", "ftotinc", "inctot", "incwage", "famsize")


def main(quick: bool = False) -> None:
    """Print a line for each table."""
    frame, rows = sd.datasets.load("ipums"), ROWS
    if quick:
        frame, rows = frame.head(1_000), 2_000
    names = [name for name in frame.columns if frame[name].n_unique() > 1][:ATTRIBUTES]
    tables = {
        "IPUMS": frame.select(names),
        "drawn, with noise (seed 1)": drawn(frame.select(names), rows, 1),
        "drawn, with noise (seed 2)": drawn(frame.select(names), rows, 2),
    }
    show(
        f"Large tables of {ATTRIBUTES} attributes, k = {K}: DIS",
        [
            "table",
            "units",
            "mondrian",
            "minimal",
            "below mondrian",
            "seconds",
            f"any at most (by {SAMPLE} units)",
        ],
        [[name, *measured(coded(table))] for name, table in tables.items()],
    )


def drawn(frame: pl.DataFrame, size: int, seed: int) -> pl.DataFrame:
    """Draw so many rows, and add noise to the numbers among their values."""
    rng = np.random.default_rng(seed)
    rows = frame[rng.integers(0, len(frame), size)]
    noisy = []
    for name in (name for name in frame.columns if name in NUMBERS):
        values = rows[name].cast(pl.Int64, strict=False).fill_null(0).to_numpy()
        most = max(1, int(NOISE * values.std()))
        noisy.append(pl.Series(name, np.maximum(values + rng.integers(-most, most + 1, size), 0)))
    return rows.with_columns(noisy)


def coded(frame: pl.DataFrame) -> Problem:
    """Write numbers with as many digits each, of which the last are masked first, as of all other codes."""
    texts = frame.with_columns(
        pl.col(name).cast(pl.Int64, strict=False).fill_null(0).cast(pl.String).str.zfill(WIDTH)
        for name in frame.columns
        if name in NUMBERS
    )
    masks = {name: sd.Hierarchy.mask(texts[name].unique().sort()) for name in texts.columns}
    table = sd.read(texts, sd.Schema.from_roles(quasi=texts.columns, hierarchies=masks))
    return Problem.of(table, [sd.KAnonymity(K)])


def measured(problem: Problem) -> list[str]:
    """Return both distortions, by how much the one is below the other, and what no method exceeds."""
    learn_minimal(problem.at(np.arange(500)))  # which compiles
    before = learn_mondrian(problem)
    start = time.perf_counter()
    reached = learn_minimal(problem).distortion()
    seconds = time.perf_counter() - start
    some = np.sort(np.random.default_rng(0).choice(len(problem.units), SAMPLE, replace=False))
    costs = Costs.of(problem.trees.height.tolist(), [1.0] * len(problem.names))
    least = searched_costs(problem, costs, BlockMinimum.of(problem.limits), some=some) / costs.whole
    cost = (before.levels @ problem.trees.step)[before.block_of[some]]
    could, error = most_below(least, cost, problem.weights[some])
    return [
        f"{len(problem.units):,}",
        f"{before.distortion():.4f}",
        f"{reached:.4f}",
        f"{1 - reached / before.distortion():.1%}",
        f"{seconds:.0f}",
        f"{could:.1%} ± {error:.1%}",
    ]


def most_below(least: Floats, cost: Floats, weights: Ints) -> tuple[float, float]:
    """Estimate how far below a release, in which records cost `cost`, any can be, each of them costing `least` or more.

    Of units that were drawn at random; also returns two standard errors of the ratio of the two means.
    """
    whole = float(cost @ weights)
    ratio = float(least @ weights) / whole
    off = weights * (least - ratio * cost)
    return 1 - ratio, 2 * float(off.std(ddof=1)) * np.sqrt(len(off)) / whole


if __name__ == "__main__":
    main(quick="--quick" in sys.argv)
