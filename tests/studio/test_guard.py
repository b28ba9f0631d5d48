"""Nobody is let in without the token, and no page of the studio may load or run anything but its own files."""

from __future__ import annotations

import os
import socket
import sys
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from sudare.studio import guard, start
from sudare.studio.app import ACTIONS, PAGES, studio_app
from sudare.studio.peers import is_anothers
from tests.studio.conftest import HOST, TOKEN, Visitor


def stranger(home: Path, **settings: object) -> TestClient:
    hosts = {HOST} if "password" not in settings else None
    app = studio_app(home, TOKEN, hosts=hosts, **settings)  # type: ignore[arg-type]
    return TestClient(app, base_url=f"http://{HOST}", follow_redirects=False)


@pytest.mark.parametrize(
    "path",
    [path.replace("{id}", "a").replace("{place:int}", "0").replace("{which}", "report") for path in PAGES],
)
def test_no_page_without_the_token(tmp_path: Path, path: str) -> None:
    client = stranger(tmp_path / "home")
    for address in (path, f"{path}?token=wrong", f"{path}?token="):
        answer = client.get(address)
        assert answer.status_code == 403
        assert "/static/" in answer.text
        assert "set-cookie" not in answer.headers


def test_the_token_is_remembered_and_leaves_the_address(tmp_path: Path) -> None:
    client = stranger(tmp_path / "home")
    answer = client.get("/ledger", params={"token": TOKEN, "a": "b"})
    assert (answer.status_code, answer.headers["location"]) == (303, "/ledger?a=b")
    cookie = answer.headers["set-cookie"].lower()
    assert "httponly" in cookie
    assert "samesite=strict" in cookie
    assert client.get("/ledger").status_code == 200


def test_a_foreign_name_of_this_machine_is_refused(tmp_path: Path) -> None:
    client = stranger(tmp_path / "home")
    assert client.get("/", params={"token": TOKEN}, headers={"host": "evil.example"}).status_code == 421


@pytest.mark.parametrize("path", ["/open", "/demo", "/upload", "/language", "/ledger/budget", *ACTIONS])
@pytest.mark.parametrize("origin", [None, "null", "http://evil.example", f"http://{HOST}.evil.example"])
def test_other_pages_can_send_nothing(visitor: Visitor, path: str, origin: str | None) -> None:
    headers = {} if origin is None else {"origin": origin}
    answer = visitor.client.post(path.replace("{id}", "a"), headers=headers)
    assert answer.status_code == 403
    assert list(visitor.home.iterdir()) == []


@pytest.mark.parametrize(
    "path", ["/", "/ledger", "/nowhere", "/p/none/roles", "/static/studio.css", "/static/studio.js"]
)
def test_every_answer_says_what_it_may_load(visitor: Visitor, path: str) -> None:
    answer = visitor.get(path)
    policy = dict(part.strip().split(" ", 1) for part in answer.headers["content-security-policy"].split(";"))
    assert policy["default-src"] == "'none'"
    assert policy["script-src"] == policy["style-src"] == policy["connect-src"] == "'self'"
    assert "unsafe" not in answer.headers["content-security-policy"]
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert "http://" not in answer.text.replace("http://www.w3.org/", "")
    assert "https://" not in answer.text


def test_files_of_nobody_are_not_served(visitor: Visitor) -> None:
    for path in (
        "/static/../app.py",
        "/static/%2e%2e%2fapp.py",
        "/static/texts.toml",
        "/p/..%2f..%2fetc/roles",
    ):
        assert visitor.client.get(path).status_code == 404


def test_a_page_of_this_machine_may_lead_in(tmp_path: Path) -> None:
    """A browser that comes from a file would not send the cookie after a redirect; a page of the studio's own leads on."""
    client = stranger(tmp_path / "home")
    answer = client.get("/ledger", params={"token": TOKEN}, headers={"sec-fetch-site": "cross-site"})
    assert (answer.status_code, answer.headers["refresh"]) == (200, "0; url=/ledger")
    assert TOKEN not in answer.text + answer.headers["refresh"]
    assert "samesite=strict" in answer.headers["set-cookie"].lower()


@pytest.mark.skipif(sys.platform != "linux", reason="Only Linux says whose a connection is.")
def test_another_user_of_this_machine_is_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        server = listening.getsockname()
        with socket.create_connection(server) as client:
            assert not is_anothers(client.getsockname(), server)
            monkeypatch.setattr(os, "getuid", lambda: 2**31 - 7)
            assert is_anothers(client.getsockname(), server)
            assert not is_anothers(("testclient", 50000), server)


def test_another_user_is_refused_even_with_the_token(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guard, "is_anothers", lambda client, server: True)
    answer = stranger(tmp_path / "home").get("/", params={"token": TOKEN})
    assert answer.status_code == 403
    assert "set-cookie" not in answer.headers


def test_passwords_are_tried_one_at_a_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tried: list[float] = []

    async def pause(seconds: float) -> None:
        tried.append(seconds)

    monkeypatch.setattr(guard, "sleep", pause)
    client = stranger(tmp_path / "home", password="a long password")
    for wrong in ("x", "x" * 100_000):
        answer = client.post("/enter", data={"password": wrong}, headers={"origin": f"http://{HOST}"})
        assert answer.status_code == 403
    assert tried == [guard.PAUSE] * 2


def test_a_mistake_of_ours_is_said_in_words(visitor: Visitor, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(home: Path) -> None:
        raise ZeroDivisionError("no <b>reason</b>")

    monkeypatch.setattr(start, "projects", broken)
    answer = visitor.get("/")
    assert answer.status_code == 500
    assert "mistake of Sudare" in answer.text
    assert "<b>reason" not in answer.text


def test_a_password_is_asked_for(tmp_path: Path) -> None:
    client = stranger(tmp_path / "home", password="a long password")
    sent = {"origin": f"http://{HOST}"}
    assert 'type="password"' in client.get("/").text
    assert (
        client.get("/", params={"token": TOKEN}).status_code == 403
    )  # a token in an address is for this machine only
    wrong = client.post("/enter", data={"password": "another password"}, headers=sent)
    assert wrong.status_code == 403
    assert "This is not the password" in wrong.text
    assert client.post("/enter", data={"password": "a long password"}, headers=sent).status_code == 303
    assert client.get("/").status_code == 200
