"""Several views of one table, generalized so that they give nobody away together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sudare.errors import ParameterError
from sudare.generalization import _paper_views, _views
from sudare.generalization.labels import LabelWriter, flat, rising, side_by_side
from sudare.generalization.problem import Trees
from sudare.plans.views import View, ViewsPlan
from sudare.privacy.multi_view import MultiViewDiversity, RemainingValues
from sudare.tables.counts import Counts
from sudare.tables.dictionary import Dictionary
from sudare.tables.table import Table
from sudare.tables.text import text_of

Method = Literal["simultaneous", "all-attributes", "sequential"]
Score = Literal["narrow", "mondrian", "paper"]
CANDIDATES = 24  # cuts of a block that are tried, by attribute
PAPER_CANDIDATES = 6


class People(NamedTuple):
    """Distinct persons for compiled loops: where their values stand, and what earlier releases leave to them."""

    units: NDArray[np.int32]
    weights: NDArray[np.int64]
    sensitive: NDArray[np.int32]
    fixed: NDArray[np.uint64]
    """Which sensitive values are left to each by every set of earlier releases, one bit each; persons x sets x words."""
    weighed: NDArray[np.float64]
    """What they make each value weigh; empty where there are none, or only sets of values matter."""


class Choice(NamedTuple):
    """How cuts are chosen, for compiled loops."""

    has: NDArray[np.bool_]
    """Which view has which attribute."""
    turn: NDArray[np.int64]
    """Views with a smaller number are finished first."""
    weight: NDArray[np.float64]
    """How much the records of each view count."""
    gain: NDArray[np.float64]
    """How much each attribute counts."""
    span: NDArray[np.int64]
    """The place of each attribute's last value."""
    widest: bool
    """Whether the widest attribute is cut at its median, as Mondrian does, and not where most is gained."""
    candidates: int
    alpha: float


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


