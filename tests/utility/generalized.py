"""Small tables with random levels, and what their cells stand for, read off the hierarchies' paths."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl
from hypothesis import strategies as st

import sudare as sd
from sudare.utility.outcome import Outcome
from tests import by_row

AGES = range(12)
TOWNS = {"Ayr": "north", "Bath": "south", "Cork": "west", "Deal": "south", "Wick": "north"}
SCHEMA = sd.Schema.from_roles(
    quasi=["age", "town", "sex"],
    sensitive=["illness"],
    hierarchies={
        "age": sd.Hierarchy.intervals(AGES, width=3, fanout=2),
        "town": sd.Hierarchy.groups(TOWNS),
    },
    weights={"town": 2.0},
)
TOPS = (3, 2, 1)  # [0, 3), [0, 6), *; north, *; *
WEIGHTS = {"age": 1.0, "town": 2.0, "sex": 1.0}


@dataclass(frozen=True)
class Generalized:
    table: sd.Table
    levels: np.ndarray
    kept: np.ndarray

    @property
    def outcome(self) -> Outcome:
        return by_row.outcome(self.table, self.levels, self.kept)


def table_of(rows: list[tuple[int | None, str | None, str | None]]) -> sd.Table:
    kinds = {"age": pl.Int64, "town": pl.String, "sex": pl.String}
    frame = pl.DataFrame(rows, schema=kinds, orient="row")
    return sd.read(frame.with_columns(illness=pl.lit("flu")), SCHEMA)


@st.composite
def generalized(draw: st.DrawFn) -> Generalized:
    rows = draw(
        st.lists(
            st.tuples(
                st.sampled_from([*AGES, None]),
                st.sampled_from([*TOWNS, None]),
                st.sampled_from(["f", "m", None]),
            ),
            min_size=1,
            max_size=12,
        )
    )
    rows[0] = tuple(
        a if a is not None else b for a, b in zip(rows[0], (0, "Ayr", "f"), strict=True)
    )  # none is all missing
    levels = draw(
        st.lists(st.tuples(*(st.integers(0, top) for top in TOPS)), min_size=len(rows), max_size=len(rows))
    )
    kept = draw(st.lists(st.booleans(), min_size=len(rows), max_size=len(rows)))
    return Generalized(table_of(rows), np.array(levels), np.array(kept))


def heights(table: sd.Table) -> tuple[int, ...]:
    return tuple(1 if (h := table[name].hierarchy) is None else h.height for name in ("age", "town", "sex"))


def leaves_of(table: sd.Table, name: str) -> list[object]:
    """All leaves of an attribute: those of the schema, and None if a row has it."""
    values = by_row.values(table, name)
    leaves = {"age": list(AGES), "town": list(TOWNS)}.get(name) or sorted(
        {v for v in values if v is not None}
    )
    return [*leaves, *([None] if None in values else [])]


def under(table: sd.Table, name: str, value: object, level: int) -> set[object]:
    """The leaves that a value at a level could be, from the meaning of the hierarchies."""
    leaves = leaves_of(table, name)
    if level == dict(zip(("age", "town", "sex"), TOPS, strict=True))[name]:
        return set(leaves)
    if level == 0 or value is None:
        return {value}
    if name == "age":
        width = 3 * 2 ** (level - 1)
        return {leaf for leaf in leaves if leaf is not None and leaf // width == value // width}
    return {leaf for leaf in leaves if leaf is not None and TOWNS[leaf] == TOWNS[value]}
