"""Texts by numbers: a database groups many rows of numbers in less memory than rows of texts."""

from __future__ import annotations

import polars as pl


class NumberedTexts:
    """The texts of some columns, numbered as they first come.

    >>> texts = NumberedTexts()
    >>> numbers = texts.numbered(pl.DataFrame({"sex": ["m", None, "f", "m"], "age": [30, 40, 50, 60]}))
    >>> numbers.rows()
    [(0, 30), (None, 40), (1, 50), (0, 60)]
    >>> texts.meant("sex", numbers["sex"]).to_list()
    ['m', None, 'f', 'm']
    """

    def __init__(self) -> None:
        self._numbers: dict[str, dict[str, int]] = {}

    def numbered(self, frame: pl.DataFrame) -> pl.DataFrame:
        """Return a frame with numbers in place of texts; missing ones stay missing."""
        return frame.with_columns(
            self._column(column) for column in frame.iter_columns() if column.dtype == pl.String
        )

    def _column(self, column: pl.Series) -> pl.Series:
        own = self._numbers.setdefault(column.name, {})
        for text in column.drop_nulls().unique(maintain_order=True).to_list():
            own.setdefault(text, len(own))
        return column.replace_strict(own, default=None, return_dtype=pl.Int32)

    def meant(self, name: str, column: pl.Series) -> pl.Series:
        """Return a column as it was."""
        own = self._numbers.get(name)
        values = column if own is None else pl.Series(list(own), dtype=pl.String).gather(column)
        return values.alias(name)
