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
    named = dict(zip(frame.columns, _guarded(pl.Series(frame.columns, dtype=pl.String)), strict=True))
    texts = [_guarded(column) for column in frame.select(pl.col(pl.String)).iter_columns()]
    return frame.with_columns(texts).rename(named)


def unguarded(texts: pl.Series) -> pl.Series:
    """Take the apostrophes away again from texts of a CSV file.

    >>> unguarded(guarded(pl.DataFrame({"a": ["=1+1", "'-x", "'tis"]}))["a"]).to_list()
    ['=1+1', "'-x", "'tis"]
    """
    return texts.zip_with(~texts.str.contains(GUARDED).fill_null(False), texts.str.slice(1))


def _guarded(column: pl.Series) -> pl.Series:
    unsafe = column.str.contains(FORMULA) & ~column.str.contains(NUMBER)
    return column.zip_with(~unsafe.fill_null(False), "'" + column)
