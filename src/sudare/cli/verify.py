"""`sudare verify`: recount what is published, from the output alone."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sudare.cli.arguments import SCHEMA_FILE, SchemaPath, existing_schema
from sudare.cli.output import Json, print_json, say
from sudare.privacy.k_anonymity import KAnonymity
from sudare.release.verify import verify as verify_output
from sudare.tables.schema import Schema


def verify(
    output: Annotated[
        Path, typer.Argument(help="A release folder, or a published file.", show_default=False)
    ],
    k: Annotated[
        int, typer.Option("-k", help="Everybody shares their quasi values with k - 1 others.", min=1)
    ],
    schema: SchemaPath = Path(SCHEMA_FILE),
    json: Json = False,
) -> None:
    """Verify a published table; ends with 1 if the requirement does not hold."""
    found = verify_output(output, KAnonymity(k), Schema.from_toml(existing_schema(schema)))
    if json:
        print_json({"holds": found.holds, "measured": found.measured, "worst": found.worst})
    else:
        worst = ", ".join(f"{name} = {value}" for name, value in found.worst.items())
        colour, verb = ("green", "holds") if found.holds else ("red", "does not hold")
        say(
            f"[{colour}]{found.findings[0].requirement} {verb}[/]: k = {found.value}; smallest block: {worst}"
        )
    raise typer.Exit(0 if found.holds else 1)
