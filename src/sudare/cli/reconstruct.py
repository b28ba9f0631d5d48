"""`sudare reconstruct`: estimate from a randomized table what the original was."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import polars as pl
import typer

from sudare.cli.output import Json, print_json, print_table, say, working
from sudare.errors import InputError
from sudare.randomization.estimate import Estimate, Method
from sudare.tables.file_rows import data_in
from sudare.tables.folders import handed_over
from sudare.tables.numbers import numbers_of
from sudare.tables.text import shown, text_of
from sudare.verbs.reconstruct import reconstruct as reconstruct_table

MAX_ROWS_SHOWN = 100  # rows on a terminal


def reconstruct(
    folder: Annotated[Path, typer.Argument(help="The folder of a randomized release.", show_default=False)],
    attributes: Annotated[
        list[str] | None,
        typer.Argument(
            help="One attribute, or several together; or the name of a joint law.", show_default=False
        ),
    ] = None,
    method: Annotated[
        Method, typer.Option(help="ml: the most likely counts; unbiased: right on average, may be below 0.")
    ] = "ml",
    where: Annotated[
        list[str] | None,
        typer.Option(
            help="Only count records like this: sex=Female, age=30..39. Several must all hold; of one attribute, any.",
            metavar="NAME=VALUE",
        ),
    ] = None,
    json: Json = False,
) -> None:
    """Estimate how many records of the original had which values, with 95% intervals."""
    asked = _conditions(where or [])
    names = list(dict.fromkeys([*(attributes or []), *asked]))
    with working(f"Reconstructing {folder}"):
        estimate = reconstruct_table(folder, names, method=method)
        types = data_in(handed_over(folder)).schema
        numeric = {a.name for a in estimate.attributes if a.numeric}
        if asked:
            conditions = {
                name: _range(name, texts, types[name]) if name in numeric else texts
                for name, texts in asked.items()
            }
            answer = estimate.count(**conditions)
    if asked and json:
        print_json({"where": asked, "method": method, **asdict(answer)})
    elif asked:
        said = " and ".join(f"{name}={' or '.join(texts)}" for name, texts in asked.items())
        say("{}: [b]{}[/]", said, answer)
    elif json:
        print_json(
            {
                "attributes": [a.name for a in estimate.attributes],
                "method": method,
                "counts": _rows(estimate, types),
            }
        )
    else:
        _show(estimate, _rows(estimate, types))


def _conditions(where: Sequence[str]) -> dict[str, list[str]]:
    texts: dict[str, list[str]] = {}
    for text in where:
        name, sign, value = text.partition("=")
        if not (name and sign and value):
            raise InputError(f"--where must be like sex=Female or age=30..39. Got '{text}' instead.")
        texts.setdefault(name, []).append(value)
    return texts


def _range(name: str, texts: list[str], dtype: pl.DataType) -> tuple[float, float]:
    if len(texts) > 1:
        raise InputError(f"--where speaks of '{name}' twice. Give one range, such as {name}=30..39.")
    low, sign, high = texts[0].partition("..")
    return _number(name, low, dtype), _number(name, high if sign else low, dtype)


def _number(name: str, text: str, dtype: pl.DataType) -> float:
    """Read a number, or a date or time as the days or seconds since 1970 that it stands for."""
    given = pl.Series([text.strip()])
    try:
        if dtype.is_temporal():
            return float(numbers_of(given.str.strptime(dtype))[0])  # type: ignore[arg-type]
        return float(text)
    except (ValueError, pl.exceptions.PolarsError):
        form = "a date such as 2025-03-31" if dtype.is_temporal() else "a number"
        raise InputError(f"--where: {shown(text)} is not {form}, which '{name}' needs.") from None


def _rows(estimate: Estimate, types: pl.Schema) -> list[dict[str, Any]]:
    """Return one row per combination: its values, how often it is published, and its estimate."""
    frame = estimate.frame()
    for attribute in estimate.attributes:
        if attribute.numeric:
            frame = frame.with_columns(_typed(frame[attribute.name], types[attribute.name]))
    frame = frame.with_columns(published=pl.Series(estimate.published.ravel()).cast(pl.Int64))
    names = [a.name for a in estimate.attributes]
    numbers = frame.select("published", "estimate", "stderr", "low", "high").rows(named=True)
    values = frame.select(names).rows(named=True)
    return [
        {name: text_of(v) if types[name].is_temporal() else v for name, v in value.items()} | number
        for value, number in zip(values, numbers, strict=True)
    ]


def _typed(numbers: pl.Series, dtype: pl.DataType) -> pl.Series:
    """Return numbers as the column that is published has them: whole, or as dates and times."""
    if dtype.is_integer() or dtype == pl.Date:
        return numbers.round().cast(pl.Int64).cast(dtype)
    return (1e6 * numbers).round().cast(pl.Int64).cast(dtype) if dtype.is_temporal() else numbers


def _show(estimate: Estimate, rows: list[dict[str, Any]]) -> None:
    names = [a.name for a in estimate.attributes]
    table = [
        [
            *(str(row[name]) for name in names),
            row["published"],
            round(row["estimate"]),
            f"{row['low']:,.0f} to {row['high']:,.0f}",
        ]
        for row in rows[:MAX_ROWS_SHOWN]
    ]
    title = f"{' and '.join(names)}: estimated counts ({estimate.method})"
    print_table(title, [*names, "published", "estimate", "95% interval"], table)
    if len(rows) > MAX_ROWS_SHOWN:
        say("{} more: use --json, or ask for a count with --where.", f"{len(rows) - MAX_ROWS_SHOWN:,}")
