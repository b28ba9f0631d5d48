"""A release: what goes out, with its plan, certificate and report."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import polars as pl

from sudare.release.atomic import write_folder
from sudare.release.certificate import Certificate
from sudare.release.ledger import Ledger
from sudare.release.verify import Promise, verify
from sudare.tables.schema import Schema


class Plan(Protocol):
    """What a method learned, as plain data."""

    def to_json(self) -> dict[str, Any]:
        """Return the plan as plain data."""


@dataclass(frozen=True, eq=False)
class Release:
    """What goes out. Nothing is on disk until `write`."""

    data: pl.DataFrame = field(repr=False)
    plan: Plan
    certificate: Certificate
    requirements: Sequence[Promise]
    schema: Schema = field(repr=False)
    report: str = field(repr=False)
    input_salt: str = field(repr=False)
    """Opens the certificate's input hash; stays with the holder."""

    def frame(self) -> pl.DataFrame:
        """Return what is published."""
        return self.data

    def write(self, folder: str | Path, *, force: bool = False, ledger: Ledger | None = None) -> Path:
        """Write data, plan, certificate and report into a new folder, whole or not at all.

        The files are verified as they stand on disk; a release that fails is not written. The ledger
        is told before the folder appears, so that it never misses a release. An existing release is
        replaced only with `force`.
        """
        folder = Path(folder)
        files: dict[str, Callable[[Path], None]] = {
            "data.parquet": lambda path: self.data.write_parquet(path),
            "data.csv": lambda path: self.data.write_csv(path),
            "plan.json": lambda path: _write_json(path, self.plan.to_json()),
            "report.html": lambda path: _write_text(path, self.report),
            "certificate.json": lambda path: self._certify(path, folder, ledger),
        }
        write_folder(folder, files, force=force)
        return folder

    def _certify(self, path: Path, folder: Path, ledger: Ledger | None) -> None:
        """Verify and hash the files beside `path`, write the certificate, and tell the ledger."""
        for name in ("data.parquet", "data.csv"):
            verify(path.parent / name, self.requirements, self.schema).refuse_if_broken()
        hashes = {file.name: _sha256(file) for file in sorted(path.parent.iterdir())}
        certificate = self.certificate.model_copy(update={"output": hashes})
        _write_json(path, certificate.model_dump(mode="json"))
        if ledger is not None:
            ledger.append(
                "release",
                {
                    "folder": str(folder),
                    "certificate": certificate.model_dump(mode="json"),
                    "certificate_sha256": _sha256(path),
                    "input_salt": self.input_salt,
                },
            )


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _write_json(path: Path, data: Any) -> None:
    _write_text(path, json.dumps(data, indent=2, ensure_ascii=False) + "\n")


def _write_text(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8")
