"""What is fuzzed: for each reader, how a hostile input is made, and what is asked of it if it can be read at all."""

from __future__ import annotations

import hashlib
import io
import json
import math
import random
import shutil
import sqlite3
import tempfile
import zipfile
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import polars as pl

import sudare as sd
from benchmarks.fuzz.mutations import (
    DEEP,
    json_bytes,
    mutate_bytes,
    mutate_frame,
    mutate_parquet,
    mutate_text,
    mutate_tree,
    written,
)
from benchmarks.fuzz.pviews import PVIEWS, saved
from sudare.engines.relational import Relational
from sudare.ledger import chain
from sudare.plans.law import TableLaw
from sudare.plans.regions import RegionsPlan
from sudare.privacy import certificate as certificates
from sudare.privacy.certificate import Certificate
from sudare.randomization.estimate import estimate
from sudare.randomization.files import read_matrix, read_prior
from sudare.randomization.published import PublishedCounts
from sudare.tables.attribute import Attribute
from sudare.tables.copies import write_copy
from sudare.tables.labels import Labels
from sudare.tables.runs import Runs


@dataclass(frozen=True)
class Reader:
    """How an input is made in a folder, from chance, and how it is read."""

    make: Callable[[Path, random.Random], None]
    read: Callable[[Path], object]


# -- Views --------------------------------------------------------------------------------------------


def _forged(folder: Path, manifest: Any, data: bytes, rng: random.Random) -> None:
    """Write a p-view with hashes that fit."""
    (folder / "pview.parquet").write_bytes(data)
    if isinstance(manifest, dict):
        manifest.pop("manifest_sha256", None)
        if rng.random() < 0.98:
            manifest["data_sha256"] = hashlib.sha256(data).hexdigest()
        content = json_bytes(manifest, rng)
        try:  # the hash is over what a reader parses
            about = json.loads(content)
            about["manifest_sha256"] = hashlib.sha256(json.dumps(about, sort_keys=True).encode()).hexdigest()
            content = json.dumps(about).encode()
        except (ValueError, TypeError, RecursionError):
            pass
    else:
        content = json_bytes(manifest, rng)
    (folder / "manifest.json").write_bytes(content)


def _make_manifest(folder: Path, rng: random.Random) -> None:
    manifest, data = saved(rng.choice(list(PVIEWS)))
    _forged(folder, mutate_tree(manifest, rng), data, rng)


def _make_data(folder: Path, rng: random.Random) -> None:
    manifest, data = saved(rng.choice(list(PVIEWS)))
    _forged(folder, json.loads(json.dumps(manifest)), mutate_parquet(data, rng), rng)


def _ask(folder: Path) -> None:
    pview = sd.PView.open(folder)
    names = pview.domain.names
    answers = [pview.count(), *(_or_refused(pview.where, {name: None}) for name in names[:3])]
    if not all(
        math.isfinite(x) for answer in answers if answer for x in (answer.low, answer.value, answer.high)
    ):
        raise AssertionError("an answer is not finite")
    if not abs(pview.marginal(names[0])["count"].sum() - pview.total) <= 1e-6 * max(abs(pview.total), 1e6):
        raise AssertionError("a marginal does not sum to the total")
    for query in (
        "SELECT COUNT(*) FROM view",
        f'SELECT COUNT(*) FROM view GROUP BY "{names[-1].replace(chr(34), chr(34) * 2)}"',
    ):
        _or_refused(pview.sql, query)
    _or_refused(lambda n: pview.sample(n, seed=1), 20)
    again = sd.PView.open(pview.save(folder / "again"))
    if not again.model.frame().equals(pview.model.frame()):
        raise AssertionError("saved again, it is another p-view")


def _or_refused(ask: Callable[[Any], Any], question: Any) -> Any:
    """Ask something that a p-view may have a reason to refuse."""
    try:
        return ask(question)
    except sd.SudareError:
        return None


