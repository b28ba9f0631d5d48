"""What people see: tables on a terminal, JSON for machines, and errors in red."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.markup import escape
from rich.progress import Progress
from rich.table import Table

from sudare.errors import SudareError
from sudare.progress import heard_by
from sudare.progress_shown import Bars, bars_on, lines_on

console = Console(emoji=False)
errors = Console(stderr=True, emoji=False)

Json = Annotated[bool, typer.Option("--json", help="Print JSON, for machines.")]
Csv = Annotated[
    bool | None,
    typer.Option("--csv", help="Write a CSV file also of a table that stands in several Parquet files."),
]
Formats = Annotated[
    list[str] | None,
    typer.Option(
        "--format",
        help="Write a copy in this format, too: xlsx, ods, dta (Stata), sav (SPSS) or json. Give several one by one.",
        metavar="FORMAT",
    ),
]
Force = Annotated[bool, typer.Option("--force", help="Replace what is there.")]


def printable(value: object) -> str:
    """Write a value so that a terminal only shows it: nothing in it moves the cursor, hides or rewrites anything.

    Line breaks stay; other control and format characters are written as their codes.

    >>> print(printable("harmless\x1b[2J"))
    harmless\\x1b[2J
    """
    return "".join(s if _shows(s) else s.encode("unicode_escape").decode() for s in str(value))


def _shows(sign: str) -> bool:
    """Tell what a terminal shows from what it obeys: control and format characters, lone halves of pairs."""
    return sign == "\n" or sign.isprintable() or unicodedata.category(sign) == "Zs"


def escaped(value: object) -> str:
    """Write a value so that it is shown as it is, and neither the terminal nor rich takes any of it for an order."""
    return escape(printable(value))


def complain(error: SudareError) -> None:
    """Print an error for a person."""
    errors.print(f"[bold red]Error:[/] {escaped(error)}", soft_wrap=True, highlight=False)


def note(text: str) -> None:
    """Print a line beside the output, for a person."""
    errors.print(f"Note: {escaped(text)}.", soft_wrap=True, highlight=False)


def print_json(data: Any) -> None:
    """Print plain data for a machine."""
    typer.echo(_inert(json.dumps(data, ensure_ascii=False, indent=2)))


def _inert(text: str) -> str:
    """Write the signs that JSON leaves alone and a terminal does not, in JSON's own way."""
    return "".join(sign if _shows(sign) else json.dumps(sign)[1:-1] for sign in text)


def print_table(title: str, headers: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    """Print a table; numbers stand to the right."""
    say("[b]{}[/]", title)  # in one line, however narrow the table is
    table = Table(header_style="dim")
    for i, header in enumerate(headers):
        numbers = all(isinstance(row[i], int | float) for row in rows)
        table.add_column(escaped(header), justify="right" if numbers else "left")
    for row in rows:
        table.add_row(*(f"{cell:,}" if isinstance(cell, int) else escaped(cell) for cell in row))
    console.print(table)


def say(template: str, *values: object) -> None:
    """Print a line. The template is ours: [b]...[/] marks what matters, and each {} takes a value, shown as it is.

    Whatever comes from a file, a table or a user is given as a value, never as a part of the template.
    """
    console.print(template.format(*map(escaped, values)), highlight=False, soft_wrap=True)


@contextmanager
def working(text: str) -> Iterator[Progress]:
    """Show that something is under way, how far it is, and the time it takes; in a log, only if it takes long."""
    bars = bars_on(errors)
    if not errors.is_terminal:
        with heard_by(lines_on(errors)):
            yield bars
        return
    with bars, heard_by(Bars(bars)):
        bars.add_task(printable(text), total=None)
        yield bars
