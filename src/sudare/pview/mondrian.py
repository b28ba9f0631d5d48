"""DP-Mondrian (Kato, Takahashi, Cao & Yoshikawa; later HDPView): bisect the domain until its blocks are even.

The symbols are the paper's. Where it slips, what is done here:

- Neighbours differ in one record, added or removed (its Definition 1 has replacing, its sensitivities have this).
- A block is tested with Lap(Delta_AE/epsilon_conv) as in equation 9, not Lap(1/epsilon_conv) as in Algorithm 2, which could lose
  1.8 times the epsilon. epsilon_cut is (1 - gamma) epsilon_r/kappa, and kappa a whole number. A block of one cell stops.
- The score of a cut changes by less than 2, not 4, since one record is in one child only.
- A block that a test stopped at depth k made k tests and k - 1 cuts. What it did not spend goes to its count, with
  that one cut's share, which equation 12 forgets. One that stopped untested has one test's more.
- gamma = 0 leaves no budget for tests, so there are none: every block is cut as deep as beta allows. gamma = 1 leaves none for
  cuts: each is drawn alike from all of them, which is what the exponential mechanism does with an epsilon of 0.

Counts are as the noise left them, below 0 where that was so, as in the paper. `projection` makes them the nearest ones
that are not below 0 and have the same sum, of which the noisy counts know all there is to know: it costs nothing.

Why it is private, though a block's budget depends on where it stopped (the paper's Theorem 4): the probability of a
tree with noisy counts is a product over its nodes. One record changes the factors on one path from the root only,
each by e^(what the node spends) at most, and the budget of the leaf is what that path left of epsilon: a function of
the output, not of the data. With rho instead of epsilon: given what came before, each node on the path has a
Rényi divergence of order a of at most a times the rho it spends, and the others none. The rhos sum to at most the whole
on every path, so their exponentials multiply up to it whatever happened (a Rényi filter: Feldman & Zrnic 2021). A test
with Laplace noise of epsilon e has rho = e^2/2, a choice e^2/8 (Bun & Steinke 2016; Cesar & Rogers 2021).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from sudare.errors import ParameterError
from sudare.noise._chacha import tap
from sudare.privacy.requirement import number, refused
from sudare.pview import _mondrian
from sudare.pview._aggregation import STEPS
from sudare.pview.account import FINE, ROUNDING, Account
from sudare.pview.domain import Domain
from sudare.pview.method import Method, exact_share
from sudare.pview.models import BlocksModel
from sudare.pview.noisy_counts import Codes, Floats, NoisyBlocks, check_counts, project
from sudare.pview.saved import MAX_ROWS
from sudare.tables.counts import Counts
from sudare.tables.typed import typed

Facts = NDArray[np.int64]
MAX_THETA = 2**62  # more than any block's


@typed
@dataclass(frozen=True)
class DPMondrian(Method):
    """Blocks within which the records are spread about evenly, each with a noisy count.

    >>> DPMondrian(theta=10, gamma=0.5).to_json()
    {'name': 'dp-mondrian', 'theta': 10.0, 'tree_share': '9/10', 'beta': 1.2, 'gamma': '1/2', 'projection': False}
    """

    name: ClassVar[str] = "dp-mondrian"
    theta: float = 0.0
    """The aggregation error, in records, at which a block is even enough to stop."""
    tree_share: float | Fraction = Fraction(9, 10)
    """epsilon_r/epsilon: which part of the budget is for the tree, not the counts; between 0 and 1."""
    beta: float = 1.2
    """The largest depth of the tree, by the logarithm of the domain's size to base 2; above 0, and 100 at most."""
    gamma: float | Fraction = Fraction(9, 10)
    """Which part of the tree's budget is for the tests, not the cuts: from 0, no tests, to 1, cuts that do not look."""
    projection: bool = False
    """Whether counts are made consistent: none below 0, and the same sum. The paper's are as the noise left them."""

    def __post_init__(self) -> None:
        number(self.theta, "theta", "dp-mondrian", "a number of 0 or more", low=0)
        number(
            self.beta, "beta", "dp-mondrian", "a number above 0, and 100 at most", low=math.ulp(0), high=100
        )
        for name in ("theta", "beta"):
            object.__setattr__(self, name, float(getattr(self, name)))
        object.__setattr__(self, "tree_share", exact_share(self.tree_share, "tree_share", "dp-mondrian"))
        object.__setattr__(self, "gamma", exact_share(self.gamma, "gamma", "dp-mondrian", ends=True))
        if not isinstance(self.projection, bool):
            raise refused(self.projection, "projection", "dp-mondrian", "True or False")

    def learn(self, counts: Counts, domain: Domain, account: Account) -> BlocksModel:
        """Bisect the domain until its blocks are even, and count each with noise."""
        return BlocksModel.of(learn_mondrian(counts, account, self), counts.sizes)


