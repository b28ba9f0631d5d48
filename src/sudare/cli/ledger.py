"""`sudare ledger`: what was released."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from sudare.cli.output import Json, print_json, print_table, say
from sudare.release.ledger import Ledger

app = typer.Typer(help="Show and verify the ledger of releases.", no_args_is_help=True)
LedgerPath = Annotated[Path, typer.Argument(help="The ledger file.", show_default=False)]


@app.command()
def show(ledger: LedgerPath, json: Json = False) -> None:
    """List what was released."""
    entries = Ledger(ledger, create=False).entries()
    if json:
        print_json([asdict(entry) for entry in entries])
        return
    rows = [
        [
            entry.seq,
            entry.at[:19].replace("T", " "),
            entry.body.get("folder", entry.kind),
            " and ".join(entry.body.get("certificate", {}).get("requirements", [])),
            entry.hash[:12],
        ]
        for entry in entries
    ]
    print_table(f"{ledger}: {len(entries)} entries", ["", "when (UTC)", "release", "promised", "hash"], rows)


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
    say(f"[green]The ledger is whole.[/] Its head is [b]{book.head()}[/]")
    say("Note the head elsewhere: with --head it shows later that nothing was cut off the end.")
