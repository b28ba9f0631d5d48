"""The verb `run`: a pipeline from its source to its release, on a schedule: what was done is not done again."""

from __future__ import annotations

import hmac
import os
import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any, Literal

from sudare.engines.read import read
from sudare.errors import BusyError, InputError
from sudare.ledger.ledger import Ledger
from sudare.plans.plan import Plan
from sudare.privacy.differential_privacy import DifferentialPrivacy
from sudare.privacy.requirement import refused
from sudare.pview.design import PViewDesign
from sudare.pview.pview import PView
from sudare.release.release import Release
from sudare.tables.folders import HAND_OVER
from sudare.tables.given import path_given
from sudare.tables.notebook import Listing, Shown
from sudare.tables.schema import Schema
from sudare.tables.table import Table
from sudare.verbs.apply import apply
from sudare.verbs.generalize import generalize
from sudare.verbs.materialize import materialize, materialize_design
from sudare.verbs.pipeline import Apply, Generalize, Materialize, Pipeline, Publish
from sudare.verbs.publish import publish
from sudare.verbs.randomize import randomize
from sudare.verification.findings import Verification
from sudare.verification.verify import verify

KEY, LOCK = ".run-key", ".run-lock"
NAME_SIGNS = 16
Tell = Callable[[str, dict[str, Any]], None]


@dataclass(frozen=True, repr=False)
class Run(Shown):
    """What a run came to."""

    status: Literal["released", "unchanged"]
    folder: Path
    verification: Verification

    def _line(self) -> str:
        return f"{self.status}: {self.folder}"

    def _listings(self) -> Iterator[Listing]:
        yield Listing.of_facts({"status": self.status, "folder": self.folder})
        yield from self.verification._listings()


def run(pipeline: str | Path, *, tell: Tell | None = None) -> Run:
    """Read, decide, publish, verify and record, as a pipeline's file says; nothing, if that was done for this content before.

    Each release gets a folder of its own, whose name only this holder can compute: from the content of the table, the pipeline, the schema and the
    plan, under a secret key that lies beside the releases. If it is there, it is verified again, and neither a release nor a charge to the
    ledger is made twice. A run that was killed leaves no release; of what noise it had measured, the ledger may have been told, and the next run pays again.

    `tell` is given each event with its facts, as it happens.

    >>> import tempfile, sudare as sd
    >>> folder = Path(tempfile.mkdtemp())
    >>> sd.datasets.health_survey(300).select("age", "sex").write_csv(folder / "people.csv")
    >>> _ = (folder / "sudare.toml").write_text(sd.Schema.from_roles(quasi=["age", "sex"]).to_toml())
    >>> _ = (folder / "pipeline.toml").write_text('''
    ... read = { source = "people.csv", schema = "sudare.toml" }
    ... make = { verb = "generalize", k = 5, method = "mondrian" }
    ... write = { folder = "releases" }
    ... ''')
    >>> [run(folder / "pipeline.toml").status for _ in range(2)]
    ['released', 'unchanged']
    """
    path_given(pipeline, "pipeline", "run")
    if tell is not None and not callable(tell):
        raise refused(tell, "tell", "run", "a function that is told each event, or None")
    path = Path(pipeline)
    asked = Pipeline.open(path)
    told = tell or (lambda event, facts: None)
    releases = path.parent / asked.write.folder
    with _alone_in(releases):
        schema = Schema.from_toml(path.parent / asked.read.schema_file)
        table = read(_source(asked, path.parent), schema, engine=asked.read.engine, memory=asked.read.memory)
        told("read", {"source": table.name, "rows": len(table), "columns": len(table.columns)})
        folder = releases / _name_of(asked, schema, table, path.parent, _key(releases))
        if folder.exists():
            found = verify(folder)
            found.refuse_if_broken()
            told("unchanged", {"folder": str(folder)})
            return Run("unchanged", folder, found)
        _release(asked, table, path.parent, folder, told)
        found = verify(folder)
        found.refuse_if_broken()
        told("verified", {"measured": dict(found.measured), "holds": found.holds})
        return Run("released", folder, found)


def _source(asked: Pipeline, beside: Path) -> str:
    """Return the source; a path is relative to the pipeline's file, and a URL is none."""
    source = asked.read.source
    return source if "://" in source else str(beside / source)


def _release(asked: Pipeline, table: Table, beside: Path, folder: Path, told: Tell) -> None:
    """Make what is asked for, and write it into a new folder; the ledger is told before it appears."""
    write = asked.write
    ledger = None if write.ledger is None else Ledger(beside / write.ledger)
    made = _made(asked, table, beside, ledger)
    if isinstance(made, PView):
        told("made", {"promised": made.certificate.requirements})
        made.write(folder, ledger=ledger, receiver=write.receiver)
    else:
        told(
            "made",
            {
                "promised": [str(one) for one in made.requirements],
                "measured": dict(made.verification.measured),
            },
        )
        made.write(folder, ledger=ledger, receiver=write.receiver, formats=tuple(write.formats), to=write.to)
    told("written", {"folder": str(folder), "hand_over": str(folder / HAND_OVER)})
    if ledger is not None:
        told("recorded", {"ledger": str(beside / str(write.ledger)), "entries": len(ledger.entries())})


def _made(asked: Pipeline, table: Table, beside: Path, ledger: Ledger | None) -> Release | PView:
    make = asked.make
    if isinstance(make, Generalize):
        return generalize(table, make.requirements(beside), make.method, suppress=make.suppress)
    if isinstance(make, Publish):
        return publish(table, attribute=make.attribute)
    if isinstance(make, Materialize):
        promised = DifferentialPrivacy(make.epsilon, make.delta)
        return materialize(table, promised, make.method, ledger=ledger, receiver=asked.write.receiver)
    if isinstance(make, Apply):
        plan = Plan.open(beside / make.plan)
        if isinstance(plan, PViewDesign):
            return materialize_design(plan, table, ledger=ledger, receiver=asked.write.receiver)
        return apply(plan, table, make.unseen)
    return randomize(table, make.requirement())


def _name_of(asked: Pipeline, schema: Schema, table: Table, beside: Path, key: bytes) -> str:
    """Return the name of the folder of this run. Without the key, nobody can try out which table would have it."""
    return hmac.digest(key, asked.digest(schema, table.whole_digest(), beside), sha256).hex()[:NAME_SIGNS]


def _key(releases: Path) -> bytes:
    """Return the secret key of a folder of releases; it is drawn once."""
    file = releases / KEY
    if not file.exists():
        descriptor = os.open(file.with_suffix(".new"), os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "wb") as made:
            made.write(secrets.token_bytes(32))
            made.flush()
            os.fsync(made.fileno())
        file.with_suffix(".new").replace(file)
    key = file.read_bytes()
    if len(key) != 32:
        raise InputError(
            f"{file} is damaged: it is no key. Restore it; without it, every run is a new release."
        )
    return key


@contextmanager
def _alone_in(releases: Path) -> Iterator[None]:
    """Let no other run work on the same releases at the same time."""
    import fcntl

    releases.mkdir(parents=True, exist_ok=True)
    with (releases / LOCK).open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise BusyError(f"{releases}: another run is under way there. Let it end first.") from None
        yield
