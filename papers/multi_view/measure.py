"""Both views by every method: the sweep of Figs 3 to 5, more rows than the paper has, and what the attack finds."""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

import sudare as sd
from benchmarks.views import QUASI, SENSITIVE, VIEWS, published, table_of
from papers.multi_view.paper import (
    ALL,
    FIRST,
    OURS,
    PAPERS,
    RAW,
    ROWS,
    SECOND,
    STOP,
    TABLE_1,
    TABLE_2,
    TABLE_3,
    TABLE_4,
    TIGHT,
)
from sudare.generalization.views import CutViews, ViewsProblem, learn_views

OPTIONS: dict[str, dict[str, Any]] = {
    OURS: {},
    PAPERS: {"score": "paper"},
    ALL: {"method": "all-attributes"},
    FIRST: {"method": "sequential", "order": ["T1", "T2"]},
    SECOND: {"method": "sequential", "order": ["T2", "T1"]},
}
OPTIONS |= {method + STOP: {**OPTIONS[method], "once": True} for method in (ALL, FIRST, SECOND)}
METHODS = [OURS, PAPERS, ALL, TIGHT, FIRST, SECOND, *(method + STOP for method in (ALL, FIRST, SECOND))]
LARGE = [OURS, ALL, TIGHT, FIRST, SECOND]

Floats = NDArray[np.float64]


class Views(NamedTuple):
    """What a method makes of T1 and T2."""

    blocks: tuple[int, ...]
    dm: tuple[int, ...]
    """The sum of the squared sizes of a view's blocks."""
    open: tuple[float, ...]
    """Which share of the values a view's labels leave open, from 0 to 1, on average over attributes and records."""


def learner(table: sd.Table, method: str, l: int) -> Callable[[], CutViews]:
    """Count a table; return what learns its views."""
    requirement = sd.MultiViewDiversity(l)
    if method == TIGHT:
        whole = ViewsProblem.of(table, {"T": QUASI}, SENSITIVE)
        return lambda: learn_views(whole, requirement, "sequential")
    problem = ViewsProblem.of(table, VIEWS, SENSITIVE)
    return lambda: learn_views(problem, requirement, **OPTIONS[method])


def made(plan: CutViews, l: int) -> Views:
    """Measure what was learned; everybody must have l values."""
    assert sd.MultiViewDiversity(l).measure(plan.seen()).holds
    if len(plan.views) == 1:
        return _parts(plan)
    sizes = [view.sizes(plan.problem.people.weights) for view in plan.views]
    return Views(
        tuple(len(size) for size in sizes),
        tuple(int(size @ size) for size in sizes),
        tuple(float(plan.covered(view).mean()) for view in plan.views),
    )


def _parts(plan: CutViews) -> Views:
    """Give each view its columns of the one table that was generalized; blocks that look the same are one."""
    (whole,) = plan.views
    sizes, covered = whole.sizes(plan.problem.people.weights), plan.covered(whole)
    block_sizes: list[Counter[tuple[str | None, ...]]] = []
    for attributes in VIEWS.values():
        columns = [whole.view.labels[whole.view.attributes.index(name)] for name in attributes]
        block_sizes.append(Counter())
        for labels, size in zip(zip(*columns, strict=True), sizes.tolist(), strict=True):
            block_sizes[-1][labels] += size
    return Views(
        tuple(len(blocks) for blocks in block_sizes),
        tuple(sum(size**2 for size in blocks.values()) for blocks in block_sizes),
        tuple(
            float(covered[[whole.view.attributes.index(a) for a in names]].mean()) for names in VIEWS.values()
        ),
    )


# -- Figs 3 to 5 -----------------------------------------------------------------------------------------


class Row(NamedTuple):
    """One method at one l, on all samples."""

    method: str
    l: int
    dm: Floats
    """Samples x views, as is the next."""
    open: Floats

    @property
    def apart(self) -> float:
        """The imbalance, |DM1 - DM2|, on average."""
        return float(abs(self.dm[:, 0] - self.dm[:, 1]).mean())


def sweep(frame: pl.DataFrame, draws: int, ls: Sequence[int]) -> list[Row]:
    """Try every method at every l on samples of 200 rows, the same for all."""
    tables = [table_of(frame.sample(ROWS, seed=seed)) for seed in range(draws)]
    rows = []
    for l in ls:
        for method in METHODS:
            views = [made(learner(table, method, l)(), l) for table in tables]
            dm, left = (
                np.array([getattr(one, what) for one in views], dtype=float) for what in ("dm", "open")
            )
            rows.append(Row(method, l, dm, left))
    return rows


