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
from sudare.generalization.views_problem import Earlier, ViewsProblem
from sudare.plans.views import View, ViewsPlan
from sudare.privacy.multi_view import MultiViewDiversity, RemainingValues
from sudare.tables.dictionary import Dictionary
from sudare.tables.text import text_of

__all__ = ["CutView", "CutViews", "Earlier", "Method", "Score", "ViewsProblem", "learn_views"]

Method = Literal["simultaneous", "all-attributes", "sequential"]
Score = Literal["narrow", "mondrian", "paper"]
CANDIDATES = 24  # cuts of a block that are tried, by attribute
PAPER_CANDIDATES = 6


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
    once: bool
    """Whether a block whose best cut is refused is left as it is, and no other cut of it is tried."""
    candidates: int
    alpha: float


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
        # Who may have been in several blocks of earlier releases stands there several times, one after the other.
        tuples = np.append(True, (p.counts.codes[1:] != p.counts.codes[:-1]).any(axis=1))
        return ViewsPlan(
            self.method,
            (requirement,),
            p.sensitive,
            [cut.view for cut in self.views],
            {name: _texts(dictionary) for name, dictionary in p.keys.items()},
            p.counts.codes[tuples],
            np.column_stack([cut.block_of[p.unit_of[tuples]] for cut in self.views]),
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
    once: bool = False,
) -> CutViews:
    """Cut all views top down, as long as everybody keeps enough sensitive values in all of them together.

    "simultaneous" cuts the largest block of all views first. Unless the paper's score is asked for, it also tries to cut
    all views alike, by the attributes of all, which gives nothing away that one view would not; the narrower of both
    is taken. "sequential" finishes the views in `order`. "all-attributes" cuts one table of all attributes by Mondrian
    and gives each view its part of what that publishes. With `once`, a block is left as it is when its best cut is refused:
    the other reading of Mondrian as a baseline.
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
            once=once,
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
