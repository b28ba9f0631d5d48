"""The law of one attribute, or of several together: its domain, and the channel that its values go through.

A law is plain data. The one that is drawn by is the published one, to the last bit: what is published are probabilities as
floats, and a channel is made from those (`channel_of`), whether its law was just learned, opened from a file, or handed over.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sudare.errors import ParameterError
from sudare.noise.keystream import Keystream
from sudare.noise.sampling import sample_discrete_laplace, sample_matrix, sample_retention
from sudare.plans.law import LawForm
from sudare.randomization.areas import Area, AreaChannel
from sudare.randomization.bits import BitChannel
from sudare.randomization.channel import Channel, MatrixChannel
from sudare.randomization.domains import Categories, Joint
from sudare.randomization.grids import Grid
from sudare.randomization.laplace import LaplaceChannel
from sudare.randomization.methods import After as After  # the command line takes it from here
from sudare.randomization.methods import How as How
from sudare.randomization.pram import Pram, conventional_pram
from sudare.randomization.weights import WeightsChannel

MAX_SCALE = 2**56  # steps: noise that leaves nothing but noise
PARTS_OF_STEP = 2**16  # the scale of noise is rounded up to parts of a grid step
MAX_SPREAD = 50.0  # of a category: what is kept with 1 - e^-25 cannot be told from 1 with fewer digits


LawDomain = Categories | Joint | Grid | Area


@dataclass(frozen=True, eq=False)
class Law:
    """By which law the values of an attribute, or the combinations of several, are changed."""

    name: str
    how: How
    domain: LawDomain
    channel: Channel
    after: After = "clip"

    @property
    def attributes(self) -> list[str]:
        """Whose values are changed."""
        return [part.name for part in self.domain.parts]

    def decode(self, codes: NDArray[Any]) -> list[pl.Series]:
        """Return what codes stand for, one series for each attribute."""
        values = self.domain.decode(codes)
        return values if isinstance(values, list) else [values]

    def sample(self, codes: NDArray[Any], source: Keystream) -> NDArray[Any]:
        """Draw an output code for every input code."""
        if isinstance(self.channel, Pram):
            return sample_retention(codes, self.channel.leave, source)
        if isinstance(self.channel, LaplaceChannel):
            noise = sample_discrete_laplace(len(codes), self.channel.scale, source)
            noisy = codes.astype(np.int64) + noise
            inside = reflected(noisy, self.channel.steps) if self.after == "reflect" else noisy
            return np.clip(inside, 0, self.channel.steps).astype(codes.dtype)
        if isinstance(self.channel, BitChannel | WeightsChannel):
            return self.channel.sample(codes, source)
        if isinstance(self.channel, AreaChannel):
            return _moved(codes, self.channel, source)
        return sample_matrix(codes, _matrix(self.channel), source)

    def expected_change(self) -> dict[str, float]:
        """Return the chance that a value changes, as the mean over all values, and how far numbers move on average.

        Not over the records: that would tell about the true histogram, whatever epsilon promises.
        """
        match self.channel:
            case Pram():
                return {"changed": float(self.channel.leave.mean())}
            case WeightsChannel():
                return {"changed": 1 - float(self.channel.retention.mean())}
            case LaplaceChannel():
                a = math.exp(-float(1 / self.channel.scale))
                width = self.domain.width if isinstance(self.domain, Grid) else 0.0
                move = width * expected_error("noise", len(self.domain), self.channel.spread)
                how_far = {"factor": math.exp(move)} if self.how == "factor" else {"moved": move}
                return {"changed": 2 * a / (1 + a), **how_far}
            case BitChannel():
                return {"changed": self.channel.expected_change()}
            case AreaChannel():
                stays = (math.tanh(float(1 / scale) / 2) for scale in self.channel.scales)
                return {"changed": 1 - math.prod(stays)}
            case _:
                return {"changed": 1 - float(np.diag(_matrix(self.channel)).mean())}

    def to_json(self) -> dict[str, Any]:
        """Return the law as plain data, enough to estimate the truth from the output."""
        about = {"how": self.how, "epsilon": self.channel.epsilon, "spread": self.channel.spread}
        domain = self.domain.to_json()
        if isinstance(self.channel, AreaChannel):
            for axis, scale in zip(domain["axes"].values(), self.channel.scales, strict=True):
                axis["scale"] = str(scale)
            return about | domain
        return about | domain | _probabilities(self.channel, self.after)


def law_of(name: str, form: LawForm, domain: LawDomain) -> Law:
    """Return the law that is published in a form, over its domain."""
    if isinstance(domain, Area):
        scales = tuple(Fraction(axis.scale) for axis in (form.axes or {}).values())
        return Law(name, form.how, domain, AreaChannel(domain, scales))
    return Law(name, form.how, domain, channel_of(form), form.after or "clip")


def channel_of(form: LawForm) -> Channel:
    """Return the channel that is published in a form; of noise, before what leaves the bounds is put inside.

    >>> form = {"how": "retain", "epsilon": 1.1, "spread": 2.2, "values": ["no", "yes"], "retention": [0.75, 0.75]}
    >>> channel_of(LawForm.of("ill", form)).leave.tolist()
    [0.25, 0.25]
    """
    if form.retention is not None:
        return Pram(1 - np.array(form.retention))
    if form.matrix is not None:
        return MatrixChannel(form.matrix)
    if form.weights is not None:
        return WeightsChannel(form.weights, form.ratio or 1.0)
    if form.flips is not None:
        return BitChannel(form.size, form.flips)
    return LaplaceChannel(form.size - 1, Fraction(form.scale or 0))


def publishable(channel: Channel) -> Channel:
    """Return the channel as its published probabilities give it back.

    1 - leave is rounded, by more than the whole of a very small leave. It is rounded so that a value leaves no less often than was
    meant: more would be kept than the budget allows.
    """
    if not isinstance(channel, Pram):
        return channel
    retention = 1 - channel.leave
    retention = np.where(1 - retention < channel.leave, np.nextafter(retention, 0), retention)
    return Pram(1 - retention)


def _probabilities(channel: Channel, after: After) -> dict[str, Any]:
    match channel:
        case Pram():
            return {"retention": channel.retention.tolist()}
        case WeightsChannel():
            return {"weights": channel.weights.tolist(), "ratio": channel.ratio}
        case LaplaceChannel():
            return {"scale": str(channel.scale), "after": after}
        case BitChannel():
            return {"flips": channel.flip}
        case _:
            return {"matrix": _matrix(channel).tolist()}


def _matrix(channel: Channel) -> NDArray[np.float64]:
    if not isinstance(channel, MatrixChannel):
        raise ParameterError(f"{type(channel).__name__} has no matrix.")
    return channel.matrix


def _moved(codes: NDArray[Any], channel: AreaChannel, source: Keystream) -> NDArray[Any]:
    """Add noise along each axis of an area; what leaves the box is clipped to it."""
    places = np.unravel_index(codes.astype(np.int64), channel.area.shape)
    noisy = [
        np.clip(place + sample_discrete_laplace(len(codes), axis.scale, source), 0, axis.steps)
        for place, axis in zip(places, channel.axes, strict=True)
    ]
    return np.asarray(np.ravel_multi_index(tuple(noisy), channel.area.shape).astype(codes.dtype))


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


def channel_for(how: How, size: int, spread: float) -> Channel:
    """Return the channel of a kind, for so many values, that uses a spread and no more."""
    if how in ("noise", "factor"):
        wanted = 2 * (size - 1) / spread if spread > 0 else MAX_SCALE
        parts = PARTS_OF_STEP if wanted < 2**40 else 1
        return LaplaceChannel(size - 1, Fraction(math.ceil(min(wanted, MAX_SCALE) * parts), parts))
    if how == "bits":
        bits = max(1, (size - 1).bit_length())
        return BitChannel(size, 1 / (1 + math.exp(min(spread / bits, MAX_SPREAD) / 2)))
    return conventional_pram(size, epsilon=min(spread, MAX_SPREAD) / 2)


def expected_error(how: How, size: int, spread: float) -> float:
    """Return the expected error, from 0 to 1: how often a category changes, how far a number moves within its bounds.

    Noise of the scale r on [0, 1], clipped, moves a number that may be anywhere by r - r^2 (1 - e^(-1/r)) on average.
    """
    if how in ("noise", "factor", "area"):
        r = 2 / spread if spread > 0 else math.inf
        return r - r * r * -math.expm1(-1 / r) if r < 1e3 else 0.5
    if how == "bits":
        return 1 / (1 + math.exp(min(spread / max(1, (size - 1).bit_length()), MAX_SPREAD) / 2))
    return float(conventional_pram(size, epsilon=spread / 2).leave[0])
