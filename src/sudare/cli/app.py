"""The command `sudare`: its commands, and how their errors reach a person."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from sudare import __version__
from sudare.cli import (
    assess,
    attack,
    check,
    count,
    demo,
    generalize,
    init,
    ledger,
    materialize,
    publish,
    query,
    randomize,
    reconstruct,
    verify,
    views,
)
from sudare.cli.output import complain
from sudare.errors import SudareError

app = typer.Typer(
    name="sudare",
    help="Publish tables about people without giving the people away.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
)
for module in (
    init,
    check,
    count,
    assess,
    generalize,
    views,
    randomize,
    reconstruct,
    publish,
    materialize,
    query,
    verify,
    attack,
):
    app.command()(getattr(module, module.__name__.rsplit(".", 1)[1]))
app.command()(demo.demo)
app.add_typer(ledger.app, name="ledger")


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"sudare {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None: ...


def main() -> None:
    """Run the command line: 0 done, 1 a requirement does not hold, 2 bad input."""
    try:
        app()
    except SudareError as error:
        complain(error)
        sys.exit(error.exit_code)
