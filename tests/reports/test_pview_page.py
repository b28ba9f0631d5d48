"""The analysts' page says what the p-view says, and nothing else."""

from __future__ import annotations

import re
import shlex
from html import unescape
from pathlib import Path

import polars as pl
import pytest

import sudare as sd
from sudare.pview.pview import PView
from sudare.reports import pview_page
from sudare.reports.pview_page import write_pview_page
from tests.reports.pages import (
    BROWSER,
    embedded,
    opened,
    outside_requests,
    text_of_well_formed,
    without_policy,
)
from tests.reports.pview_cases import people, pview_of, survey


@pytest.mark.parametrize("method", ["independent", "dp-mondrian", "pairs"])
def test_it_is_well_formed_and_tells_the_promise(method: str) -> None:
    page = write_pview_page(pview_of(survey(people()), method))
    text = text_of_well_formed(page)
    assert "epsilon = 1" in text
    assert "added or removed" in text
    assert "sudare query FOLDER" in text
    assert "Made with a seed" in text
    assert outside_requests(page) == []


def test_one_way_tables_are_the_pviews() -> None:
    pview = pview_of(survey(people()))
    ages = embedded(write_pview_page(pview))["attributes"][0]
    assert ages["bars"]["labels"][2] == "20"
    answer = pview.count(age=20)
    drawn = [ages["bars"][what][2] for what in ("counts", "lows", "highs")]
    assert drawn == pytest.approx([answer.value, answer.low, answer.high], abs=1e-3)
    assert ages["bars"]["values"][2] == ["20", "20"]
    assert ages["bars"]["values"][-1] is None


def test_two_way_tables_are_the_pviews_in_groups() -> None:
    pview = pview_of(survey(people()), "dp-mondrian")
    tables = embedded(write_pview_page(pview))
    assert set(tables["pairs"]) == {f"{a} {b}" for a in range(4) for b in range(a + 1, 4)}
    rows, columns = (tables["attributes"][a]["cells"]["labels"] for a in (0, 3))
    counts = tables["pairs"]["0 3"]["counts"]
    assert (len(counts), len(counts[0])) == (len(rows), len(columns))
    answer = pview.count(age=(18, 19), ill="yes")
    assert rows[0] == "18 .. 19"
    assert counts[0][columns.index("yes")] == pytest.approx(answer.value, abs=1e-3)
    assert sum(map(sum, counts)) == pytest.approx(pview.total, abs=1)
    assert tables["pairs"]["0 3"]["off"] > 0


def test_nothing_of_the_original_is_in_it() -> None:
    """A true count that stands out is nowhere in it, and the p-view is all that the page is made from."""
    frame = people().with_columns(ill=pl.lit("no"))
    marked = pl.concat([frame, frame.head(1234).with_columns(ill=pl.lit("yes"))])
    pview = pview_of(survey(marked))
    page = write_pview_page(pview)
    assert pview.count(ill="yes").value != 1234
    assert not re.search(r"1,?234\b(?!\d)", page)
    assert not re.search(r"4,?234\b(?!\d)", page)
    assert write_pview_page(PView(pview.domain, pview.model, pview.facts)) == page


def test_many_attributes_are_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pview_page, "MAX_PAIRED", 3)
    monkeypatch.setattr(pview_page, "MAX_CELLS", 3 * 16)
    page = write_pview_page(pview_of(survey(people(500))))
    tables = embedded(page)
    assert len(tables["attributes"]) == 4
    assert set(tables["pairs"]) == {"0 1", "0 2", "1 2"}
    assert all(len(pair["counts"]) <= 5 for pair in tables["pairs"].values())  # and one for missing
    assert "first 3 of 4 attributes" in page


def test_names_and_values_cannot_break_the_page() -> None:
    values = ["</script><script>alert(1)</script>", "<!--", "it's & \u2028"]
    table = sd.read(
        pl.DataFrame({'<b>"': values * 9, "x": values * 9}),
        sd.Schema.from_roles(quasi=['<b>"', "x"], domains={'<b>"': values, "x": values}),
    )
    page = write_pview_page(pview_of(table))
    text_of_well_formed(page)
    assert page.count("</script>") == 2
    assert "alert(1)" in page
    attribute = embedded(page)["attributes"][0]
    assert attribute["name"] == '<b>"'
    assert attribute["bars"]["labels"][:3] == values
    assert attribute["bars"]["values"][2] == ["'it''s & \u2028'"]


