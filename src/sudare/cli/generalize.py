"""`sudare generalize`: publish coarser values, so that people become alike."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from sudare.cli.arguments import (
    SCHEMA_FILE,
    Beta,
    C,
    Disclosure,
    Distance,
    Diversity,
    Engine,
    Harmless,
    K,
    L,
    LeastPresent,
    LedgerFile,
    Likeness,
    Mapped,
    Memory,
    MostPresent,
    OutputFolder,
    PopulationFile,
    Receiver,
    Relative,
    SchemaPath,
    SensitiveAttribute,
    Source,
    T,
    To,
    Within,
    numbers_by_name,
    read_table,
    ready_to_write,
    requirements_of,
    schema_of,
)
from sudare.cli.output import Csv, Force, Formats, Json, working
from sudare.cli.show_release import print_release, show_release
from sudare.errors import InputError
from sudare.plans.plan import Plan
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
    harmless: Harmless = None,
    within: Within = None,
    relative: Relative = False,
    k_map: Mapped = None,
    population: PopulationFile = None,
    beta: Beta = None,
    likeness: Likeness = "enhanced",
    disclosure: Disclosure = None,
    d_max: MostPresent = None,
    d_min: LeastPresent = 0.0,
    method: Annotated[
        Literal["minimal", "mondrian", "blind", "full-domain", "mdav"],
        typer.Option(
            help="minimal: least distortion; mondrian: fastest; blind: cut without looking at sensitive values; "
            "full-domain: one coding for each column; mdav: what is closest by numbers, for their means."
        ),
    ] = "minimal",
    suppress: Annotated[float, typer.Option(help="The share of records that may be left out.")] = 0.0,
    effort: Annotated[
        str | None,
        typer.Option(
            help="minimal: quick, normal or thorough; or for how many seconds to try.", show_default="normal"
        ),
    ] = None,
    start: Annotated[
        Path | None, typer.Option(help="minimal: an earlier release or plan to begin from.", exists=True)
    ] = None,
    strict: Annotated[
        bool, typer.Option("--strict", help="mondrian: a node is cut only if all its children hold.")
    ] = False,
    measure: Annotated[
        Literal["distortion", "ncp", "discernibility"], typer.Option(help="full-domain: what is to be least.")
    ] = "distortion",
    level: Annotated[
        list[str] | None,
        typer.Option(
            help="full-domain: the level of a quasi attribute, from 0, instead of the best; give it of all, one by one.",
            metavar="NAME=LEVEL",
            show_default="those that cost least",
        ),
    ] = None,
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
    formats: Formats = None,
    force: Force = False,
    json: Json = False,
) -> None:
    """Generalize the quasi attributes with little distortion, verify, and write the release."""
    asked = requirements_of(
        k, l, diversity, c, t, distance, attribute, harmless, within, relative, k_map, population,
        beta=beta, likeness=likeness, disclosure=disclosure, d_max=d_max, d_min=d_min,
    )  # fmt: skip
    if predict is not None:
        load_extra("sklearn", "--predict", "classifier")
    declared = schema_of(schema)
    place = ready_to_write(output, ledger, receiver, force=force, to=to, formats=formats)
    table = read_table(source, declared, engine, memory)
    with working("Generalizing and verifying"):
        release = generalize_table(
            table,
            asked,
            method,
            suppress=suppress,
            strict=strict,
            effort=effort_of(effort),
            start=None if start is None else Plan.open(start),
            measure=measure,
            levels=levels_of(level),
            region_labels=region_labels,
            predict=predict,
        )
        place.write(release, csv=csv)
    print_release(release, output, to, show_release, json=json)


def levels_of(given: Sequence[str] | None) -> dict[str, int] | None:
    """Return levels by the names of attributes, as `generalize` takes them; None if none was given."""
    levels = numbers_by_name(given, "--level", "age=2")
    if broken := [name for name, level in levels.items() if not level.is_integer()]:
        raise InputError(f"--level {broken[0]} must be a whole number. Got {levels[broken[0]]:g} instead.")
    return {name: int(level) for name, level in levels.items()} or None


def effort_of(given: str | None) -> Any:
    """Return an effort as `generalize` takes it: a word, or a number of seconds."""
    try:
        return None if given is None else float(given)
    except ValueError:
        return given
