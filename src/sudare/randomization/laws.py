"""The law of one attribute, or of several together: the domain, the channel that its values go through, and how it is made to fit a spread."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sudare.errors import ParameterError
from sudare.noise.keystream import Keystream
from sudare.noise.sampling import sample_discrete_laplace, sample_matrix, sample_retention
from sudare.randomization.channel import Channel, MatrixChannel
from sudare.randomization.domains import Domain, Grid, Joint
from sudare.randomization.laplace import LaplaceChannel
from sudare.randomization.pram import Pram, conventional_pram

How = Literal["retain", "noise", "bins", "bits", "matrix", "optimal"]
After = Literal["clip", "reflect"]
WIDEST = 2**56  # steps: noise that leaves nothing but noise
ROUNDED = 2**16  # the scale of noise is rounded up to parts of a grid step


@dataclass(frozen=True, eq=False)
class Law:
    """By which law the values of an attribute, or the combinations of several, are changed."""

    name: str
    how: How
    domain: Domain
    channel: Channel
    after: After = "clip"

    @property
    def attributes(self) -> list[str]:
        """Whose values are changed."""
        return self.domain.names if isinstance(self.domain, Joint) else [self.name]

    def decode(self, codes: NDArray[Any]) -> list[pl.Series]:
        """Return what codes stand for, one series for each attribute."""
        found = self.domain.decode(codes)
        return found if isinstance(found, list) else [found]

    def sample(self, source: Keystream) -> NDArray[Any]:
        """Draw an output code for every row."""
        codes = self.domain.codes()
        if isinstance(self.channel, Pram):
            return sample_retention(codes, self.channel.leave, source)
        if isinstance(self.channel, LaplaceChannel):
            noise = sample_discrete_laplace(len(codes), self.channel.scale, source)
            noisy = codes.astype(np.int64) + noise
            inside = reflected(noisy, self.channel.steps) if self.after == "reflect" else noisy
            return np.clip(inside, 0, self.channel.steps).astype(codes.dtype)
        if isinstance(self.channel, BitChannel):
            return self.channel.sample(codes, source)
        return sample_matrix(codes, _matrix(self.channel), source)

    def expected_change(self) -> dict[str, float]:
        """Return the chance that a value changes, as the mean over all values, and how far numbers move on average.

        Not over the records: that would tell about the true histogram, whatever epsilon promises.
        """
        match self.channel:
            case Pram():
                return {"changed": float(self.channel.leave.mean())}
            case LaplaceChannel():
                a = math.exp(-float(1 / self.channel.scale))
                width = self.domain.step * self.domain.steps if isinstance(self.domain, Grid) else 0.0
                move = width * expected_error("noise", len(self.domain), self.channel.spread)
                return {"changed": 2 * a / (1 + a), "moved": move}
            case _:
                return {"changed": 1 - float(np.diag(_matrix(self.channel)).mean())}

    def to_json(self) -> dict[str, Any]:
        """Return the law as plain data, enough to estimate the truth from the output."""
        found: dict[str, Any] = {
            "how": self.how,
            "epsilon": self.channel.epsilon,
            "spread": self.channel.spread,
        }
        if isinstance(self.domain, Grid):
            found |= {"low": self.domain.low, "step": self.domain.step, "steps": self.domain.steps}
        else:
            found |= self.domain.to_json() | {"declared": self.domain.declared}
        match self.channel:
            case Pram():
                found["retention"] = self.channel.retention.tolist()
            case LaplaceChannel():
                found |= {"scale": str(self.channel.scale), "after": self.after}
            case BitChannel():
                found["flips"] = self.channel.flip
            case _:
                found["matrix"] = _matrix(self.channel).tolist()
        return found


def _matrix(channel: Channel) -> NDArray[np.float64]:
    if not isinstance(channel, MatrixChannel):
        raise ParameterError(f"{type(channel).__name__} has no matrix.")
    return channel.matrix


def reflected(codes: NDArray[np.int64], steps: int) -> NDArray[np.int64]:
    """Fold what lies beyond the ends back inside."""
    folded = np.mod(codes, 2 * steps)
    return np.asarray(np.minimum(folded, 2 * steps - folded))


def reflecting(channel: LaplaceChannel) -> MatrixChannel:
    """Return the whole matrix of noise that is folded back inside instead of clipped."""
    steps, a = channel.steps, math.exp(-float(1 / channel.scale))
    i, j = np.arange(steps + 1)[:, None], np.arange(steps + 1)
    # What comes out at i went to i + 2 n steps or -i + 2 n steps before it was folded, for any whole n.
    near, far = np.abs(i - j), i + j
    around = (
        a ** (2.0 * steps + near)
        + a ** (2.0 * steps - near)
        + a ** (2.0 * steps + far)
        + a ** (2.0 * steps - far)
    )
    folded = a**near + a**far + around / (1 - a ** (2.0 * steps))
    folded[[0, -1]] /= 2  # the ends are met once, not from both sides
    return MatrixChannel(folded / folded.sum(axis=0))


class BitChannel(MatrixChannel):
    """Every bit of a grid point is flipped on its own, with one probability; what is beyond the grid is clipped."""

    def __init__(self, size: int, flip: float) -> None:
        self.size, self.flip = size, flip
        self.bits = max(1, (size - 1).bit_length())
        distance = np.bitwise_count(np.arange(2**self.bits)[:, None] ^ np.arange(size))
        whole = flip**distance * (1 - flip) ** (self.bits - distance)
        clipped = whole[:size].copy()
        clipped[-1] += whole[size:].sum(axis=0)
        super().__init__(clipped)

    def sample(self, codes: NDArray[Any], source: Keystream) -> NDArray[Any]:
        """Flip bits."""
        found = codes.astype(np.int64)
        for bit in range(self.bits):
            ones = ((found >> bit) & 1).astype(np.uint8)
            flipped = sample_retention(ones, np.full(2, self.flip), source)
            found += (flipped.astype(np.int64) - ones) << bit
        return np.minimum(found, self.size - 1).astype(codes.dtype)


MOST_BITS = 10  # whose matrix can still be written out
MOST_SPREAD = 50.0  # of a category: what is kept with 1 - e^-25 cannot be told from 1 with fewer digits


def channel_for(how: How, size: int, spread: float) -> Channel:
    """Return the channel of a kind, for so many values, that uses a spread and no more."""
    if how == "noise":
        wanted = 2 * (size - 1) / spread if spread > 0 else WIDEST
        parts = ROUNDED if wanted < 2**40 else 1
        return LaplaceChannel(size - 1, Fraction(math.ceil(min(wanted, WIDEST) * parts), parts))
    if how == "bits":
        bits = max(1, (size - 1).bit_length())
        if bits > MOST_BITS:
            raise ParameterError(
                f"{size:,} grid points have {bits} bits, more than the {MOST_BITS} that are randomized one by one. Use bins."
            )
        return BitChannel(size, 1 / (1 + math.exp(min(spread / bits, MOST_SPREAD) / 2)))
    return conventional_pram(size, epsilon=min(spread, MOST_SPREAD) / 2)


def expected_error(how: How, size: int, spread: float) -> float:
    """Return the expected error, from 0 to 1: how often a category changes, how far a number moves within its bounds.

    Noise of the scale r on [0, 1], clipped, moves a number that may be anywhere by r - r^2 (1 - e^(-1/r)) on average.
    """
    if how == "noise":
        r = 2 / spread if spread > 0 else math.inf
        return r - r * r * -math.expm1(-1 / r) if r < 1e3 else 0.5
    if how == "bits":
        return 1 / (1 + math.exp(min(spread / max(1, (size - 1).bit_length()), MOST_SPREAD) / 2))
    return float(conventional_pram(size, epsilon=spread / 2).leave[0])
