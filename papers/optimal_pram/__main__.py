"""`python -m papers.optimal_pram [--quick]`: prints the tables, rewrites the results in README.md and draws the figures."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import NamedTuple

from benchmarks.common import show
from papers.optimal_pram.beyond import Measured, beyond, histograms
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
from papers.optimal_pram.open_problems import (
    Piece,
    beyond_grid,
    beyond_words,
    explicit_words,
    piece,
    pieces_grid,
    system_grid,
    system_words,
)
from papers.optimal_pram.paper import KS
from papers.optimal_pram.preface import preface
from papers.optimal_pram.report import answers, grids
from papers.optimal_pram.system import System, system
from papers.page import listed, publish

FOLDER = Path(__file__).parent
RUNS, SEEDS = 100, 10


class Reproduction(NamedTuple):
    rows: list[Row]
    backs: list[Back]
    estimates: list[Estimated]
    others: list[Elsewhere]
    pictures: dict[str, str]
    pieces: list[Piece]
    systems: list[System]
    measured: list[Measured]


def main(quick: bool = False) -> Reproduction:
    """Measure everything and print it; a full run also rewrites the results and the figures."""
    runs, seeds = (5, 2) if quick else (RUNS, SEEDS)
    rows = [row(case, k, runs) for case in cases() for k in KS]
    backs = [back(arm, k, seeds) for k in ((10,) if quick else KS) for arm in ARMS]
    shapes = {f"Case {case.number}": case.v for case in cases()}
    shapes |= {name: v for name, v in histograms().items() if name != "age" and not quick}
    estimates = [estimated(name, v, k, seeds) for name, v in shapes.items() for k in KS]
    others = [elsewhere(case, k, kind, seeds) for case in cases() for k in KS for kind in KINDS]
    pieces = [piece(case, k) for case in cases() for k in KS]
    if quick:
        systems, measured = [system(cases()[2], 10, 1, (0.1,))], beyond(1, ("education",))
    else:
        systems, measured = [system(case, k, 2) for case in cases() for k in KS], beyond(seeds)
    made = Reproduction(rows, backs, estimates, others, figures(cases(), rows), pieces, systems, measured)
    shown = [
        *grids(rows, backs, estimates, others),
        pieces_grid(pieces),
        system_grid(systems),
        beyond_grid(measured),
    ]
    words = f"; {runs} runs and {seeds} seeds only" if quick else ""
    for grid in shown:
        show(grid.title + words, grid.headers, grid.lines)
    open_problems = {
        "The explicit solution (section 5.2.1)": explicit_words(pieces),
        "The whole system (sections 5.2.2 and 5.2.3)": system_words(systems),
        "Beyond A-type (section 5.3)": beyond_words(measured),
    }
    if not quick:
        said = answers(rows, backs, estimates, others)
        first = [
            *preface(cases(), rows, runs),
            *(f"### {title}\n\n{listed(sentences)}" for title, sentences in open_problems.items()),
        ]
        publish(FOLDER, "Which PRAM?", said, shown, differences(), made.pictures, first)
    return made


if __name__ == "__main__":
    main(quick="--quick" in sys.argv)
