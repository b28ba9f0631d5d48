"""Values that may be known: learning one of them is no disclosure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from sudare.errors import ParameterError
from sudare.tables.text import spelled

Harmless = Sequence[Any] | Mapping[str, Sequence[Any]]
"""Values of any sensitive attribute, or by attribute; an empty text, or None, stands for a missing value."""


def harmless_texts(given: Harmless, attribute: str) -> list[str]:
    """Return the texts of an attribute's harmless values as they may be published.

    >>> harmless_texts(["none", 3], "illness"), harmless_texts({"illness": ["none"]}, "income")
    (['none', '3', '3.0'], [])
    """
    if isinstance(given, str) or not isinstance(given, Sequence | Mapping):
        raise ParameterError(
            f"The 'harmless' parameter of attack must be a list of values. Got {given!r} instead."
        )
    own = given.get(attribute, ()) if isinstance(given, Mapping) else given
    names = ["" if value is None else spelled(value) for value in own]
    return [text for name in names for text in ([name, f"{name}.0"] if _is_whole(name) else [name])]


def is_harmless(given: Harmless, attribute: str) -> pl.Expr:
    """Tell of the column `value` whether it may be known."""
    texts = harmless_texts(given, attribute)
    return pl.col("value").is_in(texts).fill_null("" in texts)


def _is_whole(text: str) -> bool:
    return text.removeprefix("-").isdecimal()
