"""How the files of a release are written and hashed."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any


def sha256_of(path: Path) -> str:
    """Return the SHA-256 of a file, as a certificate names it."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def write_json(path: Path, data: Any) -> None:
    """Write plain data as JSON, as `verify` expects it."""
    write_text(path, json.dumps(data, indent=2, ensure_ascii=False) + "\n")


def write_text(path: Path, text: str) -> None:
    """Write a text in UTF-8."""
    path.write_text(text, encoding="utf-8")
