"""A disk that is full: said in words where it belongs, nothing half-written is left, and the walk goes on once there is room."""

from __future__ import annotations

import errno
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

from sudare.errors import InputError
from sudare.studio import project
from tests.studio.conftest import Visitor

WORDS = "No space left on device"


@pytest.fixture
def full(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """Let no file be written any more, from when it is called."""

    def refuse(path: Path, *_: object, **__: object) -> None:
        raise InputError(f"Cannot write {path}: {WORDS}. Nothing was written.")

    return lambda: monkeypatch.setattr(project, "write_file", refuse)


@pytest.mark.parametrize(
    ("path", "fields"),
    [
        ("roles", {"role-1": "other"}),
        ("choose", {"way": "generalize", "with-k": "1", "k": "4", "method": "mondrian"}),
        ("preview", {"with-k": "1", "k": "6", "suppress": "0"}),
        ("column/1", {"kind": "intervals", "width": "10"}),
        ("population", {"share": "3"}),
    ],
)
def test_a_full_disk_is_said_at_the_form(
    opened: Visitor, full: Callable[[], None], path: str, fields: dict[str, object]
) -> None:
    before = opened.project.schema_stamp(), opened.project.facts
    full()
    page = opened.post(path, fields)
    assert page.status_code in (200, 422)
    assert WORDS in page.text
    assert "mistake of Sudare" not in page.text
    assert (opened.project.schema_stamp(), opened.project.facts) == before
    assert page.text.count("<h1") == (0 if path == "preview" else 1)


def test_what_was_found_and_cannot_be_kept_is_said(opened: Visitor, full: Callable[[], None]) -> None:
    full()
    opened.post("sets")
    opened.wait()
    page = opened.get("risk").text
    assert f"{WORDS}. Nothing was written.<" in page
    assert "Find these sets" in page


def test_no_project_is_left_of_what_could_not_be_opened(opened: Visitor, full: Callable[[], None]) -> None:
    folders = set(opened.home.iterdir())
    full()
    assert WORDS in opened.post("/demo").text
    sent = {"x-name": "people.csv", "origin": str(opened.client.base_url)}
    answer = opened.client.post("/upload", content=b"a,b\n1,2\n", headers=sent)
    assert answer.status_code == 507
    assert WORDS in answer.json()["error"]
    assert set(opened.home.iterdir()) == folders


def test_a_demo_that_no_disk_has_room_for_is_no_mistake_of_ours(
    opened: Visitor, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise OSError(errno.ENOSPC, WORDS)

    folders = set(opened.home.iterdir())
    monkeypatch.setattr(pl.DataFrame, "write_csv", refuse)
    page = opened.post("/demo")
    assert page.status_code == 422
    assert "The disk is full" in page.text
    assert set(opened.home.iterdir()) == folders
