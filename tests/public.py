"""Every public callable, and a valid call of each: whatever goes through all of them starts here."""

from __future__ import annotations

import dataclasses
import datetime as dt
import inspect
from collections.abc import Callable, Iterator
from dataclasses import replace
from enum import Enum
from functools import cache, partial
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import polars as pl
from pydantic import BaseModel

import sudare as sd
from sudare.noise.keystream import Keystream
from sudare.privacy.blocks import Blocks
from sudare.privacy.differential_privacy import PrivacyLoss
from sudare.privacy.multi_view import RemainingValues
from sudare.privacy.pk_anonymity import Spread
from sudare.pview.account import Account
from sudare.tables.counts import count
from tests import conformance
from tests.conformance import people

SCHEMA = sd.Schema.from_roles(
    identifier=["name"],
    quasi=["age", "town"],
    sensitive=["illness"],
    bounds={"age": (0, 99)},
    domains={"town": ["Ayr", "Bath", "Cork", "Deal"], "illness": ["flu", "HIV", "cancer"]},
)
PIPELINE = """
read = { source = "people.parquet", schema = "schema.toml" }
make = { verb = "generalize", k = 2, method = "mondrian" }
write = { folder = "releases" }
"""
VIEWS = {"ages": ["age"], "towns": ["town"]}
DP = sd.DifferentialPrivacy(1.0)


def callables() -> Iterator[tuple[str, Callable[..., Any]]]:
    """Yield whatever is public and takes something: functions, classes, and their public methods."""
    for name in sd.__all__:
        yield from _callables(name, getattr(sd, name))


def _callables(name: str, what: Any) -> Iterator[tuple[str, Callable[..., Any]]]:
    if isinstance(what, ModuleType):
        for inner in what.__all__:
            yield from _callables(f"{name}.{inner}", getattr(what, inner))
    elif inspect.isclass(what):
        if issubclass(what, BaseException | Enum):
            return
        if not inspect.isabstract(what) and parameters(what):
            yield name, what
        for inner in dir(what):
            of_pydantic = issubclass(what, BaseModel) and hasattr(BaseModel, inner)
            own = inspect.getattr_static(what, inner)
            method = inspect.isfunction(own) or isinstance(own, classmethod | staticmethod)
            if method and not inner.startswith("_") and not of_pydantic and parameters(getattr(what, inner)):
                yield f"{name}.{inner}", getattr(what, inner)
    elif parameters(what):
        yield name, what


def parameters(what: Callable[..., Any]) -> list[str]:
    """Return the names of what it takes, itself and what has any name left out."""
    free = (inspect.Parameter.VAR_KEYWORD, inspect.Parameter.VAR_POSITIONAL)
    given = inspect.signature(what).parameters.values()
    return [one.name for one in given if one.name != "self" and one.kind not in free]


# -- Things to call them with ----------------------------------------------------------------------


@cache
def table() -> sd.Table:
    return sd.read(people().drop("note"), SCHEMA)


@cache
def release() -> sd.Release:
    return sd.generalize(table(), sd.KAnonymity(2), "mondrian")


@cache
def randomized() -> sd.Release:
    return sd.randomize(table(), sd.PkAnonymity(4))


@cache
def design() -> sd.PViewDesign:
    return sd.PViewDesign.of(SCHEMA, DP, "independent")


@cache
def pview() -> sd.PView:
    return sd.materialize_design(design(), table())


@cache
def points() -> sd.PView:
    return sd.materialize(table(), DP, "dp-mondrian")


@cache
def assessment() -> sd.Assessment:
    return sd.assess(table(), l=2, k=2)


@cache
def randomizer() -> sd.Randomizer:
    return sd.Randomizer.from_schema(SCHEMA, sd.DifferentialPrivacy(2.0, per="record"))


@cache
def blocks() -> Blocks:
    counted = Blocks.of_table(table(), ["town"], "illness")
    return replace(counted, covered=counted.sizes, presence=np.ones((2, len(counted))))


