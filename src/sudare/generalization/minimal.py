"""Local recoding of little distortion: every record climbs only as far as it must to find company."""

from __future__ import annotations

import math
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from os import cpu_count
from time import monotonic
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from sudare.errors import ParameterError
from sudare.generalization import _anneal, _refine, _reopen
from sudare.generalization.drafts import by_value, can_pair, can_sweep, drafts_of
from sudare.generalization.fractional import MAX_LISTED
from sudare.generalization.mondrian import cut
from sudare.generalization.moving import MAX_WORK, moved, placed
from sudare.generalization.parts import parts_of, shared_out
from sudare.generalization.problem import Problem, level_vectors
from sudare.generalization.recoding import Recoding
from sudare.privacy.limits import block_meets
from sudare.privacy.minimum import BlockMinimum

Ints = NDArray[np.int64]
Effort = Literal["quick", "normal", "thorough"]

MAX_UNITS = 1_000  # of a part, where there are more pairs: larger ones take longer and save next to nothing (measured)
MIN_SOLVED = (
    5_000  # units of a part with a program of its own: smaller ones lose more at their edges than it saves
)
MAX_OPENED = 400_000_000  # entries times level vectors to look at while opening blocks: some seconds
MAX_ROUNDS = 5  # of moving and cutting in turn
MAX_PASSES = 20  # of improvement; rarely more than a few are needed before nothing helps any more
MAX_TRIES = 1_000_000
MAX_DIVIDED = 12  # rows that are divided in all ways
NEIGHBOURS = 16  # that a unit may go to while annealing
HOT, COLD = 0.1, 0.01  # records times cost that a change may lose, at first and at last
CUTTING, DIVIDING, OPENING = "cutting", "dividing", "opening"  # kinds of changes


