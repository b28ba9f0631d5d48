"""What benchmarks share: timing, memory, the table that each prints, and Adult with the methods that run on it."""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Sequence

import numpy as np
import polars as pl
from rich.console import Console
from rich.table import Table

import sudare as sd
from sudare.generalization.minimal import learn_minimal
from sudare.generalization.mondrian import learn_cuts
from sudare.generalization.problem import Problem
from sudare.plans.generalization import GeneralizationPlan, Located
from sudare.privacy.requirement import BlockRequirement

Learn = Callable[[Problem, Sequence[BlockRequirement]], GeneralizationPlan]
METHODS: dict[str, Learn] = {
    "mondrian": learn_cuts,
    "minimal": lambda problem, requirements: learn_minimal(problem).plan(requirements),
}

QUASI = ["age", "sex", "race", "marital-status", "education", "native-country", "workclass"]
SENSITIVE = "occupation"


def seconds(work: Callable[[], object], repeats: int = 3) -> float:
    """The best of some runs, after one that warms up compiled code and caches."""
    work()
    best = float("inf")
    for _ in range(repeats):
        start = time.perf_counter()
        work()
        best = min(best, time.perf_counter() - start)
    return best


def peak_gigabytes() -> float:
    """The most memory this process has had."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20


def in_child(module: str, *arguments: object) -> dict[str, float]:
    """Run a module in a process of its own, so that its memory is measured alone."""
    command = [sys.executable, "-m", module, *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])


def show(title: str, headers: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    table = Table(title=title, title_justify="left")
    for i, header in enumerate(headers):
        table.add_column(header, justify="left" if i == 0 else "right")
    for row in rows:
        table.add_row(*row)
    Console(width=120).print(table)


def adult_table(frame: pl.DataFrame) -> sd.Table:
    files = {name: sd.datasets.path(f"arx_hierarchies/adult_hierarchy_{name}.csv") for name in QUASI}
    hierarchies = {name: sd.Hierarchy.from_csv(file) for name, file in files.items()}
    return sd.read(frame, sd.Schema.from_roles(quasi=QUASI, sensitive=[SENSITIVE], hierarchies=hierarchies))


def publish(table: sd.Table, requirements: list[BlockRequirement], learn: Learn) -> pl.DataFrame:
    return published(table, learn(Problem.of(table, requirements), requirements).locate(table))


def published(table: sd.Table, located: Located) -> pl.DataFrame:
    return table.rows.rewrite(located.rewriting).frame()


def block_sizes(published: pl.DataFrame, quasi: list[str]) -> np.ndarray:
    """Records with the same published values are one block, however the method came to it."""
    return published.group_by(quasi).len()["len"].to_numpy().astype(np.int64)