@dataclass(frozen=True)
class Shares:
    """What each part of a path may spend, in epsilon or rho."""

    converge: Fraction
    """epsilon_conv, for each test."""
    cut: Fraction
    """epsilon_cut, for each choice."""
    whole: Fraction
    """epsilon_r + epsilon_p."""
    kappa: int
    """The largest depth."""

    def left(self, depth: int, tested: bool) -> Fraction:
        """Return what a block leaves to its count (equation 12, corrected)."""
        return self.whole - (depth - 1 + tested) * self.converge - (depth - 1) * self.cut


def learn_mondrian(counts: Counts, account: Account, method: DPMondrian) -> NoisyBlocks:
    """Return blocks within which the records are spread about evenly, with noisy counts.

    >>> from sudare.noise.keystream import Keystream
    >>> from sudare.privacy.differential_privacy import DifferentialPrivacy
    >>> codes = np.array([[0, 0], [9, 9]], dtype=np.int32)
    >>> counts = Counts(("a", "b"), codes, np.array([5000, 5000]), (10, 10))
    >>> account = Account(DifferentialPrivacy(2.0), Keystream.unsafe(1))
    >>> blocks = learn_mondrian(counts, account, DPMondrian())
    >>> bool(abs(blocks.counts.sum() - 10000) < 100), account.remaining
    (True, Fraction(0, 1))
    """
    check_counts(counts, "learn_mondrian")
    shares = spend(counts.sizes, account, method)
    low, high, facts = _bisect(counts, account, method.theta, shares)
    noisy, deviations = perturb(facts, shares, account)
    return NoisyBlocks(low, high, project(noisy, noisy.sum()) if method.projection else noisy, deviations)


def spend(sizes: Sequence[int], account: Account, method: DPMondrian) -> Shares:
    """Divide the budget: epsilon_r for the tree, by its depth, and epsilon_p for the counts."""
    for_tree, test = Fraction(method.tree_share), Fraction(method.gamma)
    kappa = max(math.ceil(method.beta * math.log2(math.prod(sizes))), 1)
    tree = for_tree * account.whole
    shares = Shares(test * tree / kappa, (1 - test) * tree / kappa, account.whole, kappa)
    strengths(shares, account)  # what would leave nothing is refused before it is spent
    _refuse_too_many(sizes, shares)
    account.spend("tree", for_tree)
    account.spend("counts", 1 - for_tree)
    return shares


def strengths(shares: Shares, account: Account) -> tuple[np.uint64, float]:
    """Return the epsilon of a test in fine parts, rounded down, and that of a choice, less its rounding; 0 if there is none."""
    test = shares.converge * FINE if account.pure else math.isqrt(int(2 * shares.converge * FINE**2))
    choice = account.strength(shares.cut) - ROUNDING if shares.cut else 0.0
    if (shares.converge and test < 1) or (shares.cut and choice <= 0):
        raise ParameterError(
            f"DP-Mondrian would divide {account.unit} = {float(account.whole):g} among {shares.kappa} depths, which leaves "
            "nothing for each. Use a larger epsilon or fewer attributes."
        )
    return np.uint64(int(test)), choice


def _refuse_too_many(sizes: Sequence[int], shares: Shares) -> None:
    """Refuse a tree that no test stops before it has more blocks than a p-view may have."""
    blocks = min(math.prod(sizes), 2 ** (shares.kappa - 1))
    if not shares.converge and blocks > MAX_ROWS:
        raise ParameterError(
            f"With gamma = 0 no test stops DP-Mondrian, which would cut {float(min(blocks, 10**300)):.3g} blocks; {MAX_ROWS:,} are the "
            f"most. Use a smaller beta, or a gamma above 0."
        )


def _bisect(counts: Counts, account: Account, theta: float, shares: Shares) -> tuple[Codes, Codes, Facts]:
    levels, ranks = np.unique(-counts.weights, return_inverse=True)  # the largest count first
    converge, cut = strengths(shares, account)
    trees: list[NDArray[np.int64]] = []

    def one(key: NDArray[np.uint32], stream: np.uint64, part: slice) -> None:
        trees.append(
            _mondrian.grow(
                tap(key, stream),
                np.array(counts.codes, dtype=np.int32, order="C"),  # copies, since `grow` permutes them
                np.array(counts.weights, dtype=np.int64),
                ranks,
                -levels,
                np.array(counts.sizes, dtype=np.int64),
                shares.kappa,
                min(math.floor(theta * STEPS), MAX_THETA),
                converge,
                cut,
            )
        )

    account.source.draw(1, one)
    d = len(counts.sizes)
    return trees[0][:, :d], trees[0][:, d : 2 * d], trees[0][:, 2 * d :]


def perturb(facts: Facts, shares: Shares, account: Account) -> tuple[Floats, Floats]:
    """Add noise to every block's sum with what the block left: adaptive perturbation."""
    counts, deviations = np.empty(len(facts)), np.empty(len(facts))
    kinds = 2 * facts[:, 1] + facts[:, 2]
    for kind in np.flatnonzero(np.bincount(kinds)).tolist():
        part = shares.left(kind // 2, bool(kind % 2))
        alike = np.flatnonzero(kinds == kind)
        counts[alike] = facts[alike, 0] + account.noise(alike.size, part)
        deviations[alike] = account.deviation(part)
    return counts, deviations
