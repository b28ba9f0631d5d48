"""A release that is being written when its process is killed appears whole, or not at all.

Each child writes the same release, into a folder of its own with a ledger in it, and is killed at one step.
What it left is looked at here, while the next children run.

Between two steps that change something on the disk, it does not matter when a child dies. So a child that is
not killed finds out which steps do, and only the steps just before and after a change are tried, and those at
which our code itself calls for the disk.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import os
import pickle
import shutil
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest

import sudare as sd
from sudare.ledger import ledger
from sudare.release import release
from sudare.tables import atomic, parts
from tests.release.killing import at_each_step, die_at, forker, survives

OUT = "hand-over"
IN_ONE = {"data.csv", "data.parquet"}
IN_PARTS = {f"data.0000{number}.parquet" for number in (1, 2, 3, 4)}  # of 60 rows
PART_ROWS = 16
KEPT = {
    f"keep/{name}"
    for name in (
        "plan.json",
        "trees.parquet",
        "tuples.parquet",
        "levels.parquet",
        "report.html",
        "holder.json",
    )
}
TARGET, LEDGER = "release", "ledger.sqlite"
MODULES = (release, atomic, ledger, shutil)  # shutil removes
NEVER = 0


def make_release(k: int) -> sd.Release:
    # Imported here, because pandas starts threads, and this module is also the program that forks.
    from tests.conformance import SCHEMA, people

    made = sd.generalize(sd.read(people(), SCHEMA), sd.KAnonymity(k))
    assert made.report  # and the holder's record: only the writing is watched
    return made


@pytest.fixture(scope="module")
def old() -> sd.Release:
    return make_release(3)


@pytest.fixture(scope="module")
def new() -> sd.Release:
    return make_release(5)


def content(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def refuse_if_not_whole(folder: Path, expected: sd.Release) -> None:
    """The folder is that release: all files, as certified, and they have what was promised."""
    files = content(folder)
    tables = IN_PARTS if parts.PART_ROWS == PART_ROWS else IN_ONE
    assert set(files) == {f"{OUT}/{name}" for name in (*tables, "certificate.json")} | KEPT
    certificate = json.loads(files.pop(f"{OUT}/certificate.json"))
    handed_over = {name.removeprefix(f"{OUT}/"): data for name, data in files.items() if name.startswith(OUT)}
    assert certificate["output"] == {name: sha256(data) for name, data in handed_over.items()}
    assert certificate["requirements"] == expected.certificate.requirements
    for output in (folder, folder / OUT, *([folder / OUT / "data.csv"] if tables == IN_ONE else [])):
        assert sd.verify(output, expected.requirements, expected.schema).holds


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def recorded(folder: Path, head: str) -> list[str]:
    """The certificates, by their hashes, that the ledger has after the given head; it must be in order."""
    book = sd.Ledger(folder / LEDGER, create=False)
    book.verify(head)
    entries = [entry for entry in book.entries() if entry.previous == head]
    assert all(entry.body["folder"] == str(folder / TARGET) for entry in entries)
    assert book.head() in [head, *(entry.hash for entry in entries)], "more than one entry"
    return [entry.body["certificate_sha256"] for entry in entries]


def state(folder: Path, before: dict[str, bytes] | None, head: str, new: sd.Release) -> str:
    """What a killed run left, if it may be left at all."""
    names = {path.name for path in folder.iterdir() if not path.name.startswith(f".{TARGET}.partial-")}
    assert names <= {TARGET, LEDGER, f"{LEDGER}-journal"}
    entries = recorded(folder, head)
    known = ", recorded" if entries else ""
    target = folder / TARGET
    files = content(target) if target.exists() else None
    if files == before:
        return f"before{known}"
    assert files is not None, "the old release is gone"
    refuse_if_not_whole(target, new)
    assert entries == [sha256(files[f"{OUT}/certificate.json"])], "the ledger missed the release"
    return f"new{known}"


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.parametrize(
    ("options", "every"),
    [
        ([], 60),
        pytest.param(["parts"], 16, marks=pytest.mark.slow),  # one step is tried in test_interrupt
        pytest.param([], 1, marks=pytest.mark.slow),
        pytest.param(["force"], 1, marks=pytest.mark.slow),
        pytest.param(["force", "parts"], 1, marks=pytest.mark.slow),
    ],
)
def test_killed_at_every_step(
    tmp_path: Path,
    options: list[str],
    every: int,
    old: sd.Release,
    new: sd.Release,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    force = "force" in options
    if "parts" in options:
        monkeypatch.setattr(parts, "PART_ROWS", PART_ROWS)
    if force and sys.platform not in atomic._CALL:
        pytest.skip("this system has no exchange")
    start = tmp_path / "start"
    start.mkdir()
    book = sd.Ledger(start / LEDGER)
    # The ledger has an entry already, in both cases.
    old.write(start / TARGET, ledger=book)
    head, before = book.head(), content(start / TARGET) if force else None
    if not force:
        shutil.rmtree(start / TARGET)
    (tmp_path / "new.pickle").write_bytes(pickle.dumps(new))

    states = []
    with forker(__name__, str(tmp_path), str(every), *options) as folders:
        for line in folders:
            folder = Path(line.strip())
            states.append(state(folder, before, head, new))
            shutil.rmtree(folder)
    # Each state was seen, in this order, and no other: the ledger is told first, and then the new is there.
    in_order = ["before", "before, recorded", "new, recorded"]
    assert [state for state, _ in itertools.groupby(states)] == in_order
    assert len(states) > {1: 60, 60: 8, 16: 8}[every]


class Writer:
    """Writes the new release in children, each into a fresh copy of the start, and kills them."""

    def __init__(self, base: Path, every: int, force: bool) -> None:
        self.base, self.every, self.force = base, every, force
        self.pickled = (base / "new.pickle").read_bytes()

    def folders(self) -> Iterator[Path]:
        """What is left after each kill, and at last after a whole run."""
        assert survives(self.list_steps)
        for step in [*json.loads((self.base / "steps.json").read_text()), NEVER]:
            die = partial(die_at, step, *MODULES)
            assert survives(partial(self.write, str(step), die)) == (step == NEVER)
            yield self.base / str(step)

    def write(self, name: str, watch: Callable[[], None]) -> None:
        folder = self.base / name
        shutil.copytree(self.base / "start", folder)
        new = pickle.loads(self.pickled)  # Only in a child: polars must not work before a fork.
        book = sd.Ledger(folder / LEDGER)
        watch()
        new.write(folder / TARGET, force=self.force, ledger=book)

    def list_steps(self) -> None:
        """Find the steps to kill at: the last before the disk changes, the first after, ours at the disk.

        Of those that change only what is not yet there under its name, every so many are enough.
        """
        steps: set[int] = set()
        in_sight: set[int] = set()
        seen: dict[str, bytes] = {}

        def look(step: int, at_disk: bool) -> None:
            nonlocal seen
            files = everything(self.base / "rehearsal")
            if files != seen:
                steps.update((step - 1, step))
                changed = {path for path in {*files, *seen} if files.get(path) != seen.get(path)}
                if any(f".{TARGET}.partial-" not in path for path in changed):
                    in_sight.update((step - 1, step))
            if at_disk:
                steps.add(step)
            seen = files

        self.write("rehearsal", partial(at_each_step, look, *MODULES))
        kept = {*sorted(steps)[:: self.every], *in_sight} - {0}
        (self.base / "steps.json").write_text(json.dumps(sorted(kept)))


def everything(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() if path.is_file() else b"" for path in folder.rglob("*")}


if __name__ == "__main__":
    if "parts" in sys.argv[3:]:
        parts.PART_ROWS = PART_ROWS
    for folder in Writer(Path(sys.argv[1]), int(sys.argv[2]), force="force" in sys.argv[3:]).folders():
        print(folder, flush=True)
