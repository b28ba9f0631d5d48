"""`sudare apply`: do to other rows what was learned from some."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from sudare.cli.arguments import (
    SCHEMA_FILE,
    LedgerFile,
    Receiver,
    SchemaPath,
    Source,
    ready_to_write,
    schema_of,
)
from sudare.cli.generalize import as_json, say_where
from sudare.cli.output import Force, Json, print_json, say, working
from sudare.engines.read import read
from sudare.plans.plan import Plan
from sudare.pview.design import PViewDesign
from sudare.release.release import Release
from sudare.tables.databases import safe_name
from sudare.verbs.apply import apply as apply_plan
from sudare.verbs.materialize import materialize_design


def apply(
    plan: Annotated[
        Path,
        typer.Argument(
            help="The plan: the folder it was saved to, or that of a release.", show_default=False
        ),
    ],
    source: Source,
    output: Annotated[Path, typer.Argument(help="The folder to write; it must be new.", show_default=False)],
    unseen: Annotated[
        Literal["refuse", "suppress"],
        typer.Option(
            help="What becomes of records that the plan does not cover: nothing is released, or they are left out."
        ),
    ] = "refuse",
    schema: SchemaPath = Path(SCHEMA_FILE),
    ledger: LedgerFile = None,
    receiver: Receiver = None,
    force: Force = False,
    json: Json = False,
) -> None:
    """Apply a plan that was learned before to other rows of the same schema, verify, and write the release."""
    declared = schema_of(schema)
    learned = Plan.open(plan)
    book = ready_to_write(output, ledger, receiver, force=force)
    with working(f"Reading {safe_name(source)}"):
        table = read(source, declared)
    with working("Applying and verifying"):
        release = (
            materialize_design(learned, table, ledger=book, receiver=receiver)
            if isinstance(learned, PViewDesign)
            else apply_plan(learned, table, unseen)
        )
        release.write(output, force=force, ledger=book, receiver=receiver)
    if json and isinstance(release, Release):
        print_json(as_json(release, output))
        return
    certificate = release.certificate
    measured = ", ".join(f"{name} = {value:g}" for name, value in certificate.measured.items())
    say("[b]{}[/]: [green]holds[/], {}", " and ".join(certificate.requirements), measured)
    records = release.holder["records"]
    if left_out := records.get("suppressed", 0):
        say("{} of {} records were left out.", f"{left_out:,}", f"{records['read']:,}")
    say_where(output)
