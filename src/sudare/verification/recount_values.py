"""Recounting the values of a sensitive column: which there are, their order, and the paths of a hierarchy above them.

Nothing here comes from the methods, nor from what `privacy` measures with.
"""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sudare.errors import InputError, ParameterError
from sudare.tables.attribute import Attribute
from sudare.tables.exact import texts
from sudare.tables.hierarchy import Hierarchy
from sudare.tables.text import shown, spellings
from sudare.tables.types import KINDS

# How numbers and dates are written in a CSV file of which nobody said what it holds. 007 is a text.
NUMBER = r"^([+-]?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?|NaN|-?inf)$"
DATE = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}$"
DATETIME = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9]{2}:[0-9]{2}"


@dataclass(frozen=True)
class Sensitive:
    """The values of a sensitive column, numbered in their order; a missing one is last."""

    name: str
    numbers: pl.DataFrame
    """The number, `code`, of each value as it stands there, `raw`."""
    values: pl.Series
    """The values by number, without the missing one."""
    missing: bool

    def codes(self, column: pl.Series) -> pl.Series:
        """Return the number of the value of every row."""
        raw = column if column.dtype == self.numbers["raw"].dtype else texts(column)
        named = raw.alias("raw").to_frame()
        codes = named.join(self.numbers, on="raw", how="left", maintain_order="left")["code"]
        return codes.fill_null(len(self.values))

    @property
    def size(self) -> int:
        """How many values there are; the missing one counts."""
        return len(self.values) + self.missing


def sensitive_values(
    column: pl.Series, attribute: Attribute, missing_values: tuple[str, ...], *, from_csv: bool
) -> Sensitive:
    """Number the values that a column has: in the order of the declared domain, or else in their natural one.

    Texts are read as the declared type, in which 1.0 and 1.00 are one value. Where a CSV file's type is not
    declared, numbers and dates are put in their order, and texts that differ stay apart.
    """
    if isinstance(column.dtype, pl.Categorical) or attribute.type == "text":
        column = texts(column)
    raw = column.drop_nulls().unique().alias("raw")
    if raw.dtype == pl.String:
        raw = raw.filter(~raw.is_in(list(missing_values)))
    typed = raw
    if raw.dtype == pl.String and attribute.type is not None:
        typed = _typed(raw, attribute.type)
        if typed.null_count():
            wrong = shown(raw.filter(typed.is_null())[0])
            raise InputError(
                f"The output's column '{column.name}' has {wrong}, which is not {KINDS[attribute.type]}, as the schema says."
            )
    elif raw.dtype == pl.String and from_csv:
        typed = _guessed(raw)
    table = pl.DataFrame([raw, typed.alias("typed")]).sort("typed", "raw")
    declared = attribute.type is not None
    table = table.with_columns(code=pl.col("typed").rle_id() if declared else pl.int_range(pl.len()))
    values = table.unique("code", keep="first", maintain_order=True)["typed"]
    if attribute.domain is not None:
        places = _places(values, attribute.domain, column.name)
        table = table.with_columns(code=pl.Series(places, dtype=pl.Int64).gather(table["code"]))
        values = pl.Series(list(attribute.domain), strict=False)
    numbers = table.select("raw", pl.col("code").cast(pl.Int64))
    given = column.unique().alias("raw").to_frame()  # what has no number there counts as missing
    missing = given.join(numbers, on="raw", how="left")["code"].null_count() > 0
    return Sensitive(column.name, numbers, values, missing)


def _typed(written: pl.Series, type_: str) -> pl.Series:
    """Read distinct texts as a type; what is not of it becomes null."""
    if type_ == "text":
        return written
    if type_ in ("integer", "number"):
        whole = written.cast(pl.Int128, strict=False)
        if type_ == "number" and whole.null_count():
            return written.cast(pl.Float64, strict=False)
        small = whole.cast(pl.Int64, strict=False)
        return whole if small.null_count() > whole.null_count() else small
    if type_ == "date":
        return written.str.to_date("%Y-%m-%d", strict=False)
    return pl.Series([_moment(text) for text in written.to_list()], dtype=pl.Datetime("us"))


def _moment(text: str) -> dt.datetime | None:
    try:
        moment = dt.datetime.fromisoformat(text)
    except ValueError:
        return None
    return moment if moment.tzinfo is None else moment.astimezone(dt.UTC).replace(tzinfo=None)


def _guessed(written: pl.Series) -> pl.Series:
    for type_, pattern in (("number", NUMBER), ("date", DATE), ("datetime", DATETIME)):
        if written.str.contains(pattern).all():
            typed = _typed(written, type_)
            return written if typed.null_count() else typed
    return written


def _places(values: pl.Series, domain: tuple[Any, ...], name: str) -> list[int]:
    """Return where in the declared domain each value stands."""
    place = {text: i for i, known in enumerate(domain) for text in spellings(known)}
    places = []
    for value in values.to_list():
        at = next((place[text] for text in spellings(value) if text in place), None)
        if at is None:
            raise InputError(
                f"The output's column '{name}' has {shown(value)}, which is not in its domain in the schema."
            )
        places.append(at)
    return places


def paths_of(sensitive: Sensitive, attribute: Attribute) -> NDArray[np.int64]:
    """Return the node of every value at each level below the root; a missing value has its own on all."""
    recipe, values = attribute.hierarchy, sensitive.values
    assert recipe is not None
    if len(values) == 0:
        return np.zeros((1, sensitive.size), dtype=np.int64)
    try:
        hierarchy = recipe if isinstance(recipe, Hierarchy) else recipe.build(values)
    except (InputError, ParameterError) as error:
        raise InputError(f"The output's column '{sensitive.name}': {error}") from None
    leaves = hierarchy.find(values)
    if (leaves < 0).any():
        unknown = shown(values.to_list()[int(np.argmin(leaves))])
        raise InputError(
            f"The output's column '{sensitive.name}' has {unknown}, which is not in its hierarchy in the schema."
        )
    below = hierarchy.codes[:-1].astype(np.int64)
    own = below.max(axis=1, keepdims=True) + 1
    return np.hstack([below[:, leaves], own]) if sensitive.missing else below[:, leaves]
