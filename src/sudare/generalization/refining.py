"""Blocks are opened, units change places, and rows are dealt anew, until nothing helps."""

from __future__ import annotations

from dataclasses import replace
from time import monotonic

import numpy as np
from numpy.typing import NDArray

from sudare.ahead import compile_ahead
from sudare.generalization import _anneal, _refine, _reopen
from sudare.generalization.drafts import by_value, can_pair, can_sweep
from sudare.generalization.efforts import Search
from sudare.generalization.moving import MAX_PASSES, MAX_ROUNDS, improved
from sudare.generalization.problem import Problem, level_vectors
from sudare.generalization.recoding import Recoding
from sudare.privacy.minimum import BlockMinimum

Ints = NDArray[np.int64]

MAX_OPENED = 400_000_000  # entries times level vectors to look at while opening blocks: some seconds
MAX_DIVIDED = 12  # rows that are divided in all ways
NEIGHBOURS = 32  # that a unit may go to while annealing
HOT, COLD = 0.07, 0.007  # records times cost that a change may lose, at first and at last
DIVIDING, OPENING = "dividing", "opening"  # kinds of changes


def compile_refining_ahead() -> None:
    """Let what refining needs be compiled meanwhile, before there are blocks to refine."""
    compile_ahead("refine", _refine._refine)


def refined(recoding: Recoding, search: Search, spare: int, deals: bool) -> Recoding:
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
            best = divided_by_records(best, search, spare)
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
    again = moved_again(Recoding.of("minimal", p, block_of), spare)
    return min(recoding, again, key=Recoding.distortion)


def _divided(recoding: Recoding, search: Search, spare: int, deals: bool) -> Recoding:
    """Divide the rows of blocks near each other anew and move units, in turn, until neither saves."""
    best = recoding
    for _ in range(MAX_ROUNDS):
        p = best.problem
        entries, settled = _refine.refine(
            p.unit_arrays,
            p.limits,
            best.block_of,
            len(best.levels),
            BlockMinimum.of(p.limits).records,
            MAX_DIVIDED,
            search.pooled,
            search.near,
            MAX_PASSES,
            deals,
        )
        divided = _dealt(best, *entries).settling([DIVIDING] if settled else [])
        before, best = best.distortion(), moved_again(divided, spare, best)
        if DIVIDING in best.account.settled or best.distortion() >= before - 1e-12:
            break
    return best


def divided_by_records(recoding: Recoding, search: Search, spare: int) -> Recoding:
    """Divide records of a unit, too, where there are several."""
    several = (recoding.problem.weights > 1).any()
    return _divided(recoding, search, spare, deals=True) if several else recoding


def _dealt(recoding: Recoding, unit: Ints, weight: Ints, block: Ints) -> Recoding:
    """Return a recoding whose units are the entries, with those units that are left out as they were."""
    p, out = recoding.problem, np.flatnonzero(~recoding.kept)
    problem = replace(p.at(np.concatenate([unit, out])), weights=np.concatenate([weight, p.weights[out]]))
    return Recoding.of("minimal", problem, np.concatenate([block, np.full(len(out), -1)]))


def moved_again(recoding: Recoding, spare: int, before: Recoding | None = None) -> Recoding:
    """Move units and cut blocks, if that saves; who was left out may come back, and others may be, unless some are dealt."""
    p, kept = recoding.problem, recoding.kept
    dealt = spare > 0 and some_are_dealt(p)
    if not dealt or kept.all():
        again = improved(p, recoding.block_of, 0 if dealt else spare, before)
    else:
        own = improved(p.at(kept), recoding.block_of[kept], 0)
        block_of = recoding.block_of.copy()
        block_of[kept] = own.block_of
        again = Recoding.of("minimal", p, block_of).settling(own.account.settled)
    return again if again.distortion() < recoding.distortion() else recoding.settling(again.account.settled)


def some_are_dealt(p: Problem) -> bool:
    """Tell whether records of one unit stand apart. A unit is left out as a whole, so then who is left out stays so."""
    return len(np.unique(np.column_stack([p.units, p.sensitive]), axis=0)) < len(p.units)
