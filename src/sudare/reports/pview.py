"""The holder's report of a p-view."""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sudare.pview.boxes import Boxes
from sudare.pview.errors import WorkloadError, truth_of
from sudare.pview.pview import PView
from sudare.reports.charts import Interval
from sudare.reports.page import render
from sudare.reports.pview_groups import Groups, dependence, one_way, strongest, two_way
from sudare.reports.pview_promise import promise, spending
from sudare.tables.table import Table

MAX_BARS = 40  # groups of values in a histogram
MAX_SHADES = 24  # and along each side of a two-way table
MAX_PAIRS = 6  # two-way tables that are drawn
MAX_PAIRED = 40  # attributes of which all pairs are looked at
MIN_COVERED = 0.9  # of 95% intervals: if fewer hold the truth, too many miss it
RECORDS = (0.5, 2, 5, 10, 20, 50, 100, 1000)  # by which blocks are told apart

Floats = NDArray[np.float64]


def write_pview_report(table: Table, pview: PView) -> str:
    """Tell the holder in pictures what a p-view promises, where its budget went, and how near it is to the truth.

    >>> import polars as pl, sudare as sd
    >>> from sudare.verbs.materialize import materialize
    >>> table = sd.read(pl.DataFrame({"ill": ["yes", "no", "no"] * 100}), sd.Schema.from_roles(
    ...     sensitive=["ill"], domains={"ill": ["yes", "no"]}))
    >>> pview = materialize(table, sd.DifferentialPrivacy(1.0), "independent")
    >>> "For the holder of the data only" in write_pview_report(table, pview)
    True
    """
    truth = truth_of(table, pview)
    errors = [WorkloadError(**error) for error in pview.holder["errors"]]
    attributes = len(pview.domain.axes)
    return render(
        "pview",
        source=table.source.name,
        certificate=pview.facts["certificate"],
        names=pview.domain.names,
        sizes=pview.domain.sizes,
        promise=promise(pview.facts["certificate"]),
        spending=spending(pview.facts["budget"]),
        records=len(table),
        total=pview.total,
        blocks=count_blocks(pview.model.boxes),
        errors=errors,
        useless=[error.name for error in errors if error.relative > 1],
        missed=[error.name for error in errors if error.covered < MIN_COVERED],
        histograms=[compared_histogram(place, truth, pview) for place in range(attributes)],
        pairs=dependent_pairs(truth, pview),
        paired=min(attributes, MAX_PAIRED),
    )


class BlockCounts(NamedTuple):
    """How many blocks there are: by their cells, and by the records in them, as the p-view counts."""

    blocks: int
    by_cells: dict[str, int]
    by_records: dict[str, int]


def count_blocks(boxes: Boxes | None) -> BlockCounts | None:
    """Count blocks by their size, if there are blocks and not only points."""
    if boxes is None or boxes.points or not (boxes.low != boxes.high).any():
        return None
    cells = (boxes.high.astype(np.float64) - boxes.low + 1).prod(axis=1)
    by_power = np.bincount(np.floor(np.log10(cells) + 1e-9).astype(int)).tolist()
    sizes = ["1 to 9", "10 to 99", *(f"10^{power}" for power in range(2, len(by_power)))]
    places = np.searchsorted(RECORDS, boxes.weights, side="right")
    by_records = np.bincount(places, minlength=len(RECORDS) + 1).tolist()
    records = [
        "none",
        "1",
        *(f"{a:g} to {b - 1:g}" for a, b in pairwise(RECORDS[1:])),
        f"{RECORDS[-1]:,.0f}+",
    ]
    return BlockCounts(
        len(cells), dict(zip(sizes, by_power, strict=False)), dict(zip(records, by_records, strict=True))
    )


class PViewHistogram(NamedTuple):
    """The true counts of an attribute, and the p-view's."""

    name: str
    labels: list[str]
    original: list[float]
    estimates: list[Interval]
    cells: int
    """How many cells there are; neighbours, or the rarest, may be taken together."""
    ordered: bool


def compared_histogram(place: int, truth: Boxes, pview: PView) -> PViewHistogram:
    """Count the original and the p-view by groups of an attribute's cells."""
    groups = Groups.of(pview, place, MAX_BARS)
    true = groups.sums(truth.table([place], {})).tolist()
    axis = groups.axis
    return PViewHistogram(axis.name, groups.labels, true, one_way(pview, groups), axis.size, axis.ordered)


class ComparedPair(NamedTuple):
    """The true two-way table of two attributes, and the p-view's."""

    rows: Groups
    columns: Groups
    original: Floats
    estimated: Floats

    @property
    def top(self) -> float:
        """The largest count of both tables."""
        return float(max(self.original.max(), self.estimated.max()))

    @property
    def bits(self) -> tuple[float, float]:
        """How much one attribute tells about the other: in the original, and in the p-view."""
        return dependence(self.original), dependence(self.estimated)


def dependent_pairs(truth: Boxes, pview: PView) -> list[ComparedPair]:
    """Compare the two-way tables of the attributes that depend most on each other, as far as the p-view tells."""
    places = range(min(len(pview.domain.axes), MAX_PAIRED))
    groups = [Groups.of(pview, place, MAX_SHADES) for place in places]
    return [
        ComparedPair(a, b, two_way(truth, a, b), two_way(pview.model, a, b))
        for a, b in strongest(pview, groups, MAX_PAIRS)
    ]
