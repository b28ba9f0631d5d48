"""`sudare evidence`: what a board or an office files of a release."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sudare.cli.output import Json, print_json, say, working
from sudare.ledger.ledger import Ledger
from sudare.verbs.evidence import evidence as write_evidence


def evidence(
    folder: Annotated[
        Path, typer.Argument(help="The folder that a release was written to.", show_default=False)
    ],
    by: Annotated[
        str, typer.Option(help="Who prepares it: a name, an office.", metavar="NAME", show_default=False)
    ],
    ledger: Annotated[
        Path | None, typer.Option(help="The ledger that the release was recorded in.", metavar="FILE")
    ] = None,
    pdf: Annotated[
        bool, typer.Option("--pdf", help="Also print it as PDF, with the Chromium or Chrome that is here.")
    ] = False,
    json: Json = False,
) -> None:
    """Write what an ethics board or an office can file of a release: what was done, and which risks are left."""
    book = None if ledger is None else Ledger(ledger, create=False)
    with working(f"Verifying {folder}"):
        path = write_evidence(folder, by=by, ledger=book, pdf=pdf)
    written = {"evidence": str(path)} | ({"pdf": str(path.with_suffix(".pdf"))} if pdf else {})
    if json:
        print_json(written)
        return
    say("The evidence, for you and for who judges the release: [b]{}[/]", written["evidence"])
    if pdf:
        say("As PDF: [b]{}[/]", written["pdf"])
    else:
        say("To file it as PDF, print it from a browser.")
