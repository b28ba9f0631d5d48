"""`sudare generalize-views`: publish several views of one table that are safe together."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from sudare.cli.arguments import (
    SCHEMA_FILE,
    Engine,
    LedgerFile,
    Memory,
    OutputFolder,
    Receiver,
    SchemaPath,
    SensitiveAttribute,
    Source,
    To,
    lists_by_name,
    numbers_by_name,
    read_table,
    ready_to_write,
    schema_of,
    whole_if_it_is,
)
from sudare.cli.output import Csv, Force, Formats, Json, print_table, say, working
from sudare.cli.show_release import print_release, show_caveats, show_what_holds
from sudare.errors import InputError
from sudare.generalization.views import Method, Score
from sudare.privacy.multi_view import Kind, MultiViewDiversity
from sudare.release.release import Release
from sudare.verbs.generalize_views import generalize_views as generalize_table


def generalize_views(
    source: Source,
    output: OutputFolder,
    view: Annotated[
        list[str],
        typer.Option(
            help="A view, and the quasi attributes that it has. Several: give it again.",
            metavar="NAME=ATTRIBUTE,ATTRIBUTE",
            show_default=False,
        ),
    ],
    l: Annotated[
        float,
        typer.Option(
            "--l",
            "-l",
            help="Multi-view l-diversity: l sensitive values are left to everybody by all views together.",
            min=1,
            show_default=False,
        ),
    ],
    kind: Annotated[
        Kind,
        typer.Option(help="How they are counted: distinct, or by how likely they are: entropy, posterior."),
    ] = "distinct",
    attribute: SensitiveAttribute = None,
    method: Annotated[
        Method,
        typer.Option(
            help="simultaneous: all views at once; sequential: one after the other; "
            "all-attributes: the whole table once, of which each view gets its part."
        ),
    ] = "simultaneous",
    order: Annotated[
        list[str] | None,
        typer.Option(
            help="In which order sequential finishes the views: T2,T1.",
            metavar="NAME,NAME",
            show_default="as given",
        ),
    ] = None,
    weight: Annotated[
        list[str] | None,
        typer.Option(help="How fine a view should be, against the others.", metavar="NAME=NUMBER"),
    ] = None,
    score: Annotated[
        Score | None,
        typer.Option(
            help="Where blocks are cut: narrow, where labels get narrower by most; mondrian, at the median; paper.",
            show_default="narrow; of the other methods mondrian",
        ),
    ] = None,
    candidates: Annotated[
        int | None, typer.Option(help="How many cuts of a block are tried.", show_default="the score's")
    ] = None,
    alpha: Annotated[float, typer.Option(help="The α of the paper's score.")] = 0.8,
    schema: SchemaPath = Path(SCHEMA_FILE),
    engine: Engine = None,
    memory: Memory = None,
    ledger: LedgerFile = None,
    receiver: Receiver = None,
    everybody: Annotated[
        bool,
        typer.Option(
            "--everybody", help="Count what all receivers in the ledger got, also those declared apart."
        ),
    ] = False,
    to: To = None,
    csv: Csv = None,
    formats: Formats = None,
    force: Force = False,
    json: Json = False,
) -> None:
    """Generalize several views so that all together tell nobody's sensitive value, verify, and write them."""
    chosen = lists_by_name(view, "--view", "T1=age,sex")
    asked = MultiViewDiversity(whole_if_it_is(l), kind, attribute)
    weights = numbers_by_name(weight, "--weight", "T1=2")
    if everybody and ledger is None:
        raise InputError("--everybody speaks of a ledger's receivers. Give --ledger too.")
    declared = schema_of(schema)
    writing = ready_to_write(output, ledger, receiver, force=force, to=to, frames=chosen, formats=formats)
    table = read_table(source, declared, engine, memory)
    with working("Generalizing and verifying"):
        release = generalize_table(
            table,
            chosen,
            asked,
            method,
            order=_flat(order),
            weights=weights,
            score=score,
            candidates=candidates,
            alpha=alpha,
            ledger=writing.ledger,
            receiver=receiver,
            everybody=everybody,
        )
        writing.write(release, csv=csv)
    print_release(release, output, to, _show, json=json)


def _flat(order: Sequence[str] | None) -> list[str] | None:
    """Read names that were given one by one, or with commas."""
    return [name for text in order for name in text.split(",")] if order else None


def _show(release: Release) -> None:
    """Print what holds, and what it cost every view."""
    certificate, holder = release.certificate, release.holder
    show_what_holds(certificate, holder["measured"])
    before, after = (holder["attacks"][side]["intersection"] for side in ("input", "output"))
    for name, left in after["by_attribute"].items():
        say(
            "Somebody's likeliest {}, for whoever combines these views: [b]{}[/] (raw views: {})",
            name,
            f"{left['posterior']:.1%}",
            f"{before['posterior']:.1%}",
        )
    rows = [
        [
            name,
            utility["blocks"],
            f"{utility['average_block']:,.1f}",
            utility["discernibility"],
            f"{utility['distortion']:.4f}",
            f"{utility['open']:.2%}",
        ]
        for name, utility in holder["utility"].items()
    ]
    print_table("What it cost", ["view", "blocks", "average block", "DM", "DIS", "left open"], rows)
    show_caveats([*certificate.caveats, *holder["notes"]])
