"""Labels that are made from the records that are published, and from nobody else's.

Where the schema does not say what a hierarchy is, it is made from the values of the table: the ends of its intervals are
somebody's values, and its height grows with the largest. So once it is known who is left out, such hierarchies are
made again from the others alone, and the blocks labelled by them. Blocks stay as they are: they are alike at some level of
any tree, and blocks that get one label together hold what each of them held.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from sudare.generalization.problem import Problem, hierarchy_of
from sudare.generalization.recoding import Recoding
from sudare.privacy.requirement import Requirement
from sudare.tables.builders import ROOT
from sudare.tables.column import Column
from sudare.tables.hierarchy import Hierarchy
from sudare.tables.recipes import FileRecipe, GroupsRecipe, TreeRecipe
from sudare.tables.schema import Attribute, Role
from sudare.tables.table import Table
from sudare.tables.text import text_of


def labelled_by_kept(
    table: Table, plan: Recoding, requirements: Sequence[Requirement]
) -> tuple[Table, Recoding]:
    """Return the table and the plan with hierarchies that nobody who is left out had a part in."""
    kept = plan.kept
    made = [name for name in table.names(Role.quasi) if _from_data(table.schema[name])]
    if kept.all() or not made:
        return table, plan
    columns = {name: _by(table[name], table.schema[name], kept) for name in made}
    table = replace(table, columns=table.columns | columns)
    return table, Recoding.of(plan.method, Problem.of(table, requirements), plan.block_of)


def _from_data(attribute: Attribute) -> bool:
    """Say whether a hierarchy is made from the table's values."""
    if isinstance(attribute.hierarchy, Hierarchy | FileRecipe | TreeRecipe | GroupsRecipe):
        return False
    return attribute.hierarchy is None or attribute.domain is None


def _by(column: Column, attribute: Attribute, kept: NDArray[np.bool_]) -> Column:
    """Return a column with a hierarchy made from the rows that are kept; other values are only under its root."""
    if attribute.domain is not None:  # values are declared; only how records weigh them is the data's
        return replace(
            column, hierarchy=hierarchy_of(replace(column, codes=column.codes[kept], hierarchy=None))
        )
    rest = column.take(column.codes[kept], column.name)
    place = np.full(column.size, -1, dtype=np.int64)
    place[column.codes[kept]] = rest.codes
    return replace(column, hierarchy=_with_strangers(_made_from(rest, attribute), place, column))


def _made_from(column: Column, attribute: Attribute) -> Hierarchy:
    """Return the hierarchy that a column of its own would have got."""
    if len(column.values) == 0:
        return Hierarchy(((None,), (ROOT,)), np.zeros((2, 1), dtype=np.int32))
    recipe = attribute.hierarchy
    if recipe is None or isinstance(recipe, Hierarchy):
        return hierarchy_of(column)
    built = recipe.build(column.values)
    built = built.take(built.find(column.values))
    return built.with_missing() if column.missing else built


def _with_strangers(tree: Hierarchy, place: NDArray[np.int64], column: Column) -> Hierarchy:
    """Give every code its leaf; a code without one gets a branch of its own, whose name is never published."""
    strangers, known = np.flatnonzero(place < 0), np.flatnonzero(place >= 0)
    names = tuple(None if v is None else text_of(v) for v in column.decode(strangers).to_list())
    codes = np.zeros((tree.height + 1, len(place)), dtype=np.int32)
    codes[:, known] = tree.codes[:, place[known]]
    labels = list(tree.labels)
    for level in range(tree.height):
        codes[level, strangers] = len(labels[level]) + np.arange(len(strangers))
        labels[level] = (*labels[level], *names)
    return Hierarchy(tuple(labels), codes)
