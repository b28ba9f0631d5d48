"""`sudare verify`: recount what is published, from the output alone."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sudare.cli.arguments import (
    SCHEMA_FILE,
    C,
    Distance,
    Diversity,
    K,
    L,
    SchemaPath,
    Sensitive,
    T,
    existing_schema,
    requirements_of,
)
from sudare.cli.output import Json, print_json, say, working
from sudare.errors import InputError
from sudare.privacy.differential_privacy import DifferentialPrivacy
from sudare.privacy.pk_anonymity import PkAnonymity
from sudare.privacy.promises import Promise
from sudare.release.verify import is_private_view
from sudare.release.verify import verify as verify_output
from sudare.tables.schema import Schema


def verify(
    output: Annotated[
        Path,
        typer.Argument(help="A release folder, a private view, or a published file.", show_default=False),
    ],
    k: K = None,
    l: L = None,
    diversity: Diversity = "distinct",
    c: C = None,
    t: T = None,
    distance: Distance = "equal",
    sensitive: Sensitive = None,
    pk: Annotated[
        float | None, typer.Option(help="The k of Pk-anonymity of a randomized table.", min=1)
    ] = None,
    epsilon: Annotated[
        float | None, typer.Option(help="The epsilon of a randomized table or a private view.", min=0)
    ] = None,
    delta: Annotated[float, typer.Option(help="The delta of a private view.", min=0)] = 0.0,
    schema: SchemaPath = Path(SCHEMA_FILE),
    json: Json = False,
) -> None:
    """Verify a published table; ends with 1 if a requirement does not hold."""
    asked: list[Promise] = []
    if pk is not None:
        asked.append(PkAnonymity(pk))
    view = is_private_view(output)
    if view and epsilon is None:
        raise InputError(
            f"{output}: this is a differentially private view. Give its --epsilon, and --delta if it has one."
        )
    if epsilon is not None:
        asked.append(DifferentialPrivacy(epsilon, delta, per="table" if view else "record"))
    if not asked or not (k is None and l is None and t is None):
        asked += requirements_of(k, l, diversity, c, t, distance, sensitive)
    with working(f"Verifying {output}"):
        found = verify_output(output, asked, None if view else Schema.from_toml(existing_schema(schema)))
    if json:
        print_json({"holds": found.holds, "measured": found.measured, "worst": found.worst})
    else:
        for finding in found.findings:
            worst = ", ".join(f"{name} = {value}" for name, value in finding.worst.items())
            colour, verb = ("green", "holds") if finding.holds else ("red", "does not hold")
            say(
                f"[{colour}]{finding.requirement} {verb}[/]: {finding.name} = {finding.value:g}; worst: {worst}"
            )
    raise typer.Exit(0 if found.holds else 1)
