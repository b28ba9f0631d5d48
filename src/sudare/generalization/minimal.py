"""Local recoding of little distortion: every record climbs only as far as it must to find company."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sudare.errors import ParameterError
from sudare.generalization import _improve, _kernels
from sudare.generalization.mondrian import cut, learn_mondrian
from sudare.generalization.problem import Problem, level_vectors
from sudare.generalization.recoding import Recoding

MAX_CHOICES = 20_000  # level vectors that are worth sweeping over
MAX_PAIRS = 1_000_000_000  # pairs of units that are worth comparing
MAX_WORK = 400_000_000  # pairs of units and blocks to look at while improving: some seconds
MAX_LEFT_OVER = 0.01  # share of the records; with more, other seeds are tried too
MAX_ROUNDS = 5  # of moving and cutting in turn
SWAPS = 2
MAX_PASSES = 20  # of improvement; rarely more than a few are needed before nothing helps any more


def learn_minimal(problem: Problem, *, suppress: float = 0.0) -> Recoding:
    """Build blocks greedily from what is nearest, then improve them until nothing helps.

    Where there are few choices of levels, all records sweep through them by rising cost, and become a block as
    soon as enough of them are alike. With more choices blocks grow from seeds by their nearest neighbours; a
    table too large for that is cut by Mondrian. Then units move and blocks dissolve as long as that saves
    distortion, and blocks that can still be cut are. At most the share `suppress` of the records may be left out; each then costs 1.
    """
    if suppress > 0 and min(problem.limits.t) < 1:
        raise ParameterError(
            "t-closeness compares blocks with the whole table, so no record may be left out. Set suppress to 0."
        )
    spare = math.floor(suppress * problem.weights.sum())
    return min((_improved(problem, draft, spare) for draft in _drafts(problem)), key=Recoding.distortion)


class _Draft(NamedTuple):
    """The block of every unit, -1 for what is left over, and how many passes of swaps are worth their time."""

    block_of: NDArray[np.int64]
    swaps: int


def _drafts(problem: Problem) -> Iterator[_Draft]:
    """Yield where to start from. After a sweep swaps save next to nothing (measured), after growing some percent."""
    p = problem
    by_value = p.limits.distinct > 1 or p.limits.more
    if p.trees.choices <= MAX_CHOICES and p.trees.fit_one_number:
        choices = level_vectors(p.trees.height, p.trees.step)
        block_of = _kernels.sweep(p.unit_arrays, p.limits, choices, by_value)
        yield _Draft(block_of, swaps=0)
        if len(p.units) ** 2 > MAX_PAIRS:  # too large to be improved much: let the better start win
            yield _Draft(learn_mondrian(p).block_of, swaps=0)
        return
    if len(p.units) ** 2 > MAX_PAIRS:
        yield _Draft(learn_mondrian(p).block_of, swaps=0)
        return
    distances = _kernels.nearest_distances(p.unit_arrays, by_value)
    block_of = _grown(p, np.argsort(distances, kind="stable"), by_value)
    yield _Draft(block_of, SWAPS)
    if p.weights[block_of < 0].sum() > MAX_LEFT_OVER * p.weights.sum():
        # Dealt out late, frequent values are left over and swell the blocks: let them start the blocks.
        frequency = np.bincount(p.sensitive, p.weights)[p.sensitive]
        yield _Draft(_grown(p, np.lexsort((distances, -frequency)), by_value), SWAPS)


def _grown(p: Problem, seeds: NDArray[np.int64], by_value: bool) -> NDArray[np.int64]:
    return np.asarray(_kernels.grow(p.unit_arrays, p.limits, seeds, by_value))


def _improved(p: Problem, draft: _Draft, spare: int) -> Recoding:
    """Move units, dissolve blocks and cut them, in turn, until neither saves distortion."""
    best = _moved(p, draft, spare)
    cheap = len(p.units) * len(best.levels) * MAX_PASSES <= MAX_WORK
    for _ in range(MAX_ROUNDS if cheap else 1):
        again = _moved(p, draft._replace(block_of=cut(p, best.block_of, best.levels)), spare)
        if again.distortion() >= best.distortion() - 1e-12:
            break
        best = again
    return best


def _moved(p: Problem, draft: _Draft, spare: int) -> Recoding:
    block_of, swaps = draft
    blocks = int(block_of.max()) + 1
    if blocks == 0:  # only all records together meet the limits
        block_of, blocks = np.zeros_like(block_of), 1
    passes = min(MAX_PASSES, MAX_WORK // (len(p.units) * blocks))
    _improve.improve(p.unit_arrays, p.limits, block_of, blocks, spare, passes, swaps)
    return Recoding.of("minimal", p, block_of)
