"""A folder of files that are parts of one table, as other programs write it: people/part-0001.csv, people/part-0002.csv, ..."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from sudare.errors import InputError
from sudare.tables.csv_files import CsvFile, open_csv
from sudare.tables.schema import CsvFormat
from sudare.tables.text import listed

MAX_PARTS = 10_000
NO_PART = ("_", ".")
"""What begins so is no part: _SUCCESS, _metadata, .part-0001.csv.crc."""


def parts_in(folder: Path) -> list[Path]:
    """Return the files of a folder in the order of their names, all of one kind; a folder that is something else is refused."""
    try:
        paths = sorted(path for path in folder.iterdir() if not path.name.startswith(NO_PART))
    except OSError as error:
        raise InputError(f"{folder}: the folder cannot be read: {error.strerror}.") from None
    if not paths:
        raise InputError(
            f"{folder}: the folder has no files in it. Name a file, or a folder with the parts of a table."
        )
    if len(paths) > MAX_PARTS:
        raise InputError(
            f"{folder}: the folder has {len(paths):,} files in it. {MAX_PARTS:,} parts are the most."
        )
    for path in paths:
        if path.is_symlink() or not path.is_file():
            kind = "a link" if path.is_symlink() else "a folder" if path.is_dir() else "not a plain file"
            raise InputError(
                f"{path} is {kind}, and a folder of parts has plain files alone. Name the file that you want read."
            )
    endings = sorted(
        {
            "".join(path.suffixes[-2:] if path.suffix == ".gz" else path.suffixes[-1:]).lower()
            for path in paths
        }
    )
    if len(endings) > 1:
        raise InputError(
            f"{folder}: the folder has files of several kinds, {listed(endings)}, and the parts of a table are of one. Name the file in it."
        )
    return paths


@dataclass(frozen=True)
class CsvParts:
    """CSV files with the same columns, as one: all are written as the first is."""

    name: str
    files: Sequence[CsvFile]

    @classmethod
    def open(cls, folder: Path, asked: CsvFormat, member: str | None) -> CsvParts:
        """Open all files of a folder."""
        paths = parts_in(folder)
        first = open_csv(paths[0], asked, member)
        files = [first, *(open_csv(path, first.format, member) for path in paths[1:])]
        names = first.header()
        for path, file in zip(paths, files, strict=True):
            if file.header() != names:
                raise other_columns(path, paths[0], file.header(), names)
        return cls(folder.name, files)

    @property
    def format(self) -> CsvFormat:
        """How they are written."""
        return self.files[0].format

    @property
    def guessed_encoding(self) -> bool:
        """Whether nobody said the encoding."""
        return self.files[0].guessed_encoding

    def slices(self) -> Iterator[pl.DataFrame]:
        """Parse the files one after the other; those without records are left out, if there are others."""
        for file in [file for file in self.files if file.records] or self.files[:1]:
            yield from file.slices()

    def place(self, row: int) -> str:
        """Say where a row stands: in which file, and on which line."""
        for file in self.files:
            if row < (records := file.records):
                return f"{file.name}, {file.place(row)}"
            row -= records
        return "one of its rows"


def other_columns(path: Path, first: Path, names: Sequence[str], wanted: Sequence[str]) -> InputError:
    """Say that a part has other columns than the first one."""
    if list(names) == list(wanted):
        return InputError(
            f"{path}: its columns have other types than those of {first.name}. Write all parts alike."
        )
    return InputError(
        f"{path}: it has the columns {listed(list(names))}, and {first.name} has {listed(list(wanted))}. Write all parts alike."
    )
