"""The methods of a p-view by their short names, and as plain data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from sudare.errors import InputError, ParameterError
from sudare.privacy.requirement import one_of
from sudare.pview.baselines import Identity, Independent
from sudare.pview.dawa import Dawa
from sudare.pview.hdmm import Hdmm
from sudare.pview.method import Method
from sudare.pview.mondrian import DPMondrian
from sudare.pview.pairs import Pairs
from sudare.pview.privbayes import PrivBayes
from sudare.tables.text import listed, shown

METHODS: dict[str, type[Method]] = {
    method.name: method for method in (Pairs, DPMondrian, Identity, Independent, Dawa, PrivBayes, Hdmm)
}


def method_of(method: str | Method, parameters: Mapping[str, Any]) -> Method:
    """Return a method that is given as an object, or by its short name with some of its fields.

    >>> method_of("dp-mondrian", {"theta": 2}).theta, method_of(Pairs(), {})
    (2.0, Pairs())
    """
    if isinstance(method, Method):
        if parameters:
            raise ParameterError(
                f"Give {listed(list(parameters))} to the method itself, such as DPMondrian(theta=2), and not beside it."
            )
        return method
    one_of(method, "method", "materialize", list(METHODS))
    known = [field.name for field in fields(METHODS[method])]
    for name in parameters:
        if name not in known:
            raise ParameterError(
                f"The method '{method}' has no parameter '{name}'. Its parameters: {', '.join(known) or 'none'}."
            )
    return METHODS[method](**parameters)


def method_from_json(data: object) -> Method:
    """Read what a method's `to_json` wrote, and refuse everything else.

    >>> method_from_json({"name": "pairs"})
    Pairs()
    """
    name = data.get("name") if isinstance(data, Mapping) else None
    if not isinstance(data, Mapping) or not isinstance(name, str) or name not in METHODS:
        raise InputError(
            f"The method of a p-view is one of {listed(list(METHODS))}. Got {shown(name)} instead."
        )
    return METHODS[name].from_fields({key: value for key, value in data.items() if key != "name"})
