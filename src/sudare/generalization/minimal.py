"""Local recoding of little distortion: every record climbs only as far as it must to find company."""

from __future__ import annotations

import math
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from os import cpu_count

import numpy as np
from numpy.typing import NDArray

from sudare.errors import ParameterError
from sudare.generalization.drafts import can_pair, can_sweep, drafts_of
from sudare.generalization.efforts import SEARCHES, Effort, Search, search_of
from sudare.generalization.fractional import MAX_LISTED
from sudare.generalization.moving import improved, placed
from sudare.generalization.parts import parts_of, shared_out
from sudare.generalization.problem import Problem
from sudare.generalization.recoding import Recoding
from sudare.generalization.refining import (
    compile_refining_ahead,
    divided_by_records,
    moved_again,
    refined,
    some_are_dealt,
)
from sudare.privacy.limits import block_meets
from sudare.progress import heard_by, step

Ints = NDArray[np.int64]

MAX_UNITS = 1_000  # of a part, where there are more pairs: larger ones take longer and save next to nothing (measured)
MIN_SOLVED = (
    5_000  # units of a part with a program of its own: smaller ones lose more at their edges than it saves
)


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
    if suppress > 0 and problem.limits.by_table:
        raise ParameterError(
            "t-closeness, beta-likeness and delta-disclosure compare blocks with the whole table, so no record may be left out. Set "
            "suppress to 0."
        )
    if effort != "quick":
        compile_refining_ahead()
    spare = math.floor(suppress * problem.weights.sum())
    if most := _units_of_a_part(problem, improves=effort != "quick" and start is None):
        parts = parts_of(problem, start, most)
        if len(parts) > 1:
            found = _by_parts(problem, parts, spare, effort, start, deals)
            return min([found, *_quick(problem, spare)], key=Recoding.distortion)
    return _learned(problem, spare, search_of(effort, len(problem.units)), start, deals)


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


def _learned(p: Problem, spare: int, search: Search, start: Ints | None, deals: bool) -> Recoding:
    """Learn all units at once.

    Who is left out early may mislead the search. So it is also made with all of them, and people are left out in the end.
    """
    if start is not None and spare and some_are_dealt(p):
        if p.weights[start < 0].sum() <= spare:
            return refined(Recoding.of("minimal", p, start), search, spare, deals)
        spare = 0
    drafts = list(drafts_of(p, search.improves)) if start is None else [start]
    # What is small enough is annealed so long that it need not be improved first (measured).
    improve = improved if search.improves and (can_sweep(p) or len(p.units) > MAX_UNITS) else placed

    def best(leaving_out: int) -> Recoding:
        return min((improve(p, draft, leaving_out) for draft in drafts), key=Recoding.distortion)

    early = best(spare)
    if not spare or not _can_keep_all(p):
        return refined(early, search, spare, deals)
    late = best(0)
    found = [refined(late, search, 0, deals=False)]
    if search.improves:
        found.append(moved_again(found[0], spare))
    if early.distortion() < late.distortion():
        found.append(refined(early, search, spare, deals=False))
    if deals and search.improves:
        found = [divided_by_records(one, search, spare) for one in found]
    return min(found, key=Recoding.distortion)


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
        return _learned(p.at(units), spare, search_of(each, len(p.units)), begin, deals)

    def with_fewer_left_out(found: Recoding, share: int) -> Recoding:
        return _learned(found.problem, share, search_of(each, len(p.units)), found.block_of, deals)

    with ThreadPoolExecutor(cpu_count()) as threads:
        found = []
        with step("Learning", total=len(p.units), unit="tuples") as learning, heard_by(None):
            for one in threads.map(learned, parts):
                found.append(one)
                learning.advance(len(one.problem.units))
        wanted = np.array([one.left_out for one in found])
        if wanted.sum() > spare:
            found = list(threads.map(with_fewer_left_out, found, shared_out(spare, wanted).tolist()))
    return Recoding.joined(p, found)


def _numbered(start: Ints) -> Ints:
    """Number blocks anew; -1 stays -1."""
    blocks = np.unique(start[start >= 0])
    return np.where(start >= 0, np.searchsorted(blocks, start), -1)
