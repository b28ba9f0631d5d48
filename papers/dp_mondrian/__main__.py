"""`python -m papers.dp_mondrian [--quick]`: prints the tables, rewrites the results in README.md and draws the figures."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import NamedTuple

import polars as pl

from benchmarks.common import show
from papers.dp_mondrian.data import ADULT, DATA, NUMERICAL, PHONEME, SMALL, Data
from papers.dp_mondrian.differences import differences
from papers.dp_mondrian.figures import figures
from papers.dp_mondrian.measure import (
    BUDGETS_ON,
    FACTS_ON,
    LARGE,
    WITH_DELTA,
    Row,
    Taught,
    Timed,
    domains,
    fillings,
    methods,
    sweep,
    taught,
)
from papers.dp_mondrian.paper import DENSE, EPSILONS, METHODS, QUERIES
from papers.dp_mondrian.report import answers, grids
from papers.page import Grid, publish
from sudare.pview.domain import Domain

FOLDER = Path(__file__).parent
SEEDS = 5
FEW = 2
"""So many seeds for budgets and classifiers, which take most of the time."""
SPARSE = [method for method in METHODS if method not in DENSE]


class Scale(NamedTuple):
    """How much is measured."""

    data: tuple[Data, ...] = DATA
    rows: int | None = None
    seeds: int = SEEDS
    queries: int = QUERIES
    extra: tuple[Data, ...] = (ADULT, NUMERICAL, SMALL)
    budgets: tuple[float, ...] = EPSILONS
    budget: Data = NUMERICAL
    few: int = FEW
    records: tuple[int, int] = (100_000, 1_000_000)
    attributes: tuple[int, ...] = (1, 2, 4, 8, 16)
    occupied: tuple[int, ...] = (100, 1_000, 10_000, 100_000)


QUICK = Scale(
    data=(PHONEME,),
    rows=300,
    seeds=2,
    queries=50,
    extra=(),
    budgets=(0.5, 2.0),
    budget=PHONEME,
    few=1,
    records=(1_000, 2_000),
    attributes=(1, 4),
    occupied=(10, 100),
)


class Reproduction(NamedTuple):
    rows: list[Row]
    scores: list[Taught]
    domains: list[Timed]
    fillings: list[Timed]
    shown: list[Grid]
    pictures: dict[str, str]


def main(quick: bool = False) -> Reproduction:
    """Measure everything and print it; a full run also rewrites the results and the figures."""
    scale = QUICK if quick else Scale()
    tables = {data.name: data.table(_some(data, scale.rows)) for data in scale.data}
    cells = {name: Domain.of(table.schema).cells for name, table in tables.items()}
    rows = [
        row
        for name, table in tables.items()
        for row in sweep(table, name, methods(cells[name]), scale.seeds, scale.queries)
    ]
    extra = [
        row
        for data in scale.extra
        for row in sweep(
            tables[data.name], data.name, [WITH_DELTA], scale.seeds, scale.queries, only=FACTS_ON
        )
    ]
    own = tables[scale.budget.name]
    budgets = {
        e: [*sweep(own, scale.budget.name, SPARSE, scale.few, scale.queries, e, BUDGETS_ON)]
        for e in scale.budgets
    }
    scores = [
        one
        for data in scale.data
        if data.target is not None
        for one in taught(data, SPARSE, scale.few, scale.rows)
    ]
    grown = domains(LARGE, scale.records[0], scale.attributes)
    filled = fillings(LARGE, scale.records[1], scale.occupied)
    sizes = {
        data.name: (
            len(tables[data.name]),
            len(tables[data.name].columns),
            float(cells[data.name]),
            positives(data),
        )
        for data in scale.data
    }
    shown = grids(sizes, rows, extra, budgets, scores, grown, filled)
    words = "; a few rows only" if quick else ""
    for grid in shown:
        show(grid.title + words, grid.headers, grid.lines)
    pictures = figures(rows, budgets, grown, filled, {name: len(table) for name, table in tables.items()})
    if not quick:
        publish(
            FOLDER,
            "What holds, and what does not",
            answers(rows, scores, grown),
            shown,
            differences(),
            pictures,
        )
    return Reproduction(rows, scores, grown, filled, shown, pictures)


def _some(data: Data, rows: int | None) -> pl.DataFrame:
    return data.frame() if rows is None else data.frame().sample(rows, seed=1)


def positives(data: Data) -> float | None:
    return None if data.target is None else float((data.frame()[data.target] == data.positive).mean())  # type: ignore[arg-type]


if __name__ == "__main__":
    main(quick="--quick" in sys.argv)
