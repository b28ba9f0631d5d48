"""Certifying: from what is handed over to its certificate. Nothing here ever sees the original, a plan or a report."""

from __future__ import annotations

import datetime as dt
import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from importlib.metadata import version
from typing import Any

import polars as pl

from sudare.errors import ParameterError
from sudare.privacy.certificate import Certificate, InputHash, PublishedAttribute, PublishedLabels
from sudare.privacy.differential_privacy import DifferentialPrivacy
from sudare.privacy.in_population import in_population, promised
from sudare.privacy.multi_view import MultiViewDiversity
from sudare.privacy.promises import Promise, promise_to_json
from sudare.privacy.requirement import sensitive_in
from sudare.privacy.t_closeness import TCloseness
from sudare.tables.attribute import Role, Scalar
from sudare.tables.hierarchy import Hierarchy
from sudare.tables.labels import Labels
from sudare.tables.runs import PublishedRows
from sudare.tables.schema import Schema
from sudare.tables.text import text_of
from sudare.verification.claims import MAX_TEXT_LENGTH
from sudare.verification.files import open_table
from sudare.verification.finders import find_in_views
from sudare.verification.findings import Verification
from sudare.verification.utility import attacks_on, utility_of
from sudare.verification.verify import verify


@dataclass(frozen=True, eq=False)
class HandedOver:
    """Everything that a receiver gets: one table or several views, and the law of a randomized table."""

    frames: Mapping[str, PublishedRows]
    law: Mapping[str, Any] | None = None


@dataclass(frozen=True)
class Declared:
    """What was asked for and how, as the holder declared it; nothing of it is learned from the table."""

    promises: tuple[Promise, ...]
    method: str
    schema: Schema
    randomness: str
    caveats: tuple[str, ...] = ()


def certify(
    handed_over: HandedOver,
    declared: Declared,
    commitment: InputHash,
    verification: Verification | None = None,
) -> Certificate:
    """Say what is handed over, what it promises, and what was measured on it.

    `verification` is what `verified` gave for just that, if it was asked before.
    """
    return Certificate(
        requirements=[str(promise) for promise in declared.promises],
        promises=[promise_to_json(promise) for promise in declared.promises],
        attributes=_attributes(handed_over, declared),
        missing_values=_listed(declared.schema.missing_values),
        unit=_unit(declared.schema),
        measured=_measured(handed_over, declared, verification or verified(handed_over, declared)),
        method=declared.method,
        utility=_utility(handed_over, declared.schema),
        caveats=list(declared.caveats),
        attacks=_attacks(handed_over, declared),
        records={"published": next(iter(handed_over.frames.values())).height},
        randomness=declared.randomness,
        input=commitment,
    )


def with_labels(certificate: Certificate, labels: Labels) -> Certificate:
    """Add what columns and codes are called in copies that are handed over, and who writes these."""
    names = [name for name in certificate.attributes if name in labels.columns or name in labels.codes]
    own = {
        name: PublishedLabels(label=labels.columns.get(name), codes=dict(labels.codes.get(name, {})))
        for name in names
    }
    return certificate.model_copy(
        update={"labels": own, "versions": certificate.versions | {"pyreadstat": version("pyreadstat")}}
    )


def certify_pview(declared: Declared, commitment: InputHash) -> Certificate:
    """Say what a p-view promises, before anything is measured for it.

    How many records were read is not told: it is protected, too.
    """
    names = [name for name in declared.schema.attributes if declared.schema[name].is_measured]
    return Certificate(
        requirements=[str(promise) for promise in declared.promises],
        promises=[promise_to_json(promise) for promise in declared.promises],
        attributes={name: PublishedAttribute(role=declared.schema[name].treated_as) for name in names},
        unit=_unit(declared.schema),
        measured={
            key: value for promise in declared.promises for key, value in _budget(promise).items() if value
        },
        method=declared.method,
        utility={},
        caveats=list(declared.caveats),
        records={},
        randomness=declared.randomness,
        input=commitment,
    )


def certify_combined(
    parts: Sequence[Certificate],
    promise: DifferentialPrivacy,
    caveats: Sequence[str],
    utility: dict[str, Any],
) -> Certificate:
    """Say what p-views promise together; it is tied to the inputs of all of them.

    The holder, who has the salts of all, can open it: it is the SHA-256 of their commitments, one after the other.
    """
    together = "".join(one.input.sha256_salted for one in parts)
    sources = list(dict.fromkeys(one.input.source for one in parts))
    # One that says how the noise can be undone comes first, where pages look for it.
    randomness = sorted({one.randomness for one in parts}, key=lambda own: not own.startswith("UNSAFE"))
    return Certificate(
        requirements=[str(promise)],
        promises=[promise_to_json(promise)],
        attributes=parts[0].attributes,
        unit=parts[0].unit,
        measured={key: value for key, value in _budget(promise).items() if value},
        method="combine",
        utility=utility,
        caveats=list(caveats),
        records={},
        randomness="; ".join(randomness)[:MAX_TEXT_LENGTH],
        input=InputHash(
            source=sources[0] if len(sources) == 1 else f"{len(sources)} tables",
            sha256_salted=hashlib.sha256(together.encode()).hexdigest(),
        ),
    )


