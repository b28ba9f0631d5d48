"""What a certificate says of attacks and utility: functions of what is published, so that anybody can compute them again."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from sudare.attacks.attack import attack_all
from sudare.errors import RequirementError
from sudare.privacy.certificate import Certificate
from sudare.privacy.l_diversity import LDiversity
from sudare.privacy.promises import Promise
from sudare.privacy.requirement import sensitive_in
from sudare.tables.runs import PublishedRows
from sudare.tables.schema import Schema
from sudare.tables.text import shown
from sudare.utility.labels import utility_of_labels
from sudare.verification.compositions import told_apart

DISTORTION = "distortion"
CLAIMED = "the certificate's distortion is claimed, not recounted: that needs the holder's hierarchies"


def utility_of(frames: Mapping[str, PublishedRows], schema: Schema) -> dict[str, Any]:
    """Return what a table is good for, or each of several views.

    Views have no distortion: their labels, such as {D, Q}, are no nodes of the hierarchies.
    """
    of_table = {name: utility_of_labels(frame, schema) for name, frame in frames.items()}
    if list(of_table) == ["data"]:
        return of_table["data"]
    return {name: _without_distortion(utility) for name, utility in of_table.items()}


def attacks_on(
    frames: Mapping[str, PublishedRows], schema: Schema, promises: Sequence[Promise]
) -> dict[str, Any]:
    """Return what attacks on a table reach; several views are attacked together, which needs people to look up.

    What a promise calls harmless may be learned. Where rows say which belong together, outsiders look people up with all of theirs.
    """
    if list(frames) != ["data"]:
        return {}
    rows, own = told_apart(frames["data"], schema)
    return {"output": attack_all(rows, own, harmless_by_attribute(promises, schema))}


def harmless_by_attribute(promises: Sequence[Promise], schema: Schema) -> dict[str, list[str]]:
    """Return what all promises about an attribute call harmless."""
    by_attribute: dict[str, list[str]] = {}
    for promise in promises:
        if isinstance(promise, LDiversity):
            name = sensitive_in(promise, schema)
            also = [value for value in promise.harmless if value in by_attribute.get(name, promise.harmless)]
            by_attribute[name] = also
    return by_attribute


def refuse_other_utility(
    certificate: Certificate,
    promises: Sequence[Promise],
    frames: Mapping[str, PublishedRows],
    schema: Schema,
    *,
    randomized: bool,
) -> str:
    """Refuse figures other than those of the published frames; return what had to be believed.

    What a law does to values stands in the law itself, so the certificate of a randomized table has none.
    """
    claimed, distortion = certificate.utility, None
    if list(frames) == ["data"] and not randomized:
        distortion = claimed.get(DISTORTION)
        claimed = _without_distortion(claimed)
    recounted = {} if randomized else utility_of(frames, schema)
    attacks = {} if randomized else attacks_on(frames, schema, promises)
    refuse_unlike_figures("utility", claimed, _without_distortion(recounted))
    refuse_unlike_figures("attacks", certificate.attacks, attacks)
    if distortion is None:
        return ""
    if isinstance(distortion, bool) or not isinstance(distortion, int | float) or not 0 <= distortion <= 1:
        raise RequirementError(
            f"The certificate claims distortion = {distortion}, which is no number from 0 to 1. Do not rely on it."
        )
    return CLAIMED


def refuse_other_utility_of_views(
    certificate: Certificate, view: str, others: Sequence[str], rows: PublishedRows, schema: Schema
) -> None:
    """Refuse figures of one view other than those of its rows, and such of others as no view has."""
    recounted = _without_distortion(utility_of_labels(rows, schema))
    claimed = dict(certificate.utility)
    refuse_unlike_figures(f"utility.{view}", claimed.pop(view, None), recounted)
    for name in claimed.keys() | set(others):
        if name not in others or not _is_formed_like(claimed.get(name), recounted):
            raise RequirementError(
                f"The certificate claims figures of {shown(name)} that no view has. Do not rely on it."
            )
    refuse_unlike_figures("attacks", certificate.attacks, {})


def _is_formed_like(claimed: Any, recounted: Mapping[str, Any]) -> bool:
    """Tell whether figures that cannot be recounted are numbers with the names of those that can."""
    return (
        isinstance(claimed, Mapping)
        and claimed.keys() == recounted.keys()
        and all(type(value) in (int, float) for value in claimed.values())
    )


def refuse_unlike_figures(what: str, claimed: Any, recounted: Any) -> None:
    """Refuse figures that are not exactly those that were recounted, but for rounding."""
    if isinstance(recounted, Mapping) and isinstance(claimed, Mapping):
        for name in {**recounted, **claimed}:
            if name not in recounted or name not in claimed:
                has, lacks = ("claims", "is not recounted") if name in claimed else ("lacks", "is recounted")
                raise RequirementError(
                    f"The certificate {has} the figure '{what}.{name}', which {lacks}. Do not rely on it."
                )
            refuse_unlike_figures(f"{what}.{name}", claimed[name], recounted[name])
    elif not _alike(claimed, recounted):
        raise RequirementError(
            f"The certificate claims {what} = {claimed}, but the output has {recounted}. Do not rely on it."
        )


def _alike(claimed: Any, recounted: Any) -> bool:
    if isinstance(recounted, list | tuple):
        return (
            isinstance(claimed, list)
            and len(claimed) == len(recounted)
            and all(map(_alike, claimed, recounted))
        )
    if isinstance(recounted, float) and isinstance(claimed, int | float) and not isinstance(claimed, bool):
        return math.isclose(claimed, recounted, rel_tol=1e-9, abs_tol=1e-12)
    return type(claimed) is type(recounted) and bool(claimed == recounted)


def _without_distortion(utility: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in utility.items() if name != DISTORTION}
