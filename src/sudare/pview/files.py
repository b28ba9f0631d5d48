"""A p-view as a folder: `pview.parquet` with what counts, and `manifest.json` with all that says what it means.

Both files are hashed: a file that was changed, cut short or mixed up is refused, and nothing is answered from it.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import polars as pl

from sudare.errors import InputError
from sudare.pview.combined import PLAIN, Combined
from sudare.pview.domain import Domain
from sudare.pview.kept_folder import KeptFolder
from sudare.pview.pview import PView
from sudare.pview.saved import MAX_BYTES, Manifest, refuse_other_layouts, refuse_unfit
from sudare.pview.spending import Spending
from sudare.tables import text_files
from sudare.tables.atomic import write_folder
from sudare.tables.faults import checked
from sudare.tables.folders import existing
from sudare.tables.outputs import write_parquet
from sudare.tables.parquet_files import read_parquet
from sudare.tables.runs import Runs
from sudare.tables.text import listed, shown
from sudare.tables.text_files import parse_json

DATA, MANIFEST, PAGE = "pview.parquet", "manifest.json", "page.html"
FORMAT, VERSION = "sudare p-view", 2
FIRST_FORMAT = "sudare view"  # of version 1
MAX_FACTS_LENGTH = 8 * 2**20
"""Characters of what is said about how the p-view was made."""
KINDS: dict[str, Any] = {**PLAIN, Combined.kind: Combined}


def save(pview: PView, folder: str | Path, *, force: bool = False) -> Path:
    """Write a p-view into a new folder, whole or not at all. With `force` it may replace a p-view."""
    write_folder(Path(folder), files_of(pview), force=force, mark=DATA)
    return Path(folder)


def files_of(pview: PView) -> dict[str, Callable[[Path], None]]:
    """Return what writes the files of a p-view, in order, by their names. It is refused if it could not be opened again."""
    frame = pview.model.frame()
    about = {
        "format": FORMAT,
        "version": VERSION,
        "kind": pview.model.kind,
        "domain": pview.domain.to_json(),
        "extras": pview.model.extras(),
        "facts": pview.facts,
    }
    _refuse_unopenable(about, frame)

    def write_manifest(path: Path) -> None:
        content = about | {"data_sha256": _sha256(path.with_name(DATA).read_bytes())}
        whole = content | {"manifest_sha256": _sha256(_canonical(content))}
        path.write_text(json.dumps(whole, ensure_ascii=False, indent=2) + "\n", encoding="utf-8")

    return {DATA: partial(write_parquet, Runs.of(frame)), MANIFEST: write_manifest}


def digest_of_files(hashes: Mapping[str, str]) -> str:
    """Return by what a ledger knows a p-view: the digest of its files as they were written, given their SHA-256."""
    return _sha256(_canonical({name: hashes[name] for name in (DATA, MANIFEST)}))


def _refuse_unopenable(about: dict[str, Any], frame: pl.DataFrame) -> None:
    """Refuse to write what could not be opened again."""
    domain = Domain.from_json(about["domain"])
    refuse_unfit(frame, KINDS[about["kind"]].layouts(domain.sizes))
    _check_facts(about["facts"], domain)


def _check_facts(facts: Mapping[str, Any], domain: Domain) -> None:
    """Refuse facts that are too long, or whose budget could not be added up, or was spent on attributes of others."""
    if len(json.dumps(facts)) > MAX_FACTS_LENGTH:
        raise InputError(
            f"The facts of the p-view are too long. They may have {MAX_FACTS_LENGTH:,} characters."
        )
    parts = facts.get("parts", [])
    if not isinstance(parts, list) or not all(isinstance(part, dict) for part in parts):
        raise InputError("What is said of the parts of the p-view is of no known form.")
    for own in (facts, *parts):
        if not isinstance(own.get("certificate", {}), dict):
            raise InputError("The certificate of the p-view is of no known form.")
        if "budget" in own:
            for share in Spending.from_json(own["budget"]).shares:
                for name in share.attributes:
                    domain.place(name)


def open_pview(folder: str | Path) -> PView:
    """Open a p-view that was saved, if its files are as they were written, and nothing in them is out of place."""
    given, folder = folder, existing(folder)
    about = _manifest(folder)
    path = folder / DATA
    data = _read(path, MAX_BYTES)
    if _sha256(data) != about.data_sha256:
        raise _damaged(path)
    kind = KINDS[about.kind]
    try:
        domain = Domain.from_json(about.domain)
        layouts = kind.layouts(domain.sizes)
        _check_facts(about.facts, domain)
        frame = read_parquet(data, DATA, check=lambda it: refuse_other_layouts(it.names, it.rows, layouts))
        model = kind.from_frame(frame, domain.sizes, about.extras)
    except InputError as error:
        raise InputError(
            f"{folder} is not a p-view that can be opened: {error} Save the p-view again."
        ) from None
    return PView(domain, model, about.facts, KeptFolder.of(Path(given), domain))


def _manifest(folder: Path) -> Manifest:
    path = folder / MANIFEST
    content = _read(path)
    try:
        about = parse_json(content, str(path))
    except InputError as error:
        raise InputError(f"{_damaged(path)} {error}") from None
    if not isinstance(about, dict) or about.get("format") not in (FORMAT, FIRST_FORMAT):
        raise InputError(
            f"{path} is not the manifest of a p-view. Give the folder of a p-view that was saved."
        )
    version, kind = about.get("version"), about.get("kind")
    known = about["format"] == FORMAT and version == VERSION
    if not known or not isinstance(kind, str) or kind not in KINDS:
        raise InputError(
            f"{path} is of another version of Sudare (format {shown(version)}, kind {shown(kind)}); this one knows format "
            f"{VERSION} and {listed(list(KINDS))}. Open it with that version, or materialize it again."
        )
    if about.pop("manifest_sha256", None) != _sha256(_canonical(about)):
        raise _damaged(path)
    return checked(Manifest, about, str(path))


def _read(path: Path, most: int = text_files.MAX_BYTES) -> bytes:
    if not path.exists():
        raise InputError(
            f"There is no {path}. Give the folder of a p-view that was saved, with {DATA} and {MANIFEST}."
        )
    return text_files.read_bytes(path, "the p-view", most)


def _damaged(path: Path) -> InputError:
    return InputError(
        f"{path} is damaged: it is not as it was written. Copy the whole folder again, or save the p-view again."
    )


def _canonical(about: dict[str, Any]) -> bytes:
    return json.dumps(about, sort_keys=True).encode()


def _sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
