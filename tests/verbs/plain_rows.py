"""What a plan makes of each row alone, as slowly and plainly as it can be said: no code of the package looks anything up here."""

from __future__ import annotations

from collections import Counter
from typing import Any

from sudare.plans.cuts import CutPlan
from sudare.plans.levels import LevelsPlan
from sudare.plans.tuples import TuplePlan

Row = dict[str, str | None]


def labels_of(plan: Any, row: Row) -> dict[str, str | None] | None:
    """Return the label of each quasi attribute of a row, given as texts; None if the plan does not cover it."""
    leaves = {}
    for name, tree in plan.trees.items():
        if row[name] not in tree.leaves:
            return None
        leaves[name] = tree.leaves.index(row[name])
    levels = _levels(plan, row, leaves)
    if levels is None:
        return None
    return {
        name: tree.labels[levels[name]][tree.codes[levels[name]][leaves[name]]]
        for name, tree in plan.trees.items()
    }


def _levels(plan: Any, row: Row, leaves: dict[str, int]) -> dict[str, int] | None:
    names = list(plan.trees)
    if isinstance(plan, TuplePlan):
        for known, block in zip(plan.tuples.tolist(), plan.block_of.tolist(), strict=True):
            place = [] if plan.sensitive is None else [list(plan.sensitive_values).index(row[plan.sensitive])]
            if known == [*leaves.values(), *place]:
                return dict(zip(names, plan.levels[block].tolist(), strict=True))
        return None
    if isinstance(plan, LevelsPlan):
        group = [int(plan.trees[name].codes[plan.levels[name]][leaves[name]]) for name in names]
        if group not in plan.groups.tolist() or tuple(row[name] for name in names) in plan.left_out.rows():
            return None
        return dict(plan.levels)
    assert isinstance(plan, CutPlan)
    part = 0
    while plan.block[part] < 0:
        name = names[plan.attribute[part]]
        node = plan.trees[name].codes[plan.level[part]][leaves[name]]
        ways = {own: becomes for of, own, becomes in plan.branches.tolist() if of == part}
        if node not in ways and -1 not in ways:
            return None
        part = ways.get(node, ways.get(-1))
    block = plan.block[part]
    for a, name in enumerate(names):
        level, codes = plan.levels[block][a], plan.trees[name].codes
        if codes[level][leaves[name]] != codes[level][plan.corners[block][a]]:
            return None
    return dict(zip(names, plan.levels[block].tolist(), strict=True))


def published(
    plan: Any, rows: list[Row], passed: list[str], k: int, l: int, sensitive: str, *, suppress: bool
) -> Counter[tuple[str | None, ...]]:
    """Return what comes out of some rows: everything, or nothing; or what the plan covers and blocks are filled with."""
    labelled = [(labels_of(plan, row), row) for row in rows]
    if not suppress and any(labels is None for labels, _ in labelled):
        return Counter()
    kept = [(labels, row) for labels, row in labelled if labels is not None]
    blocks: dict[tuple[str | None, ...], list[str | None]] = {}
    for labels, row in kept:
        blocks.setdefault(tuple(labels.values()), []).append(row[sensitive])
    short = {block for block, values in blocks.items() if len(values) < k or len(set(values)) < l}
    if short and not suppress:
        return Counter()
    filled = [(labels, row) for labels, row in kept if tuple(labels.values()) not in short]
    return Counter((*labels.values(), *(row[name] for name in passed)) for labels, row in filled)
