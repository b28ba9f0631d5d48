"""How tests visit the studio: in this process, but for the Python that does a project's work."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

import httpx2 as httpx
import polars as pl
import pytest
from starlette.testclient import TestClient

import sudare as sd
from sudare.studio.app import studio_app
from sudare.studio.project import Project

TOKEN = "a token for tests"
HOST = "127.0.0.1:1"
PAGES = [
    "roles",
    "risk",
    "assess",
    "choose",
    "choose?way=views",
    "choose?way=randomize",
    "choose?way=pview",
    "lattice",
    "run",
    "write",
    "ask",
    "code",
]
"""Of a project; every column has one more."""
HOSTILE = [
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "'; DROP TABLE view; --",
    "{{ 7 * 7 }}{% raw %}",
    "javascript:alert(1)",
    "a\u202eb\u0000c",
    "`; print(1) #\\\"\"\"'''",
    "$(touch /tmp/injected)",
]


class Visitor:
    """A browser without scripts: it follows links and sends forms."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.app = studio_app(home, TOKEN, hosts={HOST})
        self.client = TestClient(self.app, base_url=f"http://{HOST}")
        self.client.get("/", params={"token": TOKEN})
        self.id = ""

    def get(self, path: str) -> httpx.Response:
        """Visit a page of the project, or of the studio."""
        return self.client.get(self.at(path))

    def post(self, path: str, fields: Mapping[str, object] | None = None) -> httpx.Response:
        """Send a form."""
        return self.client.post(self.at(path), data=fields or {}, headers={"origin": f"http://{HOST}"})

    def at(self, path: str) -> str:
        """Return an address."""
        return path if path.startswith("/") else f"/p/{self.id}/{path}"

    def open(self, source: str | Path) -> httpx.Response:
        """Open a table."""
        answer = self.post("/open", {"path": str(source)})
        if answer.url.path.startswith("/p/"):
            self.id = answer.url.path.split("/")[2]
            self.wait()
        return self.get("roles") if self.id else answer

    def wait(self, seconds: float = 120) -> dict[str, object]:
        """Wait until the project's work has ended."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            told = self.get("job").json()
            if told["state"] != "running":
                return dict(told)
            time.sleep(0.05)
        raise TimeoutError

    @property
    def project(self) -> Project:
        """The project as it is on disk."""
        return Project(self.home / self.id)

    def roles(self, **roles: str) -> httpx.Response:
        """Change roles, and go on."""
        names = list(self.project.schema().attributes)
        answer = self.post("roles", {f"role-{names.index(name)}": role for name, role in roles.items()})
        self.get("risk")
        self.wait()
        return answer

    def end(self) -> None:
        """Close the browser, and end the studio."""
        self.client.close()
        self.app.state.studio.end()


@pytest.fixture
def visitor(tmp_path: Path) -> Iterator[Visitor]:
    one = Visitor(tmp_path / "home")
    yield one
    one.end()


@pytest.fixture(scope="session")
def survey(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("survey") / "survey.csv"
    sd.datasets.health_survey(300).select("name", "age", "sex", "region", "diagnosis").write_csv(path)
    return path


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory, survey: Path) -> Iterator[Visitor]:
    """A visitor who has looked at the roles."""
    one = Visitor(tmp_path_factory.mktemp("opened") / "home")
    one.open(survey)
    one.roles()
    yield one
    one.end()


@pytest.fixture(scope="module")
def walked(tmp_path_factory: pytest.TempPathFactory, survey: Path) -> Iterator[Visitor]:
    """A visitor who has walked to a verified release."""
    one = Visitor(tmp_path_factory.mktemp("walked") / "home")
    one.open(survey)
    one.roles()
    one.post("choose", {"way": "generalize", "with-k": "1", "k": "4", "method": "mondrian"})
    one.wait()
    one.post("write", {"folder": str(one.project.next_release()), "ledger": "1", "receiver": "A hospital"})
    one.wait()
    yield one
    one.end()


def hostile_table(rows: int = 60) -> pl.DataFrame:
    """Return a table whose names and values try to be more than text."""
    names = [name.replace("\u0000", "") for name in HOSTILE[:4]]
    columns = {
        name: [HOSTILE[(row + place) % len(HOSTILE)].replace("\u0000", "") for row in range(rows)]
        for place, name in enumerate(names)
    }
    return pl.DataFrame(columns | {"age": [20 + row % 40 for row in range(rows)]})


def elements(page: str) -> list[str]:
    """Return the tags of a page as a browser sees them, with the names of their attributes."""
    from html.parser import HTMLParser

    found: list[str] = []

    class Reader(HTMLParser):
        def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
            found.append(tag)
            found.extend(f"{tag}@{name}" for name, _ in attributes)
            found.extend(
                f"{tag}@{name}={value}"
                for name, value in attributes
                if name in ("href", "src", "action") and not re.match(r"/|#|data:,$", value or "")
            )

    Reader().feed(page)
    return found
