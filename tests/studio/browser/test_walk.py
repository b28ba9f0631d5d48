"""The whole walk in Chromium, on the survey and on Adult; with the keyboard alone; and what goes wrong, said where it belongs."""

from __future__ import annotations

import json
import signal
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest
from playwright.sync_api import Page, Route

import sudare as sd
from tests.studio.browser.conftest import Studio, photograph
from tests.studio.browser.walking import MAIN, walk

pytestmark = [pytest.mark.slow, pytest.mark.browser]
MOST_CLICKS = 15


def release_of(home: Path) -> Path:
    (folder,) = home.glob("*/release-1")
    return folder


def test_the_survey(page: Page, start: Callable[..., Studio], people: Path, tmp_path: Path) -> None:
    clicks = walk(page, start(people).address, tmp_path)
    assert clicks <= MOST_CLICKS
    assert sd.verify(release_of(tmp_path / "home")).measured["k"] >= 5


def test_adult(page: Page, start: Callable[..., Studio], tmp_path: Path) -> None:
    sd.datasets.load("adult").write_csv(tmp_path / "adult.csv")
    clicks = walk(page, start(tmp_path / "adult.csv").address)
    assert clicks <= MOST_CLICKS
    assert sd.verify(release_of(tmp_path / "home")).measured["k"] >= 5


def test_the_demo_by_keyboard_alone(page: Page, start: Callable[..., Studio]) -> None:
    page.goto(start().address)

    def press(name: str) -> None:
        for _ in range(120):
            page.keyboard.press("Tab")
            if page.evaluate("document.activeElement.textContent.trim()").startswith(name):
                page.keyboard.press("Enter")
                return
        raise AssertionError(f"{name} is not reached by Tab")

    press("Open the demo")
    page.wait_for_selector("table.columns")
    press("These roles are right")
    page.wait_for_selector(".figures")
    press("Choose what to do")
    page.focus("#k-slider")
    page.keyboard.press("ArrowRight")
    page.wait_for_selector("#preview .now:has-text('6-anonymity')")
    assert page.input_value("#k") == "6"


def test_a_node_of_the_lattice_is_taken_by_keyboard(
    page: Page, start: Callable[..., Studio], people: Path, tmp_path: Path
) -> None:
    page.goto(start(people).address)
    for ready in ("table.columns", ".figures"):
        page.wait_for_selector(ready)
        page.click(MAIN)
    page.fill("#suppress", "2")
    page.click("button[formaction$='/explore']")
    page.wait_for_selector(".lattice")
    best = page.locator(".node.best[name=node]")
    best.hover()
    assert page.locator(".tip:visible").inner_text().startswith("✓ holds")
    photograph(page, "lattice", tmp_path)
    page.mouse.move(0, 0)
    assert page.locator(".tip:visible").count() == 0
    page.locator(".lattice .node:not(.fails):not(.best)").last.focus()
    page.keyboard.press("Tab")
    page.keyboard.press("Shift+Tab")
    assert page.locator(".tip:visible").count() == 1
    page.keyboard.press("Enter")
    page.wait_for_selector(".lattice .taken")
    taken = page.locator(".lattice .taken").get_attribute("value")
    page.click(MAIN)
    page.wait_for_selector(".good-figure", timeout=600_000)
    page.click(MAIN)
    page.wait_for_selector("#folder")
    page.click(MAIN)
    page.wait_for_selector(".folders")
    holder = json.loads((release_of(tmp_path / "home") / "keep" / "holder.json").read_text("utf-8"))
    assert ",".join(map(str, holder["levels"].values())) == taken


