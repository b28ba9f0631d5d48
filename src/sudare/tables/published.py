"""The form of what is published: columns and rows that tell nothing but their values.

A type can tell of a person who was left out: an Enum lists their value. An order of rows can tell who stood where. So
types list no values, and rows stand in the order of their values.
"""

from __future__ import annotations

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sudare.tables.exact import exact


def as_published(frame: pl.DataFrame) -> pl.DataFrame:
    """Return the rows in the order of their values, in types that list no other values."""
    return in_order(frame.with_columns(map(unlisted, frame.iter_columns())))


def unlisted(series: pl.Series) -> pl.Series:
    """Return a column in a type that lists no values: categories as texts."""
    return series.cast(pl.String) if isinstance(series.dtype, pl.Categorical | pl.Enum) else series


def in_order(frame: pl.DataFrame) -> pl.DataFrame:
    """Sort the rows by all their values: the order is then a function of what is published.

    >>> in_order(pl.DataFrame({"x": [2.0, 0.0, -0.0]}))["x"].to_list()
    [0.0, -0.0, 2.0]
    """
    if frame.width == 0:
        return frame
    return frame[order_of(frame)]


def order_of(frame: pl.DataFrame) -> NDArray[np.uint32]:
    """Return in which order the rows of a frame are published."""
    # -0.0 and 0.0 are equal, and yet can be told apart: their order must not be the original's.
    bits = [pl.lit(exact(column)) for column in frame.iter_columns() if column.dtype.is_float()]
    keys = [*map(pl.col, frame.columns), *bits]
    return frame.select(pl.arg_sort_by(keys, nulls_last=True)).to_series().to_numpy()


def ranks(values: pl.Series) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the order in which distinct values are published, and the rank of each; a missing value comes last.

    >>> [array.tolist() for array in ranks(pl.Series("town", ["b", None, "a"]))]
    [[2, 0, 1], [1, 2, 0]]
    """
    values = unlisted(values)
    if values.dtype.is_float():
        order = order_of(values.to_frame()).astype(np.int64)
    else:
        order = values.arg_sort(nulls_last=True).to_numpy().astype(np.int64)
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    return order, rank
