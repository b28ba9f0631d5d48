"""Releasing a p-view: what its holder keeps, and how the two folders are written."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from sudare.ledger import history
from sudare.ledger.ledger import Ledger, ledger_given
from sudare.privacy.certificate import Certificate
from sudare.pview.design import NEIGHBOURS, PViewDesign
from sudare.pview.errors import measure_errors, points_of
from sudare.pview.files import PAGE, digest_of_files, files_of
from sudare.pview.pview import PView
from sudare.release.writing import sha256_of, write_json, write_text
from sudare.reports.pview import write_pview_report
from sudare.reports.pview_page import write_pview_page
from sudare.tables import folders
from sudare.tables.atomic import write_folder
from sudare.tables.counts import Counts
from sudare.tables.table import Table
from sudare.verification.verify import verify


@dataclass(frozen=True, eq=False)
class KeptOfPView:
    """What stays with the holder of a p-view: all of it tells about the original."""

    design: PViewDesign
    certificate: Certificate
    input_salt: str
    """Opens the certificate's input hash. No other p-view has it: by it a ledger knows this one."""
    counts: Counts
    """How many records each cell of the domain had when the p-view was made."""
    table: Table
    """What it was made from; a ledger compares it with earlier releases, and the report names it."""
    receiver: str | None = None
    """Who it was made for."""

    def record(self, pview: PView) -> dict[str, Any]:
        """Measure what needs the original: how many records it had, and how far answers are off."""
        errors = measure_errors(points_of(self.counts), pview)
        return {
            "records": {"read": self.counts.total},
            "cells": {"occupied": len(self.counts)},
            "measured": self.certificate.measured,
            "errors": [asdict(error) for error in errors],
        }

    def write(
        self, pview: PView, folder: Path, *, force: bool, ledger: Ledger | None, receiver: str | None
    ) -> None:
        """Write both folders, whole or not at all; a ledger is told before they appear, and may refuse."""
        ledger_given(ledger)
        getter = self.receiver if receiver is None else receiver
        if ledger is not None:  # before the work, not only after it
            ledger.refuse(self.ledger_entry(str(folder), getter), self.table)

        def certify(path: Path) -> None:
            hashes = {file.name: sha256_of(file) for file in sorted(path.parent.iterdir())}
            certificate = self.certificate.model_copy(update={"output": hashes})
            certificate.write(path)
            verify(path.parent, [self.design.requirement]).refuse_if_broken()
            if ledger is not None:
                written = {
                    "certificate_sha256": sha256_of(path),
                    "holder": pview.holder,
                    "measurement": digest_of_files(hashes),
                }
                entry = self.ledger_entry(str(folder), getter, certificate, **written)
                ledger.record(entry, self.table)

        files: dict[str, Callable[[Path], Any]] = {
            **{f"{folders.HAND_OVER}/{name}": write for name, write in files_of(pview).items()},
            f"{folders.HAND_OVER}/{PAGE}": lambda path: write_text(path, write_pview_page(pview)),
            f"{folders.KEEP}/{folders.PLAN}": lambda path: write_json(path, self.design.to_json()),
            f"{folders.KEEP}/{folders.HOLDER}": lambda path: write_json(path, pview.holder),
            f"{folders.KEEP}/{folders.REPORT}": lambda path: write_text(
                path, write_pview_report(self.table, pview)
            ),
            f"{folders.HAND_OVER}/{folders.CERTIFICATE}": certify,
        }
        write_folder(folder, files, force=force, mark=folders.MARK, private=[folders.KEEP])

    def ledger_entry(
        self, folder: str, receiver: str | None, certificate: Certificate | None = None, **written: Any
    ) -> dict[str, Any]:
        """Return what a ledger must know of the p-view: before it is measured, or with what was written of it."""
        promised = certificate or self.certificate
        salt = self.input_salt
        return history.record(self.table, folder, receiver, promised, salt, neighbours=NEIGHBOURS, **written)
