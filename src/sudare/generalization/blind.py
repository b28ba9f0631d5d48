"""Mondrian that does not look at sensitive values: who is in which block follows from the quasi values alone.

Every other method decides by the sensitive values where it cuts, and who knows that learns from a block that was not cut
(`attacks.minimality`). Here cuts are made by sizes alone: every part has k records. Parts that do not meet the other
requirements are left out as a whole.

What is proven. Take any two ways to deal the values of every published block out to its people. Both give the same cuts, as
these do not depend on values; both leave the same parts out, as whether a part is left out depends on its own values only, and
those of a published part are the same; so both give the same release. Whatever somebody believes of who has which of a
block's values, knowing the method changes nothing about it. (Parts that get the same labels are one block before they are
looked at, or that would not be so.) Of people who are left out nothing is published; who knows that they were in the table, and
how parts are cut, learns that the values of their part did not meet the requirements, and not which these are, unless how
often a value occurs in the whole table is known from elsewhere.

With `region_labels` a block has the labels of its cuts: it is not said of people what they happen to have in common beside,
and no cut is made with all people on one side. So a label does not tell that people below two of its children are there, by
which labels can be undone (`attacks.downcoding`), and that a part with fewer than 2k records was not cut further tells nothing:
it could not have been, whoever was in it. There is one exception, what stayed together when others were cut off: there people
below two nodes or more are.

What is not promised: a model of which people have which values (`attacks.definetti`) rests on the blocks, not on the
method; nor does it help against other releases (`attacks.composition`). Parts of 2k records or more, and which attribute was cut
first, tell how unevenly quasi values are spread. And k must not be chosen by looking at what comes out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sudare.engines.relational import Relational
from sudare.errors import InputError, ParameterError, RequirementError
from sudare.generalization.problem import Problem, with_hierarchies
from sudare.generalization.recoding import Recoding
from sudare.plans.tuples import TuplePlan
from sudare.privacy.blocks import Blocks
from sudare.privacy.k_anonymity import KAnonymity
from sudare.privacy.limits import ByTable
from sudare.privacy.requirement import BlockRequirement, sensitive_attribute
from sudare.tables.attribute import Role
from sudare.tables.counts import Counts
from sudare.tables.table import Table

Ints = NDArray[np.int64]
REST = -1
"""In place of a node: what stays together under its parent."""


def learn_blind(
    table: Table, requirements: Sequence[BlockRequirement], name: str, *, suppress: float, region_labels: bool
) -> TuplePlan:
    """Cut a table by sizes alone, and leave parts out that do not meet the requirements."""
    sizes = [one.k for one in requirements if isinstance(one, KAnonymity)]
    if not sizes:
        raise ParameterError("The method 'blind' cuts by k alone. Ask for k-anonymity, too.")
    _refuse_labels_of_data(table)
    _refuse_too_many(table)
    table = with_hierarchies(table)
    quasi = Problem.of(table, [KAnonymity(max(sizes))])  # counted without the sensitive attribute
    block_of, levels = cut_by_sizes(quasi, max(sizes))
    if not region_labels:
        levels = Recoding.of(name, quasi, block_of).levels.astype(np.int64)
    block_of, levels = _by_labels(quasi, block_of, levels)
    failing = _failing(table, requirements, block_of)
    left_out = failing[block_of]
    _refuse_left_out(
        table, requirements, float(quasi.weights[left_out].sum() / quasi.weights.sum()), suppress
    )
    place = np.where(failing, -1, np.cumsum(~failing) - 1)
    kept = levels[~failing].astype(np.int16)
    return Recoding(name, quasi, place[block_of], kept).plan(requirements)


def _refuse_labels_of_data(table: Table) -> None:
    """Refuse intervals that would be made from the data: they would end at values of people who are left out."""
    for name in table.names(Role.quasi):
        column = table[name]
        dtype = column.values.dtype
        if (
            column.hierarchy is None
            and (dtype.is_numeric() or dtype.is_temporal())
            and len(column.values) > 2
        ):
            raise InputError(
                f"{table.source.name}: '{name}' has no hierarchy, and the method 'blind' makes none from the data. Declare one in "
                "the schema."
            )


def _refuse_too_many(table: Table) -> None:
    """Refuse a table whose tuples are not held at once: it would have to be cut by regions, which look at sensitive values."""
    rows, names = table.rows, table.names(Role.quasi)
    if isinstance(rows, Relational) and rows.tuple_count(names) > rows.max_tuples:
        raise InputError(
            f"{table.source.name}: its tuples are too many to be held at once, and the method 'blind' cuts the whole table. Read it with "
            "more memory."
        )


def _refuse_left_out(
    table: Table, requirements: Sequence[BlockRequirement], share: float, suppress: float
) -> None:
    if share and any(isinstance(one, ByTable) for one in requirements):
        raise RequirementError(
            f"{table.source.name}: some parts are too unlike the whole table, and none may be left out from what it is "
            "compared with. Ask for a larger k."
        )
    if share > suppress:
        raise RequirementError(
            f"{table.source.name}: parts with {share:.1%} of the records do not meet the requirements, and 'suppress' lets {suppress:.1%} "
            "be left out. Ask for a larger k, or let more be left out."
        )


def _failing(table: Table, requirements: Sequence[BlockRequirement], block_of: Ints) -> NDArray[np.bool_]:
    """Tell of each block whether it fails."""
    names, attribute = table.names(Role.quasi), sensitive_attribute(requirements, table)
    blocks = int(block_of.max()) + 1
    failing = np.zeros(blocks, dtype=bool)
    if attribute is None:
        return failing  # every part has k records
    counts = table.counts([*names, attribute])
    codes = counts.codes[:, :-1]
    unit = np.cumsum(
        np.append(False, (codes[1:] != codes[:-1]).any(axis=1))
    )  # as the units stand: in rising order
    columns = {"block": block_of[unit], attribute: counts.codes[:, -1]}
    counted = Counts.of(columns, [blocks, counts.sizes[-1]], counts.weights)
    column = table[attribute]
    by_block = Blocks.of(counted, attribute, column.hierarchy, column.values)
    for requirement in requirements:
        failing |= requirement.failing(by_block)
    return failing


def _by_labels(p: Problem, block_of: Ints, levels: Ints) -> tuple[Ints, Ints]:
    """Take blocks together that would be published alike."""
    first = np.unique(block_of, return_index=True)[1]
    attributes = np.arange(len(p.names))
    nodes = p.trees.nodes[p.trees.offset[attributes, levels] + p.units[first]]
    _, kept, number = np.unique(np.hstack([levels, nodes]), axis=0, return_index=True, return_inverse=True)
    return number.reshape(-1)[block_of], levels[kept]


@dataclass(frozen=True, eq=False)
class _Cut:
    attribute: int
    level: int
    part_of: Ints
    """The node of each unit; REST for what stays together."""
    gain: float
    """What is saved by it."""


def cut_by_sizes(p: Problem, least: int) -> tuple[Ints, Ints]:
    """Cut top down, each time where most is saved, while every part has so many records.

    Returns the block of each unit, and the levels at which each block was cut.
    """
    block_of = np.zeros(len(p.units), dtype=np.int64)
    levels: list[Ints] = []
    waiting = [(np.arange(len(p.units)), p.trees.height.astype(np.int64), frozenset[int]())]
    while waiting:
        units, level, closed = waiting.pop()
        cuts = [_cut(p, units, a, int(level[a]), least) for a in range(len(p.names)) if a not in closed]
        best = max((cut for cut in cuts if cut is not None), key=lambda cut: cut.gain, default=None)
        if best is None:
            block_of[units] = len(levels)
            levels.append(level)
            continue
        for node in np.unique(best.part_of).tolist():
            below, own = level.copy(), closed | {best.attribute}
            if node != REST:
                below[best.attribute], own = best.level, closed
            waiting.append((units[best.part_of == node], below, own))
    return block_of, np.array(levels)


def _cut(p: Problem, units: Ints, a: int, level: int, least: int) -> _Cut | None:
    """Take a node apart on the next level on which two parts or more come of it; None where there is none.

    Nodes that are too small stay together, with the smallest others if they are still too few.
    """
    for below in range(level - 1, -1, -1):
        node = p.trees.nodes[p.trees.offset[a, below] + p.units[units, a]]
        sizes = np.bincount(node, p.weights[units]).astype(np.int64)
        rising = np.argsort(sizes, kind="stable")
        rising = rising[sizes[rising] > 0]
        if len(rising) < 2:
            continue
        total = np.append(0, np.cumsum(sizes[rising]))  # what stays together, if so many of the smallest do
        few = int(np.searchsorted(sizes[rising], least))
        together = 0 if few == 0 else max(few, int(np.searchsorted(total, least)))
        if together == len(rising):
            continue
        apart = np.zeros(len(sizes), dtype=bool)
        apart[rising[together:]] = True
        gain = float(sizes[apart].sum() * (level - below) * p.trees.step[a])
        return _Cut(a, below, np.where(apart[node], node, REST), gain)
    return None
