"""JSON, TOML and small CSV files from outside: read whole, within limits that are checked before anything is built from them.

A parser that follows a hostile file runs out of stack (deep nesting), of time (numbers of a million digits, keys of a
hundred thousand parts) or of memory. And what two readers read differently is refused: a key that stands twice, NaN and
Infinity, half of a surrogate pair.
"""

from __future__ import annotations

import csv
import io
import json
import math
import re
import tomllib
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from sudare.errors import InputError
from sudare.tables.text import shown

TOML_BYTES = 2 * 10**6
MAX_BYTES = 16 * 10**6
"""Of a JSON file, and of whatever has no limit of its own."""
CSV_BYTES = 64 * 10**6
"""Of a small CSV file: a hierarchy, a matrix, a prior."""
MAX_FIELDS = 1_500_000
"""Of all lines of a small CSV file, or of all paths of a tree."""
MAX_DEPTH = 64
"""How deep objects, lists and dotted keys may be nested."""
MAX_DIGITS = 300
"""Of a number: what has more is beyond every float."""

PIECE = 2**20

JSON_STRING = re.compile(rb'"(?:[^"\\]|\\.)*+"?', re.DOTALL)
TOML_STRING = re.compile(
    rb'"""(?:\\.|[^\\])*?(?:"""|\Z)'
    rb"|'''.*?(?:'''|\Z)"
    rb'|"(?:\\.|[^"\\\n])*+"?'
    rb"|'[^'\n]*+'?|\#[^\n]*+",
    re.DOTALL,
)
DOTTED = re.compile(rb"(?<![\w\-. \t])(?:[\w\-]*+[ \t]*+\.[ \t]*+){%d}" % MAX_DEPTH)
DIGITS = re.compile(rb"[0-9][0-9_]{%d}" % MAX_DIGITS)


def read_bytes(path: Path, what: str, most: int = MAX_BYTES) -> bytes:
    """Read a file that must not be larger than so many bytes; `what` is what it should be."""
    try:
        with path.open("rb") as file:
            content = up_to(file, most + 1)
    except (OSError, ValueError) as error:  # a path with a NUL character is a ValueError
        reason = error.strerror if isinstance(error, OSError) and error.strerror else error
        raise InputError(f"{path}: {what} cannot be opened: {reason}.") from None
    if len(content) > most:
        raise InputError(f"{path}: {what} is too large. It may have {most:,} bytes at most.")
    return content


def up_to(file: BinaryIO, most: int) -> bytes:
    """Read piece by piece: asked for all at once, the memory for all is taken at once, however short the file is."""
    pieces: list[bytes] = []
    while most > 0 and (piece := file.read(min(most, PIECE))):
        pieces.append(piece)
        most -= len(piece)
    return b"".join(pieces)


def read_json(path: Path, what: str) -> Any:
    """Read a JSON file; `what` is what it should be, for error messages.

    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "law.json"
    >>> _ = path.write_text('{"records": 3}')
    >>> read_json(path, "the law")
    {'records': 3}
    """
    return parse_json(read_bytes(path, what), str(path))


def read_toml(path: Path, what: str) -> tuple[dict[str, Any], str]:
    """Read a TOML file; also returns its text, in which errors can be looked up."""
    content = read_bytes(path, what, TOML_BYTES)
    return parse_toml(content, str(path)), content.decode("utf-8-sig")


def read_text(path: Path, what: str) -> str:
    """Read a small text file."""
    return _decoded(read_bytes(path, what, TOML_BYTES), path, what)


