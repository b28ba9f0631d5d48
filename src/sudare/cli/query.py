"""`sudare query`: ask a differentially private view, in SQL."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import polars as pl
import typer

from sudare.cli.output import Json, print_json, print_table, say, working
from sudare.pview.pview import PView
from sudare.pview.questions import ask
from sudare.tables.text import text_of

MOST = 100  # rows on a terminal


def query(
    folder: Annotated[Path, typer.Argument(help="The folder of a saved view.", show_default=False)],
    question: Annotated[
        str,
        typer.Argument(
            help="Such as: SELECT sex, COUNT(*) FROM view WHERE age BETWEEN 20 AND 39 GROUP BY sex.",
            metavar="SQL",
            show_default=False,
        ),
    ],
    json: Json = False,
) -> None:
    """Count with a differentially private view, with 95% intervals. It costs no budget, however often you ask."""
    from sudare.pview.sql import question_of  # sqlglot takes long to load

    with working(f"Asking {folder}"):
        view = PView.open(folder)
        asked = question_of(question, view.domain)
        found = ask(view, asked)
    if json:
        print_json([{name: _plain(value) for name, value in row.items()} for row in found.rows(named=True)])
    else:
        _show(found, asked.count)


def _plain(value: Any) -> Any:
    return value if value is None or isinstance(value, str | int | float) else text_of(value)


def _show(found: pl.DataFrame, count: str) -> None:
    names = found.columns[:-2]
    rows = [
        [
            *(
                round(row[name]) if name == count else "" if row[name] is None else text_of(row[name])
                for name in names
            ),
            f"{row['count_low']:,.0f} to {row['count_high']:,.0f}",
        ]
        for row in found.head(MOST).rows(named=True)
    ]
    print_table("", [*names, "95% interval"], rows)
    if found.height > MOST:
        say("{} more: use --json, or LIMIT.", f"{found.height - MOST:,}")