@dataclass(frozen=True, eq=False)
class CutView:
    """One view: the block of every unit, and what is published for each block."""

    view: View
    block_of: NDArray[np.int64]

    def sizes(self, weights: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return how many records each block has."""
        return np.bincount(self.block_of, weights).astype(np.int64)


@dataclass(frozen=True, eq=False)
class CutViews:
    """Which blocks the records are published in, in every view."""

    method: str
    problem: ViewsProblem = field(repr=False)
    views: list[CutView]

    def plan(self, requirement: MultiViewDiversity) -> ViewsPlan:
        """Return what was learned as plain data."""
        p = self.problem
        return ViewsPlan(
            self.method,
            (requirement,),
            p.sensitive,
            [cut.view for cut in self.views],
            {name: _texts(dictionary) for name, dictionary in p.keys.items()},
            p.counts.codes,
            np.column_stack([cut.block_of[p.unit_of] for cut in self.views]),
        )

    def openness(self, weights: Mapping[str, float]) -> float:
        """Return how much is left open, on average over the views: values by labels, and records by blocks."""
        people = self.problem.people.weights
        total = int(people.sum())
        each = [
            self.covered(view).mean() + float((view.sizes(people) / total) @ (view.sizes(people) / total))
            for view in self.views
        ]
        return float(np.average(each, weights=list(weights.values())))

    def covered(self, cut: CutView) -> NDArray[np.float64]:
        """Return which share of the values of each attribute the labels of a view leave open, on average."""
        return np.asarray(
            np.average(cut.view.covered, axis=0, weights=cut.sizes(self.problem.people.weights))
        )

    def seen(self, group: int = 0) -> RemainingValues:
        """Return what all views together, and one set of earlier releases, leave to everybody."""
        people = self.problem.people
        blocks = [view.block_of for view in self.views]
        shares = people.weighed[:, group] if people.weighed.size else None
        return RemainingValues.of(blocks, people.sensitive, people.weights, people.fixed[:, group], shares)


def _texts(dictionary: Dictionary) -> list[str | None]:
    """Write the values of a dictionary in the order of its codes."""
    texts: list[str | None] = [text_of(value) for value in dictionary.values.to_list()]
    return [*texts, None] if dictionary.missing else texts


def learn_views(
    problem: ViewsProblem,
    requirement: MultiViewDiversity,
    method: Method = "simultaneous",
    *,
    order: Sequence[str] | None = None,
    weights: Mapping[str, float] | None = None,
    score: Score | None = None,
    candidates: int | None = None,
    alpha: float = 0.8,
) -> CutViews:
    """Cut all views top down, as long as everybody keeps enough sensitive values in all of them together.

    "simultaneous" cuts the largest block of all views first. Unless the paper's score is asked for, it also tries to cut
    all views alike, by the attributes of all, which gives nothing away that one view would not; the narrower of both
    is taken. "sequential" finishes the views in `order`. "all-attributes" cuts one table of all attributes by Mondrian
    and gives each view its part of what that publishes.
    """
    chosen: Score = score or ("narrow" if method == "simultaneous" else "mondrian")
    most = candidates or {"narrow": CANDIDATES, "mondrian": 1, "paper": PAPER_CANDIDATES}[chosen]
    own = {view: (weights or {}).get(view, 1.0) for view in problem.views}
    totals = np.bincount(problem.people.sensitive, problem.people.weights).astype(np.int64)
    need = requirement.need(totals)
    turns = list(order or problem.views) if method == "sequential" else []

    def cut(together: bool) -> CutViews:
        has = np.array([[name in view for name in problem.names] for view in problem.views.values()])
        counts = np.array(list(own.values())) @ has if together else np.ones(has.shape[1])
        choice = Choice(
            has=np.asarray(has.any(axis=0, keepdims=True)) if together else has,
            turn=np.array([turns.index(view) if turns else 0 for view in own][: 1 if together else None]),
            weight=np.ones(1) if together else np.array(list(own.values()), dtype=np.float64),
            gain=problem.share * counts,
            span=np.array([len(labels.texts) - 1 for labels in problem.labels]),
            widest=chosen == "mondrian",
            candidates=most,
            alpha=alpha,
        )
        if chosen == "paper":
            return _plan(problem, method, _paper_views.cut_views(problem.people, problem.trees, choice, need))
        block_of, low, high = _views.cut_views(problem.people, problem.trees, choice, need)
        regions = (low[0], high[0]) if method == "all-attributes" else None
        return _plan(problem, method, block_of, regions)

    # Views that are cut alike keep sets of values: a set is no smaller for being seen twice. But shares multiply, and
    # their labels overlap, so that an outsider's counts are others than their blocks'.
    if method == "all-attributes":
        if need.by_counts:
            raise ParameterError(
                f"The method 'all-attributes' keeps which values people may have, not how often these occur, as {requirement} "
                "asks. Use 'simultaneous' or 'sequential'."
            )
        return cut(together=True)
    apart = cut(together=False)
    if method == "sequential" or chosen == "paper" or need.by_counts:
        return apart
    return min(apart, cut(together=True), key=lambda plan: plan.openness(own))


def _plan(
    problem: ViewsProblem,
    method: str,
    block_of: NDArray[np.int64],
    regions: tuple[NDArray[np.int32], NDArray[np.int32]] | None = None,
) -> CutViews:
    """Label the blocks of all views; they may be the same in all."""
    every = [block_of[i if len(block_of) > 1 else 0] for i in range(len(problem.views))]
    views = [_view(problem, name, blocks, regions) for name, blocks in zip(problem.views, every, strict=True)]
    return CutViews(method, problem, views)


def _view(
    problem: ViewsProblem,
    name: str,
    block_of: NDArray[np.int64],
    regions: tuple[NDArray[np.int32], NDArray[np.int32]] | None,
) -> CutView:
    """Label the blocks of a view by their records' values, or by what their cuts left; what looks the same is one."""
    numbers, block_of = np.unique(block_of, return_inverse=True)
    labels, covered = [], []
    for attribute in problem.views[name]:
        a = problem.names.index(attribute)
        writer = problem.labels[a]
        if regions is None:
            parts = _present(block_of, problem.people.units[:, a], len(writer.texts))
        else:
            ends = zip(regions[0][numbers, a].tolist(), regions[1][numbers, a].tolist(), strict=True)
            parts = [tuple(range(first, last + 1)) for first, last in ends]
        labels.append([writer.label(part) for part in parts])
        covered.append([writer.covered(part) for part in parts])
    keys = list(zip(*labels, strict=True))
    place = {key: i for i, key in enumerate(dict.fromkeys(keys))}
    first = {place[key]: b for b, key in reversed(list(enumerate(keys)))}
    kept = [first[i] for i in range(len(place))]
    view = View(
        name, problem.views[name], [[column[b] for b in kept] for column in labels], np.array(covered).T[kept]
    )
    return CutView(view, np.array([place[key] for key in keys])[block_of])


def _present(block_of: NDArray[np.int64], places: NDArray[np.int32], size: int) -> list[tuple[int, ...]]:
    """Return the distinct places in each block, rising."""
    pairs = np.unique(block_of * size + places)
    starts = np.flatnonzero(np.diff(pairs // size, prepend=-1)).tolist()
    distinct = (pairs % size).tolist()
    return [tuple(distinct[i:j]) for i, j in pairwise([*starts, len(distinct)])]
