"""Where to start from, by a linear program: a partition of units into blocks in which a block may be used in part.

Let x_B >= 0 be the share in which block B is used, c(B) what it costs. The least sum of c(B) x_B, where the shares of every unit's
blocks sum to 1, is a bound, and its solution tells which blocks go well with each other, which no search of block after block
sees. The blocks are too many to list. So the program begins with some, and its dual has a price for a record of each unit; blocks
worth more than they cost at these prices join it, and it goes on from where it was (column generation). In the end the blocks of
the largest shares are taken that have no unit in common.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sudare.generalization import _cells, _fractional
from sudare.generalization.problem import Problem, level_vectors
from sudare.generalization.recoding import Recoding
from sudare.privacy.minimum import BlockMinimum
from sudare.threads import in_threads

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

MAX_LISTED = 100_000_000  # units times choices of levels: some seconds
MAX_MEMBERS = 100  # units of a cell; blocks of larger cells are rarely among the best (measured)
PARTS = 4  # of the cells, for as many cores; always the same, so that the cores' number changes nothing
ROUNDS = 10
STEPS = 100  # towards the program's solution, in each round
MAX_IDLE = 4  # rounds that a block stays without a share
JOINING = 2  # blocks for each unit that may join in a round


def can_be_solved(p: Problem) -> bool:
    """Tell whether the cells are few enough to be listed."""
    return p.trees.fit_one_number and p.trees.choices * len(p.units) <= MAX_LISTED


def disjoint_blocks(p: Problem, start: Recoding) -> Ints:
    """Return the block of each unit, -1 for none, by the program that begins with the blocks of a recoding."""
    cells, program = _cells_of(p), _Program.of(p, start)
    for _ in range(ROUNDS):
        program.join(cells)
        program.solve()
    return program.rounded()


def _cells_of(p: Problem) -> list[_fractional.Cells]:
    """List all cells in which a block can lie, in parts."""
    minimum = BlockMinimum.of(p.limits)
    choices = level_vectors(p.trees.height, p.trees.step)
    units, cost = p.unit_arrays, choices @ p.trees.step

    def work(part: int) -> _fractional.Cells:
        own = np.ascontiguousarray(choices[part::PARTS])
        start, members, choice = _cells.closed(units, own, minimum.records, minimum.values, MAX_MEMBERS)
        return _fractional.Cells(start, members, cost[part::PARTS][choice])

    return in_threads(work, range(PARTS), len(choices) * len(p.units))


@dataclass
class _Program:
    """The program over the blocks so far."""

    problem: Problem
    prices: Floats
    proposed: Floats
    """Prices that swing less."""
    start: Ints
    listed: Ints
    """Block i has the units `listed[start[i]:start[i + 1]]`."""
    cost: Floats
    shares: Floats
    idle: Ints
    """For how many rounds each block was without a share."""

    @classmethod
    def of(cls, p: Problem, begin: Recoding) -> _Program:
        """Begin with the blocks of a recoding; each of its records is worth what it costs there."""
        blocks, cost = len(begin.levels), begin.levels @ p.trees.step
        listed = np.argsort(begin.block_of, kind="stable")
        size = np.bincount(begin.block_of, p.weights, minlength=blocks)
        return cls(
            problem=p,
            prices=cost[begin.block_of],
            proposed=cost[begin.block_of],
            start=np.searchsorted(begin.block_of[listed], np.arange(blocks + 1)),
            listed=listed,
            cost=cost * size,
            shares=np.ones(blocks),
            idle=np.zeros(blocks, dtype=np.int64),
        )

    def join(self, cells: list[_fractional.Cells]) -> None:
        """Let blocks join that are worth most above their cost; those that have long had no share give way."""
        share = JOINING * len(self.prices) // len(cells)
        members = sum(len(part.members) for part in cells)
        found = in_threads(lambda part: self._best_blocks(part, share), cells, members)
        kept, lengths = self.idle < MAX_IDLE, np.diff(self.start)
        self.listed = np.concatenate(
            [self.listed[np.repeat(kept, lengths)], *(listed for listed, _, _ in found)]
        )
        self.start = _ends(np.concatenate([lengths[kept], *(length for _, length, _ in found)]))
        self.cost = np.concatenate([self.cost[kept], *(cost for _, _, cost in found)])
        none = np.zeros(len(self.cost) - kept.sum())
        self.shares = np.append(self.shares[kept], none)
        self.idle = np.append(self.idle[kept], none.astype(np.int64))

    def _best_blocks(self, cells: _fractional.Cells, most: int) -> tuple[Ints, Ints, Floats]:
        """Return the blocks worth most above their cost: their units, of how many each is, and what each costs."""
        units = self.problem.unit_arrays
        room = _fractional.Room(
            units=np.empty(MAX_MEMBERS, dtype=np.int64),
            taken=np.empty(MAX_MEMBERS, dtype=np.bool_),
            histogram=np.empty(units.values, dtype=np.int64),
        )

        def look(chosen: Ints, start: Ints) -> tuple[Floats, Ints, Ints]:
            worth, length = np.empty(len(chosen)), np.empty(len(chosen), dtype=np.int64)
            listed = np.empty(start[-1], dtype=np.int64)
            _fractional.best_blocks(
                units, self.problem.limits, cells, room, self.proposed, chosen, worth, length, start, listed
            )
            return worth, length, listed

        worth, length, _ = look(np.arange(len(cells.cost)), _ends(np.empty(0, dtype=np.int64)))
        best = np.argsort(-worth, kind="stable")[:most]
        best = best[worth[best] > 0]
        start = _ends(length[best])
        _, length, listed = look(best, start)
        records = np.diff(np.append(0, np.cumsum(units.weights[listed]))[start])
        return listed, length, cells.cost[best] * records

    def solve(self) -> None:
        """Go some steps towards the solution."""
        program = _fractional.Program(
            self.start, self.listed, self.cost, self.problem.weights, self.prices, self.shares
        )
        self.proposed = _fractional.solve(program, STEPS)
        self.idle = np.where(self.shares > 0, 0, self.idle + 1)

    def rounded(self) -> Ints:
        """Return the block of each unit, -1 for none: the blocks of the largest shares that have no unit in common."""
        order = np.argsort(-self.shares, kind="stable")
        order = order[self.shares[order] > 0]
        return _fractional.disjoint(self.start, self.listed, order, len(self.prices))


def _ends(lengths: Ints) -> Ints:
    """Return where each starts, and where the last ends."""
    return np.append(0, np.cumsum(lengths))
