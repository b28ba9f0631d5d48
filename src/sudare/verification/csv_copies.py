"""The CSV file of a table that stands in Parquet files, too: its rows without reading it."""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence

import polars as pl

from sudare.errors import InputError
from sudare.tables.file_rows import RowsReadAgain
from sudare.tables.outputs import BROKEN
from sudare.tables.runs import PublishedRows, Runs
from sudare.tables.spreadsheets import guarded


class RowsAsCsv(PublishedRows):
    """Rows as a receiver of the CSV file sees them: texts, where some values look like others.

    >>> rows = RowsAsCsv(Runs.of(pl.DataFrame({"x": [1.5, None], "y": ["=1", ""]})))
    >>> rows.frame().rows()
    [('1.5', "'=1"), (None, '')]
    """

    def __init__(self, rows: PublishedRows) -> None:
        self._rows = rows

    @property
    def columns(self) -> list[str]:
        """The names of the columns."""
        return self._rows.columns

    @property
    def height(self) -> int:
        """How many rows there are."""
        return self._rows.height

    def counted(self, names: Sequence[str]) -> Runs:
        """Return how often rows occur in some columns; equal ones may stand there several times."""
        return _written(self._rows.counted(names))

    def pieces(self, names: Sequence[str], together: Sequence[str]) -> Iterator[Runs]:
        """Count rows by some columns in pieces."""
        return map(_written, self._rows.pieces(names, together))

    def parts(self) -> Iterator[Runs]:
        """Return all rows, some at a time."""
        return map(_written, self._rows.parts())


def as_csv(rows: PublishedRows) -> PublishedRows:
    """Return rows as their CSV file has them; those that are kept are written only once."""
    kept = rows.kept if isinstance(rows, RowsReadAgain) else None
    return RowsAsCsv(rows) if kept is None else _written(kept)


def _written(runs: Runs) -> Runs:
    """Write rows as a CSV file, and read them again."""
    columns = guarded(runs.rows).get_columns()
    # A number before each row: else a missing value that stands alone would be an empty line, and so no row.
    plain = [column.alias(str(i)) for i, column in enumerate(columns)]
    numbered = pl.DataFrame(plain).with_row_index("row")
    try:
        texts = pl.read_csv(io.BytesIO(numbered.write_csv().encode()), infer_schema=False)
    except BROKEN as error:
        raise InputError(f"The rows cannot be written as CSV: {error}.") from None
    written = texts.drop("row")
    written.columns = runs.columns
    return Runs(written, runs.lengths)