def tree() -> sd.Hierarchy:
    return sd.Hierarchy.from_tree({"Europe": ["France", "Norway"], "Asia": ["Japan"]})


def counts() -> sd.Counts:
    return count({"age": np.array([1, 0, 1]), "sex": np.array([1, 0, 0])}, sizes=[2, 2])


def cells() -> dict[str, Any]:
    own = design().domain
    return {"counts": own.counts(table()), "domain": own, "account": Account(DP, Keystream())}


def boxes() -> dict[str, Any]:
    return {"low": [[0, 0, 0]], "high": [[1, 1, 1]]}


def ledger() -> sd.Ledger:
    return sd.Ledger("ledger.db")


def budgeted() -> sd.Ledger:
    own = ledger()
    own.set_budget("patients", 2, schedule=sd.Schedule(periods=2))
    return own


def entry() -> dict[str, Any]:
    return pview().kept.ledger_entry("out", None)  # type: ignore[union-attr]


def written(name: str) -> Any:
    release().write("release")
    release().plan.save("plan")
    pview().save("pview")
    design().save("design")
    release().certificate.write("certificate.json")
    Path("tree.csv").write_text("France;Europe;*\nJapan;Asia;*\n", encoding="utf-8")
    Path("schema.toml").write_text(SCHEMA.to_toml(), encoding="utf-8")
    people().drop("note").write_parquet("people.parquet")
    Path("pipeline.toml").write_text(PIPELINE, encoding="utf-8")
    return name


def fields(thing: Any) -> dict[str, Any]:
    """Return what a thing was made of."""
    if isinstance(thing, BaseModel):
        return {name: getattr(thing, name) for name in type(thing).model_fields}
    return {one.name: getattr(thing, one.name) for one in dataclasses.fields(thing) if one.init}


def matrix() -> sd.pram.Pram:
    return sd.pram.optimal_pram([3, 2, 1], epsilon=1.0)


def seen() -> RemainingValues:
    return RemainingValues.of([np.zeros(3, np.int64)], np.arange(3), np.array([2, 2, 2]))


# Whose methods are called.
RECEIVERS: dict[str, Callable[[], Any]] = {
    "Certificate": lambda: release().certificate,
    "Counts": counts,
    "DifferentialPrivacy": lambda: DP,
    "Hierarchy": tree,
    "Interest": lambda: sd.Interest.of("SELECT COUNT(*) FROM view WHERE age < 9", design().domain),
    "BetaLikeness": lambda: sd.BetaLikeness(4),
    "DeltaDisclosure": lambda: sd.DeltaDisclosure(2),
    "DeltaPresence": lambda: sd.DeltaPresence(0.5, population=pl.DataFrame({"age": [20, 30]})),
    "KAnonymity": lambda: sd.KAnonymity(2),
    "KMap": lambda: sd.KMap(2, population=pl.DataFrame({"age": [20, 30]})),
    "LDiversity": lambda: sd.LDiversity(2, attribute="illness"),
    "Ledger": budgeted,
    "MultiViewDiversity": lambda: sd.MultiViewDiversity(2),
    "PView": pview,
    "PViewDesign": design,
    "PkAnonymity": lambda: sd.PkAnonymity(4),
    "Plan": lambda: release().plan,
    "Randomizer": randomizer,
    "Release": release,
    "Schedule": lambda: sd.Schedule(periods=2),
    "Schema": lambda: SCHEMA,
    "TCloseness": lambda: sd.TCloseness(0.9),
    "Table": table,
    "methods.Blind": lambda: sd.methods.Blind(),
    "methods.DPMondrian": lambda: sd.methods.DPMondrian(),
    "methods.Dawa": lambda: sd.methods.Dawa(),
    "methods.FullDomain": lambda: sd.methods.FullDomain(),
    "methods.Hdmm": lambda: sd.methods.Hdmm(),
    "methods.Identity": lambda: sd.methods.Identity(),
    "methods.Independent": lambda: sd.methods.Independent(),
    "methods.Mdav": lambda: sd.methods.Mdav(),
    "methods.Minimal": lambda: sd.methods.Minimal(),
    "methods.Mondrian": lambda: sd.methods.Mondrian(),
    "methods.Pairs": lambda: sd.methods.Pairs(),
    "methods.PrivBayes": lambda: sd.methods.PrivBayes(),
    "pram.Pram": matrix,
}


