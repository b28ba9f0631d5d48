"""Nobody is let in without the token, and no page of the studio may load or run anything but its own files."""

from __future__ import annotations

from pathlib import Path

import pytest
from starlette.testclient import TestClient

from sudare.studio.app import ACTIONS, PAGES, studio_app
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