@dataclass(frozen=True)
class Search:
    """How much is tried."""

    improves: bool
    pooled: int
    """Rows of several blocks that are divided anew, in all ways."""
    near: int
    """Blocks that are pooled with each, one after the other."""
    openings: int
    """Passes of opening blocks."""
    steps: int
    """Of annealing, for each unit, at most,"""
    all_steps: int
    """and for all units of a table."""
    rounds: int
    end: float = math.inf
    """On the clock: no round begins after it."""

    def among(self, units: int) -> Search:
        """Return a search whose steps suffice for so many units."""
        return replace(self, steps=min(self.steps, self.all_steps // units))

    def until(self, end: float) -> Search:
        """Return a search of as many rounds as there is time for."""
        return replace(self, rounds=MAX_TRIES, end=end)


SEARCHES: dict[str, Search] = {
    "quick": Search(improves=False, pooled=0, near=0, openings=0, steps=0, all_steps=0, rounds=0),
    "normal": Search(
        improves=True, pooled=10, near=4, openings=0, steps=8_000, all_steps=50_000_000, rounds=1
    ),
    "thorough": Search(
        improves=True, pooled=12, near=16, openings=20, steps=20_000, all_steps=500_000_000, rounds=5
    ),
}


def learn_minimal(
    problem: Problem,
    *,
    suppress: float = 0.0,
    effort: Effort | float = "normal",
    start: Ints | None = None,
    deals: bool = True,
) -> Recoding:
    """Build blocks greedily from what is nearest, then improve them until nothing helps.

    Where there are few choices of levels, all records sweep through them by rising cost, and become a block as soon as
    enough of them are alike; from these blocks on, a linear program finds better ones (`fractional`). With more choices blocks grow
    from seeds by their nearest neighbours. A table too large for that, or for the program, is cut into parts by Mondrian, and each
    is learned on its own. Then units move and blocks dissolve as long as that saves distortion; blocks are opened where others can
    spare rows; units change places at random, less and less often for the worse; and the rows of a few blocks near each other are
    divided anew in the best of all ways, until no division saves anything. The recoding's account says which of these were tried
    to the end. If it `deals`, the last is done once more with the records of every unit one by one, which may then come into
    different blocks. At most the share `suppress` of the records may be left out; each then costs 1. `start` is a block for every
    unit, -1 for none, to begin from.
    """
    if suppress > 0 and min(problem.limits.t) < 1:
        raise ParameterError(
            "t-closeness compares blocks with the whole table, so no record may be left out. Set suppress to 0."
        )
    spare = math.floor(suppress * problem.weights.sum())
    if most := _units_of_a_part(problem, improves=effort != "quick" and start is None):
        parts = parts_of(problem, start, most)
        if len(parts) > 1:
            found = _by_parts(problem, parts, spare, effort, start, deals)
            return min([found, *_quick(problem, spare)], key=Recoding.distortion)
    return _learned(problem, spare, _search(effort, len(problem.units)), start, deals)


def _units_of_a_part(p: Problem, improves: bool) -> int | None:
    """Return how many units are learned at once at most: so few that their pairs can be compared, or their program solved."""
    if not can_sweep(p):
        return None if can_pair(p) else MAX_UNITS
    most = MAX_LISTED // p.trees.choices
    return most if improves and MIN_SOLVED <= most < len(p.units) else None


def _quick(p: Problem, spare: int) -> Iterator[Recoding]:
    """Yield what a look at all units at once finds, where that takes next to no time: parts should not do worse."""
    if can_sweep(p):
        yield _learned(p, spare, SEARCHES["quick"], None, deals=False)


def _search(effort: Effort | float, units: int) -> Search:
    if isinstance(effort, str):
        return SEARCHES[effort].among(units)
    return SEARCHES["thorough"].among(units).until(monotonic() + effort)


def _learned(p: Problem, spare: int, search: Search, start: Ints | None, deals: bool) -> Recoding:
    """Learn all units at once.

    Who is left out early may mislead the search. So it is also made with all of them, and people are left out in the end.
    """
    if start is not None and spare and _some_are_dealt(p):
        if p.weights[start < 0].sum() <= spare:
            return _refined(Recoding.of("minimal", p, start), search, spare, deals)
        spare = 0
    drafts = list(drafts_of(p, search.improves)) if start is None else [start]
    # What is small enough is annealed so long that it need not be improved first (measured).
    improve = _improved if search.improves and (can_sweep(p) or len(p.units) > MAX_UNITS) else placed

    def best(leaving_out: int) -> Recoding:
        return min((improve(p, draft, leaving_out) for draft in drafts), key=Recoding.distortion)

    early = best(spare)
    if not spare or not _can_keep_all(p):
        return _refined(early, search, spare, deals)
    late = best(0)
    found = [_refined(late, search, 0, deals=False)]
    if search.improves:
        found.append(_moved_again(found[0], spare))
    if early.distortion() < late.distortion():
        found.append(_refined(early, search, spare, deals=False))
    if deals and search.improves:
        found = [_divided_by_records(one, search, spare) for one in found]
    return min(found, key=Recoding.distortion)


def _some_are_dealt(p: Problem) -> bool:
    """Tell whether records of one unit stand apart. A unit is left out as a whole, so then who is left out stays so."""
    return len(np.unique(np.column_stack([p.units, p.sensitive]), axis=0)) < len(p.units)


def _can_keep_all(p: Problem) -> bool:
    """Tell whether all records together meet the limits."""
    units = p.unit_arrays
    totals = np.bincount(units.sensitive, p.weights, minlength=units.values).astype(np.int64)
    return bool(block_meets(totals, int(totals.sum()), p.limits))


# -- Large tables ----------------------------------------------------------------------------------


def _by_parts(
    p: Problem, parts: list[Ints], spare: int, effort: Effort | float, start: Ints | None, deals: bool
) -> Recoding:
    """Learn each part of a table on its own.

    Each may leave out as many records as all together. If these are too many, they are shared out in proportion.
    """
    each = effort if isinstance(effort, str) else effort * (cpu_count() or 1) / len(parts)

    def learned(units: Ints) -> Recoding:
        begin = None if start is None else _numbered(start[units])
        return _learned(p.at(units), spare, _search(each, len(p.units)), begin, deals)

    def with_fewer_left_out(found: Recoding, share: int) -> Recoding:
        return _learned(found.problem, share, _search(each, len(p.units)), found.block_of, deals)

    with ThreadPoolExecutor(cpu_count()) as threads:
        found = list(threads.map(learned, parts))
        wanted = np.array([one.left_out for one in found])
        if wanted.sum() > spare:
            found = list(threads.map(with_fewer_left_out, found, shared_out(spare, wanted).tolist()))
    return Recoding.joined(p, found)


def _numbered(start: Ints) -> Ints:
    """Number blocks anew; -1 stays -1."""
    blocks = np.unique(start[start >= 0])
    return np.where(start >= 0, np.searchsorted(blocks, start), -1)


# -- Improving -------------------------------------------------------------------------------------


def _improved(p: Problem, draft: Ints, spare: int, before: Recoding | None = None) -> Recoding:
    """Move units, dissolve blocks and cut them, in turn, until neither saves distortion; see `moved`."""
    best = moved(p, draft, spare, MAX_PASSES, before)
    cheap = len(p.units) * len(best.levels) * MAX_PASSES <= MAX_WORK
    for _ in range(MAX_ROUNDS if cheap else 1):
        parts = cut(p, best.block_of, best.levels)
        if parts.max() + 1 == len(best.levels):
            return best.settling([CUTTING])
        again = moved(p, parts, spare, MAX_PASSES, best)
        if again.distortion() >= best.distortion() - 1e-12:
            return best.settling([CUTTING])
        best = again
    return best


# -- Refining: rows are dealt anew -----------------------------------------------------------------


def _refined(recoding: Recoding, search: Search, spare: int, deals: bool) -> Recoding:
    """Open, anneal and divide in turn, until nothing helps."""
    best = recoding
    for round_ in range(search.rounds):
        if monotonic() > search.end:
            return replace(best, account=replace(best.account, out_of_time=True))
        before = best.distortion()
        opened = _opened(best, search.openings, deals)
        best = _annealed(opened, search.steps, spare, seed=round_)
        best = _divided(best, search, spare, deals=False)
        if deals:  # units first: a pool has room for so many of them, or for as many records
            best = _divided_by_records(best, search, spare)
        if best.distortion() >= before - 1e-9:
            return best.settling(opened.account.settled & {OPENING})
    return best


def _opened(recoding: Recoding, passes: int, deals: bool) -> Recoding:
    """Open blocks where others can spare rows."""
    p = recoding.problem
    if not passes or not can_sweep(p) or p.trees.choices * len(p.units) * passes > MAX_OPENED:
        return recoding
    choices = level_vectors(p.trees.height, p.trees.step)
    entries, settled = _reopen.reopen(
        p.unit_arrays,
        p.limits,
        recoding.block_of,
        len(recoding.levels),
        BlockMinimum.of(p.limits).records,
        choices,
        passes,
        deals,
    )
    return _dealt(recoding, *entries).settling([OPENING] if settled else [])


def _annealed(recoding: Recoding, steps: int, spare: int, seed: int) -> Recoding:
    """Let units change places with those near them, also for the worse at first; keep it if it saves in the end."""
    p = recoding.problem
    if can_sweep(p) or not can_pair(p) or len(recoding.levels) < 2:
        return recoding
    block_of = recoding.block_of.copy()
    _anneal.anneal(
        p.unit_arrays,
        p.limits,
        block_of,
        len(recoding.levels),
        min(NEIGHBOURS, len(p.units) - 1),
        steps * len(p.units),
        HOT,
        COLD,
        seed,
        by_value(p),
    )
    again = _moved_again(Recoding.of("minimal", p, block_of), spare)
    return min(recoding, again, key=Recoding.distortion)


def _divided(recoding: Recoding, search: Search, spare: int, deals: bool) -> Recoding:
    """Divide the rows of blocks near each other anew, as long as that saves, then move units again."""
    p = recoding.problem
    entries, settled = _refine.refine(
        p.unit_arrays,
        p.limits,
        recoding.block_of,
        len(recoding.levels),
        BlockMinimum.of(p.limits).records,
        MAX_DIVIDED,
        search.pooled,
        search.near,
        MAX_PASSES,
        deals,
    )
    divided = _dealt(recoding, *entries).settling([DIVIDING] if settled else [])
    return _moved_again(divided, spare, recoding)


def _divided_by_records(recoding: Recoding, search: Search, spare: int) -> Recoding:
    """Divide records of a unit, too, where there are several."""
    several = (recoding.problem.weights > 1).any()
    return _divided(recoding, search, spare, deals=True) if several else recoding


def _dealt(recoding: Recoding, unit: Ints, weight: Ints, block: Ints) -> Recoding:
    """Return a recoding whose units are the entries, with those units that are left out as they were."""
    p, out = recoding.problem, np.flatnonzero(~recoding.kept)
    problem = replace(p.at(np.concatenate([unit, out])), weights=np.concatenate([weight, p.weights[out]]))
    return Recoding.of("minimal", problem, np.concatenate([block, np.full(len(out), -1)]))


def _moved_again(recoding: Recoding, spare: int, before: Recoding | None = None) -> Recoding:
    """Move units and cut blocks, if that saves; who was left out may come back, and others may be, unless some are dealt."""
    p, kept = recoding.problem, recoding.kept
    dealt = spare > 0 and _some_are_dealt(p)
    if not dealt or kept.all():
        again = _improved(p, recoding.block_of, 0 if dealt else spare, before)
    else:
        own = _improved(p.at(kept), recoding.block_of[kept], 0)
        block_of = recoding.block_of.copy()
        block_of[kept] = own.block_of
        again = Recoding.of("minimal", p, block_of).settling(own.account.settled)
    return again if again.distortion() < recoding.distortion() else recoding.settling(again.account.settled)
