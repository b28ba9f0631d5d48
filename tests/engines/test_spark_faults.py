"""Spark with executors of its own: a killed one changes nothing, and a killed driver leaves nothing that looks finished."""

from __future__ import annotations

import json
import os
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest

import sudare as sd
from sudare.engines.relational import Relational
from tests.spark import needs_spark, run

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
PEOPLE = sd.datasets.health_survey(2000).select("age", "sex", "diagnosis")
SCHEMA = sd.Schema.from_roles(
    quasi=["age", "sex"],
    sensitive=["diagnosis"],
    bounds={"age": (0, 120)},
    domains={name: sorted(PEOPLE[name].unique()) for name in ("sex", "diagnosis")},
)
KILLING = """
import os, signal, threading, time
from pathlib import Path

import sudare as sd
from sudare.engines import spark
from sudare.engines.relational import Relational
from sudare.engines.spark import Spark
from tests.engines.test_spark_faults import PEOPLE, SCHEMA
from tests.spark import SMALL, running


def command(process):
    try:
        return process.read_text()
    except OSError:  # it has ended
        return ""


def executors(context):
    own = [p for p in Path("/proc").glob("[0-9]*/cmdline") if context.applicationId in command(p)]
    return [int(p.parent.name) for p in own if "CoarseGrainedExecutorBackend" in command(p)]


def kill_an_executor(context):
    while not context.statusTracker().getActiveStageIds():
        time.sleep(0.001)
    os.kill(executors(context)[0], signal.SIGKILL)
    print("killed", flush=True)


def killing(method, context):
    '''Kill an executor while Spark is at work for a method, when that is first called.'''
    killers = []

    def called(self, *given):
        if not killers:
            killers.append(threading.Thread(target=kill_an_executor, args=[context]))
            killers[0].start()
        return method(self, *given)

    return called


with running("local-cluster[2,1,1024]", SMALL | {"spark.sql.shuffle.partitions": "2"}) as session:
    table = sd.read(PEOPLE, SCHEMA, engine=session)
    Spark.store = killing(Spark.store, session.sparkContext)
    sd.generalize(table, [sd.KAnonymity(5), sd.LDiversity(2)]).write("generalized")
    while len(executors(session.sparkContext)) < 2:  # another one takes its place
        time.sleep(0.1)
    Relational.max_tuples, all_at_once = 300, Relational.max_tuples
    Spark.each_part = killing(Spark.each_part, session.sparkContext)
    by_regions = sd.generalize(table, [sd.KAnonymity(5), sd.LDiversity(2)])
    assert not by_regions.plan.warnings
    by_regions.write("by-regions")
    Relational.max_tuples = all_at_once
    while len(executors(session.sparkContext)) < 2:
        time.sleep(0.1)
    Spark.keep = killing(Spark.keep, session.sparkContext)
    spark.SMALL = 0  # nothing is remembered
    release = sd.randomize(table, sd.PkAnonymity(4), unsafe_seed=1)
    release.write("randomized")
    release.write("again")
"""


def test_a_killed_executor_changes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    needs_spark()
    monkeypatch.chdir(tmp_path)
    assert run(KILLING, PYTHONPATH=_with_tests()).split() == ["killed", "killed", "killed"]
    table = sd.read(PEOPLE, SCHEMA)
    sd.generalize(table, [sd.KAnonymity(5), sd.LDiversity(2)]).write("expected")
    assert _data("generalized") == _data("expected")
    monkeypatch.setattr(Relational, "max_tuples", 300)
    there = sd.read(PEOPLE, SCHEMA, engine="duckdb")
    sd.generalize(there, [sd.KAnonymity(5), sd.LDiversity(2)]).write("expected-by-regions")
    assert len(list(Path("by-regions/keep").glob("region.*"))) > 4
    assert _data("by-regions") == _data("expected-by-regions")
    law = sd.randomize(table, sd.PkAnonymity(4), unsafe_seed=1).handed_over.law
    assert json.loads(Path("randomized/hand-over/law.json").read_text()) == law
    assert _data("randomized") == _data("again")  # what was drawn once is what is published
    assert sd.verify("generalized").holds
    assert sd.verify("randomized").holds


WRITING = """
import time

import sudare as sd
from sudare.tables import atomic
from tests.engines.test_spark_faults import PEOPLE, SCHEMA
from tests.spark import SMALL, running

atomic._rename = lambda *_: time.sleep(600)  # at the latest it is killed before the folder gets its name
with running("local[1]", SMALL) as session:
    table = sd.read(PEOPLE, SCHEMA, engine=session)
    sd.generalize(table, sd.KAnonymity(5)).write("out")
"""


@pytest.mark.parametrize("with_its_jvm", [False, True])
@pytest.mark.parametrize("sign", ["held/sudare-spark-*/relation_*", ".out.partial-*/hand-over/*"])
def test_a_killed_driver_leaves_nothing_that_looks_finished(
    with_its_jvm: bool, sign: str, tmp_path: Path
) -> None:
    needs_spark()
    held = tmp_path / "held"
    held.mkdir()
    driver = subprocess.Popen(
        [sys.executable, "-W", "ignore", "-c", WRITING],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": _with_tests(), "TMPDIR": str(held)},
        stderr=subprocess.DEVNULL,
        start_new_session=True,  # its JVM is of the same group
    )
    while driver.poll() is None and not list(tmp_path.glob(sign)):
        time.sleep(0.005)
    if with_its_jvm:
        os.killpg(driver.pid, signal.SIGKILL)
    else:
        driver.kill()
    assert driver.wait() == -signal.SIGKILL
    assert not (tmp_path / "out").exists()
    for folder in held.glob("sudare-spark-*"):  # what is left of the rows is its owner's alone
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    sd.generalize(sd.read(PEOPLE, SCHEMA), sd.KAnonymity(5)).write(tmp_path / "out")


def _with_tests() -> str:
    return os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])


def _data(folder: str) -> bytes:
    return Path(folder, "hand-over", "data.parquet").read_bytes()