def learning() -> dict[str, Any]:
    return {"table": table(), "requirements": [sd.KAnonymity(2)]}


def saved_fields(method: str) -> dict[str, Any]:
    data = RECEIVERS[f"methods.{method}"]().to_json()
    return {"data": {name: value for name, value in data.items() if name != "name"}}


BLOCKS = {
    f"{requirement}.{method}": lambda: {"blocks": blocks()}
    for requirement in (
        "KAnonymity",
        "KMap",
        "DeltaPresence",
        "LDiversity",
        "TCloseness",
        "BetaLikeness",
        "DeltaDisclosure",
    )
    for method in ("check", "failing", "measure")
}
METHODS: dict[str, Callable[[], dict[str, Any]]] = {
    **{f"methods.{name}.learn": learning for name in ("FullDomain", "Mdav", "Minimal", "Mondrian")},
    "methods.Blind.learn": lambda: {
        "table": sd.read(people(), conformance.SCHEMA),
        "requirements": [sd.KAnonymity(2)],
    },
    **{
        f"methods.{name}.{method}": call
        for name in ("DPMondrian", "Dawa", "Hdmm", "Identity", "Independent", "Pairs", "PrivBayes")
        for method, call in (("learn", cells), ("from_fields", partial(saved_fields, name)))
    },
}

