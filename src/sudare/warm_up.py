"""Compile everything now, on all cores: each walk passes through the kernels of one kind of release, on made-up people.

A kernel is compiled when it is first called, and found compiled by every later process. So an image, a server or a test run that
walks here once never waits for the compiler again.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context
from pathlib import Path
from threading import Thread
from typing import Any

import numpy as np
import polars as pl

import sudare as sd
from sudare.generalization.efforts import SEARCHES
from sudare.generalization.mondrian import cut_whole
from sudare.generalization.problem import Problem
from sudare.generalization.recoding import Recoding
from sudare.generalization.refining import refined
from sudare.noise.keystream import Keystream
from sudare.noise.sampling import permute_and_flip, sample_below, sample_matrix, sample_retention
from sudare.randomization.channel import MatrixChannel
from sudare.similarity.pairs import Marks, kth_likeness
from sudare.tables.recipes import GroupsRecipe

ILLNESSES = {"flu": "lungs", "cold": "lungs", "HIV": "blood", "gout": "joints"}
DOMAINS = {"town": ["Ayr", "Bath", "Cork"], "sex": ["f", "m"], "ill": list(ILLNESSES)}
DIVERSE = [sd.LDiversity(2), sd.LDiversity(1.5, "entropy"), sd.LDiversity(2, "recursive", c=9)]


def walk_all() -> Iterator[str]:
    """Take all walks, several at a time; yield the name of each when it is done."""
    with ProcessPoolExecutor(mp_context=get_context("spawn")) as processes:
        for done in as_completed(processes.submit(_walked, name) for name in WALKS):
            yield done.result()


def walk_ahead(name: str) -> None:
    """Take one walk, for a process that waits for what comes last in it; end when that one ends (`ahead.py`)."""
    Thread(target=_end_with_caller, daemon=True).start()
    WALKS[name]()


def _end_with_caller() -> None:
    sys.stdin.buffer.read()  # which it holds open, and writes nothing to
    os._exit(0)


def _walked(name: str) -> str:
    WALKS[name]()
    return name


def _people() -> sd.Table:
    rng = np.random.default_rng(0)
    drawn = {name: rng.choice(domain, 90) for name, domain in DOMAINS.items()}
    schema = sd.Schema.from_roles(
        quasi=["age", "town", "sex"],
        sensitive=["ill"],
        bounds={"age": (0, 99)},
        domains=DOMAINS,
        hierarchies={"ill": GroupsRecipe(kind="groups", groups=ILLNESSES)},
    )
    return sd.read(pl.DataFrame({"age": rng.integers(20, 60, 90), **drawn}), schema)


def _many_attributes() -> sd.Table:
    """Return so many attributes that no method looks at all choices of their levels."""
    codes = np.random.default_rng(0).integers(0, 9, (60, 25)).astype(str)
    frame = pl.DataFrame({f"a{i}": codes[:, i] for i in range(codes.shape[1])})
    masks = {name: sd.Hierarchy.mask([str(digit) for digit in range(9)]) for name in frame.columns}
    first, *others = frame.columns
    return sd.read(frame, sd.Schema.from_roles(quasi=others, sensitive=[first], hierarchies=masks))


def _generalize() -> None:
    people = _people()
    close = [sd.TCloseness(0.8, kind) for kind in ("equal", "ordered", "hierarchical")]
    for asked in ([sd.KAnonymity(4)], DIVERSE, close):
        for method in ("minimal", "mondrian"):
            sd.generalize(people, asked, method)
    sd.generalize(people, sd.KAnonymity(4), suppress=0.1)
    sd.generalize(people, sd.KAnonymity(4), effort="thorough")
    sd.generalize(_many_attributes(), sd.KAnonymity(4))


def _refine() -> None:
    people = Problem.of(_people(), [sd.KAnonymity(4)])
    cut_whole(people, strict=False)  # wanted before refining, and soon enough only if it comes first
    in_one_block = Recoding.of("minimal", people, np.zeros(len(people.units), dtype=np.int64))
    refined(in_one_block, SEARCHES["normal"], spare=0, deals=True)


def _generalize_in_one_coding() -> None:
    people = _people()
    aged = sd.read(
        people.frame(), sd.Schema.from_roles(quasi=["town"], sensitive=["age"], other=["sex", "ill"])
    )
    sd.generalize(aged, sd.LDiversity(2, "proximity", within=1), "mondrian")
    sd.generalize(aged, [sd.KAnonymity(4), sd.TCloseness(0.9)], "blind")
    for measure in ("distortion", "ncp", "discernibility"):
        sd.generalize(people, [sd.KAnonymity(4), *DIVERSE], sd.methods.FullDomain(0.3, measure))


def _generalize_views() -> None:
    people, views = _people(), {"one": ["age", "sex"], "two": ["town", "sex"]}
    for kind in ("distinct", "posterior"):
        for score in ("narrow", "paper"):
            sd.generalize_views(people, views, sd.MultiViewDiversity(2, kind), score=score)


def _randomize() -> None:
    people = _people()
    for how in ("retain", "optimal", "bits", "noise"):
        sd.randomize(people, sd.DifferentialPrivacy(4, per="record"), how={"age": how})
    for dtype in (np.uint8, np.uint16, np.uint32):
        codes: Any = np.zeros(9, dtype=dtype)
        sample_retention(codes, np.array([0.5, 0.5]), Keystream())
        sample_matrix(codes, np.full((2, 2), 0.5), Keystream())
    sample_below(5, 7, Keystream())
    MatrixChannel(np.full((2, 2), 0.5)).epsilon  # noqa: B018


def _assess() -> None:
    people = _people()
    for diversity in ("distinct", "entropy"):
        sd.assess(people, l=2, diversity=diversity, tight=True)
    frame = pl.DataFrame({"zip": ["1", "1", "2"], "ill": ["a", "b", "a"]})
    schema = sd.Schema.from_roles(quasi=["zip"], sensitive=["ill"])
    sd.attack({"one": frame, "two": frame}, schema, kind="intersection", known=frame.select("zip"))
    sd.attack(frame, schema, kind="households", known=frame, unit="ill")
    sd.attack(frame, schema, kind="k_map", population=frame.select("zip"))
    sd.assess(_many_attributes(), l=2, k=3, tight=True)
    for gain in (1, 300, 70_000):  # counted in numbers of one, two and four bytes
        marks = Marks(np.zeros((2, 2), dtype=np.int32), np.array([1, gain]))
        kth_likeness(marks, np.ones(2, dtype=np.int64), 2)


def _materialize() -> None:
    with tempfile.TemporaryDirectory() as folder:
        odd = Path(folder, "odd.csv")
        odd.write_bytes(b"a\rb\r")  # lines as they once ended
        sd.read(odd)
        for axes, method, delta in (
            (1, "dawa", 0),
            (2, "dawa", 1e-6),
            (1, "dp-mondrian", 0),
            (3, "dp-mondrian", 1e-6),
            (1, "pairs", 0),
            (3, "pairs", 1e-6),
        ):
            made = sd.materialize(_numbers(axes, Path(folder)), sd.DifferentialPrivacy(20.0, delta), method)
            saved = made.save(Path(folder, f"{method}-{axes}"))
            for pview in (made, sd.PView.open(saved)):
                _ask(pview, axes)
    permute_and_flip(np.zeros(2), Keystream())  # how pairs are chosen without a delta


def _numbers(axes: int, folder: Path) -> sd.Table:
    rng, names = np.random.default_rng(0), [f"a{i}" for i in range(axes)]
    file = folder / f"{axes}.csv"
    pl.DataFrame({name: rng.integers(0, 300, 20_000) for name in names}).write_csv(file)
    return sd.read(file, sd.Schema.from_roles(quasi=names, bounds=dict.fromkeys(names, (0, 300))))


def _ask(pview: sd.PView, axes: int) -> None:
    pview.count(a0=(10, 70))
    pview.marginal("a0")
    pview.sql("SELECT a0, COUNT(*) FROM view GROUP BY a0")
    pview.sample(10)
    low = np.zeros((3, axes), dtype=np.int64)
    for dtype in (np.int32, np.int64):
        pview.counts(low.astype(dtype), low.astype(dtype))
        pview.errors(low.astype(dtype), low.astype(dtype))


WALKS: dict[str, Callable[[], None]] = {  # what takes longest comes first
    "generalize": _generalize,
    "refine": _refine,
    "generalize several views": _generalize_views,
    "materialize": _materialize,
    "assess": _assess,
    "randomize": _randomize,
    "generalize in one coding": _generalize_in_one_coding,
}
