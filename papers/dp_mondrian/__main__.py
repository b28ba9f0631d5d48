"""`python -m papers.dp_mondrian [--quick] [--kept FOLDER]`: prints the tables, rewrites the results in README.md and draws the figures.

What was found stays in FOLDER, and is not found again: a run of hours can be stopped, and goes on.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import NamedTuple

import polars as pl

from benchmarks.common import show
from papers.dp_mondrian.data import ADULT, NUMERICAL, PHONEME, SMALL, Data, present
from papers.dp_mondrian.differences import differences
from papers.dp_mondrian.figures import figures
from papers.dp_mondrian.measure import (
    BUDGETS_ON,
    FACTS_ON,
    LARGE,
    WITH_DELTA,
    Row,
    Timed,
    domains,
    estimates,
    fillings,
    methods,
    sweep,
)
from papers.dp_mondrian.paper import DENSE, EPSILONS, METHODS, OURS, PRINTED, QUERIES
from papers.dp_mondrian.report import RANGES, grids
from papers.dp_mondrian.teach import Taught, taught
from papers.dp_mondrian.words import answers
from papers.kept import NOTHING, Kept
from papers.page import Grid, publish
from sudare.pview.domain import Domain

FOLDER = Path(__file__).parent
SEEDS = 10
SPARSE = [method for method in METHODS if method not in DENSE and method != PRINTED]
SURE = 1000.0
"""An ε with next to no noise."""


class Scale(NamedTuple):
    """How much is measured."""

    data: tuple[Data, ...] = ()
    """All that are there, if none is given."""
    rows: int | None = None
    seeds: int = SEEDS
    queries: int = QUERIES
    extra: tuple[Data, ...] = (ADULT, NUMERICAL, SMALL)
    budgets: tuple[float, ...] = EPSILONS
    budget: Data = NUMERICAL
    sure: tuple[Data, ...] = (ADULT,)
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
    sure=(PHONEME,),
    records=(1_000, 2_000),
    attributes=(1, 4),
    occupied=(10, 100),
)


class Reproduction(NamedTuple):
    rows: list[Row]
    estimates: list[Row]
    sure: list[Row]
    scores: list[Taught]
    domains: list[Timed]
    fillings: list[Timed]
    shown: list[Grid]
    pictures: dict[str, str]


def main(quick: bool = False, kept: Kept = NOTHING) -> Reproduction:
    """Measure everything and print it; a full run also rewrites the results and the figures."""
    scale = QUICK if quick else Scale(data=present())
    tables = {data.name: data.table(_some(data, scale.rows)) for data in scale.data}
    domain_of = {name: Domain.of(table.schema) for name, table in tables.items()}
    cells = {name: domain.cells for name, domain in domain_of.items()}
    rows = [
        row
        for name, table in tables.items()
        for row in sweep(table, name, methods(cells[name]), scale.seeds, scale.queries, kept=kept)
    ]
    guessed = [row for name, domain in domain_of.items() for row in estimates(domain.sizes, name)]
    sure = [
        row
        for data in scale.sure
        for row in sweep(tables[data.name], data.name, [OURS], scale.seeds, scale.queries, SURE, RANGES, kept)
    ]
    extra = [
        row
        for data in scale.extra
        for row in sweep(
            tables[data.name], data.name, [WITH_DELTA], scale.seeds, scale.queries, only=FACTS_ON, kept=kept
        )
    ]
    own = tables[scale.budget.name]
    sizes_of_own = domain_of[scale.budget.name].sizes
    budgets = {
        e: [
            *sweep(own, scale.budget.name, SPARSE, scale.seeds, scale.queries, e, BUDGETS_ON, kept),
            *estimates(sizes_of_own, scale.budget.name, e, BUDGETS_ON),
        ]
        for e in scale.budgets
    }
    scores = [
        one
        for data in scale.data
        if data.target is not None
        for one in taught(data, SPARSE, scale.seeds, scale.rows, kept)
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
    shown = grids(sizes, rows, guessed, extra, budgets, scores, grown, filled)
    words = "; a few rows only" if quick else ""
    for grid in shown:
        show(grid.title + words, grid.headers, grid.lines)
    pictures = figures(rows, budgets, grown, filled, {name: len(table) for name, table in tables.items()})
    if not quick:
        publish(
            FOLDER,
            "What holds, and what does not",
            answers(rows, guessed, sure, scores, grown),
            shown,
            differences(),
            pictures,
        )
    return Reproduction(rows, guessed, sure, scores, grown, filled, shown, pictures)


def _some(data: Data, rows: int | None) -> pl.DataFrame:
    return data.frame() if rows is None else data.frame().sample(rows, seed=1)


def positives(data: Data) -> float | None:
    return None if data.target is None else float((data.frame()[data.target] == data.positive).mean())  # type: ignore[arg-type]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description="DP-Mondrian's paper, regenerated with all of its comparators."
    )
    parser.add_argument("--quick", action="store_true", help="a few rows, and no page")
    parser.add_argument("--kept", type=Path, help="where what was found is kept, and found again")
    given = parser.parse_args()
    main(given.quick, Kept(given.kept))
