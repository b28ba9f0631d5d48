"""The words that plans are written with in SQL: names, texts and small relations. A dialect writes them, and quotes what is in them."""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Callable, Sequence
from decimal import Decimal, InvalidOperation
from typing import Any

from sqlglot import exp

from sudare.errors import InputError
from sudare.tables.attribute import Attribute
from sudare.tables.text import shown

Word = exp.Expr


def name(text: str) -> exp.Identifier:
    """Return a quoted name."""
    return exp.to_identifier(text, quoted=True)


def column(text: str, of: str) -> exp.Column:
    """Return a column of a relation."""
    return exp.column(name(text), table=name(of))


def table(text: str) -> exp.Table:
    """Return a relation of our own, by its name."""
    return exp.Table(this=name(text))


def word(value: str | int | None) -> Word:
    """Return a text, a whole number, or a missing text."""
    if value is None:
        return exp.cast(exp.null(), "text")
    return exp.Literal.number(value) if isinstance(value, int) else text(value)


def text(value: str) -> Word:
    """Return a text; one that some database cannot hold is refused."""
    if "\0" in value:
        raise InputError(
            f"The plan has the value {shown(value)}, with a NUL sign, which texts in SQL cannot have."
        )
    parts = value.split("${")  # which Spark takes for a variable of its own, wherever it stands
    texts = [
        exp.Literal.string("{" * (at > 0) + part + "$" * (at < len(parts) - 1))
        for at, part in enumerate(parts)
    ]
    return texts[0] if len(texts) == 1 else exp.Concat(expressions=texts, safe=False, coalesce=False)


def every(conditions: Sequence[Word]) -> Word:
    """Return that all conditions hold."""
    return exp.and_(*conditions, copy=False) if conditions else exp.true()


def relation(of: str, names: Sequence[str], rows: Sequence[Sequence[Word]]) -> exp.CTE:
    """Return a named relation that lists its rows."""
    listed = exp.Values(
        expressions=[exp.Tuple(expressions=list(row)) for row in rows],
        alias=exp.TableAlias(this=name("listed"), columns=[name(own) for own in names]),
    )
    return exp.CTE(this=exp.select("*").from_(listed), alias=exp.TableAlias(this=name(of)))


def query(of: str, asked: exp.Select) -> exp.CTE:
    """Return a named query."""
    return exp.CTE(this=asked, alias=exp.TableAlias(this=name(of)))


# -- What a column's values are in SQL -----------------------------------------------------------------


def compared(of: str, attribute: Attribute, texts: Sequence[str], stored: Word) -> tuple[list[Word], Word]:
    """Return values, given as texts, in SQL, and what of a stored column they are compared with.

    Numbers, dates and times are compared as such where the schema says that they are; all else as texts, as whole numbers, days and truth
    values may be, too: they have one text in all databases. Texts that may be numbers with decimals or times have several, and so need a type.
    """
    kind = attribute.type
    if kind is None and any(_has_several_texts(one) for one in texts):
        raise InputError(
            f"'{of}' has values such as {shown(next(filter(_has_several_texts, texts)))}, which may be a number, a time or a text, and databases "
            'write them differently. Say in the schema what it is: type = "number", "datetime" or "text".'
        )
    if kind is None or kind == "text":
        return [text(one) for one in texts], exp.cast(stored, "text")
    read = _READ[kind]
    try:
        values = [read(one) for one in texts]
    except (ValueError, InvalidOperation):
        raise InputError(
            f"'{of}' is {kind} by the schema, and the plan has another value of it. Use the schema that it was learned with."
        ) from None
    if len(set(values)) < len(values):
        raise InputError(
            f"'{of}' has values in the plan that are one {kind} and have several texts. They cannot be told apart in SQL."
        )
    return [_WRITTEN[kind](value) for value in values], stored


def _has_several_texts(one: str) -> bool:
    """Tell whether what a text may stand for is written otherwise by some databases."""
    try:
        number = float(one)
    except ValueError:
        pass
    else:
        return not one.lstrip("-").isdigit() or not math.isfinite(number)
    try:
        return "T" in one and dt.datetime.fromisoformat(one) is not None
    except ValueError:
        return False


def _whole(one: str) -> int:
    number = Decimal(one)
    if number != number.to_integral_value() or abs(number) >= 2**63:
        raise ValueError
    return int(number)


def _moment(one: str) -> dt.datetime:
    moment = dt.datetime.fromisoformat(one)
    if moment.tzinfo is not None:
        raise ValueError
    return moment


_READ: dict[str, Callable[[str], Any]] = {
    "integer": _whole,
    "number": float,
    "date": dt.date.fromisoformat,
    "datetime": _moment,
}
_WRITTEN: dict[str, Callable[[Any], Word]] = {
    "integer": lambda value: exp.cast(exp.Literal.string(str(value)), "bigint"),
    "number": lambda value: exp.cast(
        exp.Literal.string("NaN" if math.isnan(value) else repr(value)), "double"
    ),
    "date": lambda value: exp.cast(exp.Literal.string(value.isoformat()), "date"),
    "datetime": lambda value: exp.cast(exp.Literal.string(value.isoformat(sep=" ")), "timestamp"),
}