def ipums() -> pl.DataFrame:
    """Return those of ipums.la.97 who have an occupation, with Adult's attributes; occupations by their first digit.

    That is their major group: professional, farmers, managers, clerical, sales, craftsmen, operatives, service, farm
    labourers, other labourers.
    """
    names = ("sex", "classwkg", "educrec", "marst", "raceg", "bplg")
    called = ("sex", "workclass", "education", "marital-status", "race", "native-country")
    return (
        sd.datasets.load("ipums")
        .filter(pl.col("occ1950") != "999")
        .select(
            pl.col("age").cast(pl.Int64),
            *(pl.col(name).alias(ours) for name, ours in zip(names, called, strict=True)),
            pl.col("occ1950").str.head(1).alias(SENSITIVE),
        )
    )


# -- more rows -------------------------------------------------------------------------------------------


class Timed(NamedTuple):
    """One method on a table, after warm-up."""

    method: str
    rows: int
    l: int
    views: Views
    seconds: float


def untouched(table: sd.Table) -> Timed:
    """Return what the views are like if nothing is hidden: everybody who looks the same is a block."""
    sizes = [table.counts(view).weights for view in VIEWS.values()]
    views = Views(
        tuple(len(size) for size in sizes), tuple(int(size @ size) for size in sizes), (0.0,) * len(VIEWS)
    )
    return Timed(RAW, len(table), 1, views, math.nan)


def timed(table: sd.Table, method: str, l: int, runs: int = 1) -> Timed:
    """Learn some times; keep the shortest. Counting the table is not part of it.

    The processor's time is taken, of the one thread that learns, so that other work on the machine counts less.
    """
    learn, taken = learner(table, method, l), []
    for _ in range(runs):
        start = time.process_time()
        plan = learn()
        taken.append(time.process_time() - start)
    return Timed(method, len(table), l, made(plan, l), min(taken))


# -- the attack ------------------------------------------------------------------------------------------


class Attacked(NamedTuple):
    """What the intersection attack finds in two views."""

    words: str
    people: int
    given_away: int
    least: int
    posterior: float


def _attacked(words: str, frames: dict[str, pl.DataFrame], table: sd.Table) -> Attacked:
    outcome = sd.attack(frames, table.schema, kind="intersection", known=table)
    (left,) = outcome.by_attribute.values()
    return Attacked(words, outcome.known, left.given_away, left.least, left.posterior)


def example() -> tuple[sd.Table, dict[str, list[str]]]:
    """Return the paper's table of seven people, and its two views."""
    table = sd.read(TABLE_1, sd.Schema.from_roles(quasi=["age", "height"], sensitive=["illness"]))
    return table, {"T1": ["age"], "T2": ["height"]}


def example_attacked() -> list[Attacked]:
    """Attack the paper's own views, and ours of the same table."""
    table, views = example()
    attacks = [
        _attacked("Tables 2 and 3: each 2-diverse", {"T1": TABLE_2, "T2": TABLE_3}, table),
        _attacked("Tables 4 and 3: 2-diverse together", {"T1": TABLE_4, "T2": TABLE_3}, table),
    ]
    for words, options in ((OURS, {}), (PAPERS, {"score": "paper"})):
        release = sd.generalize_views(table, views, sd.MultiViewDiversity(2), **options)
        attacks.append(_attacked(words, release.frames(), table))
    return attacks


def adult_attacked(table: sd.Table, l: int) -> list[Attacked]:
    """Attack Adult's views: as they are, each made l-diverse on its own, and all made so together."""
    raw = {name: table.frame().select(*view, SENSITIVE) for name, view in VIEWS.items()}
    alone = {}
    for name, view in VIEWS.items():
        requirement = sd.MultiViewDiversity(l)
        cut = learn_views(ViewsProblem.of(table, {name: view}, SENSITIVE), requirement)
        alone |= published(table, cut.plan(requirement))
    release = sd.generalize_views(table, VIEWS, sd.MultiViewDiversity(l))
    measured = release.certificate.measured["l_multiview"]
    return [
        _attacked("as they are", raw, table),
        _attacked(f"each {l}-diverse, made alone", alone, table),
        _attacked(f"made together; certified l = {measured}", release.frames(), table),
    ]
