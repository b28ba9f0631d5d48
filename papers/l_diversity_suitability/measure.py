"""Ours: the bounds, what the histogram allows, and what generalization reaches, for a table and an l.

The bounds come from `Facts`, of which `sd.assess` is made; `sd.assess` itself would also work out what the holder can
do instead, which takes far longer than the figures of the paper.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass

import sudare as sd
from papers.l_diversity_suitability.data import Source
from sudare.generalization.minimal import learn_minimal
from sudare.generalization.problem import Problem, with_hierarchies
from sudare.privacy.requirement import BlockRequirement
from sudare.suitability.bounds import By
from sudare.suitability.facts import Facts
from sudare.suitability.histogram import max_blocks


@dataclass(frozen=True)
class Row:
    """A row of Table 3, with the row of Table 4 that belongs to it. k = l. None: not feasible."""

    name: str
    l: int
    bound_l: float
    """The paper's lower bound for l-diversity."""
    best_l: float
    """The best that we can prove under entropy l-diversity (where that is not feasible, distinct), and the argument."""
    by_l: By
    entropy: float | None
    """The DIS that the minimal method reaches under entropy l-diversity."""
    distinct: float | None
    """The same under distinct l-diversity."""
    max_blocks: int
    min_block_distinct: int | None
    min_block_entropy: int | None
    bound_k: float
    best_k: float
    by_k: By
    reached_k: float
    reached_e: float | None
    """The DIS of k-anonymity with k = BS_e."""
    seconds: float
    """For all of the row, compiling not included."""

    @property
    def ratio_l(self) -> float | None:
        """Upper / lower under entropy l-diversity, with the best lower bound."""
        return None if self.entropy is None else _over(self.entropy, self.best_l)

    @property
    def ratio_k(self) -> float:
        """Upper / lower under k-anonymity, with the best lower bound."""
        return _over(self.reached_k, self.best_k)

    @property
    def ratio(self) -> float | None:
        """Table 4: the paper's bound over what k-anonymity reaches with k = BS_e."""
        return None if self.reached_e is None else _over(self.bound_l, self.reached_e)


def _over(upper: float, lower: float) -> float:
    """Return a ratio; 1 if both are 0."""
    return upper / lower if lower else (float("inf") if upper else 1.0)


def rows(source: Source, quick: bool = False) -> Iterator[Row]:
    """Measure a table, one l after the other."""
    table = source.table(quick)
    by_value = table.counts([*table.names("quasi"), source.sensitive])
    facts = Facts(with_hierarchies(table), by_value, tight=source.tight)
    for l in source.ls:
        if facts.feasible(sd.LDiversity(l)):
            yield _row(source.name, table, facts, l)


def _row(name: str, table: sd.Table, facts: Facts, l: int) -> Row:
    start = time.perf_counter()
    distinct, entropy = sd.LDiversity(l), sd.LDiversity(l, "entropy")
    feasible = facts.feasible(entropy)
    (best_l,) = facts.best_l([entropy if feasible else distinct])
    (best_k,) = facts.best_k([l])
    return Row(
        name=name,
        l=l,
        bound_l=facts.nearest_l([distinct])[0].value,
        best_l=best_l.value,
        by_l=best_l.by,
        entropy=_reached(table, entropy) if feasible else None,
        distinct=_reached(table, distinct),
        max_blocks=max_blocks(facts.counts, l),
        min_block_distinct=facts.min_block(distinct),
        min_block_entropy=facts.min_block(entropy),
        bound_k=facts.nearest_k([l])[0].value,
        best_k=best_k.value,
        by_k=best_k.by,
        reached_k=facts.reached(l),
        reached_e=facts.reached_for(entropy),
        seconds=time.perf_counter() - start,
    )


def _reached(table: sd.Table, requirement: BlockRequirement) -> float:
    return learn_minimal(Problem.of(table, [requirement])).distortion()
