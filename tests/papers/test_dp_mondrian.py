"""DP-Mondrian's paper in its quick form, and the claims about it."""

from __future__ import annotations

from itertools import product
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import polars as pl
import pytest

import sudare as sd
from papers.dp_mondrian.__main__ import QUICK, SPARSE, Reproduction, main, positives
from papers.dp_mondrian.data import BITCOIN, DATA, PHONEME, SMALL, _schema, bitcoin, present, uniform
from papers.dp_mondrian.differences import aggregation_error, differences
from papers.dp_mondrian.expected import Asking, rmse, workloads
from papers.dp_mondrian.measure import Row, estimates, methods, pview_of, sweep, tasks
from papers.dp_mondrian.paper import (
    EXPECTED,
    HDMM,
    HDMM_SETS,
    IDENTITY_EST,
    METHODS,
    OURS,
    PAPERS,
    PRINTED,
    TABLE_2,
    TABLE_3,
    in_bytes,
)
from papers.dp_mondrian.printed import Block, cut_errors, loss, overspending_blocks
from papers.dp_mondrian.report import arr, beaten, in_words
from papers.dp_mondrian.teach import sources
from papers.dp_mondrian.words import answers
from sudare.pview.domain import Domain
from tests.pview.counted import rows_of


@pytest.fixture(scope="module")
def reproduction(data_folder: Path, scikit_learn: None) -> Reproduction:
    return main(quick=True)


@pytest.mark.slow
def test_every_method_has_every_workload(reproduction: Reproduction) -> None:
    assert [row.method for row in reproduction.rows] == list(METHODS)
    assert [row.method for row in reproduction.estimates] == list(EXPECTED)
    for row in reproduction.rows:
        assert len(row.errors) == 8
        for errors in row.errors.values():
            assert len(errors) == QUICK.seeds
            assert min(errors) >= 0
        assert row.bytes > 0


@pytest.mark.slow
def test_histograms_beat_the_paper_on_few_rows(reproduction: Reproduction) -> None:
    _histograms_are_better(reproduction.rows)


def test_histograms_beat_the_paper_on_one_table(data_folder: Path) -> None:
    table = PHONEME.table(PHONEME.frame().head(300))
    compared = [PAPERS, OURS, "independent", "identity"]
    _histograms_are_better([*sweep(table, PHONEME.name, compared, 1, 20)])


def _histograms_are_better(rows: list[Row]) -> None:
    relative = arr(rows, PAPERS)
    assert relative[PAPERS] == 1
    assert relative[OURS] < 1
    assert relative["independent"] < 1 < relative["identity"]


def test_expected_errors_stand_beside_measured_ones() -> None:
    rows = estimates((4, 3, 3, 2), "x")
    assert [row.method for row in rows] == list(EXPECTED)
    assert all(len(row.errors) == 8 and min(min(e) for e in row.errors.values()) > 0 for row in rows)


def test_tables_are_the_papers(data_folder: Path) -> None:
    for data in DATA:
        said, domain = TABLE_3[data.name], Domain.of(data.schema)
        assert data.frame().height == (10_880 if data.name == "Jm1" else said.records)
        assert len(domain.sizes) == said.columns
        assert 0.05 < domain.cells / said.cells < 2  # Table 3 slips by ten in three places
        if said.positive is not None:
            assert positives(data) == pytest.approx(said.positive, abs=0.001)


def test_workloads_find_no_error_in_the_truth(data_folder: Path) -> None:
    class Exact:
        """A p-view that errs nowhere."""

        def __init__(self, codes: np.ndarray, sizes: tuple[int, ...]) -> None:
            self.table_of, self.model = np.zeros(sizes), self
            np.add.at(self.table_of, tuple(codes.T), 1)

        def table(self, axes: list[int], weights: dict) -> np.ndarray:
            return self.table_of.sum(axis=tuple(a for a in range(self.table_of.ndim) if a not in axes))

        def counts(self, low: np.ndarray, high: np.ndarray) -> list[float]:
            boxes = (
                tuple(slice(a, b + 1) for a, b in zip(*ends, strict=True))
                for ends in zip(low, high, strict=True)
            )
            return [self.table_of[box].sum() for box in boxes]

    table = SMALL.table(SMALL.frame().head(200))
    domain = Domain.of(table.schema)
    codes = rows_of(domain, table)
    exact, wrong = Exact(codes, domain.sizes), Exact(codes[:100], domain.sizes)
    for name, measure in tasks(codes, domain.sizes, 20).items():
        assert measure(exact) == 0, name  # type: ignore[arg-type]
        assert measure(wrong) > 0, name  # type: ignore[arg-type]


def test_methods_of_all_cells_are_left_out_of_large_domains() -> None:
    assert methods(10**6) == list(METHODS)
    assert methods(10**7) == [*SPARSE[:2], PRINTED, *SPARSE[2:]]


# -- Expected errors ------------------------------------------------------------------------------------


def test_expected_errors_of_identity_are_those_of_many_runs() -> None:
    names, sizes = ["a", "b", "c", "d"], (6, 3, 4, 2)
    bounds = {name: (0, size - 1) for name, size in zip(names, sizes, strict=True)}
    schema = sd.Schema.from_roles(quasi=names, bounds=bounds, missing="refuse")
    table = sd.read(pl.DataFrame({name: [0, 1, 0, 1] for name in names}), schema)
    (row,) = sweep(table, "", ["identity"], 200, 300)
    for workload, errors in row.errors.items():
        expected = rmse(sizes, workloads(4)[workload], IDENTITY_EST, 1.0)
        # Discrete noise of ε = 1 has a variance of 1.84, and not 2.
        assert np.sqrt(np.mean(np.square(errors)) * 2 / 1.84) == pytest.approx(expected, rel=0.12), workload


