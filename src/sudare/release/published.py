"""The form of what is published: columns and rows that tell nothing but their values.

A type can tell of a person who was left out: an Enum lists their value. An order of rows can tell who stood where. So
types list no values, and rows stand in the order of their values.
"""

from __future__ import annotations

import polars as pl

from sudare.tables.exact import exact


def as_published(frame: pl.DataFrame) -> pl.DataFrame:
    """Return the rows in the order of their values, in types that list no other values."""
    return in_order(frame.with_columns(pl.col(pl.Categorical, pl.Enum).cast(pl.String)))


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
