"""Several views: what a row costs as rows grow, and where the time goes.

`python -m benchmarks.views [--quick]`. The two views of Takenouchi, Furukawa & Miyakawa, multi-view 4-diversity. No
attribute has a hierarchy: all are cut in the order of their values.
"""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import cache
from types import ModuleType
from unittest.mock import patch

import numpy as np
import polars as pl

import sudare as sd
from benchmarks.common import show
from sudare.generalization import views
from sudare.generalization.views import ViewsProblem, learn_views
from sudare.plans.views import ViewsPlan
from sudare.verbs import generalize_views, views_record
from sudare.verification import recount_views

VIEWS = {
    "T1": ["age", "sex", "workclass", "education"],
    "T2": ["age", "sex", "marital-status", "race", "native-country"],
}
QUASI = list(dict.fromkeys(name for view in VIEWS.values() for name in view))
SENSITIVE = "occupation"
L = 4
SIZES = (1_000, 3_000, 10_000, 30_000, 100_000, 300_000, 1_000_000)
DAYS = 360  # of a year, when ages are made finer
REPEATS = 3
LARGE = 100_000  # so many rows are published once only


@cache
def adult() -> pl.DataFrame:
    """Return the 30,162 complete rows of adult.data, with the attributes of both views."""
    return sd.datasets.load("adult-train").drop_nulls().select(*QUASI, SENSITIVE)


def table_of(frame: pl.DataFrame) -> sd.Table:
    return sd.read(frame, sd.Schema.from_roles(quasi=QUASI, sensitive=[SENSITIVE]))


def drawn(rows: int) -> sd.Table:
    """Draw Adult's rows with replacement, every age made finer by a day of the year, so that tuples stay distinct."""
    rng = np.random.default_rng(1)
    frame = adult()[rng.integers(adult().height, size=rows)]
    days = frame["age"].to_numpy() * DAYS + rng.integers(DAYS, size=rows)
    return table_of(frame.with_columns(pl.Series("age", days)))


def main(quick: bool = False) -> None:
    sizes, whole = (SIZES[:2], adult().head(1_000)) if quick else (SIZES, adult())
    table = table_of(whole)
    steps(drawn(500))  # compiles
    _growth([steps_of(drawn(rows)) for rows in sizes], steps_of(table))
    _where([("Adult", table), *([] if quick else [("drawn", drawn(SIZES[-1]))])])


# -- learning ------------------------------------------------------------------------------------------


def published(table: sd.Table, plan: ViewsPlan) -> dict[str, pl.DataFrame]:
    """Return what every view publishes."""
    rewritings = plan.locate(table).rewritings
    return {name: table.rows.rewrite(rewriting).frame() for name, rewriting in rewritings.items()}


@dataclass(frozen=True)
class Steps:
    """Seconds for each step, for so many rows."""

    rows: int
    tuples: int
    blocks: list[int]
    count: float
    cut: float
    label: float
    apply: float

    @property
    def learn(self) -> float:
        return self.cut + self.label

    @property
    def job(self) -> float:
        return self.count + self.learn + self.apply


def steps(table: sd.Table) -> Steps:
    """Count, learn and apply once."""
    with clocked(views, "_plan") as label:
        begin = time.perf_counter()
        problem = ViewsProblem.of(table, VIEWS, SENSITIVE)
        counted = time.perf_counter()
        requirement = sd.MultiViewDiversity(L)
        plan = learn_views(problem, requirement).plan(requirement)
        learned = time.perf_counter()
    published(table, plan)
    end = time.perf_counter()
    return Steps(
        rows=len(table),
        tuples=len(problem.people.weights),
        blocks=[len(view.labels[0]) for view in plan.views],
        count=counted - begin,
        cut=learned - counted - sum(label),
        label=sum(label),
        apply=end - learned,
    )


def steps_of(table: sd.Table) -> Steps:
    """Return the fastest of some runs."""
    return min((steps(table) for _ in range(REPEATS)), key=lambda run: run.job)


@contextmanager
def clocked(module: ModuleType, name: str) -> Iterator[list[float]]:
    """Collect the seconds of every call of a module's function."""
    timings: list[float] = []
    work = getattr(module, name)

    def timed(*arguments: object, **options: object) -> object:
        start = time.perf_counter()
        result = work(*arguments, **options)
        timings.append(time.perf_counter() - start)
        return result

    with patch.object(module, name, timed):
        yield timings


def _growth(runs: Sequence[Steps], itself: Steps) -> None:
    first = runs[0].learn / runs[0].rows / math.log2(runs[0].rows)
    lines = [
        [
            f"{one.rows:,}{' (Adult)' if one is itself else ''}",
            f"{one.tuples:,}",
            ", ".join(f"{blocks:,}" for blocks in one.blocks),
            *(f"{part:.3f}" for part in (one.count, one.cut, one.label, one.apply, one.job)),
            f"{1e6 * one.learn / one.rows:.1f}",
            f"{1e9 * one.learn / one.rows / math.log2(one.rows):.0f}",
            f"{one.learn / one.rows / math.log2(one.rows) / first:.2f}",
        ]
        for one in (*runs, itself)
    ]
    headers = [
        "rows N",
        "distinct\ntuples",
        "blocks of\nT1, T2",
        "count,\ns",
        "cut,\ns",
        "label,\ns",
        "apply,\ns",
        "whole\njob, s",
        "learn: us\nper row",
        "ns per\nN log2 N",
        "ratio to\nthe first N",
    ]
    title = (
        f"learn_views (cut and label), multi-view {L}-diversity, two views of Adult's rows drawn with replacement, every "
        f"age made finer by a day drawn uniformly, and of Adult itself; best of {REPEATS} runs after warm-up"
    )
    show(title, headers, lines)


# -- the whole release ---------------------------------------------------------------------------------

PARTS = {
    "learn": (generalize_views, "learn_views"),
    "number blocks": (recount_views, "blocks_of"),
    "verify": (recount_views, "least_left"),
    "attack": (views_record, "attack"),
    "report": (generalize_views, "write_views_report"),
}


def release(table: sd.Table) -> dict[str, float]:
    """Publish once; return the seconds of every part, and of all."""
    with ExitStack() as stack:
        clocks = {part: stack.enter_context(clocked(*place)) for part, place in PARTS.items()}
        begin = time.perf_counter()
        made = sd.generalize_views(table, VIEWS, sd.MultiViewDiversity(L))
        assert made.report  # it is written when it is asked for, and the holder's record with it
        whole = time.perf_counter() - begin
    return {part: sum(clock) for part, clock in clocks.items()} | {"whole": whole}


def _where(tables: Sequence[tuple[str, sd.Table]]) -> None:
    release(tables[0][1])  # compiles
    lines = []
    for name, table in tables:
        runs = REPEATS if len(table) < LARGE else 1
        fastest = min((release(table) for _ in range(runs)), key=lambda parts: parts["whole"])
        rest = 2 * fastest["whole"] - sum(fastest.values())
        lines.append(
            [
                name,
                f"{len(table):,}",
                *(f"{fastest[part]:.3f}" for part in PARTS),
                f"{rest:.3f}",
                f"{fastest['whole']:.3f}",
            ]
        )
    headers = ["table", "rows", *(f"{part}, s" for part in PARTS), "the rest, s", "whole, s"]
    show(
        f"sd.generalize_views with all that it certifies; best of {REPEATS} runs after warm-up (one run from {LARGE:,} rows on)",
        headers,
        lines,
    )


if __name__ == "__main__":
    main(quick="--quick" in sys.argv)
