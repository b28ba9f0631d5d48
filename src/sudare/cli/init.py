"""`sudare init`: draft a schema."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Annotated

import typer

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

Hierarchies = Annotated[
    bool,
    typer.Option(
        "--hierarchies", help="Save every hierarchy beside the schema, in ARX's format, to be edited."
    ),
]


def init(
    source: Source,
    schema: SchemaPath = Path(SCHEMA_FILE),
    delimiter: Delimiter = None,
    encoding: Encoding = None,
    decimal: Decimal = None,
    sheet: Sheet = None,
    engine: Engine = None,
    memory: Memory = None,
    hierarchies: Hierarchies = False,
    force: Force = False,
    json: Json = False,
) -> None:
    """Draft a schema file for a table: a guess for every column, with its reason."""
    if schema.exists() and not force:
        raise InputError(f"{schema}: the schema file exists already. Use --force to replace it.")
    refuse_unwritable_file(schema)
    folder = schema.parent / f"{schema.stem}.hierarchies"
    written = csv_format(delimiter, encoding, decimal)
    with working(f"Reading {safe_name(source)}"):
        drafted = draft(
            source,
            written,
            sheet=sheet,
            engine=engine,
            memory=memory,
            hierarchies=hierarchies,
            folder=folder.name,
        )
    if drafted.files:
        folder.mkdir(exist_ok=True)
    for name, text in drafted.files.items():
        write_file(schema.parent / name, text)
    write_file(schema, drafted.text)
    attributes = Schema.from_toml(schema).attributes
    roles = Counter(str(attribute.role) for attribute in attributes.values())
    if json:
        found = {name: a.role for name, a in attributes.items()}
        files = [str(schema.parent / name) for name in drafted.files]
        print_json({"schema": str(schema), "roles": found, "hierarchies": files})
        return
    print_table(f"Drafted {schema}", ["role", "columns"], list(roles.items()))
    if drafted.files:
        say("Hierarchies to edit, in ARX's format: {} in [b]{}[/].", len(drafted.files), folder)
    say("Review it, then: [b]sudare check {} --schema {}[/]", safe_name(source), schema)
