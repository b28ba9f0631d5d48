"""`sudare generalize`: publish coarser values, so that people become alike."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from sudare.cli.arguments import (
    SCHEMA_FILE,
    C,
    Distance,
    Diversity,
    Engine,
    K,
    L,
    LedgerFile,
    Memory,
    OutputFolder,
    Receiver,
    SchemaPath,
    SensitiveAttribute,
    Source,
    T,
    To,
    read_table,
    ready_to_write,
    requirements_of,
    schema_of,
)
from sudare.cli.output import Csv, Force, Json, working
from sudare.cli.show_release import print_release, show_release
from sudare.tables.databases import load_extra
from sudare.verbs.generalize import generalize as generalize_table


def generalize(
    source: Source,
    output: OutputFolder,
    k: K = None,
    l: L = None,
    diversity: Diversity = "distinct",
    c: C = None,
    t: T = None,
    distance: Distance = "equal",
    attribute: SensitiveAttribute = None,
    method: Annotated[
        Literal["minimal", "mondrian", "blind"],
        typer.Option(
            help="minimal: least distortion; mondrian: fastest; blind: cut without looking at sensitive values."
        ),
    ] = "minimal",
    suppress: Annotated[float, typer.Option(help="The share of records that may be left out.")] = 0.0,
    strict: Annotated[
        bool, typer.Option("--strict", help="mondrian: a node is cut only if all its children hold.")
    ] = False,
    region_labels: Annotated[
        bool,
        typer.Option(
            "--region-labels", help="blind: publish the labels of the cuts, even where people share more."
        ),
    ] = False,
    predict: Annotated[
        str | None,
        typer.Option(help="Also measure how well this sensitive or other attribute can still be predicted."),
    ] = None,
    schema: SchemaPath = Path(SCHEMA_FILE),
    engine: Engine = None,
    memory: Memory = None,
    ledger: LedgerFile = None,
    receiver: Receiver = None,
    to: To = None,
    csv: Csv = None,
    force: Force = False,
    json: Json = False,
) -> None:
    """Generalize the quasi attributes with little distortion, verify, and write the release."""
    asked = requirements_of(k, l, diversity, c, t, distance, attribute)
    if predict is not None:
        load_extra("sklearn", "--predict", "classifier")
    declared = schema_of(schema)
    book = ready_to_write(output, ledger, receiver, force=force, to=to)
    table = read_table(source, declared, engine, memory)
    with working("Generalizing and verifying"):
        release = generalize_table(
            table,
            asked,
            method,
            suppress=suppress,
            strict=strict,
            region_labels=region_labels,
            predict=predict,
        )
        release.write(output, csv=csv, force=force, ledger=book, receiver=receiver, to=to)
    print_release(release, output, to, show_release, json=json)
