"""What the simple methods learned, as a p-view counts with it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Annotated, Any, ClassVar, Self

import numpy as np
import polars as pl
from numpy.typing import NDArray
from pydantic import Field

from sudare.errors import InputError
from sudare.pview import _boxes, noisy_counts, p_identity
from sudare.pview.boxes import MAX_CELLS, Boxes, answer, neighbours
from sudare.pview.noisy_counts import NoisyBlocks, NoisyCells, NoisyProduct, project
from sudare.pview.p_identity import PIdentity
from sudare.pview.saved import MAX_COUNT, Form, Layout, Number, refuse_large, refuse_unfit
from sudare.tables.faults import checked
from sudare.utility.intervals import REACH

MAX_WEIGHT = 2**20
"""Of a cell in a strategy."""

Codes = NDArray[Any]
Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class BlocksModel:
    """Blocks with noisy counts, spread evenly over their cells."""

    kind: ClassVar[str] = "blocks"
    boxes: Boxes
    squares: Floats
    """The variance of each block's noise."""

    @classmethod
    def of(cls, blocks: NoisyBlocks, sizes: Sequence[int]) -> Self:
        """Put the blocks into an order in which neighbours stand together."""
        order = neighbours(blocks.low, blocks.high, sizes)
        boxes = Boxes.in_order(blocks.low[order], blocks.high[order], blocks.counts[order], sizes)
        return cls(boxes, blocks.deviations[order] ** 2)

    def counts(self, low: Codes, high: Codes) -> Floats:
        """Return how many records lie in each of some boxes of cells."""
        return self.boxes.counts(low, high)

    def errors(self, low: Codes, high: Codes) -> Floats:
        """Return the standard errors of these counts; where noise left less than nobody, nobody crowds."""
        boxes = self.boxes
        crowding = np.maximum(boxes.weights, 0.0)
        return answer(_boxes.errors, (boxes.low.T, boxes.high.T, crowding, self.squares), low, high)

    def table(self, axes: Sequence[int], weights: Mapping[int, Floats]) -> Floats:
        """Count by all cells of some axes, where cells weigh as much as is given."""
        return self.boxes.table(axes, weights)

    def sample(self, n: int, rng: np.random.Generator) -> Codes:
        """Draw the cells of so many records, from the nearest counts of the same total without any below 0."""
        return self._drawn.sample(n, rng)

    @cached_property
    def _drawn(self) -> Boxes:
        weights = self.boxes.weights
        return replace(self.boxes, weights=project(weights, float(weights.sum())))

    def frame(self) -> pl.DataFrame:
        """Return it as columns."""
        return self.boxes.frame().with_columns(variance=pl.Series(self.squares))

    def extras(self) -> dict[str, Any]:
        """Everything is in the columns."""
        return {}

    @classmethod
    def layouts(cls, sizes: tuple[int, ...]) -> list[Layout]:
        """Return the columns that `frame` returns."""
        boxes = Boxes.layout(sizes, points=False)
        return [replace(boxes, columns=boxes.columns | {"variance": pl.Float64()})]

    @classmethod
    def from_frame(cls, frame: pl.DataFrame, sizes: tuple[int, ...], extras: Mapping[str, Any]) -> Self:
        """Take it from columns."""
        checked(Form, extras, "What the manifest says of the blocks")
        refuse_unfit(frame, cls.layouts(sizes))
        squares = frame["variance"].to_numpy(writable=True)
        refuse_large(squares, "The variance of a block", least=0.0)
        return cls(Boxes.from_frame(frame.drop("variance"), sizes, least=-MAX_COUNT), squares)


