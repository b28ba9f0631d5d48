"""Recounting units whose published rows say which of them belong together: how many have the same composition.

Written anew from the definition: the composition of a unit is the quasi values of all its rows, each as often as they occur, as a
receiver can tell them apart. What is asked of sensitive values must hold among all rows with one label in units of one
composition: so many places a person may have who is known with the whole unit.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sudare.errors import RequirementError
from sudare.privacy.k_anonymity import KAnonymity
from sudare.privacy.promises import Promise
from sudare.privacy.requirement import all_sensitive_in
from sudare.tables.attribute import UNITS, Attribute, Role
from sudare.tables.exact import exact
from sudare.tables.runs import PublishedRows, Runs
from sudare.tables.schema import Schema
from sudare.verification.files import PublishedTable
from sudare.verification.finders import find_in_blocks
from sudare.verification.findings import Finding

COMPOSITION = "composition"


def linked_unit(schema: Schema, columns: Sequence[str]) -> str | None:
    """Return the published column that says which rows belong together; None if there is none."""
    return next((name for name in columns if name in schema and schema[name].role in UNITS), None)


def fewest_alike(rows: pl.DataFrame, schema: Schema, unit: str) -> int:
    """Return how many units the rarest composition has."""
    return int(_compositions(rows, schema.names(Role.quasi), unit)[1].min())


def find_in_compositions(
    table: PublishedTable, asked: Sequence[Promise], schema: Schema, unit: str
) -> list[Finding]:
    """Say what an output has of each requirement, of units that are published as such."""
    rows, quasi = table.rows.frame(), schema.names(Role.quasi)
    if rows[unit].null_count():
        raise RequirementError(
            f"{table.where}: the column '{unit}' does not say of every row to whom it belongs."
        )
    composition, units = _compositions(rows, quasi, unit)
    name = _column(rows)
    others, own = _beside(rows, composition, schema, unit)
    _refuse_certain(rows, composition, units, asked, schema, unit)
    found = find_in_blocks(PublishedTable(table.where, Runs.of(others), table.from_csv), asked, own)
    worst = rows.row(int(np.flatnonzero(composition == units.argmin())[0]), named=True)
    k, where = int(units.min()), {one: worst[one] if worst[one] is None else str(worst[one]) for one in quasi}
    return [
        Finding(str(one), "k", k, k >= one.k, where)
        if isinstance(one, KAnonymity)
        else replace(finding, worst={key: own for key, own in finding.worst.items() if key != name})
        for one, finding in zip(asked, found, strict=True)
    ]


def told_apart(rows: PublishedRows, schema: Schema) -> tuple[PublishedRows, Schema]:
    """Return rows with whatever outsiders can tell them apart by: where they say which belong together, also the composition of their unit."""
    unit = linked_unit(schema, rows.columns)
    if unit is None or not schema.names(Role.quasi):
        return rows, schema
    frame = rows.frame()
    composition, _ = _compositions(frame, schema.names(Role.quasi), unit)
    others, own = _beside(frame, composition, schema, unit)
    return Runs.of(others), own


def _column(rows: pl.DataFrame) -> str:
    return COMPOSITION + "".join(rows.columns)  # no column is called so


def _beside(
    rows: pl.DataFrame, composition: NDArray[np.int64], schema: Schema, unit: str
) -> tuple[pl.DataFrame, Schema]:
    """Put the composition in the place of the number of each row's unit, as one more quasi attribute."""
    name = _column(rows)
    attributes = {**schema.attributes, name: Attribute(role=Role.quasi)}
    return rows.drop(unit).with_columns(pl.Series(name, composition)), schema.model_copy(
        update={"attributes": attributes}
    )


def _refuse_certain(
    rows: pl.DataFrame,
    composition: NDArray[np.int64],
    units: NDArray[np.int64],
    asked: Sequence[Promise],
    schema: Schema,
    unit: str,
) -> None:
    """Raise a RequirementError where all persons of a composition have one value in some row: it is certain of each of them."""
    if schema[unit].role != Role.person:
        return  # a value is somebody's in a household, and not the household's
    sensitive = all_sensitive_in(asked, schema)
    for name in sensitive:
        pairs = pl.DataFrame(
            {"composition": composition, "unit": exact(rows[unit]), "value": exact(rows[name])}
        ).unique()
        having = pairs.group_by("composition", "value").len()
        if (having["len"].to_numpy() == units[having["composition"].to_numpy()]).any():
            raise RequirementError(
                f"All {schema[unit].role}s of one composition have one value of '{name}' among their rows: it is certain of each. Nothing is released."
            )


def _compositions(
    rows: pl.DataFrame, quasi: Sequence[str], unit: str
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the composition of each row's unit, and how many units have each composition."""
    keys = [str(i) for i in range(len(quasi))]
    coded = pl.DataFrame(
        [
            pl.int_range(rows.height, eager=True).alias("row"),
            *(exact(rows[name]).alias(key) for name, key in zip(quasi, keys, strict=True)),
        ]
    )
    label = coded.select(pl.min("row").over(keys)).to_series() if keys else coded["row"] * 0
    unit_of = exact(rows[unit])
    members: dict[object, list[int]] = {}
    for own, one in zip(unit_of.to_list(), label.to_list(), strict=True):
        members.setdefault(own, []).append(one)
    numbers: dict[tuple[int, ...], int] = {}
    of_unit = {own: numbers.setdefault(tuple(sorted(every)), len(numbers)) for own, every in members.items()}
    units = np.bincount(list(of_unit.values()))
    return np.array([of_unit[own] for own in unit_of.to_list()]), units
