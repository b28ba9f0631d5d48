"""What a certificate claims, against what is recounted: no column more, and no figure better than the recount's."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from sudare.errors import InputError, RequirementError
from sudare.privacy.certificate import VERSIONED, Certificate
from sudare.privacy.differential_privacy import DifferentialPrivacy
from sudare.privacy.pk_anonymity import PkAnonymity
from sudare.privacy.promises import Promise, promise_from_json
from sudare.privacy.t_closeness import TCloseness
from sudare.tables.attribute import Role
from sudare.tables.copies import LABELLED, labels_of
from sudare.tables.text import listed, shown
from sudare.verification.files import PublishedTable

SMALLER_IS_BETTER = ("t", "beta", "disclosure", "presence", "epsilon", "delta")
TOLERANCE = 1e-9  # of a figure: how far rounding may put a claim above the recount
VERSION = re.compile(r"[0-9][0-9A-Za-z.+!-]{0,39}")
METHODS = (
    *(
        "blind",
        "blind-regions",
        "minimal",
        "mondrian",
        "full-domain",
        "mdav",
        "simultaneous",
        "all-attributes",
        "sequential",
        "randomize",
    ),
    *("pairs", "dp-mondrian", "independent", "identity", "dawa", "privbayes", "hdmm", "combine"),
)
MAX_CAVEATS = 20
MAX_TEXT_LENGTH = 1_000
"""Characters of a text that is no figure."""


def promised_by(certificate: Certificate) -> list[Promise]:
    """Return what a certificate promises; a certificate of nothing is refused."""
    if not certificate.promises:
        raise InputError("The certificate promises nothing. Give the requirements to verify.")
    promises = [promise_from_json(promise) for promise in certificate.promises]
    if certificate.requirements != [str(promise) for promise in promises]:
        raise RequirementError(
            "The certificate promises something else in its words than in its data. Ask for the folder again."
        )
    return promises


def refuse_texts(certificate: Certificate) -> None:
    """Refuse what a certificate says beside its figures, where it is no text that a release writes: it could reveal anything."""
    for name, text in certificate.versions.items():
        if name not in ("python", *VERSIONED) or not VERSION.fullmatch(text):
            raise RequirementError(
                f"The certificate's versions have {shown(name)} = {shown(text)}, which is no version of anything that "
                "had a part in the result. Do not rely on it."
            )
    if len(certificate.caveats) > MAX_CAVEATS:
        raise RequirementError(
            f"The certificate has {len(certificate.caveats):,} caveats; {MAX_CAVEATS} are the most. Do not rely on it."
        )
    if certificate.method not in METHODS:
        raise RequirementError(
            f"The certificate's method is {shown(certificate.method)}, which is none of Sudare's. Do not rely on it."
        )
    for text in (*certificate.caveats, certificate.randomness, certificate.input.source):
        if len(text) > MAX_TEXT_LENGTH:
            raise RequirementError(
                f"The certificate has a text of {len(text):,} characters; {MAX_TEXT_LENGTH:,} are the most. Do not rely on it."
            )


def refuse_needless_values(certificate: Certificate, promises: Sequence[Promise]) -> None:
    """Refuse lists of values that no promise needs: only distances are measured by an order or a hierarchy."""
    sensitive = [name for name, column in certificate.attributes.items() if column.role == Role.sensitive]
    needed = {
        promise.attribute or (sensitive[0] if sensitive else "")
        for promise in promises
        if isinstance(promise, TCloseness) and promise.distance != "equal"
    }
    for name, column in certificate.attributes.items():
        if name not in needed and (column.domain is not None or column.hierarchy is not None):
            raise RequirementError(
                f"The certificate lists values of '{name}', which no promise needs. They may be those of people who were "
                "left out. Do not rely on it."
            )


def refuse_labels(
    certificate: Certificate, tables: Mapping[str, list[PublishedTable]], files: Iterable[str]
) -> None:
    """Refuse labels that no copy needs, and those of codes that are not published: they may be of people who were left out."""
    if certificate.labels and not any(Path(name).suffix in LABELLED for name in files):
        raise RequirementError(
            "The certificate lists labels, which no file beside it has. Do not rely on it."
        )
    needed = labels_of(certificate.schema_of_output(), [copies[0].rows for copies in tables.values()])
    for name, own in certificate.labels.items():
        if name not in certificate.attributes or own.codes.keys() - needed.codes.get(name, {}).keys():
            raise RequirementError(
                f"The certificate lists labels of '{name}' that nothing in the output has. They may be those of people who were left "
                "out. Do not rely on it."
            )


def refuse_without_quasi(certificate: Certificate, promises: Sequence[Promise]) -> None:
    """Refuse promises of blocks where nothing is said to be known to outsiders: then all records would be one block."""
    of_blocks = [p for p in promises if not isinstance(p, PkAnonymity | DifferentialPrivacy)]
    if of_blocks and not any(column.role == Role.quasi for column in certificate.attributes.values()):
        raise RequirementError(
            f"The certificate promises {of_blocks[0]}, but calls no column quasi: as if outsiders knew nothing of anybody. Give "
            "a schema that says what they know, and the files one by one."
        )


def refuse_other_columns(certificate: Certificate, tables: Mapping[str, list[PublishedTable]]) -> None:
    """Refuse a certificate that does not speak of just the columns that are there."""
    there = {name for copies in tables.values() for table in copies for name in table.columns}
    named = [*certificate.attributes, *certificate.schema_of_output().beside()]
    if absent := [name for name in named if name not in there]:
        raise RequirementError(
            f"The certificate speaks of the column '{absent[0]}', which is not published. Ask for the folder again."
        )


def refuse_figures(certificate: Certificate, recounted: Mapping[str, float]) -> None:
    """Refuse a certificate whose figures are better than those that were recounted."""
    for name, claimed in certificate.measured.items():
        if name not in recounted:
            raise RequirementError(
                f"The certificate claims {name} = {claimed}, which is no figure of its promises: {listed(list(recounted))}."
            )
        if not _covered(name, claimed, recounted[name]):
            raise RequirementError(
                f"The certificate claims {name} = {claimed}, but the output has {recounted[name]}. Do not rely on it."
            )


def refuse_records(certificate: Certificate, tables: Mapping[str, list[PublishedTable]]) -> None:
    """Refuse a certificate that speaks of other records than are there."""
    for copies in tables.values():
        for table in copies:
            if certificate.records != {"published": table.rows.height}:
                raise RequirementError(
                    f"The certificate claims the records {certificate.records}, but {table.where} has "
                    f"{table.rows.height}. Do not rely on it."
                )


def _covered(name: str, claimed: Any, recounted: float) -> bool:
    if isinstance(claimed, bool) or not isinstance(claimed, int | float):
        return False
    if name.split(":")[0] in SMALLER_IS_BETTER:
        return bool(claimed >= recounted - TOLERANCE * max(1.0, abs(recounted)))
    return bool(claimed <= recounted + TOLERANCE * max(1.0, abs(recounted)))
