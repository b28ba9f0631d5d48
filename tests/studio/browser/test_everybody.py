"""The studio is for everybody: axe finds no serious fault in any page, in either language, light or dark; and no width breaks it."""

from __future__ import annotations

import html
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page

from tests.studio.browser.conftest import Studio, photograph
from tests.studio.browser.walking import walk
from tests.studio.conftest import HOSTILE, PAGES, hostile_table

pytestmark = [pytest.mark.slow, pytest.mark.browser]
OF_COLUMNS = ["column/1", "column/3"]


def faults(page: Page) -> list[str]:
    found = Axe().run(page).response["violations"]
    return [
        f"{one['id']}: {one['nodes'][0]['target']}"
        for one in found
        if one["impact"] in ("serious", "critical")
    ]


def test_no_serious_fault(page: Page, start: Callable[..., Studio], people: Path, tmp_path: Path) -> None:
    studio = start(people)
    walk(page, studio.address)
    base = page.url.rsplit("/", 1)[0]
    page.goto(f"{base}/risk")
    page.click("form[action$='/sets'] button")
    page.wait_for_selector("th:has-text('age + region')")
    page.fill("input[name=share]", "5")
    page.fill("input[name=population]", str(people))
    page.click("form[action$='/population'] button")
    page.wait_for_selector(".figure:has-text('could belong to')")
    page.goto(f"{base}/run")
    page.click("form[action$='/together'] button")
    page.wait_for_selector(".beside svg")
    found = {}
    for language, scheme in (("en", "light"), ("ja", "dark")):
        page.goto(f"{studio.root}/")
        page.click(f"button[value={language}]")
        page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
        for address in [
            f"{studio.root}/",
            f"{studio.root}/ledger",
            *(f"{base}/{name}" for name in [*PAGES, *OF_COLUMNS]),
        ]:
            page.goto(address)
            page.wait_for_load_state("networkidle")
            assert page.locator("h1").count() == 1
            if bad := faults(page):
                found[address, language] = bad
            for width in (1024, 2560):
                page.set_viewport_size({"width": width, "height": 900})
                wide = page.evaluate("document.documentElement.scrollWidth - innerWidth")
                if wide > 0:
                    found[address, language, width] = [f"{wide} pixels too wide"]
            page.set_viewport_size({"width": 1400, "height": 900})
        if scheme == "dark":
            page.goto(f"{base}/choose")
            page.wait_for_selector("#preview svg")
            photograph(page, "japanese-dark", tmp_path)
    assert found == {}


def test_every_word_is_explained_one_click_away(
    page: Page, start: Callable[..., Studio], people: Path
) -> None:
    page.goto(start(people).address)
    page.wait_for_selector("table.columns")
    first = page.locator(".word").first
    first.click()
    assert page.locator(".explained:popover-open").inner_text().startswith("A role says")
    page.keyboard.press("Escape")
    assert page.locator(".explained:popover-open").count() == 0


def test_hostile_names_and_values_stay_text(page: Page, start: Callable[..., Studio], tmp_path: Path) -> None:
    path = tmp_path / "<img src=x onerror=alert(1)>.csv"
    hostile_table().write_csv(path)
    studio = start(path)
    page.goto(studio.address)
    page.wait_for_selector("table.columns")
    selects = page.locator("main select")
    for place, role in enumerate(("quasi", "quasi", "sensitive", "other")):
        selects.nth(place).select_option(role)
    walk(page, page.url)
    base = page.url.rsplit("/", 1)[0]
    for name in [
        "roles",
        "risk",
        "choose",
        "choose?way=views",
        "choose?way=randomize",
        "run",
        "code",
        "column/0",
        "column/2",
    ]:
        page.goto(f"{base}/{name}")
        page.wait_for_load_state("networkidle")
        assert page.locator("img").count() == 0
        assert page.evaluate("document.scripts.length") <= 2
        shown = html.unescape(page.content())
        assert HOSTILE[0] in shown or name == "risk"
    page.goto(f"{base}/column/0")
    page.check("input[value=tree]")
    page.click("#tree button:has-text('New group')")
    assert page.locator("#tree img, #tree script").count() == 0


@pytest.fixture
def nothing_runs(browser: Browser) -> Iterator[Page]:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    yield page
    context.close()


def test_the_walk_needs_no_script(nothing_runs: Page, start: Callable[..., Studio], people: Path) -> None:
    page = nothing_runs
    page.goto(start(people).address)
    for ready in ("table.columns", ".figures", "#choice", ".good-figure", "#folder", ".folders"):
        page.wait_for_selector(ready, timeout=120_000)
        if ready != ".folders":
            page.click("main .main")
