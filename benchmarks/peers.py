"""Peers from PyPI beside our methods on Adult: anonypy and anjana publish it too, pycanon recounts what we publish.

Peers are not dependencies of the project: one that is not installed is named in its row. If they cannot live
beside our numpy and pandas, install them elsewhere and name that interpreter in the environment variable
SUDARE_PEERS; it needs the peers and nothing of ours. Peers that cannot live beside each other may have one each: as in
PATH, several are named with colons between. `python -m benchmarks.generalization` runs the peers of this file.
"""

from __future__ import annotations

import inspect
import json
import math
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

import sudare as sd
from benchmarks.common import (
    METHODS,
    QUASI,
    SENSITIVE,
    adult_table,
    block_sizes,
    publish,
    published,
    seconds,
    show,
)
from sudare.generalization.problem import Problem
from sudare.plans.generalization import Located
from sudare.privacy.requirement import BlockRequirement
from sudare.tables.counts import Counts
from sudare.utility.measures import utility_of
from sudare.utility.outcome import Outcome

Case = tuple[str, list[BlockRequirement]]
"""What is required, in words and as requirements."""


def main(table: sd.Table, cases: Sequence[Case]) -> None:
    """Print Adult at k=5 beside the peers, then a second opinion on what we publish for each case."""
    with tempfile.TemporaryDirectory() as folder:
        _beside_peers(table, Path(folder))
        _second_opinion(table, cases, Path(folder))


# The functions run_* run by their source alone in another interpreter, so each imports what it needs. They
# find the table, the hierarchies (JSON: a list of labels per level) and our output in a folder, and return
# plain data. The clock starts when the peer has the rows in memory and stops when it has published them.


def run_anonypy(folder: str) -> dict:
    import json
    import time

    import anonypy
    import pandas as pd

    frame = pd.read_csv(f"{folder}/table.csv")
    quasi = list(json.load(open(f"{folder}/hierarchies.json")))  # noqa: SIM115, PTH123
    sensitive = frame.columns[-1]
    start = time.perf_counter()
    for name in frame.columns:
        if not pd.api.types.is_numeric_dtype(frame[name]):
            frame[name] = frame[name].astype("category")
    rows = anonypy.Preserver(frame, quasi, sensitive).anonymize_k_anonymity(k=5)
    published = pd.DataFrame(
        [{name: row[name][0] for name in quasi} | {"count": row["count"]} for row in rows]
    )
    taken = time.perf_counter() - start
    for name in quasi:  # equal sets are one text to a reader, in whichever order they are printed
        published[name] = [",".join(sorted(text.split(","))) for text in published[name]]
    published.to_csv(f"{folder}/anonypy.csv", index=False)
    return {"seconds": taken, "pandas": pd.__version__}


def run_anjana(folder: str) -> dict:
    import json
    import time

    import pandas as pd
    from anjana.anonymity import k_anonymity

    frame = pd.read_csv(f"{folder}/table.csv", dtype=str)
    rows = json.load(open(f"{folder}/hierarchies.json"))  # noqa: SIM115, PTH123
    start = time.perf_counter()
    hierarchies = {name: dict(enumerate(map(list, levels))) for name, levels in rows.items()}
    published = k_anonymity(frame, [], list(rows), 5, 5, hierarchies)
    taken = time.perf_counter() - start
    published[list(rows)].to_csv(f"{folder}/anjana.csv", index=False)
    return {"seconds": taken, "pandas": pd.__version__}


def run_pycanon(folder: str) -> dict:
    import json
    import time

    import pandas as pd
    from pycanon import anonymity

    frame = pd.read_csv(f"{folder}/ours.csv", dtype=str)
    quasi = list(json.load(open(f"{folder}/hierarchies.json")))  # noqa: SIM115, PTH123
    asked = json.load(open(f"{folder}/asked.json"))  # noqa: SIM115, PTH123
    sensitive = [frame.columns[-1]]
    measures = {
        "k": lambda: anonymity.k_anonymity(frame, quasi),
        "l_distinct": lambda: anonymity.l_diversity(frame, quasi, sensitive),
        "l_entropy": lambda: anonymity.entropy_l_diversity(frame, quasi, sensitive),
    }
    taken = []
    for _ in range(3):
        start = time.perf_counter()
        measured = {name: int(measures[name]()) for name in asked}
        taken.append(time.perf_counter() - start)
    return {"measured": measured, "seconds": min(taken)}


