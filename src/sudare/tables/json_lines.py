"""Reading JSON lines."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from sudare.errors import InputError
from sudare.tables.parquet_files import MAX_COLUMNS, refuse_bomb
from sudare.tables.text_files import MAX_DEPTH, nesting


def read_json_lines(path: Path) -> pl.DataFrame:
    """Read a file with one JSON object on each line."""
    content = path.read_bytes()
    if nesting(content) > MAX_DEPTH:
        raise InputError(f"{path}: it is nested more than {MAX_DEPTH} deep. Write it flatter.")
    columns = pl.scan_ndjson(content, infer_schema_length=None).collect_schema()
    if len(columns) > MAX_COLUMNS:
        raise InputError(f"{path}: its objects have {len(columns):,} keys. {MAX_COLUMNS:,} are the most.")
    try:
        refuse_bomb(
            len(content), content.count(b"\n") + 1, len(columns), 0
        )  # what a line leaves out is missing
    except ValueError as error:
        raise InputError(f"{path}: the file cannot be read: {error}.") from None
    return pl.read_ndjson(content, schema=columns)
