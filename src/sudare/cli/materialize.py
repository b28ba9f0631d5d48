"""`sudare materialize`: a p-view, the differentially private stand-in that answers any range count."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Annotated, Literal, NamedTuple

import typer

from sudare.cli.arguments import (
    SCHEMA_FILE,
    LedgerFile,
    Receiver,
    SchemaPath,
    Source,
    opened,
    schema_of,
)
from sudare.cli.output import Force, Json, print_json, print_table, say, working
from sudare.engines.read import read
from sudare.errors import InputError
from sudare.privacy.differential_privacy import DifferentialPrivacy
from sudare.pview.files import DATA
from sudare.pview.pview import PView
from sudare.reports.pview import write_pview_report
from sudare.reports.pview_page import write_pview_page
from sudare.reports.pview_promise import budget_shares
from sudare.tables.atomic import refuse_unwritable, refuse_unwritable_file, write_file
from sudare.tables.databases import safe_name
from sudare.verbs.materialize import materialize as materialize_table


def materialize(
    source: Source,
    output: Annotated[Path, typer.Argument(help="The folder to write; it must be new.", show_default=False)],
    epsilon: Annotated[
        float, typer.Option(help="The epsilon of the whole p-view, whatever is asked of it later.", min=0)
    ],
    delta: Annotated[
        float, typer.Option(help="A small delta, such as 1e-9, allows Gaussian noise.", min=0)
    ] = 0.0,
    method: Annotated[
        Literal["pairs", "dp-mondrian", "independent", "identity", "dawa"],
        typer.Option(help="How it is made; the others are there to compare."),
    ] = "pairs",
    theta: Annotated[
        float | None, typer.Option(help="dp-mondrian: at which error a block is even enough.")
    ] = None,
    tree_share: Annotated[
        float | None, typer.Option(help="dp-mondrian: the share of the budget that finds the blocks.")
    ] = None,
    beta: Annotated[float | None, typer.Option(help="dp-mondrian: how deep blocks are cut.")] = None,
    gamma: Annotated[
        float | None, typer.Option(help="dp-mondrian: the share of its tests in what finds the blocks.")
    ] = None,
    schema: SchemaPath = Path(SCHEMA_FILE),
    ledger: LedgerFile = None,
    receiver: Receiver = None,
    report: Annotated[
        Path | None,
        typer.Option(
            help="Where the report goes. It shows the original: keep it.",
            show_default="OUTPUT-report.html",
            metavar="FILE",
        ),
    ] = None,
    unsafe_seed: Annotated[
        int | None,
        typer.Option(help="For tests and papers only: who knows the seed can undo it. The p-view shows it."),
    ] = None,
    force: Force = False,
    json: Json = False,
) -> None:
    """Make a p-view of a table: a differentially private stand-in that answers any range count."""
    parameters = {"theta": theta, "tree_share": tree_share, "beta": beta, "gamma": gamma}
    pages = _Pages(report or _beside(output, "report"), _beside(output, "page"))
    _refuse(output, pages, force=force)
    declared = schema_of(schema)
    book = opened(ledger, receiver)
    with working(f"Reading {safe_name(source)}"):
        table = read(source, declared)
    with working("Counting with noise"):
        view = materialize_table(
            table,
            DifferentialPrivacy(epsilon, delta),
            method,
            ledger=book,
            receiver=receiver,
            unsafe_seed=unsafe_seed,
            **{name: value for name, value in parameters.items() if value is not None},
        )
        view.save(output, force=force)
    with working("Drawing what it says, and how near that is"):
        write_file(pages.analysts, write_pview_page(view))
        write_file(pages.report, write_pview_report(table, view), private=True)
    if json:
        paths = {"folder": output, "page": pages.analysts, "report": pages.report}
        print_json({**{what: str(path) for what, path in paths.items()}, **view.facts})
        return
    _show(view, output, pages)


class _Pages(NamedTuple):
    """Where the pages go: beside the folder, which is handed over whole."""

    report: Path
    analysts: Path


def _beside(output: Path, what: str) -> Path:
    return Path(f"{output}-{what}.html")


def _refuse(output: Path, pages: _Pages, *, force: bool) -> None:
    """Refuse before the budget is spent what would fail after it, or give the original away."""
    if pages.report.resolve().is_relative_to(output.resolve()):
        raise InputError(
            f"{pages.report} would lie in {output}, which is handed over whole; the report shows the original. "
            "Name a file elsewhere."
        )
    if pages.report.resolve() == pages.analysts.resolve():
        raise InputError(
            f"{pages.report} is where the analysts' page goes. Name another file for the report."
        )
    refuse_unwritable(output, force=force, mark=DATA)
    for page in pages:
        if page.exists() and not force:
            raise InputError(f"{page} exists already. Use --force to replace it, or name another.")
    if pages.report.parent.resolve() != output.parent.resolve():  # which is made if there is none
        refuse_unwritable_file(pages.report)


def _show(view: PView, output: Path, pages: _Pages) -> None:
    budget, certificate = view.facts["budget"], view.facts["certificate"]
    say("[b]{}[/], by the method {}", certificate["requirements"][0], certificate["method"])
    whole = Fraction(budget["whole"])
    rows = [
        [what, f"{float(part * whole):.4g}", f"{float(part):.1%}"]
        for what, part in budget_shares(budget).items()
    ]
    print_table("Where the budget went", ["for", budget["unit"], "share"], rows)
    total = f"{view.total:,.0f}"
    say("Written to [b]{}[/]: all of it may be handed over. About {} records.", output, total)
    say("For analysts, to look at: [b]{}[/].", pages.analysts)
    say("For you, since it shows the original: [b]{}[/]. Keep it.", pages.report)
    say('Ask it: [b]sudare query {} "SELECT COUNT(*) FROM view"[/]', output)
