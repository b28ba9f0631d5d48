"""What an assessment asks of a table, computed once and kept."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sudare.attacks.attack import attack
from sudare.generalization.minimal import learn_minimal
from sudare.generalization.problem import Problem
from sudare.generalization.recoding import Recoding
from sudare.plans.placed import without_uncovered
from sudare.privacy.blocks import Blocks
from sudare.privacy.k_anonymity import KAnonymity
from sudare.privacy.l_diversity import LDiversity
from sudare.privacy.minimum import BlockMinimum, recursive_values, values_for
from sudare.similarity.pairs import Device
from sudare.suitability.bounds import Bound, best_bounds, nearest_bounds
from sudare.suitability.costs import Costs, value_costs
from sudare.suitability.histogram import max_blocks, min_block_distinct, min_block_entropy
from sudare.suitability.implied import grouped, spread
from sudare.tables.attribute import Role
from sudare.tables.counts import Counts
from sudare.tables.table import Table

MAX_SUITABLE_RATIO = 2.0  # the ratio above which the paper calls the suitability low
MAX_LEFT_OUT = 100  # quasi attributes, each of which is left out once to see what it costs


@dataclass(eq=False)
class Facts:
    """A table, its records by quasi and sensitive values, and the bounds and distortions computed so far.

    What is asked of l-diversity speaks of the records whose values are not harmless (`rest`), and where close values
    count together of groups of them (`implied` has the reasons).
    """

    table: Table
    """Its dictionaries and schema."""
    by_value: Counts
    """Its records, by quasi and, last, sensitive values."""
    device: Device = "cpu"
    tight: bool = False
    _recodings: dict[int, Recoding] = field(default_factory=dict)
    _nearest: dict[tuple[Any, BlockMinimum], Bound] = field(default_factory=dict)
    _without: dict[LDiversity, dict[str, float]] = field(default_factory=dict)
    _rests: dict[Sequence[str], Facts] = field(default_factory=dict)

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
        column = self.table[self.attribute]
        return Blocks.of(
            self.by_value.select([self.attribute]), self.attribute, column.hierarchy, column.values
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

    def nearest_l(self, asked: Sequence[LDiversity]) -> list[Bound]:
        """Return the paper's bounds for l-diversity, which may differ in l and kind alone."""
        return self._bounds_of_rest(asked, Facts._nearest_l)

    def _nearest_l(self, asked: Sequence[LDiversity]) -> list[Bound]:
        width = (asked[0].within, asked[0].relative)
        return self._nearest_bounds(self._problem_by(asked[0]), width, [_minimum(one) for one in asked])

    def nearest_k(self, ks: Sequence[int]) -> list[Bound]:
        """Return the paper's bounds for k-anonymity."""
        return self._nearest_bounds(self.by_quasi, "by quasi", [BlockMinimum(k) for k in ks])

    def _nearest_bounds(self, problem: Problem, key: Any, minima: Sequence[BlockMinimum]) -> list[Bound]:
        new = [minimum for minimum in minima if (key, minimum) not in self._nearest]
        if new:
            bounds = nearest_bounds(problem, self.costs, new, self.device)
            self._nearest |= {(key, minimum): bound for minimum, bound in zip(new, bounds, strict=True)}
        return [self._nearest[key, minimum] for minimum in minima]

    def best_l(self, asked: Sequence[LDiversity]) -> list[Bound]:
        """Return the best bounds for l-diversity, which may differ in l and kind alone."""
        return self._bounds_of_rest(asked, Facts._best_l)

    def _best_l(self, asked: Sequence[LDiversity]) -> list[Bound]:
        problem, minima = self._problem_by(asked[0]), [_minimum(one) for one in asked]
        return best_bounds(problem, self.costs, minima, tight=self.tight, device=self.device)

    def best_k(self, ks: Sequence[int]) -> list[Bound]:
        """Return the best bounds for k-anonymity."""
        minima = [BlockMinimum(k) for k in ks]
        return best_bounds(self.by_quasi, self.costs, minima, tight=self.tight, device=self.device)

    def rest(self, asked: LDiversity) -> Facts:
        """Return the facts of the records whose values are not harmless."""
        if asked.harmless not in self._rests:
            weights = self.by_value.weights
            none = np.zeros_like(weights)
            harmless = np.where(self._is_harmless(asked), weights, none)
            self._rests[asked.harmless] = self.without(harmless) if asked.harmless else self
        return self._rests[asked.harmless]

    def _is_harmless(self, asked: LDiversity) -> NDArray[np.bool_]:
        return np.isin(self.by_value.codes[:, -1], asked.harmless_codes(self.whole))

    def _bounds_of_rest(
        self, asked: Sequence[LDiversity], bounds: Callable[[Facts, Sequence[LDiversity]], list[Bound]]
    ) -> list[Bound]:
        """Bound the rest, and return that as bounds of all records: the harmless may cost nothing."""
        if not asked or not asked[0].harmless:
            return bounds(self, asked) if asked else []
        rest, kept = self.rest(asked[0]), ~self._is_harmless(asked[0])
        nothing = np.zeros(len(self.by_value))
        if not kept.any():
            return [Bound(0.0, "nearest", nothing)] * len(asked)
        every = []
        for bound in bounds(rest, asked):
            of_unit = nothing.copy()
            of_unit[kept] = bound.of_unit
            every.append(spread(self.problem, bound, of_unit))
        return every

    def _problem_by(self, asked: LDiversity) -> Problem:
        """Return the records by value, or by groups of close values."""
        if asked.kind != "proximity":
            return self.problem
        return grouped(self.problem, asked.l, asked.windows(self.whole))

    def counts_for(self, asked: LDiversity) -> NDArray[np.int64]:
        """Return how often each value occurs that is not harmless, or each group of close ones; all 0 if there is none."""
        rest = self.rest(asked)
        if asked.kind != "proximity" or not rest.records:
            return rest.counts
        problem = rest._problem_by(asked)
        return np.bincount(problem.sensitive, problem.weights).astype(np.int64)

    def reached(self, k: int) -> float:
        """Return the distortion that k-anonymization reaches with the minimal method."""
        return self._anonymized(k).distortion()

    def _anonymized(self, k: int) -> Recoding:
        if k not in self._recodings:
            limits = self.by_quasi.limits._replace(k=k)
            self._recodings[k] = learn_minimal(replace(self.by_quasi, limits=limits))
        return self._recodings[k]

    def risk(self, k: int, asked: LDiversity) -> tuple[float, float]:
        """Return what such k-anonymity leaves to attacks: the share of records whose block has their value alone, and the belief.

        The belief is the largest share that a value has in any block. Learning a harmless value is no risk.
        """
        placed = without_uncovered(self._anonymized(k).plan([KAnonymity(k)]), self.table)
        output = placed.rest.rows.rewrite(placed.located.rewriting)
        harmless = {self.attribute: asked.harmless}
        alone = attack(output, self.table.schema, "homogeneity", harmless=harmless)
        belief = attack(output, self.table.schema, "background", known=0, harmless=harmless)
        return alone.by_attribute[self.attribute].share, belief.by_attribute[self.attribute].posterior

    def min_block(self, asked: LDiversity) -> int | None:
        """Return how many records some block has at least, of those that are not harmless.

        That is BS_e under entropy diversity, and under proximity, by the entropy of its groups. Else it is BS_s, by the
        number of values that are needed. None where l-diversity is not feasible.
        """
        if not self.feasible(asked):
            return None
        by_entropy = asked.kind in ("entropy", "proximity")
        return self.min_block_entropy(asked) if by_entropy else self.min_block_distinct(asked)

    def min_block_distinct(self, asked: LDiversity) -> int | None:
        """Return BS_s; None where there are fewer values than are needed."""
        counts = self.counts_for(asked)
        return min_block_distinct(counts, _minimum(asked).values) if counts.any() else 1

    def min_block_entropy(self, asked: LDiversity) -> int | None:
        """Return BS_e; None where the entropy of all records is too little."""
        counts = self.counts_for(asked)
        return min_block_entropy(counts, asked.l) if counts.any() else 1

    def max_blocks(self, asked: LDiversity) -> int:
        """Return how many blocks can have as many values, or groups, as it needs."""
        counts = self.counts_for(asked)
        return max_blocks(counts, _minimum(asked).values) if counts.any() else 0

    def has_values(self, asked: LDiversity) -> bool:
        """Say whether there are as many values, or groups of close ones, as a block needs."""
        counts = self.counts_for(asked)
        return not counts.any() or _minimum(asked).values <= int((counts > 0).sum())

    def reached_for(self, asked: LDiversity) -> float | None:
        """Return the distortion that k-anonymization reaches with blocks of that many records."""
        rest, size = self.rest(asked), self.min_block(asked)
        if not rest.records:
            return 0.0
        return None if size is None else rest.reached(size)

    def own_l(self, asked: LDiversity) -> float:
        """Return the largest l for which the whole table is l-diverse."""
        return float(replace(asked, l=1).measure(self.whole).value)

    def feasible(self, asked: LDiversity) -> bool:
        """Say whether any blocks are l-diverse: all records together are, or none."""
        return not asked.failing(self.whole)[0]

    def ratio(self, asked: LDiversity) -> float | None:
        """Return the l-bound over what k-anonymization with such blocks reaches, both of the records that are not harmless.

        Infinite if only the latter is 0; None if both are, or if l-diversity is not feasible.
        """
        reached = self.reached_for(asked)
        rest = self.rest(asked)
        bound = rest._nearest_l([asked])[0].value if rest.records else 0.0
        if reached is None or (not reached and not bound):
            return None
        return bound / reached if reached else math.inf

    def suits(self, asked: LDiversity) -> bool:
        """Say whether a feasible l costs little more than blocks as large as it needs."""
        return (self.ratio(asked) or 0.0) <= MAX_SUITABLE_RATIO

    def without_attributes(self, asked: LDiversity) -> dict[str, float]:
        """Return for each quasi attribute the l-bound if it were not one, as the mean over the others.

        Every attribute costs as much as the whole assessment, so of more than a hundred none is computed.
        """
        rest = self.rest(asked)
        if len(self.quasi) > MAX_LEFT_OUT or not rest.records:
            return {}
        if asked not in self._without:
            share = rest.records / self.records
            self._without[asked] = {
                name: share * bound for name, bound in rest._bounds_without(asked).items()
            }
        return self._without[asked]

    def _bounds_without(self, asked: LDiversity) -> dict[str, float]:
        problem = self._problem_by(asked)
        marks, levels = self.costs.marks(problem), problem.trees.height
        of_attribute = np.repeat(np.arange(len(levels)), levels)
        bounds = {}
        for a, name in enumerate(problem.names):
            kept = of_attribute != a
            whole = self.costs.whole - int(levels[a] * self.costs.step[a])
            if not kept.any() or not whole:
                continue
            others = replace(marks, codes=np.ascontiguousarray(marks.codes[:, kept]), gains=marks.gains[kept])
            cost = value_costs(others, problem, [_minimum(asked).values], self.device)[0]
            bounds[name] = float(cost @ problem.weights / (self.records * whole))
        return bounds

    def without(self, records: NDArray[np.int64]) -> Facts:
        """Return the facts of the table without so many records of each unit, with the hierarchies that it has."""
        rest = self.by_value.weights - records
        left = rest > 0
        fewer = replace(self.by_value, codes=self.by_value.codes[left], weights=rest[left])
        return Facts(self.table, fewer, self.device, self.tight)

    @property
    def quasi(self) -> list[str]:
        """The quasi attributes."""
        return self.table.names(Role.quasi)


def _minimum(asked: LDiversity) -> BlockMinimum:
    """Return what a block of l-diversity has at least: so many values, or groups of close ones, and what entropy and recursion ask."""
    if asked.kind == "recursive":
        c, l = float(asked.c or 0), int(asked.l)
        values = recursive_values(c, l)
        return BlockMinimum(values, values, recursive=((c, float(l)),))
    values = values_for(asked.l)
    by_entropy = asked.kind in ("entropy", "proximity")  # groups of close values are entropy l-diverse
    return BlockMinimum(values, values, log_l=math.log(asked.l) if by_entropy else 0.0)
