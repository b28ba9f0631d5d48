"""Reading pages as a browser would: their tags, texts and pictures."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from html import unescape
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

SVG = "{http://www.w3.org/2000/svg}"
VOID = {"meta", "br"}
BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)


class Page(HTMLParser):
    """Follows which tags are open, and keeps what stands between them."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(page)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] not in ("script", "style"):
            self.text += data


def text_of_well_formed(page: str) -> str:
    """Return what a page says; every tag must be closed where it should be."""
    return Page(page).text


def outside_requests(page: str) -> list[str]:
    """Return what would make a browser ask for something that is not in the page."""
    asked = [
        f"{tag} {name}={value}"
        for tag, attributes in Page(page).tags
        for name, value in attributes.items()
        if name in ("src", "href", "action", "srcset", "data", "poster")
        or (name not in ("xmlns", "content") and "url(" in (value or "") and "url(#" not in (value or ""))
    ]
    styles = re.findall(r"<style>(.*?)</style>", page, re.DOTALL)
    return asked + [word for style in styles for word in ("url(", "@import") if word in style]


def pictures(page: str) -> list[ElementTree.Element]:
    return [ElementTree.fromstring(svg) for svg in re.findall(r"<svg.*?</svg>", page, re.DOTALL)]


def stage(page: str, number: int) -> str:
    return re.split(r"<h2>\d\. ", unescape(page))[number]


def embedded(page: str) -> dict[str, Any]:
    """Return the tables that the analysts' page holds."""
    tables = re.search(r'<script type="application/json" id="tables">(.*?)</script>', page, re.DOTALL)
    assert tables is not None
    return json.loads(tables[1])


def without_policy(page: str) -> str:
    """Return a page whose browser would run any script, as if there were no policy against it."""
    bare, policies = re.subn(r'<meta http-equiv="Content-Security-Policy"[^>]*>', "", page)
    assert policies == 1
    return bare


def opened(page: str, tmp_path: Path, *, choose: str = "", then: str = "", width: int = 1000) -> str:
    """Open a page in a browser at a choice of attributes, run more of JavaScript, and return what there is then."""
    path = tmp_path / "page.html"
    path.write_text(
        page.replace("</body>", f"<script>{then}</script></body>") if then else page, encoding="utf-8"
    )
    assert BROWSER is not None
    options = ["--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={tmp_path / 'browser'}"]
    command = [BROWSER, *options, f"--window-size={width},800", "--dump-dom", f"{path.as_uri()}{choose}"]
    return subprocess.run(command, capture_output=True, text=True, check=True, timeout=60).stdout