def test_what_is_offered_for_copying_into_a_shell_is_one_question() -> None:
    name = "x'; $(reboot) \"y"
    values = ["a", "b"]
    table = sd.read(
        pl.DataFrame({name: values * 9}), sd.Schema.from_roles(quasi=[name], domains={name: values})
    )
    (command,) = re.findall(r"sudare query FOLDER .*", text_of_well_formed(write_pview_page(pview_of(table))))
    quoted = '"' + name.replace('"', '""') + '"'
    question = f"SELECT {quoted}, COUNT(*) FROM view GROUP BY {quoted}"
    assert shlex.split(command) == ["sudare", "query", "FOLDER", question]


# -- In a browser ------------------------------------------------------------------------------------


def said(dom: str, name: str) -> str:
    element = re.search(rf'id="{name}"[^>]*>(.*?)</', dom, re.DOTALL)
    assert element is not None
    return unescape(element[1])


@pytest.mark.skipif(BROWSER is None, reason="There is no Chromium or Chrome.")
class TestInABrowser:
    """What the page's JavaScript draws and answers."""

    def test_choosing_one_attribute_draws_a_bar_for_each_group(self, tmp_path: Path) -> None:
        pview = pview_of(survey(people()))
        dom = opened(without_policy(write_pview_page(pview)), tmp_path, choose="#ill")
        answer = pview.count(ill="yes")
        assert f"yes: {answer.value:,.0f} (95%: {answer.low:,.0f} to {answer.high:,.0f})" in dom
        picture = dom.split('id="picture"')[1].split("</svg>")[0]
        assert len(re.findall("<rect", picture)) == 3
        assert said(dom, "sql") == "SELECT COUNT(*) FROM view"

    def test_a_range_of_two_attributes_is_counted_as_the_pview_counts_it(self, tmp_path: Path) -> None:
        pview = pview_of(survey(people()), "dp-mondrian")
        then = """
            const [from, to] = byId("ask-0").querySelectorAll("select");
            from.value = 3; to.value = 9; byId("ask-0").querySelector("input").checked = false;
            byId("ask-1").querySelector("select").value = "0";
            byId("ask-1").dispatchEvent(new Event("change"));"""
        dom = opened(without_policy(write_pview_page(pview)), tmp_path, choose="#ill&age", then=then)
        query = said(dom, "sql")
        assert query == 'SELECT COUNT(*) FROM view WHERE "age" BETWEEN 24 AND 37 AND "ill" IN (\'yes\')'
        assert said(dom, "answer").startswith(f"About {pview.sql(query)['count'][0]:,.0f} records of")
        assert "Rows: age; columns: ill" in dom

    def test_choosing_by_hand_and_asking_for_missing_values(self, tmp_path: Path) -> None:
        pview = pview_of(survey(people()))
        then = """
            byId("first").value = 1; byId("second").value = 0;
            byId("second").dispatchEvent(new Event("change"));
            const [from, to] = byId("ask-1").querySelectorAll("select");
            from.value = 1; to.value = 1; byId("ask-1").querySelector("input").checked = false;
            const [first, last] = byId("ask-0").querySelectorAll("select");
            first.value = 1; last.value = 0;
            byId("ask-0").dispatchEvent(new Event("change"));"""
        dom = opened(without_policy(write_pview_page(pview)), tmp_path, then=then)
        query = said(dom, "sql")
        assert query.endswith('WHERE "age" IS NULL AND "income" >= 40.0 AND "income" < 80.0')
        assert said(dom, "answer").startswith(f"About {pview.sql(query)['count'][0]:,.0f} records of")

    def test_what_is_marked_wrongly_is_told(self, tmp_path: Path) -> None:
        then = """
            const [from, to] = byId("ask-0").querySelectorAll("select");
            from.value = 5; to.value = 2; byId("ask-0").querySelector("input").checked = false;
            byId("ask-0").dispatchEvent(new Event("change"));"""
        dom = opened(
            without_policy(write_pview_page(pview_of(survey(people(300))))),
            tmp_path,
            choose="#age",
            then=then,
        )
        assert "the range ends before it begins" in said(dom, "answer")
