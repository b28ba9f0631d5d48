"""`sudare assess`: can it be promised, at what least cost, and what to do about it."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated

import typer

from sudare.cli.arguments import (
    SCHEMA_FILE,
    C,
    Diversity,
    Engine,
    Harmless,
    Memory,
    Relative,
    SchemaPath,
    SensitiveAttribute,
    Source,
    Within,
    read_table,
    schema_of,
    whole_if_it_is,
)
from sudare.cli.output import Json, print_json, print_table, say, working
from sudare.errors import InputError
from sudare.reports.assessment import write_assessment_report
from sudare.reports.assessment_pictures import write_pictures
from sudare.reports.assessment_tables import columns_by_k, columns_by_l, stronger_bounds
from sudare.reports.charts import png_renderer
from sudare.similarity.pairs import Device, accelerator
from sudare.suitability.assess import Assessment
from sudare.suitability.assess import assess as assess_table
from sudare.suitability.choices import sentences
from sudare.tables.atomic import refuse_unwritable, refuse_unwritable_file, write_file

LS, KS = (2.0, 4.0, 8.0), (2, 5, 10)
EXPLAINED = (
    "Costs are distortion: 0 leaves all as it is, 1 suppresses all. No method can stay below the least cost. 'Largest "
    "block': it has at least so many records. 'Ratio': the least cost of l-diversity over the cost of such blocks."
)


def assess(
    source: Source,
    l: Annotated[
        list[float] | None, typer.Option("-l", help="l-diversity; several: -l 2 -l 4", show_default="2 4 8")
    ] = None,
    k: Annotated[
        list[int] | None, typer.Option("-k", help="k-anonymity; several: -k 2 -k 5", show_default="2 5 10")
    ] = None,
    diversity: Diversity = "distinct",
    c: C = None,
    harmless: Harmless = None,
    within: Within = None,
    relative: Relative = False,
    attribute: SensitiveAttribute = None,
    tight: Annotated[
        bool, typer.Option("--tight", help="Raise the least costs further; takes longer.")
    ] = False,
    device: Annotated[Device, typer.Option(help="Where records are compared: cpu or gpu.")] = "cpu",
    report: Annotated[
        Path | None, typer.Option(help="Write a page for you here.", metavar="FILE.html")
    ] = None,
    plots: Annotated[
        Path | None, typer.Option(help="Write the pictures here, as SVG and PNG.", metavar="FOLDER")
    ] = None,
    schema: SchemaPath = Path(SCHEMA_FILE),
    engine: Engine = None,
    memory: Memory = None,
    json: Json = False,
) -> None:
    """Say whether l-diversity and k-anonymity can be had, what they cost at least, and what to do."""
    _refuse_unwritable(report, plots)
    if device == "gpu":
        accelerator()
    declared = schema_of(schema)
    asked = [whole_if_it_is(value) for value in l or LS]
    table = read_table(source, declared, engine, memory)
    with working("Assessing"):
        assessment = assess_table(
            table,
            asked,
            k or KS,
            diversity=diversity,
            c=c,
            harmless=harmless or (),
            within=within,
            relative=relative,
            attribute=attribute,
            tight=tight,
            device=device,
        )
    if report is not None:
        write_file(report, write_assessment_report(assessment), private=True)
    if plots is not None:
        write_pictures(assessment, plots)
    if json:
        print_json(assessment.to_json())
        return
    show_assessment(assessment, k or KS)
    for path in (report, plots):
        if path is not None:
            say("Written: [b]{}[/]. Keep it to yourself: it tells about the original.", path)


def _refuse_unwritable(report: Path | None, plots: Path | None) -> None:
    """Refuse before the work what would fail after it, and a report in place of somebody's data."""
    if report is not None and report.suffix != ".html":
        raise InputError(f"The report is a page: name it FILE.html. Got {report} instead.")
    if report is not None:
        refuse_unwritable_file(report)
    if plots is not None:
        png_renderer()
        if plots.exists() and not plots.is_dir():
            raise InputError(f"{plots} is not a folder. Name one for the pictures.")
        if plots.is_dir():
            refuse_unwritable_file(plots / "picture.svg")
        else:
            refuse_unwritable(plots)


def show_assessment(assessment: Assessment, ks: Sequence[int]) -> None:
    """Print what is possible, what it costs at least, and what to do."""
    title = f"{assessment.source}: {assessment.diversity} l-diversity of '{assessment.attribute}' in {assessment.records:,} records"
    _print_columns(title, columns_by_l(assessment))
    if assessment.best_k:
        _print_columns("k-anonymity", columns_by_k(assessment))
    for k in sorted(set(ks) - set(assessment.best_k)):
        say("{}-anonymity is impossible: there are only {} records.", k, f"{assessment.records:,}")
    say(EXPLAINED)
    for text in assessment.warnings:
        say("[yellow]Warning:[/] {}", text)
    for text in stronger_bounds(assessment):
        say("{}", text)
    for l, offered in assessment.choices.items():
        first, *others = sentences(offered)
        say("\n[b]{}[/]\n{}", assessment.requirements[l], first)
        for other in others:
            say("  - {}", other)
    accepted = [
        one.accepted_as for offered in assessment.choices.values() for one in offered[1:] if one.accepted_as
    ]
    if accepted:
        words = " ".join(f"--accept {shlex.quote(word)}" for word in accepted[0])
        say(
            "\n[b]sudare publish[/] does what is accepted: {}, or accept in the schema's section \\[publish].",
            words,
        )


def _print_columns(title: str, columns: Mapping[str, Sequence[str]]) -> None:
    print_table(title, list(columns), list(zip(*columns.values(), strict=True)))
