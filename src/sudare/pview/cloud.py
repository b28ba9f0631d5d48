"""Weighted points that stand for a table, and how far off they may be."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sudare.errors import InputError
from sudare.pview.boxes import Boxes
from sudare.pview.saved import Form, Layout, Number, Variance
from sudare.tables.faults import checked

Codes = NDArray[Any]
Floats = NDArray[np.float64]

RECORDS, MANY_RECORDS = 1.2, 25.0
"""What single records add to the variance of a box of several attributes, for each that is counted in it, up to so many: of
larger ones more is known than of single records."""
TINY_COUNT = 1e-9  # of a record, so that shares are defined where there is none


@dataclass(frozen=True, eq=False)
class Cloud:
    """Points (codes, points x attributes), how many records each stands for, and how far off they may be."""

    kind: ClassVar[str] = "cloud"
    boxes: Boxes
    total: float
    total_variance: float
    by_width: list[Floats]
    """Of every attribute: the variance of its ranges' noise, given the total, by width from 1 on."""
    leftover: Floats
    """The squared correlations between ranges of two attributes that the points may have missed, attributes x attributes."""
    higher: float
    """The same of three attributes and more, whichever."""

    @property
    def points(self) -> Codes:
        """The points' codes."""
        return self.boxes.low

    @property
    def weights(self) -> Floats:
        """How many records each point stands for."""
        return self.boxes.weights

    def counts(self, low: Codes, high: Codes) -> Floats:
        """Return the sum of the weights in each box of codes, both ends within."""
        return self.boxes.counts(low, high)

    def table(self, axes: Sequence[int], weights: Mapping[int, Floats]) -> Floats:
        """Count by all cells of some axes, where the cells of any axes weigh as much as is given."""
        return self.boxes.table(axes, weights)

    def sample(self, n: int, rng: np.random.Generator) -> Codes:
        """Draw the cells of so many records."""
        return self.boxes.sample(n, rng)

    # -- How far off --------------------------------------------------------------------------------

    def errors(self, low: Codes, high: Codes) -> Floats:
        """Return a standard error for the count of each box, from noisy things only.

        Four things add up: the noise of the total; that of the one-way tables; what the points may have missed of how the
        attributes hang together; and, where several do, the chance by which single records fall into the box or beside it.
        """
        counts, total = np.maximum(self.counts(low, high), 0.0), max(self.total, 1.0)
        shares, noise = self._ranges(low, high)
        slack = np.sqrt(noise) / total  # an empty range may just be lost in noise: so much may be in it
        most = np.clip(shares + slack, 1 / total, 1.0)
        loose = math.sqrt(self.total_variance)
        whole = (counts + most.prod(axis=1) * loose) / (total + loose)
        share = np.minimum(counts / total, 1.0)
        several = (high - low + 1 < np.array(self.boxes.sizes)).sum(axis=1) > 1
        single = several * RECORDS * np.clip(counts, 1.0, MANY_RECORDS)
        in_box = noise * _given(share, shares, slack, most) ** 2
        return np.asarray(
            np.sqrt((whole * loose) ** 2 + in_box.sum(axis=1) + total**2 * self._missed(most) + single)
        )

    def _ranges(self, low: Codes, high: Codes) -> tuple[Floats, Floats]:
        """Return the share of each range (boxes x attributes), and the variance of its noise given the total."""
        shares, noise = np.empty(low.shape), np.empty(low.shape)
        for a in range(low.shape[1]):
            upto = np.append(0.0, np.cumsum(self._one_ways[a]))
            shares[:, a] = (upto[high[:, a].astype(np.int64) + 1] - upto[low[:, a]]) / upto[-1]
            noise[:, a] = self.by_width[a][high[:, a] - low[:, a]]
        return np.clip(shares, 0.0, 1.0), noise

    def _missed(self, shares: Floats) -> Floats:
        """Return the square of the share of records that correlations between ranges, left out, may move.

        A correlation t of two ranges with shares p and q moves t sqrt(p (1-p) q (1-q)), and the other ranges their shares
        of that. So for more than two.

        What several pairs move goes this way and that, but for boxes that hold nearly everybody: who is not in one of their ranges
        is likely not in the others. There it adds up as it is, and elsewhere its squares do.
        """
        # With s = (1 - p) / p and the product of p^2 in front, sets of ranges are products of their s.
        s, front = (1 - shares) / shares, (shares**2).prod(axis=1)
        left = np.triu(self.leftover, 1)
        pairs, alike = (
            np.einsum("qa,ab,qb->q", own, by, own) for own, by in ((s, left), (np.sqrt(s), np.sqrt(left)))
        )
        pairs += np.sqrt(front) * (alike**2 - pairs)
        two = (s.sum(axis=1) ** 2 - (s**2).sum(axis=1)) / 2
        more = np.maximum((1 + s).prod(axis=1) - 1 - s.sum(axis=1) - two, 0.0)
        return np.asarray(front * (pairs + self.higher * more))

    @cached_property
    def _one_ways(self) -> list[Floats]:
        return [self.table([a], {}) + TINY_COUNT for a in range(len(self.boxes.sizes))]

    # -- Files --------------------------------------------------------------------------------------

    def frame(self) -> pl.DataFrame:
        """Return the points as columns."""
        return self.boxes.frame()

    def extras(self) -> dict[str, Any]:
        """Return what is not in the columns."""
        return {
            "total": self.total,
            "total_variance": self.total_variance,
            "by_width": [own.tolist() for own in self.by_width],
            "leftover": self.leftover.tolist(),
            "higher": self.higher,
        }

    @classmethod
    def layouts(cls, sizes: tuple[int, ...]) -> list[Layout]:
        """Return the columns that `frame` returns."""
        return [Boxes.layout(sizes, points=True)]

    @classmethod
    def from_frame(cls, frame: pl.DataFrame, sizes: tuple[int, ...], extras: Mapping[str, Any]) -> Self:
        """Take it from columns."""
        form = checked(CloudForm, extras, "What the manifest says of the points")
        axes = len(sizes)
        if [len(own) for own in form.by_width] != list(sizes) or [len(row) for row in form.leftover] != [
            axes
        ] * axes:
            raise InputError(f"The variances and correlations are not those of these {axes} attributes.")
        boxes = Boxes.from_frame(frame, sizes)
        by_width, leftover = [np.array(own) for own in form.by_width], np.array(form.leftover)
        return cls(boxes, form.total, form.total_variance, by_width, leftover, form.higher)


class CloudForm(Form):
    """What is not in the columns."""

    total: Number
    total_variance: Variance
    by_width: list[list[Variance]]
    leftover: list[list[Variance]]
    higher: Variance


def _given(share: Floats, shares: Floats, slack: Floats, most: Floats) -> Floats:
    """Return the part of each range's noise that falls into the box: the box's part of the range.

    For want of points: halfway, on the log scale, between attributes that have nothing to do with each other and such as
    are the same.
    """
    others = np.sqrt(most.prod(axis=1)[:, None] / most)
    part = (share[:, None] + others * slack) / np.maximum(shares + slack, TINY_COUNT)
    return np.asarray(np.minimum(part, 1.0))
