"""`sudare materialize`: a p-view, the differentially private stand-in that answers any range count."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from sudare.cli.arguments import (
    SCHEMA_FILE,
    Engine,
    LedgerFile,
    Memory,
    OutputFolder,
    Receiver,
    SchemaPath,
    Source,
    UnsafeSeed,
    read_table,
    ready_to_write,
    schema_of,
)
from sudare.cli.output import Force, Json, print_json, print_table, say, working
from sudare.ledger.ledger import Ledger
from sudare.privacy.differential_privacy import DifferentialPrivacy
from sudare.pview.files import PAGE
from sudare.pview.interest import QUERIES
from sudare.pview.pview import PView
from sudare.tables.folders import HAND_OVER, KEEP, REPORT
from sudare.tables.text_files import read_text
from sudare.verbs.materialize import materialize as materialize_table

TOGETHER = "ATTRIBUTE,ATTRIBUTE"
MAX_SHARES_SHOWN = 16  # one by one; more are shown by kind


def materialize(
    source: Source,
    output: OutputFolder,
    epsilon: Annotated[
        float, typer.Option(help="The epsilon of the whole p-view, whatever is asked of it later.", min=0)
    ],
    delta: Annotated[
        float, typer.Option(help="A small delta, such as 1e-9, allows Gaussian noise.", min=0)
    ] = 0.0,
    method: Annotated[
        Literal["pairs", "dp-mondrian", "independent", "identity", "dawa", "privbayes", "hdmm"],
        typer.Option(help="How it is made; the others are there to compare."),
    ] = "pairs",
    theta: Annotated[
        float | None,
        typer.Option(
            help="dp-mondrian: at which error a block is even enough; privbayes: how clear a table must be."
        ),
    ] = None,
    tree_share: Annotated[
        float | None, typer.Option(help="dp-mondrian: the share of the budget that finds the blocks.")
    ] = None,
    beta: Annotated[
        float | None,
        typer.Option(
            help="dp-mondrian: how deep blocks are cut; privbayes: the share of the budget that chooses the network."
        ),
    ] = None,
    gamma: Annotated[
        float | None,
        typer.Option(help="dp-mondrian: the share of its tests in what finds the blocks, 0 to 1."),
    ] = None,
    projection: Annotated[
        bool | None,
        typer.Option("--projection", help="dp-mondrian: no block has less than nobody; the sum stays."),
    ] = None,
    asked: Annotated[
        Literal["ranges", "prefixes", "marginals"] | None, typer.Option(help="hdmm: what will be asked.")
    ] = None,
    ways: Annotated[
        int | None, typer.Option(help="hdmm: of how many attributes at once that will be asked.", min=1)
    ] = None,
    ask: Annotated[
        list[str] | None,
        typer.Option(
            help="A query that will be asked, so that the budget goes there; give several one by one.",
            metavar="SQL",
        ),
    ] = None,
    ask_file: Annotated[
        Path | None, typer.Option(help="A file of such queries, with semicolons between.", metavar="FILE")
    ] = None,
    ask_marginals: Annotated[
        list[str] | None,
        typer.Option(
            help="Attributes that will be asked together, value by value; several: give it again.",
            metavar=TOGETHER,
        ),
    ] = None,
    ask_ranges: Annotated[
        list[str] | None,
        typer.Option(
            help="The same of their ranges, from somewhere to somewhere.",
            metavar=TOGETHER,
        ),
    ] = None,
    ask_prefixes: Annotated[
        list[str] | None,
        typer.Option(help="The same of ranges from one end on.", metavar=TOGETHER),
    ] = None,
    schema: SchemaPath = Path(SCHEMA_FILE),
    engine: Engine = None,
    memory: Memory = None,
    ledger: LedgerFile = None,
    receiver: Receiver = None,
    unsafe_seed: UnsafeSeed = None,
    force: Force = False,
    json: Json = False,
) -> None:
    """Make a p-view of a table: a differentially private stand-in that answers any range count."""
    parameters = {
        "theta": theta,
        "tree_share": tree_share,
        "beta": beta,
        "gamma": gamma,
        "projection": projection,
        "asked": asked,
        "ways": ways,
    }
    declared = schema_of(schema)
    sets = {"marginals": ask_marginals, "ranges": ask_ranges, "prefixes": ask_prefixes}
    workload = _workload(_queries(ask, ask_file), sets)
    book = ready_to_write(output, ledger, receiver, force=force).ledger
    table = read_table(source, declared, engine, memory)
    with working("Counting with noise"):
        pview = materialize_table(
            table,
            DifferentialPrivacy(epsilon, delta),
            method,
            ledger=book,
            receiver=receiver,
            workload=workload,
            unsafe_seed=unsafe_seed,
            **{name: value for name, value in parameters.items() if value is not None},
        )
    write_pview(pview, output, book, receiver, force=force, json=json)


def _queries(ask: list[str] | None, file: Path | None) -> list[str] | None:
    """Return the queries that will be asked; None if none is named."""
    if file is None:
        return ask
    from sudare.pview.sql import statements_of  # sqlglot takes long to load

    return [*(ask or ()), *statements_of(read_text(file, "the file of queries"))]


def _workload(
    queries: list[str] | None, sets: Mapping[str, list[str] | None]
) -> dict[str, Sequence[Any]] | None:
    """Return all that will be asked; None if nothing is named."""
    asked: dict[str, Sequence[Any]] = {} if queries is None else {QUERIES: queries}
    asked |= {way: [text.split(",") for text in several] for way, several in sets.items() if several}
    return asked or None


def write_pview(
    pview: PView, output: Path, ledger: Ledger | None, receiver: str | None, *, force: bool, json: bool
) -> None:
    """Write a p-view, and print what it is: for a person, or as JSON."""
    with working("Drawing what it says, and how near that is"):
        pview.write(output, force=force, ledger=ledger, receiver=receiver)
    if json:
        print_json({"folder": str(output), **pview.facts})
    else:
        _show(pview, output)


def _show(pview: PView, output: Path) -> None:
    spending, certificate = pview.spending, pview.certificate
    say("[b]{}[/], by the method {}", certificate.requirements[0], certificate.method)
    rows = [
        [what, f"{float(part * spending.whole):.4g}", f"{float(part):.1%}"]
        for what, part in spending.parts(MAX_SHARES_SHOWN).items()
    ]
    print_table("Where the budget went", ["for", spending.unit, "share"], rows)
    total = f"{pview.total:,.0f}"
    say("To hand over: [b]{}[/], all of it. About {} records.", output / HAND_OVER, total)
    say("For analysts, to look at: [b]{}[/].", output / HAND_OVER / PAGE)
    say("For you, since it shows the original: [b]{}[/]. Keep it.", output / KEEP / REPORT)
    say('Ask it: [b]sudare query {} "SELECT COUNT(*) FROM view"[/]', output)
