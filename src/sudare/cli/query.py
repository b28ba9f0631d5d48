"""`sudare query`: ask a p-view, in SQL."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import polars as pl
import typer

from sudare.cli.output import Json, print_json, print_table, say, working
from sudare.pview.pview import PView
from sudare.pview.questions import ask
from sudare.tables.text import text_of

MAX_ROWS_SHOWN = 100  # rows on a terminal


def query(
    folder: Annotated[Path, typer.Argument(help="The folder of a saved p-view.", show_default=False)],
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
    """Count with a p-view, with 95% intervals. It costs no budget, however often you ask."""
    from sudare.pview.sql import question_of  # sqlglot takes long to load

    with working(f"Asking {folder}"):
        pview = PView.open(folder)
        asked = question_of(question, pview.domain)
        answers = ask(pview, asked)
    if json:
        print_json([{name: _plain(value) for name, value in row.items()} for row in answers.rows(named=True)])
    else:
        _show(answers, asked.count)


def _plain(value: Any) -> Any:
    return value if value is None or isinstance(value, str | int | float) else text_of(value)


def _show(answers: pl.DataFrame, count: str) -> None:
    names = answers.columns[:-2]
    rows = [
        [
            *(
                round(row[name]) if name == count else "" if row[name] is None else text_of(row[name])
                for name in names
            ),
            f"{row['count_low']:,.0f} to {row['count_high']:,.0f}",
        ]
        for row in answers.head(MAX_ROWS_SHOWN).rows(named=True)
    ]
    print_table("", [*names, "95% interval"], rows)
    if answers.height > MAX_ROWS_SHOWN:
        say("{} more: use --json, or LIMIT.", f"{answers.height - MAX_ROWS_SHOWN:,}")
