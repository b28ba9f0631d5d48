"""The paper's tables in their quick form, and the claims about it that are cheap enough to check each time."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import sudare as sd
from papers.l_diversity_suitability import measure
from papers.l_diversity_suitability.__main__ import main
from papers.l_diversity_suitability.data import QUICK, sources
from papers.l_diversity_suitability.differences import _max_blocks, _sums, plain_bounds, plain_max_blocks
from papers.l_diversity_suitability.figure import figure
from papers.l_diversity_suitability.measure import Row
from papers.l_diversity_suitability.paper import PAPER
from papers.l_diversity_suitability.report import grids, short_falls


@pytest.fixture(scope="module", params=["data1", pytest.param("all", marks=pytest.mark.slow)])
def rows(request: pytest.FixtureRequest, data_folder: Path) -> list[Row]:
    """What is measured of the paper's first table, or of all of them."""
    return main(quick=True) if request.param == "all" else [*measure.rows(sources()[0], quick=True)]


@pytest.mark.slow
def test_all_tables_are_measured(data_folder: Path) -> None:
    assert {row.name for row in main(quick=True)} == set(PAPER)


def test_no_bound_exceeds_what_is_reached(rows: list[Row]) -> None:
    for row in rows:
        assert row.bound_l <= row.best_l + 1e-9, row
        assert row.bound_k <= row.best_k + 1e-9, row
        assert row.best_k <= row.reached_k + 1e-9, row
        reached = row.distinct if row.entropy is None else row.entropy
        assert reached is None or row.best_l <= reached + 1e-9, row
        assert (row.entropy is None) == (row.min_block_entropy is None) == (row.reached_e is None), row
        assert row.bound_k <= row.bound_l + 1e-9, row  # an l-diverse table is l-anonymous


@pytest.mark.slow
def test_no_bound_exceeds_what_is_reached_where_records_have_copies(data_folder: Path) -> None:
    row = next(measure.rows(sources()[0]))
    assert row.name == "data1"
    assert row.best_k <= row.reached_k
    assert row.entropy is not None
    assert row.best_l <= row.entropy


def test_rows_agree_with_plain_code_and_with_assess(rows: list[Row]) -> None:
    measured = {row.name for row in rows}
    for source in (source for source in sources() if source.name in measured):
        frame = source.frame[:: -(-source.frame.height // QUICK)]
        mine = [row for row in rows if row.name == source.name]
        ls = [row.l for row in mine]
        plain = plain_bounds(frame, source.sensitive, ls, ls)
        counts = np.array(frame[source.sensitive].value_counts()["count"])
        for row in mine:
            assert row.bound_l == pytest.approx(plain[f"l={row.l}"], abs=1e-6)
            assert row.bound_k == pytest.approx(plain[f"k={row.l}"], abs=1e-6)
            assert row.max_blocks == plain_max_blocks(counts, row.l)
        if source.name not in ("data1", "data6"):
            continue  # to try all choices of the holder takes long with many attributes
        row = mine[0]
        assessment = sd.assess(source.table(quick=True), l=row.l, k=row.l, diversity="entropy")
        assert assessment.bound_l[row.l] == row.bound_l
        assert assessment.ratio[row.l] == row.ratio
        assert assessment.min_block_entropy[row.l] == row.min_block_entropy


def test_report_shows_every_row(rows: list[Row]) -> None:
    for grid in grids(rows):
        assert len(grid.lines) == len(rows)
        assert all(len(line) == len(grid.headers) for line in grid.lines)
        assert grid.markdown().count("\n") == len(rows) + 3
    assert short_falls(rows)
    assert figure(rows).startswith("<svg")


def test_claims_about_the_paper(data_folder: Path) -> None:
    assert len([*_max_blocks(), *_sums()]) == 6
