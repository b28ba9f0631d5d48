"""Randomized bits: every bit of a grid point's number is flipped on its own, with one probability."""

from __future__ import annotations

import math
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sudare.noise.keystream import Keystream
from sudare.noise.sampling import sample_retention
from sudare.randomization.channel import Floats, MatrixChannel, counted


class BitChannel:
    """The grid has the points 0, 1, ..., size - 1; what is beyond them after the flips is clipped to the last one.

    Flipping is the same for each bit, so that P v is one pass over v per bit. Clipping is post-processing: the epsilon is that
    of all bits, which a point and the one with all bits turned have. (If only one of them is on the grid, the true one is
    a little less.)

    >>> channel = BitChannel(16, 0.25)
    >>> channel.bits, round(channel.epsilon / math.log(3), 4)
    (4, 4.0)
    """

    def __init__(self, size: int, flip: float) -> None:
        self.size, self.flip = size, flip
        self.bits = max(1, (size - 1).bit_length())

    @property
    def inputs(self) -> int:
        """How many grid points there are."""
        return self.size

    outputs = inputs

    @property
    def epsilon(self) -> float:
        """The number of bits times the logarithm of (1 - f) / f, for a probability f to flip one."""
        return self.bits * abs(math.log((1 - self.flip) / self.flip))

    @property
    def spread(self) -> float:
        """Twice that: there and back."""
        return 2 * self.epsilon

    def expected(self, histogram: ArrayLike) -> Floats:
        """Return P v."""
        v = counted(histogram, self.size)
        beyond = np.zeros((*v.shape[:-1], 2**self.bits - self.size))
        spread = self._flipped(np.concatenate([v, beyond], axis=-1))
        clipped = spread[..., : self.size].copy()
        clipped[..., -1] += spread[..., self.size :].sum(axis=-1)
        return clipped

    def likelihoods(self, outputs: ArrayLike) -> Floats:
        """Return w P."""
        w = counted(outputs, self.size)
        beyond = np.repeat(w[..., -1:], 2**self.bits - self.size, axis=-1)
        return self._flipped(np.concatenate([w, beyond], axis=-1))[..., : self.size]

    def _flipped(self, cells: Floats) -> Floats:
        """Return what all numbers of so many bits become: the matrix of flips is symmetric."""
        shape = cells.shape
        for bit in range(self.bits):
            pairs = cells.reshape(*shape[:-1], -1, 2, 2**bit)
            cells = (1 - self.flip) * pairs + self.flip * pairs[..., ::-1, :]
        return cells.reshape(shape)

    @cached_property
    def _whole(self) -> MatrixChannel:
        """The whole matrix, which nothing but the inverse needs."""
        return MatrixChannel(self.expected(np.eye(self.size)).T)

    def inverse(self, histogram: ArrayLike) -> Floats:
        """Return G w."""
        return self._whole.inverse(histogram)

    def inverse_squares(self, histogram: ArrayLike) -> Floats:
        """Return sum_a G[i, a]^2 w_a."""
        return self._whole.inverse_squares(histogram)

    def inverse_weights(self, wanted: ArrayLike) -> Floats:
        """Return c G."""
        return self._whole.inverse_weights(wanted)

    def expected_change(self) -> float:
        """Return the chance that a point becomes another one, as the mean over all points.

        A point stays if no bit is flipped, and the last one also if what comes out lies beyond the grid: if, of the bits of the
        last one from the highest on, those before some 0 stay and this one is flipped.
        """
        beyond, last = 0.0, self.size - 1
        for bit in range(self.bits):
            if not (last >> bit) & 1:
                beyond += self.flip * (1 - self.flip) ** (self.bits - 1 - bit)
        return 1 - (1 - self.flip) ** self.bits - beyond / self.size

    def coarser(self, most: int) -> tuple[BitChannel, int]:
        """Return what the highest bits go through, which number at most so many points, and how many points each of these has.

        Bits are flipped each on its own, and what lies beyond the last point lies beyond, or at, the last of the coarser ones.
        """
        dropped = 0
        while (self.size - 1) >> dropped >= most:
            dropped += 1
        return BitChannel(((self.size - 1) >> dropped) + 1, self.flip), 2**dropped

    def sample(self, codes: NDArray[Any], source: Keystream) -> NDArray[Any]:
        """Flip bits."""
        points = codes.astype(np.int64)
        for bit in range(self.bits):
            ones = ((points >> bit) & 1).astype(np.uint8)
            flipped = sample_retention(ones, np.full(2, self.flip), source)
            points += (flipped.astype(np.int64) - ones) << bit
        return np.minimum(points, self.size - 1).astype(codes.dtype)
