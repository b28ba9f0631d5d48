"""Parquet files from outside: what a file says of itself is checked before polars reads it.

A file of some hundred bytes can claim billions of values: the reader then takes the memory for them, or dies for want of
it, which no exception tells. So the footer and the heads of all pages are looked at first (Thrift's compact protocol, of
which they are written): every part lies within the file, the numbers of values agree with each other, and none is beyond
the limits. What is left, polars reads; where it panics over damaged contents, that is an error like any other.
"""

from __future__ import annotations

import io
import mmap
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import polars as pl

from sudare.errors import InputError
from sudare.tables.text import shown

VALUES_FLOOR, VALUES_PER_BYTE = 10**8, 100
"""Rows x columns of a table: so many, or so many for each byte of the file."""
SLICED_VALUES_PER_BYTE = 5_000
"""The same for a file that is read some rows at a time: rows in their order, as we publish them, pack very well."""
UNPACKED_FLOOR, UNPACKED_PER_BYTE = 2**28, 100
"""Bytes that a file unpacks to: so many, or so many for each of its own."""
MAX_ROWS = 2**32
MAX_COLUMNS = 10_000
PAGE_VALUES = 2**26
"""Values of one page of a column. Writers begin a new one after a million, if not before."""
PAGE_BYTES = 2**28
"""Of one page, unpacked."""
MAX_FOOTER_BYTES = 64 * 2**20

MAGIC = b"PAR1"
Buffer = bytes | mmap.mmap
Read = TypeVar("Read")
Fields = dict[int, Any]  # of a Thrift struct, by number


def refuse_bomb(
    size: int, rows: int, columns: int, unpacked: int, values_per_byte: int = VALUES_PER_BYTE
) -> None:
    """Raise a ValueError where a table file of so many bytes would become far more than it holds.

    >>> refuse_bomb(size=50_000, rows=10, columns=8, unpacked=1_600_000_000)
    Traceback (most recent call last):
    ValueError: it unpacks to 1,600,000,000 bytes, where 268,435,456 are the most for its size
    """
    if rows * columns > (most := max(VALUES_FLOOR, values_per_byte * size)):
        raise ValueError(
            f"it has {rows:,} rows of {columns:,} columns, where {most:,} values are the most for its size"
        )
    if unpacked > (most := max(UNPACKED_FLOOR, UNPACKED_PER_BYTE * size)):
        raise ValueError(f"it unpacks to {unpacked:,} bytes, where {most:,} are the most for its size")


def read_parquet(
    source: Path | bytes, name: str | None = None, *, check: Callable[[Outline], None] | None = None
) -> pl.DataFrame:
    """Read a Parquet file, or raise an InputError that says why not; `check` may refuse it by its outline before.

    >>> file = io.BytesIO()
    >>> pl.DataFrame({"age": [30, 40]}).write_parquet(file)
    >>> read_parquet(file.getvalue(), "people.parquet").shape
    (2, 1)
    >>> read_parquet(file.getvalue()[:-1], "people.parquet")
    Traceback (most recent call last):
    sudare.errors.InputError: people.parquet: the file cannot be read: it does not end as a Parquet file does.
    """
    where = name or str(source if isinstance(source, Path) else "The Parquet file")
    outline = outline_of(source, where)
    if check is not None:
        check(outline)
    readable = io.BytesIO(source) if isinstance(source, bytes) else source
    return without_panic(
        lambda: pl.read_parquet(readable, glob=False, hive_partitioning=False, use_statistics=False), where
    )


def read_outlined(paths: Sequence[Path]) -> list[pl.DataFrame]:
    """Read several Parquet files whose outlines were read, all at once."""
    return without_panic(lambda: pl.collect_all(map(_scanned, paths)), ", ".join(map(str, paths)))


