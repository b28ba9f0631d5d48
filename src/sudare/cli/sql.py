"""`sudare sql`: write a plan as a SELECT that a warehouse carries out itself."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sudare.cli.arguments import SCHEMA_FILE, SchemaPath, schema_of
from sudare.cli.output import Json, note, print_json
from sudare.plans.plan import Plan
from sudare.plans.sql_dialects import DialectName
from sudare.verbs.apply import Unseen
from sudare.verbs.sql import sql as sql_of


def sql(
    plan: Annotated[
        Path,
        typer.Argument(
            help="The plan: the folder it was saved to, or that of a release.", show_default=False
        ),
    ],
    dialect: Annotated[DialectName, typer.Option(help="Whose SQL.")] = "duckdb",
    table: Annotated[str, typer.Option(help="The table in the warehouse, such as clinic.people.")] = "people",
    unseen: Annotated[
        Unseen,
        typer.Option(
            help="What becomes of rows that the plan does not cover: nothing comes out, or they are left out."
        ),
    ] = "refuse",
    lookup: Annotated[
        Path | None,
        typer.Option(
            help="A Parquet file for the plan's lists, where they are too many for a statement: it reads them from the table of that name, into which you load the file.",
            show_default=False,
        ),
    ] = None,
    schema: SchemaPath = Path(SCHEMA_FILE),
    json: Json = False,
) -> None:
    """Write a plan of generalization as a SELECT, by which a warehouse publishes its own rows.

    The statement recounts what comes out: there are no rows if a requirement does not hold on them. It holds the plan, and stays with you.
    """
    learned = Plan.open(plan)
    statement = sql_of(learned, schema_of(schema), table=table, dialect=dialect, unseen=unseen, lookup=lookup)
    if json:
        print_json({"dialect": dialect, "table": table, "unseen": unseen, "sql": statement})
        return
    typer.echo(statement)
    every = (
        ", and unless the plan covers every row (--unseen suppress leaves the others out)"
        if unseen == "refuse"
        else ""
    )
    note(f"It publishes nothing unless it has {', '.join(map(str, learned.requirements))}{every}")  # type: ignore[attr-defined]
