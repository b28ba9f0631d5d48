"""Where a plan puts each row if it is looked at alone, so that what becomes of it does not hang on the rows beside it.

`locate` may let a block climb until all rows of a table lie under what it is published as. Here it stays what it was when the
plan was learned, and a row that does not lie under it is not covered.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from sudare.errors import ParameterError
from sudare.plans.cuts import CutPlan
from sudare.plans.generalization import Located
from sudare.plans.levels import LevelsPlan
from sudare.plans.plan import Plan
from sudare.plans.tuples import TuplePlan
from sudare.tables.attribute import Role
from sudare.tables.table import Table

RowPlan = TuplePlan | LevelsPlan | CutPlan


def row_plan(plan: Plan) -> RowPlan:
    """Return a plan that says of each row alone what becomes of it; refuse one that does not, with the reason."""
    if isinstance(plan, TuplePlan) and plan.records.any():
        raise ParameterError(
            "The plan deals records with equal values to several blocks, so a row alone does not say where it belongs. Learn one that "
            "does not: method=sd.methods.Minimal(deal=False), or method='mondrian'."
        )
    if isinstance(plan, TuplePlan | LevelsPlan | CutPlan):
        return plan
    raise ParameterError(
        f"A plan of the kind '{plan.kind}' does not say of each row alone what becomes of it. Plans of the kinds "
        f"'{TuplePlan.kind}', '{LevelsPlan.kind}' and '{CutPlan.kind}' do: apply others with sd.apply."
    )


def columns_of(plan: RowPlan) -> list[str]:
    """Return the columns by which the plan looks rows up."""
    sensitive = plan.sensitive if isinstance(plan, TuplePlan) else None
    return [*plan.trees, *([] if sensitive is None else [sensitive])]


def located_one_by_one(plan: RowPlan, table: Table) -> Located:
    """Say where the rows of a table belong, each as if there were no other."""
    located = plan.locate(table)
    if not isinstance(plan, CutPlan):
        return located
    quasi = located.table.names(Role.quasi)
    order = [list(plan.trees).index(name) for name in quasi]
    inside = located.covered
    for at, name in enumerate(quasi):
        inside &= _lies_under(plan, located, at, name)
    return replace(
        located,
        block_of=np.where(inside, located.block_of, -1),
        levels=np.ascontiguousarray(plan.levels[:, order]),
    )


def _lies_under(plan: CutPlan, located: Located, at: int, name: str) -> NDArray[np.bool_]:
    """Tell which tuples lie, by one attribute, under the node that their block was published as."""
    a = list(plan.trees).index(name)
    tree = located.table[name].hierarchy
    assert tree is not None  # with_trees gave every quasi attribute one
    block = np.maximum(located.block_of, 0)
    level = plan.levels[block, a]
    own = tree.codes[level, located.counts.codes[:, at]]
    return np.asarray(own == plan.trees[name].codes[level, plan.corners[block, a]])