def read_parquet_slices(path: Path, rows: int, names: Sequence[str]) -> Iterator[pl.DataFrame]:
    """Read some columns as `read_parquet` does, so many rows at a time; at least one slice, if an empty one."""
    total = outline_of(path, str(path), SLICED_VALUES_PER_BYTE).rows
    chosen = _scanned(path).select(pl.selectors.by_name(names))
    for start in range(0, max(total, 1), rows):
        yield without_panic(chosen.slice(start, rows).collect, str(path))


def parquet_schema(path: Path) -> pl.Schema:
    """Return the columns of a Parquet file whose outline was read, with their types."""
    return without_panic(_scanned(path).head(0).collect, str(path)).schema


def _scanned(path: Path) -> pl.LazyFrame:
    return pl.scan_parquet(path, glob=False, hive_partitioning=False, use_statistics=False)


def outline_of(source: Path | bytes, where: str, values_per_byte: int = VALUES_PER_BYTE) -> Outline:
    """Return the columns and the size of a Parquet file, if all that it says of itself agrees."""
    with _opened(source, where) as content:
        try:
            return Outline.of(content, values_per_byte)
        except (ValueError, LookupError, TypeError, AttributeError) as error:  # of another form
            reason = str(error) if type(error) is ValueError else "its footer is damaged"
            raise InputError(f"{where}: the file cannot be read: {reason}.") from None


def without_panic(read: Callable[[], Read], where: str) -> Read:
    """Let polars read something; whatever it raises or panics over is an InputError."""
    try:
        return read()
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError, ValueError) as error:
        reason = (str(error).strip().splitlines() or [type(error).__name__])[0].removesuffix(".")
        if isinstance(error, pl.exceptions.PanicException):
            reason = "it is damaged"
        raise InputError(f"{where}: the file cannot be read: {reason}.") from None


@contextmanager
def _opened(source: Path | bytes, where: str) -> Iterator[Buffer]:
    if isinstance(source, bytes):
        yield source
        return
    try:
        with source.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
            yield content
    except (OSError, ValueError) as error:  # an empty file, or a path with a NUL character, is a ValueError
        reason = (error.strerror if isinstance(error, OSError) else None) or "it is empty"
        raise InputError(f"{where}: the file cannot be read: {reason}.") from None


@dataclass(frozen=True)
class Outline:
    """How large a Parquet file says it is, of which all parts agree."""

    names: tuple[str, ...]
    rows: int
    unpacked: int
    """Bytes of all pages, unpacked."""

    @classmethod
    def of(cls, content: Buffer, values_per_byte: int = VALUES_PER_BYTE) -> Outline:
        """Read a file's footer and the heads of its pages; raise a ValueError where they do not agree."""
        if content[:4] != MAGIC or content[-4:] != MAGIC or len(content) < 12:
            raise ValueError("it does not end as a Parquet file does")
        length = int.from_bytes(content[-8:-4], "little")
        end = len(content) - 8
        if not 0 < length <= min(end - 4, MAX_FOOTER_BYTES):
            raise ValueError("its footer reaches beyond it")
        footer = _Thrift(content, end - length, end).struct()
        names, rows, groups = _names(footer[2]), footer[3], footer[4]
        _whole(rows, MAX_ROWS)
        refuse_bomb(len(content), rows, len(names), 0, values_per_byte)
        unpacked = sum(_group(content, end - length, group, len(names)) for group in groups)
        if sum(group[3] for group in groups) != rows:
            raise ValueError("its parts have other rows than its footer says")
        refuse_bomb(len(content), rows, len(names), unpacked, values_per_byte)
        return cls(names, rows, unpacked)


def _names(schema: Sequence[Fields]) -> tuple[str, ...]:
    """Return the columns; a column of columns, or of lists, is refused."""
    root, *columns = schema
    for column in columns:
        if column.get(5):
            raise ValueError(
                f"column {shown(column[4].decode())} holds more than one value per cell. Keep one number, date or text"
            )
        if column.get(3) == 2:
            raise ValueError(
                f"column {shown(column[4].decode())} is a list. Keep one number, date or text per cell"
            )
    if root.get(5, 0) != len(columns) or len(columns) > MAX_COLUMNS:
        raise ValueError(f"its columns are not counted right, or more than {MAX_COLUMNS:,}")
    names = tuple(column[4].decode() for column in columns)
    if len(set(names)) < len(names):
        raise ValueError("two of its columns have one name")
    return names


