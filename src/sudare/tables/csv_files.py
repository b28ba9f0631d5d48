"""Reading CSV files: whether they are whole, and where a record stands."""

from __future__ import annotations

import codecs
import csv
import gzip
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import BinaryIO, cast

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sudare.errors import InputError
from sudare.progress import step
from sudare.tables import _kernels
from sudare.tables.archives import most_unpacked, opened, too_large
from sudare.tables.csv_format import (
    SAMPLE,
    as_utf8,
    csv_reader,
    guess_decimal,
    guess_delimiter,
    guess_encoding,
    guess_trim,
    newline_of,
    no_text,
    records_of,
)
from sudare.tables.file_kinds import refuse_other_kind
from sudare.tables.parquet_files import MAX_COLUMNS
from sudare.tables.schema import CsvFormat
from sudare.tables.text import listed, shown
from sudare.tables.text_files import up_to

SLICE = 2**26  # bytes parsed at a time
LF = 10
CSV_ENDINGS = (".csv", ".tsv", ".txt", ".tab")
PACKED = (".gz", ".zip")


@dataclass(frozen=True)
class CsvFile:
    """A CSV file as UTF-8 bytes without blank lines at the end, with its format detected."""

    name: str
    data: NDArray[np.uint8]
    format: CsvFormat
    newline: int
    guessed_encoding: bool

    def slices(self) -> Iterator[pl.DataFrame]:
        """Parse the file, every column as text, some records at a time; refuse it if any record is damaged."""
        names = self.header()
        records, odd = self._counted
        if records < 1:
            raise InputError(f"{self.name}: the table is empty; there is no record after the header.")
        data, newline = (self._plain(), LF) if odd else (self.data, self.newline)
        parsed = 0
        with step(f"Reading {self.name}", total=len(data), unit="bytes") as reading:
            for start, stop in pairwise(_record_starts(data, newline, ord(self.format.quote))):
                frame = self._parsed(data[start:stop].tobytes(), names, skip=start == 0)
                parsed += frame.height
                if parsed > records:  # blank lines at the end
                    frame, extra = frame[: records - parsed], frame[records - parsed :]
                    parsed = records if _is_blank(extra) else parsed
                yield frame
                reading.advance(stop - start)
        if parsed != records:
            raise InputError(
                f"{self.name}: {records:,} records were counted but {parsed:,} were read. "
                "Check the quoting; export the file again with every text field quoted."
            )

    def _parsed(self, data: bytes, names: list[str], *, skip: bool) -> pl.DataFrame:
        try:
            return pl.read_csv(
                data,
                has_header=False,
                skip_rows=int(skip),  # the header
                separator=self._delimiter,
                quote_char=self.format.quote,
                schema=dict.fromkeys(names, pl.String),
                glob=False,
            )
        except pl.exceptions.PolarsError as error:
            raise InputError(
                f"{self.name}: the file cannot be parsed: {str(error).splitlines()[0]}."
            ) from None

    def _plain(self) -> NDArray[np.uint8]:
        out = np.empty(2 * len(self.data) + 2, dtype=np.uint8)
        return out[: _kernels.plain_csv(self.data, *self._signs(), out)]

    def _signs(self) -> tuple[int, int, int, bool]:
        return ord(self._delimiter), ord(self.format.quote), self.newline, bool(self.format.trim)

    @property
    def _delimiter(self) -> str:
        return self.format.delimiter or ","

    @property
    def records(self) -> int:
        """How many records stand after the header."""
        return self._counted[0]

    def header(self) -> list[str]:
        """Return the names of the columns."""
        text = self.data[: 2**20].tobytes().decode("utf-8", errors="ignore")
        try:
            names = next(iter(csv_reader(text, self.format)), [])
        except csv.Error:
            raise InputError(
                f"{self.name}, line 1: a quote in the header never ends. Close the quote."
            ) from None
        if self.format.trim:
            names = [name.strip() for name in names]
        if not names or names == [""]:
            if 0 in self.data[:SAMPLE]:
                raise no_text(self.name)
            raise InputError(f"{self.name}: the file is empty; it needs a header line with the column names.")
        if len(names) > MAX_COLUMNS:
            raise InputError(
                f"{self.name}, line 1: the header names {len(names):,} columns. {MAX_COLUMNS:,} are the most."
            )
        for i, name in enumerate(names):
            if name == "":
                raise InputError(f"{self.name}, line 1: column {i + 1} has no name. Name it in the header.")
            if name in names[:i]:
                raise InputError(
                    f"{self.name}, line 1: columns {names.index(name) + 1} and {i + 1} are both named '{name}'. "
                    "Rename one."
                )
        return names

    def _scan(self, fields: int, stop_at: int) -> tuple[int, int, int, int, bool]:
        return _kernels.scan_csv(self.data, *self._signs(), fields, stop_at)

    @cached_property
    def _counted(self) -> tuple[int, bool]:
        """The number of records after the header, and whether the file must be made plain first."""
        fields = len(self.header())
        fault, line, record_fields, records, odd = self._scan(fields, -1)
        if fault == 0:
            return records - 1, odd
        where, text = f"{self.name}, line {line}", self._line(line)
        if fault == _kernels.OPEN_QUOTE:
            raise InputError(
                f"{where}: a quoted field that starts in this record never ends. Close the quote."
            )
        if fault == _kernels.AFTER_QUOTE:
            raise InputError(
                f"{where}: text follows a closing quote: {shown(text)}. Double the quotes inside the field."
            )
        if text == "":
            raise InputError(f"{where}: the line is empty, and records follow it. Remove it.")
        plural = "" if record_fields == 1 else "s"
        raise InputError(
            f"{where}: {record_fields} field{plural}, but the header has {fields}: {shown(text)}. Fix the record."
        )

    def place(self, row: int) -> str:
        """Say where a row stands."""
        return f"line {self.line_of(row)}"

    def line_of(self, row: int) -> int:
        """Return the line on which a row's record starts (the first row follows the header)."""
        fields = len(self.header())
        return self._scan(fields, row + 1)[1]

    def _line(self, number: int) -> str:
        ends = np.flatnonzero(self.data == self.newline)
        start = 0 if number == 1 else int(ends[number - 2]) + 1
        stop = int(ends[number - 1]) if number <= len(ends) else len(self.data)
        return self.data[start:stop].tobytes().decode("utf-8", errors="replace").rstrip("\r")


