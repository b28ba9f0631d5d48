"""Errors that are expected without looking at any data, where no table of all cells can be held: Identity_est, and HDMM.

As in the paper (section 5.1): of Identity and of HDMM's p-Identity strategies, a Kronecker product over the attributes, the variance
of a whole workload is a sum of products, one factor for each attribute. HDMM knows the workload, and has a strategy for each.

One product for all sets of attributes is the template that the paper took (HDMM's OPT_x). HDMM has others: with a product for each set,
of its attributes alone, error does not grow with the attributes that nobody asks for. The budget goes to the sets like the cube root of their
errors E, which makes the least sum of E/share^2.
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from functools import cache
from itertools import combinations
from typing import NamedTuple

import numpy as np

from papers.dp_mondrian.paper import EPSILON, EXPECTED, HDMM, HDMM_SETS
from sudare.pview.hdmm import expected_variance, optimise
from sudare.pview.p_identity import Asked, best_sums, error, gram, queries

MAX_SETS = 20
"""So many sets of three attributes are drawn where there are more."""


class Asking(NamedTuple):
    """A workload: all queries of a kind, of each of some sets of attributes."""

    kind: Asked
    sets: tuple[tuple[int, ...], ...]


def workloads(attributes: int) -> dict[str, Asking]:
    """Return the paper's eight workloads."""
    axes = range(attributes)
    pairs, threes = tuple(combinations(axes, 2)), _drawn(tuple(combinations(axes, 3)))
    return {
        "1D ranges": Asking("ranges", tuple((a,) for a in axes)),
        "2-way marginals": Asking("cells", pairs),
        "3-way marginals": Asking("cells", threes),
        "prefix-2D": Asking("prefixes", pairs),
        "prefix-3D": Asking("prefixes", threes),
        **{f"random {k}D": Asking("random ranges", tuple(combinations(axes, k))) for k in (2, 3, 4)},
    }


def _drawn(sets: tuple[tuple[int, ...], ...]) -> tuple[tuple[int, ...], ...]:
    if len(sets) <= MAX_SETS:
        return sets
    return tuple(sets[i] for i in np.random.default_rng(3).choice(len(sets), MAX_SETS, replace=False))


class Expected(NamedTuple):
    """A method's expected RMSE by workload, with the seconds that finding its strategies took."""

    method: str
    errors: dict[str, float]
    seconds: float


def expected(sizes: Sequence[int], only: Sequence[str] = (), epsilon: float = EPSILON) -> list[Expected]:
    """Return what is expected of Identity and of HDMM over attributes of these sizes."""
    asked = {name: own for name, own in workloads(len(sizes)).items() if not only or name in only}
    found = []
    for method in EXPECTED:
        start = time.perf_counter()
        errors = {name: rmse(sizes, own, method, epsilon) for name, own in asked.items()}
        found.append(Expected(method, errors, time.perf_counter() - start))
    return found


def rmse(sizes: Sequence[int], asking: Asking, method: str, epsilon: float) -> float:
    """Return the root of the mean variance over all queries; the noise of one sum has the variance 2/ε².

    >>> round(rmse((2, 3), Asking("cells", ((0,),)), "Identity_est", 1.0) ** 2, 9)        # sums of 3 cells
    6.0
    """
    number = sum(math.prod(queries(asking.kind, sizes[a]) for a in own) for own in asking.sets)
    return math.sqrt(2 / epsilon**2 * _variance(tuple(sizes), asking, method) / number)


@cache
def _variance(sizes: tuple[int, ...], asking: Asking, method: str) -> float:
    """Return the variance of all queries, for noise of variance 1."""
    wanted = [gram(asking.kind, size) for size in sizes]
    if method == HDMM_SETS:
        return _by_sets(wanted, asking.sets)
    sets = np.array([[a in own for a in range(len(sizes))] for own in asking.sets])
    alone = [np.zeros((1, size)) for size in sizes]
    thetas = optimise(wanted, sets, pure=True) if method == HDMM else alone
    return expected_variance(thetas, wanted, sets, pure=True)


def _by_sets(wanted: Sequence[np.ndarray], sets: Sequence[tuple[int, ...]]) -> float:
    """Return the variance of all sets' queries, each from the best strategy of its own attributes."""
    least = [error(best_sums(own, pure=True), own, pure=True) for own in wanted]
    return float(sum(math.prod(least[a] for a in own) ** (1 / 3) for own in sets) ** 3)
