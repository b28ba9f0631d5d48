"""A project: one table on its way to a release. All of it is in one private folder, so that a browser, or the studio, may stop anywhere."""

from __future__ import annotations

import hashlib
import json
import os
import re
import secrets
import threading
from collections import defaultdict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from sudare.errors import InputError
from sudare.studio.choices import Choice
from sudare.tables.atomic import write_file
from sudare.tables.schema import Schema

FILE, SCHEMA, SAMPLE, LEDGER = "project.json", "sudare.toml", "sample.parquet", "releases.db"
REPORT, ANALYSTS, ASSESSMENT = "report.html", "analysts.html", "assessment.html"
BEFORE = "before"
MAX_BEFORE = 30  # changes that can be undone
ID = re.compile(r"[\w-]{1,80}")
Origin = Literal["path", "upload", "demo"]
MAX_TRIED = 60
NOT_OF_BLOCKS = {"k_map", "population", "d_max", "d_min", "method", "levels", "effort", "predict"}
"""What the lattice of levels does not rest on; on all else that is asked it does."""
_locks: dict[str, threading.RLock] = defaultdict(threading.RLock)


class Result(BaseModel):
    """What a step found, when, and what it rests on."""

    of: str
    at: str
    data: dict[str, Any]


class Tried(BaseModel):
    """A setting that was tried on the sample: what it asked for, and what came of it."""

    asked: str
    settings: dict[str, Any]
    risk: float
    distortion: float


class Facts(BaseModel):
    """What the project file holds."""

    model_config = ConfigDict(extra="ignore")

    name: str
    source: str
    origin: Origin
    made: str
    reasons: dict[str, str] = {}
    roles_seen: str | None = None
    """The schema that a person has looked at and gone on with."""
    sampling_fraction: float | None = Field(default=None, gt=0, le=1)
    """Which share of a population the table is, where that was said."""
    population: str | None = None
    """A file of all people of the population, where there is one."""
    drawn_from: str | None = None
    """What the table's people were drawn from at random, where they were."""
    columns_together: int = Field(default=3, ge=1)
    """Of how many columns sets are looked for at most that tell people apart."""
    choice: Choice = Choice()
    results: dict[str, Result] = {}
    tried: list[Tried] = []
    releases: list[dict[str, Any]] = []
    job: dict[str, Any] | None = None
    """The work that is under way; still here after a start of the studio, if it was ended while it worked."""


class Before(BaseModel):
    """What stood before a change, and the step that it was made in."""

    step: str
    schema_text: str
    choice: Choice
    roles_seen: str | None
    sampling_fraction: float | None
    population: str | None
    source: str
    drawn_from: str | None = None


