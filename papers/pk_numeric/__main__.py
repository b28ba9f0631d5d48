"""`python -m papers.pk_numeric [--quick]`: prints the tables, rewrites the results in README.md and draws the figures."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import NamedTuple

from benchmarks.common import show
from papers.page import publish
from papers.pk_numeric.differences import differences
from papers.pk_numeric.figures import figures
from papers.pk_numeric.measure import COLUMNS, MECHANISMS, Row, row
from papers.pk_numeric.report import AT, answers, error_grids, theorem_grid
from papers.pk_numeric.theorems import Line, lines

FOLDER = Path(__file__).parent
KS, SEEDS = (2.0, 10.0, 100.0, 1000.0), 20


class Reproduction(NamedTuple):
    theorems: list[Line]
    rows: list[Row]
    pictures: dict[str, str]


def main(quick: bool = False) -> Reproduction:
    """Measure everything and print it; a full run also rewrites the results and the figures."""
    seeds = 2 if quick else SEEDS
    theorems = lines()
    rows = [row(c, m, k, seeds) for c in COLUMNS for k in ((AT,) if quick else KS) for m in MECHANISMS]
    shown = [theorem_grid(theorems), *error_grids(rows)]
    for grid in shown:
        show(grid.title, grid.headers, grid.lines)
    pictures = figures(rows)
    if not quick:
        publish(FOLDER, "Which mechanism?", answers(rows), shown, differences(), pictures)
    return Reproduction(theorems, rows, pictures)


if __name__ == "__main__":
    main(quick="--quick" in sys.argv)
