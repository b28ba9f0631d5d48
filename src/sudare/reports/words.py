"""How pages write numbers and values."""

from __future__ import annotations

import math

from sudare.tables.dictionary import Dictionary
from sudare.tables.text import text_of, texts_of

MISSING = "(missing)"
MANY_TIMES = 20.0  # an epsilon whose exponential tells nobody anything


def printable(text: str) -> str:
    r"""Put a dot in place of what nobody can see, such as a control character, or one that turns the writing direction.

    >>> printable("a\x1b\u202eb")
    'a··b'
    """
    return text if text.isprintable() else "".join(sign if sign.isprintable() else "·" for sign in text)


def shown_value(value: object) -> str:
    """Write a value as text; None is a missing one.

    >>> shown_value(None), shown_value(25)
    ('(missing)', '25')
    """
    return MISSING if value is None else text_of(value)


def value_labels(column: Dictionary) -> list[str]:
    """Write the values of a column's codes as texts; the missing one, if there is any, is the last.

    >>> import polars as pl
    >>> value_labels(Dictionary(pl.Series([20, 30]), missing=True))
    ['20', '30', '(missing)']
    """
    return texts_of(column.values) + [MISSING] * column.missing


def figure(value: float) -> str:
    """Write a number with four digits, or whole.

    >>> figure(2.71828), figure(12345.6)
    ('2.718', '12,346')
    """
    return f"{value:,.0f}" if value >= 100 else f"{value:.4g}"


def times_as_likely(epsilon: float) -> str:
    """Write how many times as likely epsilon allows something to be.

    >>> times_as_likely(1.0), times_as_likely(50.0)
    ('2.718', 'very many')
    """
    return "very many" if epsilon >= MANY_TIMES else figure(math.exp(epsilon))
