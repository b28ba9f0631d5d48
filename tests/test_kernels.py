"""Compiling costs every user seconds: a kernel is compiled once, for one type and one layout of each array."""

from __future__ import annotations

import subprocess
import sys

import pytest

WALK = """
import sys, tempfile
import numba
import numpy as np
import polars as pl
import sudare as sd
from sudare.noise.keystream import Keystream
from sudare.noise.sampling import sample_below, sample_matrix, sample_retention

rng = np.random.default_rng(0)
ROOMS = (
    "tables", "engines", "privacy", "utility", "noise", "similarity", "plans", "attacks", "generalization", "pview",
    "randomization", "suitability", "ledger",
)


def table(axes):
    schema = sd.Schema.from_roles(quasi=[f"a{i}" for i in range(axes)], bounds={f"a{i}": (0, 300) for i in range(axes)})
    path = tempfile.mkstemp(suffix=".csv")[1]
    pl.DataFrame({f"a{i}": rng.integers(0, 300, 20_000) for i in range(axes)}).write_csv(path)
    return sd.read(path, schema)


METHODS = ((1, "dawa", 0), (2, "dawa", 1e-6), (1, "dp-mondrian", 0), (3, "dp-mondrian", 1e-6), (1, "pairs", 0), (3, "pairs", 1e-6))
for axes, method, delta in METHODS:
    made = sd.materialize(table(axes), sd.DifferentialPrivacy(20.0, delta), method)
    for pview in (made, sd.PView.open(made.save(tempfile.mkdtemp() + "/pview"))):
        pview.count(a0=(10, 70))
        pview.marginal("a0")
        pview.sql("SELECT a0, COUNT(*) FROM view GROUP BY a0")
        pview.sample(10)
        low = np.zeros((3, axes), dtype=np.int64)
        for dtype in (np.int32, np.int64):
            pview.counts(low.astype(dtype), low.astype(dtype))
            pview.errors(low.astype(dtype), low.astype(dtype))
for dtype in (np.uint8, np.uint16, np.uint32):
    codes = np.zeros(9, dtype=dtype)
    sample_retention(codes, np.array([0.5, 0.5]), Keystream())
    sample_matrix(codes, np.full((2, 2), 0.5), Keystream())
sample_below(5, 7, Keystream())
frame = pl.DataFrame({"zip": ["1", "1", "2"], "ill": ["a", "b", "a"]})
schema = sd.Schema.from_roles(quasi=["zip"], sensitive=["ill"])
sd.attack({"one": frame, "two": frame}, schema, kind="intersection", known=frame.select("zip"))

ILL = {"flu": "lungs", "cold": "lungs", "HIV": "blood", "gout": "joints"}
domains = {"town": ["Ayr", "Bath", "Cork"], "sex": ["f", "m"], "ill": list(ILL)}
frame = pl.DataFrame({"age": rng.integers(20, 60, 90), **{name: rng.choice(domain, 90) for name, domain in domains.items()}})
schema = sd.Schema.from_roles(
    quasi=["age", "town", "sex"], sensitive=["ill"], bounds={"age": (0, 99)}, domains=domains,
    hierarchies={"ill": {"kind": "groups", "groups": ILL}},
)
people = sd.read(frame, schema)
DIVERSE = [sd.LDiversity(2), sd.LDiversity(1.5, "entropy"), sd.LDiversity(2, "recursive", c=9)]
for asked in ([sd.KAnonymity(4)], DIVERSE, [sd.TCloseness(0.8, kind) for kind in ("equal", "ordered", "hierarchical")]):
    for method in ("minimal", "mondrian", "full-domain"):
        assert sd.generalize(people, asked, method).holder
for measure in ("distortion", "ncp", "discernibility"):
    assert sd.generalize(people, [sd.KAnonymity(4), *DIVERSE], sd.methods.FullDomain(0.3, measure)).holder
assert sd.generalize(people, sd.KAnonymity(4), suppress=0.1).holder
for kind in ("distinct", "posterior"):
    for score in ("narrow", "paper"):
        views = {"one": ["age", "sex"], "two": ["town", "sex"]}
        assert sd.generalize_views(people, views, sd.MultiViewDiversity(2, kind), score=score).holder
for diversity in ("distinct", "entropy"):
    sd.assess(people, l=2, diversity=diversity, tight=True)
for how in ("retain", "optimal", "bits", "noise"):
    assert sd.randomize(people, sd.DifferentialPrivacy(4, per="record"), how={"age": how}).holder

for name, module in sorted(sys.modules.items()):
    if name.startswith(tuple(f"sudare.{room}." for room in ROOMS)):
        for kernel in vars(module).values():
            if isinstance(kernel, numba.core.dispatcher.Dispatcher) and kernel.py_func.__module__ == name:
                print(len(kernel.signatures), f"{name}.{kernel.py_func.__name__}")
"""

CALLED = (
    "attacks._kernels.mark_blocks attacks._kernels.add_records "
    "generalization._kernels.sweep generalization._improve._improve generalization._mondrian._mondrian generalization._refine._refine "
    "generalization._lattice.divide generalization._lattice.weigh "
    "generalization._views.cut_views generalization._paper_views.cut_views "
    "noise._categories.retain noise._categories.alias_tables noise._categories.exchange "
    "noise._chacha.fill_words noise._chacha.fill_below noise._chacha.tap "
    "noise._exponential.fill_laplace noise._exponential.fill_gaussian noise._exponential.choose "
    "pview._boxes.arrange pview._boxes.bounds pview._boxes.count pview._boxes.weigh pview._boxes.spread pview._boxes.put "
    "pview._boxes.errors pview._mondrian.grow pview._dawa.interval_errors pview._dawa.cheapest "
    "pview._pairs.weigh_pairs pview._pairs.keys_of pview._pairs.rake pview._pairs.draw_given "
    "privacy._kernels.entropies privacy._kernels.recursive_ls "
    "privacy._views.block_sets privacy._views.keep_common privacy._views.weigh "
    "suitability._tolls.lower_prices suitability._tolls.add_pulls suitability._tolls.adjust "
    "tables._kernels.scan_csv tables._kernels.count_dense tables._kernels.unpack"
).split()


@pytest.fixture(scope="module")
def compiled() -> dict[str, int]:
    """How many forms of each kernel a walk through the rooms needs, in a process that did nothing else."""
    done = subprocess.run([sys.executable, "-c", WALK], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return {name: int(forms) for forms, name in (line.split() for line in done.stdout.splitlines())}


def test_each_kernel_has_one_form(compiled: dict[str, int]) -> None:
    assert {name: forms for name, forms in compiled.items() if forms > 1} == {}


def test_the_walk_passes_through_the_kernels(compiled: dict[str, int]) -> None:
    """What it never comes by could not fail. (Kernels that only kernels call are not loaded if those were compiled before.)"""
    assert [name for name in CALLED if not compiled[f"sudare.{name}"]] == []
