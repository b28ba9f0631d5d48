"""How the method of pairs divides its budget: what is measured, how finely, and with what share."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from sudare.pview.account import Account

SHARES = 64  # the budget is given out in so many parts
FOR_TOTAL = Fraction(1, SHARES)
# So many deviations of a table's noise the records must be, or tables tell too little for their price: of each table of
# a tree, and of all of them together.
MIN_DEVIATIONS_EACH, MIN_DEVIATIONS_TOGETHER = 90.0, 1300.0
MAX_BINS = 40


@dataclass(frozen=True)
class Allocation:
    """How many pairs are measured, by how many groups of values, and what share of the budget each thing gets."""

    pairs: int
    bins: int
    ones: Fraction
    choices: Fraction
    tables: Fraction


def allocate(account: Account, attributes: int, total: float) -> Allocation:
    """Decide from the noise and the noisy total alone: clearer tables are more, and finer.

    The numbers were chosen on the Adult table, its parts, samples and a million rows like its own, at epsilons from 0.1
    to 10.
    """
    tree, every = attributes - 1, attributes * (attributes - 1) // 2

    def clear(pairs: int, share: Fraction) -> float:
        """Return how many deviations of the noise all records are, if so many tables get that share."""
        return max(total, 0.0) / account.deviation(share * account.whole / pairs)

    seen = clear(tree, Fraction(1, 2)) if tree else 0.0
    if seen < max(MIN_DEVIATIONS_EACH, MIN_DEVIATIONS_TOGETHER / max(tree, 1)):
        return Allocation(0, 1, 1 - FOR_TOTAL, Fraction(0), Fraction(0))
    parts = min(max(int(66 - 10 * math.log10(seen)), 16), 48)
    ones, rest = Fraction(parts, SHARES), Fraction(SHARES - 1 - parts, SHARES)
    pairs = min(max(int(tree * max((seen / 100) ** 0.3, (seen / 1000) ** 0.6)), tree), every)
    bins = int(1.4 * clear(pairs, rest * 7 / 8) ** (1 / 3))
    return Allocation(pairs, min(max(bins, 2), MAX_BINS), ones, rest / 8 / pairs, rest * 7 / 8 / pairs)
