"""Noise on several numbers together, which lie in a convex area: longitude and latitude in a city, say.

The noise is Laplace noise along each axis, with one scale in terms of the axes' widths. What it protects is told by how far two points
of the area can be apart, D = max sum_i |u_i - v_i| / scale_i, and not by the box around it: epsilon = D and k = 1 + (N - 1)
e^(-2 D) (Theorem 6.1, for V in R^n and the L1 norm). An area without its corners needs less noise than its box. Points that come out
beyond the box are clipped to it, and may lie outside the area.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from itertools import product
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import ArrayLike, NDArray

from sudare.errors import InputError
from sudare.plans.polytopes import Axis, Face, Point, corners, width
from sudare.randomization.channel import Channel, Floats, counted
from sudare.randomization.domains import SEPARATOR
from sudare.randomization.grids import MAX_STEPS, Codes, Grid
from sudare.randomization.laplace import LaplaceChannel

PARTS_OF_STEP = 2**16  # the scale of noise is rounded up to parts of a grid step
MAX_SCALE = 2**56  # steps: noise that leaves nothing but noise
HALF = (1 + 2.0**-11) / 2
"""Of a step, with room for the rounding of floats; corners are moved outwards by more."""


@dataclass(frozen=True, eq=False)
class Area:
    """The points of several grids together that lie in an area, or within half a step of it."""

    name: str
    parts: tuple[Grid, ...]
    faces: tuple[Face, ...]

    def __len__(self) -> int:
        return math.prod(self.shape)

    @property
    def shape(self) -> tuple[int, ...]:
        """How many points each axis has."""
        return tuple(len(part) for part in self.parts)

    @cached_property
    def corners(self) -> list[Point]:
        """Its corners, in steps along each axis."""
        found = corners(self.faces, [Axis(part.low, part.step, part.steps) for part in self.parts])
        if not found or width(found, [Fraction(1)] * len(self.parts)) == 0:
            raise InputError(
                f"'{self.name}': no area is left between the bounds of its attributes. Check its corners or inequalities."
            )
        return found

    def inside(self, columns: Sequence[Codes]) -> NDArray[np.bool_]:
        """Say which points, given by their codes along each axis, are in the area."""
        numbers = [part.numbers(codes) for part, codes in zip(self.parts, columns, strict=True)]
        within = np.ones(np.broadcast_shapes(*(codes.shape for codes in columns)), dtype=bool)
        for *slopes, most in self.faces:
            at = sum(slope * x for slope, x in zip(slopes, numbers, strict=True))
            room = sum(abs(slope) * part.step * HALF for slope, part in zip(slopes, self.parts, strict=True))
            within &= np.asarray(at <= most + room)
        return within

    def combined(self, columns: Sequence[Codes]) -> Codes:
        """Return the code of every row's point, given its codes along each axis; all must be in the area."""
        if not self.inside(columns).all():
            raise InputError(
                f"'{self.name}': a record lies outside the declared area. Declare an area that is public and has everybody in it, "
                "or leave those out who are not."
            )
        return np.ravel_multi_index(tuple(codes.astype(np.int64) for codes in columns), self.shape).astype(
            np.uint64
        )

    def decode(self, codes: Codes) -> list[pl.Series]:
        """Return the numbers that codes stand for, one series for each attribute."""
        every = np.unravel_index(codes.astype(np.int64), self.shape)
        return [part.decode(own) for part, own in zip(self.parts, every, strict=True)]

    def labels(self) -> list[str]:
        """Write every point as text."""
        return [SEPARATOR.join(combined) for combined in product(*(part.labels() for part in self.parts))]

    def coarser(self, axes: Sequence[tuple[float, float, int]]) -> Area:
        """Return the same area on other grids, each given by its beginning, step and number of steps."""
        parts = zip(self.parts, axes, strict=True)
        return replace(self, parts=tuple(replace(p, low=a, step=b, steps=c) for p, (a, b, c) in parts))

    def channel(self, spread: float) -> AreaChannel:
        """Return the noise that uses a spread and no more, with the same scale along each axis in terms of its width."""
        own = width(self.corners, [Fraction(part.steps) for part in self.parts])
        wanted = 2 * float(own) / spread if spread > 0 else math.inf
        scales = []
        for part in self.parts:
            steps = min(wanted * part.steps, MAX_SCALE)
            parts = PARTS_OF_STEP if steps < 2**40 else 1
            scales.append(Fraction(math.ceil(steps * parts), parts))
        return AreaChannel(self, tuple(scales))

    def to_json(self) -> dict[str, Any]:
        """Return the grids and faces as they are published."""
        axes = {part.name: part.to_json() for part in self.parts}
        return {"axes": axes, "faces": [list(face) for face in self.faces]}


