"""How dates are written in texts."""

from __future__ import annotations

import polars as pl

from sudare.tables.parsing import date_forms, infer_type

ISO = "%Y-%m-%d"
FIRST = 20
MAX_READ = 100_000  # distinct texts: there are fewer days that people lived on


def written_as(values: pl.Series) -> list[str]:
    """Return the forms in which all of these distinct texts are dates; several where they do not tell day from month.

    >>> written_as(pl.Series(["30.04.1992", "01.05.1992"])), written_as(pl.Series(["1992-04-30"])), written_as(pl.Series(["x"]))
    (['%d.%m.%Y'], ['%Y-%m-%d'], [])
    """
    if values.dtype != pl.String or not 0 < len(values) <= MAX_READ:
        return []
    some = values.head(FIRST)
    if infer_type(some) != "date" and not date_forms(some):  # most texts are none, and are not looked through
        return []
    return [ISO] if infer_type(values) == "date" else date_forms(values)
