"""The best matrix for a histogram, a loss, and what is promised: the front door to all that looks for one."""

from __future__ import annotations

import math
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from sudare.errors import ParameterError
from sudare.privacy.requirement import one_of
from sudare.randomization.a_type import least_distance_a_type, least_error_a_type
from sudare.randomization.channel import NO_INVERSE, Floats, MatrixChannel
from sudare.randomization.distances import Distance, distances
from sudare.randomization.methods import LOSSES, Loss
from sudare.randomization.pram import Pram, epsilon_asked, histogram_given, optimal_pram
from sudare.randomization.reconstructable import least_error, least_error_under_k
from sudare.randomization.staircase import NONE, Histograms, least_distance, most_kept
from sudare.randomization.under_k import least_distance_under_k, root_weights
from sudare.randomization.weights import WeightsChannel
from sudare.tables.typed import own_words, typed

Family = Literal["A", "general"]
FAMILIES: tuple[Family, ...] = ("A", "general")
MAX_VALUES = 512
MAX_EPSILON = 25.0  # e^-25 is not told from 0 where it stands beside 1
COLLAPSE = (
    "For the published histogram alone, the best matrix of all is P = v 1^T / N: it leaves v as it is, has epsilon 0, and tells of "
    "no record anything, because it publishes the histogram that it was made for. Take family='A', or a loss that looks at records."
)


@typed
@own_words("histogram", "family", "loss", "distance")
def optimal(
    histogram: ArrayLike,
    *,
    epsilon: float | None = None,
    k: float | None = None,
    family: Family = "general",
    loss: Loss = "record",
    distance: Distance | ArrayLike = "exact",
    within: ArrayLike | None = None,
) -> Pram | MatrixChannel | WeightsChannel:
    """Return the best matrix for a histogram within epsilon, or within k for its number of records.

    `family` "A" are the matrices of `Pram`; "general" are all. `loss` says what is to be small:

    - "record": the mean distance between a record and what is published for it. `distance` is "exact" (any change costs 1),
      "order", or a table, such as `tree_distances` of a hierarchy. The general one is the best of all, by a linear program.
    - "worst case": the same, for the worst of all histograms whose counts differ from these by `within` at most (one number,
      or one per value; None: for any histogram).
    - "reconstruction": the squared error of the unbiased estimate of the histogram. This one is searched for; it is never worse
      than the A-type one.
    - "published": ||P v - v||, as the paper has it, for family "A" only (`optimal_pram`).

    Under k, general matrices are held to what Pk-anonymity itself asks (`under_k`), which allows more than the epsilon that
    would be enough for it; A-type ones are held to that epsilon. The histogram is taken as public.

    Whole matrices are of 512 values at most. Where every change costs the same, the best one for "record" has so simple a form that
    there may be any number of values: it is told by the weights of its rows (`WeightsChannel`).

    >>> v = [60, 30, 10]
    >>> optimal(v, epsilon=1.0).matrix.round(3).tolist()
    [[0.731, 0.269, 0.5], [0.269, 0.731, 0.5], [0.0, 0.0, 0.0]]
    >>> optimal(v, epsilon=1.0, loss="worst case").matrix.round(3).tolist()[0]
    [0.576, 0.212, 0.212]
    """
    v = histogram_given(histogram, "optimal")
    by_epsilon = epsilon_asked(epsilon, k, round(v.sum()), "optimal")
    return best_within(
        v, by_epsilon, of_k=k is not None, family=family, loss=loss, distance=distance, within=within
    )


def best_within(
    v: Floats,
    epsilon: float,
    *,
    of_k: bool,
    family: Family,
    loss: Loss,
    distance: Distance | ArrayLike = "exact",
    within: ArrayLike | None = None,
) -> Pram | MatrixChannel | WeightsChannel:
    """Return the best matrix of an epsilon, or of twice that as a spread if it is asked for by k."""
    one_of(family, "family", "optimal", FAMILIES)
    one_of(loss, "loss", "optimal", LOSSES)
    if loss == "published" and family == "general":
        raise ParameterError(COLLAPSE)
    if loss == "published":
        return optimal_pram(v, epsilon=epsilon)
    if len(v) == 1:
        return Pram(np.zeros(1))
    share, e = v / v.sum(), math.exp(min(epsilon, MAX_EPSILON))
    if len(v) > MAX_VALUES:
        if loss != "record" or family != "general" or not (isinstance(distance, str) and distance == "exact"):
            raise ParameterError(
                f"{len(v):,} values are too many for a whole matrix; {MAX_VALUES} are the most, but for "
                "loss='record' and distance='exact'. Put them into bins, or take conventional_pram."
            )
        return of_very_many(share, e, of_k=of_k)
    if loss == "reconstruction":
        return _for_reconstruction(share, e, of_k, family)
    apart = distances(distance, len(v))
    among = Histograms(share, share) if loss == "record" else _around(v, within)
    if family == "A":
        return least_distance_a_type(apart, among, e)
    return MatrixChannel((least_distance_under_k if of_k else least_distance)(apart, among, e))


def of_very_many(share: Floats, e: float, *, of_k: bool) -> WeightsChannel:
    """Return the matrix that keeps most records, by the weights of its rows: those of rows that are not used are 0.

    >>> many = of_very_many(np.array([0.6, 0.3, 0.1]), math.e, of_k=False)
    >>> many.expected(np.eye(3)).T.round(3).tolist()  # what the program finds for few values
    [[0.731, 0.269, 0.5], [0.269, 0.731, 0.5], [0.0, 0.0, 0.0]]
    """
    weights = (root_weights if of_k else most_kept)(share, e)
    weights = np.where(weights > NONE * weights.max(), weights, 0.0)
    return WeightsChannel(weights / weights.sum(), e)


def _for_reconstruction(share: Floats, e: float, of_k: bool, family: Family) -> Pram | MatrixChannel:
    if e == 1.0:
        raise ParameterError(f"Within epsilon = 0 all columns are alike. {NO_INVERSE}")
    a_type = least_error_a_type(share, e)
    if family == "A":
        return a_type
    return MatrixChannel((least_error_under_k if of_k else least_error)(share, e, [a_type.matrix]))


def _around(v: Floats, within: ArrayLike | None) -> Histograms:
    """Return all histograms near one, as shares; none is left out by rounding."""
    if within is None:
        return Histograms(np.zeros(len(v)), np.ones(len(v)))
    reach = np.asarray(within, dtype=np.float64)
    if reach.ndim > 1 or reach.size not in (1, len(v)) or not np.isfinite(reach).all() or (reach < 0).any():
        raise ParameterError(
            "The 'within' parameter of optimal must be a number of 0 or more, or one per value: by how much a count may be off."
        )
    total = v.sum()
    return Histograms(np.maximum(v - reach, 0.0) / total, np.minimum(v + reach, total) / total)
