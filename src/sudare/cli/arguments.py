"""Arguments that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sudare.errors import InputError
from sudare.tables.schema import CsvFormat, Schema

SCHEMA_FILE = "sudare.toml"

Source = Annotated[
    str,
    typer.Argument(
        help="A CSV, TSV, Parquet, Arrow or JSON lines file, or a database URL.", show_default=False
    ),
]
SchemaPath = Annotated[
    Path, typer.Option("--schema", "-s", help="The schema file.", show_default=True, metavar="FILE")
]
Delimiter = Annotated[str | None, typer.Option(help="The delimiter of a CSV file.", show_default="found out")]
Encoding = Annotated[str | None, typer.Option(help="The encoding of a CSV file.", show_default="found out")]
Decimal = Annotated[
    str | None, typer.Option(help="The decimal sign of a CSV file: . or ,", show_default="found out")
]


def csv_format(delimiter: str | None, encoding: str | None, decimal: str | None) -> CsvFormat | None:
    """Return the format that was asked for, or None if nothing was."""
    asked = {"delimiter": delimiter, "encoding": encoding, "decimal": decimal}
    given = {key: value for key, value in asked.items() if value is not None}
    return Schema.from_dict({"attributes": {}, "csv": given}, where="Options").csv if given else None


def existing_schema(path: Path) -> Path:
    """Return the schema file, or say how to make one."""
    if not path.exists():
        raise InputError(f"{path}: there is no schema file. Draft one: sudare init DATA --schema {path}")
    return path
