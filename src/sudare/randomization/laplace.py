"""Laplace noise on a bounded numeric attribute, on a grid, and clipped to the bounds.

Why Laplace, and why bounds: k = 1 for any additive noise on an unbounded attribute (Theorem 5.1), for noise of bounded
support such as uniform noise (Theorem 5.2), and for normal noise (Theorem 5.3). Why a grid: the low bits of a floating-point
sum tell which number the noise was added to.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike

from sudare.errors import ParameterError
from sudare.randomization.channel import Floats, counted


@dataclass(frozen=True)
class LaplaceChannel:
    """The grid has the points 0, 1, ..., steps; noise z has a probability proportional to e^(-|z| / scale).

    What falls outside is clipped to the end, which is post-processing. With a = e^(-1/scale), the end rows are 1 / (1 - a) times
    what the unclipped law has there, so that P = D K with D diagonal and K[i, j] = (1 - a) / (1 + a) a^|i - j|: P v is two passes
    over v, and the inverse of K has three diagonals.

    >>> channel = LaplaceChannel(steps=10, scale=Fraction(5))
    >>> channel.epsilon, channel.spread
    (2.0, 4.0)
    >>> channel.expected([0] * 5 + [1] + [0] * 5).round(3).tolist()[4:7]
    [0.082, 0.1, 0.082]
    """

    steps: int
    scale: Fraction

    def __post_init__(self) -> None:
        if self.steps < 1 or self.scale <= 0:
            raise ParameterError(
                "A LaplaceChannel needs 1 step or more and a scale above 0. "
                f"Got {self.steps} and {float(self.scale):g} instead."
            )

    @property
    def inputs(self) -> int:
        """How many grid points there are."""
        return self.steps + 1

    outputs = inputs

    @property
    def epsilon(self) -> float:
        """The width of the grid over the scale: the ends of the grid are told apart best."""
        return float(self.steps / self.scale)

    @property
    def spread(self) -> float:
        """Twice that: there and back."""
        return float(2 * self.steps / self.scale)

    @property
    def _a(self) -> float:
        return float(np.exp(-float(1 / self.scale)))

    def expected(self, histogram: ArrayLike) -> Floats:
        """Return P v."""
        return np.asarray(self._ends() * self._smoothed(counted(histogram, self.inputs)))

    def likelihoods(self, outputs: ArrayLike) -> Floats:
        """Return w P."""
        return self._smoothed(self._ends() * counted(outputs, self.inputs))

    def inverse(self, histogram: ArrayLike) -> Floats:
        """Return G w."""
        return self._sharpened(counted(histogram, self.inputs) / self._ends())

    def inverse_weights(self, wanted: ArrayLike) -> Floats:
        """Return c G."""
        return np.asarray(self._sharpened(counted(wanted, self.inputs)) / self._ends())

    def inverse_squares(self, histogram: ArrayLike) -> Floats:
        """Return sum_a G[i, a]^2 w_a."""
        inner, (scale, middle) = counted(histogram, self.inputs) / self._ends() ** 2, self._diagonals()
        return np.asarray(scale**2 * (middle**2 * inner + self._a**2 * _neighbours(inner)))

    def _sharpened(self, v: Floats) -> Floats:
        """Return the inverse of K times v."""
        scale, middle = self._diagonals()
        return np.asarray(scale * (middle * v - self._a * _neighbours(v)))

    def _diagonals(self) -> tuple[float, Floats]:
        """Return the factor of the inverse of K, and its main diagonal; beside it stands -a."""
        a = self._a
        middle = np.full(self.inputs, 1 + a * a)
        middle[[0, -1]] = 1.0
        return (1 + a) / ((1 - a) * (1 - a * a)), middle

    def _ends(self) -> Floats:
        ends = np.ones(self.inputs)
        ends[[0, -1]] = 1 / (1 - self._a)
        return ends

    def _smoothed(self, v: Floats) -> Floats:
        """Return K v, from the left and from the right."""
        a = self._a
        from scipy.signal import lfilter  # it takes long to load

        right = lfilter([1.0], [1.0, -a], v)
        left = lfilter([1.0], [1.0, -a], v[..., ::-1])[..., ::-1]
        return np.asarray((1 - a) / (1 + a) * (right + left - v))


def _neighbours(v: Floats) -> Floats:
    around = np.zeros_like(v)
    around[..., 1:] += v[..., :-1]
    around[..., :-1] += v[..., 1:]
    return around
