"""CSV files that a spreadsheet opens safely.

A spreadsheet takes a cell that begins with = + - or @, also in full width, for a formula and runs it; some skip a tab or
an end of line before it. Such texts are written with an apostrophe in front; a text that begins with apostrophes and then one of these signs gets one more, so that exactly
one is taken away when the file is read back. Numbers stay as they are.
"""

from __future__ import annotations

import polars as pl

SIGNS = r"[=+\-@\uff1d\uff0b\uff0d\uff20\t\r\n]"
FORMULA = f"^'*{SIGNS}"
GUARDED = f"^'+{SIGNS}"
NUMBER = r"^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?$"


def guarded(frame: pl.DataFrame) -> pl.DataFrame:
    """Return a frame whose texts, written to a CSV file, no spreadsheet takes for formulas.

    >>> guarded(pl.DataFrame({"a": ["=1+1", "-5", "'-x", "fine"]}))["a"].to_list()
    ["'=1+1", '-5', "''-x", 'fine']
    """
    names = pl.DataFrame({"name": pl.Series(frame.columns, dtype=pl.String)}).select(_guarded(pl.col("name")))
    safe = frame.with_columns(_guarded(pl.selectors.string()))
    safe.columns = names["name"].to_list()
    return safe


def unguarded(texts: pl.Series) -> pl.Series:
    """Take the apostrophes away again from texts of a CSV file.

    >>> unguarded(guarded(pl.DataFrame({"a": ["=1+1", "'-x", "'tis"]}))["a"]).to_list()
    ['=1+1', "'-x", "'tis"]
    """
    every = pl.first()
    meant = pl.when(every.str.contains(GUARDED)).then(every.str.slice(1)).otherwise(every)
    return texts.to_frame().select(meant).to_series()


def _guarded(texts: pl.Expr) -> pl.Expr:
    unsafe = texts.str.contains(FORMULA) & ~texts.str.contains(NUMBER)
    return pl.when(unsafe).then("'" + texts).otherwise(texts).name.keep()
