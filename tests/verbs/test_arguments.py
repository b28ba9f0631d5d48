"""Wrong kinds of arguments are refused in our voice, and before any work."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path

import polars as pl
import pytest

import sudare as sd
from tests.conformance import people

SCHEMA = sd.Schema.from_roles(
    identifier=["name"],
    quasi=["age", "town"],
    sensitive=["illness"],
    other=["note"],
    bounds={"age": (0, 99)},
    domains={"town": ["Ayr", "Bath", "Cork", "Deal"], "illness": ["flu", "HIV", "cancer"]},
)
SOURCE = people()
VIEWS = {"ages": ["age"], "towns": ["town"]}
PK, TWO = sd.PkAnonymity(4), sd.MultiViewDiversity(2)


@cache
def table() -> sd.Table:
    return sd.read(SOURCE, SCHEMA)


@cache
def release() -> sd.Release:
    return sd.generalize(table(), sd.KAnonymity(2), "mondrian")


@cache
def answers() -> sd.Randomizer:
    return sd.Randomizer.from_schema(SCHEMA, sd.DifferentialPrivacy(2.0, per="record"))


PATH = "must be a path. Got int"
FRAME = "needs what was published: a polars frame, a file, or the folder of a release. Got"
OF_SCHEMA = "must be a Schema, such as Schema.from_toml"
LEDGER = "'ledger' must be a ledger, such as sd.Ledger"
BY_NAME = "must be a dict by attribute or group"

WRONG: dict[str, tuple[Callable[[], object], str]] = {
    "read, schema": (lambda: sd.read(SOURCE, 5), OF_SCHEMA),
    "read, memory": (lambda: sd.read(SOURCE, memory=5), "must be a size such as '2GB'. Got int"),
    "read, memory of DuckDB": (lambda: sd.read(SOURCE, engine="duckdb", memory=5), "must be a size such as"),
    "read, csv": (lambda: sd.read(SOURCE, csv=","), "must be a CsvFormat. Got str"),
    "generalize, predict": (
        lambda: sd.generalize(table(), sd.KAnonymity(2), predict=4),
        "must be the name of an attribute. Got int",
    ),
    "generalize_views, ledger": (lambda: sd.generalize_views(table(), VIEWS, TWO, ledger="a.db"), LEDGER),
    "generalize_views, weights": (
        lambda: sd.generalize_views(table(), VIEWS, TWO, weights="x"),
        "must be a dict of numbers by view. Got str",
    ),
    "randomize, requirement": (lambda: sd.randomize(table(), 5), "must be PkAnonymity or Differential"),
    "randomize, how": (lambda: sd.randomize(table(), PK, how="bins"), f"'how' .*{BY_NAME}"),
    "randomize, joint": (lambda: sd.randomize(table(), PK, joint="x"), f"'joint' .*{BY_NAME}"),
    "randomize, priors": (lambda: sd.randomize(table(), PK, priors=[1, 2]), f"'priors' .*{BY_NAME}"),
    "randomize, a prior": (lambda: sd.randomize(table(), PK, priors={"town": "x"}), "must have 5 counts"),
    "randomize, a matrix": (lambda: sd.randomize(table(), PK, matrices={"town": "x"}), "of probabilities"),
    "publish, policy": (lambda: sd.publish(table(), {"l": 2}), "must be a Policy, such as Policy"),
    "verify, a release": (lambda: sd.verify(release()), f"^verify {FRAME} Release"),
    "verify, pandas": (
        lambda: sd.verify(release().frame().to_pandas(), sd.KAnonymity(2), SCHEMA),
        f"^verify {FRAME} DataFrame",
    ),
    "verify, schema": (lambda: sd.verify(release().frame(), sd.KAnonymity(2), "a.toml"), OF_SCHEMA),
    "attack, a release": (lambda: sd.attack(release(), SCHEMA), f"^attack {FRAME} Release"),
    "attack, a list": (
        lambda: sd.attack([release().frame()], SCHEMA, kind="intersection", known=table()),
        f"^attack {FRAME} list",
    ),
    "attack, schema": (lambda: sd.attack(release().frame(), "a.toml"), OF_SCHEMA),
    "attack, known": (
        lambda: sd.attack(release().frame(), SCHEMA, kind="background", known="2"),
        "'known' parameter of the background attack must be a whole number of 0 or more",
    ),
    "attack, threshold": (
        lambda: sd.attack(release().frame(), SCHEMA, kind="reidentification", threshold="2"),
        "'threshold' parameter of the reidentification attack must be a number from 0 to 1",
    ),
    "reconstruct, release": (lambda: sd.reconstruct(5, "age"), f"^reconstruct {FRAME} int"),
    "reconstruct, attributes": (
        lambda: sd.reconstruct(pl.DataFrame({"age": [1]}), 5, law={}),
        "must be a name, or several. Got int",
    ),
    "write, folder": (lambda: release().write(5), PATH),
    "write, ledger": (lambda: release().write("out", ledger="a.db"), LEDGER),
    "write, to": (lambda: release().write("out", to=5), "--to must be a URL such as"),
    "save, folder": (lambda: release().plan.save(5), PATH),
    "Ledger, path": (lambda: sd.Ledger(5), PATH),
    "Randomizer, schema": (lambda: sd.Randomizer.from_schema("a.toml", PK, records=9), OF_SCHEMA),
    "Randomizer, record": (lambda: answers().answer(5), "must be a dict of values by attribute. Got int"),
    "optimal, histogram": (lambda: sd.pram.optimal("x", epsilon=1.0), "must be numbers of 0 or more"),
}


@pytest.mark.parametrize("case", WRONG)
def test_another_kind_of_thing_is_refused(case: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    wrong, words = WRONG[case]
    with pytest.raises((sd.ParameterError, sd.InputError), match=words):
        wrong()
    assert not list(tmp_path.iterdir())