# -- Laws ---------------------------------------------------------------------------------------------


@cache
def _release() -> tuple[Any, bytes]:
    frame = pl.DataFrame(
        {
            "age": [20 + i % 30 for i in range(60)],
            "ill": ["yes", "no", "no"] * 20,
            "town": ["a", "b"] * 30,
            "pay": [i % 8 for i in range(60)],
            "size": [1.0 + i % 9 for i in range(60)],
            "x": [0.5 + i % 3 / 9 for i in range(60)],
            "y": [0.5 + i % 2 / 9 for i in range(60)],
        }
    )
    schema = sd.Schema.from_roles(
        quasi=["age", "town", "pay", "size", "x", "y"],
        sensitive=["ill"],
        bounds={"age": (20, 60), "pay": (0, 7), "size": (1.0, 10.0), "x": (0.0, 1.0), "y": (0.0, 1.0)},
        domains={"ill": ["yes", "no"], "town": ["a", "b"]},
    )
    how = {
        "pay": "bits",
        "size": "factor",
        "where": sd.methods.Area(polygon=[(0, 0), (1, 0), (1, 1)] * 2 + [(0, 1)]),
    }
    joint = {"who": ["town", "ill"], "where": ["x", "y"]}
    options: dict[str, Any] = {"how": how, "joint": joint, "unsafe_seed": 1}
    release = sd.randomize(sd.read(frame, schema), sd.PkAnonymity(2), **options)
    return json.loads(json.dumps(release.plan.to_json())), written(
        release.frame(), pl.DataFrame.write_parquet
    )


def _by_weights(law: dict[str, Any]) -> dict[str, Any]:
    """Return the same with one law in the form that very many values have."""
    own = {key: value for key, value in law["attributes"]["who"].items() if key != "retention"}
    size = len(law["attributes"]["who"]["retention"])
    weighed = own | {"weights": [1 / size] * size, "ratio": 2.0}
    return law | {"attributes": law["attributes"] | {"who": weighed}}


def _make_law(folder: Path, rng: random.Random) -> None:
    law, data = _release()
    law = _by_weights(law) if rng.random() < 0.3 else law
    harmed = mutate_tree(law, rng) if rng.random() < 0.8 else law
    (folder / "law.json").write_bytes(json_bytes(harmed, rng))
    (folder / "data.parquet").write_bytes(data if harmed is not law else mutate_parquet(data, rng))


def _read_law(folder: Path) -> None:
    from sudare.tables.parquet_files import read_parquet
    from sudare.verification import recount_laws

    law, data = TableLaw.open(folder / "law.json"), read_parquet(folder / "data.parquet")
    recount_laws.promised(data.columns, data.get_column, law)
    _or_refused(lambda own: sd.attack(data, law=own), json.loads((folder / "law.json").read_text()))
    for name, own in law.attributes.items():
        _or_refused(lambda counts: estimate(counts, "ml"), PublishedCounts.of(data, {name: own}))


# -- Plans --------------------------------------------------------------------------------------------


ASKED = [sd.KAnonymity(3), sd.LDiversity(2)]
REGIONS = "regions of "


@cache
def _planned(engine: str = "memory") -> sd.Table:
    frame = pl.DataFrame(
        {
            "age": [20 + 7 * i % 40 for i in range(60)],
            "town": [("a", "b", "c", None)[i * i % 4] for i in range(60)],
            "ill": ["x", "y", "z", "x", "y"] * 12,
        }
    )
    return sd.read(frame, sd.Schema.from_roles(quasi=["age", "town"], sensitive=["ill"]), engine=engine)


