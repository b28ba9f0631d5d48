"""`sudare check`: validate data against its schema."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import polars as pl
import typer

from sudare.attacks.population import is_sample, population
from sudare.cli.arguments import SCHEMA_FILE, Engine, Memory, SamplingFraction, SchemaPath, Source, schema_of
from sudare.cli.output import Json, print_json, print_table, say, working
from sudare.engines.read import read
from sudare.engines.relational import Relational
from sudare.privacy.column_sets import ColumnSets, column_sets
from sudare.privacy.telling import telling_columns
from sudare.privacy.uniqueness import joining_columns, warnings_about
from sudare.tables.attribute import Role
from sudare.tables.databases import safe_name
from sudare.tables.lookalikes import lookalikes
from sudare.tables.recipes import DigitsRecipe
from sudare.tables.table import Table

MAX_GROUPS_SHOWN = 12  # groups of lookalike values that are named
MAX_SETS_SHOWN = 6  # of each size
MAX_LOOKED_AT = 10**6  # different values of a column of which nothing is asked but how many they are


def check(
    source: Source,
    schema: SchemaPath = Path(SCHEMA_FILE),
    engine: Engine = None,
    memory: Memory = None,
    sampling_fraction: SamplingFraction = None,
    sets: Annotated[
        int | None,
        typer.Option(
            help="Also find the sets of up to so many quasi columns by which people are alone.",
            show_default="not counted",
            min=1,
            metavar="COLUMNS",
        ),
    ] = None,
    json: Json = False,
) -> None:
    """Check a table against its schema, and show what would be protected."""
    with working(f"Reading {safe_name(source)}"):
        table = read(source, schema_of(schema), engine=engine, memory=memory)
        unique = unique_people(table)
        risk = None
        if unique is not None and (is_sample(table.schema) or sampling_fraction is not None):
            risk = population(table, table.schema, sampling_fraction=sampling_fraction)
        together = None if sets is None else column_sets(table, sets)
    columns = [_described(table, name) for name in table.columns]
    alike = lookalike_values(table)
    looked_at = [column["column"] for column in columns if column["missing"] is not None]
    warnings = [
        *warnings_about(table, table.names(Role.sensitive)),
        *joining_columns(table, looked_at),
        *telling_columns(table, looked_at),
    ]
    if json:
        print_json(
            {
                "source": table.source.name,
                "rows": len(table),
                "unique": unique,
                "population": None if risk is None else risk.summary(),
                "sets": None if together is None else [asdict(one) for one in together.sets],
                "sets_of_up_to": None if together is None else together.size,
                "columns": columns,
                "lookalikes": [{"column": name, "values": list(values)} for name, values in alike],
                "warnings": warnings,
            }
        )
        return
    print_table(
        f"{table.source.name}: {len(table):,} rows",
        list(columns[0]),
        [["" if cell is None else cell for cell in column.values()] for column in columns],
    )
    for note in table.source.notes:
        say("Note: {}.", note)
    for column in columns:
        if column["missing"] is None:
            say("Note: the values of [b]{}[/] were counted, and not looked at.", column["column"])
    if unique is not None:
        who = "people" if table.schema.unit is None else "rows"
        say(
            "[b]{}[/] of {} {} are the only ones with their quasi values.",
            f"{unique:,}",
            f"{len(table):,}",
            who,
        )
    if risk is not None:
        say("{}", risk)
    if together is not None:
        _show_sets(together)
    for name in table.names(Role.weight):
        if risk is not None and table.schema[name].hierarchy == DigitsRecipe(kind="digits"):
            root = f'hierarchy = {{ kind = "digits", root = {risk.people / risk.records:.3g} }}'
            say(
                "Note: a weight that cannot be told is published as *. To give [b]{}[/] its mean instead: {}",
                name,
                root,
            )
    for name, values in alike:
        say(
            "[yellow]Warning:[/] the values {} of [b]{}[/] look alike. l-diversity counts them as {} values: make them one.",
            ", ".join(map(ascii, values)),
            name,
            len(values),
        )
    for text in warnings:
        say("[yellow]Warning:[/] {}", text)
    say("[green]The table agrees with its schema.[/]")


def _show_sets(found: ColumnSets) -> None:
    """Show of each size the sets of columns that tell most people apart whom no part of them does."""
    shown = found.of_size(MAX_SETS_SHOWN)
    print_table(
        f"Who is alone by which columns: {len(shown):,} of {len(found.sets):,} sets",
        ["columns", "alone", "by no fewer of them", "pairs told apart"],
        [
            [
                ", ".join(one.names),
                f"{one.alone:,}",
                "" if one.by_all is None else f"{one.by_all:,}",
                f"{one.separated:.2%}",
            ]
            for one in shown
        ],
    )
    if found.limit is not None:
        say("Note: {}", found.limit)


def _described(table: Table, name: str) -> dict[str, Any]:
    """Say what a column is, and what it holds, but for one that a database has more of than need be looked at here."""
    role, rows = str(table.schema[name].role), table.rows
    unseen = rows.unseen_values(name) if isinstance(rows, Relational) else 0
    if unseen > MAX_LOOKED_AT:
        return {
            "column": name,
            "role": role,
            "type": table.schema[name].type,
            "distinct": unseen,
            "missing": None,
            "hierarchy": "",
        }
    column, counts = table[name], table.counts([name])
    return {
        "column": name,
        "role": role,
        "type": table.schema[name].type or str(column.values.dtype),
        "distinct": len(column.values),
        "missing": int(counts.weights[counts.codes[:, 0] == len(column.values)].sum()),
        "hierarchy": "" if column.hierarchy is None else _levels(column.hierarchy.height),
    }


def _levels(height: int) -> str:
    return "1 level" if height == 1 else f"{height} levels"


def unique_people(table: Table) -> int | None:
    """Count the people who are the only ones with their quasi values; None if there are no quasi attributes."""
    quasi = table.names(Role.quasi)
    if not quasi:
        return None
    return sum(int((piece.weights == 1).sum()) for piece in table.rows.pieces(quasi, quasi))


def lookalike_values(table: Table) -> list[tuple[str, tuple[str, ...]]]:
    """Return the texts of sensitive attributes that people take for one another, the first dozen of groups."""
    groups = [
        (name, values)
        for name in table.names(Role.sensitive)
        if table[name].values.dtype in (pl.String, pl.Categorical, pl.Enum)
        for values in lookalikes(table[name].values.cast(pl.String).to_list())
    ]
    return groups[:MAX_GROUPS_SHOWN]
