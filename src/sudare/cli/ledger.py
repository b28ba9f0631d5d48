"""`sudare ledger`: what was released."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from sudare.cli.output import Json, print_json, print_table, say
from sudare.errors import InputError
from sudare.ledger.budgets import KINDS, Budget, schedule_of
from sudare.ledger.chain import Entry
from sudare.ledger.entries import BudgetBody, Neighbours
from sudare.ledger.history import releases_in
from sudare.ledger.ledger import Ledger
from sudare.ledger.measurements import measured_at
from sudare.ledger.schedule import Schedule

app = typer.Typer(
    help="Show and verify the ledger of releases, and what it allows.",
    no_args_is_help=True,
    add_completion=False,
)
LedgerPath = Annotated[Path, typer.Argument(help="The ledger file.", show_default=False)]
BudgetSource = Annotated[
    str, typer.Argument(help="The table: the schema's source, or else its file.", show_default=False)
]


@app.command()
def show(ledger: LedgerPath, json: Json = False) -> None:
    """List what was released."""
    entries = Ledger(ledger, create=False).entries()
    if json:
        print_json([asdict(entry) for entry in entries])
        return
    known = measured_at(releases_in(entries))
    rows = [
        [
            entry.seq,
            entry.at[:19].replace("T", " "),
            *_description(entry, known.get(entry.seq)),
            entry.hash[:12],
        ]
        for entry in entries
    ]
    columns = ["", "when (UTC)", "what", "receiver", "promised", "hash"]
    print_table(f"{ledger}: {len(entries):,} {'entry' if len(entries) == 1 else 'entries'}", columns, rows)
    if known:
        say(
            "A p-view has an entry where it is charged, before anything is measured, and another one each time that its files are written: that is "
            "the same noise, and is charged once."
        )


def _description(entry: Entry, known_from: int | None) -> list[str]:
    """Say what an entry is, who got it, and what it promised; of a p-view that is known from an earlier entry, from which."""
    body = entry.body
    if entry.kind == "apart":
        return ["not combined", " and ".join(body["receivers"]), ""]
    if entry.kind == "budget":
        whole = f"epsilon {body['epsilon']}, delta {body['delta']}, {KINDS[body['neighbours']]}"
        if schedule := schedule_of(BudgetBody.model_validate(body)):
            whole += f", in {schedule}"
        return [f"budget of {body['source']}", "", whole]
    if entry.kind == "period":
        return [f"next period of {body['source']}", "", ""]
    if body["certificate_sha256"] is None:
        what = "a p-view, charged"
    else:
        what = body["folder"] if known_from is None else f"{body['folder']}, the p-view of {known_from}"
    return [
        what,
        body["receiver"] or "anybody",
        " and ".join(body["certificate"]["requirements"]),
    ]


@app.command()
def budget(
    ledger: LedgerPath,
    source: BudgetSource,
    epsilon: Annotated[
        str | None, typer.Option(help="Set the budget: the epsilon of all noisy releases together.")
    ] = None,
    delta: Annotated[str | None, typer.Option(help="Their delta together.", show_default="0")] = None,
    neighbours: Annotated[
        Neighbours | None,
        typer.Option(
            help="What is counted: one record replaced, or one added or removed.", show_default="replace"
        ),
    ] = None,
    periods: Annotated[
        int | None, typer.Option(help="Deal it out evenly over so many periods.", metavar="N")
    ] = None,
    decay: Annotated[
        str | None,
        typer.Option(
            help="Deal it out over periods without end, each with this part of the share before, such as 1/2."
        ),
    ] = None,
    receiver: Annotated[str | None, typer.Option(help="For whom; without one, for anybody.")] = None,
    json: Json = False,
) -> None:
    """Show what a table may still spend, or set how much it has in all."""
    if epsilon is None and any(part is not None for part in (delta, neighbours, periods, decay)):
        raise InputError(
            "--delta, --neighbours, --periods and --decay are parts of a budget. Give --epsilon too."
        )
    schedule = None if periods is None and decay is None else Schedule(periods, decay)
    book = Ledger(ledger, create=epsilon is not None)
    if epsilon is not None:
        book.set_budget(source, epsilon, delta or "0", neighbours or "replace", schedule=schedule)
    left = book.budget(source, receiver)
    if left is None:
        raise InputError(f"{ledger}: no budget was set for '{source}'. Set one with --epsilon.")
    _show_budget(left, json=json)


@app.command()
def period(ledger: LedgerPath, source: BudgetSource, json: Json = False) -> None:
    """Begin the next period of a table's budget; what the one before left unspent lapses."""
    book = Ledger(ledger, create=False)
    book.begin_period(source)
    left = book.budget(source)
    assert left is not None  # or no period could have begun
    _show_budget(left, json=json)


def _show_budget(left: Budget, *, json: bool) -> None:
    if json:
        names = ("epsilon", "spent", "remaining", "delta", "spent_delta", "remaining_delta")
        numbers = {name: float(getattr(left, name)) for name in names}
        print_json({"source": left.source, "neighbours": left.neighbours, "period": left.period, **numbers})
        return
    say("{}", left)


@app.command()
def apart(
    ledger: LedgerPath,
    receivers: Annotated[
        list[str], typer.Argument(help="Receivers who do not combine what they get.", show_default=False)
    ],
) -> None:
    """Declare that some receivers do not put together what they get."""
    Ledger(ledger).declare_apart(receivers)
    say("Recorded: {} do not combine what they get.", " and ".join(receivers))


@app.command()
def verify(
    ledger: LedgerPath,
    head: Annotated[str | None, typer.Option(help="A head noted earlier, which must still be there.")] = None,
    json: Json = False,
) -> None:
    """Check that nothing in the ledger was changed, moved or removed."""
    book = Ledger(ledger, create=False)
    book.verify(head)
    if json:
        print_json({"whole": True, "head": book.head()})
        return
    say("[green]The ledger is whole.[/] Its head is [b]{}[/]", book.head())
    say("Note the head elsewhere: with --head it shows later that nothing was cut off the end.")
