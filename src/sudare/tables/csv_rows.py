"""The rows of a published CSV file, as texts, which stay in the file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path

import polars as pl

from sudare.tables.file_rows import RowsReadAgain
from sudare.tables.outputs import BROKEN, column_names, unreadable
from sudare.tables.runs import SLICE, MappedRows, PublishedRows, Runs
from sudare.tables.spreadsheets import unguarded


class CsvRows(RowsReadAgain):
    """The rows of a CSV file; its columns must have different names."""

    def __init__(self, path: Path) -> None:
        self.path, self._columns = path, column_names(path)

    @property
    def columns(self) -> list[str]:
        """The names of the columns."""
        return list(self._columns)

    @cached_property
    def height(self) -> int:
        """How many rows there are."""
        return self.kept.height if self.kept is not None else sum(part.height for part in self._read([]))

    def _read(self, names: Sequence[str]) -> Iterator[Runs]:
        """Read some columns; at least one slice, if an empty one. All are parsed: a damaged one is a fault whoever asks."""
        places = [self._columns.index(name) for name in names]
        try:
            file = pl.scan_csv(self.path, infer_schema=False, glob=False)
            none = [] if file.head(1).collect().height else [file.head(0).collect()]
            for rows in none or file.collect_batches(chunk_size=SLICE, maintain_order=True, lazy=True):
                columns = [rows.to_series(place).alias(self._columns[place]) for place in places]
                every = pl.repeat(1, rows.height, dtype=pl.Int64, eager=True)
                yield Runs.joined([Runs(pl.DataFrame(columns), every)])
        except BROKEN as error:
            raise unreadable(self.path, error) from None


def as_meant(rows: PublishedRows) -> PublishedRows:
    """Return rows of a CSV file by what their texts mean: without what guards them in a spreadsheet.

    >>> as_meant(Runs.of(pl.DataFrame({"x": ["'=1"]}))).frame().rows()
    [('=1',)]
    """
    return MappedRows(rows, _meant)


def _meant(runs: Runs) -> Runs:
    return Runs(runs.rows.with_columns(map(unguarded, runs.rows.iter_columns())), runs.lengths)
