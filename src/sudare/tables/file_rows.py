"""Published rows that stay in their files: who asks for them reads them again, some at a time."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from pathlib import Path

import polars as pl

from sudare.errors import InputError
from sudare.progress import step
from sudare.tables.exact import exact
from sudare.tables.parquet_files import (
    SLICED_VALUES_PER_BYTE,
    outline_of,
    parquet_schema,
    read_parquet_slices,
)
from sudare.tables.parts import refuse_gaps, refuse_sizes, tables_of
from sudare.tables.runs import MAX_COUNTED, SLICE, PublishedRows, Runs

SAMPLED = 64
MAX_KEPT = 2**21  # rows that are kept, where no more of a table differ from the one before


class RowsReadAgain(PublishedRows):
    """Rows of files.

    Where few of them are different, they are kept, each with how often it stands there; else every question is answered
    from the files.
    """

    @cached_property
    def kept(self) -> Runs | None:
        """All rows, counted, where few are different; else None."""
        parts, rows = [], 0
        for part in self._read(self.columns):
            parts.append(part)
            rows += part.rows.height
            if rows > MAX_KEPT:
                return None
        return Runs.joined(parts)

    def counted(self, names: Sequence[str]) -> Runs:
        """Return how often rows occur in some columns."""
        if self.kept is not None:
            return self.kept.counted(names)
        if len(names) == 1 and names[0] in self._by_column:
            return self._by_column[names[0]]
        return _grouped(self._read(names))

    @cached_property
    def _by_column(self) -> dict[str, Runs]:
        """How often each value of a column occurs, of columns with few: all of them are asked for, and the files read once."""
        counting = {name: _Counting() for name in self.columns}
        for part in self._read(self.columns):
            for name, own in list(counting.items()):
                own.add(part.counted([name]))
                if own.rows > MAX_COUNTED:
                    del counting[name]
        return {name: own.counted() for name, own in counting.items()}

    def pieces(self, names: Sequence[str], together: Sequence[str]) -> Iterator[Runs]:
        """Count rows by some columns in pieces; the files are gone through for each."""
        count = self._piece_count(names) if together and self.kept is None else 1
        if count == 1:
            yield self.counted(names)
            return
        for piece in range(count):
            counted = _grouped(
                part.filter(_hashes(part.rows.select(pl.selectors.by_name(together))) % count == piece)
                for part in self._read(names)
            )
            if counted.rows.height:  # few blocks may leave some of many pieces empty
                yield counted

    def _piece_count(self, names: Sequence[str]) -> int:
        """Say in how many pieces different rows are counted; one of so many hashes is taken to estimate how many there are."""
        seen = pl.Series([], dtype=pl.UInt64)
        for part in self._read(names):
            hashes = _hashes(part.rows)
            seen = pl.concat([seen, hashes.filter(hashes % SAMPLED == 0)]).unique()
        return max(math.ceil(len(seen) * SAMPLED / MAX_COUNTED), 1)

    def parts(self) -> Iterator[Runs]:
        """Return all rows, some at a time."""
        yield from [self.kept] if self.kept is not None else self._read(self.columns)

    @abstractmethod
    def _read(self, names: Sequence[str]) -> Iterator[Runs]:
        """Return the rows in some columns, some at a time."""


class FileRows(RowsReadAgain):
    """The rows of a Parquet file, or of all parts of a table."""

    def __init__(self, paths: Sequence[Path]) -> None:
        refuse_gaps(paths)
        rows = [outline_of(path, str(path), SLICED_VALUES_PER_BYTE).rows for path in paths]
        refuse_sizes(paths, rows)
        self.paths, self._height = tuple(paths), sum(rows)
        self.schema = parquet_schema(paths[0])
        for path in paths[1:]:
            if list(parquet_schema(path).items()) != list(self.schema.items()):
                raise InputError(
                    f"{path}: this part has other columns, or other types, than {paths[0].name}. Ask for the folder again."
                )

    def __str__(self) -> str:
        return str(self.paths[0])

    @property
    def columns(self) -> list[str]:
        """The names of the columns."""
        return list(self.schema)

    @property
    def height(self) -> int:
        """How many rows there are."""
        return self._height

    def _read(self, names: Sequence[str]) -> Iterator[Runs]:
        with step("Reading what was published", total=self._height) as reading:
            for path in self.paths:
                for rows in read_parquet_slices(path, SLICE, names):
                    yield Runs.of(rows)
                    reading.advance(rows.height)


class _Counting:
    """Counts equal rows of parts that come one after the other."""

    def __init__(self) -> None:
        self._parts: list[Runs] = []
        self.rows, self._most = 0, SLICE

    def add(self, part: Runs) -> None:
        """Count one part more."""
        self._parts.append(part.grouped())
        self.rows += self._parts[-1].rows.height
        if self.rows > self._most:  # so rarely that grouping again costs little
            self._parts = [Runs.joined(self._parts).grouped()]
            self.rows = self._parts[0].rows.height
            self._most = 2 * self.rows + SLICE

    def counted(self) -> Runs:
        """Return how often each row occurs."""
        return Runs.joined(self._parts).grouped()


def _grouped(read: Iterable[Runs]) -> Runs:
    """Count equal rows of all parts."""
    counting = _Counting()
    for part in read:
        counting.add(part)
    return counting.counted()


def _hashes(rows: pl.DataFrame) -> pl.Series:
    """Return a number for each row; rows that nobody can tell apart have the same."""
    return pl.DataFrame(
        [exact(column).alias(str(i)) for i, column in enumerate(rows.iter_columns())]
    ).hash_rows()


def data_in(folder: Path) -> FileRows:
    """Return the published rows of a folder that has one table."""
    return FileRows(tables_of(folder.glob("*.parquet")).get("data") or [folder / "data.parquet"])
