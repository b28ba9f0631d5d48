"""Units move to other blocks, and blocks dissolve or are cut, as long as that saves distortion."""

from __future__ import annotations

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sudare.generalization import _improve
from sudare.generalization.mondrian import cut
from sudare.generalization.problem import Problem
from sudare.generalization.recoding import Recoding

Ints = NDArray[np.int64]

MAX_WORK = 400_000_000  # pairs of units and blocks to look at while improving: some seconds
MAX_ROUNDS = 5  # of moving and cutting, or of moving and dividing, in turn
MAX_PASSES = 20  # of improvement; rarely more than a few are needed before nothing helps any more
MOVING, CUTTING = "moving", "cutting"  # kinds of changes, of an account


def placed(p: Problem, draft: Ints, spare: int) -> Recoding:
    """Place what is left over, and improve nothing, but for one look at whom to leave out."""
    return moved(p, draft, spare, passes=1 if spare else 0)


def moved(p: Problem, draft: Ints, spare: int, passes: int, before: Recoding | None = None) -> Recoding:
    """Place what is left over, and move units; what was settled `before` is not looked at again, if nobody may be left out."""
    block_of, blocks = draft.copy(), int(draft.max()) + 1
    if blocks == 0:  # only all records together meet the limits
        block_of, blocks = np.zeros_like(block_of), 1
    passes = min(passes, MAX_WORK // (len(p.units) * blocks))
    new = np.ones(blocks, dtype=np.bool_)
    if before is not None and not spare and MOVING in before.account.settled:
        new = ~np.isin(
            _marks(p, block_of, blocks), _marks(before.problem, before.block_of, len(before.levels))
        )
    settled = _improve.improve(p.unit_arrays, p.limits, block_of, blocks, new, spare, passes)
    return Recoding.of("minimal", p, block_of).settling([MOVING] if settled else [])


def improved(p: Problem, draft: Ints, spare: int, before: Recoding | None = None) -> Recoding:
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


def _marks(p: Problem, block_of: Ints, blocks: int) -> NDArray[np.uint64]:
    """Return a number for each block by which to know it again: the sum of its records' hashes."""
    marks, kept = np.zeros(blocks, dtype=np.uint64), block_of >= 0
    hashes = pl.DataFrame(p.tuples()).hash_rows().to_numpy() * p.weights.astype(np.uint64)
    np.add.at(marks, block_of[kept], hashes[kept])
    return marks
