"""`sudare generalize`: publish coarser values, so that people become alike."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from sudare.cli.arguments import (
    SCHEMA_FILE,
    C,
    Distance,
    Diversity,
    K,
    L,
    LedgerFile,
    Receiver,
    SchemaPath,
    SensitiveAttribute,
    Source,
    T,
    ready_to_write,
    requirements_of,
    schema_of,
)
from sudare.cli.output import Force, Json, print_json, print_table, say, working
from sudare.engines.read import read
from sudare.release.release import Release
from sudare.tables.databases import load_extra, safe_name
from sudare.tables.folders import HAND_OVER, KEEP, REPORT
from sudare.verbs.generalize import generalize as generalize_table


def generalize(
    source: Source,
    output: Annotated[Path, typer.Argument(help="The folder to write; it must be new.", show_default=False)],
    k: K = None,
    l: L = None,
    diversity: Diversity = "distinct",
    c: C = None,
    t: T = None,
    distance: Distance = "equal",
    attribute: SensitiveAttribute = None,
    method: Annotated[
        Literal["minimal", "mondrian"], typer.Option(help="minimal: least distortion; mondrian: fastest.")
    ] = "minimal",
    suppress: Annotated[float, typer.Option(help="The share of records that may be left out.")] = 0.0,
    strict: Annotated[
        bool, typer.Option("--strict", help="mondrian: a node is cut only if all its children hold.")
    ] = False,
    predict: Annotated[
        str | None,
        typer.Option(help="Also measure how well this sensitive or other attribute can still be predicted."),
    ] = None,
    schema: SchemaPath = Path(SCHEMA_FILE),
    ledger: LedgerFile = None,
    receiver: Receiver = None,
    force: Force = False,
    json: Json = False,
) -> None:
    """Generalize the quasi attributes with little distortion, verify, and write the release."""
    asked = requirements_of(k, l, diversity, c, t, distance, attribute)
    if predict is not None:
        load_extra("sklearn", "--predict", "classifier")
    declared = schema_of(schema)
    book = ready_to_write(output, ledger, receiver, force=force)
    with working(f"Reading {safe_name(source)}"):
        table = read(source, declared)
    with working("Generalizing and verifying"):
        release = generalize_table(table, asked, method, suppress=suppress, strict=strict, predict=predict)
        release.write(output, force=force, ledger=book, receiver=receiver)
    if json:
        print_json(as_json(release, output))
        return
    show_release(release)
    say_where(output)


def as_json(release: Release, folder: Path) -> dict[str, Any]:
    """Return what a machine is told of a release that was written: to its holder, so the holder's record too."""
    certificate = release.certificate.model_dump(mode="json")
    return {"folder": str(folder), "certificate": certificate, "holder": release.holder}


def say_where(folder: Path) -> None:
    """Say what to hand over, and what to keep."""
    say("Hand over [b]{}[/].", folder / HAND_OVER)
    say("Keep [b]{}[/]: it tells about the original. Look at [b]{}[/]", folder / KEEP, folder / KEEP / REPORT)


def show_release(release: Release) -> None:
    """Print what holds and what it cost."""
    certificate, holder = release.certificate, release.holder
    measured = ", ".join(f"{name} = {value:g}" for name, value in certificate.measured.items())
    records, utility, bound = holder["records"], holder["utility"], holder["bound"]
    counts = utility["query_error"]
    least = "" if bound is None else f" (no method can do better than {bound:.4f})"
    rows = [
        ["measured on the output", measured],
        ["distortion", f"{utility['distortion']:.4f}{least}"],
        ["random counts are off by", f"{counts['median']:.1%} (median), {counts['mean']:.1%} (mean)"],
        ["blocks", f"{utility['blocks']:,}, of {utility['average_block']:.1f} records on average"],
        ["records published", f"{records['published']:,} of {records['read']:,}"],
    ]
    if scores := utility.get("prediction"):
        beside = f"original {scores['original']:.1%}, guess {scores['guess']:.1%}"
        rows.append([f"{scores['target']} predicted right", f"{scores['published']:.1%} ({beside})"])
    print_table(" and ".join(certificate.requirements), ["", ""], rows)
