"""What a certificate claims, against what is found: no column more, and no figure better than the recount's."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sudare.errors import InputError, RequirementError
from sudare.privacy.promises import Promise, promise_from_json
from sudare.release._recount_files import Part
from sudare.release.certificate import Certificate
from sudare.tables.text import listed

SMALLER_IS_BETTER = ("t", "epsilon", "delta")
SLACK = 1e-9


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


def refuse_other_columns(certificate: Certificate, tables: Mapping[str, list[Part]]) -> None:
    """Refuse a certificate that does not speak of just the columns that are there."""
    there = {name for parts in tables.values() for part in parts for name in part.frame.columns}
    if absent := [name for name in certificate.attributes if name not in there]:
        raise RequirementError(
            f"The certificate speaks of the column '{absent[0]}', which is not published. Ask for the folder again."
        )


def refuse_figures(certificate: Certificate, found: Mapping[str, float]) -> None:
    """Refuse a certificate whose figures are better than those that were found."""
    for name, claimed in certificate.measured.items():
        if name not in found:
            raise RequirementError(
                f"The certificate claims {name} = {claimed}, which is no figure of its promises: {listed(list(found))}."
            )
        if not _covered(name, claimed, found[name]):
            raise RequirementError(
                f"The certificate claims {name} = {claimed}, but the output has {found[name]}. Do not rely on it."
            )


def refuse_records(certificate: Certificate, tables: Mapping[str, list[Part]]) -> None:
    """Refuse a certificate that speaks of other records than are there."""
    for parts in tables.values():
        for part in parts:
            if certificate.records != {"published": part.frame.height}:
                raise RequirementError(
                    f"The certificate claims the records {certificate.records}, but {part.where} has "
                    f"{part.frame.height}. Do not rely on it."
                )


def _covered(name: str, claimed: Any, found: float) -> bool:
    if isinstance(claimed, bool) or not isinstance(claimed, int | float):
        return False
    if name.split(":")[0] in SMALLER_IS_BETTER:
        return bool(claimed >= found - SLACK * max(1.0, abs(found)))
    return bool(claimed <= found + SLACK * max(1.0, abs(found)))
