"""`sudare draw`: some of a table's people, drawn at random."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sudare.cli.arguments import SCHEMA_FILE, Engine, Memory, SchemaPath, Source, read_table, schema_of
from sudare.cli.output import Force, Json, print_json, say, working
from sudare.errors import InputError
from sudare.tables.atomic import refuse_unwritable_file
from sudare.verbs.draw import draw as draw_people
from sudare.verbs.draw import write_drawn


def draw(
    source: Source,
    output: Annotated[
        Path, typer.Argument(help="The Parquet file to write; its schema is written beside it.")
    ],
    share: Annotated[float | None, typer.Option(help="Which share of the people, such as 0.1.")] = None,
    people: Annotated[int | None, typer.Option(help="How many people, or households.", min=1)] = None,
    schema: SchemaPath = Path(SCHEMA_FILE),
    engine: Engine = None,
    memory: Memory = None,
    force: Force = False,
    json: Json = False,
) -> None:
    """Draw some of a table's people at random, as a table of its own with a schema.

    Persons or households are drawn with all their rows. The schema beside it says which share was drawn, and what the table was
    called. Draw once, and release that: another draw has other people.
    """
    for path in (output, output.with_suffix(".toml")):
        for read in (Path(source), schema):
            if path.resolve() == read.resolve():
                raise InputError(f"{path} is read, and would be written over. Choose another name.")
        if path.exists() and not force:
            raise InputError(f"{path} exists already. Use --force to replace it, or choose another name.")
        refuse_unwritable_file(path)
    table = read_table(source, schema_of(schema), engine, memory)
    with working("Drawing"):
        drawn = draw_people(table, share=share, people=people)
        beside = write_drawn(drawn, output)
    if json:
        print_json(
            {
                "file": str(output),
                "schema": str(beside),
                "rows": len(drawn),
                "sampling_fraction": drawn.schema.sampling_fraction,
            }
        )
        return
    say("{}: {} rows. Its schema: [b]{}[/]", drawn.source.notes[-1], f"{len(drawn):,}", beside)
