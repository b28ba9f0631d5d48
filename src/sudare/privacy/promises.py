"""Requirements as plain data: what a certificate promises, so that anybody can verify it again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import Field, fields
from typing import Any

from sudare.errors import InputError, ParameterError
from sudare.privacy.beta_likeness import BetaLikeness
from sudare.privacy.delta_disclosure import DeltaDisclosure
from sudare.privacy.delta_presence import DeltaPresence
from sudare.privacy.differential_privacy import DifferentialPrivacy
from sudare.privacy.k_anonymity import KAnonymity
from sudare.privacy.k_map import KMap
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
    KMap,
    DeltaPresence,
    LDiversity,
    TCloseness,
    BetaLikeness,
    DeltaDisclosure,
    MultiViewDiversity,
    PkAnonymity,
    DifferentialPrivacy,
)
_BY_NAME: dict[str, Any] = {kind.__name__: kind for kind in KINDS}


def promise_to_json(promise: Promise) -> dict[str, Any]:
    """Return a requirement as plain data; parameters that are given by name alone stand there if they are given.

    >>> promise_to_json(KAnonymity(5))
    {'requirement': 'KAnonymity', 'k': 5}
    """
    if not isinstance(promise, KINDS):
        raise ParameterError(
            f"{promise} cannot be promised in a certificate: it is none of {', '.join(_BY_NAME)}."
        )
    data: dict[str, Any] = {"requirement": type(promise).__name__}
    for one in _promised(promise):
        value = getattr(promise, one.name)
        if not one.kw_only or value != one.default:
            data[one.name] = list(value) if isinstance(value, tuple) else value
    return data


def _promised(promise: Any) -> list[Field[Any]]:
    """Return the parameters that are promised: a population that somebody counted in is not."""
    return [one for one in fields(promise) if one.metadata.get("promised", True)]


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
    known = {one.name: one.kw_only for one in _promised(kind)}
    needed = {name for name, by_name_alone in known.items() if not by_name_alone}
    if not needed <= parameters.keys() <= known.keys():
        raise InputError(f"A promise of {kind.__name__} has other parameters: {', '.join(parameters)}.")
    try:
        promise: Promise = kind(**parameters)
    except ParameterError as error:
        raise InputError(f"A promise cannot be what it says. {error}") from None
    if promise_to_json(promise) != {**data}:
        raise InputError(f"A promise of {promise} is not written as Sudare writes it.")
    return promise