def test_a_file_is_dropped_in(page: Page, start: Callable[..., Studio], people: Path, tmp_path: Path) -> None:
    page.goto(start().address)
    photograph(page, "start", tmp_path)
    page.set_input_files("#file", people)
    page.click("#upload button")
    page.wait_for_selector("table.columns")
    (file,) = (tmp_path / "home").glob("*/upload/*")
    assert file.read_bytes() == people.read_bytes()


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("people.csv", b"a,b\n1,2\n3\n", "line 3"),
        ("people.xlsx", b"no workbook", "people.xlsx"),
        ("people.csv", b"", "people.csv"),
        ("people.parquet", b"PAR1", "people.parquet"),
    ],
)
def test_a_bad_file(
    page: Page, start: Callable[..., Studio], tmp_path: Path, name: str, content: bytes, words: str
) -> None:
    (tmp_path / name).write_bytes(content)
    page.goto(start().address)
    page.fill("#path", str(tmp_path / name))
    page.click("form[action='/open'] button")
    assert words in page.inner_text("[role=alert]")
    page.goto(page.url)


def test_a_file_that_is_not_there(page: Page, start: Callable[..., Studio]) -> None:
    page.goto(start().address)
    page.fill("#path", "/nowhere/people.csv")
    page.click("form[action='/open'] button")
    assert "there is no such file" in page.inner_text("[role=alert]")
    assert page.input_value("#path") == "/nowhere/people.csv"


def test_what_cannot_be_promised(page: Page, start: Callable[..., Studio], people: Path) -> None:
    studio = start(people)
    page.goto(studio.address)
    page.wait_for_selector("table.columns")
    page.click(MAIN)
    page.click(MAIN)
    page.wait_for_selector("#preview svg")
    page.fill("#k", "1001")
    page.wait_for_selector("#preview [role=alert]")
    assert "1001" in page.inner_text("#preview [role=alert]").replace(",", "")
    page.click(MAIN)
    page.wait_for_selector("main [role=alert]")
    assert "1001" in page.inner_text("main [role=alert]").replace(",", "")


def declare(page: Page, public: tuple[str, ...]) -> None:
    for box in page.locator(".declare fieldset").all():
        kind = "public" if box.locator("legend").inner_text() in public else "drop"
        box.locator(f"input[name^={kind}]").check()


def test_a_p_view_and_an_overspent_budget(
    page: Page, start: Callable[..., Studio], people: Path, tmp_path: Path
) -> None:
    studio = start(people)
    page.goto(studio.address)
    page.wait_for_selector("table.columns")
    base = page.url.rsplit("/", 1)[0]
    page.goto(f"{studio.root}/ledger")
    page.fill("input[name=source]", "survey")
    page.fill("input[name=epsilon]", "3")
    page.click("form[action='/ledger/budget'] button")
    page.goto(f"{base}/choose?way=pview")
    declare(page, ("age", "sex", "region", "smoker"))
    photograph(page, "declare", tmp_path)
    page.click(MAIN)
    page.wait_for_selector(".figures")
    page.click(MAIN)
    page.wait_for_selector("#folder")
    page.click(MAIN)
    page.wait_for_selector(".folders")
    page.goto(f"{base}/ask")
    page.select_option("select[name=by-1]", "age")
    page.select_option("select[name=by-2]", "region")
    page.check("input[value=Female]")
    page.click(MAIN)
    page.wait_for_selector("section svg")
    assert "\"sex\" IN ('Female')" in page.input_value("#sql")
    photograph(page, "ask", tmp_path)
    page.select_option("select[name=by-2]", "")
    page.click(MAIN)
    page.wait_for_selector("section svg circle")
    page.fill("#sql", "SELECT nothing")
    page.click("button[value=sql]")
    assert "not" in page.inner_text("[role=alert]")
    with page.expect_download() as download:
        page.click("form[action$='/sample'] button")
    assert pl.read_csv(download.value.path()).height == 1000
    page.goto(f"{base}/choose?way=pview")
    page.fill("#epsilon", "2.5")
    page.click(MAIN)
    page.wait_for_selector("main [role=alert]")
    assert "4 over budget" in page.inner_text("main [role=alert]")
    page.goto(f"{studio.root}/ledger")
    assert "2 spent, 1 remain" in page.inner_text("main")
    photograph(page, "ledger", tmp_path)


