"""Weighted boxes: what a p-view counts with. A point is a box of one cell."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sudare.errors import InputError
from sudare.pview import _boxes
from sudare.pview.drawing import drawn, evenly, winding
from sudare.pview.saved import MAX_ROWS, Layout, codes_of, refuse_large, refuse_unfit
from sudare.tables.column import smallest
from sudare.threads import in_threads, pieces

MAX_CELLS = 10**8
QUERIES = 64  # that a thread answers at a time

Floats = NDArray[np.float64]
Codes = NDArray[Any]


@dataclass(frozen=True, eq=False)
class Boxes:
    """Boxes of cells, both ends included, and how many records lie in each, evenly spread.

    >>> boxes = Boxes.of(np.array([[0, 0], [5, 0]]), np.array([[4, 1], [9, 1]]), np.array([10.0, 30.0]), (10, 2))
    >>> boxes.counts(np.array([[3, 0]]), np.array([[6, 1]])).tolist()
    [16.0]
    >>> boxes.table([1], {0: np.arange(10) < 5}).tolist()
    [5.0, 5.0]
    """

    low: Codes
    high: Codes
    weights: Floats
    sizes: tuple[int, ...]

    @classmethod
    def of(cls, low: Codes, high: Codes, weights: Floats, sizes: Sequence[int]) -> Boxes:
        """Put boxes into an order in which neighbours stand together. Points are given as low = high, one array."""
        order = neighbours(low, high, sizes)
        first = low[order]
        return cls.in_order(first, first if low is high else high[order], weights[order], sizes)

    @classmethod
    def in_order(cls, low: Codes, high: Codes, weights: Floats, sizes: Sequence[int]) -> Boxes:
        """Take boxes in the order they have."""
        first = _by_axis(low)
        return cls(first, first if low is high else _by_axis(high), weights, tuple(sizes))

    def frame(self) -> pl.DataFrame:
        """Return the boxes as columns, in their order: a column per axis for points, else two, and the weight."""
        axes = range(len(self.sizes))
        ends = {"": self.low} if self.points else {"low_": self.low, "high_": self.high}
        codes = {
            f"{end}{a}": own[:, a].astype(smallest(self.sizes[a])) for a in axes for end, own in ends.items()
        }
        return pl.DataFrame(codes | {"weight": self.weights})

    @staticmethod
    def layout(sizes: Sequence[int], *, points: bool) -> Layout:
        """Return the columns that `frame` returns."""
        ends = ("",) if points else ("low_", "high_")
        return Layout(codes_of(sizes, ends) | {"weight": pl.Float64()}, 0, MAX_ROWS)

    @classmethod
    def from_frame(cls, frame: pl.DataFrame, sizes: Sequence[int], *, least: float = 0.0) -> Boxes:
        """Read what `frame` returned; no weight may be below the least."""
        refuse_unfit(frame, [cls.layout(sizes, points=points) for points in (True, False)])
        axes = range(len(sizes))
        ends = ("",) if "0" in frame.columns else ("low_", "high_")
        low, high = (np.stack([frame[f"{end}{a}"].to_numpy() for a in axes]).T for end in (ends[0], ends[-1]))
        if (high >= np.array(sizes)).any() or (low > high).any():  # codes are unsigned
            raise InputError("A box reaches beyond the domain.")
        weights = frame["weight"].to_numpy(writable=True)
        refuse_large(weights, "The weight of a box", least=least)
        return cls.in_order(low, low if len(ends) == 1 else high, weights, sizes)

    @property
    def points(self) -> bool:
        """Whether every box is one cell."""
        return self.low is self.high

    @cached_property
    def _bounds(self) -> tuple[Codes, Codes, Floats]:
        return _boxes.bounds(self.low.T, self.high.T, self.weights)

    def counts(self, low: Codes, high: Codes) -> Floats:
        """Return how many records lie in each of some boxes."""
        tops = np.array(self.sizes) - 1
        given = self.low.T, self.high.T, self.weights, *self._bounds, tops, self.points
        return answer(_boxes.count, given, low, high)

    def table(self, axes: Sequence[int], weights: Mapping[int, Floats]) -> Floats:
        """Count by all cells of some axes, where the cells of any axes weigh as much as is given."""
        shape = tuple(self.sizes[a] for a in axes)
        if math.prod(size + 1 for size in shape) > MAX_CELLS:
            raise InputError(
                f"A table of {math.prod(shape):,} cells is too large. Ask for fewer attributes at once."
            )
        left = self.weights.copy()
        for axis, cells in weights.items():
            if axis not in axes:
                sums = np.append(0.0, np.cumsum(np.asarray(cells, dtype=np.float64)))
                _boxes.weigh(self.low.T, self.high.T, left, axis, sums)
        counts = self._spread(list(axes), left, shape)
        for place, axis in enumerate(axes):
            if axis in weights:
                counts = counts * np.asarray(weights[axis]).reshape(
                    [-1 if i == place else 1 for i in range(len(axes))]
                )
        return counts

    def _spread(self, axes: list[int], weights: Floats, shape: tuple[int, ...]) -> Floats:
        if not axes:
            return np.asarray(weights.sum())
        low, high = self.low.T[axes], self.high.T[axes]
        if self.points:
            cells = np.zeros(shape)
            _boxes.put(low, weights, np.array(cells.strides) // 8, cells.ravel())
            return cells
        corners = np.zeros([size + 1 for size in shape])
        _boxes.spread(low, high, weights, np.array(corners.strides) // 8, corners.ravel())
        for axis in range(len(axes)):
            np.cumsum(corners, axis=axis, out=corners)
        return corners[tuple(slice(0, size) for size in shape)]

    @cached_property
    def _order(self) -> NDArray[np.int64]:
        """In which neighbours stand together, for drawing."""
        return winding(self.low, self.sizes)

    def sample(self, n: int, rng: np.random.Generator) -> Codes:
        """Draw cells, each as often as its records."""
        if n == 0:
            return np.empty((0, len(self.sizes)), np.int64)
        total = self.weights.sum()
        if total <= 0:
            raise InputError("The p-view counts nobody; there is nothing to draw from.")
        order = self._order
        if self.points:
            return self.low[drawn(self.low, self.weights, self.sizes, order, n, rng)].astype(np.int64)
        chosen = order[rng.permutation(evenly(np.cumsum(self.weights[order]), n, rng))]
        low: Codes = self.low[chosen].astype(np.int64)
        high: Codes = self.high[chosen].astype(np.int64)
        return np.asarray(low + np.floor((high - low + 1) * rng.random(low.shape)).astype(np.int64))


def answer(kernel: Callable[..., None], given: tuple[Any, ...], low: Codes, high: Codes) -> Floats:
    """Let threads find an answer for each of some boxes."""
    answers = np.empty(len(low))
    lows, highs = (np.ascontiguousarray(ends, dtype=np.int32) for ends in (low, high))
    in_threads(lambda part: kernel(*given, lows[part], highs[part], answers[part]), pieces(len(low), QUERIES))
    return answers


def neighbours(low: Codes, high: Codes, sizes: Sequence[int]) -> NDArray[np.int64]:
    """Return an order of boxes in which neighbours stand together."""
    first = _by_axis(low)
    last = first if low is high else _by_axis(high)
    return np.asarray(_boxes.arrange(first.T, last.T, np.array(sizes)))


def _by_axis(codes: Codes) -> Codes:
    """Keep the codes of one axis side by side, and of one type, for which alone kernels need be compiled."""
    return np.asarray(codes, dtype=np.int32, order="F")
