"""Small random tables, and what can be asked of their blocks."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from random import Random

from hypothesis import strategies as st

import sudare as sd
from sudare.generalization.problem import Problem
from sudare.privacy.minimum import BlockMinimum
from sudare.privacy.requirement import BlockRequirement
from sudare.suitability.costs import Costs
from tests import by_row
from tests.privacy.plain import has_distinct, has_entropy, has_k, is_recursive
from tests.suitability.plain import Path, Plain

randoms = st.randoms(use_true_random=False)
EASY = [1.0, 1.0, 1.0, 2.0, 0.5]
ODD = [1.0, 0.0, 0.1, 1 / 3, 3.0, 1e-9, 7.25]
MINIMA = [
    *(BlockMinimum(records) for records in (1, 2, 3, 9)),
    *(BlockMinimum(*both) for both in ((2, 2), (3, 3), (3, 2), (5, 2), (4, 4))),
]


@dataclass(frozen=True)
class Asked:
    """Requirements, and what they mean: k records, l values, and of some entropy or (c, l)."""

    k: int = 1
    distinct: int = 1
    entropy: float = 1
    recursive: tuple[float, int] | None = None

    def requirements(self) -> list[BlockRequirement]:
        requirements: list[BlockRequirement] = [sd.KAnonymity(self.k)]
        if self.distinct > 1:
            requirements.append(sd.LDiversity(self.distinct))
        if self.entropy > 1:
            requirements.append(sd.LDiversity(self.entropy, "entropy"))
        if self.recursive is not None:
            requirements.append(sd.LDiversity(self.recursive[1], "recursive", c=self.recursive[0]))
        return requirements

    def __call__(self, histogram: Counter[str | None]) -> bool:
        return (
            has_k(histogram, self.k)  # type: ignore[arg-type]
            and has_distinct(histogram, self.distinct)  # type: ignore[arg-type]
            and has_entropy(histogram, Fraction(self.entropy))  # type: ignore[arg-type]
            and (self.recursive is None or is_recursive(histogram, *self.recursive))  # type: ignore[arg-type]
        )


ASKED = [
    Asked(k=2), Asked(k=3), Asked(distinct=2), Asked(distinct=3),
    Asked(entropy=1.5), Asked(entropy=2), Asked(entropy=2.5), Asked(entropy=3),
    Asked(recursive=(1, 2)), Asked(recursive=(2, 2)), Asked(recursive=(0.5, 1)), Asked(recursive=(3, 3)),
    Asked(k=3, distinct=2), Asked(k=4, distinct=2), Asked(k=3, entropy=1.5), Asked(k=4, distinct=3),
    Asked(k=3, entropy=2, recursive=(2, 2)),
]  # fmt: skip


def random_paths(r: Random, leaves: int, depth: int) -> list[Path]:
    """A tree; where a node has one child, it sometimes has its name too."""
    paths = [[f"v{i}"] for i in range(leaves)]
    for level in range(1, depth):
        nodes = list(dict.fromkeys(path[-1] for path in paths))
        group = {node: r.randrange(max(1, len(nodes) - 1)) for node in nodes}
        alone = Counter(group.values())
        for path in paths:
            own = path[-1]
            path.append(own if alone[group[own]] == 1 and group[own] % 2 else f"g{level}.{group[own]}")
    return [(*path, "*") for path in paths]


def random_plain(
    r: Random, *, most: int = 7, attributes: int = 3, odd: bool = False, missing: bool = True, values: int = 4
) -> Plain:
    """Up to `most` records, some of them copies of each other, in part or in whole."""
    n = r.randint(1, most) if r.random() < 0.2 else r.randint(max(1, most - 3), most)
    paths = [random_paths(r, r.randint(1, 5), r.randint(1, 3)) for _ in range(r.randint(1, attributes))]
    rows: list[tuple[int | None, ...]] = []
    sensitive: list[str | None] = []
    copying = r.choice([0.0, 0.2, 0.5])
    values = r.randint(1, values)
    for _ in range(n):
        if rows and r.random() < copying:
            row = r.randrange(len(rows))
            rows.append(rows[row])
            sensitive.append(sensitive[row] if r.random() < 0.5 else f"s{r.randrange(values)}")
        else:
            rows.append(tuple(r.randrange(len(own)) for own in paths))
            sensitive.append(f"s{r.randrange(values)}")
    if missing and n > 1 and r.random() < 0.3:
        a = r.randrange(len(paths))
        rows[-1] = tuple(None if i == a else value for i, value in enumerate(rows[-1]))
        if r.random() < 0.3:
            sensitive[-1] = None
    weights = [r.choice(ODD if odd else EASY) for _ in paths]
    return Plain(paths, weights, rows, sensitive)


def problem_of(plain: Plain, by_value: bool = True) -> Problem:
    """Records by their quasi and, if asked, their sensitive value."""
    return Problem.of(plain.table(), [sd.LDiversity(1) if by_value else sd.KAnonymity(1)])


def costs_of(plain: Plain) -> Costs:
    return Costs.of(plain.heights(), plain.weights)


def row_units(plain: Plain, problem: Problem) -> list[int]:
    """Which unit of the problem each record is."""
    return by_row.unit_of(plain.table(), problem).tolist()


def some_row(plain: Plain, problem: Problem) -> list[int]:
    """Of each unit, one row of the table."""
    rows = row_units(plain, problem)
    return [rows.index(unit) for unit in range(len(problem.units))]
