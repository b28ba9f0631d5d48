"""The form of what is published: columns and rows that tell nothing but their values.

A type can tell of a person who was left out: an Enum lists their value, and one 30.5 makes 30.0 of everybody's 30. An
order of rows can tell who stood where. So types are made from the published values and the schema alone, and rows
stand in the order of their values.
"""

from __future__ import annotations

import polars as pl

from sudare.tables.exact import exact
from sudare.tables.parsing import infer_type, parse
from sudare.tables.table import Table


def as_published(frame: pl.DataFrame, table: Table) -> pl.DataFrame:
    """Return the rows in the order of their values, in types that are made from these values or declared."""
    left_out = table.source.csv is not None and frame.height < len(table)  # else the types are theirs already
    columns = []
    for column in frame.iter_columns():
        if isinstance(column.dtype, pl.Categorical | pl.Enum):
            column = column.cast(pl.String)
        columns.append(_retyped(column) if left_out and table.schema[column.name].type is None else column)
    return in_order(pl.DataFrame(columns))


def in_order(frame: pl.DataFrame) -> pl.DataFrame:
    """Sort the rows by all their values: the order is then a function of what is published.

    >>> in_order(pl.DataFrame({"x": [2.0, 0.0, -0.0]}))["x"].to_list()
    [0.0, -0.0, 2.0]
    """
    if frame.width == 0:
        return frame
    # -0.0 and 0.0 are equal, and yet can be told apart: their order must not be the original's.
    bits = [pl.lit(exact(column)) for column in frame.iter_columns() if column.dtype.is_float()]
    return frame.sort([*map(pl.col, frame.columns), *bits], nulls_last=True)


def _retyped(column: pl.Series) -> pl.Series:
    """Return a column of a file without types as the type that its published values alone would be read as.

    A text that is no longer beside others, or a whole number that is no longer beside fractions, is read as if it had
    always stood alone.
    """
    if column.dtype == pl.String:
        values = column.unique()
        typed = parse(values, infer_type(values))
        return column if typed.dtype == pl.String else parse(column, infer_type(values)).alias(column.name)
    if column.dtype.is_float() and column.is_not_null().any():
        whole = column.cast(pl.Int64, strict=False)
        return whole if whole.cast(column.dtype).equals(column) else column
    return column
