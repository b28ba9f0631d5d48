"""`sudare init`: draft a schema."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from sudare.cli.arguments import (
    SCHEMA_FILE,
    Decimal,
    Delimiter,
    Encoding,
    Engine,
    Memory,
    SchemaPath,
    Sheet,
    Source,
    csv_format,
)
from sudare.cli.output import Force, Json, print_json, print_table, say, working
from sudare.errors import InputError
from sudare.tables.atomic import refuse_unwritable_file, write_file
from sudare.tables.databases import safe_name
from sudare.tables.schema import Schema
from sudare.verbs.draft import draft


def init(
    source: Source,
    schema: SchemaPath = Path(SCHEMA_FILE),
    delimiter: Delimiter = None,
    encoding: Encoding = None,
    decimal: Decimal = None,
    sheet: Sheet = None,
    engine: Engine = None,
    memory: Memory = None,
    force: Force = False,
    json: Json = False,
) -> None:
    """Draft a schema file for a table: a guess for every column, with its reason."""
    if schema.exists() and not force:
        raise InputError(f"{schema}: the schema file exists already. Use --force to replace it.")
    refuse_unwritable_file(schema)
    written = csv_format(delimiter, encoding, decimal)
    with working(f"Reading {safe_name(source)}"):
        text = draft(source, written, sheet=sheet, engine=engine, memory=memory)
    write_file(schema, text)
    attributes = Schema.from_toml(schema).attributes
    roles = Counter(str(attribute.role) for attribute in attributes.values())
    if json:
        print_json({"schema": str(schema), "roles": {name: a.role for name, a in attributes.items()}})
        return
    print_table(f"Drafted {schema}", ["role", "columns"], list(roles.items()))
    say("Review it, then: [b]sudare check {} --schema {}[/]", safe_name(source), schema)
