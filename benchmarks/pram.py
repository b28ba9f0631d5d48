"""Optimal PRAM: our search over three numbers beside a sort of the same vector, and beside the paper's all-pairs QP.

`python -m benchmarks.pram [--quick]`. The paper's Algorithm 1 has six constraints for each pair of cells, 3 d (d - 1) in
all, and calls CVXOPT. CVXOPT is GPL and so never a dependency of ours: it is measured where it happens to be importable.
Clarabel (Apache-2.0), a newer interior-point solver, stands beside it.
"""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from benchmarks.common import seconds, show
from sudare.randomization.pram import Pram, optimal_pram

try:
    import cvxopt
except ImportError:
    cvxopt = None
try:
    import clarabel
except ImportError:
    clarabel = None

SIZES = (74, 300, 10**4, 10**5, 10**6)
PAIRS = (74, 300)
"""For how many cells the QP is solved: at 10,000 it has 300 million constraints."""
EPSILON = 4.1

Floats = NDArray[np.float64]
Solver = Callable[[Floats, float], Floats]


def main(quick: bool = False) -> None:
    sizes, pairs = (SIZES[:3], PAIRS[:1]) if quick else (SIZES, PAIRS)
    solvers = {
        f"CVXOPT, all pairs, s\n{'' if cvxopt else '(GPL: not installed)'}": with_cvxopt if cvxopt else None,
        f"Clarabel, all pairs, s\n{'' if clarabel else '(not installed)'}": with_clarabel
        if clarabel
        else None,
    }
    rows = []
    for d in sizes:
        v = histogram(d)
        ours, sort = seconds(lambda v=v: optimal_pram(v, epsilon=EPSILON)), seconds(lambda v=v: np.sort(v))
        cells = [f"{d:,}", f"{1e3 * ours:.2f}", f"{1e3 * sort:.3f}", f"{ours / sort:.1f}"]
        best = optimal_pram(v, epsilon=EPSILON).bias(v)
        for solver in solvers.values():
            cells.append(_peer(solver, v, best) if solver and d in pairs else "")
        rows.append(cells)
    headers = ["cells", "Sudare, ms", "numpy.sort, ms", "times a sort", *solvers]
    show(f"Optimal PRAM, epsilon = {EPSILON} (in brackets: the peer's ||Pv - v|| over ours)", headers, rows)


def histogram(d: int) -> Floats:
    """Return a histogram with a long tail, some empty cells, and no order."""
    rng = np.random.default_rng(d)
    return np.floor(rng.lognormal(4, 1.5, d))


def _peer(solve: Solver, v: Floats, best: float) -> str:
    start = time.perf_counter()  # once: there is nothing to warm up, and it can take a minute
    leave = solve(v, EPSILON)
    took = time.perf_counter() - start
    bias = Pram(np.clip(leave, 0, 1)).bias(v)
    return f"{took:.2f} ({bias / best:.6f})"


# -- the QP of section 3.4 --------------------------------------------------------------------------


def problem(v: Floats, epsilon: float) -> tuple[Floats, sparse.csc_matrix, Floats]:
    """Return Q, A and b: minimize q' Q q, so that A q <= b; six rows for each pair of cells, and 0 <= q <= 1."""
    d, e = len(v), math.exp(epsilon)
    scaled = v / v.max()
    q = np.diag(scaled**2) - np.outer(scaled, scaled) / d
    i, j = (np.concatenate(pair) for pair in zip(np.triu_indices(d, 1), np.tril_indices(d, -1), strict=True))
    kinds = [  # for the ordered pair (x, y): x's and y's factor, and the bound
        (-e, 1.0, 0.0),  # y <= e x
        (-(d - 1) / e, -1.0, -(d - 1) / e),  # y >= (d - 1)(1 - x) / e
        (e * (d - 1), 1.0, e * (d - 1)),  # y <= e (d - 1)(1 - x)
    ]
    m = len(i)
    rows = np.arange(m)
    blocks = [
        sparse.csc_matrix((np.repeat([a, b], m), (np.tile(rows, 2), np.concatenate([i, j]))), shape=(m, d))
        for a, b, _ in kinds
    ]
    box = [sparse.identity(d, format="csc"), -sparse.identity(d, format="csc")]
    bounds = [*(np.full(m, bound) for *_, bound in kinds), np.ones(d), np.zeros(d)]
    return q, sparse.vstack([*blocks, *box], format="csc"), np.concatenate(bounds)


def with_cvxopt(v: Floats, epsilon: float) -> Floats:
    """Solve it as the paper does."""
    q, a, b = problem(v, epsilon)
    entries = a.tocoo()
    g = cvxopt.spmatrix(entries.data, entries.row.tolist(), entries.col.tolist(), a.shape)
    cvxopt.solvers.options["show_progress"] = False
    solution = cvxopt.solvers.qp(cvxopt.matrix(2 * q), cvxopt.matrix(np.zeros(len(v))), g, cvxopt.matrix(b))
    return np.asarray(solution["x"]).ravel()


def with_clarabel(v: Floats, epsilon: float) -> Floats:
    """Solve the same with a newer solver."""
    q, a, b = problem(v, epsilon)
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    upper = sparse.csc_matrix(np.triu(2 * q))
    cones = [clarabel.NonnegativeConeT(len(b))]
    return np.array(clarabel.DefaultSolver(upper, np.zeros(len(v)), a, b, cones, settings).solve().x)


if __name__ == "__main__":
    main(quick="--quick" in sys.argv)
