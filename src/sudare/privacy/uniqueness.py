"""Values that are nearly all different: sensitive ones, of which l-diversity then says little, and those that are passed on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sudare.privacy.blocks import Blocks
from sudare.privacy.l_diversity import LDiversity
from sudare.privacy.requirement import Requirement
from sudare.tables.attribute import Role
from sudare.tables.table import Table
from sudare.tables.text import listed

NEARLY_ALL = 0.75  # as many different values as this share of the records
MANY_COLUMNS = 3  # of which one thing is said of all
FEWEST = 20  # records; among fewer, values that are all different are no wonder
MANY_ALONE = 0.1  # of the records, from which on a column is said to join tables
FEW = 3  # records that share a value, by which they are found nearly as well as one alone
MANY_AMONG_FEW = 0.5  # of the records, from which on a column is said to join tables by such values


def is_nearly_unique(whole: Blocks) -> bool:
    """Tell whether there are nearly as many different sensitive values as records."""
    records = int(whole.sizes.sum())
    return records >= FEWEST and len(whole.whole.value) >= NEARLY_ALL * records


def nearly_unique_values(whole: Blocks, requirements: Sequence[Requirement[Any]]) -> list[str]:
    """Return a warning if what is asked for counts values that are nearly all different.

    >>> import polars as pl, sudare as sd
    >>> table = sd.read(pl.DataFrame({"age": [30] * 50, "income": range(50)}))
    >>> whole = Blocks.of_table(table, [], "income")
    >>> nearly_unique_values(whole, [LDiversity(2, "proximity", within=5)])
    []
    >>> print(nearly_unique_values(whole, [LDiversity(2)])[0])
    'income' has 50 different values in 50 records: any few records count as diverse, even if their values are nearly the same. Ask for proximity (diversity="proximity", within=...) too.
    """
    counting = [one for one in requirements if isinstance(one, LDiversity) and one.kind != "proximity"]
    near = [one for one in requirements if isinstance(one, LDiversity) and one.kind == "proximity"]
    if not counting or near or not is_nearly_unique(whole):
        return []
    return [warning(whole)]


def warning(whole: Blocks) -> str:
    """Say that values are nearly all different, and what to do."""
    numbers = whole.known is not None and whole.known.dtype.is_numeric()
    instead = (
        'Ask for proximity (diversity="proximity", within=...) too.'
        if numbers
        else "Group them before you ask for diversity."
    )
    return (
        f"'{whole.sensitive}' has {len(whole.whole.value):,} different values in {int(whole.sizes.sum()):,} records: any few records "
        f"count as diverse, even if their values are nearly the same. {instead}"
    )


def warnings_about(table: Table, names: Sequence[str]) -> list[str]:
    """Return a warning for each of some sensitive attributes whose values are nearly all different."""
    blocks = [Blocks.of_table(table, [], name) for name in names]
    return [warning(whole) for whole in blocks if is_nearly_unique(whole)]


def joining_columns(table: Table, names: Sequence[str]) -> list[str]:
    """Return a warning for each of some columns that is published as it is, and by which another table that has it can be joined.

    >>> import polars as pl, sudare as sd
    >>> table = sd.read(pl.DataFrame({"age": [30] * 50, "spent": range(50)}), sd.Schema.from_roles(quasi=["age"], other=["spent"]))
    >>> print(joining_columns(table, ["age", "spent"])[0])
    'spent' is published as it is, and 50 of 50 records are alone with their value: whoever has another table with it can join the two. Round it, make it quasi, or leave it out.
    >>> pairs = pl.DataFrame({"age": [30] * 50, "case": [i // 2 for i in range(50)]})
    >>> table = sd.read(pairs, sd.Schema.from_roles(quasi=["age"], other=["case"]))
    >>> print(joining_columns(table, ["case"])[0][:95])
    'case' is published as it is, and 50 of 50 records share their value with at most 2 others: who
    """
    own = passed_on(table)
    weights = {name: table.counts([name]).weights for name in names if name in own}
    alone = {name: count for name, own in weights.items() if (count := _within(own, 1, MANY_ALONE))}
    others = {name: own for name, own in weights.items() if name not in alone}
    few = {name: count for name, own in others.items() if (count := _within(own, FEW, MANY_AMONG_FEW))}
    return [
        *_joined(alone, len(table), "are alone with their value"),
        *_joined(few, len(table), f"share their value with at most {FEW - 1} others"),
    ]


def _joined(columns: Mapping[str, int], records: int, how: str) -> list[str]:
    """Say of columns, by how many records, that they join tables."""
    if len(columns) > MANY_COLUMNS:
        return [
            f"{listed(list(columns))} are published as they are, and up to {max(columns.values()):,} of {records:,} records {how} in "
            "one: whoever has another table with it can join the two. Round them, make them quasi, or leave them out."
        ]
    return [
        f"'{name}' is published as it is, and {count:,} of {records:,} records {how}: whoever has another "
        "table with it can join the two. Round it, make it quasi, or leave it out."
        for name, count in columns.items()
    ]


def passed_on(table: Table) -> set[str]:
    """Return the columns that are published as they are."""
    return set(table.publishable) & set(table.names(Role.other) + table.names(Role.sensitive))


def _within(weights: NDArray[np.int64], most: int, share: float) -> int:
    """Return how many records share their value with so few, themselves among them, if that is at least a share of all."""
    records, within = int(weights.sum()), int(weights[weights <= most].sum())
    return 0 if records < FEWEST or within < share * records else within
