"""The attacks of who knows the method: what a release tells about how it was made, and to whom these attacks are done."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl

from sudare.attacks.crowds import Crowd, tree_of
from sudare.attacks.definetti import DeFinetti, definetti
from sudare.attacks.downcoding import Downcoding, downcoding
from sudare.attacks.minimality import Minimality, minimality
from sudare.attacks.published import Output, Published, counted, people_of
from sudare.attacks.shapes import Population, Shapes, recoded
from sudare.errors import InputError, ParameterError
from sudare.plans.generalization import Located
from sudare.privacy.certificate import Certificate
from sudare.privacy.in_population import of_blocks
from sudare.privacy.promises import promise_from_json
from sudare.privacy.requirement import BlockRequirement, sensitive_attribute
from sudare.tables.attribute import Role
from sudare.tables.file_rows import FileRows
from sudare.tables.folders import CERTIFICATE, handed_over
from sudare.tables.schema import Schema
from sudare.tables.table import Table

Requirements = BlockRequirement | Sequence[BlockRequirement]
BLOCKS = 50  # that are looked at when a release is made
MODEL_BLOCKS = 1_000  # that a model is learned from then


def by_minimality(
    output: Output,
    schema: Schema,
    *,
    known: Any,
    requirements: Requirements | None = None,
    method: str | None = None,
    strict: bool = False,
) -> Minimality:
    """Attack a release by knowing that no block could be cut; `known` are all its people."""
    published = Published.open(output, schema)
    people = people_of(known, schema)
    asked, made_by = _told(output, requirements, method, "minimality")
    attribute = _attribute(asked, published)
    if attribute is None:
        raise InputError("The minimality attack needs a sensitive attribute, and the schema has none.")
    crowd = Crowd.placed(published, attribute, people)
    return minimality(crowd, asked, made_by, strict=strict)


def by_definetti(output: Output, schema: Schema, *, known: Any, attribute: str | None = None) -> DeFinetti:
    """Attack a release by a model that is learned from its blocks; `known` are all its people."""
    published = Published.open(output, schema)
    published.refuse_without_sensitive("definetti")
    chosen = published.sensitive[0] if attribute is None else attribute
    if chosen not in published.sensitive:
        raise ParameterError(f"The schema has no sensitive attribute '{chosen}'.")
    return definetti(Crowd.placed(published, chosen, people_of(known, schema)))


def by_downcoding(
    output: Output,
    schema: Schema,
    *,
    population: Any,
    truth: Any = None,
    requirements: Requirements | None = None,
    method: str | None = None,
) -> Downcoding:
    """Undo the labels of a release; `population` are people like its own, and `truth` its own, for scoring."""
    published = Published.open(output, schema)
    asked, made_by = _told(output, requirements, method, "downcoding")
    names, like_them = published.quasi, people_of(population, schema)
    if truth is None:
        shapes, people = Shapes.read(published, like_them), Population.of(like_them, names)
        return downcoding(shapes, people, asked, made_by)
    own = like_them if truth is population else people_of(truth, schema)
    both = like_them if own is like_them else _together(like_them, own, schema, names)
    crowd = Crowd.placed(published, None, own)
    return downcoding(
        Shapes.read(published, both),
        Population.of(like_them, names, both),
        asked,
        made_by,
        truth=replace(crowd, tuples=recoded(crowd.tuples, own, both, names)),
        own_population=own is like_them,
    )


def _together(one: Table, other: Table, schema: Schema, names: Sequence[str]) -> Table:
    """Return a table that has the values of both, whoever holds their rows."""
    frames = [counted(table, names).rows for table in (one, other)]
    return people_of(pl.concat(frames, how="vertical_relaxed"), schema)


def known_to_the_holder(
    whole: Located, requirements: Sequence[BlockRequirement], method: str, *, strict: bool
) -> dict[str, Any]:
    """Try these attacks on a release that is being made, on some of its blocks, with everybody's block known."""
    sensitive = whole.table.names(Role.sensitive)
    attribute = sensitive_attribute(requirements, whole.table)
    crowd = Crowd.located(whole, attribute or next(iter(sensitive), None), MODEL_BLOCKS)
    figures: dict[str, Any] = {}
    if attribute is not None:
        figures["minimality"] = minimality(
            crowd, requirements, method, strict=strict, blocks=BLOCKS
        ).summary()
    if sensitive:
        figures["definetti"] = definetti(crowd).summary()
    shapes = Shapes.located(crowd)
    counts = whole.counts.select(crowd.names)
    people = Population([tree_of(whole.table, name) for name in crowd.names], counts.codes, counts.weights)
    undone = downcoding(shapes, people, requirements, method, truth=crowd, own_population=True, blocks=BLOCKS)
    return figures | {"downcoding": undone.summary()}


def _told(
    output: Output, requirements: Requirements | None, method: str | None, kind: str
) -> tuple[list[BlockRequirement], str]:
    """Return what is promised and by which method: as given, or as the certificate beside the output says."""
    if requirements is None or method is None:
        certificate = certificate_of(output)
        if certificate is None:
            raise ParameterError(
                f"The {kind} attack needs to know how the output was made, and there is no certificate beside it. Give the "
                "options 'requirements' and 'method', or attack the release's folder."
            )
        if requirements is None:
            promises = [promise_from_json(promise) for promise in certificate.promises]
            requirements = of_blocks([one for one in promises if isinstance(one, BlockRequirement)])
        method = certificate.method if method is None else method
    asked = list(requirements) if isinstance(requirements, Sequence) else [requirements]
    if not asked:
        raise InputError(
            f"The {kind} attack is for outputs that promise something of blocks, such as k-anonymity."
        )
    return asked, method


def certificate_of(output: Output) -> Certificate | None:
    """Return the certificate that lies beside an output; None where there is none."""
    if isinstance(output, FileRows):
        output = output.paths[0]
    if not isinstance(output, str | Path):
        return None
    path = handed_over(output)
    file = (path if path.is_dir() else path.parent) / CERTIFICATE
    return Certificate.open(file) if file.exists() else None


def _attribute(requirements: Sequence[BlockRequirement], published: Published) -> str | None:
    """Return the sensitive attribute that the requirements speak of, or else the first one."""
    named = [one.attribute for one in requirements if one.needs_sensitive and one.attribute is not None]
    return next(iter(named or published.sensitive), None)
