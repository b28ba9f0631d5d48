"""A small SAS file (.sas7bdat), written by what is known of the format: no library writes one that SAS itself reads."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass

MAGIC = b"\0" * 12 + bytes.fromhex("c2ea8160b31411cfbd92080009c7318c181f1011")
PAGE = 4096
HEAD = 1024
SUBHEADERS_FROM = 24
MISSING = bytes.fromhex("000000000000feff")  # .
MISSING_A = bytes.fromhex("0000000000beffff")  # .A


@dataclass(frozen=True)
class SasColumn:
    name: str
    values: Sequence[float | str | bytes]
    """Numbers, texts, or numbers as the eight bytes that stand for them."""
    width: int = 8
    format: str = ""
    label: str = ""

    @property
    def is_text(self) -> bool:
        return any(isinstance(value, str) for value in self.values)

    def cell(self, row: int) -> bytes:
        value = self.values[row]
        if isinstance(value, bytes):
            return value
        return value.encode().ljust(self.width) if isinstance(value, str) else struct.pack("<d", value)


def sas_file(columns: Sequence[SasColumn]) -> bytes:
    """Return a file of one page, in which everything stands: what the columns are, and the rows."""
    rows = len(columns[0].values)
    length = sum(column.width for column in columns)
    texts = _Texts()
    names = b"".join(texts.place(column.name) + b"\0\0" for column in columns)
    offsets = [sum(before.width for before in columns[:i]) for i in range(len(columns))]
    attributes = b"".join(
        struct.pack("<iihBB", offset, column.width, 4, 2 if column.is_text else 1, 0)
        for offset, column in zip(offsets, columns, strict=True)
    )
    formats = [
        struct.pack("<I", 0xFFFFFBFE)
        + b"\0" * 30
        + texts.place(own.format)
        + texts.place(own.label)
        + b"\0" * 6
        for own in columns
    ]
    size = bytearray(480)
    size[:4] = struct.pack("<I", 0xF7F7F7F7)
    for at, value in ((20, length), (24, rows), (36, len(columns)), (52, PAGE), (60, rows)):
        size[at : at + 4] = struct.pack("<i", value)
    subheaders = [
        bytes(size),
        struct.pack("<Iii", 0xF6F6F6F6, len(columns), 0),
        _sized(0xFFFFFFFD, texts.blob()),
        _sized(0xFFFFFFFF, names + b"\0" * 8),
        _sized(0xFFFFFFFC, attributes + b"\0" * 8),
        *formats,
    ]
    data = b"".join(column.cell(row) for row in range(rows) for column in columns)
    return _header() + _page(subheaders, data, rows)


class _Texts:
    """The texts of a file, to which others refer by their places."""

    def __init__(self) -> None:
        self._texts = bytearray(b"\0" * 28)  # what stands first says how it is packed: not at all

    def place(self, text: str) -> bytes:
        start = len(self._texts)
        self._texts += text.encode().ljust(-(-len(text) // 4) * 4, b"\0")
        return struct.pack("<hhh", 0, start + 8 if text else 0, len(text))

    def blob(self) -> bytes:
        return bytes(self._texts) + b"\0" * 8


def _sized(signature: int, content: bytes) -> bytes:
    """Return a subheader that says how long it is."""
    return struct.pack("<IHHI", signature, len(content), 0, 0) + content


def _header() -> bytes:
    head = bytearray(HEAD)
    head[:32] = MAGIC
    head[32], head[35], head[37], head[39:40], head[70] = 0x22, 0x22, 1, b"1", 20
    head[84:92], head[92:156], head[156:164] = b"SAS FILE", b"PEOPLE".ljust(64), b"DATA    "
    head[196:208] = struct.pack("<iii", HEAD, PAGE, 1)
    head[216:224], head[224:240] = b"9.0401M1", b"Linux".ljust(16, b"\0")
    return bytes(head)


def _page(subheaders: Sequence[bytes], data: bytes, rows: int) -> bytes:
    page, end = bytearray(PAGE), PAGE
    page[16:22] = struct.pack("<hhh", 0x200, len(subheaders) + rows, len(subheaders))
    for number, subheader in enumerate(subheaders):
        end -= -(-len(subheader) // 4) * 4
        page[end : end + len(subheader)] = subheader
        at = SUBHEADERS_FROM + 12 * number
        page[at : at + 12] = struct.pack("<iiBBH", end, len(subheader), 0, 0, 0)
    start = SUBHEADERS_FROM + 12 * len(subheaders)
    start += -start % 8
    assert start + len(data) <= end, "the page is full"
    page[start : start + len(data)] = data
    return bytes(page)
