"""Small tables as plain lists, and everything the folder computes, slowly and exactly, from the definitions alone.

Costs are fractions, histograms are counted record by record, and of `sudare.suitability` only the word BlockMinimum is used.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from math import lcm

import polars as pl
from scipy.optimize import linprog

import sudare as sd
from sudare.privacy.minimum import BlockMinimum

Path = tuple[str, ...]
Rule = Callable[[Counter[str | None]], bool]


@dataclass(frozen=True, eq=False)
class Plain:
    """Records, the paths of their values from leaf to root, and how much each attribute counts."""

    paths: Sequence[Sequence[Path]]
    """Of each attribute, the path of each value."""
    weights: Sequence[float]
    rows: Sequence[tuple[int | None, ...]]
    """Of each record, which value of each attribute it has; None is missing."""
    sensitive: Sequence[str | None]
    _tables: list[sd.Table] = field(default_factory=list, repr=False)

    @property
    def names(self) -> list[str]:
        return [f"q{a}" for a in range(len(self.paths))]

    def schema(self, quasi: Iterable[str] | None = None) -> sd.Schema:
        quasi = self.names if quasi is None else list(quasi)
        return sd.Schema.from_roles(
            quasi=quasi,
            other=[name for name in self.names if name not in quasi],
            sensitive=["illness"],
            hierarchies={name: sd.Hierarchy.from_rows(self.paths[int(name[1:])]) for name in quasi},
            weights={name: self.weights[int(name[1:])] for name in quasi},
        )

    def frame(self) -> pl.DataFrame:
        columns = {
            name: pl.Series(
                [None if row[a] is None else self.paths[a][row[a]][0] for row in self.rows], dtype=pl.String
            )
            for a, name in enumerate(self.names)
        }
        return pl.DataFrame({**columns, "illness": pl.Series(self.sensitive, dtype=pl.String)})

    def table(self) -> sd.Table:
        if not self._tables:
            self._tables.append(sd.read(self.frame(), self.schema()))
        return self._tables[0]

    def heights(self) -> list[int]:
        return [len(paths[0]) - 1 for paths in self.paths]

    @cached_property
    def shares(self) -> list[Fraction]:
        """What one level of each attribute costs a record. A weight of 0.1 is a tenth."""
        exact = [Fraction(repr(float(weight))) for weight in self.weights]
        total = sum(exact)
        return [
            weight / total / height if total else Fraction()
            for weight, height in zip(exact, self.heights(), strict=True)
        ]

    def node(self, a: int, row: int, level: int) -> object:
        """The node of an attribute that a record lies under: all of the path from there on, to be safe."""
        value = self.rows[row][a]
        if level == self.heights()[a]:
            return "the root"
        return "missing" if value is None else self.paths[a][value][level:]

    def levels(self, records: Sequence[int]) -> list[int]:
        """The lowest levels at which records are equal."""
        return [
            next(
                level
                for level in range(height + 1)
                if len({self.node(a, row, level) for row in records}) == 1
            )
            for a, height in enumerate(self.heights())
        ]

    def cost_at(self, levels: Sequence[int]) -> Fraction:
        return sum((share * level for share, level in zip(self.shares, levels, strict=True)), Fraction())

    def distance(self, u: int, v: int) -> Fraction:
        """CE(u, v)."""
        return self.cost_at(self.levels([u, v]))

    def histogram(self, records: Iterable[int]) -> Counter[str | None]:
        return Counter(self.sensitive[row] for row in records)

    # -- the bounds, from their definitions --------------------------------------------------------

    def nearest(self, u: int, records: int, values: int) -> Fraction:
        """The distance to the (k-1)-th nearest other record, and to the (l-1)-th nearest other value."""
        others = [v for v in range(len(self.rows)) if v != u]
        near = [Fraction(), *sorted(self.distance(u, v) for v in others)]
        of_value: dict[str | None, list[Fraction]] = {}
        for v in others:
            if self.sensitive[v] != self.sensitive[u]:
                of_value.setdefault(self.sensitive[v], []).append(self.distance(u, v))
        near_values = [Fraction(), *sorted(min(distances) for distances in of_value.values())]
        if records > len(near) or values > len(near_values):
            return Fraction(1)
        return max(near[records - 1], near_values[values - 1])

    def all_levels(self) -> Iterator[tuple[int, ...]]:
        return itertools.product(*(range(height + 1) for height in self.heights()))

    def cells(self, records: int, values: int) -> dict[tuple[tuple[int, ...], frozenset[int]], Fraction]:
        """All cells that have so many records and values: at these levels, those records, for that cost."""
        cells = {}
        for levels in self.all_levels():
            members: dict[object, set[int]] = {}
            for row in range(len(self.rows)):
                key = tuple(self.node(a, row, level) for a, level in enumerate(levels))
                members.setdefault(key, set()).add(row)
            for group in members.values():
                if len(group) >= records and len(self.histogram(group)) >= values:
                    cells[levels, frozenset(group)] = self.cost_at(levels)
        return cells

    # -- the optimum -------------------------------------------------------------------------------

    @cached_property
    def _block_costs(self) -> tuple[list[int], int]:
        """The cost of every set of records (as bits), in whole numbers, and how many make a suppressed record."""
        whole = lcm(*(share.denominator for share in self.shares))
        n = len(self.rows)
        costs = [0] * 2**n
        for block in range(1, 2**n):
            records = [row for row in range(n) if block >> row & 1]
            costs[block] = int(self.cost_at(self.levels(records)) * whole) * len(records)
        return costs, whole

    def optimum(self, rule: Rule, suppressing: bool = False) -> Fraction | None:
        """The least DIS of any partition of the records into blocks that meet the rule; None if there is none.

        The first record that has no block yet gets one, with every subset of the other such records.
        """
        costs, whole = self._block_costs
        n = len(self.rows)
        may = [False] + [
            rule(self.histogram(row for row in range(n) if block >> row & 1)) for block in range(1, 2**n)
        ]
        least: list[int | None] = [0] + [None] * (2**n - 1)
        for left in range(1, 2**n):
            first = left & -left
            others = left ^ first
            best = None
            if suppressing:
                rest = least[others]
                best = None if rest is None else rest + whole
            chosen = others
            while True:
                block = chosen | first
                rest = least[left ^ block]
                if may[block] and rest is not None and (best is None or rest + costs[block] < best):
                    best = rest + costs[block]
                if not chosen:
                    break
                chosen = (chosen - 1) & others
            least[left] = best
        largest = least[-1]
        return None if largest is None else Fraction(largest, whole * n)


def subsets(n: int) -> Iterator[tuple[int, ...]]:
    """All sets of some of n records but the empty one."""
    return itertools.chain.from_iterable(itertools.combinations(range(n), size) for size in range(1, n + 1))


def partitions(items: Sequence[str]) -> Iterator[list[list[str]]]:
    """All ways to put items into blocks."""
    if not items:
        yield []
        return
    first, rest = items[0], items[1:]
    for blocks in partitions(rest):
        yield [[first], *blocks]
        for i in range(len(blocks)):
            yield [*blocks[:i], [first, *blocks[i]], *blocks[i + 1 :]]


def possible_blocks(plain: Plain, minimum: BlockMinimum) -> dict[tuple[int, ...], Fraction]:
    """All sets of records that have what is needed, with the cost of each as a block."""
    return {
        block: plain.cost_at(plain.levels(block)) * len(block)
        for block in subsets(len(plain.rows))
        if len(block) >= minimum.records and len(plain.histogram(block)) >= minimum.values
    }


def best_program(plain: Plain, minimum: BlockMinimum) -> float:
    """The linear program itself, a constraint for every possible block."""
    blocks = possible_blocks(plain, minimum)
    n = len(plain.rows)
    rows = [[float(row in block) for row in range(n)] for block in blocks]
    limits = [float(cost) for cost in blocks.values()]
    if not rows:
        return 1.0
    return -float(linprog([-1.0] * n, A_ub=rows, b_ub=limits, bounds=(0, 1)).fun) / n
