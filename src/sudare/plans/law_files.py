"""The law of a randomized table as it lies in a folder, beside the certificate that has its hash."""

from __future__ import annotations

import hashlib
from pathlib import Path

from sudare.errors import InputError
from sudare.plans.law import TableLaw
from sudare.tables.folders import CERTIFICATE, LAW
from sudare.tables.text_files import read_json


def law_in(folder: Path) -> TableLaw:
    """Read the law in a folder; one that the certificate beside it was not made for is refused.

    What is computed from another law is wrong, and looks right. Whether the certificate itself can be relied on is for
    `verify` to say.
    """
    path, certificate = folder / LAW, folder / CERTIFICATE
    law = TableLaw.open(path)
    if certificate.exists() and _certified(certificate) != hashlib.sha256(path.read_bytes()).hexdigest():
        raise InputError(f"{path} is not the file that was certified: its hash differs. Ask for it again.")
    return law


def _certified(certificate: Path) -> object:
    """Return the hash of the law that a certificate is of."""
    told = read_json(certificate, "the certificate")
    output = told.get("output") if isinstance(told, dict) else None
    return output.get(LAW) if isinstance(output, dict) else None