PACKAGES = {"mbi": "'opendp[mbi]' pandas", "privbayes": "DataSynthesizer", "snsynth": "smartnoise-synth"}
"""What to install, where the name of the function does not say it."""
ABSENT, STOPPED = "not installed", "stopped after"


def in_peer(
    work: Callable[..., dict], folder: Path, *more: str, limit: float | None = None
) -> dict[str, Any]:
    """Run a function in the first interpreter that has what it needs, on a folder and what more it takes, for some seconds at most.

    The key 'why' says why there is no result.
    """
    name, outcome = work.__name__.removeprefix("run_"), {}
    source = f"{inspect.getsource(work)}\nimport json, sys\nprint(json.dumps({work.__name__}(*sys.argv[1:])))"
    for python in (os.environ.get("SUDARE_PEERS") or sys.executable).split(os.pathsep):
        outcome = _outcome([python, "-c", source, str(folder), *more], name, limit)
        if not outcome.get("why", "").startswith(ABSENT):
            break
    return outcome


def _outcome(command: list[str], name: str, limit: float | None) -> dict[str, Any]:
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=limit)
    except subprocess.TimeoutExpired:
        return {"why": f"{STOPPED} {limit:,.0f} s"}
    except OSError as error:
        return {"why": f"SUDARE_PEERS names no interpreter that can be started: {error.strerror}"}
    if done.returncode == 0:
        return json.loads(done.stdout.splitlines()[-1])
    reason = (done.stderr.splitlines() or [f"exit status {done.returncode}"])[-1]
    if reason.startswith("ModuleNotFoundError"):
        return {"why": f"{ABSENT}: pip install {PACKAGES.get(name, name)}"}
    return {"why": f"cannot run here ({reason}); install it elsewhere and name that python in SUDARE_PEERS"}


def _write_exchange(table: sd.Table, ours: pl.DataFrame, folder: Path) -> None:
    table.frame().select(*QUASI, SENSITIVE).write_csv(folder / "table.csv")
    ours.select(*QUASI, SENSITIVE).write_csv(folder / "ours.csv")
    levels = {name: list(zip(*table.schema[name].hierarchy.rows(), strict=True)) for name in QUASI}
    (folder / "hierarchies.json").write_text(json.dumps(levels))


def _beside_peers(table: sd.Table, folder: Path) -> None:
    lines, frame = [], table.frame()
    full_domain = sd.methods.FullDomain(suppress=0.05)
    learned = {
        "full-domain, 5% suppressed at most": lambda _, requirements: full_domain.learn(table, requirements)
    }
    for method, learn in (learned | METHODS).items():
        requirements: list[BlockRequirement] = [sd.KAnonymity(5)]
        # As for the peers, the clock starts with the rows in memory: here reading (into codes) is part of the job.
        job = seconds(lambda f=learn, r=requirements: publish(adult_table(frame), r, f))
        located = learn(Problem.of(table, requirements), requirements).locate(table)
        ours = published(table, located)
        sizes = block_sizes(ours, QUASI)
        utility = utility_of(located.outcome(), sizes)
        sets = None if method in learned else _ncp_of_sets(located)
        lines.append([*_peer_line(f"sudare {method}", utility, sets, sizes, len(table), job), "best of 3"])
    _write_exchange(table, ours, folder)
    for name, work, nodes in (
        ("anonypy Mondrian", run_anonypy, _node_of_set),
        ("anjana, 5% suppressed at most", run_anjana, _node_of_label),
    ):
        result = in_peer(work, folder)
        if "why" in result:
            lines.append([name, *["-"] * 8, result["why"]])
            continue
        file = folder / f"{work.__name__.removeprefix('run_')}.csv"
        theirs = pl.read_csv(file, infer_schema=False)
        utility, own, sizes = _measured(theirs, table, nodes)
        sets = own if nodes is _node_of_set else None
        line = _peer_line(name, utility, sets, sizes, len(table), result["seconds"])
        lines.append([*line, f"one run, pandas {result['pandas']}"])
    headers = [
        "k=5 on Adult",
        "DIS",
        "NCP",
        "NCP of\nranges, sets",
        "DM",
        "blocks",
        "least\nblock",
        "left\nout",
        "whole\njob, s",
        "note",
    ]
    where = (
        "the interpreter that SUDARE_PEERS names" if os.environ.get("SUDARE_PEERS") else "this interpreter"
    )
    show(f"Peers from PyPI, run in {where}; measured by us from what they publish", headers, lines)


