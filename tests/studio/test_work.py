"""Work in a process of its own: followed, stopped, killed, and what went wrong said in words."""

from __future__ import annotations

import errno
import os
import signal
from collections.abc import Iterator
from pathlib import Path
from time import monotonic

import pytest

from sudare.errors import InputError
from sudare.studio.code import cell
from sudare.studio.kernel import GoneError, explained
from sudare.studio.work import Step, Worker


@pytest.fixture(scope="module")
def worker() -> Iterator[Worker]:
    one = Worker()
    yield one
    one.end()


def done(worker: Worker, *cells: dict[str, str]) -> dict[str, object]:
    job = worker.start("test", cells, "nothing", {})
    assert job is not None
    assert job.ended.wait(60)
    return job.error or {}


def test_cells_run_once_until_one_before_them_changes(worker: Worker, tmp_path: object) -> None:
    first, second = cell("first", ["runs = [1]"]), cell("second", ["runs.append(2)"])
    check = cell("check", ["assert runs == [1, 2]"], kind="once")
    assert done(worker, first, second) == {}
    assert done(worker, first, second, check) == {}
    assert (
        done(
            worker,
            cell("first", ["runs = [3]"]),
            second,
            cell("check", ["assert runs == [3, 2]"], kind="once"),
        )
        == {}
    )
    assert (
        done(
            worker,
            cell("first", ["runs = [3]"], rests="another schema"),
            second,
            cell("check", ["assert runs == [3, 2]"], kind="once"),
        )
        == {}
    )


def test_what_must_be_held_is_not_made_again(worker: Worker) -> None:
    made = cell("made", ["value = 1"])
    assert done(worker, made) == {}
    assert done(worker, made | {"kind": "held"}) == {}
    assert done(worker, cell("made", ["value = 2"], kind="held"))["kind"] == "gone"


def test_a_refusal_keeps_its_words(worker: Worker) -> None:
    refused = cell(
        "refused", ["from sudare.errors import InputError", "raise InputError('a is no b.')"], kind="once"
    )
    assert done(worker, refused) == {"kind": "refused", "type": "InputError", "text": "a is no b."}


def test_no_module_of_the_folder_it_is_started_in_is_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "polars.py").write_text("raise SystemExit('a stranger was run')", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    one = Worker()
    try:
        assert done(one, cell("any", ["import polars; assert polars.DataFrame"])) == {}
    finally:
        one.end()


def test_what_is_printed_is_no_answer(worker: Worker) -> None:
    assert done(worker, cell("printing", ["print('{\"found\": 7}')"], kind="once")) == {}


def test_steps_are_heard_and_work_is_stopped(worker: Worker) -> None:
    lines = [
        "import time",
        "from sudare.progress import step",
        "with step('Counting', total=10**6) as counting:",
        "    while True: counting.advance(1); time.sleep(0.01)",
    ]
    job = worker.start("endless", [cell("endless", lines, kind="once")], "nothing", {})
    assert job is not None
    assert worker.start("other", [], "nothing", {}) is None
    while not (job.step and job.step.done):
        assert not job.ended.wait(0.02)
    assert (job.stage, job.step.text) == ("endless", "Counting")
    worker.stop()
    assert job.ended.wait(30)
    assert job.error is not None
    assert job.error["kind"] == "stopped"
    assert done(worker, cell("after", ["pass"])) == {}


def test_a_process_that_is_killed_is_said_and_replaced(worker: Worker) -> None:
    assert (
        done(
            worker,
            cell("kill", ["import os, signal", f"os.kill(os.getpid(), {signal.SIGKILL:d})"], kind="once"),
        )["kind"]
        == "killed"
    )
    assert done(worker, cell("after", ["pass"])) == {}


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (InputError("no."), "refused"),
        (OSError(errno.ENOSPC, "No space left on device"), "disk"),
        (OSError(errno.EACCES, "Permission denied"), "system"),
        (MemoryError(), "memory"),
        (KeyboardInterrupt(), "stopped"),
        (GoneError(), "gone"),
    ],
)
def test_errors_are_told_apart(error: BaseException, kind: str) -> None:
    assert explained(error)["kind"] == kind


def test_time_left() -> None:
    half = Step("Writing", 100, "rows", begun=monotonic() - 60, done=75)
    assert half.part == 0.75
    assert half.left == pytest.approx(20, rel=0.1)
    assert Step("Writing", 0, "rows", begun=0.0).part == 0.0
    assert Step("Writing", 100, "rows", begun=monotonic(), done=50).left is None  # too early to say


def test_steps_within_steps_are_told_apart(worker: Worker) -> None:
    lines = [
        "import time",
        "from sudare.progress import step",
        "with step('Outer', total=10) as outer, step('Inner', total=10) as inner:",
        "    outer.advance(3); time.sleep(0.3); inner.advance(5); time.sleep(0.3)",
        "    while True: time.sleep(0.01)",
    ]
    job = worker.start("both", [cell("both", lines, kind="once")], "nothing", {})
    assert job is not None
    while len(job.steps) < 2 or not all(step.done for step in job.steps.values()):
        assert not job.ended.wait(0.02)
    assert [(step.text, step.done) for step in job.steps.values()] == [("Outer", 3), ("Inner", 5)]
    worker.stop()
    assert job.ended.wait(30)


def test_the_process_ends_with_the_studio(worker: Worker) -> None:
    done(worker, cell("any", ["pass"]))
    process = worker._process
    assert process is not None
    assert process.stdin is not None
    os.close(os.dup(process.stdin.fileno()))
    process.stdin.close()
    assert process.wait(30) == 0
