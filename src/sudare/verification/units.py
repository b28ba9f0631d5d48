"""Recounting units of protection: how many persons or households a published block has, and how they spread over values.

Where published rows carry no number of their unit, only the holder can recount: beside the unit of every row, which is
not handed over. What is recounted is what is published: the rows without that column must be those of the output.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import polars as pl

from sudare.errors import RequirementError
from sudare.privacy.k_anonymity import KAnonymity
from sudare.privacy.promises import Promise
from sudare.privacy.requirement import all_sensitive_in
from sudare.tables.attribute import Role
from sudare.tables.exact import exact
from sudare.tables.runs import PublishedRows, Runs
from sudare.tables.schema import Schema
from sudare.verification.files import PublishedTable
from sudare.verification.finders import find_in_blocks
from sudare.verification.findings import Finding

MAX_WHOLE = 10**9
"""What a unit weighs at most, in whole numbers: so that rounding shares of it matters to nobody."""


def find_by_unit(
    rows: pl.DataFrame, output: PublishedRows, asked: Sequence[Promise], schema: Schema
) -> list[Finding]:
    """Say what an output has of each requirement, counted by units: `rows` are the same rows with their unit.

    A unit counts as one, and so do its rows together: of n rows each counts as 1/n.
    """
    unit = schema.unit
    assert unit is not None
    _refuse_other_rows(rows.drop(unit), output)
    sizes = rows.select(pl.len().over(exact(rows[unit]).alias("unit"))).to_series().to_numpy()
    every = [int(size) for size in np.unique(sizes)]
    whole = math.lcm(*every) if math.lcm(*every) <= MAX_WHOLE else MAX_WHOLE
    table = PublishedTable("The output", Runs(rows.drop(unit), pl.Series("weight", whole // sizes)))
    found = find_in_blocks(table, asked, schema)
    _refuse_certain(rows, asked, schema)
    return [
        _find_k(one, rows, schema) if isinstance(one, KAnonymity) else finding
        for one, finding in zip(asked, found, strict=True)
    ]


def _refuse_certain(rows: pl.DataFrame, asked: Sequence[Promise], schema: Schema) -> None:
    """Raise a RequirementError where a value of a unit is known by counting: more rows of its block have it than are anybody else's."""
    unit, quasi = schema.unit or "", schema.names(Role.quasi)
    sensitive = all_sensitive_in(asked, schema)
    blocks = [str(i) for i in range(len(quasi))]
    known = pl.DataFrame(
        [pl.repeat(0, rows.height, eager=True).alias("all")]
        + [exact(rows[name]).alias(key) for name, key in zip(quasi, blocks, strict=True)]
    )
    blocks = ["all", *blocks]
    for name in sensitive:
        keys = known.with_columns(exact(rows[unit]).alias("unit"), exact(rows[name]).alias("value"))
        every = keys.group_by(blocks).len("rows")
        for own in ("unit", "value"):
            largest = keys.group_by(*blocks, own).len("rows").group_by(blocks).agg(pl.max("rows").alias(own))
            every = every.join(largest, on=blocks, nulls_equal=True)
        if (every["unit"] + every["value"] > every["rows"]).any():
            raise RequirementError(
                f"In a block, more rows have one value of '{name}' than are of others than one {schema[unit].role}: it is certain of that one. "
                "Nothing is released."
            )


def _refuse_other_rows(rows: pl.DataFrame, output: PublishedRows) -> None:
    """Raise a RequirementError if these are not the rows that are published, whatever their order."""
    published = output.frame()
    if rows.columns != published.columns or not _counted(rows).equals(_counted(published)):
        raise RequirementError(
            "The rows whose persons or households were counted are not those of the output. Nothing is released."
        )


def _counted(rows: pl.DataFrame) -> pl.DataFrame:
    keys = pl.DataFrame([exact(column).alias(str(i)) for i, column in enumerate(rows.iter_columns())])
    return keys.group_by(keys.columns).len().sort(keys.columns, nulls_last=True)


def fewest_units(rows: pl.DataFrame, schema: Schema) -> int:
    """Return how many units the block has that has fewest; `rows` are published or original ones with their unit.

    >>> rows = pl.DataFrame({"pid": [1, 1, 2], "age": [30, 30, 30]})
    >>> fewest_units(rows, Schema.from_roles(person="pid", quasi=["age"]))
    2
    """
    return _fewest(rows, schema)[0]


def _find_k(requirement: KAnonymity, rows: pl.DataFrame, schema: Schema) -> Finding:
    """Find the block with the fewest units."""
    units, row = _fewest(rows, schema)
    quasi = schema.names(Role.quasi)
    worst = {name: None if rows[name][row] is None else str(rows[name][row]) for name in quasi}
    return Finding(str(requirement), "k", units, units >= requirement.k, worst)


def _fewest(rows: pl.DataFrame, schema: Schema) -> tuple[int, int]:
    """Return how many units the block has that has fewest, and one of its rows."""
    quasi = schema.names(Role.quasi)
    keys = [str(i) for i in range(len(quasi))]
    coded = pl.DataFrame(
        [
            pl.repeat(0, rows.height, eager=True).alias("all"),
            pl.int_range(rows.height, eager=True).alias("row"),
            *(exact(rows[name]).alias(key) for name, key in zip(quasi, keys, strict=True)),
            exact(rows[schema.unit or ""]).alias("unit"),
        ]
    )
    blocks = coded.group_by("all", *keys).agg(pl.n_unique("unit").alias("units"), pl.min("row"))
    units, row = blocks.sort("units", "row").select("units", "row").row(0)
    return int(units), int(row)
