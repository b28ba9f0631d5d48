"""`sudare attack`: what an outsider would try on a published table, or on several views together."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from sudare.attacks.attack import KINDS
from sudare.attacks.attack import attack as attack_output
from sudare.attacks.intersection import views_of
from sudare.attacks.randomized import law_of
from sudare.cli.arguments import SCHEMA_FILE, SchemaPath, existing_schema
from sudare.cli.output import Json, print_json, say, working
from sudare.errors import InputError
from sudare.tables.schema import Role, Schema


def attack(
    outputs: Annotated[
        list[Path],
        typer.Argument(
            help="A release folder, or a published file; with --known also several.",
            show_default=False,
            metavar="OUTPUT...",
        ),
    ],
    schema: SchemaPath = Path(SCHEMA_FILE),
    known: Annotated[
        str | None,
        typer.Option(
            help="People whose quasi values an outsider knows: look them up in all views together.",
            metavar="PEOPLE",
        ),
    ] = None,
    json: Json = False,
) -> None:
    """Attack a published table as an outsider would, and say what that reaches."""
    with working(f"Attacking {', '.join(map(str, outputs))}"):
        found = _attacked(outputs, schema, known)
    if json:
        print_json({kind: one.summary() for kind, one in found.items()})
        return
    for kind, one in found.items():
        say("[b]{}[/]\n{}", kind, one)


def _attacked(outputs: list[Path], schema: Path, known: str | None) -> dict[str, Any]:
    """Try what can be tried on these outputs, by kind."""
    if known is not None:
        views = {str(file): file for path in outputs for file in views_of(path).values()}
        asked = Schema.from_toml(existing_schema(schema))
        return {"intersection": attack_output(views, asked, kind="intersection", known=known)}
    if len(outputs) > 1:
        raise InputError(
            "Several outputs are attacked together. Say whose values an outsider knows: --known PEOPLE."
        )
    if law_of(outputs[0]) is not None:
        return {"law": attack_output(outputs[0])}
    asked = Schema.from_toml(existing_schema(schema))
    kinds = KINDS if asked.names(Role.sensitive) else ["reidentification"]
    return {kind: attack_output(outputs[0], asked, kind=kind) for kind in kinds}
