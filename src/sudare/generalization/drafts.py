"""Where the minimal method starts from: the block of every unit, -1 for what is left over."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from sudare.generalization import _kernels
from sudare.generalization._grow import grow, nearest_units
from sudare.generalization.fractional import can_be_solved, disjoint_blocks
from sudare.generalization.mondrian import learn_mondrian
from sudare.generalization.moving import placed
from sudare.generalization.problem import Problem, level_vectors

Ints = NDArray[np.int64]

MAX_CHOICES = 1_000_000  # level vectors that are worth sweeping over
MAX_SWEEP = 20_000_000_000  # of these, times units
MAX_PAIRS = 1_000_000_000  # pairs of units that are worth comparing
MAX_BOTH = 5_000  # units of which a second draft takes little time; with more, the program's has always been the better one
MAX_LEFT_OVER = 0.01  # share of the records; with more, other seeds are tried too


def can_sweep(p: Problem) -> bool:
    """Tell whether the choices of levels are few enough to sweep through them."""
    few = p.trees.choices <= min(MAX_CHOICES, MAX_SWEEP // len(p.units))
    return few and p.trees.fit_one_number


def can_pair(p: Problem) -> bool:
    """Tell whether the units are few enough to compare all pairs of them."""
    return len(p.units) ** 2 <= MAX_PAIRS


def drafts_of(p: Problem, improves: bool) -> Iterator[Ints]:
    """Yield where to start from; drafts that are to be improved may take longer."""
    if can_sweep(p):
        swept = _swept(p)
        solved = improves and can_be_solved(p)
        if solved:
            yield _by_program(p, swept)
        if solved and len(p.units) > MAX_BOTH:
            return
        yield swept
        if not can_pair(p):  # too large to be improved much: let the better start win
            yield learn_mondrian(p).block_of
        return
    if not can_pair(p):  # and Mondrian cannot cut it
        yield learn_mondrian(p).block_of
        return
    distances = nearest_units(p.unit_arrays, 1, by_value(p))[1][:, 0]
    block_of = _grown(p, np.argsort(distances, kind="stable"))
    yield block_of
    if p.weights[block_of < 0].sum() > MAX_LEFT_OVER * p.weights.sum():
        # Dealt out late, frequent values are left over and swell the blocks: let them start the blocks.
        frequency = np.bincount(p.sensitive, p.weights)[p.sensitive]
        yield _grown(p, np.lexsort((distances, -frequency)))


def by_value(p: Problem) -> bool:
    """Tell whether blocks must have several sensitive values."""
    return p.limits.distinct > 1 or p.limits.more


def _swept(p: Problem) -> Ints:
    choices = level_vectors(p.trees.height, p.trees.step)
    return _kernels.sweep(p.unit_arrays, p.limits, choices, by_value(p))


def _by_program(p: Problem, swept: Ints) -> Ints:
    """Return the blocks that a linear program prefers; what they leave over sweeps again."""
    block_of = disjoint_blocks(p, placed(p, swept, spare=0))
    rest = np.flatnonzero(block_of < 0)
    if rest.size:
        again = _swept(p.at(rest))
        block_of[rest] = np.where(again < 0, -1, again + block_of.max() + 1)
    return block_of


def _grown(p: Problem, seeds: Ints) -> Ints:
    return grow(p.unit_arrays, p.limits, seeds, by_value(p))
