"""Two originals that give the same published files give the same certificate, but for the salted commitment.

Small tables are drawn at random and published. Whenever two different tables, published under the same promise, gave the
same files, everything else that is handed over with them must be the same as well.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import sudare as sd

PAIRS = int(os.environ.get("SUDARE_PAIRS", "2"))  # 1,000 take some minutes
Told = tuple[Any, Callable[[], Any]]
"""The published files, and all that is told beside them, which is made when another original has given the same files."""
Draw = Callable[[np.random.Generator], tuple[pl.DataFrame, Callable[[], Told]]]
"""Draws an original; also returns what publishes it."""


def told(release: sd.Release) -> Told:
    """Return what is published, and the certificate without the commitment and the clock."""
    frames = {name: (frame.schema, frame.rows()) for name, frame in release.frames().items()}

    def beside() -> dict[str, Any]:
        certificate = release.certificate.model_dump(
            mode="json", exclude={"created": True, "input": {"sha256_salted"}}
        )
        del certificate["randomness"]  # it names the unsafe seed
        return certificate

    declared = (release.requirements, release.declared.method, release.schema.to_toml())
    return repr((declared, frames, json.dumps(release.handed_over.law))), beside


def pairs(draw: Draw, seed: int) -> Iterator[tuple[pl.DataFrame, Any, pl.DataFrame, Any]]:
    """Yield two originals with what was told of each, as often as both gave the same files."""
    rng, first = np.random.default_rng(seed), {}
    while True:
        original, publish = draw(rng)
        try:
            published, beside = publish()
        except sd.RequirementError:
            continue
        other, beside_it = first.setdefault(published, (original, beside))
        if not other.equals(original):
            yield other, beside_it(), original, beside()


def people(rng: np.random.Generator, n: int) -> pl.DataFrame:
    return pl.DataFrame(
        {
            "name": [f"person {i}" for i in rng.integers(0, 99, n)],
            "age": rng.choice([20, 21, 30, 34, 77, 1234], n),
            "town": rng.choice(["Ayr", "Bath", "Cork"], n),
            "illness": rng.choice(["flu", "HIV"], n),
        },
        schema_overrides={"age": pl.Int64},
    )


HIERARCHIES: list[dict[str, Any]] = [
    {},  # made from the data
    {"age": sd.Hierarchy.intervals([20, 21, 30, 34, 77, 1234], width=10)},
    {
        "age": {"kind": "intervals", "width": 10, "fanout": 3},
        "town": {"kind": "groups", "groups": {"Ayr": "n", "Bath": "s", "Cork": "s"}},
    },
    {"age": {"kind": "intervals", "quantiles": 3}, "town": {"kind": "mask"}},
]


def schema(hierarchies: dict[str, Any]) -> sd.Schema:
    return sd.Schema.from_roles(
        identifier=["name"], quasi=["age", "town"], sensitive=["illness"], hierarchies=hierarchies
    )


def generalized(rng: np.random.Generator) -> tuple[pl.DataFrame, Callable[[], Told]]:
    n = int(rng.integers(3, 7))
    original, kind, k = people(rng, n), HIERARCHIES[rng.integers(0, 4)], int(rng.integers(2, n + 1))
    asked: list[Any] = [sd.KAnonymity(k)]
    if rng.random() < 0.3:
        asked.append(sd.LDiversity(2) if rng.random() < 0.5 else sd.TCloseness(0.5))
    table = sd.read(original, schema(kind))
    if rng.random() < 0.3:
        return original, lambda: told(sd.generalize(table, asked, "mondrian"))
    by_closeness = any(isinstance(one, sd.TCloseness) for one in asked)  # which lets nobody be left out
    suppress = 0.0 if by_closeness else float(rng.choice([0.0, 0.4, 0.7]))
    method = str(rng.choice(["minimal", "full-domain"]))
    return original, lambda: told(sd.generalize(table, asked, method, suppress=suppress))


def viewed(rng: np.random.Generator) -> tuple[pl.DataFrame, Callable[[], Told]]:
    original, kind = people(rng, int(rng.integers(3, 6))), HIERARCHIES[rng.integers(0, 2)]
    table = sd.read(original, schema(kind))
    asked = sd.MultiViewDiversity(2, "distinct" if rng.random() < 0.7 else "posterior")
    return original, lambda: told(sd.generalize_views(table, {"a": ["age"], "b": ["town"]}, asked))


def randomized(rng: np.random.Generator) -> tuple[pl.DataFrame, Callable[[], Told]]:
    n, declared = int(rng.integers(2, 6)), {"illness": ["flu", "HIV"]}
    original = people(rng, n).select("age", "illness")
    by_noise = rng.random() < 0.3
    known = sd.Schema.from_roles(
        **({"quasi": ["age"], "bounds": {"age": (20, 24)}, "outside": {"age": "clip"}} if by_noise else {"identifier": ["age"]}),
        sensitive=["illness"], domains=declared, missing="refuse",
    )  # fmt: skip
    seed, asked = int(rng.integers(2**31)), sd.DifferentialPrivacy(1.0, per="record")
    table = sd.read(original, known)
    return original, lambda: told(sd.randomize(table, asked, unsafe_seed=seed))


def materialized(rng: np.random.Generator, folder: Path) -> tuple[pl.DataFrame, Callable[[], Told]]:
    original = people(rng, int(rng.integers(2, 6))).select("illness")
    known = sd.Schema.from_roles(sensitive=["illness"], domains={"illness": ["flu", "HIV"]}, missing="refuse")
    table, seed = sd.read(original, known), int(rng.integers(2**31))
    method = str(rng.choice(["identity", "independent", "dp-mondrian"]))

    def publish() -> Told:
        view = sd.materialize(table, sd.DifferentialPrivacy(2.0), method, unsafe_seed=seed)
        view.save(folder / "view", force=True)
        manifest = json.loads((folder / "view" / "manifest.json").read_text())
        certificate = manifest["facts"]["certificate"]
        del certificate["input"]["sha256_salted"], certificate["created"], manifest["manifest_sha256"]
        certificate["randomness"] = ""  # names the seed
        return (method, (folder / "view" / "pview.parquet").read_bytes()), lambda: manifest

    return original, publish


def published(rng: np.random.Generator) -> tuple[pl.DataFrame, Callable[[], Told]]:
    original, kind = people(rng, int(rng.integers(3, 6))), HIERARCHIES[rng.integers(0, 4)]
    table = sd.read(original, schema(kind))
    policy = sd.Policy(
        l=2, accept=("go ahead", "suppress", "lower l"), diversity=str(rng.choice(["distinct", "entropy"]))
    )  # type: ignore[arg-type]
    return original, lambda: told(sd.publish(table, policy))


@pytest.mark.parametrize("verb", ["generalize", "generalize_views", "randomize", "materialize", "publish"])
def test_same_published_files_same_certificate(verb: str, tmp_path: Path) -> None:
    draws: dict[str, Draw] = {
        "generalize": generalized,
        "generalize_views": viewed,
        "randomize": randomized,
        "materialize": lambda rng: materialized(rng, tmp_path),
        "publish": published,
    }
    pairs_drawn = pairs(draws[verb], seed=7)  # which soon finds some
    for _ in range(PAIRS):
        one, told_of_one, other, told_of_other = next(pairs_drawn)
        if told_of_one != told_of_other:
            raise AssertionError(f"{one}\n{told_of_one}\n{other}\n{told_of_other}")
