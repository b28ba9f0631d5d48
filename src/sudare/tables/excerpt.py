"""Some rows of a table, as if the others had never been there: their types and hierarchies are made from them alone."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sudare.errors import InputError
from sudare.tables.attribute import Attribute, Role
from sudare.tables.checking import hierarchies_of
from sudare.tables.labels import Labels
from sudare.tables.parsing import infer_type, parse
from sudare.tables.plainest import plainest
from sudare.tables.table import Source, Table
from sudare.tables.toml import toml_key

if TYPE_CHECKING:
    from sudare.engines.engine import Engine


def without(table: Table, names: Sequence[str], tuples: NDArray[np.int32]) -> Table:
    """Return the table without the rows that have one of these tuples of some columns.

    >>> import sudare as sd
    >>> table = sd.read(pl.DataFrame({"height": [1.0, 2.0, 2.5]}))
    >>> without(table, ["height"], np.array([[2]])).frame()["height"].dtype
    Int64
    """
    return of_rows(table, lambda rows: rows.without(names, tuples))


def of_rows(table: Table, some: Callable[[Engine], Engine]) -> Table:
    """Return the table of some of its rows."""
    types = {name: _type_for(name, table.schema[name], table.source) for name in table.columns}
    rows = some(table.rows).retyped({name: own for name, own in types.items() if own})
    rest = Table(rows, table.schema, table.source)
    return replace(rest, hierarchies=hierarchies_of(rest))


def is_untyped(source: Source) -> bool:
    """Tell whether a source has texts alone, which are read as what all of a column look like."""
    return source.csv is not None


def _type_for(name: str, attribute: Attribute, source: Source) -> Callable[[pl.Series], pl.Series] | None:
    """Return what makes the type of those values that are left; None where it is declared with all values.

    Where it cannot be told from these what they would have been read as by themselves, it must be declared.
    """
    if attribute.domain is not None or attribute.treated_as == Role.identifier:
        return None
    if attribute.type is not None:
        return unchanged
    if name in source.mixed:
        raise undeclared(name, source, "has several types")
    if codes := source.labels.codes.get(name):
        return partial(_still_codes, codes=codes, source=source)
    return _as_texts_look if is_untyped(source) else partial(plainest, by_day=source.by_cell)


def _as_texts_look(values: pl.Series) -> pl.Series:
    """Return values of a source that has no types as they would have been read by themselves."""
    if values.dtype == pl.String and (type_ := infer_type(values.unique())) != "text":
        values = parse(values, type_).alias(values.name)
    return plainest(values, by_day=True)


def undeclared(name: str, source: Source, why: str) -> InputError:
    """Say that a column's type would tell of people who are left out."""
    return InputError(
        f"{source.name}, column '{name}': it {why}, so that its type would tell of those who are left out. Declare it: in "
        f'[attributes.{toml_key(name)}], type = "text" or "integer".'
    )


def _still_codes(values: pl.Series, *, codes: Mapping[str, str], source: Source) -> pl.Series:
    """Return codes as they are, if they are also what their file says without those who are left out."""
    left = plainest(values)
    if Labels(codes={values.name: codes}).are_values(left):
        raise undeclared(values.name, source, "has codes, and labels for all that are left")
    return left


def unchanged(values: pl.Series) -> pl.Series:
    """Return values as they are."""
    return values
