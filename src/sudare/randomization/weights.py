"""A channel for very many values: every output has a weight, and the own value's counts times a ratio.

P[i, j] = m_i (x if i = j else 1) / c_j with c_j = M + (x - 1) m_j and M = sum m. It is what the best matrices are where every change costs
the same: by epsilon with the weights of `most_kept`, by k with `root_weights`. Its parts are as many as the values, where a matrix
has their square; so there may be as many values as a law can have.

It is drawn in two steps: with (x - 1) m_j / c_j the value is kept, and else any output is taken, by the weights.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sudare.errors import ParameterError
from sudare.noise.keystream import Keystream
from sudare.noise.sampling import sample_matrix
from sudare.randomization.channel import NO_INVERSE, Floats, counted


class WeightsChannel:
    """A channel given by the weights of its outputs, which sum to 1, and a ratio.

    >>> channel = WeightsChannel([0.5, 0.3, 0.2], 4.0)
    >>> channel.expected([1, 0, 0]).round(6).tolist()
    [0.8, 0.12, 0.08]
    >>> channel.inverse(channel.expected([60, 30, 10])).round(6).tolist()
    [60.0, 30.0, 10.0]
    """

    def __init__(self, weights: ArrayLike, ratio: float) -> None:
        given = np.array(weights, dtype=np.float64)
        self.weights: Floats = given
        self.ratio = float(ratio)
        self.sums: Floats = given.sum() + (self.ratio - 1) * given
        """c_j: what the entries of column j are divided by."""

    @property
    def inputs(self) -> int:
        """How many values there are."""
        return len(self.weights)

    outputs = inputs

    @property
    def retention(self) -> Floats:
        """With which probability each value comes out as it is."""
        return np.asarray(self.ratio * self.weights / self.sums)

    @property
    def epsilon(self) -> float:
        """The largest logarithm of a ratio of probabilities of one output.

        Row i has x / c_i in its own column and 1 / c_j in the others, all times m_i: the extremes of the others are those of
        all, or the second ones where they are its own.
        """
        if self.inputs == 1:
            return 0.0
        order = np.argsort(self.sums, kind="stable")
        places = np.arange(self.inputs)
        first, last = (
            np.where(places == order[one], self.sums[order[two]], self.sums[order[one]])
            for one, two in ((0, 1), (-1, -2))
        )
        own = self.ratio / self.sums
        spans = np.log(np.maximum(own, 1 / first)) - np.log(np.minimum(own, 1 / last))
        return float(spans[self.weights > 0].max())

    @property
    def spread(self) -> float:
        """The largest sum of two such logarithms, there and back: c cancels, and x is left for either value that comes out."""
        return min(int((self.weights > 0).sum()) - 1, 1) * 2 * math.log(self.ratio)

    def expected(self, histogram: ArrayLike) -> Floats:
        """Return P v."""
        v = counted(histogram, self.inputs) / self.sums
        return np.asarray(self.weights * (v.sum(axis=-1, keepdims=True) + (self.ratio - 1) * v))

    def likelihoods(self, outputs: ArrayLike) -> Floats:
        """Return w P."""
        w = counted(outputs, self.inputs) * self.weights
        return np.asarray((w.sum(axis=-1, keepdims=True) + (self.ratio - 1) * w) / self.sums)

    def inverse(self, histogram: ArrayLike) -> Floats:
        """Return G w.

        w_i / m_i = S + (x - 1) v_i / c_i with S = sum v / c; summed up over i, S is the sum of w / m over d + x - 1.
        """
        w = counted(histogram, self.inputs) / self._positive
        return np.asarray(self.sums * (w - w.sum(axis=-1, keepdims=True) / self._parts) / (self.ratio - 1))

    def inverse_squares(self, histogram: ArrayLike) -> Floats:
        """Return sum_a G[i, a]^2 w_a."""
        w = counted(histogram, self.inputs) / self._positive**2
        all_of_them = w.sum(axis=-1, keepdims=True) / self._parts**2
        return np.asarray((self.sums / (self.ratio - 1)) ** 2 * (w * (1 - 2 / self._parts) + all_of_them))

    def inverse_weights(self, wanted: ArrayLike) -> Floats:
        """Return c G."""
        c = counted(wanted, self.inputs) * self.sums
        return np.asarray(
            (c - c.sum(axis=-1, keepdims=True) / self._parts) / (self._positive * (self.ratio - 1))
        )

    @property
    def _parts(self) -> float:
        return self.inputs + self.ratio - 1

    @property
    def _positive(self) -> Floats:
        if self.ratio == 1 or not self.weights.all():
            raise ParameterError(NO_INVERSE)
        return self.weights

    def sample(self, codes: NDArray[Any], source: Keystream) -> NDArray[Any]:
        """Draw an output code for every input code."""
        total = self.weights.sum()
        ways = np.stack([(self.ratio - 1) * self.weights, np.full(self.inputs, total)]) / self.sums
        moves = sample_matrix(codes, ways, source).astype(bool)
        drawn = sample_matrix(np.zeros(len(codes), dtype=codes.dtype), self.weights[:, None] / total, source)
        return np.where(moves, drawn, codes).astype(codes.dtype)
