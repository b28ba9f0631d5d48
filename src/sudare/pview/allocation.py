"""How the method of pairs divides its budget: what is measured, how finely, and with what share.

Everything here follows from sizes, from the noise that a share buys, and from two noisy numbers: how many records there are,
and how far they are from independence.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from sudare.pview.account import Account
from sudare.pview.emphasis import Emphasis
from sudare.pview.strategies import Strategy, strategy

SHARES = 256  # the budget is given out in so many parts
FOR_PROBE = Fraction(4, SHARES)
FOR_CHOICES, FOR_CHOICES_PURE = Fraction(1, 32), Fraction(1, 12)
"""Of what pairs get: for choosing them."""
MIN_ONES, MAX_ONES = 64, 232
"""How many of the parts the total and one-way tables get at least, and at most where there are pairs."""
MAX_ERROR, MAX_ERROR_PURE = 0.95, 1.46
"""Ranges of one attribute may err so much, against plain histograms with all of the budget, as theory has it, before other tables add
what they tell. With that, ranges are to err 1.4 times as much at most without a delta, and no more than histograms' with one; sparse
tables are not quite as good as theory has them."""
MIN_CLEAR, MIN_CLEAR_PURE = 60.0, 130.0
"""So many deviations of a table's noise the records must be, or pairs tell too little for their price."""
PAIRS, MAX_PAIRS_PURE = 1.5, 1.6
"""So many times the tree's pairs are measured if records are a hundred deviations of the noise."""
MANY_CELLS, MANY_CELLS_PURE = 48, 110
"""With rho, more pairs are measured if they have fewer cells than that, on average: each is cheap. Without a delta every one costs the
others more, and fewer are measured, the more cells they have."""
TRIPLES = 0.125
"""So many times the pairs at most, with rho: these hardly suffer where three attributes hang together as their pairs say."""
SURE = 0.75
"""So many deviations of its noise the distance from independence must be above what histograms err: pairs that are measured in vain
cost less than pairs that are missed."""
MAX_BINS = 40


@dataclass(frozen=True)
class Allocation:
    """How many pairs and triples are measured, by how many groups of values, and what share of the budget each thing gets."""

    pairs: int
    triples: int
    bins: int
    ones: Fraction
    choices: Fraction
    tables: Fraction

    @property
    def of_triples(self) -> Fraction:
        """The share that triples get, with choosing them."""
        return self.triples * (self.choices + self.tables)


def strategies_for(
    sizes: Sequence[int], ordered: Sequence[bool], account: Account, share: Fraction
) -> list[Strategy]:
    """Return how every attribute's values are measured if all one-way tables together get this share."""
    best = [strategy(n, ordered=o, pure=account.pure) for n, o in zip(sizes, ordered, strict=True)]
    pairs = zip(best, shares_of(Wish.of(best, account.pure), share), strict=True)
    if all(account.can_draw(part * account.whole, own.change) for own, part in pairs):
        return best
    return [Strategy(own.cells, None, own.pure) for own in best]


