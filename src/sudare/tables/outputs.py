"""Published files as their receiver opens them: Parquet and CSV, with hostile ones in mind.

The cells of a CSV file stay the texts that stand there: what a receiver can tell apart there must stay apart. What a
text means, without the apostrophe that guards it in a spreadsheet, is `spreadsheets.unguarded`'s to say.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

import polars as pl

from sudare.errors import InputError
from sudare.progress import step
from sudare.tables.parquet_files import SLICED_VALUES_PER_BYTE, outline_of
from sudare.tables.runs import PublishedRows, Runs
from sudare.tables.spreadsheets import guarded, unguarded

ROW_GROUP = 2**18
# What polars raises where a damaged file breaks it; the last one is no Exception.
BROKEN = (OSError, ValueError, csv.Error, pl.exceptions.PolarsError, pl.exceptions.PanicException)


def is_csv(path: Path) -> bool:
    """Tell whether everything in a file is text."""
    return path.suffix != ".parquet"


def column_names(path: Path) -> list[str]:
    """Return the names of the columns as they stand in the file, a name that is there twice also twice."""
    try:
        if not is_csv(path):
            return list(outline_of(path, str(path), SLICED_VALUES_PER_BYTE).names)
        with path.open(encoding="utf-8-sig", newline="") as file:
            names = next(csv.reader(file, strict=True), [])
    except BROKEN as error:
        raise unreadable(path, error) from None
    return unguarded(pl.Series(names, dtype=pl.String)).to_list()


def write_parquet(part: Runs, to: Path | BinaryIO) -> None:
    """Write a table, or a part of one, as a release publishes it: the same rows always give the same bytes."""
    part.lazy().sink_parquet(to, row_group_size=ROW_GROUP, maintain_order=True)


def write_csv(rows: PublishedRows, to: Path) -> None:
    """Write a table as CSV, in which no spreadsheet takes a text for a formula."""
    with to.open("wb") as file, step(f"Writing {to.name}", total=rows.height) as writing:
        for text, height in _csv(rows):
            file.write(text)
            writing.advance(height)


def is_written_as(path: Path, rows: PublishedRows) -> bool:
    """Tell whether a CSV file is byte by byte what a release writes for these rows."""
    try:
        with path.open("rb") as file, step(f"Verifying {path.name}", total=rows.height) as verifying:
            for text, height in _csv(rows):
                if file.read(len(text)) != text:
                    return False
                verifying.advance(height)
            return not file.read(1)
    except OSError as error:
        raise unreadable(path, error) from None


def _csv(rows: PublishedRows) -> Iterator[tuple[bytes, int]]:
    """Yield the text of a CSV file, some rows at a time, with how many they are."""
    header = True
    for part in rows.parts():
        for some in Runs(guarded(part.rows), part.lengths).slices():
            yield some.write_csv(include_header=header).encode(), some.height
            header = False


def unreadable(path: Path, error: BaseException) -> InputError:
    """Say that a published file cannot be read, and why."""
    what = (str(error).strip().splitlines() or [type(error).__name__])[0]
    return InputError(f"{path}: the output cannot be read: {what}.")
