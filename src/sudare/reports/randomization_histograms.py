"""What a law does to an attribute's values, and what of its histogram can be got back, in so few cells as a picture shows."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sudare.randomization.areas import AreaChannel
from sudare.randomization.channel import Channel, MatrixChannel
from sudare.randomization.domains import domain_counts
from sudare.randomization.estimate import estimate
from sudare.randomization.grids import Grid
from sudare.randomization.laws import LawDomain
from sudare.randomization.published import CodedAttribute, PublishedCounts, PublishedLaw
from sudare.reports.charts import Interval
from sudare.tables.table import Table
from sudare.tables.text import texts_of

MAX_SHOWN = 40  # values that a picture shows one by one
MAX_BINS = 10  # of a number or date: noise leaves no finer ones
MAX_ESTIMATED = 500  # categories that are estimated for a picture
MIN_USELESS_WIDTH = 0.5  # of all records: an interval as wide says hardly anything

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class PictureCells:
    """The values of an attribute as a picture shows them: one by one, or neighbours together."""

    starts: NDArray[np.int64]
    """The first code of each cell."""
    labels: list[str]

    @classmethod
    def of(cls, domain: LawDomain, max_cells: int) -> PictureCells:
        """Take as many neighbours together as needed for so few cells."""
        size = len(domain)
        width = -(-size // max_cells)
        starts = np.arange(0, size, width)
        ends = np.minimum(starts + width, size) - 1
        if isinstance(domain, Grid):  # all its points would be too many to write
            first, last = (texts_of(domain.decode(codes)) for codes in (starts, ends))
        else:
            names = domain.labels()
            first, last = [names[i] for i in starts], [names[i] for i in ends]
        spans = zip(first, last, strict=True)
        return cls(starts, [a if a == b or width == 1 else f"{a} .. {b}" for a, b in spans])

    def sums(self, counts: Floats) -> Floats:
        """Add up the counts of each cell."""
        return np.asarray(np.add.reduceat(counts, self.starts))

    def matrix(self, channel: Channel) -> Floats:
        """Return with which probability an input cell, all its values alike, comes out in each cell."""
        columns = []
        for start, end in zip(self.starts, [*self.starts[1:], channel.inputs], strict=True):
            alike = np.zeros(channel.inputs)
            alike[start:end] = 1 / (end - start)
            columns.append(self.sums(channel.expected(alike)))
        return np.stack(columns, axis=1)


class TransitionMatrix(NamedTuple):
    """How likely each value, or cell of them, becomes which."""

    matrix: Floats
    labels: list[str]


def transition_matrix(domain: LawDomain, published: PublishedLaw) -> TransitionMatrix:
    """Return what a law does to values, as it is estimated."""
    cells = PictureCells.of(_as_estimated(domain, published), MAX_SHOWN)
    return TransitionMatrix(cells.matrix(published.channel), cells.labels)


class ComparedHistogram(NamedTuple):
    """How many records have which values: in the original, in the output, and as estimated from that."""

    labels: list[str]
    original: list[float]
    published: list[float]
    estimates: list[Interval] | None
    """None if the law cannot be undone, or if there are too many values."""
    values: int
    """How many values, or cells of them, there are; fewer may be shown."""
    hardly: bool
    """Whether hardly anything can be got back."""


def compared_histogram(domain: LawDomain, table: Table, published: PublishedCounts) -> ComparedHistogram:
    """Compare the original, the output, and what can be estimated from it; neighbouring grid points together."""
    domain = _as_estimated(domain, published.laws[0])
    original, output = domain_counts(domain, table).astype(np.float64), published.counts
    if isinstance(domain, Grid):
        cells = PictureCells.of(domain, MAX_BINS)
        labels, original, output = cells.labels, cells.sums(original), cells.sums(output)
        estimates = _estimates(_coarse(published, cells))
    else:
        labels = domain.labels()
        estimates = _estimates(published) if len(domain) <= MAX_ESTIMATED else None
    shown = np.sort(np.argsort(-original, kind="stable")[:MAX_SHOWN])
    chosen = None if estimates is None else [estimates[i] for i in shown]
    return ComparedHistogram(
        [labels[i] for i in shown],
        original[shown].tolist(),
        output[shown].tolist(),
        chosen,
        len(labels),
        chosen is not None and _median_width(chosen) >= MIN_USELESS_WIDTH * published.counts.sum(),
    )


def _as_estimated(domain: LawDomain, published: PublishedLaw) -> LawDomain:
    """Return the coarser grid on which a fine one is estimated."""
    if isinstance(published.channel, AreaChannel):
        return published.channel.area
    if isinstance(domain, Grid) and published.channel.inputs < len(domain):
        own = published.attributes[0]
        return replace(domain, low=float(own.axis[0]), step=own.step, steps=published.channel.inputs - 1)
    return domain


def _coarse(published: PublishedCounts, cells: PictureCells) -> PublishedCounts:
    """Return the law with neighbouring values as one, as if they were equally frequent."""
    (law,) = published.laws
    if len(cells.labels) == law.channel.inputs:
        return published
    channel = MatrixChannel(cells.matrix(law.channel))
    attribute = CodedAttribute(law.attributes[0].name, cells.starts.tolist(), numeric=True)
    return PublishedCounts((PublishedLaw((attribute,), channel),), cells.sums(published.counts))


def _estimates(published: PublishedCounts) -> list[Interval] | None:
    """Return the most likely counts with their intervals; None if the law cannot be undone."""
    likely = estimate(published, "ml")
    if not np.isfinite(likely.stderr).all():
        return None
    parts = (part.ravel().tolist() for part in (likely.counts, likely.low, likely.high))
    return [Interval(*one) for one in zip(*parts, strict=True)]


def _median_width(intervals: list[Interval]) -> float:
    return float(np.median([one.high - one.low for one in intervals]))
