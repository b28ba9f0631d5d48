"""`sudare attack`: what an outsider would try on a published table, or on several views together."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

from sudare.attacks.attack import KINDS, attack_all
from sudare.attacks.attack import attack as attack_output
from sudare.attacks.intersection import views_of
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
    asked = Schema.from_toml(existing_schema(schema))
    with working(f"Attacking {', '.join(map(str, outputs))}"):
        if known is not None:
            views = {str(file): file for path in outputs for file in views_of(path).values()}
            found = attack_output(views, asked, kind="intersection", known=known)
            numbers, results = {"intersection": found.summary()}, {"intersection": str(found)}
        elif len(outputs) > 1:
            raise InputError(
                "Several outputs are attacked together. Say whose values an outsider knows: --known PEOPLE."
            )
        elif json:
            numbers, results = attack_all(outputs[0], asked), {}
        else:
            kinds = KINDS if asked.names(Role.sensitive) else ["reidentification"]
            results = {kind: str(attack_output(outputs[0], asked, kind=kind)) for kind in kinds}
    if json:
        print_json(numbers)
        return
    for kind, text in results.items():
        say(f"[b]{kind}[/]\n{escape(text)}")
