"""`python -m papers.optimal_pram [--quick]`: prints the tables, rewrites the results in README.md and draws the figures."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import NamedTuple

from benchmarks.common import show
from papers.optimal_pram.beyond import Measured, beyond, histograms
from papers.optimal_pram.data import Floats, cases
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
    estimates = [estimated(name, v, k, seeds) for name, v in shapes(quick).items() for k in KS]
    others = [elsewhere(case, k, kind, seeds) for case in cases() for k in KS for kind in KINDS]
    pieces = [piece(case, k) for case in cases() for k in KS]
    if quick:
        systems, measured = [system(cases()[2], 10, 1, (0.1,))], beyond(1, ("education",))
    else:
        systems, measured = [system(case, k, 2) for case in cases() for k in KS], beyond(seeds)
    made = Reproduction(rows, backs, estimates, others, figures(cases(), rows), pieces, systems, measured)
    tell(made, runs, rewriting=not quick)
    return made


def shapes(quick: bool) -> dict[str, Floats]:
    """Return the histograms that an estimate is tried on."""
    own = {f"Case {case.number}": case.v for case in cases()}
    return own if quick else own | {name: v for name, v in histograms().items() if name != "age"}


def tell(made: Reproduction, runs: int, *, rewriting: bool) -> None:
    """Print the tables, and rewrite the page if that is asked for."""
    basic = made.rows, made.backs, made.estimates, made.others
    shown = [
        *grids(*basic),
        pieces_grid(made.pieces),
        system_grid(made.systems),
        beyond_grid(made.measured),
    ]
    for grid in shown:
        show(grid.title + ("" if rewriting else f"; {runs} runs only"), grid.headers, grid.lines)
    if rewriting:
        open_problems = {
            "The explicit solution (section 5.2.1)": explicit_words(made.pieces),
            "The whole system (sections 5.2.2 and 5.2.3)": system_words(made.systems),
            "Beyond A-type (section 5.3)": beyond_words(made.measured),
        }
        first = [
            *preface(cases(), made.rows, runs),
            *(f"### {title}\n\n{listed(sentences)}" for title, sentences in open_problems.items()),
        ]
        publish(FOLDER, "Which PRAM?", answers(*basic), shown, differences(), made.pictures, first)


if __name__ == "__main__":
    main(quick="--quick" in sys.argv)
