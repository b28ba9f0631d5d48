"""`sudare generalize`: publish coarser values, so that people become alike."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sudare.cli.arguments import SCHEMA_FILE, SchemaPath, Source, existing_schema
from sudare.cli.output import Force, Json, print_json, print_table, say, working
from sudare.privacy.k_anonymity import KAnonymity
from sudare.release.certificate import Certificate
from sudare.release.generalize import generalize as generalize_table
from sudare.release.ledger import Ledger
from sudare.tables.reading import read


def generalize(
    source: Source,
    output: Annotated[Path, typer.Argument(help="The folder to write; it must be new.", show_default=False)],
    k: Annotated[
        int, typer.Option("-k", help="Everybody shares their quasi values with k - 1 others.", min=1)
    ],
    schema: SchemaPath = Path(SCHEMA_FILE),
    suppress: Annotated[float, typer.Option(help="The share of records that may be left out.")] = 0.0,
    ledger: Annotated[Path | None, typer.Option(help="The ledger to record the release in.")] = None,
    force: Force = False,
    json: Json = False,
) -> None:
    """Generalize the quasi attributes with the least distortion, verify, and write the release."""
    with working(f"Reading {source}"):
        table = read(source, existing_schema(schema))
    with working("Generalizing and verifying"):
        release = generalize_table(table, KAnonymity(k), suppress=suppress)
        release.write(output, force=force, ledger=Ledger(ledger) if ledger is not None else None)
    if json:
        print_json({"folder": str(output), "certificate": release.certificate.model_dump(mode="json")})
        return
    show_certificate(release.certificate)
    say(f"Written to [b]{output}[/]. Look at [b]{output / 'report.html'}[/]")


def show_certificate(certificate: Certificate) -> None:
    """Print what holds and what it cost."""
    measured = ", ".join(f"{name} = {value:g}" for name, value in certificate.measured.items())
    records = certificate.records
    print_table(
        " and ".join(certificate.requirements),
        ["", ""],
        [
            ["measured on the output", measured],
            ["distortion", f"{certificate.utility['distortion']:.4f}"],
            ["blocks", f"{certificate.utility['blocks']:,}"],
            ["records published", f"{records['published']:,} of {records['read']:,}"],
        ],
    )
