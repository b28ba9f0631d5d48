"""Whether p-views keep their promise: the epsilon that an outsider can prove from many p-views of two neighbouring tables.

`python -m benchmarks.audits [--quick]`. Whole methods are run, and only what a p-view tells is looked at: all of its range
counts, its blocks or buckets, and on what its budget was spent. What they measure is a lower bound (see
`tests.pview.audit`): it may be far below the promise, but never above it. The quick form has too few runs to find much.
With NUMBA_NUM_THREADS=1 it takes less time: on tables so small, threads only wait for each other.
"""

from __future__ import annotations

import sys
import time
from itertools import combinations_with_replacement, product
from typing import NamedTuple

import numpy as np
import polars as pl

import sudare as sd
from benchmarks.common import show
from sudare.noise.keystream import Keystream
from sudare.pview import pairs, privbayes
from sudare.pview.account import Account
from sudare.pview.domain import Domain
from sudare.pview.methods import METHODS
from sudare.pview.models import BlocksModel, CellsModel
from sudare.pview.pview import Model, PView
from sudare.tables.counts import Counts
from sudare.verbs.materialize import materialize
from tests.pview.audit import Labels, audit, joined

RUNS = 100_000  # on each of two tables
POINTS = 100
"""Of methods that draw points: from noisy tables only, so that more of them would tell no more, and take longer."""
BINS = 64  # of scores
PURE, GAUSSIAN = sd.DifferentialPrivacy(3.0), sd.DifferentialPrivacy(3.0, 1e-2)


class Small(NamedTuple):
    """A table, as counts of its cells."""

    sizes: tuple[int, ...]
    counts: dict[tuple[int, ...], int]

    def tables(self) -> list[sd.Table]:
        """Return it without and with one more record, which has the first value of every attribute."""
        codes = np.repeat(list(self.counts), list(self.counts.values()), axis=0)
        names = [f"a{i}" for i in range(len(self.sizes))]
        bounds = {name: (0, size - 1) for name, size in zip(names, self.sizes, strict=True)}
        schema = sd.Schema.from_roles(quasi=names, bounds=bounds, missing="refuse")
        neighbours = codes, np.vstack([codes, np.zeros_like(codes[:1])])
        return [sd.read(pl.DataFrame(dict(zip(names, x.T, strict=True))), schema) for x in neighbours]

    def boxes(self) -> list[tuple[tuple[int, int], ...]]:
        """Return all boxes: the first and the last value of each attribute."""
        return list(product(*(combinations_with_replacement(range(size), 2) for size in self.sizes)))

    def sides(self) -> list[int]:
        """Return where among them are those that only ask for the first value of one attribute."""
        whole = tuple((0, size - 1) for size in self.sizes)
        return [self.boxes().index((*whole[:a], (0, 0), *whole[a + 1 :])) for a in range(len(whole))]


FEW = Small((2, 3), {(0, 0): 3, (1, 1): 1})
LONG = Small((24,), {(0,): 3, (9,): 1})  # so long that HDMM measures sums, too
# So many that the default method nearly always measures pairs, but not far more; and all pairs alike, for any order.
MANY = Small((2, 2, 2), {(0, 0, 0): 600, (1, 1, 0): 240, (1, 0, 1): 240, (0, 1, 1): 240})

TABLES = {"pairs": MANY, "privbayes": MANY, "hdmm": LONG}


def main(quick: bool = False) -> None:
    lines = [
        Line.of(method, promise, TABLES.get(method, FEW), 300 if quick else RUNS)
        for method in METHODS
        for promise in (PURE, GAUSSIAN)
    ]
    headers = ["method", "noise", "declared ε", "δ", "measured ε", "runs on\neach table", "ms\nper run", "forms\nseen"]  # fmt: skip
    show("Audits of whole methods on two neighbouring tables", headers, [line.cells() for line in lines])
    broken = [line for line in lines if line.epsilon > line.promise.epsilon]
    assert not broken, f"more was measured than was declared: {broken}"


