"""The problem that every generalization method solves, as plain arrays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sudare.privacy.blocks import Blocks
from sudare.privacy.limits import Limits
from sudare.privacy.requirement import Requirement, sensitive_attribute
from sudare.tables.builders import ROOT
from sudare.tables.column import Column
from sudare.tables.hierarchy import Hierarchy
from sudare.tables.schema import Role
from sudare.tables.table import Table
from sudare.tables.text import text_of


class Trees(NamedTuple):
    """The hierarchies of all quasi attributes in one array, for compiled loops.

    The node of attribute a's leaf x at level l is `nodes[offset[a, l] + x]`. Climbing one level costs
    `step[a]` for one record; climbing all the way costs 1 over all attributes.
    """

    nodes: NDArray[np.int32]
    offset: NDArray[np.int64]
    size: NDArray[np.int64]
    height: NDArray[np.int64]
    step: NDArray[np.float64]

    @classmethod
    def of(cls, hierarchies: Sequence[Hierarchy], weights: Sequence[float]) -> Trees:
        """Lay hierarchies out flat; `weights` say how much each attribute's distortion counts."""
        height = np.array([h.height for h in hierarchies])
        offset = np.zeros((len(hierarchies), height.max() + 1), dtype=np.int64)
        size = np.ones_like(offset)
        parts: list[NDArray[np.int32]] = []
        place = 0
        for a, hierarchy in enumerate(hierarchies):
            for level, codes in enumerate(hierarchy.codes):
                offset[a, level], size[a, level] = place, len(hierarchy.labels[level])
                parts.append(codes)
                place += len(codes)
        share = np.array(weights) / (sum(weights) or 1.0)
        return cls(np.concatenate(parts), offset, size, height, share / height)


@dataclass(frozen=True)
class Problem:
    """Distinct records with their weights, the trees their values can climb, and what blocks must meet.

    A unit is a distinct tuple of the quasi values and, if the requirements speak of it, the sensitive value.
    """

    names: list[str]
    hierarchies: list[Hierarchy]
    units: NDArray[np.int32]
    weights: NDArray[np.int64]
    sensitive: NDArray[np.int32]
    """The sensitive code of each unit; all 0 if no requirement speaks of it."""
    values: int
    """How many sensitive codes there are; 1 if no requirement speaks of them."""
    row_unit: NDArray[np.int64]
    """Which unit each row of the table is."""
    trees: Trees
    limits: Limits

    @classmethod
    def of(cls, table: Table, requirements: Sequence[Requirement]) -> Problem:
        """Count a table and lay it out."""
        names = table.names(Role.quasi)
        attribute = sensitive_attribute(requirements, table)
        counts, row_unit = table.counts_index([*names, attribute] if attribute else names)
        blocks = Blocks.of(counts, attribute, table[attribute].hierarchy if attribute else None)
        hierarchies = [hierarchy_of(table[name]) for name in names]
        return cls(
            names=names,
            hierarchies=hierarchies,
            units=np.ascontiguousarray(counts.codes[:, : len(names)]),
            weights=counts.weights,
            sensitive=counts.codes[:, -1].copy() if attribute else np.zeros(len(counts), dtype=np.int32),
            values=max(blocks.values, 1),
            row_unit=row_unit,
            trees=Trees.of(hierarchies, [table.schema[name].weight for name in names]),
            limits=Limits.of(requirements, blocks),
        )


def with_hierarchies(table: Table) -> Table:
    """Give every quasi attribute a hierarchy, so that all that follows climbs the same one."""
    quasi = table.names(Role.quasi)
    columns = {
        name: replace(column, hierarchy=hierarchy_of(column)) if name in quasi else column
        for name, column in table.columns.items()
    }
    return replace(table, columns=columns)


def hierarchy_of(column: Column) -> Hierarchy:
    """Return a column's hierarchy, or one that its values suggest.

    Numbers and dates are halved again and again, so that either half has about as many records; other values
    are published as they are, or suppressed.
    """
    if column.hierarchy is not None:
        return column.hierarchy
    if len(column.values) == 0:  # all are missing
        return Hierarchy(((None,), (ROOT,)), np.zeros((2, 1), dtype=np.int32))
    dtype = column.values.dtype
    if (dtype.is_numeric() or dtype.is_temporal()) and len(column.values) > 2:
        plain = _halved(column)
    else:
        plain = Hierarchy.suppress(column.values)
        plain = plain.take(plain.find(column.values))
    return plain.with_missing() if column.missing else plain


def _halved(column: Column) -> Hierarchy:
    rising = column.values.arg_sort().to_numpy()  # a declared domain may be in another order
    records = np.bincount(column.codes, minlength=len(rising))[rising]
    # Values that no record has count a little, or they would make a deep tree, but never as much as a record.
    before = np.append(0, np.cumsum((2 * len(records) + 1) * records + 1))
    spans = [[(0, len(records))]]
    while any(high - low > 1 for low, high in spans[-1]):
        spans.append([half for span in spans[-1] for half in _halves(*span, before)])
    texts = [text_of(value) for value in column.values.gather(rising).to_list()]
    labels = [tuple(_label(texts, low, high) for low, high in level) for level in reversed(spans)]
    codes = np.empty((len(spans), len(rising)), dtype=np.int32)
    for nodes, level in zip(codes, reversed(spans), strict=True):
        nodes[rising] = np.repeat(np.arange(len(level)), [high - low for low, high in level])
    return Hierarchy((*labels[:-1], ("*",)), codes)


def _halves(low: int, high: int, before: NDArray[np.int64]) -> list[tuple[int, int]]:
    """Cut a span of values where its halves are most even."""
    if high - low == 1:
        return [(low, high)]
    both = before[low] + before[high]
    at = int(np.searchsorted(before, both / 2))
    cut = min(max(at, low + 1), high - 1)
    if cut - 1 > low and abs(2 * before[cut - 1] - both) < abs(2 * before[cut] - both):
        cut -= 1
    return [(low, cut), (cut, high)]


def _label(texts: list[str], low: int, high: int) -> str:
    return texts[low] if high - low == 1 else f"[{texts[low]}, {texts[high - 1]}]"


def published_column(
    problem: Problem, attribute: int, levels: NDArray[np.int16], codes: NDArray[np.int32]
) -> pl.Series:
    """Return the labels of one attribute's cells, given the leaf and the level of each."""
    hierarchy = problem.hierarchies[attribute]
    first = np.append(0, np.cumsum([len(names) for names in hierarchy.labels]))
    labels = pl.Series(
        problem.names[attribute], [n for names in hierarchy.labels for n in names], dtype=pl.String
    )
    return labels.gather(first[levels] + hierarchy.codes[levels, codes])
