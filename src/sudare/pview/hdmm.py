"""HDMM (McKenna, Miklau, Hay & Machanavajjhala 2018, PVLDB 11(10)): what is measured is optimised for a workload.

The workload is a union of products: for every set of so many attributes, all queries of a kind of these (ranges, prefixes or cells),
and of the others the total. The strategy is a Kronecker product A = A_1 x ... x A_d of p-Identity strategies (see
`p_identity`). Its error is a sum over the sets of products over the attributes, of trace((A_i'A_i)^-1 G_i) or of the same with all
ones for G_i; so no matrix of the whole domain is ever made (their Theorem 5). One attribute after the other gets the best
A_i given the others: the G_i of all sets, weighed by what the others' traces multiply to, is its workload (OPT_x, section 6).

What is done here so that noise is exact: the A_i are rounded to whole numbers, and noise is as large as one record changes
A x, which is the product of what it changes each A_i x by (their Theorem 3 for absolute values; for squares as well). All of A x is whole
numbers, and so is the noise. The cells are solved from it by least squares, attribute by attribute, and are as the noise
left them. The workload is public, so the strategy tells nothing of the data: all of the budget goes to A x.

The vector of all cells must be held, as Identity's; the paper's unions of several products and its OPT_M would need
as much here, since a p-view answers any query from one table of cells.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import combinations
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from sudare.errors import ParameterError
from sudare.privacy.requirement import one_of, whole_number
from sudare.pview import p_identity
from sudare.pview.account import Account
from sudare.pview.baselines import dense
from sudare.pview.domain import Domain
from sudare.pview.method import Method
from sudare.pview.models import CellsModel
from sudare.pview.noisy_counts import MAX_CELLS, NoisyCells, check_counts
from sudare.pview.p_identity import Asked, Floats, PIdentity, best_sums, error, gram, in_whole_numbers
from sudare.tables.counts import Counts
from sudare.tables.typed import typed

SWEEPS = 3
MAX_CHANGE = {True: 2**12, False: 2**18}
"""By how much one record may change A x, pure and with rho: so large that rounding is fine, so small that noise can be drawn."""
MAX_SETS = 1000
"""Sets of attributes that are looked at; of more, the first ones."""


@typed
@dataclass(frozen=True)
class Hdmm(Method):
    """Noisy sums of cells that are chosen for a workload, and the cells that follow from them; for small domains.

    >>> Hdmm(ways=3).to_json()
    {'name': 'hdmm', 'asked': 'ranges', 'ways': 3}
    """

    name: ClassVar[str] = "hdmm"
    asked: Literal["ranges", "prefixes", "marginals"] = "ranges"
    """What will be asked. Of attributes without an order, single values are."""
    ways: int = 2
    """Of how many attributes at once; if there are fewer, of all."""

    def __post_init__(self) -> None:
        one_of(self.asked, "asked", "hdmm", ("ranges", "prefixes", "marginals"))
        whole_number(self.ways, "ways", "hdmm", least=1)

    def learn(self, counts: Counts, domain: Domain, account: Account) -> CellsModel:
        """Measure what the workload asks for, and solve the cells from it."""
        kinds: dict[str, Asked] = {"ranges": "random ranges", "prefixes": "prefixes", "marginals": "cells"}
        asked: list[Asked] = [kinds[self.asked] if axis.ordered else "cells" for axis in domain.axes]
        return CellsModel(learn_hdmm(counts, asked, self.ways, account))


def learn_hdmm(counts: Counts, asked: Sequence[Asked], ways: int, account: Account) -> NoisyCells:
    """Return all cells, solved from noisy sums that are the best for what is asked of each attribute.

    >>> from sudare.noise.keystream import Keystream
    >>> from sudare.privacy.differential_privacy import DifferentialPrivacy
    >>> counts = Counts(("a",), np.arange(64, dtype=np.int32)[:, None], np.full(64, 50), (64,))
    >>> account = Account(DifferentialPrivacy(1.0), Keystream.unsafe(1))
    >>> cells = learn_hdmm(counts, ["ranges"], 1, account)
    >>> whole = cells.errors(np.array([[0]]), np.array([[63]]))[0]
    >>> bool(whole < 0.8 * math.sqrt(64) * account.deviation(account.whole)), account.remaining
    (True, Fraction(0, 1))
    """
    check_counts(counts, "learn_hdmm")
    table = dense(counts, MAX_CELLS, "HDMM")  # refused if there are too many cells, before the work
    _refuse_long(counts)
    strategies = strategies_for(tuple(counts.sizes), tuple(asked), ways, pure=account.pure)
    change = math.prod(one.change(pure=account.pure) for one in strategies)
    part = account.spend("cells", Fraction(1))
    sums = along_all(table, [one.rows for one in strategies])
    noisy = sums + account.noise(sums.size, part, change).reshape(sums.shape)
    cells = noisy.astype(np.float64)
    for axis, one in enumerate(strategies):
        cells = np.moveaxis(one.solve(_flat(cells, axis)).reshape(-1, *_without(cells.shape, axis)), 0, axis)
    return NoisyCells(np.ascontiguousarray(cells), account.deviation(part, change), strategies=strategies)


def _refuse_long(counts: Counts) -> None:
    for name, size in zip(counts.names, counts.sizes, strict=True):
        if size > p_identity.MAX_CELLS:
            raise ParameterError(
                f"HDMM finds what to measure of attributes with {p_identity.MAX_CELLS:,} cells at most, and '{name}' has {size:,}. "
                "Use wider bins, or another method."
            )


def along_all(table: NDArray[np.int64], matrices: Sequence[NDArray[np.int64]]) -> NDArray[np.int64]:
    """Return the Kronecker product of some matrices times the table, one axis after the other."""
    for axis, matrix in enumerate(matrices):
        if not np.array_equal(matrix, np.eye(len(matrix))):
            product = (matrix @ _flat(table, axis)).reshape(-1, *_without(table.shape, axis))
            table = np.moveaxis(product, 0, axis)
    return table


def _flat(table: NDArray[Any], axis: int) -> NDArray[Any]:
    return np.moveaxis(table, axis, 0).reshape(table.shape[axis], -1)


def _without(shape: tuple[int, ...], axis: int) -> tuple[int, ...]:
    return shape[:axis] + shape[axis + 1 :]


# -- The strategy ---------------------------------------------------------------------------------------


@lru_cache(maxsize=64)
def strategies_for(
    sizes: tuple[int, ...], asked: tuple[Asked, ...], ways: int, *, pure: bool
) -> tuple[PIdentity, ...]:
    """Return a strategy in whole numbers for every attribute."""
    sets = members(len(sizes), min(ways, len(sizes)))
    wanted = [gram(kind, size) for kind, size in zip(asked, sizes, strict=True)]
    thetas = optimise(wanted, sets, pure=pure)
    weights = workloads(thetas, wanted, sets, pure=pure)
    many = max(sum(bool(theta.any()) for theta in thetas), 1)
    most = int(MAX_CHANGE[pure] ** (1 / many))
    both = zip(thetas, weights, strict=True)
    return tuple(in_whole_numbers(theta, own, most, pure=pure) for theta, own in both)


def members(attributes: int, ways: int) -> NDArray[np.bool_]:
    """Return the sets of so many attributes: sets x attributes.

    >>> members(3, 2).astype(int).tolist()
    [[1, 1, 0], [1, 0, 1], [0, 1, 1]]
    """
    chosen = [own for own, _ in zip(combinations(range(attributes), ways), range(MAX_SETS), strict=False)]
    return np.array([[a in own for a in range(attributes)] for own in chosen])


def optimise(wanted: Sequence[Floats], sets: NDArray[np.bool_], *, pure: bool) -> list[Floats]:
    """Return the Theta of every attribute, each the best given the others, for Gram matrices asked of sets of attributes."""
    thetas = [np.zeros((1, len(own))) for own in wanted]
    for _ in range(SWEEPS if len(wanted) > 1 else 1):
        for i in range(len(wanted)):
            own = workloads(thetas, wanted, sets, pure=pure)[i]
            thetas[i] = best_sums(own, pure=pure, begin=thetas[i])
    return thetas


def workloads(
    thetas: Sequence[Floats], wanted: Sequence[Floats], sets: NDArray[np.bool_], *, pure: bool
) -> list[Floats]:
    """Return what each attribute is asked, given the strategies of the others: a Gram matrix for each."""
    logs = np.log(traces(thetas, wanted, sets, pure=pure))
    weights = np.exp(logs.sum(axis=1, keepdims=True) - logs - logs.sum(axis=1).max())
    asked = (weights * sets).sum(axis=0)
    whole = (weights * ~sets).sum(axis=0)
    return [a * own + w for a, w, own in zip(asked, whole, wanted, strict=True)]


def traces(
    thetas: Sequence[Floats], wanted: Sequence[Floats], sets: NDArray[np.bool_], *, pure: bool
) -> Floats:
    """Return the factors of every set's error: those of its attributes, and of the others those of the total."""
    own = np.array([error(t, g, pure=pure) for t, g in zip(thetas, wanted, strict=True)])
    whole = np.array([error(t, np.ones_like(g), pure=pure) for t, g in zip(thetas, wanted, strict=True)])
    return np.where(sets, own, whole)


def expected_variance(
    thetas: Sequence[Floats], wanted: Sequence[Floats], sets: NDArray[np.bool_], *, pure: bool
) -> float:
    """Return the variance of all queries of all sets together, for noise of variance 1 (implicit: their Theorem 5).

    >>> alone = [np.zeros((1, 2)), np.zeros((1, 3))]
    >>> expected_variance(alone, [np.eye(2), np.eye(3)], members(2, 1), pure=True)   # 2 sums of 3 cells, 3 of 2
    12.0
    """
    return float(traces(thetas, wanted, sets, pure=pure).prod(axis=1).sum())
