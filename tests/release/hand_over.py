"""Folders that are handed over, made by hand: what a careless or hostile tool could write."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

import sudare as sd
from sudare.privacy.certificate import Certificate, InputHash
from sudare.privacy.promises import Promise
from sudare.release.certify import Declared, HandedOver, certify
from sudare.tables.outputs import write_csv, write_parquet
from sudare.tables.runs import Runs

SCHEMA = sd.Schema.from_roles(
    identifier=["name"], quasi=["age", "sex"], sensitive=["illness"], other=["note"]
)
PEOPLE = pl.DataFrame(
    {
        "age": ["[20, 30)"] * 3 + ["[30, 40)"] * 3,
        "sex": ["f"] * 3 + ["m"] * 3,
        "illness": ["HIV", "cold", "flu"] * 2,
    }
)


def write(
    folder: Path,
    frames: Mapping[str, pl.DataFrame] | None = None,
    promises: Sequence[Promise] = (sd.KAnonymity(3), sd.LDiversity(3)),
    schema: sd.Schema = SCHEMA,
    law: Mapping[str, Any] | None = None,
) -> Path:
    """Write a folder with its certificate, as a release does."""
    frames = {"data": PEOPLE} if frames is None else frames
    folder.mkdir(parents=True, exist_ok=True)
    for name, frame in frames.items():
        write_parquet(Runs.of(frame), folder / f"{name}.parquet")
        write_csv(Runs.of(frame), folder / f"{name}.csv")
    if law is not None:
        (folder / "law.json").write_text(json.dumps(law))
    declared = Declared(promises, "minimal", schema, "no noise")
    commitment, _ = InputHash.commit("people.csv", "00" * 32)
    certified(
        folder,
        certify(
            HandedOver({name: Runs.of(frame) for name, frame in frames.items()}, law), declared, commitment
        ),
    )
    return folder


def _handed_over(frames: Mapping[str, pl.DataFrame], law: Mapping[str, Any] | None) -> HandedOver:
    return HandedOver({name: Runs.of(frame) for name, frame in frames.items()}, law)


def certified(folder: Path, certificate: Certificate) -> None:
    """Write a certificate with the hashes of the files as they stand: what a forger would do, too."""
    others = [file for file in sorted(folder.iterdir()) if file.is_file() and file.name != "certificate.json"]
    hashes = {file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in others}
    certificate.model_copy(update={"output": hashes}).write(folder / "certificate.json")


def forged(folder: Path, change: Callable[[dict[str, Any]], None]) -> Path:
    """Change what the certificate says, and make all hashes right again."""
    text = json.loads((folder / "certificate.json").read_text())
    text.pop("sha256")
    change(text)
    certified(folder, Certificate.model_validate(text))
    return folder