def read_csv_rows(path: Path, what: str, delimiter: str, most: int) -> Iterator[tuple[int, list[str]]]:
    """Read a small CSV file row by row, with the line on which each ends; no row may have more than so many fields."""
    text = _decoded(read_bytes(path, what, CSV_BYTES), path, what)
    if text.count(delimiter) + text.count("\n") + text.count("\r") - text.count("\r\n") > MAX_FIELDS:
        raise InputError(f"{path}: {what} is too large. It may have {MAX_FIELDS:,} fields in all.")
    lines = io.StringIO(text, newline="")
    pending = 0  # delimiters since the last row, counted before fields are made of them

    def within_limits() -> Iterator[str]:
        nonlocal pending
        for line in lines:
            pending += line.count(delimiter)
            if pending >= most:
                raise InputError(f"{path}: {what} has a line of more than {most:,} fields. Write fewer.")
            yield line

    reader = csv.reader(within_limits(), delimiter=delimiter)
    try:
        for row in reader:
            pending = 0
            yield reader.line_num, row
    except csv.Error as error:
        raise InputError(f"{path}: {what} cannot be read near line {reader.line_num + 1}: {error}.") from None


def _decoded(content: bytes, path: Path, what: str) -> str:
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise InputError(f"{path}: {what} cannot be read near line {line}: {error}.") from None


def parse_json(content: bytes, where: str) -> Any:
    """Parse JSON in UTF-8 within the limits; `where` says where it stands."""
    _refuse_deep(JSON_STRING.sub(b"", content), where)

    def parse() -> Any:
        text = content.decode("utf-8-sig")
        value = json.loads(
            text, object_pairs_hook=_object, parse_int=_whole, parse_float=_finite, parse_constant=_finite
        )
        if b"\\u" in content:
            json.dumps(value, ensure_ascii=False).encode()  # refuses half of a surrogate pair
        return value

    return _parsed(parse, "JSON", where)


def parse_toml(content: bytes, where: str) -> dict[str, Any]:
    """Parse TOML in UTF-8 within the limits; `where` says where it stands."""
    bare = TOML_STRING.sub(b"s", content)
    _refuse_deep(bare, where)
    if DOTTED.search(bare):
        raise InputError(f"{where}: a key has more than {MAX_DEPTH} parts. Write it with fewer.")
    if DIGITS.search(bare):
        raise InputError(f"{where}: a number has more than {MAX_DIGITS} digits. Write fewer.")
    document: dict[str, Any] = _parsed(lambda: tomllib.loads(content.decode("utf-8-sig")), "TOML", where)
    return document


def nesting(content: bytes) -> int:
    """Return how deep brackets and braces are nested outside JSON strings.

    >>> nesting(b'{"a": [[1]], "b": "[[[["}')
    3
    """
    return _depth(JSON_STRING.sub(b"", content))


def _refuse_deep(bare: bytes, where: str) -> None:
    if _depth(bare) > MAX_DEPTH:
        raise InputError(f"{where}: it is nested more than {MAX_DEPTH} deep. Write it flatter.")


def _depth(bare: bytes) -> int:
    # Up to where a parser finds its first error, all brackets are matched: the running count is its depth.
    signs = np.frombuffer(bare, dtype=np.uint8)
    brackets = signs[np.isin(signs, np.frombuffer(b"[]{}", dtype=np.uint8))]
    steps = np.where((brackets == ord("[")) | (brackets == ord("{")), 1, -1)
    return int(np.cumsum(steps).max(initial=0))


def _parsed(parse: Callable[[], Any], language: str, where: str) -> Any:
    try:
        return parse()
    except (ValueError, RecursionError) as error:
        raise InputError(f"{where}: not a valid {language} file: {str(error).removesuffix('.')}.") from None


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) < len(pairs):
        twice = Counter(name for name, _ in pairs).most_common(1)[0][0]
        raise ValueError(f"the key {shown(twice)} stands twice")
    return members


def _whole(text: str) -> int:
    _refuse_long(text)
    return int(text)


def _finite(text: str) -> float:
    _refuse_long(text)
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(f"{shown(text)} is no number, or beyond all that can be counted with")
    return value


def _refuse_long(text: str) -> None:
    if len(text) > MAX_DIGITS:
        raise ValueError(f"a number has {len(text):,} digits. It may have {MAX_DIGITS} at most")
