"""Work that Spark's executors do, a task for each part of a relation.

They carry functions of ours out, so Sudare must be installed where they are, in the version that is here.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any, NamedTuple

import polars as pl

import sudare
from sudare import threads
from sudare.engines.database import Work
from sudare.engines.sizes import free_memory
from sudare.engines.spark_sessions import is_local

ASKED = 4  # tasks that tell what it is like where they run
TRIED = 20  # keys for each task, of which one comes to it alone, as good as surely
PIECE = 2**20  # bytes of a file that travel in one row
FACTS = "version STRING, free BIGINT, cores BIGINT"
FILES = "part BIGINT, name STRING, piece BIGINT, content BINARY"
INSTALL = (
    f'Install it there (pip install "sudare[spark]=={sudare.__version__}"); PYSPARK_PYTHON says which Python it is that runs '
    "there."
)


class Executors(NamedTuple):
    """What it is like where tasks run."""

    memory: int
    """How many bytes a task may take: its share of a quarter of what is free."""
    lacking: str = ""
    """Why no work of ours can be done there."""

    @classmethod
    def of(cls, session: Any) -> Executors:
        """Ask some tasks; where Sudare cannot be imported, Spark raises an error."""
        with our_python(session):
            asked = session.range(0, ASKED, 1, ASKED).mapInArrow(_facts, FACTS)
            facts = pl.DataFrame(asked.toArrow())
        own = session.conf.get("spark.executor.cores", None)
        cores = int(own) if own else int(facts["cores"].max())  # type: ignore[arg-type]
        other = facts["version"].filter(facts["version"] != sudare.__version__).to_list()
        lacking = f"Sudare is {other[0]} there, and {sudare.__version__} here" if other else ""
        return cls(int(facts["free"].min()) // 4 // max(cores, 1), lacking)  # type: ignore[arg-type]


@contextmanager
def our_python(session: Any) -> Iterator[None]:
    """Let workers on this machine run the Python that we run, unless somebody says which one it is to be."""
    if not is_local(session) or "PYSPARK_PYTHON" in os.environ:
        yield
        return
    context = session.sparkContext
    before, context.pythonExec = context.pythonExec, sys.executable
    try:
        yield
    finally:
        context.pythonExec = before


def separate_keys(session: Any, tasks: int) -> list[int]:
    """Return a key for each of so many tasks, by which Spark puts rows into as many partitions: most likely one into each."""
    of_partition = f"SELECT min(id) AS key FROM range({TRIED * tasks}) GROUP BY pmod(hash(id), {tasks})"
    found = sorted(session.sql(of_partition).toArrow()["key"].to_pylist())
    return [*found, *range(TRIED * tasks, TRIED * tasks + tasks - len(found))]


def in_tasks(rows: Any, tasks: int, work: Work) -> Any:
    """Return the files that come of each part of some rows: the work is done when somebody asks for them.

    All rows with one key come into one partition, of as many as there are tasks.
    """
    return rows.repartition(tasks, "key").drop("key").mapInArrow(partial(_done, work), FILES)


def _facts(batches: Iterator[Any]) -> Iterator[Any]:
    for _ in batches:
        own = {"version": [sudare.__version__], "free": [free_memory()], "cores": [os.cpu_count() or 1]}
        yield from _sent(pl.DataFrame(own))


def _done(work: Work, batches: Iterator[Any]) -> Iterator[Any]:
    """Do the work for the rows of a partition, which are those of one part, as good as surely, or of none."""
    threads.use(int(os.environ.get("OMP_NUM_THREADS", "1")))  # Spark says by this how many cores a task has
    rows = [pl.DataFrame(batch) for batch in batches]
    for own in pl.concat(rows).partition_by("part") if rows else []:
        part = own["part"][0]
        for name, content in work(own.drop("part")).items():
            for start in range(0, max(len(content), 1), PIECE):
                piece = {
                    "part": part,
                    "name": name,
                    "piece": start,
                    "content": content[start : start + PIECE],
                }
                yield from _sent(pl.DataFrame([piece]))


def _sent(frame: pl.DataFrame) -> Iterator[Any]:
    table = frame.to_arrow(compat_level=pl.CompatLevel.oldest())  # the texts and bytes that Spark knows
    return iter(table.to_batches())
