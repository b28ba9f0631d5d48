"""Blocks that other rows than those of a plan do not fill: they are left out where that is asked for.

Whoever is left out leaves nothing behind but that they are not there: what is published of the others is what a plan makes of them
alone. (That nobody of a kind is there tells that there are too few of it, or that they are too much alike.)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from sudare.plans.generalization import GeneralizationPlan, Located, Places
from sudare.plans.placed import without_uncovered
from sudare.privacy.in_population import of_blocks
from sudare.privacy.requirement import BlockRequirement, sensitive_attribute
from sudare.tables.attribute import Role
from sudare.tables.counts import is_first
from sudare.tables.table import Table
from sudare.verbs.blocks import blocks_of
from sudare.verbs.by_units import failing_by_unit, leaving_out
from sudare.verbs.ties import Ties
from sudare.verbs.units import rows_with_unit

Ints = NDArray[np.int64]
LEFT_OUT_BLOCKS = (
    "Records that the plan does not cover were left out, and so were blocks that do not have what was asked for: of people whom nobody here "
    "is like, that tells that they were too few, or too much alike."
)


def without_short_blocks(plan: GeneralizationPlan, table: Table, whole: Places) -> Places:
    """Return where a plan puts rows if blocks that do not have what it was asked for are left out, and what ties units together is, too."""
    if not isinstance(whole, Located):
        return whole  # of more tuples than are held at once, what fails is refused when it is recounted
    asked = of_blocks(plan.requirements)
    located = _without_failing(table, whole, asked)
    while table.schema.unit is not None and located.covered.any():
        placed = without_uncovered(plan, table, located)
        ties = Ties(rows_with_unit(placed.rest, placed.located.rewriting), table.schema, plan.requirements)
        if (tied := ties.tied()) is None:
            break
        units = table[table.schema.unit].values.is_in(tied.units.implode()).arg_true().to_numpy()
        located = _without_failing(table, leaving_out(located, units.astype(np.int64)), asked)
    return located


def _without_failing(table: Table, located: Located, asked: Sequence[BlockRequirement]) -> Located:
    """Leave out blocks, as receivers see them, that fail; others may do so for that, if they are compared with all records."""
    attribute = sensitive_attribute(asked, table)
    located = located if attribute is None else located.with_column(attribute)
    failing = None if table.schema.unit is None else failing_by_unit(table, located, asked, attribute)
    while located.covered.any():
        block_of = np.full(len(located.counts), -1, dtype=np.int64)
        block_of[located.covered] = located.rewriting.blocks_by(table.names(Role.quasi))
        if failing is None:
            blocks = blocks_of(table, located.counts, block_of, attribute)
            bad = np.any([one.failing(blocks) for one in asked], axis=0)
        else:
            bad = failing(block_of)
        left_out = (block_of >= 0) & bad[block_of]
        if not left_out.any():
            break
        if located.dealt:  # with all records that are equal: what is left is dealt as before
            quasi = [located.counts.names.index(name) for name in table.names(Role.quasi)]
            of_tuple = np.cumsum(is_first(located.counts.codes[:, quasi])) - 1
            left_out = np.isin(of_tuple, of_tuple[left_out])
        located = replace(located, block_of=np.where(left_out, -1, located.block_of))
    return located
