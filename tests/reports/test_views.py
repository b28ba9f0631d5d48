"""The report of several views says what they promise together, what an outsider reaches, and what each view paid."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import polars as pl
import pytest

import sudare as sd
from sudare.reports import charts
from tests.reports.pages import SVG, outside_requests, pictures, stage

Views = dict[str, list[str]]


def seven() -> sd.Table:
    """Return the example of Takenouchi, Furukawa and Miyakawa."""
    frame = pl.DataFrame(
        {
            "age": list(range(20, 27)),
            "height": [180, 180, 175, 160, 185, 170, 165],
            "illness": list("ABACBCA"),
        }
    )
    return sd.read(frame, sd.Schema.from_roles(quasi=["age", "height"], sensitive=["illness"]))


def survey(people: int = 800) -> sd.Table:
    frame = sd.datasets.health_survey(people).select("age", "sex", "region", "education", "diagnosis")
    quasi = ["age", "sex", "region", "education"]
    return sd.read(frame, sd.Schema.from_roles(quasi=quasi, sensitive=["diagnosis"]))


TWO: Views = {"T1": ["age"], "T2": ["height"]}


def titles(picture: ElementTree.Element, colour: str) -> list[str]:
    """Return what the bars of a colour say."""
    bars = [bar for bar in picture.iter(f"{SVG}rect") if bar.get("fill") == colour]
    return [title.text or "" for bar in bars for title in bar.iter(f"{SVG}title")]


def test_it_says_what_holds_and_for_whom_the_page_is() -> None:
    page = sd.generalize_views(seven(), TWO, sd.MultiViewDiversity(2)).report
    assert "For the holder of the data only" in page
    assert "folder <code>hand-over</code>" in page
    first = stage(page, 1)
    assert "multi-view 2-diversity" in first
    assert "l_multiview = 2" in first
    assert "at least 2 values of illness" in first
    assert "What the promise does not cover" in first
    assert "solves for all people at once" in first
    assert outside_requests(page) == []


def test_the_attack_is_drawn_before_and_after() -> None:
    page = sd.generalize_views(seven(), TWO, sd.MultiViewDiversity(2)).report
    second = stage(page, 2)
    assert "<b>7 of 7 people</b> would have one value left" in second
    assert "In what is published <b>nobody has</b>" in second
    numbers, beliefs = pictures(second)
    assert titles(numbers, charts.BEFORE) == ["1: 7", "2: 0"]
    assert titles(numbers, charts.AFTER) == ["1: 0", "2: 7"]
    assert titles(beliefs, charts.BEFORE) == ["original: 100.0%"]
    assert "most frequent value of the whole table" in second


def test_it_draws_what_the_certificate_counts() -> None:
    views = {"ages": ["age", "sex"], "places": ["region", "sex"]}
    release = sd.generalize_views(survey(), views, sd.MultiViewDiversity(4))
    attacks = release.holder["attacks"]
    after = attacks["output"]["intersection"]["by_attribute"]["diagnosis"]
    picture = pictures(stage(release.report, 2))[0]
    for side, colour in ((attacks["input"]["intersection"], charts.BEFORE), (after, charts.AFTER)):
        drawn = [title.replace(",", "").split(": ") for title in titles(picture, colour)]
        people = {number: int(count) for number, count in drawn if count != "0"}
        assert people == side["candidates"]
        assert sum(people.values()) == 800
    assert f"published: {after['posterior']:.1%}" in titles(
        pictures(stage(release.report, 2))[1], charts.AFTER
    )


def test_the_person_nearest_to_being_given_away_is_shown_with_what_is_left() -> None:
    release = sd.generalize_views(seven(), TWO, sd.MultiViewDiversity(2))
    shown = stage(release.report, 2).split("nearest to being given away")[1]
    left = re.findall(r"<b>left: (.*?)</b>", shown)[0]
    probabilities = [float(share) for share in re.findall(r"(\d+\.\d)%", left)]
    assert len(probabilities) == 2
    assert sum(probabilities) == pytest.approx(100, abs=0.2)
    worst = release.holder["attacks"]["output"]["intersection"]["by_attribute"]["illness"]["posterior"]
    assert probabilities[0] == pytest.approx(100 * worst, abs=0.1)


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        ("entropy", "are as spread as <b>2.* equally likely ones"),
        ("posterior", r"no value of diagnosis is likelier than [34]\d\.\d%"),
    ],
)
def test_every_kind_is_told_in_its_own_words(kind: Any, words: str) -> None:
    views = {"ages": ["age"], "places": ["region"]}
    release = sd.generalize_views(survey(), views, sd.MultiViewDiversity(2, kind=kind))
    assert re.search(words, stage(release.report, 1))
    assert "--kind posterior" not in release.report
    assert "That a guess is no better than blind" in release.report


def test_distinct_values_are_not_sold_as_equally_likely() -> None:
    release = sd.generalize_views(seven(), TWO, sd.MultiViewDiversity(2))
    posterior = release.holder["attacks"]["output"]["intersection"]["by_attribute"]["illness"]["posterior"]
    assert f"far likelier, up to {posterior:.1%} here" in stage(release.report, 5)


def test_costs_stand_side_by_side_and_are_drawn() -> None:
    views = {"ages": ["age", "education"], "places": ["region", "sex"], "all": ["age", "region"]}
    release = sd.generalize_views(survey(), views, sd.MultiViewDiversity(4))
    third = stage(release.report, 3)
    for cost in release.holder["utility"].values():
        for text in (f"{cost['discernibility']:,}", f"{cost['distortion']:.4f}", f"{cost['open']:.2%}"):
            assert f"<td>{text}</td>" in third
    opens, alike = pictures(third)
    costs = release.holder["utility"]
    assert titles(opens, charts.AFTER) == [f"{name}: {one['open']:.2%}" for name, one in costs.items()]
    pairs = [f"{name}: {one['discernibility'] / 800**2:.2%}" for name, one in costs.items()]
    assert titles(alike, charts.AFTER) == pairs


def test_every_view_has_its_attributes_and_true_examples() -> None:
    views = {"ages": ["age", "education"], "places": ["region", "sex"]}
    release = sd.generalize_views(survey(), views, sd.MultiViewDiversity(3))
    fourth = stage(release.report, 4)
    for name, attributes in views.items():
        part = fourth.split(f"<h3>{name}</h3>")[1].split("<h3>")[0]
        left_open = release.holder["utility"][name]["open_by_attribute"]
        (bars,) = pictures(part)
        assert titles(bars, charts.AFTER) == [f"{one}: {share:.2%}" for one, share in left_open.items()]
        frame = release.frames()[name]
        sizes = frame.group_by(attributes).len()["len"]
        rows = [re.findall(r"<td>(.*?)</td>", row) for row in re.findall(r"<tr>(<td>.*?)</tr>", part)]
        assert [int(rows[i][-2]) for i in (0, -1)] == [sizes.min(), sizes.max()]
        for *labels, records, held in rows:
            block = frame.filter(
                pl.all_horizontal(pl.col(a) == label for a, label in zip(attributes, labels, strict=True))
            )
            assert block.height == int(records)
            value, count = held.split(", ")[0].rsplit(" ", 1)
            assert block["diagnosis"].to_list().count(value) == int(count)


def test_one_view_has_no_balance_and_many_values_are_taken_together() -> None:
    frame = pl.DataFrame({"age": [i % 4 for i in range(400)], "town": [f"t{i // 4}" for i in range(400)]})
    table = sd.read(frame, sd.Schema.from_roles(quasi=["age"], sensitive=["town"]))
    page = sd.generalize_views(table, {"only": ["age"]}, sd.MultiViewDiversity(5)).report
    assert "The balance between" not in page
    numbers = pictures(stage(page, 2))[0]
    labels = [title.split(":")[0] for title in titles(numbers, charts.AFTER)]
    assert labels == ["1", "2", "3", "4", "5-9", "10-19", "20-49", "50-99", "100"]
    assert titles(numbers, charts.AFTER)[-1] == "100: 400"


def test_names_and_values_cannot_break_the_page() -> None:
    frame = pl.DataFrame({"<b>": ["<i>", "&", "<i>", "&"], "ill": ["<s>", "<u>", "<u>", "<s>"]})
    table = sd.read(frame, sd.Schema.from_roles(quasi=["<b>"], sensitive=["ill"]))
    page = sd.generalize_views(table, {"T1": ["<b>"]}, sd.MultiViewDiversity(2)).report
    for tag in ("<s>", "<u>", "<i>"):
        assert tag not in page
    assert "&lt;s&gt;" in page


def test_a_missing_value_is_named() -> None:
    frame = pl.DataFrame({"sex": ["f", None] * 4, "ill": ["flu", "flu", None, None] * 2})
    table = sd.read(frame, sd.Schema.from_roles(quasi=["sex"], sensitive=["ill"]))
    page = sd.generalize_views(table, {"T1": ["sex"]}, sd.MultiViewDiversity(2)).report
    assert "<td>(missing)</td>" in stage(page, 4)
    assert "(missing) 2" in stage(page, 4)


def test_what_earlier_releases_tell_is_said_to_be_counted(tmp_path: Path) -> None:
    ledger = sd.Ledger(tmp_path / "releases.db")
    first = sd.generalize_views(seven(), {"T1": ["age"]}, sd.MultiViewDiversity(2), ledger=ledger)
    assert "views of this release alone" not in first.report
    first.write(tmp_path / "first", ledger=ledger)
    second = sd.generalize_views(seven(), {"T2": ["height"]}, sd.MultiViewDiversity(2), ledger=ledger)
    assert "views of this release alone" in second.report
    assert "Made against release 1" in stage(second.report, 1)