@dataclass(frozen=True)
class Wish:
    """How the total and the one-way tables are to share a budget, so that ranges of one attribute err least."""

    variances: tuple[float, ...]
    """The mean variance of every attribute's ranges, given the total, for a budget of 1."""
    totals: tuple[float, ...]
    """The variance of the total that a table itself tells, for a budget of 1."""
    of_whole: float
    """What of the total's variance a range has, on average: the square of its width's part of all values."""
    pure: bool

    @classmethod
    def of(cls, strategies: Sequence[Strategy], pure: bool, matters: Sequence[float] | None = None) -> Wish:
        """Look at the strategies' ranges and sums, each as much as it matters."""
        power = 2 if pure else 1
        weights = [1.0] * len(strategies) if matters is None else matters
        variances = tuple(
            max(w * own.range_variance, 1e-3) for w, own in zip(weights, strategies, strict=True)
        )
        totals = tuple(own.total_variance * own.change**power for own in strategies)
        return cls(variances, totals, part_of_whole(strategies), pure)

    @cached_property
    def parts(self) -> NDArray[np.float64]:
        """What part of all tables' share each table is to have.

        A variance goes down with the square of epsilon, or with rho: the sum of all is least for shares like these.
        """
        roots = np.array(self.variances) ** (1 / 3 if self.pure else 1 / 2)
        return np.asarray(roots / roots.sum())

    @cached_property
    def of_total(self) -> Fraction:
        """The part that the total is to have, of what it has together with the one-way tables."""
        return min((Fraction(k, SHARES) for k in range(2, SHARES // 3)), key=self.variance)

    def variance(self, of_total: Fraction) -> float:
        """Return the mean variance of ranges of one attribute for a budget of 1: what they have of the total's, and their own."""
        power, alone = 2 if self.pure else 1, float(of_total)
        shares = (1 - alone) * self.parts
        known = alone**power + float((shares**power / np.array(self.totals)).sum())
        return float((np.array(self.variances) / shares**power).mean() + self.of_whole / known)


def part_of_whole(strategies: Sequence[Strategy]) -> float:
    """Return the mean of the squares of 1/n, 2/n, ..., 1, for all attributes: a third, and more where values are few."""
    return float(np.mean([(own.cells + 1) * (2 * own.cells + 1) / (6 * own.cells**2) for own in strategies]))


def shares_of(wish: Wish, share: Fraction) -> list[Fraction]:
    """Divide a share among the one-way tables."""
    parts = [max(int(part), 1) for part in wish.parts / wish.parts.min() * 16]
    return [share * part / sum(parts) for part in parts]


def ones_needed(strategies: Sequence[Strategy], pure: bool) -> int:
    """Return how many parts of the budget make ranges of one attribute as good as plain histograms with all of it would.

    Plain ones have equal shares, and a noisy count for every cell; their sums tell the total.
    """
    d = len(strategies)
    plain = sum(Strategy(own.cells, None, pure).range_variance for own in strategies) / d
    total = 1 / sum(1 / own.cells for own in strategies)
    wish = Wish.of(strategies, pure)
    ratio = wish.variance(wish.of_total) / ((plain + total * wish.of_whole) * (d**2 if pure else d))
    share = math.sqrt(ratio) / MAX_ERROR_PURE if pure else ratio / MAX_ERROR**2
    return min(max(math.ceil(share * SHARES), MIN_ONES), MAX_ONES)


def noise_of_ones(wish: Wish, account: Account) -> float:
    """Return the error of a range of one attribute if one-way tables got all of the budget."""
    whole, variance = float(account.whole), wish.variance(wish.of_total)
    return math.sqrt(2 * variance) / whole if wish.pure else math.sqrt(variance / (2 * whole))


def allocate(
    account: Account,
    strategies: Sequence[Strategy],
    total: float,
    apart: tuple[float, float] | None,
    emphasis: Emphasis,
) -> Allocation:
    """Decide from the noise, the noisy total and, where it was asked for, how far the records are from independence.

    That comes with the deviation of its noise. Where more tables are worth their price than there are pairs, some others are of three
    attributes (with rho; else small attributes share tables): what hangs together only there is then the larger error. Where few
    questions are about one attribute alone, one-way tables get less; and pairs that nobody asks for, nothing.
    """
    wish, left = Wish.of(strategies, account.pure), account.remaining / account.whole
    tree = len(strategies) - 1

    def clear(pairs: int, share: Fraction) -> float:
        """Return how many deviations of the noise all records are, if so many tables get that share."""
        return max(total, 0.0) / account.deviation(share * account.whole / pairs)

    seen = clear(tree, Fraction(1, 2)) if tree else 0.0
    unclear = seen < (MIN_CLEAR_PURE if account.pure else MIN_CLEAR)
    if unclear or (apart is not None and apart[0] < noise_of_ones(wish, account) + SURE * apart[1]):
        return Allocation(0, 0, 1, left, Fraction(0), Fraction(0))
    needed = ones_needed(strategies, account.pure)
    ones = Fraction(round(MIN_ONES + emphasis.alone * (needed - MIN_ONES)), SHARES)
    ones -= min(total_share(strategies, account.pure), ones / 2)
    rest = left - ones
    wanted = int(np.triu(emphasis.asked, 1).sum())
    cells = float(np.mean([min(own.cells, 16) for own in strategies])) ** 2
    if account.pure:
        many = min((MANY_CELLS_PURE / cells) ** (1 / 3), MAX_PAIRS_PURE)
    else:
        many = PAIRS * max(math.sqrt(MANY_CELLS / cells), 1.0)
    tables = max(int(tree * many * max((seen / 100) ** 0.3, (seen / 1000) ** 0.6)), tree)
    pairs = min(tables, wanted)
    several = not account.pure and wanted == math.comb(tree + 1, 2)
    triples = min(tables - pairs, int(pairs * TRIPLES), math.comb(tree + 1, 3)) if several else 0
    bins = int(2 * clear(pairs + triples, rest) ** (1 / 3))
    choices = rest * (FOR_CHOICES_PURE if account.pure else FOR_CHOICES)
    each = choices / (pairs + triples), (rest - choices) / (pairs + triples)
    return Allocation(pairs, triples, min(max(bins, 2), MAX_BINS), ones, *each)


def total_share(strategies: Sequence[Strategy], pure: bool) -> Fraction:
    """Return the share of the total; it is measured before it is decided what else is."""
    return Fraction(ones_needed(strategies, pure), SHARES) * Wish.of(strategies, pure).of_total
