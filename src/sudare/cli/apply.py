"""`sudare apply`: do to other rows what was learned from some."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sudare.cli.arguments import (
    SCHEMA_FILE,
    Engine,
    LedgerFile,
    Memory,
    OutputFolder,
    PopulationFile,
    Receiver,
    SchemaPath,
    Source,
    To,
    read_table,
    ready_to_write,
    schema_of,
)
from sudare.cli.materialize import write_pview
from sudare.cli.output import Csv, Force, Formats, Json, say, working
from sudare.cli.show_release import print_release, show_caveats, show_what_holds
from sudare.errors import InputError
from sudare.plans.plan import Plan
from sudare.plans.views import ViewsPlan
from sudare.pview.design import PViewDesign
from sudare.release.release import Release
from sudare.verbs.apply import Unseen
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
    output: OutputFolder,
    unseen: Annotated[
        Unseen,
        typer.Option(
            help="What becomes of records that the plan does not cover: nothing is released, or they are left out."
        ),
    ] = "refuse",
    population: PopulationFile = None,
    schema: SchemaPath = Path(SCHEMA_FILE),
    engine: Engine = None,
    memory: Memory = None,
    ledger: LedgerFile = None,
    receiver: Receiver = None,
    to: To = None,
    csv: Csv = None,
    formats: Formats = None,
    force: Force = False,
    json: Json = False,
) -> None:
    """Apply a plan that was learned before to other rows of the same schema, verify, and write the release."""
    declared = schema_of(schema)
    learned = Plan.open(plan)
    writing = ready_to_write(
        output, ledger, receiver, force=force, to=to, frames=_frames(learned), formats=formats
    )
    table = read_table(source, declared, engine, memory)
    if isinstance(learned, PViewDesign):
        if to is not None:
            raise InputError(
                "--to writes rows, and a p-view has none. Publish it: sudare publish FOLDER --to URL"
            )
        with working("Counting with noise"):
            pview = materialize_design(learned, table, ledger=writing.ledger, receiver=receiver)
        write_pview(pview, output, writing.ledger, receiver, force=force, json=json)
        return
    with working("Applying and verifying"):
        release = apply_plan(learned, table, unseen, population=population)
        writing.write(release, csv=csv)
    print_release(release, output, to, _show, json=json)


def _frames(plan: Plan) -> list[str]:
    """Return what a plan's tables are called: one, or one for each view."""
    return [view.name for view in plan.views] if isinstance(plan, ViewsPlan) else ["data"]


def _show(release: Release) -> None:
    """Print what holds, and how many records the plan does not cover."""
    show_what_holds(release.certificate, release.certificate.measured)
    records = release.holder["records"]
    if left_out := records["suppressed"]:
        say("{} of {} records were left out.", f"{left_out:,}", f"{records['read']:,}")
    show_caveats(release.certificate.caveats)
