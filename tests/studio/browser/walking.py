"""How a new user walks: by what the page offers, counting every click."""

from __future__ import annotations

from pathlib import Path

from playwright.sync_api import Page

from tests.studio.browser.conftest import photograph

MAIN = "main .main"


def walk(page: Page, address: str, tmp_path: Path | None = None) -> int:
    """Walk from the address in the terminal to a verified release, by the main button of every page; return the clicks."""
    clicks = 0

    def click(ready: str, name: str) -> None:
        nonlocal clicks
        page.click(MAIN)
        clicks += 1
        page.wait_for_selector(ready, timeout=600_000)
        if tmp_path is not None:
            if name == "choose":
                page.wait_for_selector(
                    "#preview svg circle >> nth=11"
                )  # each setting that is tried first, and its bound
                page.wait_for_selector(
                    "#preview svg circle[r='7']"
                )  # which the form's own has again, at the end
            photograph(page, name, tmp_path)

    page.goto(address)
    page.wait_for_selector("table.columns")
    if tmp_path is not None:
        photograph(page, "roles", tmp_path)
    click(".figures", "risk")
    click("#preview svg", "choose")
    click(".good-figure", "run")
    click("#folder", "write-before")
    click(".folders", "write")
    return clicks
