"""P-views: what one costs to make, to ask, to save and to open, and how it stands beside peers.

`python -m benchmarks.pviews [--quick]`. Peers (MST and AIM of OpenDP with mbi, PrivBayes of DataSynthesizer) are not
dependencies of the project: if they are not installed, their rows say so; SUDARE_PEERS may name an interpreter that has
them (opendp[mbi], DataSynthesizer and pandas).
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Callable, Sequence
from functools import cache
from itertools import combinations
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl

import sudare as sd
from benchmarks.common import seconds, show
from benchmarks.peers import in_peer
from sudare.pview.domain import Domain
from sudare.pview.pview import PView
from sudare.utility.workloads import random_ranges, rmse, table_of, tables_rmse, truth
from sudare.verbs.materialize import materialize

BOUNDS = {
    "age": (17, 90),
    "fnlwgt": (12_285, 1_490_400),
    "education-num": (1, 16),
    "capital-gain": (0, 99_999),
    "capital-loss": (0, 4_356),
    "hours-per-week": (1, 99),
}
BINS = {"fnlwgt": 100, "capital-gain": 100, "capital-loss": 100}
NUMERIC = [*BOUNDS, "income"]
FOUR = ["age", "workclass", "race", "capital-gain"]
TWO = ["age", "capital-gain"]
PURE, DELTA = sd.DifferentialPrivacy(1.0), sd.DifferentialPrivacy(1.0, 1e-9)
RHO = 0.015  # of (1, 1e-9): what peers that count in rho get
QUERIES = 3_000
MILLION = 1_000_000
CROSSED = 0.1  # so many of a drawn row's values are another row's, so that rows stay distinct


@cache
def adult() -> pl.DataFrame:
    return sd.datasets.load("adult").with_columns(pl.col(pl.String).fill_null("?"))


def adult_of(names: Sequence[str], frame: pl.DataFrame | None = None) -> sd.Table:
    """Return some attributes of Adult, or of rows like its own, over declared domains."""
    schema = sd.Schema.from_roles(
        quasi=names,
        bounds={name: BOUNDS[name] for name in names if name in BOUNDS},
        bins={name: BINS[name] for name in names if name in BINS},
        domains={name: adult()[name].unique().sort().to_list() for name in names if name not in BOUNDS},
        missing="refuse",
    )
    return sd.read((adult() if frame is None else frame).select(names), schema)


def crossed(rows: int) -> pl.DataFrame:
    """Draw Adult's rows with replacement, and put other rows' values into a tenth of the cells."""
    rng = np.random.default_rng(1)
    own = rng.integers(adult().height, size=rows)
    return pl.DataFrame(
        [
            column.gather(np.where(rng.random(rows) < CROSSED, rng.integers(adult().height, size=rows), own))
            for column in adult()
        ]
    )


def uniform(rows: int, attributes: int = 10, size: int = 10) -> sd.Table:
    """Draw rows evenly from a domain of size^attributes cells."""
    codes = np.random.default_rng(1).integers(0, size, (rows, attributes))
    names = [f"a{i}" for i in range(attributes)]
    schema = sd.Schema.from_roles(quasi=names, bounds=dict.fromkeys(names, (0, size - 1)), missing="refuse")
    return sd.read(pl.DataFrame(dict(zip(names, codes.T, strict=True))), schema)


def main(quick: bool = False) -> None:
    frame = adult().head(500) if quick else adult()
    whole, numeric, four, two = (adult_of(names, frame) for names in (adult().columns, NUMERIC, FOUR, TWO))
    rows = 2_000 if quick else MILLION
    _pviews(
        [
            Case("Adult, 15 attributes", whole, "independent"),
            Case("Adult, 15 attributes", whole, "dp-mondrian"),
            Case("Adult, 15 attributes", whole, "pairs"),
            Case("Adult, 15 attributes", whole, "pairs", DELTA),
            Case("Adult, 4 attributes", four, "identity"),
            Case("Adult, 2 attributes", two, "dawa"),
            Case(f"{rows:,} rows, 10^10 cells", uniform(rows), "dp-mondrian"),
            Case(f"{rows:,} rows, 15 attributes", adult_of(adult().columns, crossed(rows)), "pairs"),
        ],
        100 if quick else QUERIES,
    )
    _beside_peers(numeric, 100 if quick else QUERIES, PEERS[:0] if quick else PEERS)


# -- time and size -------------------------------------------------------------------------------------


class Case(NamedTuple):
    """What is made of what."""

    words: str
    table: sd.Table
    method: str
    requirement: sd.DifferentialPrivacy = PURE

    @property
    def name(self) -> str:
        return self.method + (f", δ = {self.requirement.delta:g}" if self.requirement.delta else "")

    def make(self) -> PView:
        return materialize(self.table, self.requirement, self.method, unsafe_seed=1)


def _pviews(cases: Sequence[Case], queries: int) -> None:
    lines, first = [], None
    for case in cases:
        taken = seconds(case.make, 1 if len(case.table) >= MILLION else 3)
        first = first or taken
        lines.append(
            [case.words, case.name, f"{taken:.3f}", f"{taken / first:.1f}", *_asked(case.make(), queries)]
        )
    headers = ["table", "method", "make, s", "ratio to\nthe first", "size,\nKB", "open,\nms", "counts\nper s", "one count,\nms"]  # fmt: skip
    title = (
        "sd.materialize, epsilon = 1, best of three after warm-up (a million rows: one); the saved p-view's size; opening it; random "
        f"ranges in 3 attributes (or all), {queries:,} at once and one by name with its interval"
    )
    show(title, headers, lines)


def _asked(pview: PView, queries: int) -> list[str]:
    """Save, open and ask; return the size, and what each took."""
    workload = random_ranges(pview.domain.sizes, min(3, len(pview.domain.axes)), queries, seed=1)
    with tempfile.TemporaryDirectory() as folder:
        saved = pview.save(Path(folder) / "pview")
        size = sum(file.stat().st_size for file in saved.rglob("*") if file.is_file())
        opened = seconds(lambda: PView.open(saved))
        pview = PView.open(saved)
    many = seconds(lambda: pview.counts(workload.low, workload.high), 1)
    axis = pview.domain.axes[0]
    middle = (axis.low, (axis.low + axis.high) // 2)
    one = seconds(lambda: pview.where({axis.name: middle}))
    return [f"{size / 1024:,.0f}", f"{1e3 * opened:.1f}", f"{queries / many:,.0f}", f"{1e3 * one:.2f}"]


# -- peers ---------------------------------------------------------------------------------------------

# The functions run_* run by their source alone in another interpreter (see benchmarks.peers): each finds coded rows
# and the sizes of the attributes in a folder and leaves rows like them there.


def run_mbi(folder: str, algorithm: str = "MST") -> dict:
    import json
    import sys
    import time
    from importlib.metadata import version

    import mbi  # noqa: F401
    import opendp.prelude as dp
    import polars as pl

    dp.enable_features("contrib")
    frame = pl.read_csv(f"{folder}/codes.csv")
    told = json.load(open(f"{folder}/told.json"))  # noqa: SIM115, PTH123
    keys = {name: list(range(size)) for name, size in zip(frame.columns, told["sizes"], strict=True)}
    start = time.perf_counter()
    context = dp.Context.compositor(
        data=frame.lazy(),
        privacy_unit=dp.unit_of(contributions=1),
        privacy_loss=dp.loss_of(rho=told["rho"]),
    )
    # MST's shares can add up to more than all in their last bit, which OpenDP refuses: each gets a hair less.
    sys.modules[dp.mbi.MST.__module__].prior = lambda share: share * (1 - 1e-12)
    chosen = dp.mbi.AIM(queries=2) if algorithm == "AIM" else dp.mbi.MST()
    table = context.query(rho=told["rho"]).contingency_table(keys=keys, algorithm=chosen).release()
    # Drawn, which adds the error of drawing; "round" would tie attributes with a common neighbour to each other.
    rows = table.synthesize(method="sample")
    taken = time.perf_counter() - start
    rows.select(frame.columns).fill_null(0).write_csv(f"{folder}/rows.csv")
    return {"seconds": taken, "version": version("opendp")}


def run_privbayes(folder: str) -> dict:
    import json
    import time

    import pandas as pd
    from DataSynthesizer.DataDescriber import DataDescriber
    from DataSynthesizer.DataGenerator import DataGenerator

    source, described = f"{folder}/codes.csv", f"{folder}/described.json"
    told = json.load(open(f"{folder}/told.json"))  # noqa: SIM115, PTH123
    frame = pd.read_csv(source)
    start = time.perf_counter()
    describer = DataDescriber(category_threshold=max(told["sizes"]))
    describer.describe_dataset_in_correlated_attribute_mode(
        source,
        epsilon=1.0,
        k=1,  # with more parents its version 0.1.13 fails beside numpy 2
        attribute_to_is_categorical=dict.fromkeys(frame.columns, True),
        attribute_to_datatype=dict.fromkeys(frame.columns, "Integer"),
        seed=1,
    )
    describer.save_dataset_description_to_file(described)
    generator = DataGenerator()
    generator.generate_dataset_in_correlated_attribute_mode(len(frame), described, seed=1)
    taken = time.perf_counter() - start
    generator.synthetic_dataset.astype(int).to_csv(f"{folder}/rows.csv", index=False)
    return {"seconds": taken}


Peer = tuple[str, Callable[..., dict], list[str]]
PEERS: list[Peer] = [
    ("OpenDP's MST, ρ = 0.015", run_mbi, ["MST"]),
    ("OpenDP's AIM, ρ = 0.015", run_mbi, ["AIM"]),
    ("DataSynthesizer's PrivBayes, ε = 1", run_privbayes, []),
]


def _beside_peers(table: sd.Table, queries: int, peers: Sequence[Peer]) -> None:
    """Compare p-views of Adult's numbers with rows that peers make of the same cells."""
    domain = Domain.of(table.schema)
    counts, sizes = domain.counts(table), domain.sizes
    codes = np.repeat(counts.codes, counts.weights, axis=0)
    errors = _errors(codes, sizes, queries)
    lines = []
    for case in (Case("", table, method, given) for method, given in (("pairs", PURE), ("pairs", DELTA), ("dp-mondrian", PURE), ("independent", PURE))):  # fmt: skip
        pview, taken = case.make(), seconds(case.make)
        measured = errors(lambda axes, pview=pview: pview.model.table(axes, {}), pview.counts)
        lines.append([f"sudare, {case.name}", f"{taken:.2f}", *measured])
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        pl.DataFrame(dict(zip([f"a{i}" for i in range(len(sizes))], codes.T, strict=True))).write_csv(
            folder / "codes.csv"
        )
        (folder / "told.json").write_text(json.dumps({"sizes": sizes, "rho": RHO}))
        lines += [_peer(peer, folder, sizes, errors) for peer in peers]
    headers = ["method", "seconds", "2-way\nmarginals", "random\n2D", "random\n3D", "random\n4D"]
    show(f"RMSE on Adult's numbers and income ({len(table):,} rows), epsilon = 1, one seed", headers, lines)


