"""Arrow files from outside: what their buffers claim to unpack to is checked before polars takes the memory for it.

The footer lists the parts of the file; each begins with a head, a flatbuffer, that lists its buffers; a packed buffer
begins with its unpacked length. Where polars panics over other damage, that is an error like any other.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from pathlib import Path

import polars as pl

from sudare.errors import InputError
from sudare.tables.parquet_files import MAX_ROWS, PAGE_BYTES, refuse_bomb, without_panic

MAGIC = b"ARROW1"
PACKED = 256
"""A buffer that unpacks to more than `PAGE_BYTES` must not be packed more than so many to one."""

FOOTER_DICTIONARIES, FOOTER_BATCHES = (
    2,
    3,
)  # the places of fields in their tables, as Arrow's schemas list them
MESSAGE_KIND, MESSAGE_HEAD = 1, 2
DICTIONARY, BATCH = 2, 3
DICTIONARY_DATA = 1
BATCH_ROWS, BATCH_NODES, BATCH_BUFFERS, BATCH_COMPRESSION = 0, 1, 2, 3


def read_arrow(path: Path) -> pl.DataFrame:
    """Read an Arrow or Feather file, or raise an InputError that says why not.

    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "people.arrow"
    >>> pl.DataFrame({"age": [30, 40]}).write_ipc(path)
    >>> read_arrow(path).shape
    (2, 1)
    """
    try:
        content = path.read_bytes()
    except (OSError, ValueError) as error:
        raise InputError(f"{path}: the file cannot be read: {getattr(error, 'strerror', error)}.") from None
    try:
        _check(content)
    except (struct.error, ValueError, IndexError) as error:
        reason = str(error) if type(error) is ValueError and error.args else "it is damaged, or no Arrow file"
        raise InputError(f"{path}: the file cannot be read: {reason}.") from None
    return without_panic(lambda: pl.read_ipc(content), str(path))


def _check(content: bytes) -> None:
    if content[:6] != MAGIC or content[-6:] != MAGIC:
        raise ValueError
    length = _number(content, "<i", len(content) - 10)
    start = len(content) - 10 - length
    footer = _Table(content[start : start + length], _number(content, "<I", start))
    values = unpacked = 0
    for field in (FOOTER_DICTIONARIES, FOOTER_BATCHES):
        for at in footer.structs(field, size=24):
            offset, head, _, body = struct.unpack_from("<qiiq", footer.content, at)
            part = _check_part(content, offset, head, body)
            values, unpacked = values + part[0], unpacked + part[1]
            refuse_bomb(len(content), values, 1, unpacked)  # now: a footer can name one part a million times


def _check_part(content: bytes, offset: int, head: int, body: int) -> tuple[int, int]:
    """Check the buffers of a part; return how many values it has, and how many bytes unpacked."""
    if not (offset >= 0 and head >= 8 and body >= 0 and offset + head + body <= len(content)):
        raise ValueError
    begin = offset + (8 if content[offset : offset + 4] == b"\xff" * 4 else 4)  # older files lack the mark
    metadata = content[begin : offset + head]
    message = _Table(metadata, _number(metadata, "<I", 0))
    batch = message.table(MESSAGE_HEAD)
    if message.number(MESSAGE_KIND, "<B") == DICTIONARY:
        batch = batch.table(DICTIONARY_DATA)
    elif message.number(MESSAGE_KIND, "<B") != BATCH:
        raise ValueError
    rows = batch.number(BATCH_ROWS, "<q")
    if not 0 <= rows <= MAX_ROWS:
        raise ValueError
    packed, total = batch.has(BATCH_COMPRESSION), 0
    for at in batch.structs(BATCH_BUFFERS, size=16):
        place, length = struct.unpack_from("<qq", batch.content, at)
        if not (place >= 0 and length >= 0 and place + length <= body):
            raise ValueError
        if packed and length:
            unpacked = _number(content, "<q", offset + head + place)
            if not -1 <= unpacked <= max(PAGE_BYTES, PACKED * length):
                raise ValueError
            total += max(unpacked, 0)
        total += length
    return rows * len(list(batch.structs(BATCH_NODES, size=16))), total


def _number(content: bytes, form: str, at: int) -> int:
    if at < 0:
        raise ValueError
    return int(struct.unpack_from(form, content, at)[0])


class _Table:
    """A table of a flatbuffer: where its fields lie is written in another table, which may leave some out."""

    def __init__(self, content: bytes, at: int) -> None:
        self.content, self._at = content, at
        self._fields = at - _number(content, "<i", at)

    def _place(self, field: int) -> int:
        entry = 4 + 2 * field
        if entry + 2 > _number(self.content, "<H", self._fields):
            return 0
        offset = _number(self.content, "<H", self._fields + entry)
        return self._at + offset if offset else 0

    def has(self, field: int) -> bool:
        return self._place(field) > 0

    def number(self, field: int, form: str) -> int:
        return _number(self.content, form, self._place(field)) if self.has(field) else 0

    def table(self, field: int) -> _Table:
        if not self.has(field):
            raise ValueError
        place = self._place(field)
        return _Table(self.content, place + _number(self.content, "<I", place))

    def structs(self, field: int, size: int) -> Iterator[int]:
        """Return where the elements of a list of structs lie."""
        if not self.has(field):
            return
        place = self._place(field)
        first = place + _number(self.content, "<I", place)
        count = _number(self.content, "<I", first)
        if first + 4 + count * size > len(self.content):
            raise ValueError
        for i in range(count):
            yield first + 4 + i * size
