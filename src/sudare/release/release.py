"""A release: what goes out, with its plan, certificate and report."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sudare.errors import InputError
from sudare.privacy.multi_view import MultiViewDiversity
from sudare.release import history
from sudare.release.certificate import Certificate
from sudare.release.ledger import Ledger
from sudare.release.verify import Promise, verify
from sudare.tables.atomic import write_folder
from sudare.tables.schema import Schema
from sudare.tables.table import Table
from sudare.tables.text import listed


class Plan(Protocol):
    """What a method learned, as plain data."""

    def to_json(self) -> dict[str, Any]:
        """Return the plan as plain data."""


@dataclass(frozen=True, eq=False)
class Release:
    """What goes out: one table, or several views. Nothing is on disk until `write`."""

    data: pl.DataFrame | Mapping[str, pl.DataFrame] = field(repr=False)
    plan: Plan
    certificate: Certificate
    requirements: Sequence[Promise | MultiViewDiversity]
    schema: Schema = field(repr=False)
    report: str = field(repr=False)
    input_salt: str = field(repr=False)
    """Opens the certificate's input hash; stays with the holder."""
    table: Table | None = field(default=None, repr=False)
    """What it was made from; a ledger compares it with earlier releases."""
    row_blocks: Mapping[str, NDArray[np.int64]] = field(default_factory=dict, repr=False)
    """The block that each row of the table is published in (-1: left out), by view, where there are blocks."""

    def frame(self) -> pl.DataFrame:
        """Return what is published, if it is one table."""
        if isinstance(self.data, pl.DataFrame):
            return self.data
        raise InputError(f"This release has several views, {listed(list(self.data))}: take one of frames().")

    def frames(self) -> dict[str, pl.DataFrame]:
        """Return everything that is published, by name. Rows are shuffled, those of each view on their own."""
        return {"data": self.data} if isinstance(self.data, pl.DataFrame) else dict(self.data)

    def write(
        self,
        folder: str | Path,
        *,
        force: bool = False,
        ledger: Ledger | None = None,
        receiver: str | None = None,
    ) -> Path:
        """Write data, plan, certificate and report into a new folder, whole or not at all.

        The files are verified as they stand on disk; a release that fails is not written. The ledger
        is told before the folder appears, so that it never misses a release; it refuses what would break an
        earlier release's promise together with it, or overspend a budget. `receiver` says who gets it; without
        one, anybody may. An existing release is replaced only with `force`.
        """
        folder = Path(folder)
        files: dict[str, Callable[[Path], None]] = {}
        for name, frame in self.frames().items():
            files[f"{name}.parquet"] = frame.write_parquet
            files[f"{name}.csv"] = frame.write_csv
        files["plan.json"] = lambda path: _write_json(path, self.plan.to_json())
        files["report.html"] = lambda path: _write_text(path, self.report)
        files["certificate.json"] = lambda path: self._certify(path, folder, ledger, receiver)
        write_folder(folder, files, force=force)
        return folder

    def _certify(self, path: Path, folder: Path, ledger: Ledger | None, receiver: str | None) -> None:
        """Verify and hash the files beside `path`, write the certificate, and tell the ledger."""
        self._verify(path.parent)
        hashes = {file.name: _sha256(file) for file in sorted(path.parent.iterdir())}
        certificate = self.certificate.model_copy(update={"output": hashes})
        _write_json(path, certificate.model_dump(mode="json"))
        if ledger is not None:
            if self.table is None:
                raise InputError("This release does not know what it was made from, and cannot be recorded.")
            body = history.record(
                self.table,
                str(folder),
                receiver,
                certificate,
                self.input_salt,
                neighbours="replace",
                certificate_sha256=_sha256(path),
                frames=self.frames(),
                row_blocks=self.row_blocks,
                requirements=self.requirements,
            )
            ledger.record(body, self.table)

    def _verify(self, folder: Path) -> None:
        """Verify the files. Views were verified together, row by row: their files must be what was verified."""
        promises = [p for p in self.requirements if not isinstance(p, MultiViewDiversity)]
        for name, frame in self.frames().items():
            for file in (folder / f"{name}.parquet", folder / f"{name}.csv"):
                if promises:
                    verify(file, promises, self.schema).refuse_if_broken()
                elif not _same(frame, file):
                    raise InputError(
                        f"{file.name} does not have the rows that were verified. Nothing was written."
                    )


def _same(frame: pl.DataFrame, file: Path) -> bool:
    if file.suffix == ".parquet":
        return pl.read_parquet(file).equals(frame)
    return file.read_text(encoding="utf-8") == frame.write_csv()


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _write_json(path: Path, data: Any) -> None:
    _write_text(path, json.dumps(data, indent=2, ensure_ascii=False) + "\n")


def _write_text(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8")