def _peer_line(
    name: str, utility: dict[str, Any], sets: float | None, sizes: np.ndarray, rows: int, job: float
) -> list[str]:
    return [
        name,
        f"{utility['distortion']:.4f}",
        f"{utility['ncp']:.4f}",
        "-" if sets is None else f"{sets:.4f}",
        f"{utility['discernibility']:,}",
        f"{len(sizes):,}",
        f"{sizes.min()}",
        f"{rows - sizes.sum():,}",
        f"{job:.3f}",
    ]


def _ncp_of_sets(located: Located) -> float:
    """NCP if the blocks published their own ranges of numbers and sets of values, as anonypy does."""
    table, counts = located.table, located.counts
    tuples = pl.DataFrame([table[name].decode(counts.column(name)) for name in QUASI])
    blocks = tuples.with_columns(_block=located.block_of, _records=counts.weights).group_by("_block")
    losses = []
    for name in QUASI:
        column = pl.col(name)
        number = table[name].values.dtype.is_numeric()
        extra = column.max() - column.min() if number else column.n_unique() - 1
        by_block = blocks.agg(extra=extra, size=pl.col("_records").sum())
        cells = float((by_block["extra"] * by_block["size"]).sum())
        losses.append(cells / (len(table) * (len(table.schema[name].hierarchy.leaves) - 1)))
    return float(np.mean(losses))


Node = tuple[int, int, int]
"""A leaf, the level that it climbed to, and how many values the published text itself stands for."""


def _measured(
    published: pl.DataFrame, table: sd.Table, node_of: Callable[[sd.Hierarchy, str], Node]
) -> tuple[dict[str, Any], float, np.ndarray]:
    """Measure a peer's output with our measures: all of them, NCP by its own sets, and the block sizes.

    Convention: a published text is read as the lowest node of the hierarchy that covers all values it stands
    for. The measures ask only which node a cell is at and how many leaves lie under it, so any leaf under the
    node may stand for the original value, and neither the order of the rows nor their ids matter (anonypy
    publishes counts of equal rows; it keeps no ids). A range or a set may be narrower than that node:
    "NCP of ranges, sets" counts its own values instead. DM and blocks are counted by the published texts.
    Records that are left out are at the root.
    """
    if "count" in published.columns:
        repeats = published["count"].cast(pl.Int64).to_numpy()
        published = published.drop("count")[np.repeat(np.arange(published.height), repeats)]
    out = len(table) - published.height
    leaves, levels, widths = {}, [], []
    for name in QUASI:
        hierarchy = table.schema[name].hierarchy
        texts = published[name].unique(maintain_order=True)
        nodes = np.array([node_of(hierarchy, text) for text in texts])
        place = np.append(
            published[name].replace_strict(texts, range(len(texts)), return_dtype=pl.Int64).to_numpy(),
            np.full(out, -1),
        )
        leaf, level, stands_for = np.vstack([nodes, [0, hierarchy.height, len(hierarchy.leaves)]])[place].T
        leaves[name] = pl.Series(hierarchy.leaves).gather(leaf)
        levels.append(level)
        widths.append((stands_for - 1) / (len(hierarchy.leaves) - 1))
    schema = sd.Schema.from_roles(quasi=QUASI, hierarchies={n: table.schema[n].hierarchy for n in QUASI})
    stand_in = sd.read(pl.DataFrame(leaves), schema)
    order = [QUASI.index(name) for name in stand_in.names("quasi")]
    sizes = block_sizes(published, QUASI)
    kept = np.arange(len(table)) < published.height
    outcome = Outcome.of(stand_in, np.stack(levels)[order].T, kept, _rows(stand_in))
    return utility_of(outcome, sizes), float(np.mean(widths)), sizes


