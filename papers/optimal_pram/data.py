"""The three histograms. Case 3 is the paper's own; Cases 1 and 2 are ours, made to what the paper tells of its own."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

import sudare as sd

AGES = range(17, 91)
CELLS = len(AGES)
RECORDS = 32_561  # in adult.data; adult.test comes after it

Floats = NDArray[np.float64]


class Case(NamedTuple):
    """A histogram of the paper."""

    number: int
    words: str
    v: Floats

    @property
    def records(self) -> int:
        return int(self.v.sum())

    def codes(self) -> NDArray[np.uint8]:
        """Return one code per record."""
        return np.repeat(np.arange(len(self.v), dtype=np.uint8), self.v.astype(np.int64))


@cache
def cases() -> tuple[Case, ...]:
    """Return the paper's three histograms, in its order."""
    return (
        Case(1, "normal, raised (ours)", normal()),
        Case(2, "power law (ours)", power_law()),
        Case(3, "age in Adult (the paper's)", ages()),
    )


def normal() -> Floats:
    """Return a bell on a floor, with the paper's N = 46,938 and largest count 850, and a peak at the 25th cell.

    Its floor and its width are such that ||v - mean|| = 1498.1, which the paper's conventional figures imply. With a peak
    in the middle no floor above 0 has that; the paper says that its own is raised.
    """
    i = np.arange(CELLS)
    return _whole(288.9 + (850 - 288.9) * np.exp(-((i - 24) ** 2) / (2 * 20.86**2)), 46_938)


def power_law() -> Floats:
    """Return 895 ((1 + c) / (i + c))^a, with the paper's N = 4,405 and ||v - mean|| = 1023.4."""
    i, a, c = np.arange(1, CELLS + 1), 0.99225, -0.01165
    return _whole(895 * ((1 + c) / (i + c)) ** a, 4_405)


def _whole(v: Floats, records: int) -> Floats:
    """Round to whole numbers with a given sum: up where most is cut off, but never the largest."""
    v = v * np.where(v == v.max(), 1.0, (records - v.max()) / (v.sum() - v.max()))
    whole = np.floor(v + 1e-9)
    up = np.argsort(whole - v, kind="stable")[: records - int(whole.sum())]
    whole[up] += 1
    return np.asarray(whole)


@cache
def _adult() -> pl.Series:
    return sd.datasets.load("adult")["age"]


def ages() -> Floats:
    """Count the ages of adult.data; one, 89, does not occur."""
    return _counted(_adult().head(RECORDS))


def other_ages() -> Floats:
    """Count the ages of adult.test: other people of the same survey, who stand for what is known publicly."""
    return _counted(_adult()[RECORDS:])


def _counted(ages: pl.Series) -> Floats:
    return np.bincount(ages.to_numpy() - AGES[0], minlength=CELLS).astype(np.float64)


@cache
def age_table() -> sd.Table:
    """Return adult.data's ages, ready to be randomized; which ages there can be is declared."""
    frame = pl.DataFrame({"age": _adult().head(RECORDS)})
    return sd.read(frame, sd.Schema.from_roles(quasi=["age"], domains={"age": list(AGES)}, missing="refuse"))
