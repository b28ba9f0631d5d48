"""A real browser, Debian's Chromium, and a real studio: what no test in one process can show."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, Request, sync_playwright

import sudare as sd

LOADED = "Failed to load resource"  # said of every answer that is not as it should be; these are looked at one by one
ANSWERS = (200, 204, 303, 304, 422)
COMMAND = "from sudare.cli import main; main()"
PICTURES = os.environ.get("SUDARE_PICTURES")
"""Where pictures for the docs are written, if they are wanted."""


class Studio:
    """`sudare studio`, as a person starts it."""

    def __init__(self, home: Path, source: Path | None = None, port: int = 0) -> None:
        named = [] if source is None else [str(source)]
        self.log = (home.parent / "studio.log").open("a")
        self.process = subprocess.Popen(
            [
                sys.executable,
                "-c",
                COMMAND,
                "studio",
                *named,
                "--projects",
                str(home),
                "--port",
                str(port),
                "--no-browser",
            ],
            stdout=subprocess.PIPE,
            stderr=self.log,
            text=True,
            env=os.environ | {"COLUMNS": "1000"},
        )
        assert self.process.stdout is not None
        told = ""
        while "Ctrl-C" not in told:
            line = self.process.stdout.readline()
            assert line, f"The studio did not start: {told}"
            told += line
        found = re.search(r"http://\S+", told)
        assert found is not None
        self.address = found[0]
        self.root = self.address.split("/p/")[0].split("/?")[0]

    def end(self, how: signal.Signals = signal.SIGINT) -> None:
        """End it, as Ctrl-C does or worse."""
        self.process.send_signal(how)
        self.process.wait(30)
        assert self.process.stdout is not None
        self.process.stdout.close()
        self.log.close()


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    assert chromium, "These tests need Chromium. On Debian: apt-get install chromium"
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        yield started
        started.close()


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[..., Studio]]:
    """Starts studios, whose projects are in one folder, and ends them."""
    running: list[Studio] = []

    def begin(source: Path | None = None, port: int = 0) -> Studio:
        running.append(Studio(tmp_path / "home", source, port))
        return running[-1]

    yield begin
    for one in running:
        if one.process.poll() is None:
            one.end()


@pytest.fixture
def page(browser: Browser, start: Callable[..., Studio]) -> Iterator[Page]:
    """A page that fails the test if anything goes wrong in it, or goes elsewhere; it is closed before the studio ends."""
    context = browser.new_context(viewport={"width": 1400, "height": 900}, accept_downloads=True)
    faults: list[str] = []

    def asked(request: Request) -> None:
        if not request.url.startswith(("http://127.0.0.1:", "data:", "blob:")):
            faults.append(f"asked for {request.url}")

    one = context.new_page()
    one.set_default_timeout(120_000)
    context.on("request", asked)
    one.on(
        "console",
        lambda said: faults.append(said.text) if said.type == "error" and LOADED not in said.text else None,
    )
    one.on("pageerror", lambda error: faults.append(str(error)))
    one.on("dialog", lambda dialog: (faults.append(f"dialog: {dialog.message}"), dialog.dismiss()))
    one.on(
        "response",
        lambda answer: (
            faults.append(f"{answer.status} {answer.url}") if answer.status not in ANSWERS else None
        ),
    )
    yield one
    context.close()
    assert faults == []


@pytest.fixture(scope="session")
def people(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("people") / "survey.csv"
    sd.datasets.health_survey(1000).select(
        "name", "age", "sex", "region", "education", "smoker", "diagnosis"
    ).write_csv(path)
    return path


PERSON = "/home/you/sudare-studio"
SHOWN = """([from, to]) => {
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) walker.currentNode.data = walker.currentNode.data.replaceAll(from, to);
  for (const field of document.querySelectorAll("input")) field.value = field.value.replaceAll(from, to);
  scrollTo(0, 0);
}"""


def photograph(page: Page, name: str, folder: Path) -> None:
    """Take a picture for the docs, if they are wanted; the test's own folder is shown as a person's."""
    if PICTURES:
        page.evaluate(SHOWN, [f"{folder}/home", PERSON])
        page.screenshot(path=f"{PICTURES}/studio-{name}.png")
        page.evaluate(SHOWN, [PERSON, f"{folder}/home"])