@cache
def _plan(kind: str) -> dict[str, bytes]:
    """Return the files of a saved plan."""
    if kind == "views":
        plan = sd.generalize_views(
            _planned(), {"a": ["age"], "b": ["age", "town"]}, sd.MultiViewDiversity(2)
        ).plan
    elif kind.startswith(REGIONS):
        with patch.object(Relational, "max_tuples", 15):
            plan = sd.generalize(_planned("duckdb"), ASKED, method=kind.removeprefix(REGIONS)).plan
    else:
        plan = sd.generalize(_planned(), ASKED, method=kind).plan
    with tempfile.TemporaryDirectory() as folder:
        saved_to = plan.save(Path(folder) / "plan")
        return {file.name: file.read_bytes() for file in sorted(saved_to.iterdir())}


def _make_plan(kinds: list[str], folder: Path, rng: random.Random) -> None:
    """Harm one file of a plan: its bytes, what its head says, or the numbers of a table."""
    files = dict(_plan(rng.choice(kinds)))
    name = rng.choice(list(files))
    if name.endswith(".json"):
        files[name] = json_bytes(mutate_tree(json.loads(files[name]), rng), rng)
    elif rng.random() < 0.5:
        files[name] = written(mutate_frame(pl.read_parquet(files[name]), rng), pl.DataFrame.write_parquet)
    else:
        files[name] = mutate_parquet(files[name], rng)
    for own, content in files.items():
        (folder / own).write_bytes(content)


def _apply_plan(folder: Path) -> None:
    _applied(sd.Plan.open(folder), folder)


def _apply_regions(folder: Path) -> None:
    """A database follows cuts by its own joins: it must put everybody where memory does."""
    plan = sd.Plan.open(folder)
    if isinstance(plan, RegionsPlan):
        here, there = (
            plan.locate(_planned(engine)).at_once("It is compared") for engine in ("memory", "duckdb")
        )
        if not (
            np.array_equal(here.counts.codes, there.counts.codes)
            and np.array_equal(here.levels[here.block_of], there.levels[there.block_of])
            and np.array_equal(here.block_of, there.block_of)
        ):
            raise AssertionError("a database follows other cuts")
    _applied(plan, folder)


def _applied(plan: sd.Plan, folder: Path) -> None:
    release = sd.apply(plan, _planned(), unseen="suppress")
    for frame in release.frames().values():
        quasi = [name for name in frame.columns if name != "ill"]
        for asked in release.requirements:
            if isinstance(asked, sd.KAnonymity) and frame.group_by(quasi).len()["len"].min() < asked.k:
                raise AssertionError("a block has fewer records than the plan asks for")
    again = sd.Plan.open(plan.save(folder / "again"))
    if not sd.apply(again, _planned(), unseen="suppress").frames().keys() == release.frames().keys():
        raise AssertionError("saved again, it is another plan")


# -- Schemas and hierarchies --------------------------------------------------------------------------

SCHEMA = b"""missing = "own value"
missing_values = ["", "n/a"]

[csv]
delimiter = ","
encoding = "utf-8"

[attributes.age]
role = "quasi"
type = "integer"
bounds = [0, 120]
bins = 12
outside = "clip"
weight = 2.0
hierarchy = { kind = "intervals", width = 5, fanout = 3, origin = 0 }

[attributes.zip]
role = "quasi"
hierarchy = "mask"

[attributes."born on"]
role = "quasi"
type = "date"
bounds = [1900-01-01, 2024-12-31]
hierarchy = { kind = "dates", levels = ["month", "year"] }

[attributes.town]
role = "other"
hierarchy = { kind = "tree", tree = { North = ["a", "b"], South = ["c"] } }

[attributes.ill]
role = "sensitive"
domain = ["yes", "no"]
hierarchy = { kind = "rows", rows = [["yes", "*"], ["no", "*"]] }
"""
TABLE = b"""age,zip,born on,town,ill
34,1010,2001-02-03,a,yes
61,1020,1950-12-31,b,no
n/a,2000,,a,no
7,77,2016-02-29,c,yes
"""


def _make_schema(folder: Path, rng: random.Random) -> None:
    (folder / "schema.toml").write_bytes(mutate_text(SCHEMA, rng))
    (folder / "people.csv").write_bytes(TABLE)