# With what each is called.
CALLS: dict[str, Callable[[], dict[str, Any]]] = {
    **BLOCKS,
    **METHODS,
    "Assessment": lambda: fields(assessment()),
    "Attribute": lambda: {"role": "quasi", "bounds": (0, 9), "bins": 3},
    "Certificate": lambda: fields(release().certificate),
    "Certificate.from_json": lambda: {"data": release().certificate.model_dump(mode="json")},
    "Certificate.open": lambda: {"path": written("certificate.json")},
    "Certificate.write": lambda: {"path": "new.json"},
    "Counts": lambda: fields(counts()),
    "Counts.at": lambda: {"places": np.array([0])},
    "Counts.column": lambda: {"name": "age"},
    "Counts.of": lambda: {"columns": {"a": np.array([0, 1])}, "sizes": [2], "weights": np.array([1, 2])},
    "Counts.select": lambda: {"names": ["age"]},
    "CsvFormat": lambda: {"delimiter": ";"},
    "DifferentialPrivacy": lambda: {"epsilon": 1.0},
    "DifferentialPrivacy.measure": lambda: {"loss": PrivacyLoss(1.0)},
    "Hierarchy": lambda: fields(tree()),
    "Hierarchy.ages": lambda: {
        "values": pl.Series(["1990-05-17"]).str.to_date(),
        "on": dt.date(2024, 1, 1),
    },
    "Hierarchy.cost": lambda: {"level": 1},
    "Hierarchy.dates": lambda: {"values": pl.Series(["2024-05-17"]).str.to_date()},
    "Hierarchy.find": lambda: {"values": pl.Series(["Japan"])},
    "Hierarchy.from_csv": lambda: {"path": written("tree.csv")},
    "Hierarchy.from_file": lambda: {"path": written("tree.csv")},
    "Hierarchy.digits": lambda: {"values": [1, 2, 3]},
    "Hierarchy.from_rows": lambda: {"rows": [["a", "*"], ["b", "*"]]},
    "Hierarchy.from_tree": lambda: {"tree": {"Europe": ["France"]}},
    "Hierarchy.groups": lambda: {"mapping": {1: "low", 2: "high"}},
    "Hierarchy.to_csv": lambda: {},
    "Hierarchy.quantiles": lambda: {"values": [1, 2, 3], "groups": 2},
    "Hierarchy.top_bottom": lambda: {"values": [1, 2, 3], "low": 2},
    "Hierarchy.intervals": lambda: {"values": [1, 2, 3], "width": 2},
    "Hierarchy.mask": lambda: {"values": ["12", "13"]},
    "Hierarchy.meet": lambda: {"a": [0], "b": [1]},
    "Hierarchy.publish": lambda: {"leaves": [0], "level": 1},
    "Hierarchy.suppress": lambda: {"values": ["a", "b"]},
    "Hierarchy.take": lambda: {"leaves": [0, 1]},
    "Interest": lambda: fields(RECEIVERS["Interest"]()),
    "Interest.concerns": lambda: {"size": 1},
    "Interest.from_json": lambda: {"data": RECEIVERS["Interest"]().to_json(), "domain": design().domain},
    "Interest.of": lambda: {"workload": "SELECT COUNT(*) FROM view", "domain": design().domain},
    "BetaLikeness": lambda: {"beta": 4},
    "BetaLikeness.allowed": lambda: {"shares": np.array([0.5, 0.5])},
    "BetaLikeness.refuse_if_impossible": lambda: {"whole": blocks()},
    "DeltaDisclosure": lambda: {"delta": 2},
    "DeltaDisclosure.allowed": lambda: {"shares": np.array([0.5, 0.5])},
    "DeltaDisclosure.refuse_if_impossible": lambda: {"whole": blocks()},
    "DeltaPresence": lambda: {"d_max": 0.5, "population": pl.DataFrame({"age": [20, 30]})},
    "DeltaPresence.refuse_if_impossible": lambda: {"whole": blocks()},
    "KAnonymity": lambda: {"k": 2},
    "KMap": lambda: {"k": 2, "population": pl.DataFrame({"age": [20, 30]})},
    "KAnonymity.refuse_if_impossible": lambda: {"whole": blocks()},
    "KMap.refuse_if_impossible": lambda: {"whole": blocks()},
    "LDiversity": lambda: {"l": 2},
    "LDiversity.harmless_codes": lambda: {"blocks": blocks()},
    "LDiversity.windows": lambda: {"blocks": Blocks.of_table(table(), ["town"], "age")},
    "LDiversity.refuse_if_impossible": lambda: {"whole": blocks()},
    "LDiversity.refuse_unknown": lambda: {"whole": blocks()},
    "Ledger": lambda: {"path": "new.db"},
    "Ledger.append": lambda: {"kind": "apart", "body": {"receivers": ["hospital", "insurer"]}},
    "Ledger.begin_period": lambda: {"source": "patients"},
    "Ledger.budget": lambda: {"source": "patients"},
    "Ledger.declare_apart": lambda: {"receivers": ["hospital", "insurer"]},
    "Ledger.record": lambda: {"body": entry(), "table": table()},
    "Ledger.refuse": lambda: {"body": entry(), "table": table()},
    "Ledger.releases": lambda: {"source": "patients"},
    "Ledger.set_budget": lambda: {"source": "patients", "epsilon": 3},
    "Ledger.verify": lambda: {},
    "MultiViewDiversity": lambda: {"l": 2},
    "MultiViewDiversity.measure": lambda: {"seen": seen()},
    "MultiViewDiversity.need": lambda: {"totals": np.array([2, 2])},
    "MultiViewDiversity.refuse_if_impossible": lambda: {"totals": np.array([2, 2]), "sensitive": "illness"},
    "PView": lambda: fields(pview()),
    "PView.cell_errors": lambda: {"parts": [{}], "axes": [0], "cells": np.array([[0]])},
    "PView.counts": boxes,
    "PView.errors": boxes,
    "PView.marginal": lambda: {"names": "town"},
    "PView.open": lambda: {"path": written("pview")},
    "PView.sample": lambda: {"n": 3},
    "PView.save": lambda: {"path": "new"},
    "PView.sql": lambda: {"query": "SELECT COUNT(*) FROM view"},
    "PView.where": lambda: {"conditions": {"town": "Ayr"}},
    "PView.write": lambda: {"path": "new"},
    "PViewDesign": lambda: fields(design()),
    "PViewDesign.from_json": lambda: {"data": design().to_json()},
    "PViewDesign.learn": lambda: {name: cells()[name] for name in ("counts", "account")},
    "PViewDesign.of": lambda: {"schema": SCHEMA, "requirement": DP},
    "PViewDesign.open": lambda: {"folder": written("design")},
    "PViewDesign.opened": lambda: {"folder": "design", "data": design().to_json()},
    "PViewDesign.refuse_other": lambda: {"table": table()},
    "PViewDesign.save": lambda: {"folder": "new"},
    "PkAnonymity": lambda: {"k": 3},
    "PkAnonymity.epsilon": lambda: {"records": 60},
    "PkAnonymity.measure": lambda: {"law": Spread(1.0, 60)},
    "PkAnonymity.spread": lambda: {"records": 60},
    "Plan.open": lambda: {"folder": written("plan")},
    "Plan.opened": lambda: {"folder": "plan", "data": {}},
    "Plan.save": lambda: {"folder": "new"},
    "Policy": lambda: {"l": 2},
    "Randomizer": lambda: {"plan": randomizer().plan},
    "Randomizer.answer": lambda: {"record": {"age": 30, "town": "Ayr", "illness": "flu"}},
    "Randomizer.collected": lambda: {
        "answers": [randomizer().answer({"age": 30, "town": "Ayr", "illness": "flu"})]
    },
    "Randomizer.epsilon_after": lambda: {"values": 1},
    "Randomizer.for_records": lambda: {"records": 60},
    "Randomizer.from_schema": lambda: {
        "schema": SCHEMA,
        "requirement": sd.DifferentialPrivacy(2.0, per="record"),
    },
    "Release": lambda: fields(release()),
    "Release.write": lambda: {"folder": "new"},
    "Schedule": lambda: {"periods": 2},
    "Schedule.share": lambda: {"period": 1},
    "Schema": lambda: {"attributes": {"age": {"role": "quasi"}}},
    "Schema.from_dict": lambda: {"data": {"attributes": {"age": {"role": "quasi"}}}},
    "Schema.from_roles": lambda: {"quasi": ["age"]},
    "Schema.from_toml": lambda: {"path": written("schema.toml")},
    "Schema.names": lambda: {"role": "quasi"},
    "TCloseness": lambda: {"t": 0.5},
    "TCloseness.refuse_if_impossible": lambda: {"whole": blocks()},
    "Table": lambda: fields(table()),
    "Table.counts": lambda: {"names": ["age"]},
    "Table.describe": lambda: {"counts": table().counts(["age"]), "place": 0},
    "Table.digest_of": lambda: {"columns": {"a": "age"}},
    "Table.like": lambda: {"name": "age"},
    "Table.names": lambda: {"role": "quasi"},
    "Table.values_digest": lambda: {"name": "age"},
    "apply": lambda: {"plan": release().plan, "table": table()},
    "assess": lambda: {"table": table(), "l": 2, "k": 2},
    "attack": lambda: {"output": release().frame(), "schema": SCHEMA, "kind": "homogeneity"},
    "bounds.max_blocks": lambda: {"counts": [3, 2, 2], "l": 2},
    "bounds.min_block_distinct": lambda: {"counts": [3, 2, 2], "l": 2},
    "bounds.min_block_entropy": lambda: {"counts": [3, 2, 2], "l": 2},
    "combine": lambda: {"pviews": [pview(), sd.materialize_design(design(), table())]},
    "datasets.Dataset": lambda: fields(sd.datasets.describe("adult")),
    "datasets.describe": lambda: {"name": "adult"},
    "datasets.health_survey": lambda: {"people": 3},
    "datasets.load": lambda: {"name": "adult"},
    "datasets.path": lambda: {"name": "adult/adult.data"},
    "draw": lambda: {"table": table(), "share": 0.5},
    "evidence": lambda: {"folder": written("release"), "by": "A. Holder"},
    "generalize": lambda: {"table": table(), "requirements": sd.KAnonymity(2), "method": "mondrian"},
    "generalize_views": lambda: {"table": table(), "views": VIEWS, "requirement": sd.MultiViewDiversity(2)},
    "materialize": lambda: {"table": table(), "requirement": DP, "method": "independent"},
    "materialize_design": lambda: {"design": design(), "table": table()},
    "methods.Area": lambda: {"polygon": [(0, 0), (2, 0), (0, 2)]},
    "methods.Bits": lambda: {"precision": 1.0},
    "methods.Blind": dict,
    "methods.DPMondrian": dict,
    "methods.Factor": dict,
    "methods.FullDomain": dict,
    "methods.Hdmm": dict,
    "methods.Matrix": lambda: {"probabilities": [[0.5, 0.5], [0.5, 0.5]]},
    "methods.Minimal": dict,
    "methods.Mondrian": dict,
    "methods.Noise": dict,
    "methods.Optimal": dict,
    "methods.Pairs.learn_for": lambda: {"interest": RECEIVERS["Interest"](), **cells()},
    "methods.PrivBayes": dict,
    "pram.Pram": lambda: {"leave": np.array([0.1, 0.2])},
    "pram.Pram.bias": lambda: {"histogram": [3, 2, 1]},
    "pram.Pram.expected": lambda: {"histogram": [3, 2, 1]},
    "pram.Pram.inverse": lambda: {"histogram": [3, 2, 1]},
    "pram.Pram.inverse_squares": lambda: {"histogram": [3, 2, 1]},
    "pram.Pram.inverse_weights": lambda: {"wanted": [1, 0, 0]},
    "pram.Pram.k": lambda: {"records": 60},
    "pram.Pram.likelihoods": lambda: {"outputs": [0, 1, 2]},
    "pram.conventional_pram": lambda: {"d": 3, "epsilon": 1.0},
    "pram.invariant_pram": lambda: {"histogram": [3, 2, 1]},
    "pram.optimal": lambda: {"histogram": [3, 2, 1], "epsilon": 1.0},
    "pram.optimal_pram": lambda: {"histogram": [3, 2, 1], "epsilon": 1.0},
    "pram.transitions": lambda: {"before": pl.Series(["a", "b"]), "after": pl.Series(["a", "a"])},
    "pram.tree_distances": lambda: {"hierarchy": tree()},
    "publish": lambda: {"table": table(), "policy": sd.Policy(l=2, accept=["suppress"])},
    "publish_pview": lambda: {"pview": points(), "to": "duckdb:new.duckdb"},
    "randomize": lambda: {"table": table(), "requirement": sd.PkAnonymity(4)},
    "read": lambda: {"source": people()},
    "reconstruct": lambda: {"release": randomized(), "attributes": "town"},
    "run": lambda: {"pipeline": written("pipeline.toml")},
    "sql": lambda: {"plan": release().plan, "schema": SCHEMA},
    "show_progress": lambda: {"wanted": False},
    "verify": lambda: {"output": release().frame(), "requirements": sd.KAnonymity(2), "schema": SCHEMA},
}


def called(name: str, what: Callable[..., Any], arguments: dict[str, Any]) -> Any:
    """Call a public callable by its name, on the receiver that there is for it."""
    owner = name.rpartition(".")[0]
    if "self" in inspect.signature(what).parameters:
        return what(RECEIVERS[owner](), **arguments)
    return what(**arguments)