def _rows(table: sd.Table) -> Counts:
    """The rows as they stand, one entry each."""
    columns = [table.rows.column(name) for name in table.names("quasi")]
    codes = np.column_stack([column.codes for column in columns]).astype(np.int32)
    sizes = tuple(column.dictionary.size for column in columns)
    return Counts(tuple(column.name for column in columns), codes, np.ones(len(table), dtype=np.int64), sizes)


def _node_of_set(hierarchy: sd.Hierarchy, text: str) -> Node:
    """Read anonypy's cells: "17-25" and "17" are numbers, "a,b" and "a" are sets."""
    low, _, high = text.partition("-")
    if low.isdigit() and (not high or high.isdigit()):
        values = [str(number) for number in range(int(low), int(high or low) + 1)]
    else:
        values = text.split(",")
    leaves = hierarchy.find(pl.Series(values))
    if (leaves < 0).any():
        raise ValueError(f"{text!r} is not made of values of the hierarchy.")
    return int(leaves[0]), int(hierarchy.meet(leaves[0], leaves).max()), len(values)


def _node_of_label(hierarchy: sd.Hierarchy, text: str) -> Node:
    """Read anjana's cells: labels of a level; the lowest, where a label is on several."""
    level = next(i for i, labels in enumerate(hierarchy.labels) if text in labels)
    under = np.flatnonzero(hierarchy.codes[level] == hierarchy.labels[level].index(text))
    return int(under[0]), level, len(under)


def _second_opinion(table: sd.Table, cases: Sequence[Case], folder: Path) -> None:
    """Let pycanon, which only measures, recount what we publish, beside our own verification."""
    lines = []
    for words, requirements in cases:
        release = sd.generalize(table, requirements, "minimal")
        certified = release.certificate.measured
        _write_exchange(table, release.data, folder)
        (folder / "asked.json").write_text(json.dumps(list(certified)))
        ours = seconds(lambda r=release, q=requirements: sd.verify(r.data, q, table.schema))
        theirs = in_peer(run_pycanon, folder)
        line = [words, _values(certified), f"{ours:.3f}"]
        if "why" in theirs:
            lines.append([*line, "-", "-", theirs["why"]])
            continue
        # pycanon cuts the l of entropy l-diversity down to a whole number, and 2.9999999999999996 to 2.
        agrees = theirs["measured"] == {name: math.floor(value) for name, value in certified.items()}
        verdict = "yes" if agrees else "NO"
        if not agrees and "l_entropy" in certified:
            exact = _entropy_holds(release.data, int(certified["l_entropy"]))
            verdict += f"; exact integers: l is {'not ' * (not exact)}{int(certified['l_entropy'])}"
        lines.append([*line, _values(theirs["measured"]), f"{theirs['seconds']:.3f}", verdict])
    headers = ["required", "our certificate", "sd.verify, s", "pycanon", "pycanon, s", "agrees"]
    show("A second opinion: pycanon recounts what minimal publishes of Adult; best of 3", headers, lines)


def _entropy_holds(published: pl.DataFrame, l: int) -> bool:
    """Whether every block has entropy log l or more, without rounding: n^n >= l^n times the product of all c^c."""
    counts = published.group_by(*QUASI, SENSITIVE).len().group_by(QUASI).agg("len")["len"].to_list()
    return all(sum(c) ** sum(c) >= l ** sum(c) * math.prod(x**x for x in c) for c in counts)


def _values(measured: dict[str, float]) -> str:
    return ", ".join(f"{name} {value:.4g}" for name, value in measured.items())
