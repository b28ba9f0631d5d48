"""Persons with several rows, and households: they are protected with all their rows; what a verb refuses of them, and what is recounted."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import polars as pl

from sudare.attacks.households import known_to_belong_together
from sudare.engines.rewriting import AnyRewriting
from sudare.errors import InputError, RequirementError
from sudare.privacy.in_population import in_population
from sudare.privacy.k_anonymity import KAnonymity
from sudare.privacy.requirement import BlockRequirement
from sudare.tables.lookalikes import lookalikes
from sudare.tables.runs import PublishedRows
from sudare.tables.schema import Schema
from sudare.tables.table import Table
from sudare.tables.text import listed, spelled
from sudare.verification.findings import Finding, Verification
from sudare.verification.units import find_by_unit

UNSEEN_UNITS = (
    "What is promised is counted in {0}s, each as one, however many rows it has. Which rows are of one {0} is not published: "
    "receivers can recount rows, and what is measured here is what was asked for."
)


def unit_of(table: Table) -> str:
    """Return the column that says which rows are protected together; it must say so of every row."""
    unit = table.schema.unit
    assert unit is not None  # or nobody would ask
    values = table[unit].values
    if table[unit].missing or (values.dtype.is_float() and values.is_nan().any()):
        raise InputError(
            f"{table.source.name}: the {table.schema[unit].role} '{unit}' is missing in some rows, so that nobody knows whose they "
            "are. Fill it in, or leave these rows out."
        )
    return unit


def refuse_alike_units(table: Table) -> None:
    """Refuse a table in which one person or household may be written in two ways: it would be counted, and be hidden among, twice."""
    if table.schema.unit is None:
        return
    unit = unit_of(table)
    if alike := _alike(table[unit].values):
        raise InputError(
            f"{table.source.name}, column '{unit}': {listed(list(alike))} look alike, so that one {table.schema[unit].role} may be counted for "
            "several. Write each in one way, or number them anew."
        )


def _alike(ids: pl.Series) -> tuple[str, ...] | None:
    """Return some ids that people take for one another; numbers are what they are."""
    if not (ids.dtype == pl.String or ids.dtype.is_float()):
        return None
    texts = (
        ids
        if ids.dtype == pl.String
        else pl.Series([spelled(value) for value in ids.to_list()], dtype=pl.String)
    )
    if not texts.str.contains(r"[^\x20-\x7e]").any():  # then this is all that makes texts look alike
        plain = texts.str.to_lowercase().str.replace_all(" ", "", literal=True)
        texts = texts.filter(plain.is_duplicated())
    return next(iter(lookalikes(texts.to_list())), None) or _same(texts)


def _same(texts: pl.Series) -> tuple[str, ...] | None:
    """Return a text that stands for two values, as 0 does for 0.0 and -0.0."""
    twice = texts.filter(texts.is_duplicated())
    return (twice[0], twice[0]) if len(twice) else None


def refuse_units(table: Table, verb: str) -> None:
    """Refuse a table whose rows are protected together, in a verb that protects them one by one."""
    if table.schema.unit is not None:
        raise InputError(
            f"{table.source.name}: {verb} protects rows one by one, and '{table.schema.unit}' says which of them are of one "
            f"{table.schema[table.schema.unit].role}. Use generalize, randomize or materialize; or keep one row of each, and make '{table.schema.unit}' "
            "an identifier."
        )


def refuse_mapped_units(table: Table, asked: Sequence[object]) -> None:
    """Refuse a population whose people would be counted for persons or households."""
    if table.schema.unit is not None and (counted := in_population(asked)):
        raise InputError(
            f"{table.source.name}: {counted[0]} counts the people that a row could be of, and rows of one {table.schema[table.schema.unit].role} are "
            "protected together. Ask for k-anonymity."
        )


def rows_with_unit(table: Table, published: AnyRewriting) -> pl.DataFrame:
    """Return what is published of a table, with the unit of every row."""
    rewriting = published.joined()
    if rewriting.dealt:
        raise RequirementError(
            "The plan deals rows of equal people to different blocks, as if each were somebody else's. Learn one from a table whose "
            "schema says whose rows they are."
        )
    beside = replace(rewriting, published={**rewriting.published, unit_of(table): None})
    return table.rows.rewrite(beside).frame()


def refuse_few_units(
    rows: pl.DataFrame, output: PublishedRows, asked: Sequence[BlockRequirement], schema: Schema
) -> list[Finding]:
    """Recount the output by units, beside the unit of every row; raise a RequirementError if a requirement does not hold."""
    findings = find_by_unit(rows, output, asked, schema)
    Verification(tuple(findings)).refuse_if_broken()
    return findings


def unit_record(
    table: Table,
    findings: Sequence[Finding],
    output: PublishedRows,
    asked: Sequence[BlockRequirement],
    fewest: Callable[[pl.DataFrame], int],
    alike: int,
) -> dict[str, Any]:
    """Say for the holder in which unit the promises are counted: how many there are, what was measured, and what looking them up finds.

    `alike` are as many units as nobody's published rows have fewer of, and `fewest` says the same of the original.
    """
    unit = unit_of(table)
    rows = table.counts([unit]).weights
    k = max([2, *(one.k for one in asked if isinstance(one, KAnonymity))])
    return {
        "role": str(table.schema[unit].role),
        "units": len(rows),
        "most_rows": int(rows.max()),
        "measured": {one.name: one.value for one in findings},
        "alike": {"input": fewest(table.frame()), "output": alike},
        "looked_up": known_to_belong_together(output, table, k),
    }
