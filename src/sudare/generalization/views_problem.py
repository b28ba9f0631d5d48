"""The problem that cutting several views solves: distinct persons, and what earlier releases leave to them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sudare.generalization.labels import LabelWriter, flat, rising, side_by_side
from sudare.generalization.problem import Trees
from sudare.tables.counts import Counts
from sudare.tables.dictionary import Dictionary
from sudare.tables.table import Table


class People(NamedTuple):
    """Distinct persons for compiled loops: where their values stand, and what earlier releases leave to them."""

    units: NDArray[np.int32]
    weights: NDArray[np.int64]
    sensitive: NDArray[np.int32]
    fixed: NDArray[np.uint64]
    """Which sensitive values are left to each by every set of earlier releases, one bit each; persons x sets x words."""
    weighed: NDArray[np.float64]
    """What they make each value weigh; empty where there are none, or only sets of values matter."""


@dataclass(frozen=True, eq=False)
class Earlier:
    """What earlier releases, which somebody may put together, tell about every tuple of a table."""

    candidates: NDArray[np.uint64]
    """Which sensitive codes each tuple may have, one bit each."""
    weighed: NDArray[np.float64]
    """What they make each code weigh."""


@dataclass(frozen=True, eq=False)
class ViewsProblem:
    """Distinct persons, the views that are asked for, and the trees that their values can climb."""

    views: dict[str, list[str]]
    sensitive: str
    names: list[str]
    """The attributes of all views."""
    people: People
    counts: Counts
    """The records by all attributes, by whatever earlier releases look at, and, last, by the sensitive value."""
    unit_of: NDArray[np.int64]
    """Which person the records of each of these tuples are like."""
    keys: dict[str, Dictionary]
    """What the columns of the counts hold."""
    labels: list[LabelWriter]
    trees: Trees
    share: NDArray[np.float64]

    @classmethod
    def of(
        cls,
        table: Table,
        views: Mapping[str, Sequence[str]],
        sensitive: str,
        counts: Counts | None = None,
        earlier: Sequence[Earlier] = (),
    ) -> ViewsProblem:
        """Lay out the records of a table by all attributes that any view has, and by what earlier releases tell.

        `counts` are those that earlier releases told something of; they have all attributes, and the sensitive one last.
        """
        names = [name for name in table.columns if any(name in view for view in views.values())]
        counts = table.counts([*names, sensitive]) if counts is None else counts
        own = [counts.names.index(name) for name in names]
        codes, weights = counts.codes[:, [*own, -1]], counts.weights
        unit_of = np.arange(len(counts))
        words = -(-table[sensitive].size // 64)
        fixed, weighed = np.full((len(codes), 1, words), ~np.uint64(0)), np.empty((0, 0, 0))
        if earlier:  # persons of equal values may have been in different blocks
            told = np.stack([one.candidates for one in earlier], axis=1)
            shares = np.stack([one.weighed for one in earlier], axis=1)
            unit_of, first = _refined(codes, told, shares)
            weights = np.bincount(unit_of, counts.weights).astype(np.int64)
            codes, fixed, weighed = codes[first], told[first], shares[first]
        columns = [table[name] for name in names]
        given = [column.hierarchy or flat(column) for column in columns]
        orders = [side_by_side(tree, rising(column)) for tree, column in zip(given, columns, strict=True)]
        labels = [LabelWriter(*parts) for parts in zip(columns, given, orders, strict=True)]
        units = np.empty((len(codes), len(names)), dtype=np.int32)
        for a, order in enumerate(orders):
            units[:, a] = np.argsort(order)[codes[:, a]]
        share = np.array([table.schema[name].weight for name in names], dtype=np.float64)
        return cls(
            views={view: list(attributes) for view, attributes in views.items()},
            sensitive=sensitive,
            names=names,
            people=People(units, weights, codes[:, -1].copy(), fixed, weighed),
            counts=counts,
            unit_of=unit_of,
            keys={name: table[name] for name in counts.names},
            labels=labels,
            trees=Trees.of([one.hierarchy for one in labels], share.tolist()),
            share=share,
        )


def _refined(
    codes: NDArray[np.int32], told: NDArray[np.uint64], shares: NDArray[np.float64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Tell tuples of equal values apart by what earlier releases tell; return the unit of each, and a tuple of each unit."""
    flat_told, flat_shares = told.reshape(len(told), -1), np.ascontiguousarray(shares).view(np.uint64)
    parts = [codes.astype(np.uint64), flat_told, flat_shares.reshape(len(told), -1)]
    rows = np.ascontiguousarray(np.column_stack(parts))
    keys = rows.view(np.dtype((np.void, rows.dtype.itemsize * rows.shape[1]))).ravel()
    _, first, unit_of = np.unique(keys, return_index=True, return_inverse=True)
    return unit_of, first
