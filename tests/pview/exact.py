"""A model that knows the truth, so that whatever a p-view answers from it can be checked to the last record."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

import sudare as sd
from sudare.pview.boxes import Boxes
from sudare.pview.domain import Axis, Domain
from sudare.pview.pview import PView
from sudare.pview.saved import Layout
from tests.pview.counted import cells_of


@dataclass(frozen=True, eq=False)
class Exact:
    """Counts with boxes; its errors are as declared: so much for every box."""

    boxes: Boxes
    error: float = 0.0
    kind: str = "exact"

    def counts(self, low: Any, high: Any) -> Any:
        return self.boxes.counts(low, high)

    def errors(self, low: Any, high: Any) -> Any:
        return np.full(len(low), self.error)

    def table(self, axes: Sequence[int], weights: Mapping[int, Any]) -> Any:
        return self.boxes.table(axes, weights)

    def sample(self, n: int, rng: np.random.Generator) -> Any:
        return self.boxes.sample(n, rng)

    def frame(self) -> pl.DataFrame:
        return self.boxes.frame()

    def extras(self) -> dict[str, Any]:
        return {"error": self.error}

    @classmethod
    def layouts(cls, sizes: tuple[int, ...]) -> list[Layout]:
        return [Boxes.layout(sizes, points=points) for points in (True, False)]

    @classmethod
    def from_frame(cls, frame: pl.DataFrame, sizes: tuple[int, ...], extras: Mapping[str, Any]) -> Exact:
        return cls(Boxes.from_frame(frame, sizes), extras["error"])


def codes_of(axes: Sequence[Axis], rows: pl.DataFrame) -> np.ndarray[Any, Any]:
    """The cells of rows; values must stand in the order of their axis."""
    columns = []
    for axis in axes:
        if axis.values is None:
            columns.append(cells_of(axis, sd.read(rows.select(axis.name))))
        else:
            places = {value: i for i, value in enumerate(axis.values)}
            columns.append([axis.size - 1 if v is None else places[v] for v in rows[axis.name].to_list()])
    return np.array(columns, dtype=np.int32).T.reshape(-1, len(axes))


def points_pview(axes: Sequence[Axis], rows: pl.DataFrame, error: float = 0.0) -> PView:
    """A p-view that is its rows, each a point of weight 1."""
    codes = np.ascontiguousarray(codes_of(axes, rows))
    domain = Domain(tuple(axes))
    return PView(domain, Exact(Boxes.of(codes, codes, np.ones(len(codes)), domain.sizes), error))


def blocks_pview(axes: Sequence[Axis], blocks: int, seed: int) -> PView:
    """A p-view of random boxes."""
    rng, domain = np.random.default_rng(seed), Domain(tuple(axes))
    ends = np.sort(rng.integers(0, domain.sizes, size=(2, blocks, len(axes))), axis=0).astype(np.int32)
    boxes = Boxes.of(ends[0], ends[1], rng.random(blocks) * 100, domain.sizes)
    return PView(domain, Exact(boxes))
