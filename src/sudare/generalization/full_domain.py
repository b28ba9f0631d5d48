"""Full-domain generalization: every record of an attribute climbs to the same level.

Among all choices of one level per attribute, the least distorting one that meets the requirements is
found exactly. Published values stay comparable over the whole table, which tabulations like; methods
that recode each block on its own distort less.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sudare.errors import ParameterError, RequirementError
from sudare.privacy.blocks import Blocks
from sudare.privacy.requirement import Requirement
from sudare.tables.counts import Counts, count_index
from sudare.tables.hierarchy import Hierarchy
from sudare.tables.schema import Role
from sudare.tables.table import Table

WORK = 200_000_000  # tuples recounted over the whole search: about half a minute
OVERHEAD = 1_000  # what one recount costs besides, in tuples


@dataclass(frozen=True)
class FullDomainPlan:
    """One level per attribute, and the generalized tuples whose records are left out."""

    levels: dict[str, int]
    suppressed: list[tuple[str | None, ...]]

    def apply(self, table: Table) -> pl.DataFrame:
        """Return what is published: quasi values generalized, identifiers and suppressed records left out."""
        columns = [
            _generalized(table, name, self.levels[name]) if self.levels.get(name, 0) > 0 else column.decode()
            for name, column in table.columns.items()
            if table.schema[name].role != Role.identifier
        ]
        return pl.DataFrame(columns).filter(self._kept(table))

    def _kept(self, table: Table) -> pl.Series:
        if not self.suppressed:
            return pl.repeat(True, len(table), eager=True)
        labels = pl.DataFrame([_generalized(table, name, level) for name, level in self.levels.items()])
        dropped = pl.DataFrame(self.suppressed, schema=dict(labels.schema), orient="row").with_columns(
            _dropped=True
        )
        joined = labels.join(
            dropped, on=list(self.levels), how="left", nulls_equal=True, maintain_order="left"
        )
        return joined["_dropped"].is_null()

    def to_json(self) -> dict[str, Any]:
        """Return the plan as plain data."""
        return {
            "method": "full-domain",
            "levels": self.levels,
            "suppressed": [list(t) for t in self.suppressed],
        }


def learn(
    table: Table, counts: Counts, requirements: Sequence[Requirement], *, suppress: float = 0.0
) -> FullDomainPlan:
    """Find the levels of least distortion that meet the requirements.

    At most the share `suppress` of the records is left out; each costs 1 in every cell. A choice of
    levels costs at least its own distortion, so the search ends when that exceeds the best found.
    """
    hierarchies = [_hierarchy(table, name) for name in counts.names]
    weights = [table.schema[name].weight for name in counts.names]
    _refuse_long_search(hierarchies, counts)
    budget = math.floor(suppress * counts.total)
    best_cost, best = math.inf, None
    for cost, levels in _by_distortion(hierarchies, weights):
        if cost >= best_cost:
            break
        blocks = _blocks(counts, hierarchies, levels)
        failing = np.logical_or.reduce([r.failing(Blocks.of(blocks, None)) for r in requirements])
        left_out = int(blocks.weights[failing].sum())
        whole = cost + left_out / counts.total * (1 - cost)
        if left_out <= budget and not failing.all() and whole < best_cost:
            best_cost, best = whole, (levels, blocks.codes[failing])
    if best is None:
        asked = " and ".join(str(requirement) for requirement in requirements)
        raise RequirementError(f"{asked} cannot be met, even with every quasi value suppressed.")
    return _plan(counts.names, hierarchies, *best)


def _plan(
    names: tuple[str, ...], hierarchies: list[Hierarchy], levels: tuple[int, ...], failing: NDArray[np.int32]
) -> FullDomainPlan:
    labels = [hierarchy.labels[level] for hierarchy, level in zip(hierarchies, levels, strict=True)]
    suppressed = [tuple(names[code] for names, code in zip(labels, codes, strict=True)) for codes in failing]
    return FullDomainPlan(dict(zip(names, levels, strict=True)), suppressed)


def _hierarchy(table: Table, name: str) -> Hierarchy:
    """An attribute without a hierarchy is published as it is, or suppressed."""
    column = table[name]
    if column.hierarchy is not None:
        return column.hierarchy
    plain = Hierarchy.suppress(column.values)
    return plain.with_missing() if column.missing else plain


def _refuse_long_search(hierarchies: list[Hierarchy], counts: Counts) -> None:
    choices = math.prod(hierarchy.height + 1 for hierarchy in hierarchies)
    if choices * (len(counts) + OVERHEAD) > WORK:
        raise ParameterError(
            f"Full-domain generalization would try {choices:,} choices of levels on {len(counts):,} distinct tuples, "
            "which takes too long. Give the quasi attributes coarser hierarchies, or mark fewer columns as quasi."
        )


def _by_distortion(
    hierarchies: list[Hierarchy], weights: list[float]
) -> Iterator[tuple[float, tuple[int, ...]]]:
    """Yield every choice of levels with its distortion, the least distorting first."""
    total = sum(weights) or 1.0
    steps = [weight / total / h.height for weight, h in zip(weights, hierarchies, strict=True)]
    start = (0,) * len(hierarchies)
    heap, seen = [(0.0, start)], {start}
    while heap:
        cost, levels = heapq.heappop(heap)
        yield cost, levels
        for i, hierarchy in enumerate(hierarchies):
            above = (*levels[:i], levels[i] + 1, *levels[i + 1 :])
            if levels[i] < hierarchy.height and above not in seen:
                seen.add(above)
                cost_above = sum(step * level for step, level in zip(steps, above, strict=True))
                heapq.heappush(heap, (cost_above, above))


def _blocks(counts: Counts, hierarchies: list[Hierarchy], levels: tuple[int, ...]) -> Counts:
    """Recount the tuples after each attribute has climbed to its level."""
    climbed = {
        name: hierarchy.codes[level][counts.codes[:, i]]
        for i, (name, hierarchy, level) in enumerate(zip(counts.names, hierarchies, levels, strict=True))
    }
    sizes = [len(hierarchy.labels[level]) for hierarchy, level in zip(hierarchies, levels, strict=True)]
    blocks, block_of = count_index(climbed, sizes)
    weights = np.zeros(len(blocks), dtype=np.int64)
    np.add.at(weights, block_of, counts.weights)
    return replace(blocks, weights=weights)


def _generalized(table: Table, name: str, level: int) -> pl.Series:
    """Return an attribute's labels at a level. At level 0 these are the values as text."""
    hierarchy = _hierarchy(table, name)
    labels = pl.Series(name, hierarchy.labels[level], dtype=pl.String)
    return labels.gather(hierarchy.codes[level][table[name].codes])