def _read_schema(folder: Path) -> None:
    schema = sd.Schema.from_toml(folder / "schema.toml")
    (folder / "again.toml").write_text(schema.to_toml(), encoding="utf-8")
    if sd.Schema.from_toml(folder / "again.toml") != schema:
        raise AssertionError("written again, it is another schema")
    table = sd.read(folder / "people.csv", schema)
    for name in table.columns:
        _ = table[name].hierarchy


ROWS = b"34;[30, 40);[0, 50);*\n61;[60, 70);[50, 100);*\n7;[0, 10);[0, 50);*\n8;[0, 10);[0, 50);*\n"
TREE_TOML = b'[North]\nFar = ["a", "b"]\n[South]\nLow = ["c", 4]\nHigh = [1.5, 2024-01-01]\n'
TREE: Any = {
    "Europe": {"North": ["Norway", "Sweden"], "South": ["Italy", 1, 2.5]},
    "Asia": {"East": ["Japan", "Korea"]},
}


def _make_hierarchy(folder: Path, rng: random.Random) -> None:
    ending = rng.choice(["csv", "json", "toml"])
    if ending == "json":
        content = json_bytes(mutate_tree(TREE, rng), rng)
    else:
        content = mutate_text(ROWS if ending == "csv" else TREE_TOML, rng)
    (folder / f"tree.{ending}").write_bytes(content)


def _read_hierarchy(folder: Path) -> None:
    hierarchy = sd.Hierarchy.from_file(next(folder.iterdir()))
    if sd.Hierarchy.from_rows(hierarchy.rows()) != hierarchy:
        raise AssertionError("made from its own rows, it is another hierarchy")


MATRIX = b"published,no,yes,1.5\nno,0.9,0.3,0.1\nyes,0.05,0.6,0.1\n1.5,0.05,0.1,0.8\n"
PRIOR = b"value,count\nno,90\nyes,10\n1.5,3\n"


def _make_matrix(folder: Path, rng: random.Random) -> None:
    name, content = rng.choice([("matrix", MATRIX), ("prior", PRIOR)])
    (folder / f"{name}.csv").write_bytes(mutate_text(content, rng))


def _read_matrix(folder: Path) -> None:
    path = next(folder.iterdir())
    domain = _values()
    if path.stem == "prior":
        numbers = read_prior(path, "ill", domain)
        right = bool((numbers >= 0).all() and np.isfinite(numbers).all())
    else:
        numbers = read_matrix(path, "ill", domain)
        right = bool((abs(numbers.sum(axis=0) - 1) < 1e-6).all())
    if not right:
        raise AssertionError("these are no probabilities or counts")


@cache
def _values() -> Any:
    from sudare.randomization.domains import Categories

    return Categories.of("ill", Attribute(role="sensitive", domain=("no", "yes", "1.5")), missing=False)


# -- Tables -------------------------------------------------------------------------------------------

FRAME = pl.DataFrame(
    {
        "age": [30, 40, None, 50] * 5,
        "zip": ["a", "b", "c", None] * 5,
        "pay": [1.5, 2.5, 3.5, float("nan")] * 5,
        "ok": [True, False, None, True] * 5,
    }
).with_columns(born=pl.date(2000, 1, 1), seen=pl.datetime(2020, 1, 1, 5, 6, 7))
WRITERS: dict[str, Callable[[pl.DataFrame, io.BytesIO], Any]] = {
    "parquet": pl.DataFrame.write_parquet,
    "arrow": lambda frame, file: frame.write_ipc(file),
    "feather": lambda frame, file: frame.write_ipc(file, compression="zstd"),
    "jsonl": pl.DataFrame.write_ndjson,
}


def _make_csv(folder: Path, rng: random.Random) -> None:
    (folder / "people.csv").write_bytes(mutate_text(TABLE * rng.choice([1, 30]), rng))