class Line(NamedTuple):
    """What an audit measured."""

    method: str
    promise: sd.DifferentialPrivacy
    epsilon: float
    runs: int
    seconds: float
    forms: int

    @classmethod
    def of(cls, method: str, promise: sd.DifferentialPrivacy, small: Small, runs: int) -> Line:
        start = time.perf_counter()
        both = [_seen(method, promise, small, seed, runs) for seed in (0, 1)]
        taken = time.perf_counter() - start
        score, sides = _telling(*both), small.sides()
        epsilon = audit(*(_labels(seen, score, sides) for seen in both), delta=promise.delta)
        forms = np.unique(np.concatenate([seen.forms for seen in both])).size
        return cls(method, promise, max(epsilon, 0.0), runs, taken, forms)

    def cells(self) -> list[str]:
        promise, each = self.promise, 1e3 * self.seconds / (2 * self.runs)
        noise = "Gaussian (zCDP)" if promise.delta else "Laplace (pure)"
        numbers = [f"{promise.epsilon:g}", f"{promise.delta:g}", f"{self.epsilon:.3f}"]
        return [self.method, noise, *numbers, f"{self.runs:,}", f"{each:.2f}", f"{self.forms}"]


# -- what is seen --------------------------------------------------------------------------------------


class Seen(NamedTuple):
    """What the p-views of one table tell, one row for each."""

    counts: np.ndarray  # of all boxes
    forms: Labels  # of their blocks or buckets, and on what the budget was spent


def _seen(method: str, promise: sd.DifferentialPrivacy, small: Small, seed: int, runs: int) -> Seen:
    table = small.tables()[seed]
    domain = Domain.of(table.schema)
    counts, account = domain.counts(table), Account(promise, Keystream.unsafe(seed))
    low, high = np.moveaxis(np.array(small.boxes()), 2, 0)
    mine = _made(method, counts, domain, account, None).counts(low, high)
    users = materialize(table, promise, method, unsafe_seed=seed).counts(low, high)
    assert np.array_equal(mine, users), f"what is audited is not what users of {method} get"
    paired = any(share.kind == "pair" for share in account.spent)
    assert paired or method != "pairs", "no pair was measured: the audit needs more records"
    answers, forms = np.empty((runs, len(low))), np.empty(runs, dtype=np.int64)
    for run in range(runs):
        account.spent.clear()  # a new budget; but the noise goes on, as no part of a keystream is used twice
        pview = _made(method, counts, domain, account, POINTS)
        answers[run] = pview.counts(low, high)
        forms[run] = hash((tuple(account.spent), _form(pview.model)))
    return Seen(answers, forms)


def _made(method: str, counts: Counts, domain: Domain, account: Account, points: int | None) -> PView:
    """Make a p-view as `sd.materialize` does, but without a certificate, which would take most of the time."""
    if method == "pairs" and points:
        ordered = [axis.ordered for axis in domain.axes]
        return PView(domain, pairs.learn_pairs(counts, ordered, account, points=points))
    if method == "privbayes" and points:
        chosen = privbayes.PrivBayes()
        return PView(domain, privbayes.learn_privbayes(counts, account, chosen, points=points))
    return PView(domain, METHODS[method]().learn(counts, domain, account))


def _form(model: Model) -> bytes:
    """Return which blocks or buckets a p-view has."""
    if isinstance(model, BlocksModel):
        return model.boxes.low.tobytes() + model.boxes.high.tobytes()
    if isinstance(model, CellsModel) and model.cells.bucket is not None:
        return model.cells.bucket.tobytes()
    return b""


# -- how it is looked at -------------------------------------------------------------------------------


class Score(NamedTuple):
    """A direction in the space of counts, and the edges of bins along it."""

    direction: np.ndarray
    edges: np.ndarray


def _telling(first: Seen, second: Seen) -> Score:
    """Return the direction that tells the tables apart best (Fisher 1936).

    It is computed from the half of the runs that serves the audit to find events, and has no part in the bounds.
    """
    a, b = first.counts[::2], second.counts[::2]
    direction = np.linalg.pinv(np.cov(a.T) + np.cov(b.T)) @ (b.mean(axis=0) - a.mean(axis=0))
    return Score(direction, np.quantile(np.vstack([a, b]) @ direction, np.arange(1, BINS) / BINS))


def _labels(seen: Seen, score: Score, sides: list[int]) -> list[Labels]:
    """Look at each thing by itself, at each count together with the form, and at several counts together."""
    rounded = np.rint(seen.counts).astype(np.int64)
    place = np.searchsorted(score.edges, seen.counts @ score.direction)
    return [
        seen.forms,
        *rounded.T,
        *(joined(seen.forms, count) for count in rounded.T),
        joined(*rounded[:, sides].T // 2),
        place,
        joined(seen.forms, place // 4),
    ]


if __name__ == "__main__":
    main(quick="--quick" in sys.argv)
