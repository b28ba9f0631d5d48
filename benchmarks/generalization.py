"""Generalization: distortion, time and memory, beside peers from PyPI in the same run.

`python -m benchmarks.generalization [--quick] [--huge]`. `benchmarks.peers` says how peers are installed.
"""

from __future__ import annotations

import json
import math
import sys
import time
from collections.abc import Iterator, Sequence
from itertools import product
from typing import NamedTuple

import numpy as np
import polars as pl

import sudare as sd
from benchmarks import peers
from benchmarks.common import (
    METHODS,
    QUASI,
    SENSITIVE,
    adult_table,
    block_sizes,
    in_child,
    peak_gigabytes,
    publish,
    published,
    seconds,
    show,
)
from sudare.generalization.full_domain import prices_of
from sudare.generalization.lattice import best_levels
from sudare.generalization.problem import Problem, level_vectors
from sudare.privacy.blocks import Blocks
from sudare.privacy.minimum import BlockMinimum
from sudare.privacy.requirement import BlockRequirement
from sudare.suitability.bounds import Bound, best_bounds, nearest_bounds
from sudare.suitability.costs import Costs
from sudare.tables.counts import Counts
from sudare.utility.distortion import distortion
from sudare.utility.measures import utility_of

ADULT: list[tuple[str, list[BlockRequirement]]] = [
    ("k=5", [sd.KAnonymity(5)]),
    ("k=10", [sd.KAnonymity(10)]),
    ("k=5, l=2", [sd.KAnonymity(5), sd.LDiversity(2)]),
    ("k=5, l=3", [sd.KAnonymity(5), sd.LDiversity(3)]),
    ("k=5, l=4", [sd.KAnonymity(5), sd.LDiversity(4)]),
    ("k=5, entropy l=3", [sd.KAnonymity(5), sd.LDiversity(3, "entropy")]),
]
# The requirements, and what the paper reached (Muramoto, Kamidoi & Wakabayashi).
COIL: list[tuple[str, list[BlockRequirement], str]] = [
    ("k=2", [sd.KAnonymity(2)], "0.079"),
    ("l=2", [sd.LDiversity(2)], "-"),
    ("l=4", [sd.LDiversity(4)], "-"),
    ("entropy l=2", [sd.LDiversity(2, "entropy")], "0.563"),
    ("entropy l=4", [sd.LDiversity(4, "entropy")], "0.819"),
]
FULL_DOMAIN: list[tuple[str, list[BlockRequirement]]] = [
    ("k=5", [sd.KAnonymity(5)]),
    ("k=5, l=3", [sd.KAnonymity(5), sd.LDiversity(3)]),
    ("k=5, entropy l=3", [sd.KAnonymity(5), sd.LDiversity(3, "entropy")]),
]
MEASURES = {"DIS": "distortion", "DM": "discernibility"}
DAYS = 360  # of a year, when ages are made finer: 12 months of 30 days


def main(quick: bool = False, huge: bool = False) -> None:
    frame = sd.datasets.load("adult-arx").select(*QUASI, SENSITIVE)
    if quick:
        few = adult_table(frame.head(500))
        _adult(few, ADULT[:1])
        _full_domain(few, FULL_DOMAIN[:1])
        return
    table = adult_table(frame)
    _adult(table, ADULT)
    _full_domain(table, FULL_DOMAIN)
    peers.main(table, ADULT)
    _scale((100_000, 1_000_000, 10_000_000) if huge else (100_000, 1_000_000))
    _coil()


# -- Adult -------------------------------------------------------------------------------------------


def _adult(table: sd.Table, cases: Sequence[tuple[str, list[BlockRequirement]]]) -> None:
    lines = []
    for words, requirements in cases:
        problem = Problem.of(table, requirements)
        nearest, best = _bounds(table, problem)
        for method, learn in METHODS.items():
            learning = seconds(lambda p=problem, r=requirements, f=learn: f(p, r))
            job = seconds(lambda r=requirements, f=learn: publish(table, r, f))
            located = learn(problem, requirements).locate(table)
            sizes = block_sizes(published(table, located), QUASI)
            utility = utility_of(located.outcome(), sizes)
            lines.append(
                [
                    words,
                    method,
                    f"{utility['distortion']:.4f}",
                    f"{nearest.value:.4f}",
                    f"{utility['distortion'] / nearest.value:.2f}",
                    f"{best.value:.4f}",
                    f"{utility['distortion'] / best.value:.2f}",
                    f"{utility['ncp']:.4f}",
                    f"{utility['discernibility']:,}",
                    f"{len(sizes):,}",
                    f"{learning:.3f}",
                    f"{job:.3f}",
                ]
            )
    headers = [
        "required",
        "method",
        "DIS",
        "bound:\nnearest",
        "DIS /\nthat",
        "bound:\nbest",
        "DIS /\nthat",
        "NCP",
        "DM",
        "blocks",
        "learn,\ns",
        "whole\njob, s",
    ]
    title = f"Adult, {len(table):,} rows x 7 quasi attributes, sensitive: {SENSITIVE}"
    show(title, headers, lines)


