"""PrivBayes (Zhang, Cormode, Procopiuc, Srivastava & Xiao 2017, TODS 42(4)): a noisy Bayesian network, and rows drawn from it.

The symbols are the paper's. An attribute X has parents Pi, all of which came before it. Of the budget, beta goes to the network
and 1 - beta to the tables of (X, Pi), the same for each. A table is theta-useful if its cells hold theta times as many records
as their noise is large, on average (Definition 4.7), and parents are as many as that allows: each set of them is maximal.
Which X comes next, with which of its maximal sets, is chosen by the exponential mechanism. Then every table is
counted with noise, what is below 0 becomes 0, and rows are drawn attribute by attribute.

Where this differs from the paper:

- Neighbours differ in one record, added or removed, and nobody knows how many there are. So noise is half of the paper's, and
  a small part of the budget counts the records: what theta-usefulness needs to know.
- The score is the paper's R, half of the distance of a table from what independence would make of it; in records:
  R = 1/2 sum |c(x, pi) - c(x) c(pi)/n|. With one record more, at (x, pi), let q = (n - c(x)) (n - c(pi)) / (n (n + 1)). The product
  rises by 1 - q in that cell, by q in the rest of its row, by q in the rest of its column, and falls by q elsewhere; so
  the sum of the changes of c - c c/n is 4 q at most, and R changes by 2 q, which is less than 2. R is rounded down, in whole
  numbers all the way: these differ by 2 at most, and no float has a part in it.
- Values are not put into groups by taxonomies: parents have all of their values, or are none.
- Of more than 2^12 sets of parents, some maximal ones are drawn at random, whatever the data.

Why it is private: the total, the choices and the tables spend what they say, and add up; all else is made from these.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from sudare.privacy.requirement import number
from sudare.pview.account import Account
from sudare.pview.boxes import Boxes
from sudare.pview.cloud import Cloud
from sudare.pview.domain import Domain
from sudare.pview.method import Method, exact_share
from sudare.pview.noisy_counts import check_counts
from sudare.pview.strategies import Strategy
from sudare.tables.counts import Counts
from sudare.tables.typed import typed

POINTS = 200_000
FOR_TOTAL = Fraction(1, 32)
R_SENSITIVITY = 2.0
MAX_TABLE = 2**16
"""Cells of a table, however useful a larger one would be."""
MAX_ENUMERATED = 12
"""Attributes of which all subsets are looked at; of more, some maximal ones are drawn."""
DRAWN = 64
"""So many orders are drawn for each attribute then."""
MAX_EXACT = 2**31
"""Up to so many records, products of counts fit 64 bits."""
UNKNOWN = 0.25
"""The correlation that may be left between attributes: the network says nothing of most pairs."""

Tuples = NDArray[Any]
Floats = NDArray[np.float64]


@typed
@dataclass(frozen=True)
class PrivBayes(Method):
    """A Bayesian network of noisy tables, as rows that are drawn from it.

    >>> PrivBayes(theta=6).to_json()
    {'name': 'privbayes', 'theta': 6.0, 'beta': '3/10'}
    """

    name: ClassVar[str] = "privbayes"
    theta: float = 4.0
    """How many times its noise a cell must hold, on average, so that a table is useful; above 0."""
    beta: float | Fraction = Fraction(3, 10)
    """Which part of the budget chooses the network; between 0 and 1."""

    def __post_init__(self) -> None:
        number(self.theta, "theta", "privbayes", "a number above 0", low=math.ulp(0))
        object.__setattr__(self, "theta", float(self.theta))
        object.__setattr__(self, "beta", exact_share(self.beta, "beta", "privbayes"))

    def learn(self, counts: Counts, domain: Domain, account: Account) -> Cloud:
        """Choose a network, count its tables with noise, and draw points from it."""
        return learn_privbayes(counts, account, self)


@dataclass(frozen=True)
class Node:
    """An attribute and its parents, each by its place."""

    attribute: int
    parents: tuple[int, ...]


@dataclass
class Network:
    """The attributes in the order in which they are drawn, each with its parents; and what chooses them."""

    counts: Counts
    limit: float
    """How many cells a table may have to be useful."""
    random: np.random.Generator
    """For what does not depend on the data."""
    nodes: list[Node] = field(default_factory=list)
    scores: dict[Node, int] = field(default_factory=dict)

    def candidates(self) -> list[Node]:
        """Return every attribute that has not come yet, with every maximal set of parents."""
        come = [node.attribute for node in self.nodes]
        sizes = self.counts.sizes
        return [
            Node(x, tuple(come[i] for i in parents))
            for x in range(len(sizes))
            if x not in come
            for parents in maximal_sets([sizes[a] for a in come], self.limit / sizes[x], self.random)
        ]

    def grow(self, account: Account, share: Fraction) -> None:
        """Add the next attribute; the first is any."""
        if not self.nodes:
            self.nodes.append(Node(int(self.random.integers(len(self.counts.sizes))), ()))
            return
        part, nodes = account.spend("choice", share), self.candidates()
        for node in nodes:
            if node not in self.scores:
                self.scores[node] = dependence(table_of(self.counts, node))
        scores = np.array([self.scores[node] for node in nodes], dtype=np.float64)
        self.nodes.append(nodes[account.choose(scores, R_SENSITIVITY, part)])


def learn_privbayes(counts: Counts, account: Account, method: PrivBayes, *, points: int = POINTS) -> Cloud:
    """Learn a network, and return points that are drawn from it.

    >>> from sudare.noise.keystream import Keystream
    >>> from sudare.privacy.differential_privacy import DifferentialPrivacy
    >>> account = Account(DifferentialPrivacy(1.0), Keystream.unsafe(seed=1))
    >>> codes = np.array([[0, 0], [1, 1]], dtype=np.int32)
    >>> counts = Counts(("a", "b"), codes, np.array([5000, 5000]), (2, 2))
    >>> cloud = learn_privbayes(counts, account, PrivBayes(), points=1000)
    >>> bool(cloud.counts(np.array([[0, 0]]), np.array([[0, 0]]))[0] > 4500), account.remaining
    (True, Fraction(0, 1))
    """
    check_counts(counts, "learn_privbayes")
    d = len(counts.sizes)
    whole = 1 - FOR_TOTAL
    beta = Fraction(method.beta) if d > 1 else Fraction(0)
    each = (1 - beta) * whole / d
    own = account.spend("total", FOR_TOTAL)
    total = float(counts.total + account.noise(1, own)[0])
    noise = account.deviation(each * account.whole) / math.sqrt(2)  # the scale, if it is Laplace's
    random = np.random.default_rng(account.source.words(1))
    network = Network(counts, min(total / (method.theta * noise), MAX_TABLE), random)
    for _ in range(d):
        network.grow(account, beta * whole / max(d - 1, 1))
    tables = []
    for node in network.nodes:
        true = table_of(counts, node)
        part = account.spend("counts", each)
        tables.append(true + account.noise(true.size, part).reshape(true.shape))
    drawn = draw(network.nodes, tables, counts.sizes, points, random)
    weights = np.full(points, max(total, 0.0) / points)
    noisy = account.deviation(each * account.whole) ** 2
    variances = np.empty(d)
    for node, table in zip(network.nodes, tables, strict=True):
        variances[node.attribute] = noisy * len(table)  # a value's count is the sum over all parents' values
    left = np.full((d, d), UNKNOWN**2)
    return Cloud(
        Boxes.of(drawn, drawn, weights, counts.sizes),
        max(total, 0.0),
        account.deviation(own) ** 2,
        [Strategy(n, None, account.pure).by_width * v for n, v in zip(counts.sizes, variances, strict=True)],
        left,
        UNKNOWN**2,
    )


def maximal_sets(sizes: Sequence[int], limit: float, random: np.random.Generator) -> list[tuple[int, ...]]:
    """Return the sets whose sizes multiply to the limit at most, and to which none can be added; at least the empty one.

    >>> maximal_sets([2, 3, 4], 8, np.random.default_rng(0))
    [(0, 1), (0, 2)]
    """
    if len(sizes) > MAX_ENUMERATED:
        return sorted({_greedy(sizes, limit, random) for _ in range(DRAWN)})
    members = (np.arange(2 ** len(sizes))[:, None] >> np.arange(len(sizes))) & 1 == 1
    products = np.where(members, np.array(sizes, dtype=np.float64), 1.0).prod(axis=1)
    more = np.where(members, np.inf, np.array(sizes, dtype=np.float64)).min(axis=1, initial=np.inf)
    chosen = members[(products <= limit) & (products * more > limit)]
    return sorted(tuple(np.flatnonzero(own).tolist()) for own in chosen) or [()]


def _greedy(sizes: Sequence[int], limit: float, random: np.random.Generator) -> tuple[int, ...]:
    """Add attributes in any order, each if it fits: what did not fit will not fit later."""
    product, chosen = 1, []
    for a in random.permutation(len(sizes)).tolist():
        if product * sizes[a] <= limit:
            product *= sizes[a]
            chosen.append(a)
    return tuple(sorted(chosen))


def table_of(counts: Counts, node: Node) -> NDArray[np.int64]:
    """Count by the parents' values (rows) and the attribute's."""
    size = counts.sizes[node.attribute]
    place = _places(counts.codes, node.parents, counts.sizes) * size + counts.codes[:, node.attribute]
    rows = math.prod(counts.sizes[a] for a in node.parents)
    sums = np.bincount(place, counts.weights, minlength=rows * size)
    return sums.astype(np.int64).reshape(rows, size)  # exact: no sum of records reaches 2^53


def _places(codes: Tuples, parents: Sequence[int], sizes: Sequence[int]) -> NDArray[np.int64]:
    """Number the combinations of the parents' values."""
    place = np.zeros(len(codes), dtype=np.int64)
    for a in parents:
        place = place * sizes[a] + codes[:, a]
    return place


