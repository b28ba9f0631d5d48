"""The intervals of a p-view's answers: how often they hold the truth, and how wide they are.

`python -m benchmarks.intervals [--quick]`. By kind of question: random ranges of one to four attributes; cells of two to four, drawn
among all of them, and those that are not empty by themselves (an interval from 0 on
holds an empty one's truth, whatever it is); and the values of two to four attributes that a random record has, so that rare ones are
asked for, too.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from functools import partial
from typing import NamedTuple

import numpy as np

import sudare as sd
from benchmarks.common import show
from benchmarks.more_tables import KNOWN, UNSEEN, unseen
from sudare.pview.pview import PView
from sudare.utility.intervals import REACH
from sudare.utility.workloads import Workload, marginals, random_ranges, rmse, truth

PROMISES = {"": sd.DifferentialPrivacy(1.0), ", δ = 1e-9": sd.DifferentialPrivacy(1.0, 1e-9)}
QUERIES, SEEDS = 600, 3
CELLS, SOMEBODY = " cells", " of somebody"


class Answers(NamedTuple):
    """Of one kind of question: the share of intervals that hold the truth, their width, and the error."""

    covered: float
    width: float
    """The root of the mean square of the errors that are claimed, against that of the true ones."""
    error: float

    @classmethod
    def of(cls, pview: PView, asked: Workload, true: np.ndarray) -> Answers:
        counts, errors = pview.counts(asked.low, asked.high), pview.errors(asked.low, asked.high)
        low, high = np.maximum(counts - REACH * errors, 0), np.maximum(counts + REACH * errors, 0)
        off = rmse(true, counts)
        held = float(((true >= low - 1e-9) & (true <= high + 1e-9)).mean())
        return cls(held, float(np.sqrt(np.mean(errors**2))) / max(off, 1e-9), off)


def of_records(codes: np.ndarray, sizes: tuple[int, ...], ways: int, queries: int) -> Workload:
    """Ask for the values that random records have of random attributes."""
    rng = np.random.default_rng(ways)
    low = np.zeros((queries, len(sizes)), dtype=np.int32)
    high = np.tile(np.array(sizes, dtype=np.int32) - 1, (queries, 1))
    for q, row in enumerate(rng.integers(len(codes), size=queries)):
        axes = rng.choice(len(sizes), ways, replace=False)
        low[q, axes] = high[q, axes] = codes[row, axes]
    return Workload(f"{ways} values of records", low, high)


def questions(codes: np.ndarray, sizes: tuple[int, ...], queries: int) -> Iterator[tuple[str, Workload]]:
    """Draw questions of every kind."""
    for ways in (1, 2, 3, 4):
        if ways <= len(sizes):
            yield f"{ways}D ranges", random_ranges(sizes, ways, queries, seed=50 + ways)
    for ways in (2, 3, 4):
        if ways <= len(sizes):
            yield f"{ways}-way{CELLS}", marginals(sizes, ways, most=queries, seed=ways)
            yield f"{ways} values of records", of_records(codes, sizes, ways, queries)


def survey() -> sd.Table:
    """Return a synthetic survey of yes/no answers and a few others."""
    people = (
        sd.datasets.health_survey(20_000).select("age", "sex", "region", "smoker", "diagnosis").drop_nulls()
    )
    schema = sd.Schema.from_roles(
        quasi=["age", "sex", "region"],
        sensitive=["smoker", "diagnosis"],
        bounds={"age": (18, 95)},
        domains={name: people[name].unique().sort().to_list() for name in people.columns if name != "age"},
        missing="refuse",
    )
    return sd.read(people, schema)


TABLES: dict[str, Callable[[], sd.Table | None]] = {
    **{own.name: own.table for own in KNOWN.values()},
    "Survey": survey,
    **{name: partial(unseen, name) for name in UNSEEN},
}
"""Half of them are R's, which nothing was fitted on; they take part where they are installed."""


def main(quick: bool = False) -> None:
    lines: list[tuple[str, dict[str, str]]] = []
    for words, promise in PROMISES.items():
        for name, table in TABLES.items() if not quick else [("Survey", survey)]:
            if (read := table()) is not None:
                line = _line(read, promise, 40 if quick else QUERIES, 1 if quick else SEEDS)
                lines.append((name + words, line))
    title = "95% intervals of p-views, ε = 1: how many hold the truth, in percent (in brackets: claimed error / true error)"
    every = list(dict.fromkeys(kind for _, line in lines for kind in line))
    for words, kinds in (
        ("", [kind for kind in every if not kind.endswith(SOMEBODY)]),
        ("; of cells that are not empty", [kind for kind in every if kind.endswith(SOMEBODY)]),
    ):
        shown = [[name, *(line.get(kind, "-") for kind in kinds)] for name, line in lines]
        show(title + words, ["table", *kinds], shown)


def _line(table: sd.Table, promise: sd.DifferentialPrivacy, queries: int, seeds: int) -> dict[str, str]:
    answers: dict[str, list[Answers]] = {}
    for seed in range(seeds):
        pview = sd.materialize(table, promise, unsafe_seed=seed)
        counts = pview.domain.counts(table)
        codes = np.repeat(counts.codes, counts.weights, axis=0)
        for name, asked in questions(codes, counts.sizes, queries):
            true = truth(codes, asked.low, asked.high)
            answers.setdefault(name, []).append(Answers.of(pview, asked, true))
            if name.endswith(CELLS) and (true > 0).any():
                own = Workload(name, asked.low[true > 0], asked.high[true > 0])
                answers.setdefault(f"{name}{SOMEBODY}", []).append(Answers.of(pview, own, true[true > 0]))
    return {
        name: f"{100 * np.mean([one.covered for one in own]):.0f} ({np.mean([one.width for one in own]):.1f})"
        for name, own in answers.items()
    }


if __name__ == "__main__":
    main(quick="--quick" in sys.argv)