def _maker(*endings: str) -> Callable[[Path, random.Random], None]:
    def make(folder: Path, rng: random.Random) -> None:
        ending = rng.choice(endings)
        content = written(FRAME, WRITERS[ending])
        if rng.random() < 0.3:
            content = written(mutate_frame(FRAME, rng), WRITERS[ending])
        elif ending == "parquet":
            content = mutate_parquet(content, rng)
        else:
            content = (mutate_text if ending == "jsonl" else mutate_bytes)(content, rng)
        (folder / f"people.{ending}").write_bytes(content)

    return make


@cache
def _copy(ending: str) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"people.{ending}"
        labels = Labels({"age": "Age in years"}, {"age": {"30": "thirty", "40": "forty"}})
        write_copy(Runs.of(FRAME), labels, path)
        return path.read_bytes()


def _make_workbook(folder: Path, rng: random.Random) -> None:
    """Change what is in a part: its archive's checksums would tell that bytes of it were changed."""
    ending = rng.choice(["xlsx", "ods"])
    with zipfile.ZipFile(io.BytesIO(_copy(ending))) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    if rng.random() < 0.8:
        chosen = rng.choice(list(parts))
        parts[chosen] = (mutate_text if rng.random() < 0.7 else mutate_bytes)(parts[chosen], rng)
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    whole = packed.getvalue()
    (folder / f"people.{ending}").write_bytes(whole if rng.random() < 0.8 else mutate_bytes(whole, rng))


def _make_statistics(folder: Path, rng: random.Random) -> None:
    ending = rng.choice(["dta", "sav"])
    (folder / f"people.{ending}").write_bytes(mutate_bytes(_copy(ending), rng))


def _make_zip(folder: Path, rng: random.Random) -> None:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("people.csv", mutate_text(TABLE, rng))
    (folder / "people.zip").write_bytes(
        packed.getvalue() if rng.random() < 0.3 else mutate_bytes(packed.getvalue(), rng)
    )


def _make_json(folder: Path, rng: random.Random) -> None:
    (folder / "people.json").write_bytes(mutate_text(_copy("json"), rng))


def _read_table(folder: Path) -> None:
    table = sd.read(next(folder.iterdir()))
    if table.frame().height != len(table):
        raise AssertionError("rows were lost")


# -- Certificates and ledgers -------------------------------------------------------------------------


@cache
def _certificate() -> Any:
    table = sd.read(
        pl.DataFrame({"age": [30, 31] * 5, "ill": ["a", "b"] * 5}),
        sd.Schema.from_roles(quasi=["age"], sensitive=["ill"]),
    )
    return sd.generalize(table, sd.KAnonymity(2)).certificate.model_dump(mode="json")


def _make_certificate(folder: Path, rng: random.Random) -> None:
    """Write a certificate whose own hash fits, most of the time."""
    data = mutate_tree(_certificate(), rng)
    if isinstance(data, dict) and rng.random() < 0.8:
        data["sha256"] = hashlib.sha256(certificates._json(data)).hexdigest()  # type: ignore[attr-defined]
        content = certificates._json(data)  # type: ignore[attr-defined]
    else:
        content = json_bytes(data, rng)
    (folder / "certificate.json").write_bytes(content)


def _read_certificate(folder: Path) -> None:
    certificate = Certificate.open(folder / "certificate.json")  # type: ignore[attr-defined]
    certificate.schema_of_output()