def area_of(name: str, parts: Sequence[Grid], faces: Sequence[Face]) -> Area:
    """Return an area over grids; where these have too many points together, over coarser ones."""
    most = 2 ** (60 // len(parts))
    fitted = [
        part if part.steps < most else replace(part, step=part.width / (most - 1), steps=most - 1)
        for part in parts
    ]
    if any(part.steps > MAX_STEPS for part in fitted):
        raise InputError(f"'{name}': the bounds of its attributes are too far apart.")
    area = Area(name, tuple(fitted), tuple(faces))
    _ = area.corners  # refused if there are none
    return area


class AreaChannel:
    """Noise along each axis of an area."""

    def __init__(self, area: Area, scales: tuple[Fraction, ...]) -> None:
        self.area, self.scales = area, scales
        self.axes = tuple(
            LaplaceChannel(part.steps, scale) for part, scale in zip(area.parts, scales, strict=True)
        )

    @property
    def inputs(self) -> int:
        """How many points the box around the area has."""
        return len(self.area)

    outputs = inputs

    @cached_property
    def _width(self) -> Fraction:
        return width(self.area.corners, self.scales)

    @property
    def epsilon(self) -> float:
        """How far two points of the area are apart at most, in scales of the noise."""
        return float(self._width)

    @property
    def spread(self) -> float:
        """Twice that: there and back."""
        return float(2 * self._width)

    def _along(self, apply: Sequence[Callable[[Floats], Floats]], cells: ArrayLike) -> Floats:
        flat = counted(cells, self.inputs)
        shaped = flat.reshape(*flat.shape[:-1], *self.area.shape)
        first = shaped.ndim - len(self.axes)
        for axis, function in enumerate(apply, start=first):
            shaped = np.moveaxis(function(np.moveaxis(shaped, axis, -1)), -1, axis)
        return shaped.reshape(flat.shape)

    @cached_property
    def _inside(self) -> Floats:
        """1 for the points of the area: no record lies elsewhere."""
        places = np.indices(self.area.shape).reshape(len(self.axes), -1)
        return self.area.inside(list(places)).astype(np.float64)

    def expected(self, histogram: ArrayLike) -> Floats:
        """Return P v."""
        return self._along(
            [axis.expected for axis in self.axes], counted(histogram, self.inputs) * self._inside
        )

    def likelihoods(self, outputs: ArrayLike) -> Floats:
        """Return w P."""
        return self._along([axis.likelihoods for axis in self.axes], outputs) * self._inside

    def inverse(self, histogram: ArrayLike) -> Floats:
        """Return G w, which is right on average for points outside the area, too: nobody is there."""
        return self._along([axis.inverse for axis in self.axes], histogram)

    def inverse_squares(self, histogram: ArrayLike) -> Floats:
        """Return sum_a G[i, a]^2 w_a."""
        return self._along([axis.inverse_squares for axis in self.axes], histogram)

    def inverse_weights(self, wanted: ArrayLike) -> Floats:
        """Return c G."""
        return self._along([axis.inverse_weights for axis in self.axes], wanted)


def faces_of(polygon: Sequence[Sequence[float]]) -> list[Face]:
    """Return the inequalities of the convex hull of a polygon's corners.

    Two points of a polygon are as far apart at most as two of its hull: noise for the one is noise for the other.

    >>> faces_of([(0, 0), (1, 0), (0, 1), (0.2, 0.2)])[0]
    (-1.0, 0.0, 0.0)
    """
    points = sorted({(Fraction(x), Fraction(y)) for x, y in polygon})
    hull = [*_chain(points), *_chain(points[::-1])]
    if len(hull) < 3:
        raise InputError("A polygon needs three corners that do not lie on one line.")
    sides = zip(hull, [*hull[1:], hull[0]], strict=True)  # against the clock: the inside is to the left
    slopes = [(float(y1 - y0), float(x0 - x1)) for (x0, y0), (x1, y1) in sides]
    return sorted((a, b, _up(max(Fraction(a) * x + Fraction(b) * y for x, y in hull))) for a, b in slopes)


def _chain(points: Sequence[tuple[Fraction, Fraction]]) -> list[tuple[Fraction, Fraction]]:
    """Return one half of the convex hull, without its end (Andrew's monotone chain)."""
    chain: list[tuple[Fraction, Fraction]] = []
    for x, y in points:
        while len(chain) > 1 and _turn(chain[-2], chain[-1], (x, y)) <= 0:
            chain.pop()
        chain.append((x, y))
    return chain[:-1]


def _turn(
    a: tuple[Fraction, Fraction], b: tuple[Fraction, Fraction], c: tuple[Fraction, Fraction]
) -> Fraction:
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])


def _up(exact: Fraction) -> float:
    """Return a float that is no smaller."""
    near = float(exact)
    return near if Fraction(near) >= exact else math.nextafter(near, math.inf)


def estimable(channel: AreaChannel, most: int) -> tuple[Area, Channel]:
    """Return the area on grids of so few points in all that it can be estimated on, and what the noise does there."""
    own = channel.area
    each = max(2, math.floor(most ** (1 / len(own.parts))) - 1)
    axes, scales = [], []
    for part, scale in zip(own.parts, channel.scales, strict=True):
        steps = min(each, part.steps)
        axes.append((part.low, part.width / steps, steps))
        scales.append(min(scale * steps / part.steps, Fraction(2**50)))
    area = own.coarser(axes)
    return area, AreaChannel(area, tuple(scales))
