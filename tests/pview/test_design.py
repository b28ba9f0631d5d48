"""Designs: what is decided without the data, saved, opened, and used on other rows."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import sudare as sd
from sudare import methods
from sudare.pview.design import PViewDesign
from sudare.verbs.materialize import materialize_design

SCHEMA = sd.Schema.from_roles(
    quasi=["age"],
    sensitive=["ill"],
    bounds={"age": (18, 90)},
    domains={"ill": ["yes", "no"]},
    missing="refuse",
)
PROMISE = sd.DifferentialPrivacy(2.0)


def people(n: int, seed: int = 0) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    return pl.DataFrame({"age": rng.integers(18, 91, n), "ill": rng.choice(["yes", "no"], n)})


@pytest.fixture
def design() -> PViewDesign:
    return PViewDesign.of(SCHEMA, PROMISE, methods.DPMondrian(theta=2))


def test_a_design_is_opened_as_it_was_saved(design: PViewDesign, tmp_path: Path) -> None:
    folder = design.save(tmp_path / "plan")
    opened = PViewDesign.open(folder)
    assert opened.to_json() == design.to_json()
    assert (opened.requirement, opened.method) == (design.requirement, design.method)
    with pytest.raises(sd.InputError, match="exists already"):
        design.save(folder)
    design.save(folder, force=True)


def test_a_design_makes_what_materialize_makes(design: PViewDesign) -> None:
    table = sd.read(people(500), SCHEMA)
    by_design = materialize_design(design, table, unsafe_seed=1)
    by_verb = sd.materialize(table, PROMISE, "dp-mondrian", theta=2, unsafe_seed=1)
    assert by_design.model.frame().equals(by_verb.model.frame())
    assert by_verb.design.to_json() == design.to_json()


def test_every_use_of_a_design_costs_its_budget(design: PViewDesign, tmp_path: Path) -> None:
    ledger = sd.Ledger(tmp_path / "ledger.db")
    ledger.set_budget("DataFrame", 4, neighbours="add or remove")
    for seed in range(2):
        materialize_design(design, sd.read(people(300, seed), SCHEMA), ledger=ledger)
    with pytest.raises(sd.LedgerError, match="would be overspent"):
        materialize_design(design, sd.read(people(300, 3), SCHEMA), ledger=ledger)


def test_a_table_that_has_more_columns_is_counted_by_the_designs_own(
    design: PViewDesign, tmp_path: Path
) -> None:
    more = sd.Schema.from_roles(quasi=["sex", "age"], sensitive=["ill"], identifier=["name"])
    frame = people(300).with_columns(sex=pl.lit("F"), name=pl.lit("Alice"))
    pview = materialize_design(design, sd.read(frame, more))
    assert pview.domain.names == ["age", "ill"]
    folder = pview.write(tmp_path / "out")
    assert sd.verify(folder).holds
    assert all(b"Alice" not in path.read_bytes() for path in (folder / "hand-over").iterdir())


@pytest.mark.parametrize(
    ("frame", "roles", "message"),
    [
        (people(9).drop("ill"), {"quasi": ["age"]}, "has no column 'ill', which the p-view counts"),
        (people(9), {"identifier": ["age"], "sensitive": ["ill"]}, "'age' is an identifier by its schema"),
        (people(9).with_columns(age=pl.lit(91)), {"quasi": ["age", "ill"]}, "'91' is outside the bounds"),
        (people(9).with_columns(age=pl.lit(17)), {"quasi": ["age", "ill"]}, "'17' is outside the bounds"),
        (people(9).with_columns(ill=pl.lit("maybe")), {"quasi": ["age", "ill"]}, "is not in the declared domain"),
        (people(9).with_columns(age=pl.Series([None, *range(20, 28)])), {"quasi": ["age", "ill"]}, "has missing values"),
    ],
)  # fmt: skip
def test_other_tables_are_refused_and_cost_nothing(
    design: PViewDesign, frame: pl.DataFrame, roles: dict[str, list[str]], message: str, tmp_path: Path
) -> None:
    ledger = sd.Ledger(tmp_path / "ledger.db")
    table = sd.read(frame, sd.Schema.from_roles(**roles))  # type: ignore[arg-type]
    with pytest.raises(sd.InputError, match=message):
        materialize_design(design, table, ledger=ledger)
    assert ledger.entries() == []


BROKEN: list[Any] = [None, True, -1, "x", [], {}, 10**400]


@pytest.mark.parametrize(
    ("key", "value"),
    [
        *((key, value) for key in ("kind", "version", "neighbours", "method", "domain") for value in BROKEN),
        *(("epsilon", value) for value in BROKEN),
        *(("delta", value) for value in [*BROKEN, 1.0, float("nan")]),
        ("version", 2),
        ("neighbours", "replace"),
        ("more", 1),
        ("domain", [{"name": "age"}]),
        ("method", {"name": "dp-mondrian", "theta": 1}),
    ],
)
def test_a_forged_design_is_refused(design: PViewDesign, key: str, value: Any) -> None:
    with pytest.raises(sd.InputError):
        PViewDesign.from_json(design.to_json() | {key: value})


def test_a_damaged_file_is_refused(design: PViewDesign, tmp_path: Path) -> None:
    path = design.save(tmp_path / "plan") / "plan.json"
    for text in ("", "[", "null", json.dumps(design.to_json())[:-3], '{"kind": "law"}'):
        path.write_text(text)
        with pytest.raises(sd.InputError):
            PViewDesign.open(tmp_path / "plan")
    with pytest.raises(sd.InputError):
        PViewDesign.open(tmp_path / "nowhere")


def test_a_design_is_a_function_of_the_schema_alone() -> None:
    one, other = (sd.materialize(sd.read(people(n), SCHEMA), PROMISE).design.to_json() for n in (50, 500))
    assert one == other == PViewDesign.of(SCHEMA, PROMISE).to_json()


@pytest.mark.parametrize(
    "requirement", [None, 1.0, sd.KAnonymity(2), sd.DifferentialPrivacy(1, per="record")]
)
def test_only_differential_privacy_of_the_table_is_designed(requirement: Any) -> None:
    with pytest.raises(sd.ParameterError, match="of the whole table"):
        PViewDesign.of(SCHEMA, requirement)
