"""`python -m papers.optimal_pram [--quick]`: prints the tables, rewrites the results in README.md and draws Figs 3 to 7."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import NamedTuple

from benchmarks.common import show
from papers.optimal_pram.data import cases
from papers.optimal_pram.differences import differences
from papers.optimal_pram.figures import figures
from papers.optimal_pram.measure import (
    ARMS,
    KINDS,
    Back,
    Elsewhere,
    Estimated,
    Row,
    back,
    elsewhere,
    estimated,
    row,
)
from papers.optimal_pram.paper import KS
from papers.optimal_pram.report import answers, grids
from papers.page import publish

FOLDER = Path(__file__).parent
RUNS, SEEDS = 100, 20


class Reproduction(NamedTuple):
    rows: list[Row]
    backs: list[Back]
    estimates: list[Estimated]
    others: list[Elsewhere]
    pictures: dict[str, str]


def main(quick: bool = False) -> Reproduction:
    """Measure everything and print it; a full run also rewrites the results and the figures."""
    runs, seeds = (5, 2) if quick else (RUNS, SEEDS)
    rows = [row(case, k, runs) for case in cases() for k in KS]
    backs = [back(arm, k, seeds) for k in ((10,) if quick else KS) for arm in ARMS]
    estimates = [estimated(k, seeds) for k in KS]
    others = [elsewhere(case, k, kind, seeds) for case in cases() for k in KS for kind in KINDS]
    shown = grids(rows, backs, estimates, others)
    words = f"; {runs} runs and {seeds} seeds only" if quick else ""
    for grid in shown:
        show(grid.title + words, grid.headers, grid.lines)
    pictures = figures(cases(), rows)
    if not quick:
        publish(
            FOLDER, "Which PRAM?", answers(rows, backs, estimates, others), shown, differences(), pictures
        )
    return Reproduction(rows, backs, estimates, others, pictures)


if __name__ == "__main__":
    main(quick="--quick" in sys.argv)
