"""Several p-views of one domain as one: their weighted mean, and how far that may be off.

Noise of several p-views has nothing to do with each other. What a method cannot see, it gets wrong in all of them alike,
and no mean makes that smaller. How much of their errors they share is read off the p-views, and so off nothing that is not
public. If errors e_i had nothing to do with each other, the variance of n answers would be the mean of e_i^2, on average;
let q be what it is, over many questions, next to that. If q < 1, a part 1 - q of the errors is taken to be shared; or they
are smaller than the p-views claim, which nobody can tell from outside: so the interval stays wide enough for both. If q > 1,
the p-views err more than they claim, and the interval grows by sqrt(q) (Birge 1932).

Weights are the same for all questions, so that counts of parts add up to counts of wholes. Each answer could be weighed by
its own claimed error instead; tried on five tables, that brought nothing, and harm where claims are wide: a claim depends on
the answer's own noise, and what happens to be low claims a small error.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Annotated, Any, ClassVar, Literal, Self

import numpy as np
import polars as pl
from numpy.typing import NDArray
from pydantic import Field

from sudare.errors import InputError
from sudare.pview.boxes import Boxes
from sudare.pview.cloud import Cloud
from sudare.pview.models import BlocksModel, CellsModel, ProductModel
from sudare.pview.pview import Model
from sudare.pview.saved import Form, Layout, Variance, refuse_unfit
from sudare.tables.faults import checked
from sudare.utility.workloads import random_ranges

PLAIN: dict[str, Any] = {"cloud": Cloud, "blocks": BlocksModel, "cells": CellsModel, "product": ProductModel}
"""What can be combined."""
Of = Literal["same rows", "mean"]
MAX_PARTS = 100
MAX_ROWS = 10**7
"""Of all parts together."""
WAYS = 4  # attributes in a question; with more, parts are taken to be as far apart as with so many
QUERIES = 100  # of each number of attributes, by which parts are compared

Codes = NDArray[Any]
Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Combined:
    """The weighted mean of several models of one kind."""

    kind: ClassVar[str] = "combined"
    parts: tuple[Model, ...]
    weights: Floats
    """They sum to 1."""
    of: Of
    """Whether all parts count the same rows, so that they can be compared, or their mean is meant."""
    spread: Floats
    """How far the parts are apart, as q above, where a question has one attribute, two, and so on."""
    sizes: tuple[int, ...]

    @classmethod
    def mean_of(cls, parts: Sequence[Model], weights: Floats, of: Of, sizes: tuple[int, ...]) -> Self:
        """Combine some models. If they may count different rows, all of their errors are taken to be shared."""
        apart = of == "same rows" and len(parts) > 1
        ways = range(1, min(len(sizes), WAYS) + 1)
        spread = np.array([spread_of(parts, sizes, k) if apart else 0.0 for k in ways])
        return cls(tuple(parts), weights, of, spread, sizes)

    def counts(self, low: Codes, high: Codes) -> Floats:
        """Return how many records lie in each of some boxes of cells."""
        return self._mean([part.counts(low, high) for part in self.parts])

    def errors(self, low: Codes, high: Codes) -> Floats:
        """Return the standard errors of these counts: between those of errors of their own, and of shared ones."""
        errors = self.weights[:, None] * np.array([part.errors(low, high) for part in self.parts])
        own, shared = (errors**2).sum(axis=0), errors.sum(axis=0) ** 2
        asked = ((low > 0) | (high < np.array(self.sizes) - 1)).sum(axis=1)
        # The total is measured, with noise of its own, and nothing about it can be missed.
        apart = np.append(1.0, self.spread)[np.minimum(asked, len(self.spread))]
        part = np.clip(1 - apart, 0.0, 1.0)
        return np.asarray(np.sqrt(((1 - part) * own + part * shared) * np.maximum(apart, 1.0)))

    def table(self, axes: Sequence[int], weights: Mapping[int, Floats]) -> Floats:
        """Count by all cells of some axes, where cells weigh as much as is given."""
        return self._mean([part.table(axes, weights) for part in self.parts])

    def _mean(self, several: Sequence[Floats]) -> Floats:
        return np.asarray(sum(weight * own for weight, own in zip(self.weights, several, strict=True)))

    def sample(self, n: int, rng: np.random.Generator) -> Codes:
        """Draw the cells of so many records: of each part as many as it counts for."""
        counted = np.array([max(float(part.table([], {})), 0.0) for part in self.parts]) * self.weights
        if n and not counted.sum() > 0:
            raise InputError("The p-view counts nobody; there is nothing to draw from.")
        upto = np.cumsum(counted) / max(counted.sum(), 1e-300)
        places = np.searchsorted(upto, (np.arange(n) + rng.random()) / max(n, 1), side="right")
        drawn = np.bincount(np.minimum(places, len(self.parts) - 1), minlength=len(self.parts))
        rows = [part.sample(int(own), rng) for part, own in zip(self.parts, drawn, strict=True)]
        return np.asarray(rng.permutation(np.concatenate(rows)))

    @cached_property
    def boxes(self) -> Boxes | None:
        """The points or blocks of all parts, with their part of the mean."""
        several = [part.boxes for part in self.parts]
        boxes = [own for own in several if own is not None]
        if len(boxes) < len(several):
            return None
        low = np.concatenate([own.low for own in boxes])
        high = low if all(own.points for own in boxes) else np.concatenate([own.high for own in boxes])
        counted = np.concatenate([w * own.weights for w, own in zip(self.weights, boxes, strict=True)])
        return Boxes.of(low, high, counted, self.sizes)

    # -- Files --------------------------------------------------------------------------------------

    def frame(self) -> pl.DataFrame:
        """Return the parts as columns, one after the other, with the number of each."""
        frames = [part.frame() for part in self.parts]
        return pl.concat(
            own.insert_column(0, pl.Series("part", np.full(own.height, number, np.uint8)))
            for number, own in enumerate(frames)
        )

    def extras(self) -> dict[str, Any]:
        """Return what is not in the columns."""
        return {
            "kind": self.parts[0].kind,
            "of": self.of,
            "weights": self.weights.tolist(),
            "spread": self.spread.tolist(),
            "parts": [part.extras() for part in self.parts],
        }

    @classmethod
    def layouts(cls, sizes: tuple[int, ...]) -> list[Layout]:
        """Return the columns of every kind that can be combined; how many parts there are, the manifest says."""
        layouts = []
        for kind in PLAIN.values():
            try:
                layouts += kind.layouts(sizes)
            except InputError:  # a kind that this domain is too large for
                continue
        return [
            replace(
                own, columns={"part": pl.UInt8(), **own.columns}, most=min(MAX_PARTS * own.most, MAX_ROWS)
            )
            for own in layouts
        ]

    @classmethod
    def from_frame(cls, frame: pl.DataFrame, sizes: tuple[int, ...], extras: Mapping[str, Any]) -> Self:
        """Take it from columns."""
        form = checked(CombinedForm, extras, "What the manifest says of the parts")
        refuse_unfit(frame, cls.layouts(sizes))
        weights = np.array(form.weights)
        if len(form.parts) != len(weights) or abs(weights.sum() - 1) > 1e-9:
            raise InputError("The parts of the p-view have no weights, one each, that sum to 1.")
        if len(form.spread) != min(len(sizes), WAYS):
            raise InputError("How far the parts of the p-view are apart is not said for its attributes.")
        number = frame["part"]
        if not number.is_sorted() or (len(number) and number[-1] >= len(weights)):
            raise InputError("The parts of the p-view do not stand one after the other.")
        parts = []
        for place, own in enumerate(form.parts):
            rows = frame.filter(number == place).drop("part")
            refuse_unfit(rows, PLAIN[form.kind].layouts(sizes))
            parts.append(PLAIN[form.kind].from_frame(rows, sizes, own))
        return cls(tuple(parts), weights, form.of, np.array(form.spread), sizes)


class CombinedForm(Form):
    """What is not in the columns."""

    kind: Literal["cloud", "blocks", "cells", "product"]
    of: Of
    weights: list[Annotated[float, Field(gt=0, le=1)]] = Field(min_length=1, max_length=MAX_PARTS)
    spread: list[Variance]
    parts: list[dict[str, Any]] = Field(min_length=1, max_length=MAX_PARTS)


def spread_of(parts: Sequence[Model], sizes: tuple[int, ...], ways: int) -> float:
    """Return how far the answers of some models are apart, in random ranges of so many attributes; 1 is as far as claimed.

    The ranges are always the same, and those with large errors count most: there it matters. Where nobody claims any error,
    nothing can be compared.
    """
    asked = random_ranges(sizes, ways, QUERIES)
    counts = np.array([part.counts(asked.low, asked.high) for part in parts])
    claimed = float((np.array([part.errors(asked.low, asked.high) for part in parts]) ** 2).sum())
    found = len(parts) * float(counts.var(axis=0, ddof=1).sum())
    return found / claimed if claimed > 0 else 0.0
