"""The paper on several views in its quick form, and the claims about it."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path
from xml.etree import ElementTree

import pytest

from benchmarks.views import SENSITIVE, VIEWS, adult, published, table_of
from papers.multi_view.__main__ import Reproduction, main
from papers.multi_view.differences import CUT, differences, distances, ranked, unlikeness
from papers.multi_view.measure import METHODS, example_attacked, learner, made, untouched
from papers.multi_view.paper import FIRST, OURS, PAPER, PAPERS, RAW, SECOND, TIGHT
from papers.multi_view.report import answers, best_fit, clearly_lower, fits, grids, nearest
from sudare.privacy.multi_view import MultiViewDiversity


@pytest.fixture(scope="module")
def reproduction(data_folder: Path) -> Reproduction:
    return main(quick=True)


@pytest.mark.slow
def test_every_method_has_its_rows(reproduction: Reproduction) -> None:
    for rows in (reproduction.rows, reproduction.other):
        assert [(row.method, row.l) for row in rows] == [(method, l) for l in (2, 4) for method in METHODS]
    for row in (*reproduction.rows, *reproduction.other):
        assert row.dm.shape == row.open.shape == (2, 2)
        assert (row.dm >= 200).all()
        assert (row.dm <= 200**2).all()
        assert (row.open >= 0).all()
        assert (row.open <= 1).all()


@pytest.mark.slow
def test_one_view_after_the_other_is_uneven_and_all_at_once_is_not(reproduction: Reproduction) -> None:
    by = {(row.method, row.l): row for row in reproduction.rows}
    for l in (2, 4):
        for uneven in (FIRST, SECOND):
            assert by[uneven, l].apart > 3 * by[PAPERS, l].apart
        assert by[OURS, l].open.mean() < by[PAPERS, l].open.mean()
    assert by[FIRST, 2].dm[:, 0].mean() == pytest.approx(PAPER[FIRST][0].middle, rel=0.3)


def test_dm_and_open_are_those_of_the_published_views(data_folder: Path) -> None:
    table = table_of(adult().head(300))
    plan = learner(table, OURS, 3)()
    frames, views = published(table, plan.plan(MultiViewDiversity(3))), made(plan, 3)
    for i, (name, attributes) in enumerate(VIEWS.items()):
        sizes = frames[name].group_by(attributes).len()["len"].to_list()
        assert views.blocks[i] == len(sizes)
        assert views.dm[i] == sum(size**2 for size in sizes)
        assert frames[name].columns == [*attributes, SENSITIVE]


def test_tight_labels_are_the_columns_of_one_table(data_folder: Path) -> None:
    table = table_of(adult().head(300))
    plan = learner(table, TIGHT, 3)()
    (frame,) = published(table, plan.plan(MultiViewDiversity(3))).values()
    for i, attributes in enumerate(VIEWS.values()):
        sizes = frame.group_by(attributes).len()["len"].to_list()
        assert made(plan, 3).dm[i] == sum(size**2 for size in sizes)


def test_untouched_views_hide_nothing(data_folder: Path) -> None:
    frame = adult().head(300)
    raw = untouched(table_of(frame))
    for i, attributes in enumerate(VIEWS.values()):
        rows = frame.select(attributes).rows()
        alike = sum(2 for one, other in combinations(rows, 2) if one == other)
        assert raw.views.dm[i] == len(rows) + alike
    assert raw.views.open == (0.0, 0.0)


def test_attacks_on_the_example() -> None:
    apart, *safe = example_attacked()
    assert (apart.given_away, apart.least) == (3, 1)
    assert [one.given_away for one in safe] == [0, 0, 0]


@pytest.mark.slow
def test_attacks(reproduction: Reproduction) -> None:
    apart, together, ours, papers = reproduction.example
    assert (apart.given_away, apart.least) == (3, 1)
    assert [one.given_away for one in (together, ours, papers)] == [0, 0, 0]
    raw, alone, made_together = reproduction.whole
    assert raw.given_away > alone.given_away > 0
    assert made_together.given_away == 0
    assert made_together.least >= 4


def test_distances_of_the_example() -> None:
    assert distances(CUT) == [1, 1, 1, 2, 2, 2, 1]
    assert unlikeness(CUT) == 16
    assert ranked(printed=True)[-1] == CUT
    assert ranked(printed=False)[0] == CUT


def test_claims_about_the_paper() -> None:
    assert len(differences()) == 4


@pytest.mark.slow
def test_report_and_figures(reproduction: Reproduction) -> None:
    shown = grids(*reproduction[:5])
    assert len(shown) == 11
    for grid in shown:
        assert all(len(line) == len(grid.headers) for line in grid.lines)
    assert RAW in {line[1] for line in shown[8].lines}
    assert nearest(reproduction.rows, FIRST, 0) == 2
    assert clearly_lower(reproduction.rows, OURS, FIRST) == [2, 4]
    assert clearly_lower(reproduction.rows, FIRST, OURS) == []
    rows, other, more, _, whole, _ = reproduction
    assert len(answers(rows, other, more, whole)) == 9
    assert best_fit(rows) in fits(rows)
    assert all(fit.factor >= 1 for fit in fits(rows))
    assert list(reproduction.pictures) == ["figure-3.svg", "figure-4.svg", "figure-5.svg", "open.svg"]
    for picture in reproduction.pictures.values():
        ElementTree.fromstring(picture)
