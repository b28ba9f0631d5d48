"""A view as a folder: `view.parquet` with what counts, and `manifest.json` with all that says what it means.

Both files are hashed: a file that was changed, cut short or mixed up is refused, and nothing is answered from it.
"""

from __future__ import annotations

import hashlib
import io
import json
from pathlib import Path
from typing import Any

import polars as pl

from sudare.errors import InputError
from sudare.pview.cloud import Cloud
from sudare.pview.domain import Domain
from sudare.pview.models import BlocksModel, CellsModel, ProductModel
from sudare.pview.view import PView
from sudare.tables.atomic import write_folder
from sudare.tables.text import listed

DATA, MANIFEST = "view.parquet", "manifest.json"
FORMAT, VERSION = "sudare view", 1
KINDS: dict[str, Any] = {"cloud": Cloud, "blocks": BlocksModel, "cells": CellsModel, "product": ProductModel}


def save(view: PView, folder: str | Path, *, force: bool = False) -> Path:
    """Write a view into a new folder, whole or not at all. With `force` it may replace a view."""
    folder = Path(folder)
    about = {
        "format": FORMAT,
        "version": VERSION,
        "kind": view.model.kind,
        "domain": view.domain.to_json(),
        "extras": view.model.extras(),
        "facts": view.facts,
    }

    def write_manifest(path: Path) -> None:
        found = about | {"view_sha256": _sha256(path.with_name(DATA).read_bytes())}
        whole = found | {"manifest_sha256": _sha256(_canonical(found))}
        path.write_text(json.dumps(whole, ensure_ascii=False, indent=2) + "\n", encoding="utf-8")

    frame = view.model.frame()
    files = {DATA: lambda path: frame.write_parquet(path), MANIFEST: write_manifest}
    write_folder(folder, files, force=force, mark=DATA)
    return folder


def open_view(folder: str | Path) -> PView:
    """Open a view that was saved, if its files are as they were written."""
    folder = Path(folder)
    about = _manifest(folder)
    data = _read(folder / DATA)
    if _sha256(data) != about["view_sha256"]:
        raise _damaged(folder / DATA)
    domain = Domain.from_json(about["domain"])
    try:
        model = KINDS[about["kind"]].from_frame(
            pl.read_parquet(io.BytesIO(data)), domain.sizes, about["extras"]
        )
    except (InputError, pl.exceptions.PolarsError) as error:
        raise InputError(f"{folder / DATA} does not fit its manifest: {error} Save the view again.") from None
    return PView(domain, model, about["facts"])


def _manifest(folder: Path) -> dict[str, Any]:
    path = folder / MANIFEST
    try:
        about = json.loads(_read(path))
    except ValueError:  # also text in no known encoding
        raise _damaged(path) from None
    if not isinstance(about, dict) or about.get("format") != FORMAT:
        raise InputError(f"{path} is not the manifest of a view. Give the folder of a view that was saved.")
    if about.get("version") != VERSION or about.get("kind") not in KINDS:
        raise InputError(
            f"{path} is of another version of Sudare (format {about.get('version')}, kind '{about.get('kind')}'); this "
            f"one knows format {VERSION} and {listed(list(KINDS))}. Open it with that version, or save the view again."
        )
    if about.pop("manifest_sha256", None) != _sha256(_canonical(about)):
        raise _damaged(path)
    return about


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        raise InputError(
            f"There is no {path}. Give the folder of a view that was saved, with {DATA} and {MANIFEST}."
        ) from None
    except OSError as error:
        raise InputError(f"Cannot read {path}: {error.strerror}.") from None


def _damaged(path: Path) -> InputError:
    return InputError(
        f"{path} is damaged: it is not as it was written. Copy the whole folder again, or save the view again."
    )


def _canonical(about: dict[str, Any]) -> bytes:
    return json.dumps(about, sort_keys=True).encode()


def _sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
