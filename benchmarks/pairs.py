"""All pairs of tuples: likenesses by sensitive value and to the k-th record, on the processor and on a GPU if any.

`python -m benchmarks.pairs [--quick]`. Equal results on both are checked here too, where both are measured.
"""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass

import numpy as np
import polars as pl

import sudare as sd
from benchmarks.common import QUASI, SENSITIVE, adult_table, seconds, show
from sudare.generalization.problem import Problem
from sudare.similarity.pairs import Device, Marks, accelerator_available, kth_likeness, likest_by_value

K = 5
TEN = (
    "age workclass education marital-status relationship race sex hours-per-week native-country capital-gain"
)


@dataclass(frozen=True)
class Work:
    name: str
    marks: Marks
    value: np.ndarray
    values: int
    weights: np.ndarray

    @classmethod
    def of(cls, name: str, table: sd.Table) -> Work:
        """The tuples of a table, a mark for each level of each attribute, its cost shared by the levels."""
        problem = Problem.of(table, [sd.LDiversity(2)])
        trees = problem.trees
        levels = [(a, level) for a, height in enumerate(trees.height) for level in range(height)]
        codes = [trees.nodes[trees.offset[a, level] + problem.units[:, a]] for a, level in levels]
        gains = np.array([math.lcm(*trees.height) // trees.height[a] for a, _ in levels])
        marks = Marks(np.stack(codes, axis=1), gains)
        return cls(name, marks, problem.sensitive, problem.values, problem.weights)

    def by_value(self, device: Device) -> np.ndarray:
        return likest_by_value(self.marks, self.value, self.values, device=device)

    def kth(self, device: Device) -> np.ndarray:
        return kth_likeness(self.marks, self.weights, K, device=device)

    def resampled(self, n: int) -> Work:
        """So many tuples, each mark drawn by itself from those here."""
        rng = np.random.default_rng(1)
        codes = np.stack([rng.choice(column, n) for column in self.marks.codes.T], axis=1)
        marks = Marks(codes, self.marks.gains)
        value = rng.choice(self.value, n)
        return Work(f"{self.name}, resampled", marks, value, self.values, np.ones(n, dtype=np.int64))


def main(quick: bool = False) -> None:
    gpu = accelerator_available()
    adult = sd.datasets.load("adult-arx").select(*QUASI, SENSITIVE)
    if quick:
        lines = _lines(Work.of("Adult", adult_table(adult.head(1_000))), cpu=True, gpu=gpu)
    else:
        coil = Work.of("CoIL, 85 attributes", _coil())
        lines = [
            *_lines(coil, cpu=True, gpu=gpu),
            *_lines(Work.of("Adult, 7 attributes", adult_table(adult)), cpu=True, gpu=gpu),
            *_lines(Work.of("Adult drawn, 10 attributes", _drawn(100_000)), cpu=True, gpu=gpu),
            *(_lines(coil.resampled(1_000_000), cpu=False, gpu=True) if gpu else []),
        ]
    headers = [
        "table",
        "tuples",
        "marks",
        "values",
        "device",
        "by value, s",
        f"k={K}, s",
        "pairs per s\nby value",
    ]
    show("All pairs of tuples: the likest by value, and the likeness to the k-th record", headers, lines)


def _lines(work: Work, cpu: bool, gpu: bool) -> list[list[str]]:
    devices: list[Device] = [*(["cpu"] if cpu else []), *(["gpu"] if gpu else [])]
    if cpu and gpu:
        assert np.array_equal(work.by_value("cpu"), work.by_value("gpu"))
        assert np.array_equal(work.kth("cpu"), work.kth("gpu"))
    lines = []
    for device in devices:
        by_value = seconds(lambda d=device: work.by_value(d))
        kth = seconds(lambda d=device: work.kth(d))
        n, marks = work.marks.codes.shape
        rate = f"{n * n / by_value / 1e9:,.1f} G"
        lines.append(
            [work.name, f"{n:,}", f"{marks}", f"{work.values}", device, f"{by_value:.3f}", f"{kth:.3f}", rate]
        )
    return lines


def _coil() -> sd.Table:
    frame = sd.datasets.load("coil2000")
    quasi = [name for name in frame.columns if name != "MOSTYPE"]
    masks = {name: sd.Hierarchy.mask(frame[name].unique().sort()) for name in quasi}
    return sd.read(frame, sd.Schema.from_roles(quasi=quasi, sensitive=["MOSTYPE"], hierarchies=masks))


def _drawn(rows: int) -> sd.Table:
    """Adult's rows drawn with replacement, every age made finer by a day of the year drawn uniformly."""
    rng = np.random.default_rng(1)
    adult = sd.datasets.load("adult").select(*TEN.split(), SENSITIVE)
    frame = adult[rng.integers(adult.height, size=rows)]
    days = frame["age"].to_numpy() * 360 + rng.integers(360, size=rows)
    schema = sd.Schema.from_roles(quasi=TEN.split(), sensitive=[SENSITIVE])
    return sd.read(frame.with_columns(pl.Series("age", days)), schema)


if __name__ == "__main__":
    main(quick="--quick" in sys.argv)
