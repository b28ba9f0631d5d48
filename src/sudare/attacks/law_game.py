"""The Pk game on a randomized table as it lies in a folder: by its published law, and with the original if somebody has it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl

from sudare.attacks.chances import Chances, Codes
from sudare.attacks.matching import MAX_SETS
from sudare.attacks.pk_game import MAX_PERSONS, PkGame, best_pair, pk_game
from sudare.attacks.published import Output, counted, people_of, rows_of
from sudare.attacks.randomized import spread_of, table_law
from sudare.errors import InputError, ParameterError
from sudare.plans.law import GridForm, LawForm, TableLaw
from sudare.plans.polytopes import corners
from sudare.tables.numbers import numbers_of
from sudare.tables.runs import Runs
from sudare.tables.schema import Schema
from sudare.tables.text import listed, shown, text_of


def by_game(
    output: Output,
    schema: Schema | None = None,
    *,
    known: Any = None,
    law: Mapping[str, Any] | None = None,
) -> PkGame:
    """Play the Pk game by the law of a randomized table, which lies beside the output or is given.

    `known` is the original, which the adversary knows. With it, and if the table is small, the result also says how sure the
    best pair of this very output is (`here`). Without it, the published rows stand in for an original: no less is published
    for that, and what is played is a game with a table much like it.

    >>> import sudare as sd
    >>> schema = sd.Schema.from_roles(sensitive=["ill"], domains={"ill": ["yes", "no"]}, missing="refuse")
    >>> people = pl.DataFrame({"ill": ["yes", "no", "no"]})
    >>> release = sd.randomize(sd.read(people, schema), sd.PkAnonymity(1.5), unsafe_seed=2)
    >>> game = by_game(release.frame(), schema, known=people, law=release.plan.to_json())
    >>> round(game.here, 6), round(game.limit, 6)
    (0.666667, 0.666667)
    """
    laws = table_law(output, law)
    drawn = rows_of(output).counted(list(laws.columns()))
    published = _codes(_records(drawn), laws, "The output")
    if known is None:
        people = {name: _within(published[name], form) for name, form in laws.attributes.items()}
    else:
        people = _codes(_people(known, schema, laws), laws, "The original")
    persons = len(next(iter(people.values())))
    limit = 1 / (1 + (persons - 1) * float(np.exp(-spread_of(laws))))
    game = pk_game(people, laws.attributes, limit=limit)
    if known is None or persons != rows_of(output).height:
        return game
    chances = {name: Chances.of(form) for name, form in laws.attributes.items()}
    return replace(game, here=best_pair(people, published, chances, MAX_SETS))


def _people(known: Any, schema: Schema | None, laws: TableLaw) -> pl.DataFrame:
    """Return the columns of an original that laws speak of, as the schema types them."""
    if schema is None:
        raise ParameterError(
            "The pk_game attack needs the schema: it says of what types the original's columns are."
        )
    people = people_of(known, schema)
    if absent := [name for name in laws.columns() if name not in people.columns]:
        raise InputError(
            f"The original has no column '{absent[0]}', of which a law is published. There are {listed(list(people.columns))}."
        )
    return _records(counted(people, list(laws.columns())))


def _records(runs: Runs) -> pl.DataFrame:
    """Return the records that were counted; if there are very many, some of them, any of them alike."""
    lengths = runs.lengths.to_numpy()
    total = int(lengths.sum())
    if not total:
        raise InputError("There are no records to play a game with.")
    chosen = np.arange(total)
    if total > MAX_PERSONS:
        chosen = np.sort(np.random.default_rng(0).choice(total, MAX_PERSONS, replace=False))
    return runs.rows[np.searchsorted(np.cumsum(lengths), chosen, side="right")]


# -- Codes ----------------------------------------------------------------------------------------------------


def _codes(rows: pl.DataFrame, laws: TableLaw, whose: str) -> dict[str, Codes]:
    """Return which value of its law every record has, by law."""
    return {name: _of_law(rows, name, law, whose) for name, law in laws.attributes.items()}


def _of_law(rows: pl.DataFrame, name: str, law: LawForm, whose: str) -> Codes:
    if law.axes is not None:
        along = [_on_grid(rows[column], axis.grid, whose) for column, axis in law.axes.items()]
        return np.ravel_multi_index(tuple(along), tuple(axis.steps + 1 for axis in law.axes.values()))
    if law.grid is not None:
        return _on_grid(rows[name], law.grid, whose)
    columns = law.values_by_column(name)
    places = [
        _in_list(rows[column], own.values, own.missing, whose)
        for column, own in columns.items()
        if own is not None
    ]
    sizes = tuple(len(own.values) for own in columns.values() if own is not None)
    return np.ravel_multi_index(tuple(places), sizes)


def _in_list(column: pl.Series, values: tuple[str, ...], missing: str | None, whose: str) -> Codes:
    place = {text: code for code, text in enumerate(values)}
    found = {}
    for value in column.unique().to_list():
        text = missing if value is None else text_of(value)
        if text not in place:
            raise InputError(
                f"{whose} has {'a missing value' if value is None else shown(text)} in the column '{column.name}', which its "
                f"law does not know. There are {listed(values)}. What was put into bins must be given in them."
            )
        found[value] = place[text]
    codes = column.replace_strict(list(found), list(found.values()), return_dtype=pl.Int64)
    return codes.to_numpy()


def _on_grid(column: pl.Series, grid: GridForm, whose: str) -> Codes:
    known = column.dtype.is_numeric() or column.dtype in (pl.Date, pl.Datetime)
    numbers = numbers_of(column) if known else np.array([np.nan])
    if not np.isfinite(numbers).all():
        raise InputError(
            f"{whose} must have numbers or dates in the column '{column.name}', as its law says, and none missing."
        )
    if not grid.holds(numbers):
        raise InputError(
            f"{whose} has a value outside {grid} in the column '{column.name}', which its law does not know."
        )
    steps = np.rint((grid.along(numbers) - grid.low) / grid.step)
    return np.clip(steps, 0, grid.steps).astype(np.int64)


def _within(codes: Codes, law: LawForm) -> Codes:
    """Move published points that lie outside an area, where nobody is, towards its middle until they are inside."""
    if law.axes is None or law.faces is None:
        return codes
    shape = tuple(axis.steps + 1 for axis in law.axes.values())
    found = np.array(corners(law.faces, law.area_axes()), dtype=np.float64)
    middle, points = found.mean(axis=0), np.stack(np.unravel_index(codes, shape), axis=1).astype(np.float64)
    grids = [axis.grid for axis in law.axes.values()]
    steps, lows = np.array([g.step for g in grids]), np.array([g.low for g in grids])
    part = np.ones(len(points))  # of the way from the middle
    for *slopes, most in law.faces:
        start, way = (middle * steps + lows) @ slopes, ((points - middle) * steps) @ slopes
        with np.errstate(divide="ignore", invalid="ignore"):
            part = np.where(start + way > most, np.minimum(part, (most - start) / way), part)
    inside = np.rint(middle + np.clip(part, 0, 1)[:, None] * (points - middle)).astype(np.int64)
    return np.asarray(np.ravel_multi_index(tuple(inside.T), shape))
