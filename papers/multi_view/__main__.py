"""`python -m papers.multi_view [--quick]`: prints the tables, rewrites the results in README.md and draws the figures."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import NamedTuple

import sudare as sd
from benchmarks.common import show
from benchmarks.views import L, adult, drawn, table_of
from papers.multi_view.differences import differences
from papers.multi_view.figures import figures
from papers.multi_view.measure import (
    LARGE,
    Attacked,
    Row,
    Timed,
    adult_attacked,
    example_attacked,
    ipums,
    sweep,
    timed,
    untouched,
)
from papers.multi_view.paper import DRAWS, LS, PAPERS
from papers.multi_view.report import answers, best_fit, grids
from papers.page import publish

FOLDER = Path(__file__).parent
SLOW = (1_000, 2_000, 4_000)
"""So many rows the paper's score gets beyond its samples: its time grows faster than they do."""
MILLION = 1_000_000
RUNS = 3


class Reproduction(NamedTuple):
    rows: list[Row]
    """Adult's."""
    other: list[Row]
    """IPUMS's."""
    more: list[Timed]
    example: list[Attacked]
    whole: list[Attacked]
    pictures: dict[str, str]


def main(quick: bool = False) -> Reproduction:
    """Measure everything and print it; a full run also rewrites the results and the figures."""
    draws, ls = (2, (2, 4)) if quick else (DRAWS, LS)
    rows, other = sweep(adult(), draws, ls), sweep(ipums(), draws, ls)
    table = table_of(adult().head(500) if quick else adult())
    more = larger(table, (100, 200) if quick else SLOW)
    if not quick:
        million = drawn(MILLION)
        more += [untouched(million), *(timed(million, method, L) for method in LARGE)]
    example, whole = example_attacked(), adult_attacked(table, L)
    shown = grids(rows, other, more, example, whole)
    words = "; a few samples and rows only" if quick else ""
    for grid in shown:
        show(grid.title + words, grid.headers, grid.lines)
    pictures = figures(rows, best_fit(rows).l)
    if not quick:
        publish(
            FOLDER,
            "What holds, and what does not",
            answers(rows, other, more, whole),
            shown,
            differences(),
            pictures,
        )
    return Reproduction(rows, other, more, example, whole, pictures)


def larger(table: sd.Table, few: tuple[int, ...]) -> list[Timed]:
    """Learn from parts of a table by the paper's score, and from all of it by the other methods."""
    parts = [table_of(adult().sample(rows, seed=1)) for rows in few]
    slow = [timed(part, PAPERS, L) for part in parts]
    return [*slow, untouched(table), *(timed(table, method, L, RUNS) for method in LARGE)]


if __name__ == "__main__":
    main(quick="--quick" in sys.argv)
