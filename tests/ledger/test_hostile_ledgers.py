"""Ledgers whose entries were forged and hashed anew: a clear error or the right answer, and nothing else."""

from __future__ import annotations

import base64
import copy
import hashlib
import json
import os
import random
import shutil
import sqlite3
import zlib
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sudare as sd
from sudare.cli.ledger import show
from sudare.ledger import chain, history, sqlite_file
from sudare.ledger.entries import MAX_RECEIVERS
from tests.ledger.test_ledger import SCHEMA, people

Bodies = list[tuple[str, Any]]
MUTATIONS = int(os.environ.get("SUDARE_FUZZ", "300"))


@pytest.fixture(scope="module")
def table() -> sd.Table:
    return sd.read(people(24), SCHEMA)


@pytest.fixture(scope="module")
def honest(table: sd.Table, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A ledger with entries of all kinds."""
    folder = tmp_path_factory.mktemp("honest")
    ledger = sd.Ledger(folder / "releases.db")
    ledger.set_budget(table.name, 12, "1e-6", schedule=sd.Schedule(decay="1/4"))
    ledger.declare_apart(["x", "y", "z"])
    views = sd.generalize_views(table, {"a": ["age"], "b": ["town"]}, sd.MultiViewDiversity(2, "entropy"))
    views.write(folder / "views", ledger=ledger, receiver="x")
    sd.generalize(table, sd.LDiversity(2)).write(folder / "table", ledger=ledger, receiver="y")
    sd.randomize(table, sd.DifferentialPrivacy(1, per="record")).write(folder / "noise", ledger=ledger)
    sd.materialize(table, sd.DifferentialPrivacy(1, 1e-8), "independent", ledger=ledger, receiver="z")
    ledger.begin_period(table.name)
    return ledger.path


@pytest.fixture(scope="module")
def later(table: sd.Table) -> dict[str, Any]:
    """What a further release would record."""
    release = sd.generalize_views(table, {"c": ["height"]}, sd.MultiViewDiversity(2))
    return history.record(
        table, "out", "x", release.certificate, release.kept.input_salt, neighbours="replace",
        columns={name: frame.columns for name, frame in release.frames().items()}, blocks=release.kept.blocks, requirements=release.requirements,
    )  # fmt: skip


def bodies_of(path: Path) -> Bodies:
    return [(entry.kind, entry.body) for entry in sd.Ledger(path, create=False).entries()]


def forge(honest: Path, path: Path, bodies: Bodies, at: str = "2024-01-31T00:00:00+00:00") -> Path:
    """Write a chain of any bodies, hashed as Sudare would; a body that is text is written as it is."""
    shutil.copy(honest, path)
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        triggers = connection.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'").fetchall()
        for name, _ in triggers:
            connection.execute(f"DROP TRIGGER {name}")
        connection.execute("DELETE FROM entries")
        previous = chain.GENESIS
        for seq, (kind, body) in enumerate(bodies, 1):
            text = body if isinstance(body, str) else json.dumps(body, sort_keys=True, separators=(",", ":"))
            message = json.dumps([seq, at, kind, text, previous], separators=(",", ":"))
            digest = hashlib.sha256(message.encode("ascii")).hexdigest()
            connection.execute(
                "INSERT INTO entries VALUES (?, ?, ?, ?, ?, ?)", (seq, at, kind, text, previous, digest)
            )
            previous = digest
        for _, sql in triggers:
            connection.execute(sql)
    return path


def use(path: Path, table: sd.Table, later: dict[str, Any]) -> list[str]:
    """Do all that reads a ledger; return the errors that it was refused with. Any other error is a failure."""
    ledger = sd.Ledger(path, create=False)
    need = sd.MultiViewDiversity(2)
    refused = []
    uses: list[Callable[[], object]] = [
        ledger.verify,
        lambda: ledger.budget(table.name, "x"),
        lambda: ledger.releases(table.name),
        lambda: ledger.refuse(later, table),
        lambda: sd.generalize_views(table, {"c": ["height"]}, need, ledger=ledger, receiver="x"),
        lambda: ledger.begin_period(table.name),
        lambda: ledger.set_budget(table.name, "1e20", "0.5"),
        lambda: show(path, json=True),
        lambda: show(path),
    ]
    for one in uses:
        try:
            one()
        except sd.SudareError as error:
            refused.append(str(error))
    return refused


HOSTILE = [
    None, True, -1, 0, 2, 2**31, 2**63, 10**400, 1.5, -0.0, 1e308, "", "x", "y", "\x1b[2J", "[/x]", "\ud800", "1e999999999",
    "1/0", "-1", "nan", "0" * 64, "é" * 5000, [], {}, ["x"], ["x", "x"], {"x": None}, [[[]]], "distinct", "posterior", "age", "ill",
]  # fmt: skip


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    paths = [path] if path else []
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in inner:
        paths += places(item, (*path, key))
    return paths


def mutated(bodies: Bodies, rng: random.Random) -> Bodies:
    """Change one to three places: another value, one from elsewhere, nothing, a further key, or another kind."""
    changed = copy.deepcopy(bodies)
    for _ in range(rng.randint(1, 3)):
        i = rng.randrange(len(changed))
        body = changed[i][1]
        *path, last = rng.choice(places(body))
        target = body
        for key in path:
            target = target[key]
        how = rng.randrange(6)
        if how == 0:
            del target[last]
        elif how == 1 and isinstance(target, dict):
            target[rng.choice(["blocks", "extra", "l", "noise", "\x1b"])] = copy.deepcopy(rng.choice(HOSTILE))
        elif how == 2:
            donor = rng.choice(changed)[1]
            *way, end = rng.choice(places(donor))
            for key in way:
                donor = donor[key]
            target[last] = copy.deepcopy(donor[end])
        elif how == 3 and isinstance(target[last], str) and target[last]:
            text = list(target[last])
            text[rng.randrange(len(text))] = rng.choice("=A0/\x00é")
            target[last] = "".join(text)
        elif how == 4:
            changed[i] = (rng.choice(["release", "budget", "period", "apart", "loan", "\x1b"]), body)
        else:
            target[last] = copy.deepcopy(rng.choice(HOSTILE))
        if not places(body):
            break
    return changed


@pytest.mark.parametrize("part", [0, *(pytest.param(part, marks=pytest.mark.slow) for part in range(1, 6))])
def test_forged_entries_end_in_a_clear_error_or_are_read(
    part: int, honest: Path, table: sd.Table, later: dict[str, Any], tmp_path: Path
) -> None:
    rng = random.Random(part)
    bodies, refused = bodies_of(honest), 0
    for i in range(MUTATIONS // 6):
        path = forge(honest, tmp_path / f"{i}.db", mutated(bodies, rng))
        errors = use(path, table, later)
        assert all(len(error) < 2000 for error in errors)
        refused += len(errors) > 0
        path.unlink()
    assert refused > MUTATIONS // 12, "most of what is forged is noticed"


def test_what_was_not_forged_is_read(
    honest: Path, table: sd.Table, later: dict[str, Any], tmp_path: Path
) -> None:
    path = forge(honest, tmp_path / "same.db", bodies_of(honest))
    refused = use(path, table, later)
    assert len(refused) == 1, "only the view that was not made against the ledger"
    assert "would break what release 3 promises" in refused[0]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[" * 100_000 + "]" * 100_000, "not a JSON object as Sudare writes it"),
        ('{"a":' * 50_000 + "1" + "}" * 50_000, "not a JSON object as Sudare writes it"),
        ('{"a":' * 60 + "1" + "}" * 60, "more than 30 levels"),
        ('{"receivers":["a","b"],"receivers":["a","c"]}', "not a JSON object as Sudare writes it"),
        ('{"receivers":NaN}', "not a JSON object as Sudare writes it"),
        ('{"receivers":1e999}', "not a JSON object as Sudare writes it"),
        ('{"receivers":' + "9" * 5000 + "}", "not a JSON object as Sudare writes it"),
        ('{"receivers": ["a","b"]}', "not a JSON object as Sudare writes it"),
        ('{"receivers":["a"]}', "is not a valid 'apart' entry: 'receivers' must have at least 2 items"),
        ('{"receivers":["a","b"],"who":1}', "is not a valid 'apart' entry: 'who' is not known here"),
        (json.dumps({"receivers": ["a"] * (MAX_RECEIVERS + 1)}, separators=(",", ":")), "'receivers' must have at most 1000 items"),
    ],
)  # fmt: skip
def test_bodies_that_sudare_does_not_write(honest: Path, tmp_path: Path, text: str, message: str) -> None:
    path = forge(honest, tmp_path / "forged.db", [("apart", text)])
    with pytest.raises(sd.LedgerError, match=rf"^Entry 1 of the ledger .*{message}"):
        sd.Ledger(path, create=False).entries()


def test_kinds_and_times_that_sudare_does_not_write(honest: Path, tmp_path: Path) -> None:
    body = {"receivers": ["a", "b"]}
    with pytest.raises(sd.LedgerError, match="is of the kind 'loan'"):
        sd.Ledger(forge(honest, tmp_path / "kind.db", [("loan", body)])).entries()
    with pytest.raises(sd.LedgerError, match="has no time"):
        sd.Ledger(forge(honest, tmp_path / "time.db", [("apart", body)], at="\x1b[2J")).entries()


def test_an_entry_that_is_too_large_is_refused(
    honest: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (chain, sqlite_file):
        monkeypatch.setattr(module, "MAX_BYTES", 100_000)
    path = forge(honest, tmp_path / "large.db", [("apart", {"receivers": ["a", "b" * 200_000]})])
    with pytest.raises(sd.LedgerError, match="too big"):
        sd.Ledger(path, create=False).entries()
    with pytest.raises(sd.ParameterError, match="more than 100,000"):
        chain.Chain(tmp_path / "new.db").append("release", {"x": "x" * 200_000})


def numbers_in(form: dict[str, Any]) -> np.ndarray:
    """What is packed: for every tuple the places of its values, and its block."""
    content = zlib.decompress(base64.b64decode(form["packed"]))
    return np.frombuffer(content, dtype="<i4").reshape(len(form["keys"]) + 1, -1).T.copy()


def packed(numbers: np.ndarray) -> str:
    return base64.b64encode(zlib.compress(numbers.T.astype("<i4").tobytes())).decode()


def with_number(form: dict[str, Any], column: int, number: int) -> str:
    numbers = numbers_in(form)
    numbers[0, column] = number
    return packed(numbers)


HOSTILE_BLOCKS: list[tuple[Callable[[dict[str, Any]], dict[str, Any]], str]] = [
    (lambda form: {"packed": base64.b64encode(zlib.compress(bytes(10**8))).decode()}, "not those of"),
    (lambda form: {"packed": packed(numbers_in(form)[:-1])}, "not those of"),
    (lambda form: {"tuples": form["tuples"] + 1}, "not those of"),
    (lambda form: {"packed": with_number(form, -1, -3)}, "numbers that no block has"),
    (lambda form: {"packed": with_number(form, -1, form["tuples"])}, "numbers that no block has"),
    (lambda form: {"packed": with_number(form, 0, -1)}, "values that are not listed"),
    (lambda form: {"packed": with_number(form, 0, 10**6)}, "values that are not listed"),
    (lambda form: {"packed": form["packed"][:-8]}, "blocks"),
    (lambda form: {"packed": "!" * 8}, "cannot be unpacked"),
    (lambda form: {"packed": "é"}, "cannot be unpacked"),
    (lambda form: {"packed": base64.b64encode(b"no zlib").decode()}, "cannot be unpacked"),
    (
        lambda form: {"packed": base64.b64encode(base64.b64decode(form["packed"]) + b"more").decode()},
        "not those of",
    ),
    (lambda form: {"keys": [form["keys"][0]] * len(form["keys"])}, "one column twice"),
    (lambda form: {"keys": [{"name": "nobody", "values": ["x"] * 99}, *form["keys"][1:]]}, "does not have"),
    (
        lambda form: {"keys": [{**key, "values": [f"{v}?" for v in key["values"]]} for key in form["keys"]]},
        "of other records",
    ),
]


@pytest.mark.parametrize(("change", "message"), HOSTILE_BLOCKS)
def test_blocks_are_checked_before_they_are_used(
    honest: Path,
    table: sd.Table,
    later: dict[str, Any],
    tmp_path: Path,
    change: Callable[[dict[str, Any]], dict[str, Any]],
    message: str,
) -> None:
    bodies = copy.deepcopy(bodies_of(honest))
    form = bodies[2][1]["views"]["a"]["blocks"]
    form |= change(form)
    ledger = sd.Ledger(forge(honest, tmp_path / "forged.db", bodies))
    with pytest.raises(
        sd.LedgerError, match=rf"^Release 3 in the ledger was not written by Sudare: .*{message}"
    ):
        ledger.refuse(later, table)


def test_rows_that_the_table_does_not_have_are_refused(
    honest: Path, table: sd.Table, later: dict[str, Any], tmp_path: Path
) -> None:
    bodies = copy.deepcopy(bodies_of(honest))
    bodies[2][1]["rows"] = 2**31 - 1
    with pytest.raises(sd.LedgerError, match="has 2,147,483,647 rows where its table has 24"):
        sd.Ledger(forge(honest, tmp_path / "forged.db", bodies)).refuse(later, table)