def test_views_and_a_law(page: Page, start: Callable[..., Studio], people: Path) -> None:
    page.goto(start(people).address)
    page.wait_for_selector("table.columns")
    base = page.url.rsplit("/", 1)[0]
    page.goto(f"{base}/choose?way=views")
    page.select_option("select[name=attribute]", "diagnosis")
    page.click(MAIN)
    page.wait_for_selector(".good-figure")
    assert page.locator("h2:has-text('Some published rows')").count() == 2
    page.goto(f"{base}/choose?way=randomize")
    declare(page, ("age", "sex", "region", "education", "smoker", "diagnosis"))
    page.click(MAIN)
    page.wait_for_selector(".good-figure >> text=pk")


def test_the_tree_of_a_hierarchy(
    page: Page, start: Callable[..., Studio], people: Path, tmp_path: Path
) -> None:
    page.goto(start(people).address)
    page.wait_for_selector("table.columns")
    page.click("a[aria-label='Edit the column region']")
    page.check("input[value=tree]")
    page.click("text=New group")
    page.click("text=New group")
    page.drag_and_drop(".leaf:has-text('Capital') span", ".node >> nth=0 >> xpath=../ul")
    for value in ("Plains", "Estuary", "Highlands", "Lakeland", "Northmoor", "Southshore", "Westvale"):
        if (places := page.locator(f"select[aria-label='Move to: {value}']")).count():
            places.focus()
            places.select_option(label="group 1" if value == "Plains" else "group 2")
    page.fill(".node input >> nth=0", "inland")
    page.keyboard.press("Tab")
    photograph(page, "tree", tmp_path)
    with page.expect_navigation():  # what values become was shown before that, too
        page.click(MAIN)
    page.wait_for_selector("td:has-text('inland')")
    with page.expect_download() as download:
        page.click("text=Export as ARX CSV")
    rows = Path(download.value.path()).read_text("utf-8")
    assert "Capital;inland;*" in rows
    page.click("text=Import a hierarchy of ARX")
    page.fill("textarea[name=arx]", rows.replace("inland", "centre"))
    with page.expect_navigation():  # what values become was shown before that, too
        page.click(MAIN)
    page.wait_for_selector("td:has-text('centre')")


def test_levels_follow_a_slider(page: Page, start: Callable[..., Studio], people: Path) -> None:
    page.goto(start(people).address)
    page.wait_for_selector("table.columns")
    late: list[Route] = []
    page.route("**/tree.js", lambda route: late.append(route))
    page.click("a[aria-label='Edit the column age']")
    page.check("input[value=intervals]")
    page.fill("#width", "30")
    while not late:
        page.wait_for_timeout(20)
    late[0].continue_()  # whoever was faster than the script is heard too
    page.wait_for_selector("#levels td:text-is('[30, 60)')")
    page.focus("input[data-for=width]")
    page.keyboard.press("ArrowRight")
    page.wait_for_selector("#levels td:text-is('[31, 62)')")
    page.fill("input[name=fanout]", "1")
    page.wait_for_selector("#levels [role=alert]:has-text('from 2')")


def held(page: Page, script: str) -> Callable[[], None]:
    """Keep a script from the page until what is returned is called."""
    late: list[Route] = []
    holding = [True]
    page.route(f"**/{script}", lambda route: late.append(route) if holding[0] else route.continue_())

    def let_go() -> None:
        while not late:
            page.wait_for_timeout(20)
        holding[0] = False
        late[0].continue_()

    return let_go


def test_a_slider_that_is_moved_before_the_script_runs_is_heard(
    page: Page, start: Callable[..., Studio], people: Path
) -> None:
    page.goto(start(people).address)
    page.wait_for_selector("table.columns")
    let_go = held(page, "studio.js")
    page.goto(f"{page.url.rsplit('/', 1)[0]}/choose", wait_until="commit")
    page.focus("#k-slider")
    page.keyboard.press("ArrowRight")
    let_go()
    page.wait_for_selector("#preview .now:has-text('6-anonymity: ')")
    assert page.input_value("#k") == "6"
    assert page.input_value("#k-slider") == "6"