def _bounds(table: sd.Table, problem: Problem) -> tuple[Bound, Bound]:
    """Return the paper's lower bound of DIS and the best that we can prove."""
    costs, needs = Costs.in_table(table, problem), [BlockMinimum.of(problem.limits)]
    return nearest_bounds(problem, costs, needs)[0], best_bounds(problem, costs, needs, tight=True)[0]


# -- One coding for each column ------------------------------------------------------------------------


class _Choice(NamedTuple):
    """One level for each attribute: how many records are in groups that fail, and what it costs by each measure."""

    left_out: int
    distortion: float
    discernibility: float


def _full_domain(table: sd.Table, cases: Sequence[tuple[str, list[BlockRequirement]]]) -> None:
    lines = []
    for words, requirements in cases:
        problem = Problem.of(table, requirements)
        start = time.perf_counter()
        every = list(_every_choice(table, problem, requirements))
        exhaustive = time.perf_counter() - start
        for suppress, (short, measure) in product((0.0, 0.05, 1.0), MEASURES.items()):
            spare, prices = math.floor(suppress * len(table)), prices_of(table, problem, measure)
            search = seconds(lambda p=problem, c=prices, s=spare: best_levels(p, c, s))
            method = sd.methods.FullDomain(suppress, measure)
            learning = seconds(lambda m=method, r=requirements: m.learn(table, r))
            located = method.learn(table, requirements).locate(table)
            utility = utility_of(located.outcome(), block_sizes(published(table, located), QUASI))
            least = min(getattr(one, measure) for one in every if one.left_out <= spare)
            lines.append(
                [
                    words,
                    f"{suppress:.0%}",
                    short,
                    f"{utility['distortion']:.4f}",
                    f"{utility['discernibility']:,}",
                    f"{len(table) - located.outcome().published:,}",
                    "".join(str(level) for level in located.levels[0]),
                    f"{search:.3f}",
                    f"{learning:.3f}",
                    f"{exhaustive:.1f}",
                    "yes" if utility[measure] <= least * (1 + 1e-9) else f"NO: {least:.6g}",
                ]
            )
    headers = [
        "required",
        "may be\nleft out",
        "least",
        "DIS",
        "DM",
        "left\nout",
        "levels",
        "search,\ns",
        "learn,\ns",
        "all choices\ncounted, s",
        "best\nof all",
    ]
    title = (
        f"One coding for each column: Adult, {len(table):,} rows x 7 quasi attributes, {problem.trees.choices:,} choices of "
        "levels; learn: counting, searching, and searching again without who is left out"
    )
    show(title, headers, lines)


def _every_choice(
    table: sd.Table, problem: Problem, requirements: Sequence[BlockRequirement]
) -> Iterator[_Choice]:
    """Count every choice of levels, ruling nothing out."""
    sensitive = problem.sensitive_dictionary.name if problem.sensitive_dictionary else None
    share, records = problem.trees.step, len(table)
    for levels in level_vectors(problem.trees.height, problem.trees.step):
        columns = {
            name: tree.codes[level, leaves]
            for name, tree, level, leaves in zip(
                problem.names, problem.hierarchies, levels, problem.units.T, strict=True
            )
        }
        sizes = [len(tree.labels[level]) for tree, level in zip(problem.hierarchies, levels, strict=True)]
        if sensitive:
            columns[sensitive], sizes = problem.sensitive, [*sizes, problem.values]
        blocks = Blocks.of(Counts.of(columns, sizes, problem.weights), sensitive)
        kept = blocks.sizes[~np.any([one.failing(blocks) for one in requirements], axis=0)]
        left_out = records - int(kept.sum())
        yield _Choice(
            left_out,
            (float(levels @ share) * (records - left_out) + left_out) / records,
            int((kept**2).sum()) + left_out * records,
        )


# -- Scale -------------------------------------------------------------------------------------------


