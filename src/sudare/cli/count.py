"""`sudare count`: how many records share which values."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sudare.cli.arguments import SCHEMA_FILE, Engine, Memory, SchemaPath, Source
from sudare.cli.output import Json, print_json, print_table, working
from sudare.engines.read import read
from sudare.tables.attribute import Role
from sudare.tables.counts import Counts
from sudare.tables.databases import safe_name
from sudare.tables.table import Table
from sudare.tables.text import text_of


def count(
    source: Source,
    columns: Annotated[
        list[str] | None, typer.Argument(help="The columns to count; by default the quasi attributes.")
    ] = None,
    schema: SchemaPath = Path(SCHEMA_FILE),
    top: Annotated[int, typer.Option(help="How many groups to show, the largest first.", min=1)] = 20,
    engine: Engine = None,
    memory: Memory = None,
    json: Json = False,
) -> None:
    """Count the records that share their values in some columns."""
    with working(f"Counting {safe_name(source)}"):
        table = read(source, schema if schema.exists() else None, engine=engine, memory=memory)
        names = columns or table.names(Role.quasi)
        counts = table.counts(names)
        rows = _largest(table, counts, top)
    if json:
        print_json(
            {
                "columns": names,
                "records": counts.total,
                "distinct": len(counts),
                "unique": int((counts.weights == 1).sum()),
                "groups": [{"values": row[:-1], "count": row[-1]} for row in rows],
            }
        )
        return
    title = f"{counts.total:,} records, {len(counts):,} distinct, {int((counts.weights == 1).sum()):,} unique"
    print_table(title, [*names, "count"], rows)


def _largest(table: Table, counts: Counts, top: int) -> list[list[str | int]]:
    order = (-counts.weights).argsort(kind="stable")[:top]
    decoded = [table[name].decode(counts.codes[order, i]).to_list() for i, name in enumerate(counts.names)]
    texts = [["(missing)" if value is None else text_of(value) for value in values] for values in decoded]
    return [[*row, int(weight)] for *row, weight in zip(*texts, counts.weights[order], strict=True)]