def _record_starts(data: NDArray[np.uint8], newline: int, quote: int) -> Iterator[int]:
    """Yield where records start that are about SLICE bytes apart, and at last the end.

    A newline ends a record unless it stands in quotes: unless an odd number of quotes stands before it. No slice starts
    with a byte order mark, which would be taken for none of its text.
    """
    yield 0
    start, quotes = 0, 0
    while start + SLICE < len(data):
        at = start + SLICE
        quotes += int(np.count_nonzero(data[start:at] == quote))
        while at < len(data) and not (
            data[at] == newline and quotes % 2 == 0 and data[at + 1 : at + 4].tobytes() != codecs.BOM_UTF8
        ):
            quotes += int(data[at] == quote)
            at += 1
        start = at + 1
        if start < len(data):
            yield start
    yield len(data)


def _is_blank(frame: pl.DataFrame) -> bool:
    return all(column.null_count() == frame.height for column in frame.iter_columns())


def open_csv(path: Path, asked: CsvFormat, member: str | None = None) -> CsvFile:
    """Open a CSV file and detect what of its format was not said; `member` is which file of a zip archive is meant."""
    packed = path.suffix.lower()
    refuse_other_kind(path, packed if packed in PACKED else ".csv")
    raw = _bytes(path, member)
    encoding = asked.encoding or guess_encoding(path.name, raw)
    text = as_utf8(path, raw, encoding)
    end = len(text)
    while end > 0 and text[end - 1] in b"\r\n":
        end -= 1
    sample = text[: min(end, SAMPLE)].tobytes().decode("utf-8", errors="ignore")
    delimiter = asked.delimiter or guess_delimiter(sample, asked.quote)
    records = records_of(sample, CsvFormat(delimiter=delimiter, quote=asked.quote))
    csv_format = CsvFormat(
        delimiter=delimiter,
        quote=asked.quote,
        encoding=encoding,
        decimal=asked.decimal or guess_decimal(records, delimiter),
        trim=guess_trim(records) if asked.trim is None else asked.trim,
    )
    guessed = asked.encoding is None and encoding != "utf-8"
    return CsvFile(path.name, text[:end], csv_format, newline_of(sample, asked.quote), guessed)


def _bytes(path: Path, member: str | None) -> NDArray[np.uint8]:
    try:
        if path.suffix.lower() == ".gz":
            return np.frombuffer(_gunzipped(path), dtype=np.uint8)
        if path.suffix.lower() == ".zip":
            return np.frombuffer(_unzipped(path, member), dtype=np.uint8)
        if path.stat().st_size == 0:
            return np.empty(0, dtype=np.uint8)
        return np.memmap(path, dtype=np.uint8, mode="r")
    except (OSError, EOFError, zlib.error) as error:
        raise InputError(
            f"{path}: the file cannot be read: {getattr(error, 'strerror', None) or error}."
        ) from None


def _gunzipped(path: Path) -> bytes:
    most = most_unpacked(path)
    with gzip.open(path) as file:
        content = up_to(cast(BinaryIO, file), most + 1)
    if len(content) > most:
        raise too_large(path, most)
    return content


def _unzipped(path: Path, member: str | None) -> bytes:
    with opened(path) as archive:
        names = archive.names()
        tables = [name for name in names if Path(name).suffix.lower() in CSV_ENDINGS]
        if member is not None and member not in names:
            raise InputError(f"{path}: there is no file '{member}' in it. There are {listed(names)}.")
        if member is None and not tables:
            raise InputError(
                f"{path}: there is no CSV file in it, but {listed(names) or 'nothing'}. Unpack it, and name a file."
            )
        if member is None and len(tables) > 1:
            raise InputError(
                f"{path}: there are several CSV files in it, {listed(tables)}. Name one: sheet = {shown(tables[0])} in the schema, "
                f"--sheet with sudare init, or in Python read(..., sheet={shown(tables[0])})."
            )
        (content,) = archive.unpacked(member or tables[0])
    return content
