"""How tests call the command line."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from sudare.cli import main, output


class Result(NamedTuple):
    code: int
    out: str
    err: str


Run = Callable[..., Result]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Run:
    """Run a command in a folder of its own; lines are not wrapped."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")
    for console in (output.console, output.errors):  # which was as wide as COLUMNS said when it was made
        monkeypatch.setattr(console, "_width", None)

    def call(*arguments: object) -> Result:
        monkeypatch.setattr(sys, "argv", ["sudare", *map(str, arguments)])
        with pytest.raises(SystemExit) as stopped:
            main()
        code = stopped.value.code
        captured = capsys.readouterr()
        return Result(code if isinstance(code, int) else 0 if code is None else 1, captured.out, captured.err)

    return call