def _group(content: Buffer, end: int, group: Fields, columns: int) -> int:
    """Check the columns of a row group, and return their unpacked bytes."""
    _whole(group[3], MAX_ROWS)
    if len(group[1]) != columns:
        raise ValueError("a part of it lacks columns")
    return sum(_chunk(content, end, chunk, group[3]) for chunk in group[1])


def _chunk(content: Buffer, end: int, chunk: Fields, rows: int) -> int:
    """Check the pages of a column in a row group, and return their unpacked bytes."""
    if 1 in chunk:
        raise ValueError("it refers to another file")
    about = chunk[3]
    start = min(about[9], about.get(11) or about[9])
    stop = start + _whole(about[7], end)
    if about[5] != rows or not 4 <= start <= stop <= end:
        raise ValueError("the place or the number of a column's values is wrong")
    values, unpacked, at = 0, 0, start
    while at < stop:
        thrift = _Thrift(content, at, stop)
        head = thrift.struct()
        unpacked += _whole(head[2], PAGE_BYTES)
        at = thrift.at + _whole(head[3], stop - thrift.at)
        held = head.get(5) or head.get(8)
        if held is not None:
            values += _whole(held[1], min(PAGE_VALUES, rows - values))
        elif 7 in head:
            _whole(head[7][1], head[2])  # an entry of a dictionary takes a byte at least
    if values != rows:
        raise ValueError("a column has other values than its footer says")
    return unpacked


def _whole(value: Any, most: int) -> int:
    if not isinstance(value, int) or not 0 <= value <= most:
        raise ValueError(f"it claims a size of {value}, where {most:,} is the most")
    return value


class _Thrift:
    """Reads structs of Thrift's compact protocol from a part of a buffer, as plain data."""

    DEEPEST = 16

    def __init__(self, content: Buffer, start: int, stop: int) -> None:
        self._content, self.at, self._stop = content, start, stop

    def struct(self, depth: int = 0) -> Fields:
        fields: Fields = {}
        number = 0
        while head := self._byte():
            number = number + (head >> 4) if head >> 4 else self._signed()
            kind = head & 15
            fields[number] = kind == 1 if kind in (1, 2) else self._value(kind, depth)
        return fields

    def _value(self, kind: int, depth: int) -> Any:
        if depth > self.DEEPEST:
            raise ValueError("its footer is nested too deep")
        if kind in (1, 2, 3):  # of a list, truth values are bytes, too
            return self._byte()
        if kind in (4, 5, 6):
            return self._signed()
        if kind == 7:
            return self._take(8)
        if kind == 8:
            return self._take(self._unsigned())
        if kind in (9, 10):
            head = self._byte()
            count = head >> 4 if head >> 4 < 15 else self._unsigned()
            _whole(count, self._stop - self.at)  # every element takes a byte at least
            return [self._value(head & 15, depth + 1) for _ in range(count)]
        if kind == 12:
            return self.struct(depth + 1)
        raise ValueError("its footer is damaged")

    def _byte(self) -> int:
        if self.at >= self._stop:
            raise ValueError("its footer ends too early")
        self.at += 1
        return self._content[self.at - 1]

    def _take(self, count: int) -> bytes:
        _whole(count, self._stop - self.at)
        self.at += count
        return bytes(self._content[self.at - count : self.at])

    def _unsigned(self) -> int:
        value = shift = 0
        if self.at < self._stop and (byte := self._content[self.at]) < 0x80:  # as most are
            self.at += 1
            return byte
        while (byte := self._byte()) >= 0x80:
            value |= (byte & 0x7F) << shift
            shift += 7
            if shift > 63:
                raise ValueError("its footer is damaged")
        return value | byte << shift

    def _signed(self) -> int:
        value = self._unsigned()
        return (value >> 1) ^ -(value & 1)
