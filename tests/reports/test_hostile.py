"""Names and values that try to break out of a page stay texts in it, on every page."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import polars as pl
import pytest

import sudare as sd
from sudare.reports.assessment import write_assessment_report
from sudare.reports.pview import write_pview_report
from sudare.reports.pview_page import write_pview_page
from tests.reports.pages import BROWSER, Page, embedded, opened, outside_requests, without_policy
from tests.reports.pview_cases import pview_of

OWNED = "document.documentElement.id=1337"
NAMES = [
    f"</script><img src=x onerror={OWNED}>",
    f"'\"><svg onload={OWNED}>",
    "{{7*7}}{% include 'base.html.jinja' %}{# x #}",
]
VALUES = [
    f"</title></style><script>{OWNED}</script>",
    f"<!-- ]]> &lt;img src=x onerror={OWNED}&gt;",
    f"\" onmouseover={OWNED} x=\"",
    "{{ charts.__init__.__globals__ }}\u202e",
]  # fmt: skip
TAGS = {
    "html", "head", "meta", "title", "style", "body", "header", "main", "section", "footer", "script", "noscript",
    "h1", "h2", "h3", "h4", "p", "b", "i", "br", "sup", "span", "code", "pre", "ul", "li", "div", "table", "tr", "th", "td",
    "form", "label", "select", "svg", "rect", "line", "circle", "polyline", "path", "text", "tspan", "defs",
    "lineargradient", "stop",
}  # fmt: skip
SENSITIVE = NAMES[-1]
QUASI = NAMES[:-1]


def frame() -> pl.DataFrame:
    return pl.DataFrame(
        {
            name: [VALUES[(row // (place + 1)) % len(VALUES)] for row in range(80)]
            for place, name in enumerate(NAMES)
        }
    )


def table() -> sd.Table:
    domains: dict[str, list[Any]] = dict.fromkeys(NAMES, VALUES)
    schema = sd.Schema.from_roles(quasi=QUASI, sensitive=[SENSITIVE], domains=domains, missing="refuse")
    return sd.read(frame(), schema)


def is_owned(dom: str) -> bool:
    """Whether a script from the data has run."""
    return 'id="1337"' in dom.split("<head")[0]


@cache
def generalization() -> str:
    return sd.generalize(table(), [sd.KAnonymity(2), sd.LDiversity(2)]).report


@cache
def views() -> str:
    return sd.generalize_views(table(), {"a": [QUASI[0]], "b": [QUASI[1]]}, sd.MultiViewDiversity(2)).report


@cache
def randomization() -> str:
    return sd.randomize(table(), sd.PkAnonymity(5), how={SENSITIVE: "optimal"}, unsafe_seed=1).report


@cache
def joint_randomization() -> str:
    return sd.randomize(table(), sd.PkAnonymity(5), joint={f"{NAMES[0]} and": QUASI}, unsafe_seed=1).report


@cache
def assessment() -> str:
    return write_assessment_report(sd.assess(table(), l=[2, 9], k=[2]))


@cache
def pview_report() -> str:
    return write_pview_report(table(), pview_of(table(), "dp-mondrian"))


@cache
def pview_page() -> str:
    return write_pview_page(pview_of(table()))


@cache
def evidence() -> str:
    with TemporaryDirectory() as place:
        folder = sd.generalize(table(), [sd.KAnonymity(2), sd.LDiversity(2)]).write(
            Path(place) / "<b>release"
        )
        return sd.evidence(folder, by="</p><script>A. Holder").read_text("utf-8")


PAGES: list[Callable[[], str]] = [
    generalization, views, randomization, joint_randomization, assessment, evidence, pview_report, pview_page,
]  # fmt: skip


@pytest.mark.parametrize("write", PAGES)
def test_what_comes_from_data_is_only_ever_text(write: Callable[[], str]) -> None:
    page = write()
    parsed = Page(page)
    assert {tag for tag, _ in parsed.tags} <= TAGS
    assert not [name for _, attributes in parsed.tags for name in attributes if name.startswith("on")]
    assert outside_requests(page) == []
    scripts = [attributes for tag, attributes in parsed.tags if tag == "script"]
    assert len(scripts) == (2 if write is pview_page else 0)
    if write is pview_page:  # its script writes names and values as texts
        names = [one["name"] for one in embedded(page)["attributes"]]
        assert names == NAMES
    else:
        assert "\u202e" not in page
        assert SENSITIVE in parsed.text
        assert any(value in parsed.text for value in VALUES)


@pytest.mark.parametrize("write", PAGES)
def test_stages_are_numbered_from_1_on(write: Callable[[], str]) -> None:
    numbers = re.findall(r"<h2>(\d+)\. ", write())
    assert len(numbers) >= 4
    assert numbers == [str(i + 1) for i in range(write().count("<h2>"))]


@pytest.mark.parametrize("write", PAGES)
def test_only_the_script_of_the_analysts_page_may_run(write: Callable[[], str]) -> None:
    metas = [attributes for tag, attributes in Page(write()).tags if tag == "meta"]
    (policy,) = [meta["content"] or "" for meta in metas if "http-equiv" in meta]
    assert policy.startswith("default-src 'none'")
    assert ("script-src 'sha256-" in policy) == (write is pview_page)


@pytest.mark.skipif(BROWSER is None, reason="There is no Chromium or Chrome.")
@pytest.mark.parametrize(
    "write",
    [
        pytest.param(write, marks=[] if write in (generalization, pview_page) else [pytest.mark.slow])
        for write in PAGES
    ],
)
def test_in_a_browser_nothing_from_the_data_runs_and_nothing_runs_off_the_page(
    write: Callable[[], str], tmp_path: Path
) -> None:
    measure = "const all = document.documentElement; all.dataset.off = all.scrollWidth - all.clientWidth"
    dom = opened(without_policy(write()), tmp_path, then=measure, width=600)
    assert not is_owned(dom)
    assert '<html lang="en" data-off="0">' in dom
    assert "\u202e" not in re.sub("<script.*?</script>", "", dom, flags=re.DOTALL)


@pytest.mark.skipif(BROWSER is None, reason="There is no Chromium or Chrome.")
def test_what_tries_to_break_out_would_be_noticed(tmp_path: Path) -> None:
    assert is_owned(opened(f"<!doctype html><html><body>{NAMES[0]}</body></html>", tmp_path))


@pytest.mark.skipif(BROWSER is None, reason="There is no Chromium or Chrome.")
def test_under_its_policy_the_page_draws_and_no_other_script_runs(tmp_path: Path) -> None:
    dom = opened(pview_page(), tmp_path, then=OWNED)
    assert not is_owned(dom)
    assert "<rect" in dom.split('id="picture"')[1]


def test_a_column_may_have_the_name_of_any_further_one() -> None:
    names = ["_size", "_records", "_values", "size", "count", "value", "0"]
    rows = pl.DataFrame({name: ["a", "b"] * 8 for name in names} | {"ill": list("uuvv") * 4})
    odd = sd.read(rows, sd.Schema.from_roles(quasi=names, sensitive=["ill"]))
    for page in (
        sd.generalize(odd, sd.KAnonymity(2)).report,
        sd.generalize_views(odd, {"all": names}, sd.MultiViewDiversity(2)).report,
    ):
        assert all(name in Page(page).text for name in names)
