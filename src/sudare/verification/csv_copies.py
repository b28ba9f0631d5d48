"""The CSV file of a table that stands in Parquet files, too: its rows without reading it."""

from __future__ import annotations

import io

import polars as pl

from sudare.errors import InputError
from sudare.tables.file_rows import RowsReadAgain
from sudare.tables.outputs import BROKEN
from sudare.tables.runs import MappedRows, PublishedRows, Runs
from sudare.tables.spreadsheets import guarded


def as_csv(rows: PublishedRows) -> PublishedRows:
    """Return rows as a receiver of their CSV file sees them: texts, where some values look like others.

    Those that are kept are written only once.

    >>> as_csv(Runs.of(pl.DataFrame({"x": [1.5, None], "y": ["=1", ""]}))).frame().rows()
    [('1.5', "'=1"), (None, '')]
    """
    kept = rows.kept if isinstance(rows, RowsReadAgain) else None
    return MappedRows(rows, _written) if kept is None else _written(kept)


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
