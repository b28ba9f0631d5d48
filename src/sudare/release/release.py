"""A release: what is handed over with its certificate, and what the holder keeps."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import polars as pl

from sudare.errors import InputError
from sudare.ledger import history
from sudare.ledger.blocks import RecordedBlocks
from sudare.ledger.ledger import Ledger, ledger_given
from sudare.plans.plan import Plan
from sudare.privacy.certificate import Certificate, InputHash, new_salt
from sudare.privacy.promises import Promise
from sudare.progress import Step, step
from sudare.release.certify import Declared, HandedOver, certify, verified, with_labels
from sudare.release.warehouses import Staging, Target
from sudare.release.writing import sha256_of, write_json, write_text
from sudare.tables import folders
from sudare.tables.atomic import write_folder
from sudare.tables.copies import LABELLED, Format, formats_given, labels_of, write_copy
from sudare.tables.given import path_given
from sudare.tables.notebook import Listing, Shown
from sudare.tables.outputs import write_csv, write_parquet
from sudare.tables.parts import in_parts, part_names
from sudare.tables.runs import Runs
from sudare.tables.schema import Schema
from sudare.tables.table import Table
from sudare.tables.text import listed
from sudare.tables.typed import own_words, typed
from sudare.verification.findings import Verification
from sudare.verification.verify import verify


@dataclass(frozen=True, eq=False)
class Kept:
    """What stays with the holder: all of it tells about the original."""

    plan: Plan
    table: Table
    """What it was made from; a ledger compares it with earlier releases."""
    record: Callable[[Certificate], dict[str, Any]]
    """Makes the holder's record."""
    report: Callable[[Release], str]
    """Writes the report."""
    name_blocks: Callable[[], Mapping[str, RecordedBlocks]] = dict
    """Names the block that records are published in, by view, where there are blocks; a ledger asks for it."""
    input_salt: str = field(default_factory=new_salt)
    """Opens the certificate's input hash. It is drawn at once, so that whoever asks gets the same commitment."""

    @property
    def blocks(self) -> Mapping[str, RecordedBlocks]:
        """The block that records are published in, by view, where there are blocks."""
        return self.name_blocks()

    @property
    def input_hash(self) -> InputHash:
        """The commitment to the input that the certificate states."""
        return InputHash.commit(self.table.name, self.table.digest(), self.input_salt)[0]


