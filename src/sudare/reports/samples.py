"""A few people before and after: what was known of them, and what is published."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from sudare.plans.generalization import Located, Places
from sudare.reports.words import shown_value
from sudare.tables.attribute import Role
from sudare.tables.table import Table

PEOPLE = 4  # whose rows are shown
MAX_COUNTED = 200_000  # rows up to which all columns are counted together, to show those that are passed on
LEFT_OUT = "(left out)"
MOVED = "(moved)"


class Sample(NamedTuple):
    """Somebody's values by column, and what became of them."""

    original: list[str]
    published: list[str]


class Samples(NamedTuple):
    """Some people, from the first to the last by their values."""

    columns: list[str]
    people: list[Sample]


def samples_of(whole: Places) -> Samples:
    """Show some people of a generalized table, evenly chosen by their values; a page sees counts, and no rows."""
    piece = next(iter(whole.pieces()))
    passed = _passed(whole)
    located = piece.by_rows(passed) if passed else piece
    ends = np.cumsum(located.counts.weights)
    chosen = np.searchsorted(ends, (np.arange(PEOPLE) + 0.5) / PEOPLE * ends[-1], side="right")
    names = [name for name in located.table.publishable if name in located.counts.names]
    return Samples(names, [_sample(located, int(at), names) for at in dict.fromkeys(chosen.tolist())])


def _passed(whole: Places) -> list[str]:
    """Return the columns beside those of the tuples that can be shown, too: it takes counting by all of them.

    Where persons or households are published as such, their rows are dealt to blocks otherwise, and where a table is large it takes too long.
    """
    table = whole.table
    if not isinstance(whole, Located) or len(table) > MAX_COUNTED or _is_linked(table):
        return []
    return [name for name in table.publishable if name not in whole.counts.names]


def _is_linked(table: Table) -> bool:
    unit = table.schema.unit
    return unit is not None and table.schema[unit].linked


def _sample(located: Located, at: int, names: Sequence[str]) -> Sample:
    counts, table, block = located.counts, located.table, int(located.block_of[at])
    quasi = table.names(Role.quasi)
    original, published = [], []
    for name in names:
        code = int(counts.codes[at, counts.names.index(name)])
        own = shown_value(table[name].decode([code])[0])
        tree, label = table[name].hierarchy, own
        if block < 0:
            label = LEFT_OUT
        elif table.schema[name].shift is not None:
            label = MOVED  # by how many days nobody knows any more
        elif name in quasi and tree is not None and (level := int(located.levels[block, quasi.index(name)])):
            label = shown_value(tree.labels[level][tree.codes[level, code]])
        original.append(own)
        published.append(label)
    return Sample(original, published)