def _errors(codes: Any, sizes: Sequence[int], queries: int) -> Callable[..., list[str]]:
    """Return what measures tables and counts: the RMSE of 2-way marginals, and of random ranges in 2, 3 and 4 attributes."""
    true, pairs = table_of(codes, sizes), list(combinations(range(len(sizes)), 2))
    workloads = [random_ranges(sizes, k, queries, seed=k) for k in (2, 3, 4)]
    exact = [truth(codes, workload.low, workload.high) for workload in workloads]

    def measure(table: Callable[..., Any], counts: Callable[..., Any]) -> list[str]:
        ranges = [rmse(e, counts(w.low, w.high)) for e, w in zip(exact, workloads, strict=True)]
        return [f"{tables_rmse(true, table, pairs):.1f}", *(f"{error:,.0f}" for error in ranges)]

    return measure


def _peer(peer: Peer, folder: Path, sizes: Sequence[int], errors: Callable[..., list[str]]) -> list[str]:
    words, work, arguments = peer
    outcome = in_peer(work, folder, *arguments)
    if "why" in outcome:
        return [f"{words}: {outcome['why']}", *["-"] * 5]
    rows = pl.read_csv(folder / "rows.csv").to_numpy().astype(np.int32)
    measured = errors(table_of(rows, sizes), lambda low, high: truth(rows, low, high))
    return [words, f"{outcome['seconds']:.2f}", *measured]


if __name__ == "__main__":
    main(quick="--quick" in sys.argv)
