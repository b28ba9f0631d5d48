"""Lower bounds of the distortion, the paper's and tighter ones, and the best of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from sudare.generalization.problem import Problem
from sudare.privacy.minimum import BlockMinimum
from sudare.similarity.pairs import Device
from sudare.suitability import cells, matching, prices, search, tolls
from sudare.suitability.costs import Costs, nearest_costs

MAX_PAIRS = 4e11  # units x units x marks for the nearest: some ten seconds, mostly far less
MAX_SEARCHED = 20_000  # units: each is compared with all others before its cell is searched for
MAX_PRICED = 60_000_000  # units x choices of levels for prices: a minute or two

By = Literal["nearest", "cells", "search", "matching", "prices", "tolls"]
WORDS: dict[By, str] = {
    "nearest": "how far each record is from the company that it needs",
    "cells": "the cheapest cell in which each record finds the company that it needs",
    "search": "the cheapest cell in which each record finds company, searched for record by record",
    "matching": "the cheapest way to give every record a partner of its own",
    "prices": "prices of the records that no possible block can exceed",
    "tolls": "what frequent values must pay for the company of rarer ones, cell by cell",
}


@dataclass(frozen=True, eq=False)
class Bound:
    """No generalization has less distortion than `value`; `by` says by which argument."""

    value: float
    by: By
    of_unit: NDArray[np.float64]
    """What a record of each unit adds to it at least, as a share of a suppressed record."""

    @property
    def reason(self) -> str:
        """The argument in words."""
        return WORDS[self.by]


def nearest_bounds(
    problem: Problem, costs: Costs, minima: Sequence[BlockMinimum], device: Device = "cpu"
) -> list[Bound]:
    """Return the paper's bounds for several minima."""
    by_nearest = nearest_costs(problem, costs, minima, device)
    return [_bound(problem, of_unit / costs.whole, "nearest") for of_unit in by_nearest]


def best_bounds(
    problem: Problem,
    costs: Costs,
    minima: Sequence[BlockMinimum],
    *,
    tight: bool = False,
    device: Device = "cpu",
) -> list[Bound]:
    """Return the best bound for each minimum.

    Where all cells can be looked at, they bound more than the nearest do. With `tight`, a matching (for two
    records or more), prices, tolls (for entropy and recursive diversity) and, where cells are too many, a search for each record's cheapest are tried too, if
    the table is small enough; they take longer.
    """
    if cells.can_be_listed(problem):
        by_cells = cells.cell_costs(problem, costs, minima)
        best = [_bound(problem, of_unit / costs.whole, "cells") for of_unit in by_cells]
    else:
        best = nearest_bounds(problem, costs, minima, device)
    if tight:
        best = [
            max([bound, *_tighter(problem, costs, minimum, bound)], key=lambda b: b.value)
            for minimum, bound in zip(minima, best, strict=True)
        ]
    return best


def within_reach(problem: Problem) -> bool:
    """Say whether a bound can be had in some seconds."""
    marks = int(problem.trees.height.sum())
    return cells.can_be_listed(problem) or float(len(problem.units)) ** 2 * marks <= MAX_PAIRS


def _tighter(problem: Problem, costs: Costs, minimum: BlockMinimum, first: Bound) -> list[Bound]:
    bounds = []
    if minimum.records == 2 and len(problem.units) <= matching.MAX_UNITS:
        of_copies = matching.matched_costs(problem, costs) / costs.whole
        bounds.append(_bound(problem, of_copies / problem.weights, "matching"))
    if not cells.can_be_listed(problem) and minimum.records > 2 and len(problem.units) <= MAX_SEARCHED:
        by_search = search.searched_costs(problem, costs, minimum)
        bounds.append(_bound(problem, by_search / costs.whole, "search"))
    if cells.can_be_listed(problem, MAX_PRICED) and minimum.records > 1:
        start = np.floor(first.of_unit * costs.whole + 0.5).astype(np.int64)
        bounds.append(_bound(problem, prices.best_prices(problem, costs, minimum, start).of_unit, "prices"))
    if cells.can_be_listed(problem, MAX_PRICED) and tolls.can_be_tolled(minimum):
        bounds.append(_bound(problem, tolls.tolled_prices(problem, costs, minimum), "tolls"))
    return bounds


def _bound(problem: Problem, of_unit: NDArray[np.float64], by: By) -> Bound:
    return Bound(float(of_unit @ problem.weights / problem.weights.sum()), by, of_unit)
