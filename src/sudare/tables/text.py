"""How a value is written: one text per value, the same in hierarchies, plans and error messages."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from typing import Any

import polars as pl

PATTERN = "'*', and what begins with ^ and ends with $, stand for other names"


def text_of(value: Any) -> str:
    """Write a value as text.

    >>> text_of(25), text_of(25.0), text_of(0.5), text_of(True)
    ('25', '25.0', '0.5', 'true')
    """
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, dt.date | dt.time):
        return value.isoformat()
    return str(value)


def texts_of(values: pl.Series) -> list[str]:
    """Write each value of a series as text."""
    return [text_of(value) for value in values.to_list()]


def spellings(value: Any) -> tuple[str, ...]:
    """List the texts under which a hierarchy or a domain may name a value, so that 25.0 finds `25`.

    >>> spellings(25.0)
    ('25.0', '25')
    """
    text = text_of(value)
    if isinstance(value, dt.datetime) and value.tzinfo is not None:  # the same time may come in any zone
        return text, value.astimezone(dt.UTC).isoformat()
    if isinstance(value, bool):
        return text, text.capitalize()
    if isinstance(value, Decimal):
        return text, spelled(value)
    if isinstance(value, float) and value.is_integer():
        return text, str(int(value))
    return (text, f"{text}.0") if isinstance(value, int) else (text,)


def spelled(value: Any) -> str:
    """Write a value as text, so that equal numbers have one spelling, whatever the type that a source had for them.

    >>> from decimal import Decimal
    >>> spelled(25), spelled(25.0), spelled(Decimal("25.00")), spelled(0.5), spelled(Decimal("0.50"))
    ('25', '25', '25', '0.5', '0.5')
    """
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        return str(int(value))
    if isinstance(value, Decimal):
        return str(int(value)) if value == value.to_integral_value() else f"{value.normalize():f}"
    return text_of(value)


def shown(value: Any, limit: int = 60) -> str:
    """Quote a value for an error message; a very long one is cut."""
    text = repr(value) if isinstance(value, str) else text_of(value)
    return text if len(text) <= limit else f"{text[:limit]}... ({len(text):,} characters)"


def is_pattern(name: str) -> bool:
    """Tell whether polars takes a name for a pattern of names, so that no column can safely have it.

    >>> [is_pattern(name) for name in ("^a.*$", "*", "a*", "^a")]
    [True, True, False, False]
    """
    return name == "*" or (name.startswith("^") and name.endswith("$"))


def listed(names: list[str] | tuple[str, ...], limit: int = 12) -> str:
    """Join names for an error message; a long list is cut."""
    head = ", ".join(f"'{name}'" for name in names[:limit])
    return head if len(names) <= limit else f"{head} and {len(names) - limit:,} more"
