"""The bound by the cheapest cells, for tables with too many cells to list: each record's cell is searched for."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sudare.generalization.problem import Problem
from sudare.privacy.minimum import BlockMinimum
from sudare.suitability._search import search
from sudare.suitability.costs import Costs
from sudare.threads import CORES, in_threads

STEPS = 300_000  # joins to look at for one record


def searched_costs(
    problem: Problem,
    costs: Costs,
    minimum: BlockMinimum,
    steps: int = STEPS,
    some: NDArray[np.int64] | None = None,
) -> NDArray[np.int64]:
    """Return what each unit, or each of `some`, costs at least, by the cheapest cell in which it finds company (see `cell_costs`).

    That cell is the join of the record with k - 1 others, and at least the join with others of l - 1 further values.
    Companions are added by rising distance; a join only grows, so a branch ends as soon as it costs as much as the best
    join so far. A record for which that takes more than `steps` pays for the join with fewer companions, or the
    distance to the nearest, whichever is more.
    """
    wanted = np.arange(len(problem.units)) if some is None else some
    least = np.zeros(len(wanted), dtype=np.int64)
    if minimum.values > 1:
        values = problem.sensitive.astype(np.int64)
        least = _searched(problem, costs, np.arange(len(values)), values, minimum.values, steps, wanted)
    if minimum.records > minimum.values:
        copies = np.repeat(np.arange(len(problem.units)), np.minimum(problem.weights, minimum.records))
        by_records = _searched(problem, costs, copies, np.arange(len(copies)), minimum.records, steps, wanted)
        least = np.maximum(least, by_records)
    return least


def _searched(
    problem: Problem,
    costs: Costs,
    unit: NDArray[np.int64],
    kind: NDArray[np.int64],
    company: int,
    steps: int,
    wanted: NDArray[np.int64],
) -> NDArray[np.int64]:
    """Search for the cheapest join of each wanted unit with company of so many kinds, its own included."""
    marks = costs.marks(problem)
    codes = np.ascontiguousarray(marks.codes[unit])
    word, bit, gain = _packed(marks.gains)
    start = np.unique(unit, return_index=True)[1][wanted]
    least = np.empty(len(start), dtype=np.int64)

    def work(part: int) -> None:
        own = np.ascontiguousarray(start[part::CORES])  # one form of array, so that one kernel is compiled
        least[part::CORES] = search(codes, word, bit, gain, kind, own, company - 1, steps)

    in_threads(work, range(CORES))
    return least


def _packed(
    gains: NDArray[np.int64],
) -> tuple[NDArray[np.int64], NDArray[np.uint64], NDArray[np.int64]]:
    """Give each mark a bit of a word, so that all bits of a word gain the same; return word and bit of each, and gains."""
    word, bit = np.empty(len(gains), dtype=np.int64), np.empty(len(gains), dtype=np.uint64)
    of_word: list[int] = []
    for gain in np.unique(gains):
        for i, mark in enumerate(np.flatnonzero(gains == gain)):
            if i % 64 == 0:
                of_word.append(int(gain))
            word[mark], bit[mark] = len(of_word) - 1, np.uint64(1) << np.uint64(i % 64)
    return word, bit, np.array(of_word)
