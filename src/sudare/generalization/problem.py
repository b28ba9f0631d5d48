"""The problem that every generalization method solves, as plain arrays."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sudare.privacy.blocks import Blocks
from sudare.privacy.limits import Limits
from sudare.privacy.requirement import BlockRequirement, sensitive_attribute
from sudare.tables.attribute import Role
from sudare.tables.counts import Counts
from sudare.tables.dictionary import Dictionary
from sudare.tables.hierarchy import Hierarchy
from sudare.tables.paths import ROOT
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

    @property
    def choices(self) -> int:
        """How many choices of one level per attribute there are."""
        return math.prod(int(height) + 1 for height in self.height)

    @property
    def fit_one_number(self) -> bool:
        """Whether every tuple of nodes has a number of its own of 64 bits, by which kernels group units."""
        return math.prod(int(size) for size in self.size[:, 0]) < 2**64


class Units(NamedTuple):
    """The distinct records of a table and the trees that their values climb, as all compiled loops take them."""

    leaves: NDArray[np.int32]
    """Units x attributes."""
    weights: NDArray[np.int64]
    sensitive: NDArray[np.int32]
    values: int
    """How many sensitive codes there are."""
    trees: Trees


def level_vectors(
    heights: NDArray[np.int64], step: NDArray[np.float64] | NDArray[np.int64]
) -> NDArray[np.int64]:
    """Return all choices of one level per attribute, the cheapest first, where a level of attribute a costs `step[a]`.

    >>> level_vectors(np.array([1, 2]), step=np.array([2, 3])).tolist()
    [[0, 0], [1, 0], [0, 1], [1, 1], [0, 2], [1, 2]]
    """
    grid = np.indices([int(height) + 1 for height in heights])
    vectors = grid.reshape(len(heights), -1).T
    return np.ascontiguousarray(vectors[np.argsort(vectors @ step, kind="stable")])


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
    sensitive_dictionary: Dictionary | None
    """The sensitive values; None if no requirement speaks of them."""
    trees: Trees
    limits: Limits
    groups: NDArray[np.int32] | None = None
    """The group of each sensitive code, if the limits speak of groups of values instead of values."""

    @classmethod
    def of(
        cls,
        table: Table,
        requirements: Sequence[BlockRequirement],
        counts: Counts | None = None,
        whole: Blocks | None = None,
    ) -> Problem:
        """Count a table and lay it out; `counts` of its records may be given that have all it needs.

        If they are of some of its records only, `whole` tells what its sensitive values are like.
        """
        names = table.names(Role.quasi)
        attribute = sensitive_attribute(requirements, table)
        counted = [*names, attribute] if attribute else names
        if counts is None:
            counts = table.counts(counted)
        elif counts.names != tuple(counted):
            counts = counts.select(counted)
        column = table[attribute] if attribute else None
        blocks = whole or Blocks.of(
            counts, attribute, column.hierarchy if column else None, column.values if column else None
        )
        hierarchies = [hierarchy_of(table, name) for name in names]
        none = np.empty(0, dtype=np.int32)
        return cls(
            names=names,
            hierarchies=hierarchies,
            units=none,
            weights=none.astype(np.int64),
            sensitive=none,
            values=max(blocks.values, 1),
            sensitive_dictionary=column,
            trees=Trees.of(hierarchies, [table.schema[name].weight for name in names]),
            limits=Limits.of(requirements, blocks),
        ).of_units(counts)

    def of_units(self, counts: Counts) -> Problem:
        """Return the problem of other records, counted by the same columns."""
        none = np.zeros(len(counts), dtype=np.int32)
        return replace(
            self,
            units=np.ascontiguousarray(counts.codes[:, : len(self.names)]),
            weights=counts.weights,
            sensitive=counts.codes[:, -1].copy() if self.sensitive_dictionary else none,
        )

    def at(self, places: NDArray[Any]) -> Problem:
        """Return the problem of the units at some places alone."""
        return replace(
            self,
            units=np.ascontiguousarray(self.units[places]),
            weights=self.weights[places],
            sensitive=np.ascontiguousarray(self.sensitive[places]),
        )

    @property
    def counted(self) -> list[str]:
        """The columns that units are counted by."""
        return [*self.names, *([self.sensitive_dictionary.name] if self.sensitive_dictionary else [])]

    @property
    def unit_arrays(self) -> Units:
        """The units for compiled loops."""
        if self.groups is None:
            return Units(self.units, self.weights, self.sensitive, self.values, self.trees)
        counted = self.groups[self.sensitive]
        return Units(self.units, self.weights, counted, int(self.groups.max()) + 1, self.trees)

    def tuples(self) -> NDArray[np.int32]:
        """Return the codes of the units by these columns."""
        return np.column_stack([self.units, self.sensitive]) if self.sensitive_dictionary else self.units


def with_hierarchies(table: Table) -> Table:
    """Give every quasi attribute a hierarchy, so that all that follows climbs the same one."""
    trees = {name: hierarchy_of(table, name) for name in table.names(Role.quasi)}
    return replace(table, hierarchies={**table.hierarchies, **trees})


def hierarchy_of(table: Table, name: str) -> Hierarchy:
    """Return an attribute's hierarchy, or one that its values suggest.

    Numbers and dates are halved again and again, so that either half has about as many records; other values
    are published as they are, or suppressed.
    """
    column = table[name]
    if column.hierarchy is not None:
        return column.hierarchy
    if len(column.values) == 0:  # all are missing
        return Hierarchy(((None,), (ROOT,)), np.zeros((2, 1), dtype=np.int32))
    if is_halved(column.values):
        plain = halved(column.values, _records(table, name))
    else:
        plain = Hierarchy.suppress(column.values)
        plain = plain.take(plain.find(column.values))
    return plain.with_missing() if column.missing else plain


def _records(table: Table, name: str) -> NDArray[np.int64]:
    """Return how many records have each value."""
    counts, records = table.counts([name]), np.zeros(table[name].size, dtype=np.int64)
    records[counts.codes[:, 0]] = counts.weights
    return records[: len(table[name].values)]


def is_halved(values: pl.Series) -> bool:
    """Tell whether values without a hierarchy become ranges: numbers and dates, if there are more than two."""
    return (values.dtype.is_numeric() or values.dtype.is_temporal()) and len(values) > 2


def halved(values: pl.Series, records: NDArray[np.int64]) -> Hierarchy:
    """Return the hierarchy that halves numbers or dates, so that either half has about as many records."""
    rising = values.arg_sort().to_numpy()  # a declared domain may be in another order
    records = records[rising]
    # Values that no record has count a little, or they would make a deep tree, but never as much as a record.
    before = np.append(0, np.cumsum((2 * len(records) + 1) * records + 1))
    spans = [[(0, len(records))]]
    while any(high - low > 1 for low, high in spans[-1]):
        spans.append([half for span in spans[-1] for half in _halves(*span, before)])
    texts = [text_of(value) for value in values.gather(rising).to_list()]
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
    at = int(
        np.searchsorted(before, (both + 1) // 2)
    )  # whole numbers, or all of them would be made floats each time
    cut = min(max(at, low + 1), high - 1)
    if cut - 1 > low and abs(2 * before[cut - 1] - both) < abs(2 * before[cut] - both):
        cut -= 1
    return [(low, cut), (cut, high)]


def _label(texts: list[str], low: int, high: int) -> str:
    return texts[low] if high - low == 1 else f"[{texts[low]}, {texts[high - 1]}]"