@dataclass(frozen=True, eq=False)
class CellsModel:
    """A count for every cell of a small domain."""

    kind: ClassVar[str] = "cells"
    boxes: ClassVar[None] = None
    cells: NoisyCells

    def counts(self, low: Codes, high: Codes) -> Floats:
        """Return how many records lie in each of some boxes of cells."""
        return self.cells.counts(low, high)

    def errors(self, low: Codes, high: Codes) -> Floats:
        """Return the standard errors of these counts; of a bucket that is taken in part, its records may lie anywhere."""
        return self.cells.errors(low, high) + self.cells.spread(low, high)

    def table(self, axes: Sequence[int], weights: Mapping[int, Floats]) -> Floats:
        """Count by all cells of some axes, where cells weigh as much as is given."""
        counts, dimensions = self.cells.table, self.cells.table.ndim
        for axis, own in weights.items():
            counts = counts * np.asarray(own).reshape([-1 if i == axis else 1 for i in range(dimensions)])
        counts = counts.sum(axis=tuple(a for a in range(dimensions) if a not in axes))
        return np.transpose(counts, np.argsort(np.argsort(axes))) if len(axes) > 1 else np.asarray(counts)

    def sample(self, n: int, rng: np.random.Generator) -> Codes:
        """Draw the cells of so many records."""
        return self.cells.sample(n, rng)

    def frame(self) -> pl.DataFrame:
        """Return it as columns, one row per cell."""
        columns: dict[str, Any] = {"count": self.cells.table.ravel()}
        if self.cells.bucket is not None:
            columns["bucket"] = self.cells.bucket.ravel()
        return pl.DataFrame(columns)

    def extras(self) -> dict[str, Any]:
        """Return what is not in the columns."""
        told: dict[str, Any] = {"deviation": self.cells.deviation}
        if self.cells.strategies is not None:
            told["strategies"] = [own.to_json() for own in self.cells.strategies]
        return told

    @classmethod
    def layouts(cls, sizes: tuple[int, ...]) -> list[Layout]:
        """Return the columns that `frame` returns: without buckets, and with them."""
        cells = math.prod(sizes)
        if cells > noisy_counts.MAX_CELLS:
            raise InputError(f"The domain has {cells:,} cells, too many for a count of each.")
        columns: dict[str, pl.DataType] = {"count": pl.Float64()}
        return [Layout(own, cells, cells) for own in (columns, columns | {"bucket": pl.Int32()})]

    @classmethod
    def from_frame(cls, frame: pl.DataFrame, sizes: tuple[int, ...], extras: Mapping[str, Any]) -> Self:
        """Take it from columns."""
        form = checked(CellsForm, extras, "What the manifest says of the cells")
        refuse_unfit(frame, cls.layouts(sizes))
        bucket = frame["bucket"].to_numpy().reshape(sizes) if "bucket" in frame.columns else None
        if bucket is not None and not (
            bucket.min() == 0 and bucket.max() < frame.height and np.bincount(bucket.ravel()).all()
        ):
            raise InputError("The buckets are not numbered from 0 on, each with a cell of its own.")
        if form.strategies is not None and bucket is not None:
            raise InputError("The cells have buckets and strategies, and can have one of them only.")
        strategies = None if form.strategies is None else _strategies(form.strategies, sizes)
        table = frame["count"].to_numpy().reshape(sizes)
        return cls(NoisyCells(table, form.deviation, bucket, strategies))