def dependence(table: NDArray[np.int64]) -> int:
    """Return R of a table in records, rounded down.

    >>> dependence(np.array([[5, 0], [0, 5]])), dependence(np.array([[2, 4], [4, 8]]))
    (5, 0)
    """
    n = int(table.sum())
    exact = table if n < MAX_EXACT else table.astype(object)
    apart = np.abs(n * exact - np.multiply.outer(exact.sum(axis=1), exact.sum(axis=0)))
    return int(apart.sum()) // max(2 * n, 1)


def draw(
    nodes: Sequence[Node],
    tables: Sequence[NDArray[np.int64]],
    sizes: Sequence[int],
    points: int,
    random: np.random.Generator,
) -> NDArray[np.int32]:
    """Draw points from a network of noisy tables: points x attributes."""
    out = np.zeros((points, len(sizes)), dtype=np.int32)
    for node, table in zip(nodes, tables, strict=True):
        upto = np.cumsum(conditional(table), axis=1)
        given = _places(out, node.parents, sizes)
        # One row after the other, each from its number to the next: one search finds all points.
        ends = np.minimum(upto / upto[:, -1:], 1.0) + np.arange(len(upto))[:, None]
        found = np.searchsorted(ends.ravel(), given + random.random(points), side="right")
        out[:, node.attribute] = np.clip(found - given * table.shape[1], 0, table.shape[1] - 1)
    return out


def conditional(table: NDArray[np.int64]) -> Floats:
    """Return the shares of the values given their parents'; where noise left nobody, all values are alike.

    >>> conditional(np.array([[3, -1, 1], [-2, 0, -5]])).tolist()
    [[0.75, 0.0, 0.25], [0.3333333333333333, 0.3333333333333333, 0.3333333333333333]]
    """
    held = np.maximum(table, 0).astype(np.float64)
    held[held.sum(axis=1) == 0] = 1.0
    return np.asarray(held / held.sum(axis=1, keepdims=True))