@cache
def _entries() -> list[tuple[str, Any]]:
    """Return what a ledger says of a p-view and of a table, and of who keeps apart what they get."""
    schema = sd.Schema.from_roles(
        quasi=["age"], sensitive=["ill"], bounds={"age": (0, 99)}, domains={"ill": ["a", "b"]}
    )
    table = sd.read(pl.DataFrame({"age": [30, 31] * 5, "ill": ["a", "b"] * 5}), schema)
    with tempfile.TemporaryDirectory() as folder:
        ledger = sd.Ledger(Path(folder) / "ledger.db")
        ledger.declare_apart(["us", "them"])
        ledger.set_budget(table.name, 6, schedule=sd.Schedule(periods=3))
        ledger.begin_period(table.name)
        sd.materialize(table, sd.DifferentialPrivacy(0.5), "independent", ledger=ledger, receiver="us")
        sd.generalize(table, sd.KAnonymity(2)).write(Path(folder) / "out", ledger=ledger, receiver="them")
        return [(entry.kind, json.loads(json.dumps(entry.body))) for entry in ledger.entries()]


def _make_ledger(folder: Path, rng: random.Random) -> None:
    """Write a ledger whose bytes are harmed, or whose entries say anything, with a chain that is whole."""
    path = folder / "ledger.db"
    sd.Ledger(path)
    harmed = rng.random() < 0.4
    _forge(path, [(kind, own if harmed else mutate_tree(own, rng)) for kind, own in _entries()])
    if harmed:
        path.write_bytes(mutate_bytes(path.read_bytes(), rng))


def _forge(path: Path, bodies: list[tuple[str, Any]]) -> None:
    """Add entries past all checks, as who may write the file can."""
    previous, at = chain.GENESIS, "2024-01-01T00:00:00+00:00"
    with closing(sqlite3.connect(path)) as connection, connection:
        for seq, (kind, body) in enumerate(bodies, start=1):
            text = json.dumps(body, sort_keys=True, separators=(",", ":")).replace(
                json.dumps(DEEP), "[" * 5000
            )
            own = chain._hash(seq, at, kind, text, previous)
            connection.execute(
                "INSERT INTO entries VALUES (?, ?, ?, ?, ?, ?)", (seq, at, kind, text, previous, own)
            )
            previous = own


def _read_ledger(folder: Path) -> None:
    ledger = sd.Ledger(folder / "ledger.db")
    ledger.entries()
    ledger.releases("DataFrame")
    ledger.budget("DataFrame")


READERS: dict[str, Reader] = {
    "p-view manifests": Reader(_make_manifest, _ask),
    "p-view data": Reader(_make_data, _ask),
    "laws": Reader(_make_law, _read_law),
    "plans": Reader(partial(_make_plan, ["minimal", "mondrian", "full-domain", "views"]), _apply_plan),
    "plans in regions": Reader(
        partial(_make_plan, [f"{REGIONS}minimal", f"{REGIONS}mondrian"]), _apply_regions
    ),
    "schemas": Reader(_make_schema, _read_schema),
    "hierarchies": Reader(_make_hierarchy, _read_hierarchy),
    "matrices and priors": Reader(_make_matrix, _read_matrix),
    "CSV tables": Reader(_make_csv, _read_table),
    "Parquet tables": Reader(_maker("parquet"), _read_table),
    "Arrow tables": Reader(_maker("arrow", "feather"), _read_table),
    "JSON lines": Reader(_maker("jsonl"), _read_table),
    "JSON arrays": Reader(_make_json, _read_table),
    "zipped tables": Reader(_make_zip, _read_table),
    "workbooks": Reader(_make_workbook, _read_table),
    "Stata and SPSS tables": Reader(_make_statistics, _read_table),
    "ledgers": Reader(_make_ledger, _read_ledger),
}
if hasattr(Certificate, "open"):
    READERS["certificates"] = Reader(_make_certificate, _read_certificate)


def make(reader: str, number: int, folder: Path) -> None:
    """Make an input from a number in an empty folder; what cannot even be written is made otherwise."""
    for attempt in range(100):
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        try:
            READERS[reader].make(folder, random.Random(f"{reader} {number} {attempt}"))
        except (
            pl.exceptions.PolarsError,
            pl.exceptions.PanicException,
            TypeError,
            ValueError,
            OverflowError,
        ):
            continue
        return
