"""What a statement lists: relations of a text and some numbers, in the statement itself or in a table that is loaded beside it."""

from __future__ import annotations

import datetime as dt
import hashlib
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Any

import polars as pl

from sudare.errors import InputError, ParameterError
from sudare.plans.sql_dialects import Dialect, Kind, in_hex, is_plain
from sudare.tables.attribute import Attribute
from sudare.tables.text import shown

LOADED = "sudare_loaded"
TEXT = "own"
"""The column that has the text."""


@dataclass(frozen=True)
class Listed:
    """A relation by its name: columns of whole numbers and, if it has any, texts, which are of some kind."""

    name: str
    numbers: Mapping[str, Sequence[int]]
    texts: Sequence[str | None] | None = None
    kind: Kind = "text"

    def __len__(self) -> int:
        return max([len(own) for own in self.numbers.values()] + [len(self.texts or ())])

    def inline(self, dialect: Dialect) -> str:
        """Return a query that has all rows in itself."""
        if len(self) > dialect.most_rows:
            raise ParameterError(
                f"The plan lists {len(self):,} values or blocks, too many for one statement in {dialect.name}. {ELSEWHERE}"
            )
        columns: dict[str, Kind] = dict.fromkeys(self.numbers, "integer")
        given = [list(map(str, own)) for own in self.numbers.values()]
        chosen = list(self.numbers)
        if self.texts is not None:
            columns = {TEXT: "text", **columns}
            plain = self.kind != "text" or all(own is None or is_plain(own) for own in self.texts)
            written = (own if plain or own is None else in_hex(own) for own in self.texts)
            given.insert(0, ["NULL" if own is None else f"'{own}'" for own in written])
            text = TEXT if plain else dialect.from_hex.format(TEXT)
            chosen.insert(0, f"{dialect.cast(text, self.kind)} AS {TEXT}")
        rows = [f"({', '.join(row)})" for row in zip(*given, strict=True)]
        nothing = f"({', '.join('NULL' if kind == 'text' else '-1' for kind in columns.values())})"
        return f"SELECT {', '.join(chosen)} FROM {dialect.listed(columns, rows or [nothing])}"

    def loaded(self, dialect: Dialect) -> str:
        """Return a query of the same rows, from the table that was loaded."""
        chosen = [f"number_{at} AS {name}" for at, name in enumerate(self.numbers)]
        if self.texts is not None:
            chosen.insert(0, f"{dialect.cast('text', self.kind)} AS {TEXT}")
        return f"SELECT {', '.join(chosen)} FROM {LOADED} WHERE listing = '{self.name}'"


ELSEWHERE = (
    "Give lookup= (--lookup) the name of a Parquet file: it gets the lists, and the statement reads them from the table of that name, "
    "into which you load it. Or apply the plan with sd.apply(...)."
)


def as_table(lists: Sequence[Listed], secret: str) -> pl.DataFrame:
    """Return all lists as one table, with a number for each row and a seal, which nobody can make without the secret."""
    width = max(len(own.numbers) for own in lists)
    frames = []
    for own in lists:
        numbers = [
            pl.Series(f"number_{at}", list(of), pl.Int64) for at, of in enumerate(own.numbers.values())
        ]
        texts = pl.Series("text", own.texts if own.texts is not None else [None] * len(own), pl.String)
        frames.append(
            pl.DataFrame([texts, *numbers])
            .with_columns(pl.lit(None, pl.Int64).alias(f"number_{at}") for at in range(len(numbers), width))
            .insert_column(0, pl.repeat(own.name, len(own), dtype=pl.String, eager=True).alias("listing"))
        )
    whole = pl.concat(frames).with_row_index("entry", offset=1).with_columns(pl.col("entry").cast(pl.Int64))
    sealed = [
        hashlib.sha256("".join([secret, *_marked(row), secret]).encode()).hexdigest()
        for row in whole.select(_sealed(whole)).iter_rows()
    ]
    return whole.insert_column(0, pl.Series("seal", sealed, pl.String))


def _marked(row: Sequence[Any]) -> Iterator[str]:
    """Return the parts of a row so that no two rows are one text: only the last part may have a colon within."""
    return ("-:" if own is None else f"+{own}:" for own in row)


def _sealed(lists: pl.DataFrame) -> list[str]:
    """Return the columns that a seal is made of: all others, a text last."""
    return [*(name for name in lists.columns if name not in ("seal", "text")), "text"]


def read_from(table: str, lists: pl.DataFrame, secret: str, dialect: Dialect) -> tuple[str, list[str]]:
    """Return the query of what was loaded, and what must hold of it: it is all there, and no row twice, which would be counted twice.

    Who may write to the table that was loaded must not decide on what is published, nor on how it is counted: what has not its seal is not read.
    """
    parts = [f"COALESCE('+' || {dialect.cast(name, 'text')} || ':', '-:')" for name in _sealed(lists)]
    seal = dialect.digest.format(f"'{secret}' || {' || '.join(parts)} || '{secret}'")
    of_it = f"SELECT * FROM {table} AS loaded WHERE seal = {seal}"
    return of_it, [
        f"(SELECT {counted} FROM {LOADED}) = {len(lists)}"
        for counted in ("COUNT(*)", "COUNT(DISTINCT entry)")
    ]


# -- What a column's values are in SQL -----------------------------------------------------------------


def compared(of: str, attribute: Attribute, texts: Sequence[str]) -> tuple[list[str], Kind]:
    """Return values, given as texts, as texts that all databases read alike, and as what they are compared.

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
        values: list[Any] = list(texts)
        kind = "text"
    else:
        try:
            values = [_READ[kind](one) for one in texts]
        except (ValueError, InvalidOperation):
            raise InputError(
                f"'{of}' is {kind} by the schema, and the plan has another value of it. Use the schema that it was learned with."
            ) from None
    if len(set(values)) < len(values):
        raise InputError(
            f"'{of}' has values in the plan that are one {kind} and have several texts. They cannot be told apart in SQL."
        )
    return [_WRITTEN[kind](value) for value in values], kind


def in_order(values: Iterable[str], kind: Kind) -> list[str]:
    """Return values that `compared` wrote, by their size; days and moments have the order of their texts."""
    return sorted(values, key=_READ[kind] if kind in ("integer", "number") else None)


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


_READ: Mapping[str, Callable[[str], Any]] = {
    "integer": _whole,
    "number": float,
    "date": dt.date.fromisoformat,
    "datetime": _moment,
}
_WRITTEN: Mapping[str, Callable[[Any], str]] = {
    "text": str,
    "integer": str,
    "number": lambda value: "NaN" if math.isnan(value) else repr(value + 0.0),
    "date": dt.date.isoformat,
    "datetime": lambda value: value.isoformat(sep=" "),
}
