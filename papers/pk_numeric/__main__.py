"""`python -m papers.pk_numeric [--quick]`: prints the tables, rewrites the results in README.md and draws the figures."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import NamedTuple

from benchmarks.common import show
from papers.page import listed, rewrite
from papers.pk_numeric.differences import differences
from papers.pk_numeric.figures import figures
from papers.pk_numeric.measure import COLUMNS, MECHANISMS, Row, row
from papers.pk_numeric.report import AT, answers, error_grids, theorem_grid
from papers.pk_numeric.theorems import Line, lines

FOLDER = Path(__file__).parent
KS, SEEDS = (2.0, 10.0, 100.0, 1000.0), 20


class Found(NamedTuple):
    theorems: list[Line]
    rows: list[Row]
    pictures: dict[str, str]


def main(quick: bool = False) -> Found:
    """Measure everything and print it; a full run also rewrites the results and the figures."""
    seeds = 2 if quick else SEEDS
    theorems = lines()
    rows = [row(c, m, k, seeds) for c in COLUMNS for k in ((AT,) if quick else KS) for m in MECHANISMS]
    shown = [theorem_grid(theorems), *error_grids(rows)]
    for grid in shown:
        show(grid.title, grid.headers, grid.lines)
    pictures = figures(rows)
    if not quick:
        said, claims = answers(rows), differences()
        print(*said, *claims, sep="\n\n")
        for name, picture in pictures.items():
            (FOLDER / name).write_text(picture + "\n")
        parts = [
            "### Which mechanism?\n\n" + listed(said),
            *(grid.markdown() for grid in shown),
            "### Where the paper slips, and what is right\n\nEach was checked by code in the run that wrote this page.\n\n"
            + listed(claims),
        ]
        rewrite(FOLDER / "README.md", parts)
    return Found(theorems, rows, pictures)


if __name__ == "__main__":
    main(quick="--quick" in sys.argv)
