"""`python -m papers.pk_numeric [--quick]`: prints the tables, rewrites the results in README.md and draws the figures."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import NamedTuple

from benchmarks.common import show
from papers.page import publish
from papers.pk_numeric.beyond import (
    TABLES,
    Diverse,
    Played,
    Shape,
    area_grid,
    beyond_answers,
    diversities,
    diversity_grid,
    factor_grid,
    game_grid,
    games,
    shapes,
)
from papers.pk_numeric.differences import differences
from papers.pk_numeric.figures import figures
from papers.pk_numeric.forty import Outcome, forty_answer, forty_grid, outcomes
from papers.pk_numeric.measure import COLUMNS, MECHANISMS, Row, row
from papers.pk_numeric.mixed import Mixed, measured, mixed_answers, mixed_grids
from papers.pk_numeric.report import AT, answers, error_grids, theorem_grid
from papers.pk_numeric.theorems import Line, N, lines

FOLDER = Path(__file__).parent
KS, SEEDS = (2.0, 10.0, 100.0, 1000.0), 20
RELEASES = 100  # of the mixed table


class Reproduction(NamedTuple):
    theorems: list[Line]
    rows: list[Row]
    pictures: dict[str, str]
    games: list[Played]
    diversities: list[Diverse]
    areas: list[Shape]
    mixed: Mixed
    forty: list[Outcome]


def main(quick: bool = False) -> Reproduction:
    """Measure everything and print it; a full run also rewrites the results and the figures."""
    seeds = 2 if quick else SEEDS
    theorems = lines()
    rows = [row(c, m, k, seeds) for c in COLUMNS for k in ((AT,) if quick else KS) for m in MECHANISMS]
    tables = 20 if quick else TABLES
    played, diverse = list(games(tables)), list(diversities(tables))
    areas, mixed, forty = list(shapes()), measured(2 if quick else RELEASES), outcomes()
    shown = [
        theorem_grid(theorems),
        *error_grids(rows),
        *mixed_grids(mixed),
        game_grid(played, tables),
        forty_grid(forty),
        diversity_grid(diverse),
        area_grid(areas),
        factor_grid(N),
    ]
    for grid in shown:
        show(grid.title, grid.headers, grid.lines)
    pictures = figures(rows)
    if not quick:
        beyond = beyond_answers(played, diverse, areas)
        said = [*answers(rows), *mixed_answers(mixed), beyond[0], forty_answer(forty), *beyond[1:]]
        publish(FOLDER, "What it says", said, shown, differences(), pictures)
    return Reproduction(theorems, rows, pictures, played, diverse, areas, mixed, forty)


if __name__ == "__main__":
    main(quick="--quick" in sys.argv)
