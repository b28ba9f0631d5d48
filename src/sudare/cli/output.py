"""What people see: tables on a terminal, JSON for machines, and errors in red."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.markup import escape
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.table import Table

from sudare.errors import SudareError

console = Console()
errors = Console(stderr=True)

Json = Annotated[bool, typer.Option("--json", help="Print JSON, for machines.")]
Force = Annotated[bool, typer.Option("--force", help="Replace what is there.")]


def complain(error: SudareError) -> None:
    """Print an error for a person."""
    errors.print(f"[bold red]Error:[/] {escape(str(error))}", soft_wrap=True, highlight=False)


def print_json(data: Any) -> None:
    """Print plain data for a machine."""
    typer.echo(json.dumps(data, ensure_ascii=False, indent=2))


def print_table(title: str, headers: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    """Print a table; numbers stand to the right."""
    table = Table(title=title, title_justify="left", title_style="bold", header_style="dim")
    for i, header in enumerate(headers):
        numbers = all(isinstance(row[i], int | float) for row in rows)
        table.add_column(header, justify="right" if numbers else "left")
    for row in rows:
        table.add_row(*(f"{cell:,}" if isinstance(cell, int) else escape(str(cell)) for cell in row))
    console.print(table)


def say(text: str) -> None:
    """Print a line; [b]...[/] marks what matters."""
    console.print(text, highlight=False, soft_wrap=True)


@contextmanager
def working(text: str) -> Iterator[Progress]:
    """Show that something is under way, with the time it takes; only on a terminal."""
    columns = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    with Progress(*columns, console=errors, transient=True, disable=not errors.is_terminal) as progress:
        progress.add_task(text)
        yield progress
