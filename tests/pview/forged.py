"""Saved p-views as a forger leaves them: with the hashes computed anew."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl


def forge(
    folder: Path,
    change: Callable[[dict[str, Any]], Any] | None = None,
    data: pl.DataFrame | bytes | None = None,
) -> Path:
    """Change the manifest in place (or return another one) and the data of a saved p-view, and hash both again."""
    if isinstance(data, pl.DataFrame):
        data.write_parquet(folder / "pview.parquet")
    elif data is not None:
        (folder / "pview.parquet").write_bytes(data)
    path = folder / "manifest.json"
    about = json.loads(path.read_text(encoding="utf-8"))
    about.pop("manifest_sha256")
    about["data_sha256"] = hashlib.sha256((folder / "pview.parquet").read_bytes()).hexdigest()
    if change is not None:
        change(about)
    content = json.dumps(about, sort_keys=True).encode()
    about["manifest_sha256"] = hashlib.sha256(content).hexdigest()
    path.write_text(json.dumps(about), encoding="utf-8")
    return folder
