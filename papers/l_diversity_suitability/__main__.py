"""`python -m papers.l_diversity_suitability [--quick]`: prints the tables and rewrites the results in README.md."""

from __future__ import annotations

import sys
from pathlib import Path

from benchmarks.common import show
from papers.l_diversity_suitability.data import QUICK, sources
from papers.l_diversity_suitability.differences import differences
from papers.l_diversity_suitability.figure import figure
from papers.l_diversity_suitability.measure import Row, rows
from papers.l_diversity_suitability.report import grids, short_falls
from papers.page import Grid, listed, rewrite

FOLDER = Path(__file__).parent


def main(quick: bool = False) -> list[Row]:
    """Measure everything and print it; a full run also rewrites the results and the figure."""
    measured = []
    for source in sources():
        for row in rows(source, quick):
            measured.append(row)
            print(f"{row.name}, l = {row.l}: {row.seconds:.1f} s", file=sys.stderr, flush=True)
    words = f"; {QUICK} rows or fewer of each table, so that only the code is comparable" if quick else ""
    for grid in grids(measured):
        show(grid.title + words, grid.headers, grid.lines)
    if not quick:
        claims = differences()
        print(*short_falls(measured), *claims, sep="\n\n")
        _write(measured, grids(measured), claims)
    return measured


def _write(measured: list[Row], shown: list[Grid], claims: list[str]) -> None:
    parts = [
        *(grid.markdown() for grid in shown),
        "### Where ours falls short\n\n" + listed(short_falls(measured)),
        "### Where the paper and we differ, and why\n\nEach was checked by code in the run that wrote this page.\n\n"
        + listed(claims),
    ]
    rewrite(FOLDER / "README.md", parts)
    (FOLDER / "figure-3.svg").write_text(figure(measured))


if __name__ == "__main__":
    main(quick="--quick" in sys.argv)
