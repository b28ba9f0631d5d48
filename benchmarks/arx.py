"""ARX's local recoding beside ours, in the same run: `SUDARE_ARX=arx.jar python -m benchmarks.arx`; with --page on Adult, for docs/comparison.md.

SUDARE_ARX is a Java class path that has ARX; without it nothing is said of ARX. Its clock runs from rows in its memory to rows that
are published, in a machine that is warm; so does ours.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from itertools import takewhile
from pathlib import Path
from typing import NamedTuple

import numpy as np
import polars as pl

import sudare as sd
from benchmarks.common import QUASI, SENSITIVE, adult_table, published, show
from papers.page import Grid, rewrite
from sudare.generalization.efforts import Effort
from sudare.generalization.minimal import learn_minimal
from sudare.generalization.problem import Problem, with_hierarchies
from sudare.privacy.requirement import BlockRequirement
from sudare.utility.distortion import distortion

DRIVER = Path(__file__).parent / "Arx.java"
PAGE = Path(__file__).parent.parent / "docs" / "comparison.md"
TITLE, HEADERS = "Local recoding: distortion", ["table", "by", "DIS", "least block", "seconds"]
METRICS = ("loss", "precision")
MONTHS = 12
MANY = 100_000  # choices of levels


class Case(NamedTuple):
    words: str
    table: sd.Table
    k: int
    l: int
    steps: tuple[float, ...]
    """Shares of the records that ARX recodes at a time; 0: one record."""


def main(quick: bool = False, page: bool = False) -> None:
    arx = os.environ.get("SUDARE_ARX")
    cases = takewhile(lambda case: case.words.startswith("Adult") or not page, _cases(quick))
    grid = Grid(TITLE, HEADERS, [line for case in cases for line in _measured(case, arx)])
    show(*grid)
    if page and arx:
        without_seconds = Grid(TITLE, HEADERS[:-1], [line[:-1] for line in grid.lines])
        rewrite(PAGE, [without_seconds.markdown()])


def _cases(quick: bool) -> Iterator[Case]:
    adult = sd.datasets.load("adult-arx")
    if quick:
        yield Case("500 of Adult, k=5", adult_table(adult.select(*QUASI, SENSITIVE).head(500)), 5, 0, (0.01,))
        return
    table = adult_table(adult.select(*QUASI, SENSITIVE))
    yield Case("Adult, k=5", table, 5, 0, (0.01, 0.0))
    yield Case("Adult, k=5, l=3", table, 5, 3, (0.01, 0.0))
    yield Case("320,000 x 8, k=5", _months(adult, 320_000), 5, 0, (0.01,))
    yield Case("1,000,000 x 8, k=5", _months(adult, 1_000_000), 5, 0, (0.01,))
    yield Case(f"IPUMS, over {MANY:,} choices, k=5", _many_choices(), 5, 0, (0.01,))


def _months(adult: pl.DataFrame, rows: int) -> sd.Table:
    """Adult's rows drawn with replacement, with ages in months and the occupation as an eighth quasi attribute."""
    rng = np.random.default_rng(1)
    quasi = [*QUASI, SENSITIVE]
    files = {name: sd.datasets.path(f"arx_hierarchies/adult_hierarchy_{name}.csv") for name in quasi}
    trees = {name: sd.Hierarchy.from_csv(file) for name, file in files.items()}
    paths = [
        (str(int(path[0]) * MONTHS + month), *path) for path in trees["age"].rows() for month in range(MONTHS)
    ]
    trees["age"] = sd.Hierarchy.from_rows(paths)
    frame = adult.select(*quasi, "salary-class")[rng.integers(adult.height, size=rows)]
    months = frame["age"].to_numpy() * MONTHS + rng.integers(MONTHS, size=rows)
    schema = sd.Schema.from_roles(quasi=quasi, sensitive=["salary-class"], hierarchies=trees)
    return sd.read(frame.with_columns(pl.Series("age", months)), schema)


