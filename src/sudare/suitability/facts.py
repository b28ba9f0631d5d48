"""What an assessment asks of a table, computed once and kept."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from sudare.generalization.minimal import learn_minimal
from sudare.generalization.problem import Problem
from sudare.privacy.blocks import Blocks
from sudare.privacy.k_anonymity import KAnonymity
from sudare.privacy.l_diversity import LDiversity
from sudare.similarity.pairs import Device
from sudare.suitability.bounds import Bound, best_bounds, nearest_bounds
from sudare.suitability.costs import BlockMinimum, Costs, value_costs, values_for
from sudare.suitability.histogram import min_block_distinct, min_block_entropy
from sudare.tables.attribute import Role
from sudare.tables.counts import Counts
from sudare.tables.policy import Diversity
from sudare.tables.table import Table

MAX_SUITABLE_RATIO = 2.0  # the ratio above which the paper calls the suitability low
MAX_LEFT_OUT = 100  # quasi attributes, each of which is left out once to see what it costs


@dataclass(eq=False)
class Facts:
    """A table, its records by quasi and sensitive values, and the bounds and distortions computed so far."""

    table: Table
    """Its dictionaries and schema."""
    by_value: Counts
    """Its records, by quasi and, last, sensitive values."""
    device: Device = "cpu"
    tight: bool = False
    _reached: dict[int, float] = field(default_factory=dict)
    _nearest: dict[tuple[bool, BlockMinimum], Bound] = field(default_factory=dict)
    _without: dict[float, dict[str, float]] = field(default_factory=dict)

    @property
    def attribute(self) -> str:
        """The sensitive attribute."""
        return self.by_value.names[-1]

    @cached_property
    def problem(self) -> Problem:
        """The records, told apart by their sensitive value too."""
        return Problem.of(self.table, [LDiversity(1, attribute=self.attribute)], self.by_value)

    @cached_property
    def by_quasi(self) -> Problem:
        """The records by their quasi values alone, which is all that k-anonymity asks for."""
        return Problem.of(self.table, [KAnonymity(1)], self.by_value)

    @cached_property
    def costs(self) -> Costs:
        """What a level of each attribute costs."""
        return Costs.in_table(self.table, self.problem)

    @cached_property
    def whole(self) -> Blocks:
        """All records as one block."""
        return Blocks.of(
            self.by_value.select([self.attribute]), self.attribute, self.table[self.attribute].hierarchy
        )

    @property
    def records(self) -> int:
        """How many records there are."""
        return self.by_value.total

    @cached_property
    def counts(self) -> NDArray[np.int64]:
        """How often each sensitive value occurs, by its code; 0 for values that no record has."""
        values = self.by_value.codes[:, -1]
        return np.bincount(values, self.by_value.weights, minlength=self.by_value.sizes[-1]).astype(np.int64)

    @cached_property
    def entropy_l(self) -> float:
        """The largest l for which the whole table is entropy l-diverse."""
        return float(LDiversity(1, "entropy").measure(self.whole).value)

    @property
    def distinct_l(self) -> int:
        """The largest l for which the whole table is distinct l-diverse."""
        return int((self.counts > 0).sum())

    def nearest_l(self, ls: Sequence[float]) -> list[Bound]:
        """Return the paper's bounds for l-diversity. A block of entropy l-diversity has l values or more."""
        return self._nearest_bounds([_values(l) for l in ls], by_quasi=False)

    def nearest_k(self, ks: Sequence[int]) -> list[Bound]:
        """Return the paper's bounds for k-anonymity."""
        return self._nearest_bounds([BlockMinimum(k) for k in ks], by_quasi=True)

    def _nearest_bounds(self, minima: Sequence[BlockMinimum], *, by_quasi: bool) -> list[Bound]:
        new = [minimum for minimum in minima if (by_quasi, minimum) not in self._nearest]
        if new:
            bounds = nearest_bounds(self.by_quasi if by_quasi else self.problem, self.costs, new, self.device)
            self._nearest |= {(by_quasi, minimum): bound for minimum, bound in zip(new, bounds, strict=True)}
        return [self._nearest[by_quasi, minimum] for minimum in minima]

    def best_l(self, ls: Sequence[float], diversity: Diversity = "distinct") -> list[Bound]:
        """Return the best bounds for l-diversity of a kind."""
        least = [math.log(l) if diversity == "entropy" else 0.0 for l in ls]
        minima = [_values(l)._replace(log_l=log_l) for l, log_l in zip(ls, least, strict=True)]
        return best_bounds(self.problem, self.costs, minima, tight=self.tight, device=self.device)

    def best_k(self, ks: Sequence[int]) -> list[Bound]:
        """Return the best bounds for k-anonymity."""
        minima = [BlockMinimum(k) for k in ks]
        return best_bounds(self.by_quasi, self.costs, minima, tight=self.tight, device=self.device)

    def reached(self, k: int) -> float:
        """Return the distortion that k-anonymization reaches with the minimal method."""
        if k not in self._reached:
            limits = self.by_quasi.limits._replace(k=k)
            self._reached[k] = learn_minimal(replace(self.by_quasi, limits=limits)).distortion()
        return self._reached[k]

    def min_block(self, l: float, diversity: Diversity) -> int | None:
        """Return how many records some block has at least: BS_e or BS_s. None where l-diversity is not feasible."""
        if diversity == "entropy":
            return min_block_entropy(self.counts, l)
        return min_block_distinct(self.counts, values_for(l))

    def reached_for(self, l: float, diversity: Diversity) -> float | None:
        """Return the distortion that k-anonymization reaches with blocks of that many records."""
        size = self.min_block(l, diversity)
        return None if size is None else self.reached(size)

    def own_l(self, diversity: Diversity) -> float:
        """Return the largest l for which the whole table is l-diverse."""
        return self.entropy_l if diversity == "entropy" else self.distinct_l

    def feasible(self, l: float, diversity: Diversity) -> bool:
        """Say whether any blocks are l-diverse: all records together are, or none."""
        return l <= self.own_l(diversity) + 1e-9

    def ratio(self, l: float, diversity: Diversity) -> float | None:
        """Return the l-bound over what k-anonymization with such blocks reaches.

        Infinite if only the latter is 0; None if both are, or if l-diversity is not feasible.
        """
        reached = self.reached_for(l, diversity)
        bound = self.nearest_l([l])[0].value
        if reached is None or (not reached and not bound):
            return None
        return bound / reached if reached else math.inf

    def suits(self, l: float, diversity: Diversity) -> bool:
        """Say whether a feasible l costs little more than blocks as large as it needs."""
        return (self.ratio(l, diversity) or 0.0) <= MAX_SUITABLE_RATIO

    def without_attributes(self, l: float) -> dict[str, float]:
        """Return for each quasi attribute the l-bound if it were not one, as the mean over the others.

        Every attribute costs as much as the whole assessment, so of more than a hundred none is computed.
        """
        if l not in self._without:
            self._without[l] = self._computed_without(l)
        return self._without[l]

    def _computed_without(self, l: float) -> dict[str, float]:
        if len(self.problem.names) > MAX_LEFT_OUT:
            return {}
        marks, levels = self.costs.marks(self.problem), self.problem.trees.height
        of_attribute = np.repeat(np.arange(len(levels)), levels)
        bounds = {}
        for a, name in enumerate(self.problem.names):
            kept = of_attribute != a
            whole = self.costs.whole - int(levels[a] * self.costs.step[a])
            if not kept.any() or not whole:
                continue
            others = replace(marks, codes=np.ascontiguousarray(marks.codes[:, kept]), gains=marks.gains[kept])
            cost = value_costs(others, self.problem, [values_for(l)], self.device)[0]
            bounds[name] = float(cost @ self.problem.weights / (self.records * whole))
        return bounds

    def without(self, records: NDArray[np.int64]) -> Facts:
        """Return the facts of the table without so many records of each unit, with the hierarchies that it has."""
        rest = self.by_value.weights - records
        left = rest > 0
        fewer = replace(self.by_value, codes=self.by_value.codes[left], weights=rest[left])
        return Facts(self.table, fewer, self.device)

    @property
    def quasi(self) -> list[str]:
        """The quasi attributes."""
        return self.table.names(Role.quasi)


def _values(l: float) -> BlockMinimum:
    """Return what a block of l-diversity has at least."""
    return BlockMinimum(values_for(l), values_for(l))
