"""Random clicks: whatever is pressed in whichever order, nothing breaks. SUDARE_SOAK says for how many seconds."""

from __future__ import annotations

import os
import random
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from time import monotonic

import pytest
from playwright.sync_api import Error, Page

from tests.studio.browser.conftest import Studio

pytestmark = [pytest.mark.slow, pytest.mark.browser]
SECONDS = float(os.environ.get("SUDARE_SOAK", "30"))
CLICKABLE = "a[href^='/']:not([download]):visible, button:visible, summary:visible, input[type=checkbox]:visible, input[type=radio]:visible"
FIELDS = "input[type=number]:visible, input:not([type]):visible, input[type=text]:visible, textarea:visible"
TYPED = [
    "",
    "0",
    "1",
    "2",
    "5",
    "7.5",
    "-3",
    "1e9",
    "abc",
    "<b>x</b>",
    "'; --",
    "東京",
    "2020-01-01",
    "NaN",
    "inf",
]


def told(page: Page) -> str:
    """Return what the page says; nothing, if it is just being left."""
    try:
        return str(page.locator("body").inner_text(timeout=1000))
    except Error:
        return ""


def test_random_clicks(page: Page, start: Callable[..., Studio], people: Path) -> None:
    seed = int(os.environ.get("SUDARE_SOAK_SEED", "1"))
    chance = random.Random(seed)
    studio = start(people)
    page.goto(studio.address)
    page.set_default_timeout(3000)  # of each click from now on; what takes longer is tried again
    home, did, end = page.url, 0, monotonic() + SECONDS
    lately: deque[str] = deque(maxlen=30)  # what a person would have to do to see it again
    page.on("crash", lambda _: print("The browser's page crashed. Before:", *lately, sep="\n"))
    while monotonic() < end:
        try:
            kind = chance.random()
            if kind < 0.2 and (fields := page.locator(FIELDS)).count():
                place, typed = chance.randrange(fields.count()), chance.choice(TYPED)
                lately.append(f"{page.url}: field {place} {typed!r}")
                fields.nth(place).fill(typed, timeout=1000)
            elif kind < 0.3 and (lists := page.locator("select:visible")).count():
                place = chance.randrange(lists.count())
                lately.append(f"{page.url}: list {place}")
                one = lists.nth(place)
                one.select_option(index=chance.randrange(max(one.locator("option").count(), 1)), timeout=1000)
            elif kind < 0.33:
                page.go_back(timeout=2000)
            else:
                targets = page.locator(CLICKABLE)
                place = chance.randrange(max(targets.count(), 1))
                lately.append(f"{page.url}: click {place} of {targets.count()}")
                targets.nth(place).click(timeout=1000)
            did += 1
        except Error:  # something was covered, or gone by then: a person would click elsewhere
            with suppress(Error):
                page.keyboard.press("Escape")
        if not page.url.startswith(studio.root) or not page.locator(CLICKABLE).count():
            with suppress(Error):  # another page is being loaded already
                page.goto(home)
        text = told(page)
        assert "mistake of Sudare's" not in text, f"after {did} clicks at {page.url}: {text}"
        assert "Internal Server Error" not in text, page.url
    print(f"{did} clicks, seed {seed}")
    assert studio.process.poll() is None
