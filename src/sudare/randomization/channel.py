"""A channel: by which law a value is changed, and what it protects.

`P[i, j]` is the probability that the input j comes out as i. Two numbers say what a channel protects. Its epsilon is the
largest ln(P[i, u] / P[i, v]): nobody's one record changes a probability by a larger factor (differential privacy, each
record on its own). Its spread is the largest sum of two such logarithms, for the same two inputs and any two outputs: in
a table of N records, randomized one by one, nobody's record can be pointed at with a probability above
1/k, k = 1 + (N - 1) e^-spread (Pk-anonymity, Theorem 4.1). Over attributes both add up.
"""

from __future__ import annotations

from functools import cached_property
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sudare.errors import ParameterError
from sudare.randomization._spread import log_ratios

Floats = NDArray[np.float64]
ROUNDING = 1e-12
"""By how much the sum of a thousand probabilities may miss 1."""
NO_INVERSE = "Some inputs cannot be told apart by what comes out of them. Use method='ml'."


class Channel(Protocol):
    """What can be asked of every channel. The last axis of a histogram has its cells; others, if any, are histograms."""

    @property
    def inputs(self) -> int:
        """How many values can go in."""

    @property
    def outputs(self) -> int:
        """How many can come out."""

    @property
    def epsilon(self) -> float:
        """The largest logarithm of a ratio of probabilities of one output."""

    @property
    def spread(self) -> float:
        """The largest sum of two such logarithms, there and back; at most 2 epsilon."""

    def expected(self, histogram: ArrayLike) -> Floats:
        """Return P v: how often each output is expected."""

    def likelihoods(self, outputs: ArrayLike) -> Floats:
        """Return w P: for each input, the mean of w over what comes out of it."""

    def inverse(self, histogram: ArrayLike) -> Floats:
        """Return G w, with G P the identity: the unbiased estimate of what went in."""

    def inverse_squares(self, histogram: ArrayLike) -> Floats:
        """Return sum_a G[i, a]^2 w_a for every i."""

    def inverse_weights(self, wanted: ArrayLike) -> Floats:
        """Return c G: how every output counts in the estimate of the sum of c over the inputs."""


def counted(histogram: ArrayLike, size: int) -> Floats:
    """Return a histogram, or several, that have so many cells each, or refuse them."""
    cells = np.asarray(histogram, dtype=np.float64)
    if cells.shape[-1:] != (size,):
        raise ParameterError(
            f"The histogram must have {size:,} cells. Got {cells.shape[-1] if cells.ndim else 1:,} instead."
        )
    return cells


class MatrixChannel:
    """A channel given by its whole matrix, one column per input.

    >>> channel = MatrixChannel([[0.75, 0.25], [0.25, 0.75]])
    >>> round(channel.epsilon, 4), round(channel.spread, 4)
    (1.0986, 2.1972)
    >>> channel.inverse([60, 40]).round(6).tolist()
    [70.0, 30.0]
    """

    def __init__(self, matrix: ArrayLike) -> None:
        given = as_numbers(matrix)
        if given.ndim != 2 or not given.size or not np.isfinite(given).all() or (given < 0).any():
            raise ParameterError(
                "The 'matrix' parameter of MatrixChannel must be a table of probabilities, one column per input."
            )
        sums = given.sum(axis=0)
        if (abs(sums - 1) > 1e-9).any():
            wrong = int(abs(sums - 1).argmax())
            raise ParameterError(
                f"The columns of the 'matrix' parameter of MatrixChannel must sum to 1. Column {wrong + 1} sums to "
                f"{sums[wrong]:.10g} instead."
            )
        # What sums to 1 up to rounding stays as it is, so that a matrix that is published is the same one when it is read.
        self.matrix: Floats = given if (abs(sums - 1) <= ROUNDING).all() else given / sums

    @cached_property
    def _ratios(self) -> Floats:
        return log_ratios(self.matrix)

    @property
    def inputs(self) -> int:
        """How many values can go in."""
        return int(self.matrix.shape[1])

    @property
    def outputs(self) -> int:
        """How many can come out."""
        return int(self.matrix.shape[0])

    @property
    def epsilon(self) -> float:
        """The largest logarithm of a ratio of probabilities of one output."""
        return float(self._ratios.max())

    @property
    def spread(self) -> float:
        """The largest sum of two such logarithms, there and back."""
        return float((self._ratios + self._ratios.T).max())

    def expected(self, histogram: ArrayLike) -> Floats:
        """Return P v."""
        return np.asarray(counted(histogram, self.inputs) @ self.matrix.T)

    def likelihoods(self, outputs: ArrayLike) -> Floats:
        """Return w P."""
        return np.asarray(counted(outputs, self.outputs) @ self.matrix)

    def inverse(self, histogram: ArrayLike) -> Floats:
        """Return G w."""
        return np.asarray(counted(histogram, self.outputs) @ self._back.T)

    def inverse_squares(self, histogram: ArrayLike) -> Floats:
        """Return sum_a G[i, a]^2 w_a."""
        return np.asarray(counted(histogram, self.outputs) @ self._back.T**2)

    def inverse_weights(self, wanted: ArrayLike) -> Floats:
        """Return c G."""
        return np.asarray(counted(wanted, self.inputs) @ self._back)

    @cached_property
    def _back(self) -> Floats:
        if np.linalg.matrix_rank(self.matrix) < self.inputs:
            raise ParameterError(NO_INVERSE)
        return np.asarray(np.linalg.pinv(self.matrix))


def as_numbers(given: ArrayLike) -> Floats:
    """Return numbers as an array; of what are none it is empty, which whoever asked for them refuses.

    >>> as_numbers([[0.5, 1]]).shape, as_numbers("x").shape
    ((1, 2), (0,))
    """
    try:
        return np.array(given, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        return np.empty(0)
