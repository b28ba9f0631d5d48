"""The verb `attack`: try on a published table what an outsider would try."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from sudare.attacks.background import background
from sudare.attacks.homogeneity import homogeneity
from sudare.attacks.published import Output, Published
from sudare.attacks.reidentification import reidentification
from sudare.attacks.skewness import skewness
from sudare.errors import ParameterError
from sudare.tables.schema import Schema

# A kind of attack takes the published table and its own options by name. Its result has `summary()` and `str()`.
KINDS: dict[str, Callable[..., Any]] = {
    "homogeneity": homogeneity,
    "background": background,
    "reidentification": reidentification,
    "skewness": skewness,
}
NEED_SENSITIVE = ("homogeneity", "background", "skewness")


def attack(output: Output, schema: Schema, kind: str = "homogeneity", **options: Any) -> Any:
    """Attack a published frame, file or release folder, and say what an outsider learns.

    `kind` is "homogeneity", "background" (option `known`), "reidentification" (options `threshold` and
    `population`) or "skewness" (option `floor`). The result is a Homogeneity, Background,
    Reidentification or Skewness; print it to read it. Attack the original table, `table.frame()`, to
    compare the risk before and after.

    >>> import polars as pl
    >>> frame = pl.DataFrame({"zip": ["130**"] * 2 + ["148**"] * 2, "illness": ["flu", "HIV", "flu", "flu"]})
    >>> schema = Schema.from_roles(quasi=["zip"], sensitive=["illness"])
    >>> attack(frame, schema).by_attribute["illness"].records
    2
    >>> attack(frame, schema, kind="background", known=1).posterior
    1.0
    """
    if kind not in KINDS:
        raise ParameterError(
            f"The 'kind' parameter of attack must be one of {', '.join(KINDS)}. Got {kind!r} instead."
        )
    allowed = [name for name in inspect.signature(KINDS[kind]).parameters if name != "seen"]
    if unknown := [name for name in options if name not in allowed]:
        known = ", ".join(allowed) or "none"
        raise ParameterError(f"The {kind} attack has no option '{unknown[0]}'. Its options: {known}.")
    return KINDS[kind](Published.open(output, schema), **options)


def attack_all(output: Output, schema: Schema) -> dict[str, Any]:
    """Try every attack with its defaults; return the numbers as plain data, for a certificate.

    No block or value is named: a certificate travels with the output, and should not point at anybody.
    Without a sensitive attribute there is only the re-identification attack to try.

    >>> import polars as pl
    >>> frame = pl.DataFrame({"zip": ["130**"] * 2 + ["148**"] * 2, "illness": ["flu", "HIV", "flu", "flu"]})
    >>> found = attack_all(frame, Schema.from_roles(quasi=["zip"], sensitive=["illness"]))
    >>> found["homogeneity"]
    {'illness': {'blocks': 1, 'records': 2, 'share': 0.5}}
    """
    seen = Published.open(output, schema)
    able = [kind for kind in KINDS if seen.sensitive or kind not in NEED_SENSITIVE]
    return {kind: KINDS[kind](seen).summary() for kind in able}
