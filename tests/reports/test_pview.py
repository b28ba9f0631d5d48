"""The holder's report of a p-view shows the truth beside what that says, and the right numbers of both."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import numpy as np
import polars as pl
import pytest

import sudare as sd
from sudare.pview.errors import measure_errors, truth_of
from sudare.reports import charts
from sudare.reports import pview as pview_report
from sudare.reports.pview import write_pview_report
from sudare.reports.pview_groups import Groups, dependence, errors_of, strongest
from sudare.utility.intervals import REACH
from tests.pview.counted import cells_of
from tests.reports.pages import SVG, outside_requests, pictures, stage, text_of_well_formed
from tests.reports.pview_cases import people, pview_of, survey


def titles(picture: ElementTree.Element, shape: str, colour: str) -> dict[str, str]:
    """Return what the shapes of a colour say."""
    shapes = [node for node in picture.iter(f"{SVG}{shape}") if node.get("fill") == colour]
    texts = [title.text or "" for node in shapes for title in node.iter(f"{SVG}title")]
    return dict(text.split(": ", 1) for text in texts)


@pytest.mark.parametrize("method", ["independent", "dp-mondrian", "pairs"])
def test_it_is_well_formed_and_marked_for_the_holder(method: str) -> None:
    table = survey(people())
    page = write_pview_report(table, pview_of(table, method))
    text = text_of_well_formed(page)
    assert "For the holder of the data only" in text
    assert "differential privacy with epsilon = 1" in text
    assert "3,000 in the original" in text
    assert outside_requests(page) == []
    assert len(pictures(page)) >= 1 + 4 + 12


def test_the_promise_is_told_with_its_numbers_and_a_seed_is_not_hidden() -> None:
    table = survey(people(300))
    first = stage(write_pview_report(table, pview_of(table, epsilon=2.0)), 1)
    assert "= 7.389 times" in first
    assert "88.1%" in first  # e^2 / (1 + e^2)
    assert "added or removed" in first
    assert "Made with a seed" in first
    assert "delta" not in first


def test_with_a_delta_the_budget_is_told_in_rho() -> None:
    table = survey(people(300))
    page = write_pview_report(table, pview_of(table, delta=1e-9))
    assert "a probability of 1e-09" in stage(page, 1)
    assert "rho = 0.01497" in stage(page, 2)


def test_the_budget_is_drawn_as_it_was_spent() -> None:
    table = survey(people(300))
    (tree,) = pictures(stage(write_pview_report(table, pview_of(table, "dp-mondrian")), 2))
    assert titles(tree, "rect", charts.AFTER) == {"tree": "90.0%", "counts": "10.0%"}


def test_many_things_of_one_kind_share_a_bar() -> None:
    names = [f"a{i}" for i in range(20)]
    frame = pl.DataFrame({name: ["x", "y"] * 20 for name in names})
    table = sd.read(frame, sd.Schema.from_roles(quasi=names, domains={name: ["x", "y"] for name in names}))
    (picture,) = pictures(stage(write_pview_report(table, pview_of(table)), 2))
    assert titles(picture, "rect", charts.AFTER) == {"20 × table": "100.0%"}


def test_blocks_are_drawn_by_cells_and_records() -> None:
    table = survey(people())
    pview = pview_of(table, "dp-mondrian")
    boxes = pview.model.boxes
    assert boxes is not None
    third = stage(write_pview_report(table, pview), 3)
    assert f"{len(boxes.weights):,} blocks" in third
    by_cells, by_records = pictures(third)
    for picture in (by_cells, by_records):
        drawn = [int(count.replace(",", "")) for count in titles(picture, "rect", charts.AFTER).values()]
        assert sum(drawn) == len(boxes.weights)
    empty = titles(by_records, "rect", charts.AFTER)["none"]
    assert int(empty.replace(",", "")) == int((boxes.weights < 0.5).sum())
    assert "blocks" not in stage(write_pview_report(table, pview_of(table)), 3)


def test_bars_are_the_truth_and_dots_the_pview() -> None:
    frame = people()
    table = survey(frame)
    pview = pview_of(table)
    fifth = stage(write_pview_report(table, pview), 5)
    picture = pictures(fifth.split("<h3>ill</h3>")[1])[0]
    true = titles(picture, "rect", charts.BEFORE)
    assert true == {value: f"{frame.filter(ill=value).height:,}" for value in ("yes", "no")} | {
        "(missing)": "0"
    }
    dots = titles(picture, "circle", charts.AFTER)
    answer = pview.count(ill="yes")
    assert dots["yes"] == f"{answer.value:,.0f} ({answer.low:,.0f} to {answer.high:,.0f})"


def test_neighbours_are_taken_together_and_rare_values_as_others() -> None:
    frame = people()
    pview = pview_of(survey(frame))
    ages, towns = Groups.of(pview, 0, 10), Groups.of(pview, 2, 10)
    assert ages.labels[:2] == ["18 .. 22", "23 .. 27"]
    assert ages.labels[-2:] == ["63 .. 65", "(missing)"]
    assert towns.labels[-2:] == ["51 others", "(missing)"]
    table = pview.model.table([2], {})
    counts = towns.sums(table)
    assert counts == pytest.approx(towns.matrix @ table)
    named = pview.count(town=towns.labels[:-2]).value
    assert counts[-2] == pytest.approx(pview.total - named - counts[-1])
    assert Groups.of(pview, 1, 10).labels[0] == "[0.0, 100.0)"


def test_errors_of_groups_are_those_that_the_pview_tells() -> None:
    pview = pview_of(survey(people()), "dp-mondrian")
    groups = Groups.of(pview, 2, 10)
    own = [cell for cell, group in enumerate(groups.of_cell) if group == 9]
    answer = pview.where({"town": [f"t{cell + 1}" for cell in own]})
    error = errors_of(pview, [{2: groups.matrix[9]}])[0]
    assert answer.high - answer.value == pytest.approx(REACH * error)
    ages = pview.count(age=(18, 22))
    assert Groups.of(pview, 0, 10).errors(pview)[0] * REACH == pytest.approx(ages.high - ages.value)


def test_the_strongest_pair_comes_first() -> None:
    frame = people(2000).with_columns(again=pl.col("ill"))
    domains = {"ill": ["yes", "no"], "again": ["yes", "no"]}
    schema = sd.Schema.from_roles(
        quasi=["age", "ill", "again"], bounds={"age": (18, 65)}, domains=domains, missing="own value"
    )
    table = sd.read(frame.select("age", "ill", "again"), schema)
    pview = pview_of(table, "identity", epsilon=10.0)
    groups = [Groups.of(pview, place, 24) for place in range(3)]
    assert [one.axis.name for one in strongest(pview, groups, 1)[0]] == ["ill", "again"]
    page = write_pview_report(table, pview)
    assert stage(page, 6).index("ill (rows) and again (columns)") < stage(page, 6).index("age (rows)")
    share = float(np.mean(frame["ill"].to_numpy() == "yes"))
    bits = -share * np.log2(share) - (1 - share) * np.log2(1 - share)
    assert f"original: {bits:.3f} bits" in stage(page, 6)


def test_of_many_attributes_the_first_are_paired(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pview_report, "MAX_PAIRED", 3)
    table = survey(people(300))
    sixth = stage(write_pview_report(table, pview_of(table)), 6)
    assert "The 3 of 3 pairs of the first 3 attributes" in sixth
    assert "<h3>age (rows) and ill" not in sixth


def test_dependence_is_zero_for_nothing() -> None:
    assert dependence(np.zeros((2, 2))) == 0


def test_errors_are_as_counted_row_by_row() -> None:
    frame = people(500)
    table = survey(frame)
    pview = pview_of(table)
    truth = truth_of(table, pview)
    ones = measure_errors(truth, pview)[0]
    off, inside = [], []
    for place, axis in enumerate(pview.domain.axes):
        codes = np.array(cells_of(axis, table))
        for cell in range(axis.size):
            low, high = np.zeros((1, 4), np.int64), np.array([pview.domain.sizes]) - 1
            low[0, place] = high[0, place] = cell
            answer, error = pview.counts(low, high)[0], pview.errors(low, high)[0]
            true = int((codes == cell).sum())
            off.append((answer - true, true))
            inside.append(abs(answer - true) <= REACH * error)
    assert ones.queries == len(off) == sum(pview.domain.sizes)
    assert ones.rmse == pytest.approx(np.sqrt(np.mean([one**2 for one, _ in off])))
    assert ones.relative == pytest.approx(np.mean([abs(one) / max(true, 1) for one, true in off]))
    assert ones.covered == pytest.approx(np.mean(inside))
    fourth = stage(write_pview_report(table, pview), 4)
    assert f"<td>{ones.rmse:,.1f}</td><td>{ones.relative:.1%}</td><td>{ones.covered:.1%}</td>" in fourth


def test_ranges_lie_within_the_domain_and_have_as_many_attributes_as_said() -> None:
    table = survey(people(500))
    pview = pview_of(table)
    names = [error.name for error in measure_errors(truth_of(table, pview), pview, queries=50)]
    assert names == [
        "1-way marginals, cell by cell",
        "2-way marginals, cell by cell",
        "random ranges of 2 attributes",
        "random ranges of 3 attributes",
    ]


def test_one_attribute_has_no_pairs_and_numbers_its_stages() -> None:
    table = sd.read(
        pl.DataFrame({"ill": ["yes", "no"] * 50}),
        sd.Schema.from_roles(sensitive=["ill"], domains={"ill": ["yes", "no"]}),
    )
    page = write_pview_report(table, pview_of(table))
    assert re.findall(r"<h2>(\d)", page) == ["1", "2", "3", "4", "5", "6"]
    assert "ranges of 2" not in page


def test_hopeless_answers_are_called_so() -> None:
    table = survey(people())
    words = "are off by more than what they count"
    assert words in write_pview_report(table, pview_of(table, "dp-mondrian", epsilon=0.1))
    assert words not in write_pview_report(table, pview_of(table, epsilon=10.0))


def test_names_and_values_cannot_break_the_page() -> None:
    values = ["<i>", "&amp;", "</svg>"]
    table = sd.read(
        pl.DataFrame({"<b>": values * 9, "x": values * 9}),
        sd.Schema.from_roles(quasi=["<b>", "x"], domains={"<b>": values, "x": values}),
    )
    page = write_pview_report(table, pview_of(table))
    text_of_well_formed(page)
    assert len(pictures(page)) >= 4
    assert "<i>&lt;" not in page
    assert "&lt;i&gt;" in page
    assert "<b>x" not in page
