"""`sudare studio` refuses at once what it cannot do safely."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from sudare.cli.studio import _opening
from tests.cli.conftest import Run


def test_other_machines_need_a_password(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SUDARE_STUDIO_PASSWORD", raising=False)
    for options in ([], ["--password", "short"]):
        refused = run("studio", "--host", "127.0.0.1", *options)
        assert refused.code == 2
        assert "at least 12 signs" in refused.err


def test_a_password_alone_is_refused(run: Run) -> None:
    refused = run("studio", "--password", "a very long password")
    assert refused.code == 2
    assert "with --host only" in refused.err


def test_a_port_that_is_taken_is_said_before_anything_is_made(run: Run, tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        refused = run("studio", "--projects", "projects", "--port", taken.getsockname()[1], "--no-browser")
    assert refused.code == 2
    assert "cannot listen" in refused.err
    assert not (tmp_path / "projects").exists()


def test_a_file_that_is_not_there(run: Run) -> None:
    refused = run("studio", "nowhere.csv", "--projects", "projects", "--no-browser")
    assert refused.code == 2
    assert "there is no such file" in refused.err


def test_the_secret_is_not_on_the_command_line_of_a_browser(tmp_path: Path) -> None:
    address = "http://127.0.0.1:1/?token=secret"
    with _opening(address, tmp_path) as page:
        (file,) = tmp_path.iterdir()
        assert page == file.as_uri()
        assert "token=" not in page
        assert address in file.read_text("utf-8")
        assert file.stat().st_mode & 0o777 == 0o600
    assert list(tmp_path.iterdir()) == []
