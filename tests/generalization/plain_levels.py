"""Full-domain recoding by trying every choice of levels, from the definitions."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import product
from typing import NamedTuple

import sudare as sd
from sudare.generalization.problem import Problem

Levels = tuple[int, ...]
Holds = Callable[[Counter[int]], bool]


class Tried(NamedTuple):
    """What one choice of levels gives."""

    levels: Levels
    left_out: int
    cost: float


def every_choice(table: sd.Table, problem: Problem, rule: Holds, measure: str) -> Iterator[Tried]:
    """Try all levels; groups that do not meet the rule are left out."""
    costs = {"distortion": _climbed, "ncp": _covered, "discernibility": _together}[measure]
    for levels in product(*(range(tree.height + 1) for tree in problem.hierarchies)):
        groups: dict[tuple[int, ...], Counter[int]] = {}
        for unit, weight, value in zip(problem.units, problem.weights, problem.sensitive, strict=True):
            nodes = tuple(
                int(tree.codes[level, leaf])
                for tree, level, leaf in zip(problem.hierarchies, levels, unit, strict=True)
            )
            groups.setdefault(nodes, Counter())[int(value)] += int(weight)
        kept = {nodes: histogram.total() for nodes, histogram in groups.items() if rule(histogram)}
        left_out = len(table) - sum(kept.values())
        if left_out < len(table):
            yield Tried(levels, left_out, costs(table, problem, levels, kept, left_out))


def least(table: sd.Table, problem: Problem, rule: Holds, measure: str, spare: int) -> float:
    """The least cost of any choice that leaves no more than that out; infinite if there is none."""
    tried = every_choice(table, problem, rule, measure)
    return min((one.cost for one in tried if one.left_out <= spare), default=math.inf)


Kept = dict[tuple[int, ...], int]


def _shares(table: sd.Table, problem: Problem) -> list[float]:
    weights = [table.schema[name].weight for name in problem.names]
    return [weight / sum(weights) for weight in weights]


def _climbed(table: sd.Table, problem: Problem, levels: Levels, kept: Kept, left_out: int) -> float:
    own = sum(
        share * level / tree.height
        for share, level, tree in zip(_shares(table, problem), levels, problem.hierarchies, strict=True)
    )
    return (own * sum(kept.values()) + left_out) / len(table)


def _covered(table: sd.Table, problem: Problem, levels: Levels, kept: Kept, left_out: int) -> float:
    total = 0.0
    shares = _shares(table, problem)
    for a, (name, tree, level) in enumerate(zip(problem.names, problem.hierarchies, levels, strict=True)):
        declared = table.schema[name].hierarchy
        whole = declared if isinstance(declared, sd.Hierarchy) else tree
        if whole is declared and table[name].missing:
            whole = whole.with_missing()
        leaves = len(whole.rows())
        under = Counter(path[level:] for path in whole.rows())
        path_of = {int(node): path[level:] for node, path in zip(tree.codes[level], tree.rows(), strict=True)}
        if leaves > 1:
            cells = sum(size * (under[path_of[nodes[a]]] - 1) for nodes, size in kept.items()) / (leaves - 1)
            total += shares[a] * (cells + left_out)
    return total / len(table)


def _together(table: sd.Table, problem: Problem, levels: Levels, kept: Kept, left_out: int) -> float:
    return (sum(size**2 for size in kept.values()) + left_out * len(table)) / len(table) ** 2
