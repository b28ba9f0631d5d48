"""`sudare attack`: what an outsider would try on a published table."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sudare.attacks.attack import KINDS, attack_all
from sudare.attacks.attack import attack as attack_output
from sudare.cli.arguments import SCHEMA_FILE, SchemaPath, existing_schema
from sudare.cli.output import Json, print_json, say, working
from sudare.tables.schema import Role, Schema


def attack(
    output: Annotated[
        Path, typer.Argument(help="A release folder, or a published file.", show_default=False)
    ],
    schema: SchemaPath = Path(SCHEMA_FILE),
    json: Json = False,
) -> None:
    """Attack a published table as an outsider would, and say what that reaches."""
    known = Schema.from_toml(existing_schema(schema))
    with working(f"Attacking {output}"):
        if json:
            print_json(attack_all(output, known))
            return
        kinds = KINDS if known.names(Role.sensitive) else ["reidentification"]
        results = {kind: str(attack_output(output, known, kind=kind)) for kind in kinds}
    for kind, text in results.items():
        say(f"[b]{kind}[/]\n{text}")