def test_expected_errors_of_a_workload_follow_the_budget_and_the_sets() -> None:
    sizes, asking = (16, 5, 3), Asking("prefixes", ((0, 1), (1, 2)))
    alone, product, apart = (rmse(sizes, asking, method, 1.0) for method in (IDENTITY_EST, HDMM, HDMM_SETS))
    assert product < alone
    assert rmse(sizes, asking, HDMM, 2.0) == pytest.approx(product / 2)
    one = Asking("cells", ((0,),))
    assert rmse(sizes, one, HDMM_SETS, 1.0) == pytest.approx(
        np.sqrt(2)
    )  # one histogram, and all of the budget
    assert apart > 0


# -- Algorithm 2 as printed -----------------------------------------------------------------------------


def test_blocks_as_printed_cover_the_domain_and_have_no_certificate() -> None:
    table = uniform(2_000, 2, 50)
    pview = pview_of(table, PRINTED, 1)
    assert pview.facts == {}
    assert pview.total == pytest.approx(2_000, rel=0.15)
    counts = Domain.of(table.schema).counts(table)
    blocks = overspending_blocks(counts, 20.0, np.random.default_rng(1))
    cells = np.zeros(counts.sizes, dtype=int)
    for low, high in zip(blocks.low, blocks.high, strict=True):
        cells[low[0] : high[0] + 1, low[1] : high[1] + 1] += 1
    assert (cells == 1).all()
    assert loss(1.0) == pytest.approx(1.81)


def test_cuts_as_printed_have_the_errors_of_their_definition() -> None:
    table = uniform(300, 2, 30)
    counts = Domain.of(table.schema).counts(table)
    low, high = np.array([10, 20]), np.array([59, 90])
    rows = np.flatnonzero(((counts.codes >= low) & (counts.codes <= high)).all(axis=1))
    whole = np.zeros(counts.sizes, dtype=int)
    np.add.at(whole, tuple(counts.codes.T), counts.weights)
    inside = whole[10:60, 20:91]
    halves = [
        sum(float(np.abs(half - half.mean()).sum()) for half in np.split(inside, [at], axis=axis))
        for axis in (0, 1)
        for at in range(1, inside.shape[axis])
    ]
    assert np.allclose(cut_errors(counts, Block(rows, low, high, 1)), halves)


# -- Bitcoin --------------------------------------------------------------------------------------------


def test_bitcoin_is_read_where_its_file_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SUDARE_DATA", str(tmp_path))
    assert present() == DATA
    (tmp_path / "bitcoin").mkdir()
    lines = ["address,year,day,length,weight,count,looped,neighbors,income,label"]
    lines += [f"1x{i},{2011 + i % 8},{i % 365 + 1},{i % 144},{i / 7},{i % 9},0,{i % 3},{i * 1000000.0},{'white' if i % 9 else 'princetonCerber'}" for i in range(90)]  # fmt: skip
    (tmp_path / "bitcoin/BitcoinHeistData.csv").write_text("\n".join(lines) + "\n")
    assert present() == (*DATA, BITCOIN)
    for kept in (bitcoin, _schema):
        kept.cache_clear()
    try:
        assert bitcoin().columns == lines[0].split(",")[1:]
        assert len(BITCOIN.table()) == 90
        assert positives(BITCOIN) == pytest.approx(80 / 90)
        assert len(BITCOIN.table().columns) == TABLE_3["Bitcoin"].columns
    finally:
        for kept in (bitcoin, _schema):
            kept.cache_clear()


def test_synthetic_rows_are_drawn_from_the_cells_that_they_should() -> None:
    table = uniform(2_000, 5, 50)
    assert table.frame().n_unique() == 50
    assert Domain.of(table.schema).cells == 10**10
    assert pview_of(table, PAPERS, 1).total == pytest.approx(2_000, rel=0.1)


def test_aggregation_error_is_its_definition() -> None:
    for block in product(range(3), repeat=4):
        assert aggregation_error(block) == pytest.approx(np.abs(np.array(block) - np.mean(block)).sum())


def test_claims_about_the_paper(data_folder: Path) -> None:
    assert len(differences()) == 7


def test_sizes_in_words() -> None:
    assert in_words(800_000) == "781.25 KB"
    assert in_words(4 * 8.93e18) == "30.98 EB"
    assert in_words(12) == "12 B"
    assert in_bytes("1.50 MB") == 1.5 * 2**20


@pytest.mark.slow
def test_report_and_figures(reproduction: Reproduction) -> None:
    assert len(reproduction.shown) == 11
    for grid in reproduction.shown:
        assert all(len(line) == len(grid.headers) for line in grid.lines)
    assert [one.method for one in reproduction.scores] == sources(SPARSE)
    both = [*reproduction.rows, *reproduction.estimates]
    assert all(beaten(both, method) != "" for method in TABLE_2)
    of = reproduction
    assert len(answers(of.rows, of.estimates, of.sure, of.scores, of.domains)) == 7
    assert list(reproduction.pictures) == ["figure-3.svg", "figure-4.svg", "figure-5.svg", "figure-5-filled.svg", "figure-6.svg"]  # fmt: skip
    for picture in reproduction.pictures.values():
        ElementTree.fromstring(picture)
