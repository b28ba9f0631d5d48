"""The verb `evidence`: what a board or an office files of a release."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from sudare.errors import InputError, LedgerError, ParameterError, SudareError
from sudare.ledger.ledger import Ledger, ledger_given
from sudare.privacy.certificate import Certificate
from sudare.pview.files import open_pview
from sudare.release.writing import sha256_of
from sudare.reports.evidence import write_evidence
from sudare.reports.evidence_known import MAX_RELEASES, Evidence, InLedger
from sudare.reports.pdf import browser, print_pdf
from sudare.tables.atomic import write_file
from sudare.tables.file_rows import FileRows
from sudare.tables.folders import CERTIFICATE, EVIDENCE, HAND_OVER, HOLDER, KEEP, LAW
from sudare.tables.given import path_given
from sudare.tables.parts import tables_of
from sudare.tables.text_files import read_json
from sudare.tables.typed import own_words, typed
from sudare.verification.pview import is_pview
from sudare.verification.verify import verify

MAX_NAME = 200


@typed
@own_words("folder", "ledger")
def evidence(folder: str | Path, *, by: str, ledger: Ledger | None = None, pdf: bool = False) -> Path:
    """Write what an ethics board or an office can file of a release, and return the file: `keep/evidence.html` in its folder.

    What is handed over is verified again on the spot; a folder that fails is refused. The page says what was done, `by` whom, which
    risks there are in which model, where HIPAA's identifiers may be in which column, what laws and standards ask and what the
    figures say to it; and what is left for a person to judge. It tells about the original, and stays with the holder. A `ledger`
    that has the release tells who got it, what else of the source went out, and what is left of the budget. With `pdf` it is also printed
    as PDF, beside it, if there is a Chromium or Chrome; any browser prints it too.

    >>> import tempfile
    >>> import polars as pl, sudare as sd
    >>> table = sd.read(pl.DataFrame({"age": [20, 20, 30, 30]}), sd.Schema.from_roles(quasi=["age"]))
    >>> folder = sd.generalize(table, sd.KAnonymity(2)).write(f"{tempfile.mkdtemp()}/release")
    >>> sd.evidence(folder, by="A. Holder, data office").name
    'evidence.html'
    """
    path_given(folder, "folder", "evidence")
    ledger_given(ledger)
    _refuse_name(by)
    folder = Path(folder)
    if not (folder / HAND_OVER).is_dir() or not (folder / KEEP / HOLDER).is_file():
        raise InputError(
            f"{folder} is not the folder of a release with {HAND_OVER} and {KEEP}/{HOLDER}. The evidence is the holder's. Give the folder that "
            "a release was written to."
        )
    if pdf:
        browser()  # before the work, not only after it
    verification = verify(folder)
    verification.refuse_if_broken()
    handed_over = folder / HAND_OVER
    certificate = Certificate.open(handed_over / CERTIFICATE)
    holder = _holder(folder / KEEP / HOLDER, certificate)
    pview = open_pview(handed_over) if is_pview(folder) else None
    tables = (
        {} if pview else {name: FileRows(paths) for name, paths in tables_of(handed_over.iterdir()).items()}
    )
    known = Evidence(
        folder=folder.resolve().name,
        by=by,
        at=datetime.now(UTC).isoformat(timespec="seconds"),
        certificate=certificate,
        holder=holder,
        verification=verification,
        tables=tables,
        pview=pview,
        law=(handed_over / LAW).is_file(),
        ledger=None if ledger is None else _in_ledger(ledger, handed_over / CERTIFICATE, certificate),
    )
    path = folder / KEEP / EVIDENCE
    try:
        page = write_evidence(known)
    except (AttributeError, LookupError, TypeError, ValueError) as error:
        if isinstance(error, SudareError):
            raise
        raise _other_record(folder / KEEP / HOLDER) from error
    write_file(path, page, private=True)
    if pdf:
        print_pdf(path, path.with_suffix(".pdf"))
    return path


def _refuse_name(by: str) -> None:
    if not by.strip() or not by.isprintable() or len(by) > MAX_NAME:
        raise ParameterError(
            f"The 'by' parameter of evidence must name who prepared it, in at most {MAX_NAME} printable characters. Got {by!r} instead."
        )


def _holder(path: Path, certificate: Certificate) -> dict[str, Any]:
    """Read the holder's record; it must be of the same release as far as the two say the same."""
    holder = read_json(path, "the holder's record")
    try:
        records = holder["records"]
        alike = holder.get("measured", certificate.measured) == certificate.measured
        alike &= type(records["read"]) is int
        alike &= records.get("published") == certificate.records.get("published")
    except (LookupError, TypeError, AttributeError):
        alike = False
    if not alike:
        raise _other_record(path)
    record: dict[str, Any] = holder
    return record


def _other_record(path: Path) -> InputError:
    return InputError(
        f"{path} is not the holder's record of this release, or of this version of Sudare. Write the release again."
    )


def _in_ledger(ledger: Ledger, path: Path, certificate: Certificate) -> InLedger:
    """Find a release in a ledger by the hash of its certificate, and what else of its source went out."""
    digest = sha256_of(path)
    entries = {entry.seq: entry for entry in ledger.entries() if entry.kind == "release"}
    own = next((seq for seq, entry in entries.items() if entry.body["certificate_sha256"] == digest), None)
    if own is None:
        raise InputError(
            f"{ledger.path}: the ledger has no entry of this release. Give the one that it was recorded in, or none."
        )
    body = entries[own].body
    if not certificate.input.matches(body["digest"], body["input_salt"]):
        raise LedgerError(
            f"{ledger.path}: entry {own} does not open the certificate's commitment to its input. Do not rely on it."
        )
    (recorded,) = ledger.releases(body["source"], everybody=True)
    others = [one for one in recorded if one.seq != own]
    budget = ledger.budget(body["source"], body["receiver"])
    return InLedger(
        own,
        entries[own].at,
        body["source"],
        body["receiver"],
        [
            (one.seq, one.receiver or "anybody", " and ".join(one.body.certificate.requirements))
            for one in others[-MAX_RELEASES:]
        ],
        len(others),
        None if budget is None else str(budget),
    )
