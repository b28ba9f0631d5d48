"""Reading JSON: an array of objects, or one object on each line."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import polars as pl

from sudare.errors import InputError
from sudare.tables.file_kinds import refuse_other_kind
from sudare.tables.parquet_files import MAX_COLUMNS, refuse_bomb
from sudare.tables.text import shown
from sudare.tables.text_files import MAX_DEPTH, nesting, parse_json

CHUNK = 2**23  # bytes that are looked through at a time
KEY = r'"[^"\\]*(?:\\.[^"\\]*)*"\s*:'
BOM = b"\xef\xbb\xbf"
BUNDLE = re.compile(rb'\{[^{}\[\]]{0,4096}?"resourceType"\s*:\s*"Bundle"')
KINDS = {str: "texts", bool: "truth values", dict: "objects", list: "arrays"}


def read_json_lines(path: Path) -> pl.DataFrame:
    """Read a file with one JSON object on each line."""
    return _read_lines(path, _content(path, ".jsonl"))


def read_json_table(path: Path) -> pl.DataFrame:
    """Read a file with an array of JSON objects, or with one object on each line.

    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "people.json"
    >>> _ = path.write_text('[{"age": 30, "sex": "f"}, {"age": 40}]')
    >>> read_json_table(path).rows()
    [(30, 'f'), (40, None)]
    """
    content = _content(path, ".json")
    if BUNDLE.match(content):
        raise InputError(
            f"{path}: this is a FHIR bundle, whose resources refer to each other. Make one row of each patient first, as "
            "examples/fhir.py does."
        )
    if content.startswith(b"{"):
        first = content.partition(b"\n")[0].rstrip()
        if not first.endswith(b"}"):
            raise InputError(
                f"{path}: this is one JSON object, and a table is an array of them: [{{...}}, {{...}}]. Write the array alone."
            )
        return _read_lines(path, content)
    if not content.startswith(b"["):
        raise InputError(
            f"{path}: this is no JSON array of objects: it must begin with [. Write [{{...}}, {{...}}]."
        )
    objects = parse_json(content, str(path))
    if other := [value for value in objects if not isinstance(value, dict)]:
        raise InputError(
            f"{path}: the array has {shown(other[0])} in it, and must have objects alone: [{{...}}, {{...}}]."
        )
    names = list(dict.fromkeys(name for one in objects for name in one))
    _refuse_columns(path, len(names), len(objects), len(content))
    return pl.DataFrame([_column(name, [one.get(name) for one in objects], path) for name in names])


def _column(name: str, values: list[Any], path: Path) -> pl.Series:
    numbers = {type(value) for value in values if value is not None} == {int, float}
    try:
        return pl.Series(name, values, dtype=pl.Float64 if numbers else None)
    except (TypeError, OverflowError, pl.exceptions.PolarsError):
        kinds = sorted({KINDS.get(type(value), "numbers") for value in values if value is not None})
        raise _mixed(path, name, kinds) from None


def _content(path: Path, ending: str) -> bytes:
    refuse_other_kind(path, ending)
    content = path.read_bytes().removeprefix(BOM).lstrip()
    if nesting(content) > MAX_DEPTH:
        raise InputError(f"{path}: it is nested more than {MAX_DEPTH} deep. Write it flatter.")
    return content


def _read_lines(path: Path, content: bytes) -> pl.DataFrame:
    # Before polars looks, which compares the keys of every line with all before.
    _refuse_columns(path, _keys(content), content.count(b"\n") + 1, len(content))
    columns = pl.scan_ndjson(content, infer_schema_length=None).collect_schema()
    _refuse_mixed(path, content, [name for name, dtype in columns.items() if dtype == pl.String])
    return pl.read_ndjson(content, schema=columns)


def _keys(content: bytes) -> int:
    """Count the different keys of lines; no more, once they are too many."""
    keys, at = pl.Series([], dtype=pl.String), 0
    while at < len(content) and len(keys) <= MAX_COLUMNS:
        end = content.find(b"\n", at + CHUNK) + 1 or len(content)
        some = pl.Series([content[at:end].decode(errors="replace")])
        keys, at = pl.concat([keys, some.str.extract_all(KEY).explode().drop_nulls()]).unique(), end
    return len(keys)


def _refuse_mixed(path: Path, content: bytes, texts: list[str]) -> None:
    """Refuse numbers and truth values in columns of texts, as which polars would read them."""
    written = {json.dumps(name, ensure_ascii=plain): name for name in texts for plain in (True, False)}
    if not texts:
        return
    keys = "|".join(map(re.escape, written)).encode()
    if other := re.search(rb"(%s)\s*:\s*([-0-9tf])" % keys, content):
        kind = KINDS[bool] if other[2] in b"tf" else "numbers"
        raise _mixed(path, written[other[1].decode()], sorted(["texts", kind]))


def _mixed(path: Path, name: str, kinds: list[str]) -> InputError:
    return InputError(
        f"{path}, column '{name}': it mixes {' and '.join(kinds)}, or has numbers beyond all that can be counted with. Write values of "
        "one kind."
    )


def _refuse_columns(path: Path, columns: int, rows: int, size: int) -> None:
    if columns > MAX_COLUMNS:
        raise InputError(f"{path}: its objects have {columns:,} keys. {MAX_COLUMNS:,} are the most.")
    try:
        refuse_bomb(size, rows, columns, 0)  # what an object leaves out is missing
    except ValueError as error:
        raise InputError(f"{path}: the file cannot be read: {error}.") from None