def test_what_is_filled_in_while_work_ends_is_not_thrown_away(
    page: Page, start: Callable[..., Studio], tmp_path: Path
) -> None:
    many = sd.datasets.health_survey(60_000).select("age", "sex", "region", "visit_date", "diagnosis")
    many.write_csv(tmp_path / "many.csv")  # it is still being read when the page comes
    page.goto(start(tmp_path / "many.csv").address)
    page.wait_for_selector("table.columns")
    page.click("a[aria-label='Edit the column age']")
    let_go = held(page, "studio.js")
    with page.expect_navigation(wait_until="commit"):
        page.click(MAIN)  # the table is read again
    page.wait_for_selector(".working")
    page.check("input[value=quantiles]")
    let_go()
    page.wait_for_selector("a:has-text('This is done')")
    assert page.is_checked("input[value=quantiles]")
    page.click("a:has-text('This is done')")
    page.wait_for_selector("#levels")
    assert page.locator(".working").count() == 0


def test_neighbours_are_grouped_in_a_tree(page: Page, start: Callable[..., Studio], people: Path) -> None:
    page.goto(start(people).address)
    page.wait_for_selector("table.columns")
    page.click("a[aria-label='Edit the column region']")
    page.check("input[value=tree]")
    while (places := page.locator("#tree button:text-is('Dissolve')")).count():
        places.first.click()
    page.fill("#tree > input", "3")
    page.keyboard.press("Tab")
    page.click("text=Group neighbours")
    page.wait_for_selector("#levels td:has-text('Capital – Highlands')")
    page.fill("#tree > input", "2")
    page.keyboard.press("Tab")
    page.click("text=Group neighbours")
    with page.expect_navigation():
        page.click(MAIN)
    page.wait_for_selector("td:has-text('Capital – Highlands – ')")


def test_sets_population_and_undo(page: Page, start: Callable[..., Studio], people: Path) -> None:
    page.goto(start(people).address)
    page.wait_for_selector("table.columns")
    page.click(MAIN)
    page.click("text=Find these sets")
    page.wait_for_selector("th:has-text('age + region')")
    page.fill("input[name=share]", "5")
    page.click("text=Look among them")
    page.wait_for_selector(".figure:has-text('of one person, among about 20,000 people')")
    page.click("button:has-text('Undo: Who stands out')")
    page.wait_for_selector("input[name=share]:not([value='5'])")
    assert page.input_value("input[name=share]") == ""


def test_a_column_of_very_many_values_has_no_tree_to_edit(page: Page, start: Callable[..., Studio]) -> None:
    page.goto(start().address)
    page.click("text=Open the demo")
    page.wait_for_selector("table.columns")
    page.click("a[aria-label='Edit the column birth_date']")
    page.wait_for_selector("#levels td")
    assert page.locator("#tree").count() == 0
    assert page.locator("#levels tr").count() < 150


def test_stopped_and_killed_and_started_again(
    page: Page, start: Callable[..., Studio], tmp_path: Path
) -> None:
    sd.datasets.health_survey(30_000).drop("patient_id", "name").write_csv(tmp_path / "many.csv")
    studio = start(tmp_path / "many.csv")
    page.goto(studio.address)
    page.wait_for_selector("table.columns")
    base = page.url.rsplit("/", 1)[0]
    page.goto(f"{base}/choose")
    page.click("summary:has-text('Method')")
    page.select_option("select[name=effort]", "thorough")
    page.click(MAIN)
    page.wait_for_selector(".working .passed:not(:empty)")
    page.click("text=Stop")
    page.wait_for_selector("[role=alert]:has-text('Stopped')")
    page.click(MAIN)
    page.wait_for_selector(".working .passed:not(:empty)")
    studio.end(signal.SIGKILL)
    page.wait_for_timeout(1000)
    again = start()
    page.goto(again.address)
    page.goto(f"{again.root}/p/{base.rsplit('/', 1)[1]}/run")
    assert "Nothing was lost but that work" in page.inner_text("[role=alert]")
    page.goto(f"{again.root}/p/{base.rsplit('/', 1)[1]}/choose")
    assert page.input_value("select[name=effort]") == "thorough"