@typed
@dataclass(frozen=True, eq=False, repr=False)
class Release(Shown):
    """What goes out: one table, or several views; and what stays. Nothing is on disk until `write`."""

    handed_over: HandedOver
    declared: Declared
    kept: Kept

    @cached_property
    def verification(self) -> Verification:
        """What was measured on what is handed over; a RequirementError if a promise does not hold on it."""
        return verified(self.handed_over, self.declared)

    def refuse_if_broken(self) -> Release:
        """Return the release itself, if all that it promises holds; else raise a RequirementError."""
        self.verification  # noqa: B018
        return self

    @cached_property
    def certificate(self) -> Certificate:
        """What is promised, and what was measured on what is handed over. It is made when it is first asked for."""
        return certify(self.handed_over, self.declared, self.kept.input_hash, self.verification)

    @cached_property
    def holder(self) -> dict[str, Any]:
        """The holder's record: what only the holder may know. It is made when it is first asked for."""
        return self.kept.record(self.certificate)

    @cached_property
    def report(self) -> str:
        """The report for the holder, an HTML page. It is written when it is first asked for."""
        return self.kept.report(self)

    @property
    def plan(self) -> Plan:
        """What the method learned."""
        return self.kept.plan

    @property
    def requirements(self) -> tuple[Promise, ...]:
        """What was asked for."""
        return self.declared.promises

    @property
    def schema(self) -> Schema:
        """The schema of the table it was made from."""
        return self.declared.schema

    def _line(self) -> str:
        sizes = ", ".join(f"{name}: {runs.height:,} rows" for name, runs in self.handed_over.frames.items())
        return f"{', '.join(map(str, self.requirements))} by {self.declared.method}; {sizes}"

    def _listings(self) -> Iterable[Listing]:
        """Return what is handed over, as far as it was measured before; nothing of what is kept."""
        if "verification" in self.__dict__:
            yield Listing.of_facts(self.verification.measured, "measured on what is published")
        for name, runs in self.handed_over.frames.items():
            rows = [(column, self.schema[column].role) for column in runs.columns]
            yield Listing(f"{name}: {runs.height:,} rows", ("column", "role"), rows)

    def frame(self) -> pl.DataFrame:
        """Return what is published, if it is one table."""
        names = list(self.handed_over.frames)
        if names == ["data"]:
            return self.frames()["data"]
        raise InputError(f"This release has several views, {listed(names)}: take one of frames().")

    def frames(self) -> dict[str, pl.DataFrame]:
        """Return everything that is published, by name. Rows stand in the order of their published values."""
        return {name: runs.frame() for name, runs in self.handed_over.frames.items()}

    @own_words("to", "ledger")
    def write(
        self,
        folder: str | Path,
        *,
        csv: bool | None = None,
        force: bool = False,
        ledger: Ledger | None = None,
        receiver: str | None = None,
        to: str | None = None,
        formats: Sequence[Format] = (),
    ) -> Path:
        """Write the release into a new folder, whole or not at all: `hand-over` for the receiver, `keep` for you.

        The files are verified as they stand on disk; a release that fails is not written. The ledger
        is told before the folder appears, so that it never misses a release; it refuses what would break an
        earlier release's promise together with it, or overspend a budget. `receiver` says who gets it; without
        one, anybody may. An existing release is replaced only with `force`.

        A large table stands in several Parquet files (`tables.parts`). `csv` says whether it is written as one CSV file,
        too; without it, a table is that stands in one Parquet file.

        `formats` are those that every table is written in, too: "xlsx", "ods", "dta" (Stata), "sav" (SPSS) and "json". Such a
        copy has the rows of the Parquet files, and of labels only those that the schema declares for what is published.

        `to` names a table that the rows are also written to: "duckdb:///people.duckdb?table=people_k5", or
        "postgresql://user@host/database?table=people_k5", or "spark://?schema=clinic&table=people_k5" of a running session; each
        of several views gets one of its own, people_k5_VIEW. It is recounted there, and appears right after the folder, whole or not at all.
        """
        path_given(folder, "folder", "write")
        ledger_given(ledger)
        formats = formats_given(formats, "write")
        target = Target.parse(to) if to is not None else None
        if target is not None:  # before the work, not only after it
            target.refuse_taken(self.handed_over.frames, force=force)
        folder, height = Path(folder), sum(rows.height for rows in self.handed_over.frames.values())
        stages = target.staging(force=force) if target is not None else nullcontext()
        with stages as staging, step(f"Writing {folder}", total=height) as writing:
            files = self._files(csv, formats, writing)
            files[f"{folders.HAND_OVER}/{folders.CERTIFICATE}"] = lambda path: self._certify(
                path, folder, ledger, receiver, staging
            )
            write_folder(folder, files, force=force, mark=folders.MARK, private=[folders.KEEP])
            if staging is not None:
                staging.publish()
        return folder

    def _files(
        self, csv: bool | None, formats: Sequence[Format], writing: Step
    ) -> dict[str, Callable[[Path], object]]:
        """Return all files but the certificate, each with what writes it."""
        files: dict[str, Callable[[Path], object]] = {}
        for name, rows in self.handed_over.frames.items():
            names, parts = part_names(name, rows.height), in_parts(rows)
            for file in names:
                files[f"{folders.HAND_OVER}/{file}"] = partial(_write_next, parts, writing)
            if csv or (csv is None and len(names) == 1):
                files[f"{folders.HAND_OVER}/{name}.csv"] = partial(write_csv, rows)
            for ending in formats:
                labels = labels_of(self.schema, [rows])
                files[f"{folders.HAND_OVER}/{name}.{ending}"] = partial(write_copy, rows, labels)
        if (law := self.handed_over.law) is not None:
            files[f"{folders.HAND_OVER}/{folders.LAW}"] = lambda path: write_json(path, law)
        for name, write in self.plan.files().items():
            files[f"{folders.KEEP}/{name}"] = write
        files[f"{folders.KEEP}/{folders.REPORT}"] = lambda path: write_text(path, self.report)
        files[f"{folders.KEEP}/{folders.HOLDER}"] = lambda path: write_json(path, self.holder)
        return files

    def _certify(
        self, path: Path, folder: Path, ledger: Ledger | None, receiver: str | None, staging: Staging | None
    ) -> None:
        """Write the certificate with the hashes of the files beside it, verify them, and tell the ledger."""
        hashes = {file.name: sha256_of(file) for file in sorted(path.parent.iterdir())}
        certificate = self.certificate.model_copy(update={"output": hashes})
        if any(Path(name).suffix in LABELLED for name in hashes):
            certificate = with_labels(certificate, labels_of(self.schema, self.handed_over.frames.values()))
        certificate.write(path)
        verify(path.parent, self.requirements, self.schema).refuse_if_broken()
        if staging is not None:
            staging.stage(path.parent)
        if ledger is not None:
            self._tell(ledger, certificate, path, folder, receiver)

    def _tell(
        self, ledger: Ledger, certificate: Certificate, path: Path, folder: Path, receiver: str | None
    ) -> None:
        """Record the release in a ledger, which may refuse it."""
        body = history.record(
            self.kept.table,
            str(folder),
            receiver,
            certificate,
            self.kept.input_salt,
            neighbours="replace",
            certificate_sha256=sha256_of(path),
            columns={name: runs.columns for name, runs in self.handed_over.frames.items()},
            blocks=self.kept.blocks,
            requirements=self.requirements,
            holder=self.holder,
        )
        ledger.record(body, self.kept.table)


def _write_next(parts: Iterator[Runs], writing: Step, path: Path) -> None:
    """Write the next part of a table: files are written one after the other."""
    part = next(parts)
    write_parquet(part, path)
    writing.advance(part.height)