class Project:
    """A folder with a project file, the schema, and what was made."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.id = folder.name
        self.facts = self._read()

    def _read(self) -> Facts:
        try:
            return Facts.model_validate_json((self.folder / FILE).read_text("utf-8"))
        except (OSError, ValueError, ValidationError) as error:
            raise InputError(
                f"{self.folder / FILE}: this is no project file of the studio, or it is damaged ({type(error).__name__}). "
                "Open the table itself instead."
            ) from None

    @classmethod
    def create(cls, home: Path, source: str, origin: Origin, name: str) -> Project:
        """Make a new project in a folder of its own, which only its owner can look into."""
        stem = re.sub(r"[^A-Za-z0-9]+", "-", name)[:40].strip("-").lower() or "table"
        folder = private(home) / f"{stem}-{secrets.token_hex(3)}"
        folder.mkdir(mode=0o700)
        facts = Facts(name=name, source=source, origin=origin, made=now())
        try:
            write_private(folder / FILE, facts.model_dump_json(indent=1))
        except InputError:  # no disk has room for it
            folder.rmdir()
            raise
        return cls(folder)

    @contextmanager
    def changing(self) -> Iterator[Facts]:
        """Change what the project file holds, as it is now: a page, a preview and a run that ends may do so at once."""
        with _locks[str(self.folder)]:
            self.facts = self._read()
            yield self.facts
            write_private(self.folder / FILE, self.facts.model_dump_json(indent=1))

    # -- The schema --------------------------------------------------------------------------------

    @property
    def schema_path(self) -> Path:
        """The schema file, as every command reads it."""
        return self.folder / SCHEMA

    def schema(self) -> Schema:
        """Return the schema as it stands."""
        return Schema.from_toml(self.schema_path)

    def set_schema(self, schema: Schema) -> None:
        """Write another schema; what was made with the one before is then marked as changed since."""
        write_private(self.schema_path, schema.to_toml())

    def schema_stamp(self) -> str:
        """Name the schema's content; nothing, before there is one."""
        return stamp(self.schema_path.read_bytes()) if self.schema_path.exists() else ""

    # -- What was before ---------------------------------------------------------------------------

    @contextmanager
    def undoable(self, step: str) -> Iterator[None]:
        """Let what is changed meanwhile be undone later: the schema, and what was chosen."""
        before = self._standing(step)
        try:
            yield
        finally:
            seen = {"roles_seen": before.roles_seen}  # to look at roles and to go on changes nothing
            if before != self._standing(step).model_copy(update=seen):
                self._remember(before)

    def _remember(self, before: Before) -> None:
        places = self._befores()
        number = int(places[-1].stem) + 1 if places else 1
        write_private(private(self.folder / BEFORE) / f"{number:06}.json", before.model_dump_json())
        for old in places[: max(0, len(places) + 1 - MAX_BEFORE)]:
            old.unlink(missing_ok=True)

    def _standing(self, step: str) -> Before:
        """Return what a change may change, as it is now."""
        schema = self.schema_path.read_text("utf-8")
        now = self._read().model_dump(include=set(Before.model_fields) - {"step", "schema_text"})
        return Before(step=step, schema_text=schema, **now)

    def _befores(self) -> list[Path]:
        return sorted((self.folder / BEFORE).glob("*.json"))

    def before(self) -> Before | None:
        """Return what stood before the last change, if that can be undone."""
        try:
            return Before.model_validate_json(self._befores()[-1].read_bytes())
        except (IndexError, OSError, ValueError):  # there is none, or it is damaged
            return None

    def undo(self) -> str | None:
        """Undo the last change, and return the step that it was made in. What was made before that change is current again."""
        before = self.before()
        if before is None:
            return None
        write_private(self.schema_path, before.schema_text)
        with self.changing() as facts:
            facts.choice, facts.roles_seen = before.choice, before.roles_seen
            facts.sampling_fraction, facts.population = before.sampling_fraction, before.population
            facts.source, facts.drawn_from = before.source, before.drawn_from
        self._befores()[-1].unlink(missing_ok=True)
        return before.step

    # -- Steps -------------------------------------------------------------------------------------

    def basis(self, step: str) -> str:
        """Name what a step's result rests on now."""
        rests: dict[str, Any] = {"schema": self.schema_stamp(), "source": self.facts.source}
        if step == "population":
            rests["population"] = [self.facts.sampling_fraction, self.facts.population]
        if step == "sets":
            rests["columns"] = self.facts.columns_together
        if step == "lattice":  # which is the same whichever of its nodes is taken
            rests["asked"] = self.facts.choice.generalize.model_dump(mode="json", exclude=NOT_OF_BLOCKS)
        if step in ("run", "write", "together"):
            rests["choice"] = self.facts.choice.of_way()
        if step in ("write", "together") and (run := self.facts.results.get("run")):
            rests["run"] = run.at
        return stamp(json.dumps(rests, sort_keys=True).encode())

    def found(self, step: str) -> dict[str, Any] | None:
        """Return what a step found, even if something was changed since."""
        result = self.facts.results.get(step)
        return None if result is None else result.data

    def keep(self, step: str, data: Mapping[str, Any], basis: str) -> None:
        """Remember what a step found."""
        with self.changing() as facts:
            facts.results[step] = Result(of=basis, at=now(), data=dict(data))

    def is_current(self, step: str) -> bool:
        """Tell whether a step has a result that nothing was changed since."""
        result = self.facts.results.get(step)
        return result is not None and result.of == self.basis(step)

    def remember_tried(self, one: Tried) -> None:
        """Remember a setting that was tried; the same setting once, and the oldest are forgotten."""
        with self.changing() as facts:
            others = [other for other in facts.tried if other.asked != one.asked]
            facts.tried = [*others, one][-MAX_TRIED:]

    def next_release(self) -> Path:
        """Name a folder for the next release that is not taken."""
        number = 1
        while (self.folder / f"release-{number}").exists():
            number += 1
        return self.folder / f"release-{number}"

    def next_drawn(self) -> Path:
        """Name a file for people that are drawn; no other has it, so that what was made of earlier ones is not taken for theirs."""
        return self.folder / f"drawn-{secrets.token_hex(3)}.parquet"


def projects(home: Path) -> list[Project]:
    """Return all projects, the newest first; a folder whose file is damaged is left out."""
    found = []
    for file in home.glob(f"*/{FILE}"):
        try:
            found.append(Project(file.parent))
        except InputError:
            continue
    return sorted(found, key=lambda one: one.facts.made, reverse=True)


def existing(path: Path) -> Path:
    """Return a path, or refuse one that nothing is at."""
    if not path.exists():
        raise InputError(f"{path}: there is no such file or folder. Check the name.")
    return path


def private(folder: Path) -> Path:
    """Make a folder that only its owner can look into."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    return folder


def write_private(path: Path, text: str) -> None:
    """Write a file that only its owner can read, whole or not at all."""
    write_file(path, text, private=True)


def touched(path: Path) -> Path:
    """Make an empty file anew that only its owner can read, for others to fill."""
    path.unlink(missing_ok=True)
    os.close(open_private(path))
    return path


@contextmanager
def written_whole(path: Path) -> Iterator[Path]:
    """Let others fill a file that only its owner can read; who reads it meanwhile has the one from before."""
    new = touched(path.with_name(f"{path.name}.new"))
    yield new
    new.replace(path)


def open_private(path: Path) -> int:
    """Open a new file that only its owner can read."""
    return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0), 0o600)


def stamp(content: bytes) -> str:
    """Name some content.

    >>> stamp(b"")
    'e3b0c44298fc1c14'
    """
    return hashlib.sha256(content).hexdigest()[:16]


def now() -> str:
    """Return the time as text."""
    return datetime.now(UTC).isoformat(timespec="seconds")