def _drawn(rows: int) -> sd.Table:
    """Adult's rows drawn with replacement, every age made finer by a day of the year drawn uniformly.

    Drawn alone, or moved by whole years, Adult's distinct tuples soon stop growing with the rows, and so does the
    work of learning. Age's hierarchy gets two levels below its years: days, then months.
    """
    rng = np.random.default_rng(1)
    adult = sd.datasets.load("adult-arx").select(*QUASI, SENSITIVE)
    frame = adult[rng.integers(adult.height, size=rows)]
    days = frame["age"].to_numpy() * DAYS + rng.integers(DAYS, size=rows)
    years = adult_table(adult).schema
    paths = [
        (str(int(path[0]) * DAYS + day), f"{path[0]} years, {day // 30} months", *path)
        for path in years["age"].hierarchy.rows()
        for day in range(DAYS)
    ]
    hierarchies = {name: years[name].hierarchy for name in QUASI} | {"age": sd.Hierarchy.from_rows(paths)}
    schema = sd.Schema.from_roles(quasi=QUASI, sensitive=[SENSITIVE], hierarchies=hierarchies)
    return sd.read(frame.with_columns(pl.Series("age", days)), schema)


def measure(method: str, rows: int) -> dict[str, float]:
    """One method on so many rows, measured in a process of its own, after a small run that compiles."""
    requirements: list[BlockRequirement] = [sd.KAnonymity(5)]
    learn = METHODS[method]
    publish(_drawn(2_000), requirements, learn)
    table = _drawn(rows)
    start = time.perf_counter()
    problem = Problem.of(table, requirements)
    counted = time.perf_counter()
    plan = learn(problem, requirements)
    learned = time.perf_counter()
    located = plan.locate(table)
    published(table, located)
    end = time.perf_counter()
    memory = peak_gigabytes()
    return {
        "learn": learned - counted,
        "job": end - start,
        "tuples": len(problem.units),
        "distortion": distortion(located.outcome()),
        "gigabytes": memory,
    }


def _scale(sizes: Sequence[int]) -> None:
    lines = []
    for method in METHODS:
        first: float | None = None
        for rows in sizes:
            measured = in_child("benchmarks.generalization", "--measure", method, rows)
            cost = measured["job"] / (rows * math.log2(rows))
            first = first or cost
            lines.append(
                [
                    method,
                    f"{rows:,}",
                    f"{measured['tuples']:,}",
                    f"{measured['distortion']:.4f}",
                    f"{measured['learn']:.2f}",
                    f"{measured['job']:.2f}",
                    f"{cost * 1e9:.0f}",
                    f"{cost / first:.2f}",
                    f"{measured['gigabytes']:.2f} GB",
                ]
            )
    title = (
        "k=5 on Adult's rows drawn with replacement, every age made finer by a day drawn uniformly (two more levels: "
        "day, month); one run after warm-up"
    )
    headers = [
        "method",
        "rows N",
        "distinct\ntuples",
        "DIS",
        "learn, s",
        "whole\njob, s",
        "ns per\nN log2 N",
        "ratio to\nthe first N",
        "memory, drawing\nincluded",
    ]
    show(title, headers, lines)


# -- CoIL 2000 ---------------------------------------------------------------------------------------


def _coil() -> None:
    frame = sd.datasets.load("coil2000")
    quasi = [name for name in frame.columns if name != "MOSTYPE"]
    masks = {name: sd.Hierarchy.mask(frame[name].unique().sort()) for name in quasi}
    table = sd.read(frame, sd.Schema.from_roles(quasi=quasi, sensitive=["MOSTYPE"], hierarchies=masks))
    headers = [
        "requirement",
        "method",
        "DIS",
        "bound: nearest",
        "DIS / that",
        "bound: best",
        "DIS / that",
        "blocks",
        "learn, s",
        "paper's DIS",
    ]
    title = f"CoIL 2000, {len(table):,} rows x 85 quasi attributes, sensitive: MOSTYPE; one run after warm-up"
    show(title, headers, list(_coil_lines(table)))


def _coil_lines(table: sd.Table) -> Iterator[list[str]]:
    for words, requirements, paper in COIL:
        problem = Problem.of(table, requirements)
        nearest, best = _bounds(table, problem)
        for method, learn in METHODS.items():
            taken = seconds(lambda p=problem, r=requirements, f=learn: f(p, r), 1)
            located = learn(problem, requirements).locate(table)
            reached = distortion(located.outcome())
            yield [
                words,
                method,
                f"{reached:.4f}",
                f"{nearest.value:.4f}",
                f"{reached / nearest.value:.2f}",
                f"{best.value:.4f}",
                f"{reached / best.value:.2f}",
                f"{len(block_sizes(published(table, located), problem.names)):,}",
                f"{taken:.2f}",
                paper,
            ]


if __name__ == "__main__":
    if sys.argv[1:2] == ["--measure"]:
        print(json.dumps(measure(sys.argv[2], int(sys.argv[3]))))
    else:
        main(quick="--quick" in sys.argv, huge="--huge" in sys.argv)