def _many_choices() -> sd.Table:
    """As many attributes of IPUMS, the last one sensitive, as have so many choices of levels."""
    frame = sd.datasets.load("ipums").drop_nulls()
    *names, sensitive = frame.columns
    for many in range(2, len(names)):
        schema = sd.Schema.from_roles(quasi=names[:many], sensitive=[sensitive])
        table = with_hierarchies(sd.read(frame.select(*names[:many], sensitive), schema))
        if Problem.of(table, [sd.KAnonymity(5)]).trees.choices > MANY:
            return table
    raise ValueError("IPUMS has too few choices of levels.")


def _measured(case: Case, arx: str | None) -> Iterator[list[str]]:
    asked: list[BlockRequirement] = [sd.KAnonymity(case.k), *([sd.LDiversity(case.l)] if case.l else [])]
    for effort in ("quick", "normal"):
        _ours(case.table, asked, effort)
        yield [case.words, f"minimal, {effort}", *_ours(case.table, asked, effort)]
    for metric in METRICS if arx else ():
        for step in case.steps:
            words = f"ARX, {metric}, {f'{step:.0%} at a time' if step else 'one at a time'}"
            yield [case.words, words, *_theirs(case, metric, step, str(arx))]
    print(f"{case.words}: done", file=sys.stderr, flush=True)


def _ours(table: sd.Table, asked: list[BlockRequirement], effort: Effort) -> list[str]:
    start = time.perf_counter()
    plan = learn_minimal(Problem.of(table, asked), effort=effort).plan(asked)
    located = plan.locate(table)
    frame = published(table, located)
    seconds = time.perf_counter() - start
    least = frame.group_by(table.names(sd.Role.quasi)).len()["len"].min()
    return [f"{distortion(located.outcome()):.4f}", str(least), f"{seconds:.2f}"]


def _theirs(case: Case, metric: str, step: float, arx: str) -> list[str]:
    table = case.table
    problem = Problem.of(table, [sd.KAnonymity(case.k)])
    (sensitive,) = table.names(sd.Role.sensitive)
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        _laid_out(table, problem, home)
        command = [
            "java",
            "-Xmx8g",
            "-cp",
            arx,
            str(DRIVER),
            folder,
            sensitive,
            str(case.k),
            str(case.l),
            metric,
            str(step),
        ]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            return [f"failed: {done.stderr.strip().splitlines()[-1]}", "", ""]
        output = pl.read_csv(home / "published.csv", separator=";", infer_schema=False)
        original = pl.read_csv(home / "table.csv", separator=";", infer_schema=False)
    least = output.group_by(problem.names).len()["len"].min()
    return [f"{_distortion(original, output, problem):.4f}", str(least), f"{float(done.stdout):.2f}"]


def _laid_out(table: sd.Table, problem: Problem, folder: Path) -> None:
    """Write the table with the lowest labels of its values, and a hierarchy for each attribute."""
    (folder / "hierarchies").mkdir()
    columns = {}
    for name, tree in zip(problem.names, problem.hierarchies, strict=True):
        rows = [list(map(str, path)) for path in tree.rows()]
        pl.DataFrame(rows, orient="row").write_csv(
            folder / "hierarchies" / f"{name}.csv", separator=";", include_header=False
        )
        columns[name] = table.frame()[name].cast(pl.String)
    (sensitive,) = table.names(sd.Role.sensitive)
    columns[sensitive] = table.frame()[sensitive].cast(pl.String)
    pl.DataFrame(columns).write_csv(folder / "table.csv", separator=";")


def _distortion(original: pl.DataFrame, output: pl.DataFrame, problem: Problem) -> float:
    """Read off the level of every published value: the lowest at which its own original value has this label."""
    total = 0.0
    for a, (name, tree) in enumerate(zip(problem.names, problem.hierarchies, strict=True)):
        paths = {str(path[0]): [str(label) for label in path] for path in tree.rows()}
        pairs = pl.DataFrame({"from": original[name], "to": output[name]}).group_by("from", "to").len()
        for value, label, rows in pairs.iter_rows():
            path = paths[value]
            level = path.index(label) if label in path else len(path) - 1
            total += level * problem.trees.step[a] * rows
    return total / len(original)


if __name__ == "__main__":
    main(quick="--quick" in sys.argv, page="--page" in sys.argv)