def _budget(promise: Promise) -> dict[str, float]:
    if not isinstance(promise, DifferentialPrivacy):
        raise ParameterError(f"A p-view cannot promise {promise}. Ask for DifferentialPrivacy.")
    return {"epsilon": promise.epsilon, "delta": promise.delta}


def verified(handed_over: HandedOver, declared: Declared) -> Verification:
    """Verify what is handed over; raise a RequirementError if a promise does not hold on it.

    Of several views that is what each leaves by itself: what they leave together can only be told beside the original.
    """
    schema = declared.schema
    if any(isinstance(promise, MultiViewDiversity) for promise in declared.promises):
        views = {name: [open_table(rows, schema)] for name, rows in handed_over.frames.items()}
        verification = Verification(tuple(find_in_views(one, views, schema) for one in declared.promises))
    else:
        (rows,) = handed_over.frames.values()
        verification = verify(rows, declared.promises, schema, plan=handed_over.law)
    verification.refuse_if_broken()
    return verification


def _measured(handed_over: HandedOver, declared: Declared, verification: Verification) -> dict[str, Any]:
    """Return what the output has of each promise.

    Where units are counted that no row tells, or people of a population, it is what was promised. Of several views, too: they were verified together, and how much more than that they leave to
    people depends on who is in which blocks of all of them, which no view tells.
    """
    together = [p for p in declared.promises if isinstance(p, MultiViewDiversity)]
    if together:
        return {promise.name: promise.l for promise in together}
    unseen = declared.schema.unit is not None and not declared.schema[declared.schema.unit].linked
    if unseen and handed_over.law is None:
        pairs = zip(declared.promises, verification.findings, strict=True)
        return {finding.name: _asked_for(promise) for promise, finding in pairs}
    return verification.measured | {one.name: promised(one) for one in in_population(declared.promises)}


def _asked_for(promise: Promise) -> float:
    """Return the figure that was asked for: the first parameter of a requirement."""
    figure: float = getattr(promise, fields(promise)[0].name)  # type: ignore[arg-type]
    return figure


def _utility(handed_over: HandedOver, schema: Schema) -> dict[str, Any]:
    if handed_over.law is not None:
        return {}  # what a law does to values stands in the law itself
    return utility_of(handed_over.frames, schema)


def _attacks(handed_over: HandedOver, declared: Declared) -> dict[str, Any]:
    if handed_over.law is not None:
        return {}
    return attacks_on(handed_over.frames, declared.schema, declared.promises)


def _attributes(handed_over: HandedOver, declared: Declared) -> dict[str, PublishedAttribute]:
    """Describe every published column; of an order or a hierarchy what measuring distances in it needs."""
    schema = declared.schema
    attributes: dict[str, PublishedAttribute] = {}
    beside = schema.beside()
    for frame in handed_over.frames.values():
        for name in frame.columns:
            if name in beside:
                continue  # its attribute says what it is
            own, by = schema[name], _distances(name, declared)
            attributes[name] = PublishedAttribute(
                role=own.treated_as,
                type=own.type,
                numbers=own.numbers if name in map(beside.get, frame.columns) else None,
                domain=[_plain(value) for value in own.domain]
                if own.domain and by & {"ordered", "hierarchical"}
                else None,
                hierarchy=_paths(frame.counted([name]).rows[name], schema) if "hierarchical" in by else None,
            )
    return attributes


def _distances(name: str, declared: Declared) -> set[str]:
    """Return in which ways distances between the values of a column are measured."""
    promises = [promise for promise in declared.promises if isinstance(promise, TCloseness)]
    return {promise.distance for promise in promises if sensitive_in(promise, declared.schema) == name}


def _plain(value: Scalar) -> bool | int | float | str:
    return text_of(value) if isinstance(value, dt.date) else value


def _paths(column: pl.Series, schema: Schema) -> list[list[str]] | None:
    """Return the paths of the declared values, or else of the published ones, up to the root."""
    recipe, domain = schema[column.name].hierarchy, schema[column.name].domain
    values = column.drop_nulls().unique().sort() if domain is None else pl.Series(list(domain), strict=False)
    if recipe is None or len(values) == 0:
        return None
    whole = recipe if isinstance(recipe, Hierarchy) else recipe.build(values)
    rows = whole.take(whole.find(values)).rows()
    return [[text for text in row if text is not None] for row in rows]


def _unit(schema: Schema) -> Role | None:
    return None if schema.unit is None else schema[schema.unit].role


def _listed(texts: Sequence[str] | None) -> list[str] | None:
    return None if texts is None else list(texts)
