"""The lattice of all choices of one level per attribute, and the best choice in it.

It is searched attribute by attribute, as Incognito does (LeFevre, DeWitt & Ramakrishnan 2005), from each root down, with the
tuples rolled up to the levels that are chosen so far. What is not looked at is ruled out, whatever the levels of the attributes
to come may be:

- With those at their roots, groups are unions of what they will be. Where such a union has too few records, or too few sensitive
  values, so has every part of it, and its records are left out. That is all of k-anonymity and of distinct diversity, and the
  l values that any l-diversity asks for. The rest of entropy and recursive diversity is no such condition: a part may be diverse
  where the union is not. But where nobody may be left out, every part must meet whatever is asked for, closeness too, and parts
  that meet it meet it together: then a union that does not meet it rules all of them out.
- A record costs no less than the levels that are chosen so far and, of the attributes to come, the lowest levels that are not
  ruled out by themselves. One that is left out costs the most: as if all its values were suppressed.

What was counted rules out what lies below it (predictive tagging, as in Incognito, OLA and Flash). Bounds rule out much only
beside a good choice. So the search asks for a choice that costs very little, and then for dearer ones until there is one: the
cheapest of those is the cheapest of all.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sudare.errors import ParameterError
from sudare.generalization import _lattice
from sudare.generalization.problem import Problem
from sudare.kernels import slots_for
from sudare.privacy.limits import Limits
from sudare.tables.counts import count_index

MAX_CHOICES = 10**30  # of levels; nobody would wait for more
MAX_COUNTED = 2 * 10**9  # rows in one search: some minutes
MAX_KEPT = 5 * 10**6  # rows that are kept to be divided again
STEP = 500  # rows that could be counted in the time that one step takes beside counting
FIRST = 1 / 64  # of the most that all can cost: what is asked for first
DEARER = 1.4  # times as much is asked for next
TOLERANCE = 1e-12  # of a cost: how far rounding may put equal ones apart

Floats = NDArray[np.float64]
Codes = NDArray[np.int32]
Prices = Sequence[Sequence[Floats]]
"""What a value costs its record, by attribute, level and node."""
Rows = tuple[Codes, Codes, NDArray[np.int64]]
"""The group of each row; what is left of its values, as one number: those of the attributes to come, and the sensitive one; and
how many records it stands for."""


class Next(NamedTuple):
    """What is left of rows, taken apart: the leaf of the next attribute, and the rest."""

    leaf: Codes
    rest: Codes


class Slots(NamedTuple):
    """A hash table that all countings share."""

    turn: NDArray[np.int64]
    key: NDArray[np.uint64]
    place: Codes


@dataclass(frozen=True, eq=False)
class Step:
    """An attribute, in the order of the search."""

    attribute: int
    next: Next
    value: Codes
    """The sensitive value of each rest after it."""
    nodes: list[Codes]
    """On each level the node of each leaf."""
    prices: Sequence[Floats]
    """On each level what each node costs a record."""
    mean: list[float]
    """On each level the mean of that over all records."""
    least: list[float]
    """On each level the least of it."""
    lowest: int
    """The lowest level that is not ruled out by itself."""

    @property
    def height(self) -> int:
        """The level of the root."""
        return len(self.nodes) - 1


def best_levels(problem: Problem, prices: Prices | None, spare: int) -> tuple[int, ...] | None:
    """Return the level of each attribute, so that all costs least; None if more than `spare` records are left out at any.

    Left out are the groups that do not meet the limits. Without prices a record costs the share of all records that its group
    has. Of levels that cost the same, those that climb least are taken.
    """
    if problem.trees.choices > MAX_CHOICES:
        raise ParameterError(
            f"Of {len(problem.names):,} quasi attributes there are too many choices of levels to find the best. Choose the method "
            "'minimal'."
        )
    return _Search(problem, prices, spare).best()


class _Bound(NamedTuple):
    """At least how many records are left out, and at least what all cost, by record."""

    left_out: int
    cost: float


class _Chosen(NamedTuple):
    """Levels of the first attributes, and what they come to."""

    levels: tuple[int, ...] = ()
    """In the order of the search."""
    climbed: float = 0.0
    """The sum of their shares of the heights."""
    mean: float = 0.0
    """What they cost a record, on average."""
    least: float = 0.0
    """What they cost any record."""

    def with_level(self, step: Step, level: int) -> _Chosen:
        """Choose one more."""
        return _Chosen(
            (*self.levels, level),
            self.climbed + level / step.height,
            self.mean + step.mean[level],
            self.least + step.least[level],
        )


@dataclass
class _Found:
    """The best choice so far; before there is one, what it must cost less than."""

    cost: float
    climbed: float = -1.0
    chosen: _Chosen | None = None
    beyond: float = math.inf
    """The least bound of what was passed over because of its cost."""

    def passes_over(self, cost: float, climbed: float) -> bool:
        """Tell whether what costs and climbs at least so much need not be looked at."""
        cheaper = cost < self.cost * (1 - TOLERANCE)
        if cheaper or (cost <= self.cost * (1 + TOLERANCE) and climbed < self.climbed - TOLERANCE):
            return False
        self.beyond = min(self.beyond, cost)
        return True

    def take(self, chosen: _Chosen, cost: float) -> None:
        """Keep a choice that is better than any before."""
        self.chosen, self.cost, self.climbed = chosen, cost, chosen.climbed


class _Search:
    def __init__(self, problem: Problem, prices: Prices | None, spare: int) -> None:
        self.problem, self.prices, self.records = problem, prices, int(problem.weights.sum())
        self.spare = min(spare, self.records - 1)  # somebody is published
        self.most = sum(float(own[-1][0]) for own in prices) if prices else 1.0
        # Other limits are all that is handed down from a group to its parts, unless nobody may be left out.
        handed_down = self.spare == 0 or not problem.limits.more
        self.ruling = problem.limits if handed_down else _inherited(problem.limits)
        self.known: dict[tuple[int, ...], _Bound] = {}
        self.kept: dict[tuple[int, ...], tuple[Rows, Floats]] = {}
        self.counted, self.rows_kept, self.turn = 0, 0, 0
        few = slots_for(len(problem.weights))
        self.slots = Slots(np.zeros(few, np.int64), np.empty(few, np.uint64), np.empty(few, np.int32))
        rest = self._lay_out()
        order = np.argsort(rest)  # neighbours in memory are alike, then
        self.rows: Rows = (np.zeros(len(rest), dtype=np.int32), rest[order], problem.weights[order])

    def best(self) -> tuple[int, ...] | None:
        """Ask for dearer and dearer choices, until there is one."""
        most = max(FIRST * self.most, TOLERANCE)
        while True:
            self.found = _Found(most)
            self._choose(_Chosen(), self.rows, np.zeros(1), _Bound(0, 0.0))
            if self.found.chosen is not None:
                attributes = [step.attribute for step in self.steps]
                return tuple(
                    level for _, level in sorted(zip(attributes, self.found.chosen.levels, strict=True))
                )
            if self.found.beyond == math.inf:
                return None
            most = max(DEARER * most, self.found.beyond * (1 + 2 * TOLERANCE))

    # -- Laying out -----------------------------------------------------------------------------------

    def _lay_out(self) -> Codes:
        """Make the steps, last attribute first; return what is left of each unit before the first one."""
        p = self.problem
        rest, value = p.sensitive, np.arange(p.values, dtype=np.int32)
        steps: list[Step] = []
        for a in reversed(self._order()):
            leaves = p.units[:, a]
            pairs, index = count_index(
                {"leaf": leaves, "rest": rest}, [p.hierarchies[a].codes.shape[1], len(value)]
            )
            own = Next(np.ascontiguousarray(pairs.codes[:, 0]), np.ascontiguousarray(pairs.codes[:, 1]))
            steps.append(self._step(a, own, value))
            rest, value = index.astype(np.int32), value[own.rest]
        self.steps = steps[::-1]
        ahead = np.cumsum([step.least[step.lowest] for step in steps])[::-1]
        self.ahead = [*ahead.tolist()[1:], 0.0]
        return rest

    def _order(self) -> list[int]:
        """Attributes of many values first: they rule out most, and rolling them up leaves fewest rows."""
        sizes = [len(np.unique(column)) for column in self.problem.units.T]
        return sorted(range(len(sizes)), key=lambda a: (-sizes[a], self.problem.names[a]))

    def _step(self, a: int, own: Next, value: Codes) -> Step:
        p = self.problem
        nodes = [np.ascontiguousarray(codes) for codes in p.hierarchies[a].codes]
        leaves, records = np.unique(p.units[:, a]), np.bincount(p.units[:, a], p.weights)
        free = [np.zeros(len(labels)) for labels in p.hierarchies[a].labels]
        prices = self.prices[a] if self.prices else free
        costs = [price[codes[leaves]] for price, codes in zip(prices, nodes, strict=True)]
        mean = [float(cost @ records[leaves]) / self.records for cost in costs]
        lowest = len(nodes) - 1
        while lowest > 0 and not self._ruled_out_alone(a, nodes[lowest - 1], free[lowest - 1]):
            lowest -= 1
        return Step(a, own, value, nodes, prices, mean, [float(cost.min()) for cost in costs], lowest)

    def _ruled_out_alone(self, a: int, nodes: Codes, free: Floats) -> bool:
        """Tell whether too many records are left out at a level of one attribute, even if all others are suppressed."""
        p = self.problem
        rows = (nodes[p.units[:, a]], p.sensitive, p.weights)
        value = np.arange(p.values, dtype=np.int32)
        return bool(_lattice.weigh(rows, value, p.values, free, 0.0, self.ruling, self.spare)[0] > self.spare)

    # -- Searching ------------------------------------------------------------------------------------

    def _choose(self, chosen: _Chosen, rows: Rows, own: Floats, bound: _Bound) -> None:
        """Try all levels of one more attribute, and of those after it.

        `own` is what a record of each group costs at the levels that are chosen, and `bound` what is known of these.
        """
        step, last = self.steps[len(chosen.levels)], len(chosen.levels) + 1 == len(self.steps)
        for level in range(step.height, step.lowest - 1, -1):
            more = chosen.with_level(step, level)
            least = self.known.get(more.levels) or self._foreseen(more, bound)
            if least.left_out > self.spare:
                return  # still more are left out on lower levels
            if self._passed_over(more, least):
                continue
            if last and more.levels in self.known:
                self.found.take(more, least.cost)
                continue
            divided, own_there = self._divided(more.levels, rows, own, last)
            if more.levels not in self.known:
                least = self.known[more.levels] = self._count(divided, own_there, step, least, last)
                if least.left_out > self.spare:
                    return
                if self._passed_over(more, least):
                    continue
            if last:
                self.found.take(more, least.cost)
            else:
                self._choose(more, divided, own_there, least)

    def _passed_over(self, chosen: _Chosen, least: _Bound) -> bool:
        ahead = (1 - least.left_out / self.records) * self.ahead[len(chosen.levels) - 1]
        return self.found.passes_over(least.cost + ahead, chosen.climbed)

    def _foreseen(self, chosen: _Chosen, bound: _Bound) -> _Bound:
        """Bound what was not counted yet, by what is known without the last level, and with one of them a level higher."""
        left_out, levels = bound.left_out, chosen.levels
        for at, level in enumerate(levels):
            above = self.known.get((*levels[:at], level + 1, *levels[at + 1 :]))
            if above is not None:
                left_out = max(left_out, above.left_out)
        share = left_out / self.records
        return _Bound(left_out, max(bound.cost, chosen.mean, share * self.most + (1 - share) * chosen.least))

    def _divided(self, levels: tuple[int, ...], rows: Rows, own: Floats, last: bool) -> tuple[Rows, Floats]:
        """Divide groups by the nodes of the last of these levels; also return what a record of each part costs."""
        if levels in self.kept:
            return self.kept[levels]
        self.counted += len(rows[0]) + STEP
        if self.counted > MAX_COUNTED:
            raise ParameterError(
                f"The best of {self.problem.trees.choices:,} choices of levels is not found in a reasonable time. Choose the method "
                "'minimal', or give attributes hierarchies of fewer levels."
            )
        step, level = self.steps[len(levels) - 1], levels[-1]
        self.turn += 2
        divided, before, node = _lattice.divide(rows, step.next, step.nodes[level], self.turn, self.slots)
        own = own[before] + step.prices[level][node] if self.prices else self._sizes(divided, last)
        if not last and self.rows_kept + len(divided[0]) <= MAX_KEPT:
            self.kept[levels] = divided, own
            self.rows_kept += len(divided[0])
        return divided, own

    def _sizes(self, rows: Rows, last: bool) -> Floats:
        """Return how many records one of each group is together with in the end, at least, as a share of all."""
        group, _, weights = rows
        sizes = np.bincount(group, weights)
        if last:
            return sizes / self.records
        # A row is not divided any more, since all its records are alike in what is left.
        return np.bincount(group, weights.astype(np.float64) ** 2) / (sizes * self.records)

    def _count(self, rows: Rows, own: Floats, step: Step, least: _Bound, last: bool) -> _Bound:
        """Count who is left out, and what all cost."""
        limits = self.problem.limits if last else self.ruling
        values = self.problem.values
        left_out, total, _ = _lattice.weigh(rows, step.value, values, own, self.most, limits, self.spare)
        cost = float(total) / self.records
        if limits is self.ruling:
            return _Bound(int(left_out), cost)
        # Who is left out by limits that are not handed down says nothing of lower levels.
        return _Bound(least.left_out, cost if left_out <= self.spare else math.inf)


def _inherited(limits: Limits) -> Limits:
    """Return the limits that a part of a group cannot meet where the group does not."""
    if limits.harmless.size > 0:  # a part that has these values alone need not have any others
        return limits._replace(distinct=0, more=False)
    values = [
        limits.distinct,
        math.ceil(math.exp(limits.log_l) - 1e-9),
        *limits.recursive[:, 1].astype(int).tolist(),
    ]
    return limits._replace(distinct=max(values), more=False)
