"""Some rows of a table, as if the others had never been there: their types and hierarchies are made from them alone."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from functools import partial

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sudare.errors import InputError
from sudare.tables.attribute import Attribute, Role
from sudare.tables.checking import hierarchies_of
from sudare.tables.labels import Labels
from sudare.tables.parsing import infer_type, parse
from sudare.tables.table import Source, Table
from sudare.tables.toml import toml_key

MAX_WHOLE = 2.0**53  # up to it, floats tell all whole numbers apart


def without(table: Table, names: Sequence[str], tuples: NDArray[np.int32]) -> Table:
    """Return the table without the rows that have one of these tuples of some columns.

    >>> import sudare as sd
    >>> table = sd.read(pl.DataFrame({"height": [1.0, 2.0, 2.5]}))
    >>> without(table, ["height"], np.array([[2]])).frame()["height"].dtype
    Int64
    """
    types = {name: _type_for(name, table.schema[name], table.source) for name in table.columns}
    rows = table.rows.without(names, tuples).retyped({name: own for name, own in types.items() if own})
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
    untyped = is_untyped(source)
    return partial(plainest, untyped=untyped, by_day=untyped or source.by_cell)


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


def plainest(series: pl.Series, *, untyped: bool = False, by_day: bool = False) -> pl.Series:
    """Return values in the plainest type that holds them: it tells nothing but the values.

    Whole numbers are whole numbers, and decimals have as many digits as one of them needs. Texts of a source that has no
    types (`untyped`) are read as what they look like, and times that are all midnight as days where a source's would be (`by_day`).

    >>> plainest(pl.Series([1.0, 2.0])).dtype, plainest(pl.Series(["7", "8"]), untyped=True).dtype
    (Int64, Int64)
    """
    dtype = series.dtype
    if isinstance(dtype, pl.Categorical | pl.Enum):
        return series.cast(pl.String)
    if dtype == pl.String:
        type_ = infer_type(series.unique()) if untyped else "text"
        return series if type_ == "text" else parse(series, type_).alias(series.name)
    if isinstance(dtype, pl.Datetime) and by_day:
        days = series.dt.date()
        return days if days.cast(dtype).equals(series) else series
    if dtype.is_integer():
        return _cast_if_same(series, pl.Int64())
    if dtype.is_float():
        whole = bool((series.drop_nulls().abs() <= MAX_WHOLE).all())
        return _cast_if_same(series.cast(pl.Float64), pl.Int64()) if whole else series.cast(pl.Float64)
    if isinstance(dtype, pl.Decimal):
        digits = max((_decimals(value) for value in series.drop_nulls().to_list()), default=0)
        return _cast_if_same(series, pl.Decimal(dtype.precision, digits) if digits else pl.Int64())
    return series


def _decimals(value: Decimal) -> int:
    exponent = value.normalize().as_tuple().exponent
    return max(0, -exponent) if isinstance(exponent, int) else 0


def _cast_if_same(series: pl.Series, dtype: pl.DataType) -> pl.Series:
    cast = series.cast(dtype, strict=False)
    return cast if cast.cast(series.dtype, strict=False).equals(series) else series
