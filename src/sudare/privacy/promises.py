"""Requirements as plain data: what a certificate promises, so that anybody can verify it again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from sudare.errors import InputError, ParameterError
from sudare.privacy.differential_privacy import DifferentialPrivacy
from sudare.privacy.k_anonymity import KAnonymity
from sudare.privacy.l_diversity import LDiversity
from sudare.privacy.multi_view import MultiViewDiversity
from sudare.privacy.pk_anonymity import PkAnonymity
from sudare.privacy.requirement import Requirement
from sudare.privacy.t_closeness import TCloseness

Promise = Requirement[Any]
"""A requirement of whatever evidence."""

KINDS: tuple[
    type[Promise], ...
] = (  # by this type all of them satisfy the protocol, or the type checker objects
    KAnonymity,
    LDiversity,
    TCloseness,
    MultiViewDiversity,
    PkAnonymity,
    DifferentialPrivacy,
)
_BY_NAME: dict[str, Any] = {kind.__name__: kind for kind in KINDS}


def promise_to_json(promise: Promise) -> dict[str, Any]:
    """Return a requirement as plain data.

    >>> promise_to_json(KAnonymity(5))
    {'requirement': 'KAnonymity', 'k': 5}
    """
    if not isinstance(promise, KINDS):
        raise ParameterError(
            f"{promise} cannot be promised in a certificate: it is none of {', '.join(_BY_NAME)}."
        )
    parameters = {name: getattr(promise, name) for name in _parameter_names(promise)}
    return {"requirement": type(promise).__name__, **parameters}


def promise_from_json(data: Mapping[str, Any]) -> Promise:
    """Read what `promise_to_json` wrote; whatever else is refused.

    >>> promise_from_json({"requirement": "KAnonymity", "k": 5})
    KAnonymity(k=5)
    """
    kind = _BY_NAME.get(str(data.get("requirement")))
    if kind is None:
        raise InputError(
            f"A promise must name one of {', '.join(_BY_NAME)}. Got {data.get('requirement')!r} instead."
        )
    parameters = {key: value for key, value in data.items() if key != "requirement"}
    if sorted(parameters) != sorted(_parameter_names(kind)):
        raise InputError(f"A promise of {kind.__name__} has other parameters: {', '.join(parameters)}.")
    try:
        promise: Promise = kind(**parameters)
    except ParameterError as error:
        raise InputError(f"A promise cannot be what it says. {error}") from None
    return promise


def _parameter_names(requirement: Any) -> list[str]:
    return [field.name for field in fields(requirement)]
