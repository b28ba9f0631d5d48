"""PRAM: every value is kept with a probability of its own, or else replaced by any other, all alike (A-type)."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sudare.errors import ParameterError
from sudare.privacy.pk_anonymity import k_of, spread_for
from sudare.privacy.requirement import number, whole_number
from sudare.randomization import _optimal
from sudare.randomization.channel import NO_INVERSE, Floats, as_numbers, counted
from sudare.randomization.explicit import Ends, exact_ends
from sudare.tables.typed import typed

CELLS_TRIED = 6  # as the one whose probability to be kept may be the least
MAX_MATRIX = 10_000  # values for which the whole matrix is written out


@typed
@dataclass(frozen=True, eq=False)
class Pram:
    """A value j is kept with probability 1 - leave[j], and else becomes any one of the others, each with leave[j] / (d - 1).

    (The paper prints p_i in the definition of the A-type matrix where the column's own p_j is meant.)

    >>> p = conventional_pram(4, epsilon=math.log(3))
    >>> p.matrix.round(4).tolist()[0], round(p.epsilon, 4)
    ([0.5, 0.1667, 0.1667, 0.1667], 1.0986)
    """

    leave: Floats

    def __post_init__(self) -> None:
        leave = as_numbers(self.leave)
        if leave.ndim != 1 or not leave.size or not ((leave >= 0) & (leave <= 1)).all():
            raise ParameterError(
                "The 'leave' parameter of Pram must be probabilities from 0 to 1, one per value."
            )
        if leave.size == 1:
            leave[:] = 0.0  # there is nothing to become
        leave.setflags(write=False)
        object.__setattr__(self, "leave", leave)

    @property
    def inputs(self) -> int:
        """How many values there are."""
        return len(self.leave)

    outputs = inputs

    @property
    def retention(self) -> Floats:
        """With which probability each value is kept."""
        return np.asarray(1 - self.leave)

    @property
    def _other(self) -> Floats:
        """The probability of each single other value."""
        return np.asarray(self.leave / max(self.inputs - 1, 1))

    @property
    def matrix(self) -> Floats:
        """The whole matrix, one column per input."""
        if self.inputs > MAX_MATRIX:
            raise ParameterError(f"The matrix of {self.inputs:,} values would be too large. Use retention.")
        matrix = np.tile(self._other, (self.inputs, 1))
        np.fill_diagonal(matrix, self.retention)
        return matrix

    @property
    def epsilon(self) -> float:
        """The largest logarithm of a ratio of probabilities of one output.

        In row i stand 1 - leave[i] and every other column's leave[j] / (d - 1): the largest and the smallest of
        these are enough, with the second ones for the row of the value that has them.
        """
        return 0.0 if self.inputs == 1 else self._over_extremes(back=False)

    @property
    def spread(self) -> float:
        """The largest sum of two such logarithms, there and back, over all pairs of inputs."""
        return 0.0 if self.inputs == 1 else self._over_extremes(back=True)

    def _over_extremes(self, *, back: bool) -> float:
        """Look only at the two least and the two most kept values, which have the largest ratios.

        For values u and v the ratios of their columns are (1 - q_u) (d - 1) / q_v in row u, q_u / ((d - 1) (1 - q_v)) in
        row v, and q_u / q_v elsewhere: each is monotone in either q, so that a pair of extremes is worst.
        """
        order = np.argsort(self.leave, kind="stable")
        chosen = np.unique(np.concatenate([order[:2], order[-2:]]))
        keep, other = self.retention[chosen], self._other[chosen]
        worst = 0.0
        for u in range(len(chosen)):
            for v in range(len(chosen)):
                if u == v:
                    continue
                ratios = [_ratio(keep[u], other[v]), _ratio(other[u], keep[v])]
                if self.inputs > 2:
                    ratios.append(_ratio(other[u], other[v]))
                there = max(ratios)
                worst = max(worst, there - (min(ratios) if back else 0.0))
        return worst

    def k(self, records: int) -> float:
        """Return the k of Pk-anonymity that it gives in a table of so many records."""
        return k_of(self.spread, whole_number(records, "records", "k", least=1))

    def bias(self, histogram: ArrayLike) -> float:
        """Return ||P v - v||, by how far the expected output is off; v may have an axis per attribute."""
        v = np.asarray(histogram, dtype=np.float64).ravel()
        return float(np.linalg.norm(self.expected(v) - v))

    def expected(self, histogram: ArrayLike) -> Floats:
        """Return P v."""
        v = counted(histogram, self.inputs)
        return np.asarray((self.retention - self._other) * v + _total(self._other * v))

    def likelihoods(self, outputs: ArrayLike) -> Floats:
        """Return w P."""
        w = counted(outputs, self.inputs)
        return np.asarray((self.retention - self._other) * w + self._other * _total(w))

    def inverse(self, histogram: ArrayLike) -> Floats:
        """Return G w.

        w_i = t_i v_i + R with t_i = 1 - q_i - q_i / (d - 1) and R = sum_j q_j v_j / (d - 1), and the total is known: so
        R = (sum w / t - N) / sum 1/t.
        """
        w, kept, scale = counted(histogram, self.inputs), *self._invertible()
        return np.asarray((w - (_total(w / kept) - _total(w)) / scale) / kept)

    def inverse_squares(self, histogram: ArrayLike) -> Floats:
        """Return sum_a G[i, a]^2 w_a."""
        w, kept, scale = counted(histogram, self.inputs), *self._invertible()
        share = (1 / kept - 1) / scale
        return np.asarray((w * (1 - 2 * share) + _total(share**2 * w)) / kept**2)

    def inverse_weights(self, wanted: ArrayLike) -> Floats:
        """Return c G."""
        c, kept, scale = counted(wanted, self.inputs), *self._invertible()
        return np.asarray(c / kept - _total(c / kept) * (1 / kept - 1) / scale)

    def _invertible(self) -> tuple[Floats, float]:
        """Return t and sum 1/t, if the matrix has an inverse."""
        kept = np.asarray(self.retention - self._other)
        scale = float((1 / kept).sum()) if kept.all() else 0.0
        if abs(scale) < 1e-12 or (abs(kept) < 1e-12).any():
            raise ParameterError(NO_INVERSE)
        return kept, scale


def _total(cells: Floats) -> Floats:
    return np.asarray(cells.sum(axis=-1, keepdims=True))


def _ratio(a: float, b: float) -> float:
    if a == b:
        return 0.0
    if a == 0 or b == 0:
        return math.inf if b == 0 else -math.inf
    return math.log(a / b)


@typed
def conventional_pram(
    d: int, *, epsilon: float | None = None, k: float | None = None, records: int | None = None
) -> Pram:
    """Return the PRAM that keeps every value alike, as often as epsilon (or k in a table of `records`) allows.

    >>> round(float(conventional_pram(74, k=10, records=32561).retention[0]), 4)
    0.4517
    """
    whole_number(d, "d", "conventional_pram", least=1)
    e = math.exp(-epsilon_asked(epsilon, k, records, "conventional_pram"))
    return Pram(np.full(d, (d - 1) * e / (1 + (d - 1) * e)))


@typed
def optimal_pram(histogram: ArrayLike, *, epsilon: float | None = None, k: float | None = None) -> Pram:
    """Return the PRAM with the least ||P v - v|| for a histogram v, within epsilon (or k for its number of records).

    Exact, for any number of cells, empty ones included. Where some PRAM leaves v as it is in expectation, the one
    that keeps most (Lemma 3.13; its t must also satisfy the second row's constraint, which is the stricter one when
    e^epsilon > d - 1). The histogram is taken as public: a matrix that is made for private data tells about them.
    One with an axis per attribute is that of their combinations, the last attribute changing fastest.

    >>> p = optimal_pram([60, 30, 10], epsilon=1.0)
    >>> p.bias([60, 30, 10]) < conventional_pram(3, epsilon=1.0).bias([60, 30, 10])
    True
    """
    v = histogram_given(histogram, "optimal_pram")
    e = math.exp(min(epsilon_asked(epsilon, k, round(v.sum()), "optimal_pram"), 700.0))
    if len(v) == 1:
        return Pram(np.zeros(1))
    order = np.argsort(-v, kind="stable")
    leave = np.empty(len(v))
    leave[order] = _optimal_leave(v[order] / v[order[0]], e)
    return Pram(np.clip(leave, 0.0, 1.0))


def _optimal_leave(v: NDArray[np.float64], e: float) -> Floats:
    """Return the optimal q for a falling histogram."""
    d, m = len(v), int((v > 0).sum())
    v = v[:m]
    leave = np.empty(d)
    if m == 1:
        leave[0] = _optimal.least_end(d, e)[0]
        leave[1:] = _optimal.low(leave[0], d, e)
        return leave
    exact = _without_bias(v, e) if m == d else None
    if exact is not None:
        return exact
    last, best = m - 1, Ends(*_optimal.search(v, d - m, e, False))
    if d > 2:
        star = e * (d - 1) / (1 + e * (d - 1))
        for cell in _worth_exceeding(v * star, best.level):
            other = Ends(*_optimal.search(_with_last(v, cell), d - m, e, True))
            if other.squares < best.squares:
                best, last = other, cell
        best = exact_ends(_with_last(v, last), d - m, e, best)
    first, c, s, _ = best
    low = _optimal.low(first, d, e)
    leave[:m] = np.clip(s / v, low, max(low, _optimal.high(c, d, e)))
    leave[0], leave[last], leave[m:] = first, c, low
    return leave


def _with_last(v: Floats, cell: int) -> Floats:
    """Return the cells with one of them put last."""
    return np.append(np.delete(v, cell), v[cell])


def _worth_exceeding(v: NDArray[np.float64], s: float) -> list[int]:
    """Return the cells for which a q above c* may pay, given v c*: by what a little more saves, v (s - v c*)."""
    saves = v[1:] * (s - v[1:])
    best = 1 + np.argsort(-saves, kind="stable")[:CELLS_TRIED]
    return sorted({int(cell) for cell in best} | {len(v) - 1})


def _without_bias(v: NDArray[np.float64], e: float) -> Floats | None:
    """Return q_i = t v_d / v_i with the smallest t, which leaves v as it is in expectation; None if e allows none."""
    d = len(v)
    shape = v[-1] / v
    t = max((d - 1) / (e * shape[1] + (d - 1) * shape[0]), (d - 1) / (e * shape[0] + (d - 1) * shape[1]))
    rounding = 1 + 1e-15
    fits = (
        t <= 1
        and (d == 2 or v[0] <= e * v[-1] * rounding)
        and t * shape[-2] <= _optimal.high(t, d, e) * rounding
    )
    return np.asarray(t * shape) if fits else None


def histogram_given(histogram: ArrayLike, owner: str) -> Floats:
    """Return a histogram as one list of counts, or refuse what is none."""
    given = as_numbers(histogram)
    v = given.ravel()
    if not given.ndim or not v.size or not np.isfinite(v).all() or (v < 0).any() or not v.any():
        raise ParameterError(f"The 'histogram' parameter of {owner} must be numbers of 0 or more, not all 0.")
    return v


def epsilon_asked(epsilon: float | None, k: float | None, records: int | None, owner: str) -> float:
    """Return the epsilon that is asked for, or the one that is enough for a k."""
    if (epsilon is None) == (k is None):
        raise ParameterError(f"{owner} needs either epsilon or k.")
    if epsilon is not None:
        return number(epsilon, "epsilon", owner, "a number of 0 or more", low=0)
    if records is None:
        raise ParameterError(f"{owner} needs the number of records, because k depends on it.")
    return spread_for(number(k, "k", owner, "a number of 1 or more", low=1), records) / 2
