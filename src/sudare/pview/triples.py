"""Tables of three attributes: where all pairs are measured, and the budget is worth more tables than there are pairs.

They have as many cells as those of pairs, so that their groups are wider. Each is chosen where the points are worst, beyond the noise.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from sudare.pview.grouped_tables import PENALTY, GroupedTables, misfit
from sudare.pview.one_ways import Floats
from sudare.pview.sides import Side, change_of
from sudare.pview.weights import Weights
from sudare.tables.counts import Counts

Axes = tuple[int, ...]

MAX_LOOKED_AT = 32
"""So many triples are looked at: those whose attributes hang together most in the points, pair by pair."""
ROUNDS = 4  # between which the weights are raked


def add_triples(counts: Counts, ordered: Sequence[bool], pairs: GroupedTables, weights: Weights) -> Weights:
    """Choose triples, some at a time, measure them with what pairs left, and rake the weights, which are returned by wider groups."""
    wider = replace(pairs.allocation, bins=max(int(pairs.allocation.bins ** (2 / 3)), 2))
    tables = GroupedTables.of(counts, ordered, pairs.account, pairs.emphasis, wider, pairs.ones)
    own = Weights(tables, weights.points, weights.weights)
    left = _likely(own)
    true = {axes: tables.counts.count(axes).reshape(1, -1) for axes in left}
    batch = max(-(-wider.triples // ROUNDS), 1)
    for triple in range(wider.triples):
        if triple % batch == 0:
            own.rake_tables()
            model = {axes: own.table(axes) for axes in left}
        axes = left.pop(choice_of_triples(tables, left, true, model))
        sides = _sides(tables, axes)
        tables.measure_by(sides, axes, model[axes], wider.tables)
    own.rake_tables()
    return own


def choice_of_triples(
    tables: GroupedTables,
    left: list[Axes],
    true: Mapping[Axes, NDArray[np.int64]],
    model: Mapping[Axes, Floats],
) -> int:
    """Choose a triple of which the points are worst, beyond the noise that measuring it would bring."""
    off = [misfit(true[axes], model[axes].reshape(1, -1))[0] for axes in left]
    noise = [np.rint(PENALTY * _deviation(tables, axes) * model[axes].size) for axes in left]
    return tables.chosen(np.array(off) - np.array(noise))


def _sides(tables: GroupedTables, axes: Axes) -> list[Side]:
    """Return how the attributes are measured: by themselves, where no wider noise is drawn."""
    sides = [tables.sides[a] for a in axes]
    account = tables.account
    drawn = account.can_draw(tables.allocation.tables * account.whole, change_of(sides))
    return sides if drawn else [tables.plain_sides[a] for a in axes]


def _deviation(tables: GroupedTables, axes: Axes) -> float:
    """Return the noise of a cell."""
    sides = _sides(tables, axes)
    noise = tables.account.deviation(tables.allocation.tables * tables.account.whole, change_of(sides))
    return noise * math.prod(own.cell_deviation for own in sides)


def _likely(own: Weights) -> list[Axes]:
    """Return the triples that are looked at: those whose attributes hang together most in the points, pair by pair."""
    tables = own.tables
    apart = 0.5 * np.abs(own.model() - tables.independent()).sum(axis=1)
    strength = dict(zip(map(frozenset, tables.counts.pairs.tolist()), apart, strict=True))

    def together(axes: Axes) -> float:
        return float(sorted(strength[frozenset(pair)] for pair in combinations(axes, 2))[1])

    every: Iterable[Axes] = combinations(range(len(tables.sides)), 3)
    return sorted(every, key=together, reverse=True)[:MAX_LOOKED_AT]
