"""What a schema must say before anything is counted or randomized by it, as the lines to add."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from sudare.errors import InputError
from sudare.tables.attribute import Type
from sudare.tables.dictionary import Dictionary
from sudare.tables.table import Table
from sudare.tables.text import listed, text_of
from sudare.tables.toml import toml, toml_key

MAX_LISTED = 60  # values that are listed


def type_of(dtype: pl.DataType) -> Type:
    """Return the type that a schema would declare for values of a source's type."""
    if dtype.is_integer():
        return "integer"
    if dtype.is_numeric():
        return "number"
    return "date" if dtype == pl.Date else "datetime" if isinstance(dtype, pl.Datetime) else "text"


def suggestion(column: Dictionary) -> str | None:
    """Suggest bounds or a domain of a column in a comment, for a person to check: they are the data's own.

    >>> print(suggestion(Dictionary(pl.Series([20, 30, 40]), missing=False)))
    # bounds = [20, 40]   # the data's own range; declare one that is public
    """
    values = column.values
    if type_of(values.dtype) != "text":
        low, high = text_of(values.min()), text_of(values.max())
        return f"# bounds = [{low}, {high}]   # the data's own range; declare one that is public"
    if len(values) > MAX_LISTED:
        return None
    return (
        f"# domain = {toml(tuple(values.to_list()))}   # the data's own values; declare those that are public"
    )


def refuse_undeclared(table: Table, names: Sequence[str]) -> None:
    """Refuse attributes of which the schema does not say what values they can have, with the lines to add."""
    if not names:
        return
    lines = [line for name in names for line in _lines(table[name])]
    raise InputError(
        f"{table.source.name}: the schema does not say what values {listed(list(names))} can have, and to read them off the data "
        "would tell about people. Say what is public in the schema, below the heading of each that is there already, and without the # (or drop an "
        'attribute: role = "identifier"):\n' + "\n".join(lines)
    )


def _lines(column: Dictionary) -> list[str]:
    many = (
        f"# domain = [...]   # {len(column.values):,} values in the data: declare groups of them, or drop it"
    )
    return [f"[attributes.{toml_key(column.name)}]", suggestion(column) or many]