@dataclass(frozen=True, eq=False)
class ProductModel:
    """Histograms of single attributes, as if these were independent."""

    kind: ClassVar[str] = "product"
    boxes: ClassVar[None] = None
    product: NoisyProduct

    def counts(self, low: Codes, high: Codes) -> Floats:
        """Return how many records lie in each of some boxes of cells."""
        return self.product.counts(low, high)

    def errors(self, low: Codes, high: Codes) -> Floats:
        """Return standard errors that allow for any dependence.

        With shares p of the ranges, between max(0, 1 - sum (1 - p)) and min p of all records can lie in the box (Fréchet).
        """
        shares, total = self.product._shares(low, high), self.product.total
        most, least = shares.min(axis=0), np.maximum(1 - (1 - shares).sum(axis=0), 0)
        middle = np.prod(shares, axis=0)
        far = total * np.maximum(most - middle, middle - least)
        return np.asarray(self.product.errors(low, high) + far / REACH)

    def table(self, axes: Sequence[int], weights: Mapping[int, Floats]) -> Floats:
        """Count by all cells of some axes, where cells weigh as much as is given."""
        if math.prod(len(self.product.marginals[a]) for a in axes) > MAX_CELLS:
            raise InputError("A table of so many cells is too large. Ask for fewer attributes at once.")
        total = self.product.total
        counts = np.asarray(total)
        for axis, own in enumerate(self.product.marginals):
            share = own * weights.get(axis, 1.0) / total if total > 0 else np.zeros(len(own))
            if axis not in axes:
                counts = counts * share.sum()
        for axis in axes:
            own = self.product.marginals[axis] * weights.get(axis, 1.0)
            counts = np.multiply.outer(counts, own / total if total > 0 else np.zeros(len(own)))
        return np.asarray(counts)

    def sample(self, n: int, rng: np.random.Generator) -> Codes:
        """Draw the cells of so many records."""
        return self.product.sample(n, rng)

    def frame(self) -> pl.DataFrame:
        """Return it as columns: axis, cell and count."""
        sizes = [len(own) for own in self.product.marginals]
        return pl.DataFrame(
            {
                "axis": np.repeat(np.arange(len(sizes)), sizes),
                "cell": np.concatenate([np.arange(size) for size in sizes]),
                "count": np.concatenate(self.product.marginals),
            }
        )

    def extras(self) -> dict[str, Any]:
        """Return what is not in the columns."""
        return {"deviation": self.product.deviation}

    @classmethod
    def layouts(cls, sizes: tuple[int, ...]) -> list[Layout]:
        """Return the columns that `frame` returns."""
        columns: dict[str, pl.DataType] = {"axis": pl.Int64(), "cell": pl.Int64(), "count": pl.Float64()}
        return [Layout(columns, sum(sizes), sum(sizes))]

    @classmethod
    def from_frame(cls, frame: pl.DataFrame, sizes: tuple[int, ...], extras: Mapping[str, Any]) -> Self:
        """Take it from columns."""
        form = checked(DeviationForm, extras, "What the manifest says of the histograms")
        refuse_unfit(frame, cls.layouts(sizes))
        counts = frame["count"].to_numpy()
        refuse_large(counts, "A count", least=0.0)
        model = cls(NoisyProduct(tuple(np.split(counts, np.cumsum(sizes)[:-1])), form.deviation))
        if not frame.select("axis", "cell").equals(model.frame().select("axis", "cell")):
            raise InputError("The histograms are not in the order of the attributes and their cells.")
        total = model.product.total
        if any(abs(own.sum() - total) > 1e-6 * max(total, 1.0) for own in model.product.marginals):
            raise InputError("The histograms do not count the same records.")
        return model


class DeviationForm(Form):
    """What is not in the columns: the standard deviation of every count's noise."""

    deviation: Number = Field(ge=0)


Weights = Annotated[list[Annotated[int, Field(ge=0, le=MAX_WEIGHT)]], Field(max_length=p_identity.MAX_CELLS)]


class StrategyForm(Form):
    """What was measured of an attribute."""

    own: Weights
    sums: list[Weights] = Field(max_length=p_identity.MAX_CELLS)


class CellsForm(DeviationForm):
    """What is not in the columns of cells; strategies only if more than the cells was measured."""

    strategies: list[StrategyForm] | None = None


def _strategies(forms: Sequence[StrategyForm], sizes: Sequence[int]) -> tuple[PIdentity, ...]:
    """Take strategies for attributes of these sizes, and refuse others."""
    if len(forms) != len(sizes):
        raise InputError(f"The strategies are not those of {len(sizes)} attributes.")
    for form, size in zip(forms, sizes, strict=True):
        if {len(form.own), *map(len, form.sums)} != {size} or min(form.own) < 1:
            raise InputError(f"A strategy does not weigh each of {size:,} cells.")
    return tuple(
        PIdentity(np.array(form.own), np.array(form.sums, dtype=np.int64).reshape(-1, size))
        for form, size in zip(forms, sizes, strict=True)
    )
