"""The footer and the pages of a Parquet file, taken apart and put together with other numbers in them.

Flipping bytes hardly ever reaches these numbers, as they are packed: one longer, and nothing after it can be read.
"""

from __future__ import annotations

import random
from typing import Any

Fields = list[tuple[int, int, Any]]  # of a struct: number, kind, value
NUMBERS = (0, 1, -1, 2, 127, 128, 10**4, 10**6, 2**26, 2**27, 10**8, 2**30, 2**31 - 1, 2**31, 2**40, 2**62)


def mutate_footer(content: bytes, rng: random.Random) -> bytes:
    """Change some numbers of the footer, or of one page's head; all alike numbers at once, at times."""
    length = int.from_bytes(content[-8:-4], "little")
    body, footer = content[: -8 - length], read_struct(content, len(content) - 8 - length)[0]
    if rng.random() < 0.5:
        body, footer = _with_other_page(body, footer, rng)
    else:
        _change(footer, rng)
    whole = write_struct(footer)
    return body + whole + len(whole).to_bytes(4, "little") + b"PAR1"


def _change(fields: Fields, rng: random.Random) -> None:
    places = list(_numbers(fields))
    holder, at = rng.choice(places)
    old, new = _get(holder, at), rng.choice([*NUMBERS, rng.randrange(-100, 1000)])
    alike = rng.random() < 0.5
    for other, place in places:
        if (other is holder and place == at) or (alike and _get(other, place) == old):
            _set(other, place, new)


def _with_other_page(body: bytes, footer: Fields, rng: random.Random) -> tuple[bytes, Fields]:
    """Write a column's pages again at the end, one with another head, and let the footer point there."""
    chunks = [
        _field(chunk, 3)
        for group in (_field(footer, 4) or (12, []))[1]
        for chunk in (_field(group, 1) or (12, []))[1]
    ]
    if not chunks:
        return body, footer
    about = rng.choice(chunks)
    first = min(at for at in (_field(about, 9), _field(about, 11)) if at is not None)
    pages, at = [], first
    while at < first + _field(about, 7):
        head, start = read_struct(body, at)
        at = start + _field(head, 3)
        pages.append((head, body[start:at]))
    _change(rng.choice(pages)[0], rng)
    begin = len(body)
    for head, data in pages:
        place = 11 if _field(head, 1) == 2 else 9
        _put(about, place, len(body))
        body += write_struct(head) + data
    _put(about, 7, len(body) - begin)
    return body, footer


def _field(fields: Fields, number: int) -> Any:
    return next((value for own, _, value in fields if own == number), None)


def _put(fields: Fields, number: int, value: int) -> None:
    fields[:] = [(own, kind, value if own == number else old) for own, kind, old in fields]


def _numbers(node: Any) -> Any:
    """Return where whole numbers stand: in a struct, or in a list."""
    if isinstance(node, tuple):
        kind, items = node
        for i, item in enumerate(items):
            if kind in (4, 5, 6):
                yield items, i
            else:
                yield from _numbers(item)
    elif isinstance(node, list):
        for i, (_, kind, value) in enumerate(node):
            if kind in (4, 5, 6):
                yield node, i
            else:
                yield from _numbers(value)


def _get(holder: list[Any], at: int) -> int:
    held = holder[at]
    return int(held[2] if isinstance(held, tuple) else held)


def _set(holder: list[Any], at: int, value: int) -> None:
    held = holder[at]
    holder[at] = (held[0], held[1], value) if isinstance(held, tuple) else value


def read_struct(content: bytes, at: int) -> tuple[Fields, int]:
    """Read a struct; also return where it ends."""
    fields: Fields = []
    number = 0
    while (head := content[at]) != 0:
        at += 1
        if head >> 4:
            number += head >> 4
        else:
            packed, at = _unsigned(content, at)
            number = (packed >> 1) ^ -(packed & 1)
        value, at = _read(content, at, head & 15)
        fields.append((number, head & 15, value))
    return fields, at + 1


def _read(content: bytes, at: int, kind: int) -> tuple[Any, int]:
    if kind in (1, 2):
        return kind == 1, at
    if kind == 3:
        return content[at], at + 1
    if kind in (4, 5, 6):
        packed, at = _unsigned(content, at)
        return (packed >> 1) ^ -(packed & 1), at
    if kind == 7:
        return content[at : at + 8], at + 8
    if kind == 8:
        length, at = _unsigned(content, at)
        return content[at : at + length], at + length
    if kind == 12:
        return read_struct(content, at)
    head, at = content[at], at + 1
    count, items = head >> 4, []
    if count == 15:
        count, at = _unsigned(content, at)
    for _ in range(count):
        item, at = (content[at], at + 1) if head & 15 in (1, 2) else _read(content, at, head & 15)
        items.append(item)
    return (head & 15, items), at


def _unsigned(content: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while content[at] >= 0x80:
        value |= (content[at] & 0x7F) << shift
        at, shift = at + 1, shift + 7
    return value | content[at] << shift, at + 1


def write_struct(fields: Fields) -> bytes:
    """Write a struct."""
    written = bytearray()
    for number, kind, value in fields:  # every field with its whole number: longer, and read alike
        own = (1 if value else 2) if kind in (1, 2) else kind
        written += bytes([own]) + _packed(number << 1) + (b"" if kind in (1, 2) else _write(kind, value))
    return bytes(written) + b"\0"


def _write(kind: int, value: Any) -> bytes:
    if kind == 3:
        return bytes([value])
    if kind in (4, 5, 6):
        return _packed(value << 1 if value >= 0 else (-value << 1) - 1)
    if kind == 7:
        return bytes(value)
    if kind == 8:
        return _packed(len(value)) + value
    if kind == 12:
        return write_struct(value)
    own, items = value
    inner = b"".join(bytes([item]) if own in (1, 2) else _write(own, item) for item in items)
    return bytes([0xF0 | own]) + _packed(len(items)) + inner


def _packed(value: int) -> bytes:
    groups = bytearray()
    while value >= 0x80:
        groups.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*groups, value])
