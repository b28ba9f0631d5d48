"""How far long work has come is told to whoever listens, and to nobody else."""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

import sudare as sd
from sudare import interruptible, progress, progress_shown
from sudare.generalization import _kernels
from sudare.tables import csv_files, parts, runs
from tests.conformance import SCHEMA, people


class Heard:
    """Remembers all steps: what each was called, and how far it came."""

    def __init__(self) -> None:
        self.steps: list[list[Any]] = []

    @contextmanager
    def step(self, text: str, total: int, unit: str) -> Iterator[progress.Step]:
        step = [text, 0, total, unit]
        self.steps.append(step)

        class Adding:
            def advance(self, amount: int) -> None:
                assert amount >= 0
                step[1] += amount

        yield Adding()


@pytest.fixture
def heard() -> Iterator[Heard]:
    listener = Heard()
    with progress.heard_by(listener):
        yield listener
    assert progress._listener is None


def test_reading_is_told_in_bytes(heard: Heard, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(csv_files, "SLICE", 100)
    people().write_csv(tmp_path / "people.csv")
    for engine in ("memory", "duckdb"):
        heard.steps.clear()
        sd.read(tmp_path / "people.csv", SCHEMA, engine=engine)  # type: ignore[arg-type]
        size = (tmp_path / "people.csv").stat().st_size - 1  # the last newline ends no record
        assert heard.steps[0] == ["Reading people.csv", size, size, "bytes"]


@pytest.mark.parametrize("engine", ["memory", "duckdb"])
def test_writing_and_verifying_are_told_in_rows(
    engine: Any, heard: Heard, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parts, "PART_ROWS", 16)
    monkeypatch.setattr(runs, "SLICE", 7)
    release = sd.generalize(sd.read(people(), SCHEMA, engine=engine), sd.KAnonymity(3))
    release.write(tmp_path / "out", csv=True)
    told = {text: (done, total, unit) for text, done, total, unit in heard.steps}
    for text in (
        "Writing data.csv",
        "Verifying data.csv",
        "Reading what was published",
        f"Writing {tmp_path / 'out'}",
    ):
        assert told[text] == (60, 60, "rows"), text


def test_a_query_that_takes_long_is_told_in_percent(heard: Heard, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(interruptible, "PATIENCE", 0)
    sd.read(people(), SCHEMA, engine="duckdb")
    asked = [step for step in heard.steps if step[0] == "Counting"]
    assert asked
    assert all(0 <= done <= total == 100 and unit == "%" for _, done, total, unit in asked)


def test_lines_are_few_and_say_how_much_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    now, lines = [0.0], list[str]()
    monkeypatch.setattr(progress_shown, "monotonic", lambda: now[0])
    with progress.heard_by(progress_shown.Lines(lines.append)), progress.step("Writing a\x1b", 100) as step:
        for _ in range(100):
            now[0] += 0.45
            step.advance(1)
    assert lines == [
        "Writing a·: 23 of 100 rows, about 35 s left",
        "Writing a·: 46 of 100 rows, about 24 s left",
        "Writing a·: 69 of 100 rows, about 14 s left",
        "Writing a·: 92 of 100 rows, about 4 s left",
        "Writing a·: done in 45 s",
    ]
    lines.clear()
    with progress.heard_by(progress_shown.Lines(lines.append)), progress.step("Writing", 2) as step:
        step.advance(2)
    assert lines == []


def test_bars_show_rows_and_are_gone_at_the_end() -> None:
    screen = io.StringIO()
    bars = progress_shown.bars_on(Console(file=screen, force_terminal=True, width=120))
    with progress.heard_by(progress_shown.Bars(bars)), progress.step("Writing \x1b[2J", 2000) as step:
        step.advance(500)
        bars.refresh()
    assert "Writing ·[2J" in screen.getvalue()
    assert "500 of 2,000 rows" in screen.getvalue()
    assert not bars.tasks
    assert not bars.live.is_started


def test_lines_show_the_name_of_a_file_as_it_is() -> None:
    screen = io.StringIO()
    progress_shown.lines_on(Console(file=screen))._write("Reading [/red][bold]x.csv")
    assert screen.getvalue() == "Reading [/red][bold]x.csv\n"


@pytest.mark.parametrize(("widgets", "shown"), [(True, progress_shown.Bars), (False, progress_shown.Lines)])
def test_a_notebook_has_bars_if_it_can_move_them(
    widgets: bool, shown: type[object], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(progress_shown, "Console", partial(Console, force_jupyter=True))
    monkeypatch.setattr(progress_shown, "find_spec", lambda name: widgets or None)
    monkeypatch.setattr(progress, "listen", lambda listener: heard.append(listener))
    heard: list[object] = []
    sd.show_progress()
    assert isinstance(heard[0], shown)


def test_python_shows_progress_if_asked() -> None:
    sd.show_progress()
    assert progress._listener is not None
    sd.show_progress(False)
    assert progress._listener is None


def test_kernels_that_take_long_are_told_in_percent(heard: Heard, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "PATIENCE", -1.0)
    done = [list(some) for some in progress.in_parts("Learning", 7, at_once=3)]
    assert done == [[0, 1, 2], [3, 4, 5], [6]]
    assert heard.steps == [["Learning", 100, 100, "%"]]


def test_what_is_quick_is_not_told(heard: Heard) -> None:
    assert len(list(progress.in_parts("Learning", 7, at_once=3))) == 3
    assert heard.steps == []


def test_learning_with_little_distortion_is_told(heard: Heard, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "PATIENCE", -1.0)
    monkeypatch.setattr(_kernels, "SWEPT_AT_ONCE", 1)
    table = sd.read(people(), SCHEMA)
    at_once = sd.generalize(table, sd.KAnonymity(3), effort="normal")
    told = [step for step in heard.steps if step[0] == "Learning"]
    assert told
    assert all(step[1] <= step[2] for step in told)
    monkeypatch.undo()
    assert sd.generalize(table, sd.KAnonymity(3), effort="normal").frame().equals(at_once.frame())
