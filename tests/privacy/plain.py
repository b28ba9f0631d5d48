"""The requirements from their definitions, slowly, in whole numbers and fractions: nothing here is rounded."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from math import prod

import numpy as np
import polars as pl
from scipy.optimize import linprog

from sudare.privacy.beta_likeness import BetaLikeness
from sudare.privacy.blocks import Blocks
from sudare.privacy.delta_disclosure import DeltaDisclosure
from sudare.privacy.l_diversity import LDiversity
from sudare.privacy.requirement import BlockRequirement
from sudare.privacy.t_closeness import TCloseness
from sudare.tables.counts import count
from sudare.tables.hierarchy import Hierarchy

Records = Sequence[tuple[int, int]]  # of each record the block and the sensitive value

VALUES = 6
TREE = Hierarchy.from_rows(
    [
        ["0", "a", "x", "*"],
        ["1", "a", "x", "*"],
        ["2", "b", "x", "*"],
        ["3", "b", "x", "*"],
        ["4", "4", "4", "*"],
        ["5", "c", "y", "*"],
    ]
)
NUMBERS = (2.0, -3.0, 1.0, 10.0, 1.05, 0.0)
"""The sensitive values by code, in no order."""


def blocks_of(records: Records) -> Blocks:
    """Count records by block and sensitive value."""
    block, value = (np.array(column) for column in zip(*records, strict=True))
    counts = count({"block": block, "s": value}, sizes=[int(block.max()) + 1, VALUES])
    return Blocks.of(counts, "s", TREE, pl.Series("s", NUMBERS))


def histograms(records: Records) -> list[Counter[int]]:
    """Count the sensitive values of every block, in rising order of the blocks."""
    return [Counter(v for b, v in records if b == block) for block in sorted({b for b, _ in records})]


def has_k(histogram: Counter[int], k: int) -> bool:
    return histogram.total() >= k


def has_distinct(histogram: Counter[int], l: int) -> bool:
    return len(histogram) >= l


def has_entropy(histogram: Counter[int], l: int) -> bool:
    """-sum p log p >= log l, with both sides multiplied by n and the logarithms undone."""
    n = histogram.total()
    return n**n >= l**n * prod(c**c for c in histogram.values())


def is_recursive(histogram: Counter[int], c: float, l: int) -> bool:
    falling = sorted(histogram.values(), reverse=True)
    return falling[0] < Fraction(str(c)) * sum(falling[l - 1 :])


def is_spread(histogram: Counter[int], l: float, within: float, relative: bool) -> bool:
    """No interval of the width has more than 1/l of the records: look at all that begin or end at a value."""
    width, counted = Fraction(str(within)), [(Fraction(str(NUMBERS[v])), c) for v, c in histogram.items()]

    def limit(x: Fraction) -> Fraction:
        if not relative:
            return x + width
        return x * (1 + width) if x > 0 else x / (1 + width)

    most = max(sum(c for y, c in counted if x <= y <= limit(x)) for x, _ in counted)
    return most * Fraction(str(l)) <= histogram.total()


def is_close(histogram: Counter[int], table: Counter[int], t: float, distance: str) -> bool:
    far = DISTANCES[distance](histogram, table)
    return far <= Fraction(str(t)) if isinstance(far, Fraction) else far <= t + 1e-9


def equal_distance(histogram: Counter[int], table: Counter[int]) -> Fraction:
    return sum((abs(extra) for extra in _extras(histogram, table)), Fraction()) / 2


def ordered_distance(histogram: Counter[int], table: Counter[int]) -> Fraction:
    """What must cross from the first i values to the others, for every i."""
    extras = _extras(histogram, table)
    return sum((abs(sum(extras[:i], Fraction())) for i in range(1, VALUES)), Fraction()) / (VALUES - 1)


def hierarchical_distance(histogram: Counter[int], table: Counter[int]) -> float:
    return earth_movers_distance(histogram, table, lambda a, b: TREE.meet(a, b) / TREE.height)


def is_alike(histogram: Counter[int], table: Counter[int], beta: float, enhanced: bool) -> bool:
    """Every value that grows, (q - p) / p, does so by no more than beta; and, enhanced, by no more than -ln p."""
    n, N = histogram.total(), table.total()
    for value in histogram:
        p, q = Fraction(table[value], N), Fraction(histogram[value], n)
        if (q - p) / p > Fraction(str(beta)):
            return False
        if enhanced and q > p and float((q - p) / p) > -math.log(p) + 1e-9:
            return False
    return True


def discloses_little(histogram: Counter[int], table: Counter[int], delta: float) -> bool:
    """Every value of the table has a share with |ln(q / p)| < delta; a logarithm is equal to such a delta for 1 alone, which no q is."""
    n, N = histogram.total(), table.total()
    for value in table:
        if not histogram[value]:
            return False
        if abs(math.log(Fraction(histogram[value], n) / Fraction(table[value], N))) >= delta:
            return False
    return True


DISTANCES = {
    "equal": equal_distance,
    "ordered": ordered_distance,
    "hierarchical": hierarchical_distance,
}
GROUND: dict[str, Callable[[int, int], float]] = {
    "equal": lambda a, b: float(a != b),
    "ordered": lambda a, b: abs(a - b) / (VALUES - 1),
    "hierarchical": lambda a, b: float(TREE.meet(a, b)) / TREE.height,
}


def earth_movers_distance(
    histogram: Counter[int], table: Counter[int], ground: Callable[[int, int], float]
) -> float:
    """Solve the transportation problem itself."""
    cost = [float(ground(a, b)) for a in range(VALUES) for b in range(VALUES)]
    flows = np.arange(VALUES * VALUES).reshape(VALUES, VALUES)
    leaves = np.array([np.isin(flows.ravel(), flows[a]) for a in range(VALUES)], dtype=float)
    arrives = np.array([np.isin(flows.ravel(), flows[:, b]) for b in range(VALUES)], dtype=float)
    p = [histogram[v] / histogram.total() for v in range(VALUES)]
    q = [table[v] / table.total() for v in range(VALUES)]
    return float(linprog(cost, A_eq=np.vstack([leaves, arrives]), b_eq=[*p, *q]).fun)


def _extras(histogram: Counter[int], table: Counter[int]) -> list[Fraction]:
    n, N = histogram.total(), table.total()
    return [Fraction(histogram[v], n) - Fraction(table[v], N) for v in range(VALUES)]


def holds(requirement: BlockRequirement, histogram: Counter[int], table: Counter[int]) -> bool:
    """Tell whether a block holds, by the definition."""
    if isinstance(requirement, TCloseness):
        return is_close(histogram, table, requirement.t, requirement.distance)
    if isinstance(requirement, BetaLikeness):
        return is_alike(histogram, table, requirement.beta, requirement.kind == "enhanced")
    if isinstance(requirement, DeltaDisclosure):
        return discloses_little(histogram, table, requirement.delta)
    if isinstance(requirement, LDiversity) and requirement.harmless:
        others = Counter(
            {v: c for v, c in histogram.items() if f"{NUMBERS[v]:g}" not in requirement.harmless}
        )
        return not others or holds(replace(requirement, harmless=()), others, table)
    test: dict[str, Callable[[], bool]] = {
        "k": lambda: has_k(histogram, requirement.k),  # type: ignore[attr-defined]
        "l_distinct": lambda: has_distinct(histogram, requirement.l),  # type: ignore[attr-defined]
        "l_entropy": lambda: has_entropy(histogram, requirement.l),  # type: ignore[attr-defined]
        "l_recursive": lambda: is_recursive(histogram, requirement.c, requirement.l),  # type: ignore[attr-defined]
        "l_proximity": lambda: is_spread(
            histogram,
            requirement.l,  # type: ignore[attr-defined]
            requirement.within,  # type: ignore[attr-defined]
            requirement.relative,  # type: ignore[attr-defined]
        ),
    }
    return test[requirement.name]()
